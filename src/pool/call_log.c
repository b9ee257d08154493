/*
 * call_log.c - the last calls that ended.
 */
#include "pool/call_log.h"

#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/redact.h"

/* --- clients --------------------------------------------------------------------------------- */

static const char no_text[] = "";

struct mp_call_client *mp_call_client_new(void)
{
	struct mp_call_client *c = mp_alloc(sizeof(*c));

	*c = (struct mp_call_client){
		.refs = 1, .name = no_text, .principal = no_text, .project = no_text};
	return c;
}

struct mp_call_client *mp_call_client_ref(struct mp_call_client *c)
{
	if (c)
		c->refs++;
	return c;
}

struct mp_call_client *mp_call_client_unref(struct mp_call_client *c)
{
	if (c && --c->refs == 0) {
		mp_free(c->texts);
		mp_free(c->history);
		mp_free(c);
	}
	return NULL;
}

/* Appends a text to a block that has room for it. */
static char *text_copy(char **room, struct mp_str text)
{
	char *copy = *room;

	if (text.len)
		memcpy(copy, text.p, text.len);
	copy[text.len] = '\0';
	*room += text.len + 1;
	return copy;
}

void mp_call_client_name(struct mp_call_client *c, const char *name, const char *principal,
			 const char *project)
{
	char *texts = mp_alloc(strlen(name) + strlen(principal) + strlen(project) + 3);
	char *room = texts;

	c->name = text_copy(&room, mp_str_of(name));
	c->principal = text_copy(&room, mp_str_of(principal));
	c->project = text_copy(&room, mp_str_of(project));
	mp_free(c->texts);
	c->texts = texts;
}

static void call_client_note(struct mp_call_client *c, int64_t now_ms)
{
	c->calls++;
	if (!c->history) {
		c->history = mp_alloc(sizeof(*c->history));
		mp_history_init(c->history, now_ms);
	}
	mp_history_note(c->history, now_ms);
}

int64_t mp_call_client_count_minute(const struct mp_call_client *c, int64_t now_ms)
{
	return c->history ? mp_history_count_minute(c->history, now_ms) : 0;
}

/* --- the log --------------------------------------------------------------------------------- */

static void call_log_tell(void *u)
{
	struct mp_call_log *l = u;

	if (l->told == l->last)
		return;
	l->told = l->last;
	MP_LIST_WALK(&l->listeners, link) {
		struct mp_call_listener *listener =
			mp_container_of(link, struct mp_call_listener, link);

		listener->fn(listener->u);
	}
}

void mp_call_log_init(struct mp_call_log *l, struct mp_loop *loop, const uint64_t key[2])
{
	*l = (struct mp_call_log){.loop = loop, .key = {key[0], key[1]}};
	mp_list_init(&l->listeners);
	mp_loop_at_turn_end(loop, &l->hook, call_log_tell, l);
}

static void record_done(struct mp_call_record *r)
{
	mp_call_client_unref(r->client);
	mp_free(r->texts);
}

void mp_call_log_done(struct mp_call_log *l)
{
	mp_check(l->listeners.len == 0);
	mp_loop_forget_turn_end(l->loop, &l->hook);
	for (size_t i = 0; l->ring && i < MP_LIMIT_CALL_RING; i++)
		record_done(&l->ring[i]);
	l->ring = mp_free(l->ring);
}

/* --- adding ---------------------------------------------------------------------------------- */

/*
 * Texts have a limit, so that no peer fills the ring with large messages: a subject, which may be a
 * URI, is cut. Half an object is none, so long arguments are left out, as without memory for them.
 */
static void record_keep(struct mp_call_record *r, struct mp_str subject, struct mp_str params,
			bool keeps_args)
{
	struct mp_str server = mp_str_of(r->server);
	size_t size;
	bool has_args;
	char *room;

	if (subject.len > MP_LIMIT_AUDIT_TEXT)
		subject.len = MP_LIMIT_AUDIT_TEXT;
	size = server.len + subject.len + 2;
	room = keeps_args && params.len <= MP_LIMIT_AUDIT_TEXT ? mp_try_alloc(size + params.len + 1)
							       : NULL;
	has_args = room != NULL;
	r->texts = room = room ? room : mp_alloc(size);
	r->server = text_copy(&room, server);
	r->subject = text_copy(&room, subject);
	r->args = has_args ? text_copy(&room, params) : NULL;
}

