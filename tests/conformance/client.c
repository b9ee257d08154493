/*
 * client.c - what the public conformance suite starts as the client under test: conformance-client
 * URL. Opens the server with the code the hub has, lists what it offers, makes the calls of the
 * scenario named in the environment, all at once, and leaves. Exits with 0 when each was answered.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "auth/account.h"
#include "base/log.h"
#include "base/mem.h"
#include "client/catalog.h"
#include "../unit/heap_call.h"
#include "client/upstream.h"
#include "transport/http_detect.h"

enum { PATIENCE_MS = 15000, TEXT_MAX = 1 << 20 };

#define REDIRECT   "http://localhost:3000/callback" /* nothing listens there */
#define CLIENT_URL "https://conformance-test.local/client-metadata.json"

struct client {
	struct mp_loop *loop;
	struct mp_http_client *http;
	struct mp_destination to;
	struct mp_upstream *up;
	const char *scenario;
	struct mp_catalog_list lists[MP_CATALOG_COUNT];
	int listing; /* the kind on its way */
	unsigned open;
	bool failed;
	struct mp_arena said; /* params of calls */
	struct mp_account *account;
	mp_id visit; /* what a browser would do */
};

static void complain(struct client *c, const char *format, ...) MP_PRINTF(2, 3);
static void complain(struct client *c, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	c->failed = true;
}

static void leave(struct client *c)
{
	mp_upstream_close(c->up);
}

/* --- calls ----------------------------------------------------------------------------------- */

static void answered(const struct mp_answer *answer, void *u)
{
	struct client *c = u;
	const struct mp_message *m = answer->message;

	if (answer->outcome != MP_OUTCOME_ANSWERED)
		complain(c, "%s: %s", mp_outcome_get_name(answer->outcome), answer->error->message);
	else if (m->kind != MP_MESSAGE_RESULT)
		complain(c, "error: %.*s", MP_STR_ARGS(mp_value_source(m->tape, m->error)));
	else
		printf("%.*s\n", MP_STR_ARGS(mp_value_source(m->tape, m->result)));
	if (--c->open == 0)
		leave(c);
}

static void call(struct client *c, enum mp_method_id method, struct mp_str params)
{
	struct mp_call_options o = {.method = method, .timeout_ms = PATIENCE_MS};
	int r;

	o.params = (struct mp_str){mp_arena_dup(&c->said, params), params.len}; /* for rounds */
	o.name = heap_call_find_name(method, o.params);
	r = heap_call(c->up, &o, answered, c, NULL);

	if (r < 0)
		complain(c, "not taken: %s", mcpool_error_text(r));
	else
		c->open++;
}

static void call_tool(struct client *c, struct mp_str name, struct mp_str arguments)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf params;
	struct mp_writer w;

	mp_buf_init(&params, TEXT_MAX);
	mp_write_init(&w, &params, NULL);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "name", name);
	mp_write_member_raw(&w, "arguments", arguments);
	mp_write_end_object(&w);
	if (mp_write_finish(&w) < 0)
		complain(c, "no memory");
	else
		call(c, MP_METHOD_TOOLS_CALL, mp_buf_get(&params));
}

/* --- scenarios ------------------------------------------------------------------------------- */

static void use_everything(struct client *c)
{
	call_tool(c, MP_STR("test_headers"), MP_STR("{}"));
	call_tool(c, MP_STR("my-hyphenated-tool"), MP_STR("{}"));
	call(c, MP_METHOD_RESOURCES_READ, MP_STR("{\"uri\":\"file:///path/to/file%20name.txt\"}"));
	call(c, MP_METHOD_RESOURCES_READ,
	     MP_STR("{\"uri\":\"https://example.com/resource?id=123\"}"));
	call(c, MP_METHOD_PROMPTS_GET, MP_STR("{\"name\":\"test_prompt\"}"));
}

/* toolCalls: [{name, arguments}] */
static void call_what_the_context_says(struct client *c)
{
	const char *context = getenv("MCP_CONFORMANCE_CONTEXT");
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct mp_str name;

	mp_arena_init(&arena, TEXT_MAX);
	mp_tape_init(&t, 0);
	if (!context || mp_tape_parse(&t, mp_str_of(context), NULL) < 0) {
		complain(c, "no context");
		return;
	}
	MP_VALUE_EACH(&t, mp_value_get(&t, MP_ROOT, "toolCalls"), v)
		if (mp_value_text(&t, mp_value_get(&t, v, "name"), &arena, &name) == 0)
			call_tool(c, name, mp_value_source(&t, mp_value_get(&t, v, "arguments")));
}

