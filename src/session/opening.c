/*
 * opening.c - the handshake of both eras, and the agent's description of itself.
 */
#include "session/opening.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "pool/call_log.h"
#include "pool/pool_client.h"
#include "session/clients.h"
#include "session/instructions.h"
#include "session/scope.h"

/* Servers come and go, so everything is declared; a list without items is empty. */
static const char capabilities[] =
	"\"logging\":{},\"completions\":{},\"prompts\":{\"listChanged\":true},"
	"\"resources\":{\"subscribe\":true,\"listChanged\":true},\"tools\":{\"listChanged\":true}";

/* Tasks only if a server supports them. */
static const char legacy_tasks[] =
	"\"tasks\":{\"list\":{},\"cancel\":{},\"requests\":{\"tools\":{\"call\":{}}}}";
static const char modern_tasks[] = "\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}";

static const char *const levels[] = {"debug", "info",     "notice", "warning",
				     "error", "critical", "alert",  "emergency"};

/* --- capabilities of the agent --------------------------------------------------------------- */

static unsigned session_read_can(const struct mp_tape *t, mp_value c)
{
	mp_value elicit = mp_value_get(t, c, "elicitation");
	mp_value extensions = mp_value_get(t, c, "extensions");
	unsigned can = 0;

	if (mp_value_is(t, mp_value_get(t, c, "sampling"), MP_TAPE_OBJECT))
		can |= MP_CAN_SAMPLE;
	if (mp_value_is(t, mp_value_get(t, c, "roots"), MP_TAPE_OBJECT))
		can |= MP_CAN_LIST_ROOTS;
	if (mp_value_get(t, elicit, "url") != MP_NONE)
		can |= MP_CAN_ELICIT_URL;
	if (mp_value_is(t, elicit, MP_TAPE_OBJECT) &&
	    (mp_value_count(t, elicit) == 0 || mp_value_get(t, elicit, "form") != MP_NONE))
		can |= MP_CAN_ELICIT;
	if (mp_value_get(t, extensions, "io.modelcontextprotocol/tasks") != MP_NONE)
		can |= MP_CAN_TASKS;
	return can;
}

static const char *session_find_level(const struct mp_tape *t, mp_value v)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(levels); i++)
		if (mp_value_text_is(t, v, mp_str_of(levels[i])))
			return levels[i];
	return NULL;
}

/* The capabilities of a legacy agent in the format of modern servers. */
static char *translate_capabilities(const struct mp_tape *t, mp_value c, struct mp_buf *scratch)
{
	static const char *const known[] = {"roots", "sampling", "elicitation"};
	struct mp_writer w;

	mp_buf_clear(scratch);
	mp_write_init(&w, scratch, NULL);
	mp_write_begin_object(&w);
	for (size_t i = 0; i < MP_ARRAY_LEN(known); i++) {
		mp_value v = mp_value_get(t, c, known[i]);

		if (!mp_value_is(t, v, MP_TAPE_OBJECT))
			continue;
		mp_write_key(&w, mp_str_of(known[i]));
		if (i == 0)
			mp_write_raw(&w, MP_STR("{}")); /* changes of roots are not forwarded */
		else
			mp_write_value(&w, t, v);
	}
	mp_write_end_object(&w);
	return mp_write_finish(&w) < 0 ? NULL : mp_session_keep(mp_buf_get(scratch));
}

/* --- identity -------------------------------------------------------------------------------- */

void mp_session_write_server_info(struct mp_writer *w, const struct mp_sessions *l)
{
	mp_write_key(w, MP_STR("_meta"));
	mp_write_begin_object(w);
	mp_write_key(w, MP_STR("io.modelcontextprotocol/serverInfo"));
	mp_era_write_implementation(w, l->o.me);
	mp_write_end_object(w);
}

static char *keep_text(const struct mp_tape *t, mp_value object, const char *key)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mp_str text;

	mp_arena_init(&arena, MP_KIB(64));
	if (mp_value_text(t, mp_value_get(t, object, key), &arena, &text) < 0)
		return NULL;
	text.len = mp_utf8_cut(text.p, text.len < MP_LIMIT_NAME ? text.len : MP_LIMIT_NAME);
	return mp_session_keep(text);
}

static void take_client(struct mp_session *s, const struct mp_tape *t, mp_value info)
{
	char *name = keep_text(t, info, "name");

	if (!name || (s->client && strcmp(s->client, name) == 0)) {
		mp_free(name);
		return;
	}
	mp_free(s->client);
	mp_free(s->client_version);
	s->client = name;
	s->client_version = keep_text(t, info, "version");
	s->habit = mp_client_find_habit(mp_str_of(name));
	mp_session_name_client(s);
}