void mp_call_log_add(struct mp_call_log *l, const struct mp_call_record *r, struct mp_str subject,
		     struct mp_str params, bool keeps_args)
{
	struct mp_call_record *to;

	if (!l->ring)
		l->ring = mp_alloc(MP_LIMIT_CALL_RING * sizeof(*l->ring));
	to = &l->ring[l->last % MP_LIMIT_CALL_RING];
	record_done(to);
	*to = *r;
	to->number = ++l->last;
	to->wall_ms = mp_loop_wall_now_ms(l->loop);
	if (to->client)
		call_client_note(mp_call_client_ref(to->client), mp_loop_now_ms(l->loop));
	to->args_hash = mp_hash_with(l->key, params);
	record_keep(to, subject, params, keeps_args);
	mp_loop_nudge(l->loop);
}

/* --- reading --------------------------------------------------------------------------------- */

const struct mp_call_record *mp_call_log_read(const struct mp_call_log *l, uint64_t *cursor,
					      uint64_t *ret_missed)
{
	uint64_t oldest = l->last > MP_LIMIT_CALL_RING ? l->last - MP_LIMIT_CALL_RING + 1 : 1;

	*ret_missed = *cursor < oldest ? oldest - *cursor : 0;
	*cursor += *ret_missed;
	if (*cursor > l->last)
		return NULL;
	return &l->ring[((*cursor)++ - 1) % MP_LIMIT_CALL_RING];
}

const char *mp_call_record_get_outcome(const struct mp_call_record *r)
{
	if (r->outcome != MP_OUTCOME_ANSWERED)
		return mp_outcome_get_name(r->outcome);
	return r->is_error ? "error" : r->is_tool_error ? "tool_error" : "answered";
}

void mp_call_record_describe(const struct mp_call_record *r, struct mp_call_row *ret)
{
	const struct mp_call_client *c = r->client;
	bool has_code = r->outcome != MP_OUTCOME_ANSWERED && r->code;

	*ret = (struct mp_call_row){
		.number = r->number,
		.wall_ms = r->wall_ms,
		.session = r->session,
		.client = c ? c->name : "",
		.principal = c ? c->principal : "",
		.project = c ? c->project : "",
		.server = r->server,
		.method = mp_method_get(r->method)->name,
		.tool = r->subject,
		.outcome = mp_call_record_get_outcome(r),
		.code = has_code ? mcpool_error_word(r->code) : NULL,
		.args = r->args,
		.took_us = r->took_us,
		.queue_us = r->queue_us,
		.bytes_in = r->bytes_in,
		.bytes_out = r->bytes_out,
		.args_hash = r->args_hash,
	};
}

/* Secrets in it become dots; "" if they cannot. */
static const char *text_redact(const char *text, struct mp_buf *out)
{
	if (mp_redact(mp_str_of(text), false, out) < 0 || mp_buf_terminate(out) < 0)
		return "";
	return out->len ? out->data : "";
}

void mp_call_record_write(struct mp_writer *w, const struct mp_call_record *r, uint64_t missed)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf tool, args;
	struct mp_call_row row;

	mp_buf_init(&tool, 8 * MP_LIMIT_MESSAGE);
	mp_buf_init(&args, 8 * MP_LIMIT_MESSAGE);
	mp_call_record_describe(r, &row);
	row.tool = text_redact(row.tool, &tool);
	if (row.args)
		row.args = text_redact(row.args, &args);
	mp_write_begin_object(w);
	mp_call_row_write(w, &row);
	mp_write_member_i64(w, "hubUs", r->hub_us);
	if (missed) {
		mp_write_key(w, MP_STR("missed"));
		mp_write_u64(w, missed);
	}
	mp_write_end_object(w);
}

/* --- listeners ------------------------------------------------------------------------------- */

void mp_call_listener_join(struct mp_call_log *l, struct mp_call_listener *listener,
			   void (*fn)(void *u), void *u)
{
	*listener = (struct mp_call_listener){.fn = fn, .u = u};
	mp_list_append(&l->listeners, &listener->link);
}

void mp_call_listener_leave(struct mp_call_log *l, struct mp_call_listener *listener)
{
	mp_list_remove(&l->listeners, &listener->link);
}
