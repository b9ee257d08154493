/*
 * cmd_prompts.c - `mcpool prompts` and `mcpool prompt`: arguments and results. The rest is in
 * catalogs.c and cmd_use.c.
 */
#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "cli/display/cli.h"
#include "cli/servers/catalogs.h"
#include "cli/verbs/verbs.h"

int mp_cmd_prompts(const struct mp_verb *verb, int argc, char **argv)
{
	struct mp_cli_args args;
	struct mp_catalogs all = {.args = &args, .kinds = {MP_CATALOG_PROMPT}, .n_kinds = 1};
	int r = mp_cli_read_args(verb, argc, argv, 0, -1, &args);

	if (r)
		return r - 1;
	return mp_catalogs_run(&all);
}

/* --- prompt ---------------------------------------------------------------------------------- */

int mp_cmd_print_messages(struct mp_str result)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	mp_value messages;
	size_t n = 0;
	int r;

	mp_tape_init(&t, 0);
	mp_arena_init(&arena, MP_LIMIT_ARENA);
	r = mp_tape_parse(&t, result, NULL);
	if (r < 0)
		return r;
	messages = mp_value_get(&t, MP_ROOT, "messages");
	if (!mp_value_is(&t, messages, MP_TAPE_ARRAY))
		return MCPOOL_EPROTO;
	MP_VALUE_EACH(&t, messages, v) {
		struct mp_str role;

		if (mp_value_text(&t, mp_value_get(&t, v, "role"), &arena, &role) < 0)
			role = MP_STR("?");
		if (n++)
			putchar('\n');
		mp_print_text(role);
		puts(":");
		mp_print_content(&t, mp_value_get(&t, v, "content"), true);
		putchar('\n');
	}
	return 0;
}

/* All arguments of a prompt are texts. */
int mp_cmd_write_prompt(const struct mp_cli_args *args, struct mp_str name, struct mp_buf *out,
			struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf arguments;
	struct mp_writer w;
	int r;

	mp_buf_init(&arguments, MP_LIMIT_MESSAGE);
	r = mp_typed_build(MP_STR("{\"additionalProperties\":{\"type\":\"string\"}}"), MP_STR(""),
			   args->words + 1, args->n_words - 1, &arguments, reterr);
	if (r < 0)
		return r;
	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "name", name);
	mp_write_member_raw(&w, "arguments", mp_buf_get(&arguments));
	mp_write_end_object(&w);
	r = mp_write_finish(&w);
	return r < 0 ? mp_fail(reterr, r, "%s", mcpool_error_text(r)) : 0;
}

int mp_cmd_prompt(const struct mp_verb *verb, int argc, char **argv)
{
	struct mp_cli_args args;
	int r = mp_cli_read_args(verb, argc, argv, 1, -1, &args);

	if (r)
		return r - 1;
	if (args.command && mp_cli_lacks_command(&args))
		return MP_EXIT_USAGE;
	return mp_cmd_use_prompt(&args);
}
