/*
 * cmd_call.c - `mcpool call`: call one tool and print what it says.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/progress_line.h"
#include "cli/verbs.h"

#define TOOL_TIMEOUT_MS ((int64_t)300 * 1000)
#define MAX_TOTAL_MS    ((int64_t)3600 * 1000)

struct job {
	const struct mp_cli_args *args;
	struct mp_oneshot *oneshot;
	struct mp_catalog_list tools;
	struct mp_buf given; /* --args */
};

/* --- the answer ------------------------------------------------------------------------------ */

static void answered(const struct mp_answer *answer, void *u)
{
	struct job *job = u;
	static const struct mp_result_settings how = {.join = "\n\n", .max_bytes = MP_KIB(256)};
	struct mcpool_error why;
	int r;

	if (mp_oneshot_is_bad(job->oneshot, "tools/call", answer))
		return;
	r = mp_print_result(mp_value_source(answer->message->tape, answer->message->result),
			    job->args->json, &how);
	if (r < 0) {
		(void)mp_fail(&why, r, "the result is too large to show");
		mp_oneshot_refuse(job->oneshot, "tools/call", &why);
	} else {
		mp_oneshot_finish(job->oneshot, r);
	}
}

/* --- the question ---------------------------------------------------------------------------- */

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

static int start(struct job *job, const struct mp_catalog_item *tool, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf params;
	struct mp_call_options o = {
		.method = MP_METHOD_TOOLS_CALL,
		.timeout_ms = mp_oneshot_get_timeout(job->oneshot, TOOL_TIMEOUT_MS),
		.max_total_ms = MAX_TOTAL_MS,
	};
	int r;

	mp_buf_init(&params, MP_LIMIT_MESSAGE);
	r = mp_cmd_write_call(job->args, mp_buf_get(&job->given), tool, &params, reterr);
	if (r < 0)
		return r;
	o.params = mp_buf_get(&params);
	r = mp_oneshot_call(job->oneshot, &o, answered, job);
	return r < 0 ? mp_fail(reterr, r, "%s", mcpool_error_text(r)) : 0;
}

static void got_tools(struct mp_oneshot *o, void *u)
{
	struct job *job = u;
	const char *name = job->args->words[0];
	const struct mp_catalog_item *tool = mp_catalog_find(&job->tools, mp_str_of(name));
	struct mcpool_error why;

	if (!tool)
		mp_cmd_fail_missing(o, &job->tools, name);
	else if (start(job, tool, &why) < 0)
		mp_oneshot_fail(o, "tools/call", &why);
}

static void begin(struct mp_oneshot *o, void *u)
{
	struct job *job = u;

	job->oneshot = o;
	mp_oneshot_fetch(o, &job->tools, got_tools, job);
}

/* --args '{...}', or - for stdin. Checked before a server is started. */
static int read_given(struct job *job)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf probe;
	struct mcpool_error why;
	const char *args = job->args->args;
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
		r = mp_buf_add(&job->given, text, len);
		mp_free(text);
	} else if (args) {
		r = mp_buf_add_str(&job->given, mp_str_of(args));
	}
	if (r == 0)
		r = mp_typed_build(MP_STR(""), mp_buf_get(&job->given), job->args->words + 1,
				   job->args->n_words - 1, &probe, &why);
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
	struct mp_cli_args args;
	struct job job = {.args = &args};
	int r = mp_cli_read_args(verb, argc, argv, 1, -1, &args);

	if (r)
		return r - 1;
	if (args.command && mp_cli_lacks_command(&args))
		return MP_EXIT_USAGE;
	mp_catalog_list_init(&job.tools, MP_CATALOG_TOOL);
	mp_buf_init(&job.given, MP_LIMIT_MESSAGE);
	r = read_given(&job);
	if (r == 0)
		r = args.command ? mp_oneshot_run(&args, begin, &job)
				 : mp_cmd_call_configured(&args, mp_buf_get(&job.given));
	mp_buf_done(&job.given);
	mp_catalog_list_done(&job.tools);
	return r;
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
	text.data[text.len] = '\0'; /* there is room: nothing came the last time */
	return mp_buf_take(&text, ret_len);
}

/* How many letters two names have in common at the front, and whether one holds the other. */
static size_t likeness(struct mp_str a, struct mp_str b)
{
	size_t n = 0;

	while (n < a.len && n < b.len && (a.p[n] | 32) == (b.p[n] | 32))
		n++;
	if (n < 2 && mp_str_find(a, b, 0) < 0 && mp_str_find(b, a, 0) < 0)
		return 0;
	return n + 1;
}

void mp_cmd_fail_missing(struct mp_oneshot *o, const struct mp_catalog_list *l, const char *name)
{
	const char *what = l->kind == MP_CATALOG_TOOL ? "tool" : "prompt";
	const struct mp_catalog_item *best = NULL;
	struct mcpool_error why;
	size_t score = 0;

	for (size_t i = 0; i < l->n; i++) {
		size_t like = likeness(l->items[i].name, mp_str_of(name));

		if (like > score) {
			score = like;
			best = &l->items[i];
		}
	}
	if (best)
		(void)mp_fail(&why, MCPOOL_ENOENT, "it has no %s '%s'. Did you mean '%.*s'?", what,
			      name, MP_STR_ARGS(best->name));
	else
		(void)mp_fail(&why, MCPOOL_ENOENT,
			      "it has no %s '%s'. `mcpool %ss` lists the %zu it has.", what, name,
			      what, l->n);
	mp_oneshot_fail(o, "", &why);
}