void mp_session_name_client(const struct mp_session *s)
{
	const char *root = mp_workspace_get_set(s->workspace)->root;

	mp_call_client_name(s->call_client, s->client ? s->client : "", s->principal,
			    root ? root : "");
}

static bool has_tasks(const struct mp_index *s, enum mp_era era)
{
	struct mp_str word = era == MP_ERA_MODERN ? MP_STR("io.modelcontextprotocol/tasks")
						  : MP_STR("\"tasks\"");

	for (size_t i = 0; s && i < s->n_offers; i++)
		if (s->offers[i]->hello.era == era &&
		    mp_str_find(s->offers[i]->hello.capabilities, word, 0) >= 0)
			return true;
	return false;
}

static void write_capabilities(struct mp_writer *w, struct mp_session *s, enum mp_era era)
{
	mp_write_key(w, MP_STR("capabilities"));
	mp_write_begin_object(w);
	mp_write_raw_members(w, mp_str_of(capabilities));
	if (has_tasks(mp_scope_get_index(s->scope), era))
		mp_write_raw_members(w,
				     mp_str_of(era == MP_ERA_MODERN ? modern_tasks : legacy_tasks));
	mp_write_end_object(w);
}

/* --- legacy ---------------------------------------------------------------------------------- */

static void write_instructions(struct mp_writer *w, struct mp_session *s)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;

	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	if (mp_instructions_write(s->scope, &text) == 0 && text.len)
		mp_write_member_text(w, "instructions", mp_buf_get(&text));
}

static int write_initialize(struct mp_session *s, struct mp_buf *out)
{
	struct mp_writer w;

	mp_buf_clear(out);
	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "protocolVersion", mp_str_of(s->protocol));
	write_capabilities(&w, s, MP_ERA_LEGACY);
	mp_write_key(&w, MP_STR("serverInfo"));
	mp_era_write_implementation(&w, s->sessions->o.me);
	write_instructions(&w, s);
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

/* The requested version if we support it, else our newest; the agent decides whether to go on. */
static void choose_version(struct mp_session *s, const struct mp_tape *t, mp_value v)
{
	char *wanted = keep_text(t, v, "protocolVersion");
	bool known = wanted && mp_legacy_knows(mp_str_of(wanted)) &&
		     strlen(wanted) < sizeof(s->protocol);

	snprintf(s->protocol, sizeof(s->protocol), "%s", known ? wanted : MP_LEGACY_VERSION);
	mp_free(wanted);
}

static void take_initialize(struct mp_session *s, const struct mp_tape *t)
{
	mp_value c = mp_value_get(t, MP_ROOT, "capabilities");

	choose_version(s, t, MP_ROOT);
	s->can = session_read_can(t, c);
	mp_free(s->capabilities);
	s->capabilities = translate_capabilities(t, c, &s->sessions->scratch);
	take_client(s, t, mp_value_get(t, MP_ROOT, "clientInfo"));
}

void mp_session_answer_initialize(struct mp_request *e, const struct mp_message *m)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct mp_session *s = e->session;
	int r;

	mp_tape_init(&t, 0);
	if (!mp_value_is(m->tape, m->params, MP_TAPE_OBJECT)) {
		mp_request_refuse(e, -32602, 400, "initialize needs params");
		return;
	}
	r = mp_era_open(m, m->params, &t);
	if (r == 0) {
		take_initialize(s, &t);
		r = write_initialize(s, &s->sessions->scratch);
	}
	if (r < 0)
		mp_request_give_up(e, r);
	else
		mp_request_result(e, mp_buf_get(&s->sessions->scratch));
}

void mp_session_answer_level(struct mp_request *e, const struct mp_message *m)
{
	const char *level = session_find_level(m->tape, mp_value_get(m->tape, m->params, "level"));

	if (!level) {
		mp_request_refuse(e, -32602, 400,
				  "level is one of debug, info, notice, warning, error, critical, "
				  "alert, emergency");
		return;
	}
	e->session->log_level = level;
	mp_pool_client_set_level(e->session->workspace, e->session->id, level);
	mp_request_result(e, MP_STR("{}"));
}

/* --- modern ---------------------------------------------------------------------------------- */

