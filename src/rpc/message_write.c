/*
 * message_write.c - the JSON-RPC envelope: splice and encode.
 */
#include "base/error.h"
#include "rpc/message.h"
#include "rpc/outgoing.h"

#define HOP_PREFIX MP_STR("io.modelcontextprotocol/")

/* --- with a writer ------------------------------------------------------------------------- */

static void message_write_begin(struct mp_writer *w, struct mp_buf *out)
{
	mp_write_init(w, out, NULL);
	mp_write_begin_object(w);
	mp_write_raw_members(w, MP_STR("\"jsonrpc\":\"2.0\""));
}

/* A member whose key and value are JSON already. */
static void add_raw(struct mp_writer *w, struct mp_str key, struct mp_str value)
{
	mp_write_raw_key(w, key);
	mp_write_raw(w, value);
}

static int message_write_finish(struct mp_writer *w, size_t before)
{
	int r;

	mp_write_end_object(w);
	r = mp_write_finish(w);
	if (r < 0)
		w->out->len = before; /* drop an incomplete message */
	return r;
}

/* Does this key of _meta speak of this hop only? */
static bool is_hop_key(const struct mp_tape *t, mp_value key)
{
	return mp_value_text_starts(t, key, HOP_PREFIX);
}

static void copy_member(struct mp_writer *w, const struct mp_tape *t, mp_value key)
{
	mp_write_raw_key(w, mp_value_source(t, key));
	mp_write_raw(w, mp_value_source(t, mp_value_of(key)));
}

struct mp_str mp_message_get_members(struct mp_str object)
{
	object = mp_str_trim(object);
	if (object.len < 2)
		return MP_STR("");
	return mp_str_trim((struct mp_str){object.p + 1, object.len - 2});
}

static void add_meta(struct mp_writer *w, struct mp_str progress_token, const struct mp_splice *s)
{
	if (progress_token.len)
		mp_write_member_raw(w, "progressToken", progress_token);
	mp_write_raw_members(w, mp_message_get_members(s->meta));
	mp_write_raw_members(w, mp_message_get_members(s->more));
}

/* Is there anything that belongs into _meta? */
static bool has_meta(const struct mp_splice *s)
{
	return s->meta.len || s->more.len || s->progress_token.len;
}

static void forward_meta(struct mp_writer *w, const struct mp_message *m, const struct mp_splice *s)
{
	bool is_progress = m->method == MP_METHOD_PROGRESS; /* its token is in params */

	mp_write_begin_object(w);
	MP_VALUE_EACH(m->tape, m->meta, key) {
		if (mp_value_of(key) == m->progress_token || is_hop_key(m->tape, key))
			continue;
		copy_member(w, m->tape, key);
	}
	add_meta(w, is_progress ? MP_STR("") : s->progress_token, s);
	mp_write_end_object(w);
}

static void forward_params(struct mp_writer *w, const struct mp_message *m,
			   const struct mp_splice *s)
{
	bool is_progress = m->method == MP_METHOD_PROGRESS;
	bool need_meta = m->meta != MP_NONE || s->meta.len || s->more.len ||
			 (s->progress_token.len && !is_progress);

	mp_write_begin_object(w);
	MP_VALUE_EACH(m->tape, m->params, key) {
		mp_value v = mp_value_of(key);

		if (v == m->meta)
			continue;
		if (v == m->subject && s->subject.len) {
			mp_write_raw_key(w, mp_value_source(m->tape, key));
			mp_write_raw(w, s->subject);
		} else if (is_progress && v == m->progress_token && s->progress_token.len) {
			mp_write_raw_key(w, mp_value_source(m->tape, key));
			mp_write_raw(w, s->progress_token);
		} else {
			copy_member(w, m->tape, key);
		}
	}
	if (need_meta) {
		mp_write_key(w, MP_STR("_meta"));
		forward_meta(w, m, s);
	}
	mp_write_end_object(w);
}

int mp_message_forward(const struct mp_message *m, const struct mp_splice *s, struct mp_buf *out)
{
	size_t before = out->len;
	struct mp_writer w;

	mp_check(m->kind == MP_MESSAGE_REQUEST || m->kind == MP_MESSAGE_NOTIFICATION);
	message_write_begin(&w, out);
	if (m->kind == MP_MESSAGE_REQUEST)
		add_raw(&w, MP_STR("\"id\""), s->id.len ? s->id : m->id);
	mp_write_member_raw(&w, "method", mp_value_source(m->tape, m->method_name));
	if (m->params != MP_NONE || has_meta(s)) {
		mp_write_raw_key(&w, MP_STR("\"params\""));
		forward_params(&w, m, s);
	}
	return message_write_finish(&w, before);
}

