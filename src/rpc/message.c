/*
 * message.c - the JSON-RPC envelope: classify and check.
 * Strict about the envelope: an ambiguous one is refused, because the next reader might read it
 * differently. Lenient about the content: results pass as they are.
 */
#include "rpc/message.h"

#include "base/error.h"

/* Envelope, its members, the members of params, the members of _meta. */
enum { KEEP_DEPTH = 3 };

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
#define ANSWERER_SERVER   true
#define ANSWERER_HUB      false

static const struct mp_method methods[] = {
	[MP_METHOD_UNKNOWN] = {"", "\"\"", MP_SIDE_BOTH, true, MP_ERA_BOTH, NULL, NULL, false},
#define METHOD(name, text, from, kind, eras, capability, subject, answerer)        \
	[MP_METHOD_##name] = {                                                     \
		text,          "\"" text "\"",     FROM_##from,       KIND_##kind, \
		MP_ERA_##eras, NEEDS_##capability, SUBJECT_##subject, ANSWERER_##answerer},
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
static int message_refuse(struct mcpool_error *reterr, const char *why)
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
		return mp_fail(reterr, MCPOOL_EPROTO, "the key %.*s occurs twice in %s",
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
		return message_refuse(
			reterr,
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
#define METHOD(name, text, from, kind, eras, capability, subject, answerer) \
	[MP_METHOD_##name] = {text, sizeof(text) - 1},
#include "rpc/methods.def"
#undef METHOD
};

static enum mp_method_id find_method(const struct mp_tape *t, mp_value name)
{
	struct mp_str source = mp_value_source(t, name);
	const struct mp_tape_node *node = mp_value_node(t, name);
	bool has_escapes = node && node->flags & MP_TAPE_ESCAPED; /* PHP writes "\/" */

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
	static const struct mp_str of_meta[] = {MP_STR("progressToken"),
						MP_STR("io.modelcontextprotocol/protocolVersion")};
	enum { META, ARGUMENTS, TOKEN, SUBJECT, N };
	const struct mp_str keys[N] = {MP_STR("_meta"), MP_STR("arguments"),
				       MP_STR("progressToken"),
				       mp_str_of(methods[m->method].subject)};
	size_t n = keys[SUBJECT].len ? N : SUBJECT;
	mp_value v[N] = {MP_NONE, MP_NONE, MP_NONE, MP_NONE}, said[2], token;
	int r;

	if (m->params == MP_NONE)
		return 0;
	if (!mp_value_is(t, m->params, MP_TAPE_OBJECT))
		return message_refuse(reterr, "params is not an object");
	r = check_keys(t, m->params, "params", reterr);
	if (r < 0)
		return r;
	mp_value_get_all(t, m->params, keys, n, v);
	m->meta = v[META];
	if (m->meta != MP_NONE && !mp_value_is(t, m->meta, MP_TAPE_OBJECT))
		return message_refuse(reterr, "_meta is not an object");
	r = check_keys(t, m->meta, "_meta", reterr);
	if (r < 0)
		return r;
	r = check_keys(t, v[ARGUMENTS], "arguments", reterr);
	if (r < 0)
		return r;
	mp_value_get_all(t, m->meta, of_meta, 2, said);
	m->version = said[1];
	token = m->method == MP_METHOD_PROGRESS ? v[TOKEN] : said[0];
	if (token != MP_NONE && !is_id(t, token))
		return message_refuse(reterr,
				      "the progress token is neither a string nor a whole number");
	m->progress_token = token;
	m->subject = v[SUBJECT];
	return 0;
}

static int read_call(const struct mp_tape *t, struct mp_message *m, struct mcpool_error *reterr)
{
	if (!is_name(t, m->method_name))
		return message_refuse(reterr, "the method is not a string of 256 bytes at most");
	m->method = find_method(t, m->method_name);
	m->kind = m->id.len ? MP_MESSAGE_REQUEST : MP_MESSAGE_NOTIFICATION;
	if (m->result != MP_NONE || m->error != MP_NONE)
		return message_refuse(reterr, "a message with a method has no result and no error");
	return read_params(t, m, reterr);
}

static int read_answer(const struct mp_tape *t, struct mp_message *m, struct mcpool_error *reterr)
{
	m->params = MP_NONE;
	if ((m->result == MP_NONE) == (m->error == MP_NONE))
		return message_refuse(reterr,
				      "neither a method nor exactly one of result and error");
	m->kind = m->result != MP_NONE ? MP_MESSAGE_RESULT : MP_MESSAGE_ERROR;
	/* An error may answer a request whose id could not be read; a result may not. */
	if (m->id.len == 0 && m->kind == MP_MESSAGE_RESULT)
		return message_refuse(reterr, "a result has an id");
	if (m->error != MP_NONE && !mp_value_is(t, m->error, MP_TAPE_OBJECT))
		return message_refuse(reterr, "error is not an object");
	return 0;
}

void mp_message_clear(struct mp_message *m, const struct mp_tape *t)
{
	*m = (struct mp_message){
		.tape = t,
		.method_name = MP_NONE,
		.params = MP_NONE,
		.meta = MP_NONE,
		.progress_token = MP_NONE,
		.version = MP_NONE,
		.subject = MP_NONE,
		.result = MP_NONE,
		.error = MP_NONE,
	};
}

int mp_message_classify(const struct mp_tape *t, struct mp_message *m, struct mcpool_error *reterr)
{
	enum { JSONRPC, ID, METHOD, PARAMS, RESULT, ERROR, N };
	static const struct mp_str keys[N] = {MP_STR("jsonrpc"), MP_STR("id"),     MP_STR("method"),
					      MP_STR("params"),  MP_STR("result"), MP_STR("error")};
	mp_value v[N];
	int r;

	mp_message_clear(m, t);
	if (mp_value_is(t, MP_ROOT, MP_TAPE_ARRAY)) {
		m->kind = MP_MESSAGE_BATCH;
		return 0;
	}
	if (!mp_value_is(t, MP_ROOT, MP_TAPE_OBJECT))
		return message_refuse(reterr, "a message is an object");
	mp_value_get_all(t, MP_ROOT, keys, N, v);
	r = read_id(t, v[ID], m, reterr);
	if (r < 0)
		return r;
	r = check_keys(t, MP_ROOT, "the message", reterr);
	if (r < 0)
		return r;
	if (!mp_value_text_is(t, v[JSONRPC], MP_STR("2.0")))
		return message_refuse(reterr, "jsonrpc is not \"2.0\"");
	m->method_name = v[METHOD];
	m->params = v[PARAMS];
	m->result = v[RESULT];
	m->error = v[ERROR];
	if (m->method_name == MP_NONE)
		return read_answer(t, m, reterr);
	if (mp_value_is(t, v[ID], MP_TAPE_NULL))
		return message_refuse(reterr, "the id of a request is not null");
	return read_call(t, m, reterr);
}

int mp_message_scan(struct mp_tape *t, struct mp_str text, struct mp_message *m,
		    struct mcpool_error *reterr)
{
	int r = mp_tape_parse(t, text, reterr);

	if (r < 0) {
		mp_message_clear(m, t);
		return r;
	}
	return mp_message_classify(t, m, reterr);
}

bool mp_message_is_task(const struct mp_message *m)
{
	return m->kind == MP_MESSAGE_RESULT &&
	       (mp_value_get(m->tape, m->result, "task") != MP_NONE ||
		mp_value_text_is(m->tape, mp_value_get(m->tape, m->result, "resultType"),
				 MP_STR("task")));
}
