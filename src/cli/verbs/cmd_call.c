/*
 * cmd_call.c - `mcpool call`: call one tool and print its result.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/display/cli.h"
#include "cli/verbs/verbs.h"

/* --- the request ----------------------------------------------------------------------------- */

int mp_cmd_write_call(const struct mp_cli_args *args, struct mp_str given,
		      const struct mp_catalog_item *tool, struct mp_buf *out,
		      struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	MP_CLEANUP(mp_buf_done) struct mp_buf arguments;
	struct mp_str schema = MP_STR("");
	struct mp_writer w;
	int r;

	mp_tape_init(&t, 0);
	mp_buf_init(&arguments, MP_LIMIT_MESSAGE);
	r = mp_tape_parse(&t, tool->json, reterr);
	if (r == 0)
		schema = mp_value_source(&t, mp_value_get(&t, MP_ROOT, "inputSchema"));
	if (r == 0)
		r = mp_typed_build(schema, given, args->words + 1, args->n_words - 1, &arguments,
				   reterr);
	if (r == 0 && !args->no_check)
		r = mp_typed_check(schema, mp_buf_get(&arguments), reterr);
	if (r < 0)
		return r;
	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "name", tool->name);
	mp_write_member_raw(&w, "arguments", mp_buf_get(&arguments));
	mp_write_end_object(&w);
	r = mp_write_finish(&w);
	return r < 0 ? mp_fail(reterr, r, "%s", mcpool_error_text(r)) : 0;
}

/* --args '{...}', or - for stdin. Checked before a server is started. */
static int read_given(const struct mp_cli_args *cli, struct mp_buf *given)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf probe;
	struct mcpool_error why;
	const char *args = cli->args;
	char *text = NULL;
	size_t len = 0;
	int r = 0;

	mp_buf_init(&probe, MP_LIMIT_MESSAGE);
	if (args && strcmp(args, "-") == 0) {
		text = mp_cmd_read_stdin(&len);
		if (!text)
			return MP_EXIT_USAGE;
		if (mp_str_trim((struct mp_str){text, len}).len == 0) {
			mp_cli_complain("there is no JSON on stdin, where --args - reads it");
			mp_free(text);
			return MP_EXIT_USAGE;
		}
		r = mp_buf_add(given, text, len);
		mp_free(text);
	} else if (args) {
		r = mp_buf_add_str(given, mp_str_of(args));
	}
	if (r == 0)
		r = mp_typed_build(MP_STR(""), mp_buf_get(given), cli->words + 1, cli->n_words - 1,
				   &probe, &why);
	else
		(void)mp_fail(&why, r, "--args is too large");
	if (r < 0) {
		mp_cli_complain("%s", why.message);
		return MP_EXIT_USAGE;
	}
	return 0;
}

int mp_cmd_call(const struct mp_verb *verb, int argc, char **argv)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf given;
	struct mp_cli_args args;
	int r = mp_cli_read_args(verb, argc, argv, 1, -1, &args);

	mp_buf_init(&given, MP_LIMIT_MESSAGE);
	if (r)
		return r - 1;
	if (args.command && mp_cli_lacks_command(&args))
		return MP_EXIT_USAGE;
	r = read_given(&args, &given);
	return r ? r : mp_cmd_use_tool(&args, mp_buf_get(&given));
}

/* --- shared with the other verbs -------------------------------------------------------------- */

char *mp_cmd_read_stdin(size_t *ret_len)
{
	struct mp_buf text;
	size_t n = 1;

	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	while (n > 0) {
		if (mp_buf_reserve(&text, 65536) < 0) {
			mp_cli_complain("what comes in on stdin is larger than a message may be");
			mp_buf_done(&text);
			return NULL;
		}
		n = fread(text.data + text.len, 1, 65536, stdin);
		text.len += n;
	}
	text.data[text.len] = '\0'; /* there is room: the last read was empty */
	return mp_buf_take(&text, ret_len);
}