static void call_all_that_is_listed(struct client *c)
{
	const struct mp_catalog_list *tools = &c->lists[MP_CATALOG_TOOL];

	for (size_t i = 0; i < tools->n; i++)
		call_tool(c, tools->items[i].name, MP_STR("{\"region\":\"here\"}"));
}

/* Rights may be missing for a call only. */
static void call_with_a_token(struct client *c)
{
	const struct mp_catalog_list *tools = &c->lists[MP_CATALOG_TOOL];

	for (size_t i = 0; i < tools->n; i++)
		call_tool(c, tools->items[i].name, MP_STR("{}"));
}

/* The schema of one tool as an argument of the other. */
static void return_schema(struct client *c)
{
	const struct mp_catalog_item *tool =
		mp_catalog_find(&c->lists[MP_CATALOG_TOOL], MP_STR("json_schema_2020_12_tool"));
	MP_CLEANUP(mp_buf_done) struct mp_buf arguments;
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct mp_writer w;

	mp_buf_init(&arguments, TEXT_MAX);
	mp_tape_init(&t, 0);
	if (!tool || mp_tape_parse(&t, tool->json, NULL) < 0) {
		complain(c, "no such tool");
		return;
	}
	mp_write_init(&w, &arguments, NULL);
	mp_write_begin_object(&w);
	mp_write_member_raw(&w, "schema",
			    mp_value_source(&t, mp_value_get(&t, MP_ROOT, "inputSchema")));
	mp_write_end_object(&w);
	if (mp_write_finish(&w) < 0)
		complain(c, "no memory");
	else
		call_tool(c, MP_STR("json_schema_echo"), mp_buf_get(&arguments));
}

static const struct {
	const char *scenario;
	const char *tool, *arguments; /* or */
	void (*act)(struct client *c);
} rows[] = {
	{"tools_call", "add_numbers", "{\"a\":5,\"b\":3}", NULL},
	{"elicitation-sep1034-client-defaults", "test_client_elicitation_defaults", "{}", NULL},
	{"sse-retry", "test_reconnection", "{}", NULL},
	{"sep-2322-client-request-state", "test_mrtr_echo_state", "{}", NULL},
	{"sep-2322-client-request-state", "test_mrtr_unrelated", "{}", NULL},
	{"sep-2322-client-request-state", "test_mrtr_no_state", "{}", NULL},
	{"sep-2322-client-request-state", "test_mrtr_no_result_type", "{}", NULL},
	{"http-standard-headers", NULL, NULL, use_everything},
	{"http-custom-headers", NULL, NULL, call_what_the_context_says},
	{"http-invalid-tool-headers", NULL, NULL, call_all_that_is_listed},
	{"json-schema-2020-12-preservation", NULL, NULL, return_schema},
};

/* A scenario without a row wants no more than that one lists. */
static void act(struct client *c)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		if (strcmp(rows[i].scenario, c->scenario) != 0)
			continue;
		if (rows[i].act)
			rows[i].act(c);
		else
			call_tool(c, mp_str_of(rows[i].tool), mp_str_of(rows[i].arguments));
	}
	if (strncmp(c->scenario, "auth/", 5) == 0)
		call_with_a_token(c);
	if (c->open == 0)
		leave(c);
}

static void list_next(struct client *c);

static void listed(struct mp_catalog_list *l, const struct mcpool_error *error, void *u)
{
	struct client *c = u;

	if (error)
		complain(c, "listing: %s", error->message);
	for (size_t i = 0; i < l->n_problems; i++)
		fprintf(stderr, "left out: %s\n", l->problems[i]);
	c->listing++;
	list_next(c);
}

static void list_next(struct client *c)
{
	struct mp_catalog_list *l = &c->lists[c->listing];
	struct mp_catalog_fetch *fetch;

	if (c->listing == MP_CATALOG_COUNT) {
		act(c);
		return;
	}
	mp_catalog_list_init(l, (enum mp_catalog_kind)c->listing);
	if (mp_catalog_fetch(c->up, l, PATIENCE_MS, listed, c, c->loop, &fetch) < 0) {
		complain(c, "listing cannot begin");
		leave(c);
	}
}

