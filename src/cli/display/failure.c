/*
 * failure.c - reports a call without a result.
 */
#include "cli/display/failure.h"

#include <stdio.h>
#include <time.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "cli/display/cli.h"
#include "cli/display/safe.h"
#include "rpc/era.h"

enum { MISSING_CAPABILITY = -32021 };

static int64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void print_text(const struct mp_failed_call *f)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text, safe;

	mp_buf_init(&text, MP_LIMIT_STDERR_RING * 16);
	mp_buf_init(&safe, MP_LIMIT_STDERR_RING * 64);
	if (mp_failed_call_project(f, now_ms(), &text) == 0 &&
	    mp_safe_add(&safe, mp_buf_get(&text), MP_SAFE_TEXT) == 0)
		fprintf(stderr, "%.*s", MP_STR_ARGS(mp_buf_get(&safe)));
	else
		fprintf(stderr, "%s\n", f->why->message); /* not enough memory for more */
}

static void write_object(struct mp_writer *w, const char *key, const struct mp_failed_call *f)
{
	mp_write_key(w, mp_str_of(key));
	mp_write_begin_object(w);
	mp_failed_call_write(w, f);
	mp_write_end_object(w);
}

/* As a result has them (E26). */
static void write_record(struct mp_writer *w, const struct mp_failed_call *f)
{
	mp_write_member_bool(w, "ok", false);
	mp_write_key(w, MP_STR("latencyMs"));
	mp_write_f64(w, (double)f->took_us / 1000);
	mp_write_member_text(w, "kind", MP_STR("mcp"));
	if (f->server)
		mp_write_member_text(w, "namespace", mp_str_of(f->server));
}

void mp_failure_print(const struct mp_failed_call *f)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;

	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	mp_write_key(&w, MP_STR("error"));
	mp_write_begin_object(&w);
	mp_write_member_i64(&w, "code", f->why->rpc_code);
	mp_write_member_text(&w, "message", mp_str_of(f->why->message));
	write_object(&w, "data", f);
	mp_write_end_object(&w);
	write_record(&w, f);
	mp_write_end_object(&w);
	if (mp_write_finish(&w) == 0)
		mp_print_json(mp_buf_get(&text));
}

void mp_failure_tell(const struct mp_failed_call *f, bool json)
{
	print_text(f);
	if (json)
		mp_failure_print(f);
}

static void print_error_json(const struct mp_failed_call *f, struct mp_str error)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;

	mp_buf_init(&text, 2 * MP_LIMIT_MESSAGE);
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	mp_write_member_raw(&w, "error", error);
	write_object(&w, "failure", f);
	write_record(&w, f);
	mp_write_end_object(&w);
	if (mp_write_finish(&w) == 0)
		mp_print_json(mp_buf_get(&text));
}

void mp_failure_tell_error(const struct mp_failed_call *f, const struct mp_message *m, bool json)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mp_failed_call whole = *f;
	struct mcpool_error why;

	mp_arena_init(&arena, MP_LIMIT_ARENA);
	(void)mp_fail(&why, MCPOOL_EPROTO, "MCP error: %.*s",
		      MP_STR_ARGS(mp_error_read_words(m, &arena)));
	why.rpc_code = (int)mp_error_read_code(m);
	why.fault = MCPOOL_FAULT_JSON_RPC;
	whole.why = &why;
	whole.outcome = MP_OUTCOME_ANSWERED;
	whole.was_up = whole.was_out = true;
	whole.data = mp_value_source(m->tape, mp_value_get(m->tape, m->error, "data"));
	if (why.rpc_code == MISSING_CAPABILITY)
		whole.next_step =
			"the server asks the client for something (see data) that `mcpool "
			"call` cannot answer here: call the tool from an agent; on a "
			"terminal `mcpool call` answers forms for user input";
	print_text(&whole);
	if (json)
		print_error_json(&whole, mp_value_source(m->tape, m->error));
}
