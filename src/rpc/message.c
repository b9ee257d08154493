/*
 * message.c - the JSON-RPC envelope: classify, check, splice, encode.
 * Strict in what it takes: an unclear envelope is refused, because whoever stands behind us might
 * read it differently. Generous with what is inside: results pass as they are.
 */
#include "rpc/message.h"

#include "base/error.h"

/* Envelope, its members, the members of params, the members of _meta. */
enum { KEEP_DEPTH = 3 };

#define HOP_PREFIX MP_STR("io.modelcontextprotocol/")

#define FROM_CLIENT       MP_SIDE_CLIENT
#define FROM_SERVER       MP_SIDE_SERVER
#define FROM_BOTH         MP_SIDE_BOTH
#define KIND_REQUEST      true
#define KIND_NOTIFICATION false
#define NEEDS_NONE        NULL
#define NEEDS_TOOLS       "tools"
#define NEEDS_PROMPTS     "prompts"
#define NEEDS_RESOURCES   "resources"
#define NEEDS_SUBSCRIBE   "resources.subscribe"
#define NEEDS_COMPLETIONS "completions"
#define NEEDS_LOGGING     "logging"
#define NEEDS_ELICITATION "elicitation"
#define NEEDS_SAMPLING    "sampling"
#define NEEDS_ROOTS       "roots"
#define NEEDS_TASKS       "tasks"
#define SUBJECT_NONE      NULL
#define SUBJECT_NAME      "name"
#define SUBJECT_URI       "uri"
#define SUBJECT_TASK_ID   "taskId"