/* --- questions ------------------------------------------------------------------------------- */

/* One field of a form: its default, and yes where there is none and it is that kind of question. */
static void fill_in(struct mp_writer *w, const struct mp_tape *t, mp_value key)
{
	mp_value field = mp_value_of(key), given = mp_value_get(t, field, "default");

	if (given != MP_NONE) {
		mp_write_raw_key(w, mp_value_source(t, key));
		mp_write_raw(w, mp_value_source(t, given));
	} else if (mp_value_text_is(t, mp_value_get(t, field, "type"), MP_STR("boolean"))) {
		mp_write_raw_key(w, mp_value_source(t, key));
		mp_write_bool(w, true);
	}
}

static void answer_question(void *u, const struct mp_server_request *rq)
{
	struct client *c = u;
	MP_CLEANUP(mp_buf_done) struct mp_buf result;
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct mp_writer w;
	mp_value fields;

	mp_buf_init(&result, TEXT_MAX);
	mp_tape_init(&t, 0);
	if (rq->method != MP_METHOD_ELICIT || mp_tape_parse(&t, rq->params, NULL) < 0) {
		mp_upstream_reply(c->up, rq->id, MP_STR(""));
		return;
	}
	fields = mp_value_get(&t, mp_value_get(&t, MP_ROOT, "requestedSchema"), "properties");
	mp_write_init(&w, &result, NULL);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "action", MP_STR("accept"));
	mp_write_key(&w, MP_STR("content"));
	mp_write_begin_object(&w);
	MP_VALUE_EACH(&t, fields, key)
		fill_in(&w, &t, key);
	mp_write_end_object(&w);
	mp_write_end_object(&w);
	mp_upstream_reply(c->up, rq->id,
			  mp_write_finish(&w) < 0 ? MP_STR("") : mp_buf_get(&result));
}

/* --- logins ---------------------------------------------------------------------------------- */

static void visit_head(void *u, const struct mp_http_head *head)
{
	struct client *c = u;
	struct mp_str location = mp_http_head_find(head, MP_STR("Location"));
	char *url = mp_alloc(location.len + 1);
	struct mcpool_error why;

	memcpy(url, location.p ? location.p : "", location.len);
	if (mp_account_take_redirect(c->account, url, &why) < 0)
		complain(c, "HTTP %d: %s", head->status, why.message);
	mp_free(url);
}

static void visit_done(void *u, enum mp_http_end how, const struct mcpool_error *err)
{
	(void)how;
	if (err)
		complain(u, "visit: %s", err->message);
}

/* A browser whose user agrees to everything. */
static void visit(void *u, struct mp_account *account, const struct mp_login_visit *v)
{
	static const struct mp_http_hooks visit_hooks = {.head = visit_head, .done = visit_done};
	struct client *c = u;
	struct mp_http_request request = {.url = v->url};
	struct mcpool_error why;

	(void)account;
	if (mp_http_start(c->http, &request, &visit_hooks, c, &c->visit, &why) < 0)
		complain(c, "%s", why.message);
}

static const char *read_member(const struct mp_tape *t, struct mp_arena *arena, const char *key)
{
	struct mp_str text;

	if (mp_value_text(t, mp_value_get(t, MP_ROOT, key), arena, &text) < 0)
		return NULL;
	return mp_arena_dup(arena, text);
}

static bool is_scenario(const struct client *c, const char *part)
{
	return strstr(c->scenario, part) != NULL;
}

/* What the context of a scenario would be in an entry. */
static void read_context(struct client *c, struct mp_oauth *o)
{
	const char *context = getenv("MCP_CONFORMANCE_CONTEXT");
	MP_CLEANUP(mp_tape_done) struct mp_tape t;

	mp_tape_init(&t, 0);
	o->client_metadata_url = CLIENT_URL;
	if (!context || mp_tape_parse(&t, mp_str_of(context), NULL) < 0)
		return;
	o->client_id = read_member(&t, &c->said, "client_id");
	o->client_secret = read_member(&t, &c->said, "client_secret");
	o->private_key = read_member(&t, &c->said, "private_key_pem");
	if (is_scenario(c, "client-credentials"))
		o->grant = MP_OAUTH_CREDENTIALS;
	if (is_scenario(c, "wif-jwt-bearer")) {
		o->grant = MP_OAUTH_ASSERTION;
		o->assertion = read_member(&t, &c->said, "valid_jwt");
	}
	if (is_scenario(c, "enterprise-managed")) {
		o->grant = MP_OAUTH_ENTERPRISE;
		o->idp_client_id = read_member(&t, &c->said, "idp_client_id");
		o->idp_id_token = read_member(&t, &c->said, "idp_id_token");
		o->idp_token_url = read_member(&t, &c->said, "idp_token_endpoint");
	}
}

