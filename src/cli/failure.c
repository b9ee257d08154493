/*
 * failure.c - a call that brought no result, as --json has it.
 */
#include "cli/failure.h"

#include "base/limits.h"
#include "cli/cli.h"
#include "json/write.h"

static void write_data(struct mp_writer *w, const struct mp_failure *f)
{
	mp_write_key(w, MP_STR("data"));
	mp_write_begin_object(w);
	mp_write_member_text(w, "code", mp_str_of(mcpool_error_word(f->why->code)));
	mp_write_member_text(w, "server", mp_str_of(f->server));
	mp_write_member_text(w, "outcome", mp_str_of(mp_outcome_get_name(f->outcome)));
	if (f->attempt)
		mp_write_member_i64(w, "attempt", f->attempt);
	mp_write_member_bool(w, "retryable", f->retryable);
	if (f->next_at_ms)
		mp_write_member_i64(w, "nextAt", f->next_at_ms);
	if (f->tail.len)
		mp_write_member_text(w, "stderr", f->tail);
	mp_write_end_object(w);
}

void mp_failure_print(const struct mp_failure *f)
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
	write_data(&w, f);
	mp_write_end_object(&w);
	mp_write_end_object(&w);
	if (mp_write_finish(&w) == 0)
		mp_print_json(mp_buf_get(&text));
}

void mp_failure_print_error(struct mp_str error)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;

	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	mp_write_member_raw(&w, "error", error);
	mp_write_end_object(&w);
	if (mp_write_finish(&w) == 0)
		mp_print_json(mp_buf_get(&text));
}