/* A member as written in its source, with the colon and the white space around it. */
static struct mp_str get_member(const struct mp_tape *t, mp_value key)
{
	const char *start = mp_value_source(t, key).p;
	struct mp_str value = mp_value_source(t, mp_value_of(key));

	return (struct mp_str){start, (size_t)(value.p + value.len - start)};
}

/* There is room. */
static void message_write_append(struct mp_buf *out, struct mp_str s)
{
	if (s.len)
		memcpy(out->data + out->len, s.p, s.len);
	out->len += s.len;
}

int mp_message_write_params(const struct mp_message *m, const char *key, struct mp_str value,
			    struct mp_buf *out)
{
	mp_value replaced = key ? mp_value_get(m->tape, m->params, key) : MP_NONE;
	size_t most = mp_value_source(m->tape, m->params).len + value.len + 2;
	struct mp_str comma = MP_STR("");
	int r = mp_buf_reserve(out, most);

	if (r < 0)
		return r;
	message_write_append(out, MP_STR("{"));
	MP_VALUE_EACH(m->tape, m->params, k) {
		if (mp_value_of(k) == m->meta)
			continue;
		message_write_append(out, comma);
		comma = MP_STR(",");
		if (mp_value_of(k) != replaced) {
			message_write_append(out, get_member(m->tape, k));
			continue;
		}
		message_write_append(out, mp_value_source(m->tape, k));
		message_write_append(out, MP_STR(":"));
		message_write_append(out, value);
	}
	message_write_append(out, MP_STR("}"));
	return 0;
}

int mp_message_write_meta(const struct mp_message *m, struct mp_buf *out)
{
	size_t before = out->len;
	struct mp_writer w;
	size_t n = 0;

	if (m->meta == MP_NONE)
		return 0;
	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	MP_VALUE_EACH(m->tape, m->meta, key) {
		if (mp_value_of(key) == m->progress_token || is_hop_key(m->tape, key))
			continue;
		copy_member(&w, m->tape, key);
		n++;
	}
	if (n > 0)
		return message_write_finish(&w, before);
	out->len = before;
	return 0;
}

/* --- what every call takes: pieces that are copied in one go ------------------------------- */

static int add_outgoing(struct mp_buf *out, const struct mp_outgoing *o)
{
	return mp_buf_add_pieces(out, o->pieces, o->n_pieces);
}

int mp_message_answer(struct mp_buf *out, struct mp_str id, bool is_error, struct mp_str json)
{
	MP_UNSET struct mp_outgoing o;

	mp_outgoing_answer(&o, id, is_error, json);
	return add_outgoing(out, &o);
}

int mp_message_result(struct mp_buf *out, struct mp_str id, struct mp_str result)
{
	return mp_message_answer(out, id, false, result);
}

int mp_message_forward_answer(const struct mp_message *m, struct mp_str id, struct mp_buf *out)
{
	bool is_error = m->kind == MP_MESSAGE_ERROR;

	mp_check(is_error || m->kind == MP_MESSAGE_RESULT);
	return mp_message_answer(out, id, is_error,
				 mp_value_source(m->tape, is_error ? m->error : m->result));
}

int mp_message_request(struct mp_buf *out, enum mp_method_id method, struct mp_str params,
		       const struct mp_splice *s)
{
	MP_UNSET struct mp_outgoing o;

	mp_outgoing_request(&o, method, params, s);
	return add_outgoing(out, &o);
}

int mp_message_notify(struct mp_buf *out, enum mp_method_id method, struct mp_str params)
{
	MP_UNSET struct mp_outgoing o;

	mp_outgoing_notification(&o, method, params);
	return add_outgoing(out, &o);
}

int mp_message_error(struct mp_buf *out, struct mp_str id, int code, struct mp_str words,
		     struct mp_str data)
{
	size_t before = out->len;
	struct mp_writer w;

	message_write_begin(&w, out);
	add_raw(&w, MP_STR("\"id\""), id.len ? id : MP_STR("null"));
	mp_write_key(&w, MP_STR("error"));
	mp_write_begin_object(&w);
	mp_write_member_i64(&w, "code", code);
	mp_write_member_text(&w, "message", words);
	if (data.len)
		mp_write_member_raw(&w, "data", data);
	mp_write_end_object(&w);
	return message_write_finish(&w, before);
}