static void watch(struct client *c)
{
	static const struct mp_account_hooks account_hooks = {.visit = visit};
	struct mp_oauth oauth = {.is_off = false};
	struct mp_account_options o = {
		.loop = c->loop,
		.http = c->http,
		.server = "conformance",
		.secret = "",
		.server_url = c->to.url,
		.oauth = &oauth,
		.redirect_uri = REDIRECT,
		.asks_at_once = true,
		.hooks = &account_hooks,
		.u = c,
	};

	read_context(c, &oauth);
	c->account = mp_account_new(&o);
	c->to.authorization = mp_account_get_authorization(c->account);
}

/* --- the conversation ------------------------------------------------------------------------ */

static void ready(void *u)
{
	list_next(u);
}

static void ended(void *u, const struct mcpool_error *why)
{
	struct client *c = u;

	complain(c, "%s", why->message);
	leave(c);
}

static void closed(void *u)
{
	struct client *c = u;

	mp_loop_stop(c->loop);
}

static const struct mp_upstream_hooks hooks = {.ready = ready, .ended = ended, .closed = closed};

static int dial(void *u, struct mp_transport **ret, struct mcpool_error *reterr)
{
	static const struct mp_http_detect_options options = {.first = MP_HTTP_DETECT_HTTP};
	struct client *c = u;

	return mp_http_detect_new(c->loop, c->http, &c->to, &options, ret, reterr);
}

static void converse(struct client *c)
{
	static const struct mp_identity me = {.name = "mcpool",
					      .version = MCPOOL_VERSION,
					      .capabilities = {"{\"elicitation\":{}}", 18}};
	const char *version = getenv("MCP_CONFORMANCE_PROTOCOL_VERSION");
	struct mp_answerer answerer = {.ask = answer_question, .u = c};
	struct mp_upstream_options options = {
		.me = &me,
		.eras = version && strcmp(version, MP_MODERN_VERSION) >= 0 ? MP_ERA_MODERN
									   : MP_ERA_LEGACY,
		.timeout_ms = PATIENCE_MS,
		.answerer = &answerer,
		.dial = dial,
		.dial_u = c,
	};
	struct mcpool_error why;

	c->up = mp_upstream_new(c->loop, &options, &hooks, c);
	if (mp_upstream_open(c->up, &why) < 0)
		complain(c, "%s", why.message);
	else
		mp_loop_run(c->loop);
	mp_upstream_free(c->up);
}

int main(int argc, char **argv)
{
	struct client c = {.scenario = getenv("MCP_CONFORMANCE_SCENARIO")};
	struct mcpool_error why;

	if (argc < 2 || !c.scenario) {
		fputs("usage: MCP_CONFORMANCE_SCENARIO=NAME conformance-client URL\n", stderr);
		return 2;
	}
	mp_log_set_level(getenv("CLIENT_TRACE") ? MP_LEVEL_TRC : MP_LEVEL_WRN);
	if (mp_destination_init(&c.to, argv[argc - 1], &why) < 0) {
		fprintf(stderr, "%s\n", why.message);
		return 2;
	}
	if (mp_loop_new(&c.loop) < 0 || mp_http_client_new(c.loop, &c.http) < 0)
		return 2;
	mp_arena_init(&c.said, TEXT_MAX);
	watch(&c);
	converse(&c);
	mp_account_free(c.account);
	mp_arena_done(&c.said);
	for (int i = 0; i < c.listing; i++)
		mp_catalog_list_done(&c.lists[i]);
	mp_http_client_free(c.http);
	mp_loop_free(c.loop);
	mp_destination_done(&c.to);
	return c.failed;
}