static const struct mp_method methods[] = {
	[MP_METHOD_UNKNOWN] = {"", "\"\"", MP_SIDE_BOTH, true, MP_ERA_BOTH, NULL, NULL},
#define METHOD(name, text, from, kind, eras, capability, subject)                               \
	[MP_METHOD_##name] = {text,          "\"" text "\"",     FROM_##from,      KIND_##kind, \
			      MP_ERA_##eras, NEEDS_##capability, SUBJECT_##subject},
#include "rpc/methods.def"
#undef METHOD
};

const struct mp_method *mp_method_get(enum mp_method_id id)
{
	mp_check(id < MP_METHODS);
	return &methods[id];
}

enum mp_method_id mp_method_find(struct mp_str name)
{
	for (int i = 1; i < MP_METHODS; i++)
		if (mp_str_eq(name, mp_str_of(methods[i].name)))
			return (enum mp_method_id)i;
	return MP_METHOD_UNKNOWN;
}

void mp_message_tape_init(struct mp_tape *t)
{
	mp_tape_init(t, 0);
	t->keep_depth = KEEP_DEPTH;
}

/* --- taking a message apart ---------------------------------------------------------------- */

/* A refusal: the peer is told -32600 whatever the reason was here. */
static int refuse(struct mcpool_error *reterr, const char *why)
{
	return mp_fail(reterr, MCPOOL_EPROTO, "%s", why);
}

static int check_keys(const struct mp_tape *t, mp_value object, const char *where,
		      struct mcpool_error *reterr)
{
	mp_value twice;
	int r = mp_value_find_duplicate(t, object, &twice);

	if (r < 0)
		return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	if (twice != MP_NONE)
		return mp_fail(reterr, MCPOOL_EPROTO, "the key %.*s stands twice in %s",
			       MP_STR_ARGS(mp_value_source(t, twice)), where);
	return 0;
}

/* A string or a whole number, not too long. */
static bool is_id(const struct mp_tape *t, mp_value v)
{
	if (mp_value_source(t, v).len > MP_LIMIT_ID)
		return false;
	return mp_value_is(t, v, MP_TAPE_STRING) ||
	       (mp_value_is(t, v, MP_TAPE_NUMBER) && (t->nodes[v].flags & MP_TAPE_WHOLE));
}

static int read_id(const struct mp_tape *t, mp_value v, struct mp_message *m,
		   struct mcpool_error *reterr)
{
	if (v == MP_NONE)
		return 0;
	if (!is_id(t, v) && !mp_value_is(t, v, MP_TAPE_NULL))
		return refuse(reterr,
			      "the id is neither a string nor a whole number of 256 bytes at most");
	if (is_id(t, v))
		m->id = mp_value_source(t, v);
	return 0;
}

/* The short texts that decide where a message goes: present, and not absurdly long. */
static bool is_name(const struct mp_tape *t, mp_value v)
{
	return mp_value_is(t, v, MP_TAPE_STRING) && mp_value_source(t, v).len <= MP_LIMIT_NAME + 2;
}

/* With their lengths, which nearly always decide. */
static const struct mp_str method_names[] = {
	[MP_METHOD_UNKNOWN] = {"", 0},
#define METHOD(name, text, from, kind, eras, capability, subject) \
	[MP_METHOD_##name] = {text, sizeof(text) - 1},
#include "rpc/methods.def"
#undef METHOD
};

static enum mp_method_id find_method(const struct mp_tape *t, mp_value name)
{
	struct mp_str source = mp_value_source(t, name);
	bool has_escapes = mp_value_node(t, name)->flags & MP_TAPE_ESCAPED; /* PHP writes "\/" */

	for (int i = 1; i < MP_METHODS; i++)
		if (has_escapes ? mp_value_text_is(t, name, method_names[i])
				: source.len == method_names[i].len + 2 &&
					  memcmp(source.p + 1, method_names[i].p,
						 method_names[i].len) == 0)
			return (enum mp_method_id)i;
	return MP_METHOD_UNKNOWN;
}

static int read_params(const struct mp_tape *t, struct mp_message *m, struct mcpool_error *reterr)
{
	const char *subject = methods[m->method].subject;
	mp_value arguments, token;
	int r;

	if (m->params == MP_NONE)
		return 0;
	if (!mp_value_is(t, m->params, MP_TAPE_OBJECT))
		return refuse(reterr, "params is not an object");
	r = check_keys(t, m->params, "params", reterr);
	if (r < 0)
		return r;
	m->meta = mp_value_get(t, m->params, "_meta");
	if (m->meta != MP_NONE && !mp_value_is(t, m->meta, MP_TAPE_OBJECT))
		return refuse(reterr, "_meta is not an object");
	r = check_keys(t, m->meta, "_meta", reterr);
	if (r < 0)
		return r;
	arguments = mp_value_get(t, m->params, "arguments");
	r = check_keys(t, arguments, "arguments", reterr);
	if (r < 0)
		return r;
	token = mp_value_get(t, m->method == MP_METHOD_PROGRESS ? m->params : m->meta,
			     "progressToken");
	if (token != MP_NONE && !is_id(t, token))
		return refuse(reterr, "the progress token is neither a string nor a whole number");
	m->progress_token = token;
	if (subject)
		m->subject = mp_value_get(t, m->params, subject);
	return 0;
}

static int read_call(const struct mp_tape *t, struct mp_message *m, struct mcpool_error *reterr)
{
	if (!is_name(t, m->method_name))
		return refuse(reterr, "the method is not a string of 256 bytes at most");
	m->method = find_method(t, m->method_name);
	m->kind = m->id.len ? MP_MESSAGE_REQUEST : MP_MESSAGE_NOTIFICATION;
	if (mp_value_get(t, MP_ROOT, "result") != MP_NONE ||
	    mp_value_get(t, MP_ROOT, "error") != MP_NONE)
		return refuse(reterr, "a message with a method has no result and no error");
	m->params = mp_value_get(t, MP_ROOT, "params");
	return read_params(t, m, reterr);
}

static int read_answer(const struct mp_tape *t, struct mp_message *m, struct mcpool_error *reterr)
{
	m->result = mp_value_get(t, MP_ROOT, "result");
	m->error = mp_value_get(t, MP_ROOT, "error");
	if ((m->result == MP_NONE) == (m->error == MP_NONE))
		return refuse(reterr, "neither a method nor exactly one of result and error");
	m->kind = m->result != MP_NONE ? MP_MESSAGE_RESULT : MP_MESSAGE_ERROR;
	/* An error may answer what nobody could read the id of; a result may not. */
	if (m->id.len == 0 && m->kind == MP_MESSAGE_RESULT)
		return refuse(reterr, "a result has an id");
	if (m->error != MP_NONE && !mp_value_is(t, m->error, MP_TAPE_OBJECT))
		return refuse(reterr, "error is not an object");
	return 0;
}

static void clear(struct mp_message *m, const struct mp_tape *t)
{
	*m = (struct mp_message){
		.tape = t,
		.method_name = MP_NONE,
		.params = MP_NONE,
		.meta = MP_NONE,
		.progress_token = MP_NONE,
		.subject = MP_NONE,
		.result = MP_NONE,
		.error = MP_NONE,
	};
}

int mp_message_classify(const struct mp_tape *t, struct mp_message *m, struct mcpool_error *reterr)
{
	mp_value id;
	int r;

	clear(m, t);
	if (mp_value_is(t, MP_ROOT, MP_TAPE_ARRAY)) {
		m->kind = MP_MESSAGE_BATCH;
		return 0;
	}
	if (!mp_value_is(t, MP_ROOT, MP_TAPE_OBJECT))
		return refuse(reterr, "a message is an object");
	id = mp_value_get(t, MP_ROOT, "id");
	r = read_id(t, id, m, reterr);
	if (r < 0)
		return r;
	r = check_keys(t, MP_ROOT, "the message", reterr);
	if (r < 0)
		return r;
	if (!mp_value_text_is(t, mp_value_get(t, MP_ROOT, "jsonrpc"), MP_STR("2.0")))
		return refuse(reterr, "jsonrpc is not \"2.0\"");
	m->method_name = mp_value_get(t, MP_ROOT, "method");
	if (m->method_name == MP_NONE)
		return read_answer(t, m, reterr);
	if (mp_value_is(t, id, MP_TAPE_NULL))
		return refuse(reterr, "the id of a request is not null");
	return read_call(t, m, reterr);
}

int mp_message_scan(struct mp_tape *t, struct mp_str text, struct mp_message *m,
		    struct mcpool_error *reterr)
{
	int r = mp_tape_parse(t, text, reterr);

	if (r < 0) {
		clear(m, t);
		return r;
	}
	return mp_message_classify(t, m, reterr);
}

/* --- putting one together ------------------------------------------------------------------ */

static void begin(struct mp_writer *w, struct mp_buf *out)
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

static int finish(struct mp_writer *w, size_t before)
{
	int r;

	mp_write_end_object(w);
	r = mp_write_finish(w);
	if (r < 0)
		w->out->len = before; /* half a message is no message */
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

/* The members of an object as they are written, without its brackets. */
static struct mp_str inside(struct mp_str object)
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
	mp_write_raw_members(w, inside(s->meta));
	mp_write_raw_members(w, inside(s->more));
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
	begin(&w, out);
	if (m->kind == MP_MESSAGE_REQUEST)
		add_raw(&w, MP_STR("\"id\""), s->id.len ? s->id : m->id);
	mp_write_member_raw(&w, "method", mp_value_source(m->tape, m->method_name));
	if (m->params != MP_NONE || has_meta(s)) {
		mp_write_raw_key(&w, MP_STR("\"params\""));
		forward_params(&w, m, s);
	}
	return finish(&w, before);
}

int mp_message_write_params(const struct mp_message *m, const char *key, struct mp_str value,
			    struct mp_buf *out)
{
	mp_value replaced = key ? mp_value_get(m->tape, m->params, key) : MP_NONE;
	size_t before = out->len;
	struct mp_writer w;

	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	MP_VALUE_EACH(m->tape, m->params, k) {
		if (mp_value_of(k) == m->meta)
			continue;
		if (mp_value_of(k) == replaced)
			add_raw(&w, mp_value_source(m->tape, k), value);
		else
			copy_member(&w, m->tape, k);
	}
	return finish(&w, before);
}

int mp_message_write_meta(const struct mp_message *m, struct mp_buf *out)
{
	size_t before = out->len;
	struct mp_writer w;
	size_t n = 0;

	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	MP_VALUE_EACH(m->tape, m->meta, key) {
		if (mp_value_of(key) == m->progress_token || is_hop_key(m->tape, key))
			continue;
		copy_member(&w, m->tape, key);
		n++;
	}
	if (n > 0)
		return finish(&w, before);
	out->len = before;
	return 0;
}

int mp_message_forward_answer(const struct mp_message *m, struct mp_str id, struct mp_buf *out)
{
	size_t before = out->len;
	struct mp_writer w;

	mp_check(m->kind == MP_MESSAGE_RESULT || m->kind == MP_MESSAGE_ERROR);
	begin(&w, out);
	add_raw(&w, MP_STR("\"id\""), id);
	if (m->kind == MP_MESSAGE_RESULT)
		mp_write_member_raw(&w, "result", mp_value_source(m->tape, m->result));
	else
		mp_write_member_raw(&w, "error", mp_value_source(m->tape, m->error));
	return finish(&w, before);
}

int mp_message_request(struct mp_buf *out, enum mp_method_id method, struct mp_str params,
		       const struct mp_splice *s)
{
	size_t before = out->len;
	struct mp_writer w;

	mp_check(s->id.len);
	begin(&w, out);
	add_raw(&w, MP_STR("\"id\""), s->id);
	add_raw(&w, MP_STR("\"method\""), mp_str_of(methods[method].json));
	if (params.len || has_meta(s)) {
		mp_write_raw_key(&w, MP_STR("\"params\""));
		mp_write_begin_object(&w);
		mp_write_raw_members(&w, inside(params));
		if (has_meta(s)) {
			mp_write_raw_key(&w, MP_STR("\"_meta\""));
			mp_write_begin_object(&w);
			add_meta(&w, s->progress_token, s);
			mp_write_end_object(&w);
		}
		mp_write_end_object(&w);
	}
	return finish(&w, before);
}

int mp_message_notify(struct mp_buf *out, enum mp_method_id method, struct mp_str params)
{
	size_t before = out->len;
	struct mp_writer w;

	begin(&w, out);
	add_raw(&w, MP_STR("\"method\""), mp_str_of(methods[method].json));
	if (params.len)
		mp_write_member_raw(&w, "params", params);
	return finish(&w, before);
}

int mp_message_result(struct mp_buf *out, struct mp_str id, struct mp_str result)
{
	size_t before = out->len;
	struct mp_writer w;

	begin(&w, out);
	add_raw(&w, MP_STR("\"id\""), id);
	mp_write_member_raw(&w, "result", result);
	return finish(&w, before);
}

int mp_message_error(struct mp_buf *out, struct mp_str id, int code, struct mp_str words,
		     struct mp_str data)
{
	size_t before = out->len;
	struct mp_writer w;

	begin(&w, out);
	add_raw(&w, MP_STR("\"id\""), id.len ? id : MP_STR("null"));
	mp_write_key(&w, MP_STR("error"));
	mp_write_begin_object(&w);
	mp_write_member_i64(&w, "code", code);
	mp_write_member_text(&w, "message", words);
	if (data.len)
		mp_write_member_raw(&w, "data", data);
	mp_write_end_object(&w);
	return finish(&w, before);
}