static int write_versions(struct mp_buf *out, struct mp_str requested)
{
	struct mp_writer w;

	mp_buf_clear(out);
	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	mp_write_member_raw(&w, "supported", MP_STR("[\"" MP_MODERN_VERSION "\"]"));
	mp_write_member_raw(&w, "requested", requested);
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

static void opening_refuse(struct mp_request *e, int code, struct mp_str words, struct mp_str data)
{
	struct mp_sessions *l = e->session->sessions;

	mp_buf_clear(&l->out);
	if (mp_message_error(&l->out, mp_str_of(e->their_id), code, words, data) < 0)
		mp_request_give_up(e, MCPOOL_ENOMEM);
	else
		mp_request_answer(e, mp_buf_get(&l->out), 400);
}

static void refuse_version(struct mp_request *e, struct mp_str requested)
{
	struct mp_buf *data = &e->session->sessions->scratch;

	if (write_versions(data, requested) < 0)
		mp_request_give_up(e, MCPOOL_ENOMEM);
	else
		opening_refuse(e, -32022, MP_STR("Unsupported protocol version"), mp_buf_get(data));
}

void mp_session_refuse_capability(struct mp_request *e, struct mp_str required)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf data;

	mp_buf_init(&data, MP_KIB(4));
	if (mp_buf_addf(&data, "{\"requiredCapabilities\":%.*s}", MP_STR_ARGS(required)) < 0)
		mp_request_give_up(e, MCPOOL_ENOMEM);
	else
		opening_refuse(e, -32021, MP_STR("Missing required client capability"),
			       mp_buf_get(&data));
}

/* Agents repeat it with each request, mostly unchanged, so the last one is cached. */
static unsigned read_can(struct mp_sessions *l, const struct mp_message *m, mp_value c)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct mp_str text = mp_value_source(m->tape, c);

	mp_tape_init(&t, 0);
	if (mp_str_eq(text, mp_buf_get(&l->said)))
		return l->said_can;
	mp_buf_clear(&l->said);
	if (mp_era_open(m, c, &t) < 0)
		return 0;
	l->said_can = session_read_can(&t, MP_ROOT);
	if (mp_buf_add_str(&l->said, text) < 0)
		mp_buf_clear(&l->said); /* parsed again the next time */
	return l->said_can;
}

static void meet(struct mp_session *s, const struct mp_message *m, mp_value info)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;

	mp_tape_init(&t, 0);
	if (mp_era_open(m, info, &t) == 0)
		take_client(s, &t, MP_ROOT);
}

enum { CAPABILITIES, LEVEL, INFO, SAID };

static void take_modern(struct mp_request *e, const struct mp_message *m, const mp_value *said)
{
	struct mp_session *s = e->session;

	e->can = read_can(s->sessions, m, said[CAPABILITIES]);
	e->capabilities = mp_request_keep(e, mp_value_source(m->tape, said[CAPABILITIES]));
	if (said[LEVEL] != MP_NONE)
		e->log_level = session_find_level(m->tape, said[LEVEL]);
	if (said[INFO] != MP_NONE && !s->client)
		meet(s, m, said[INFO]);
	memcpy(s->protocol, MP_MODERN_VERSION, sizeof(MP_MODERN_VERSION));
}

bool mp_session_read_modern(struct mp_request *e, const struct mp_message *m)
{
	static const struct mp_str keys[SAID] = {
		[CAPABILITIES] = MP_STR("io.modelcontextprotocol/clientCapabilities"),
		[LEVEL] = MP_STR("io.modelcontextprotocol/logLevel"),
		[INFO] = MP_STR("io.modelcontextprotocol/clientInfo"),
	};
	const struct mp_tape *t = m->tape;
	mp_value said[SAID], c;

	mp_value_get_all(t, m->meta, keys, SAID, said);
	c = said[CAPABILITIES];
	if (!mp_value_is(t, m->version, MP_TAPE_STRING))
		mp_request_refuse(e, -32602, 400,
				  "io.modelcontextprotocol/protocolVersion is not a string");
	else if (!mp_value_text_is(t, m->version, MP_STR(MP_MODERN_VERSION)))
		refuse_version(e, mp_value_source(t, m->version));
	else if (!mp_value_is(t, c, MP_TAPE_OBJECT))
		mp_request_refuse(e, -32602, 400,
				  "_meta lacks io.modelcontextprotocol/clientCapabilities");
	else {
		take_modern(e, m, said);
		return true;
	}
	return false;
}

static int write_discover(struct mp_session *s, struct mp_buf *out)
{
	struct mp_writer w;

	mp_buf_clear(out);
	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	mp_write_raw_members(
		&w, MP_STR("\"resultType\":\"complete\",\"supportedVersions\":[\"" MP_MODERN_VERSION
			   "\"],\"ttlMs\":0,\"cacheScope\":\"private\""));
	write_capabilities(&w, s, MP_ERA_MODERN);
	write_instructions(&w, s);
	mp_session_write_server_info(&w, s->sessions);
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

void mp_session_answer_discover(struct mp_request *e, const struct mp_message *m)
{
	struct mp_buf *out = &e->session->sessions->scratch;
	int r = write_discover(e->session, out);

	(void)m;
	if (r < 0)
		mp_request_give_up(e, r);
	else
		mp_request_result(e, mp_buf_get(out));
}
