/*
 * main.c - demo-server: a dual-era MCP server on stdin and stdout that misbehaves as a test wants.
 * Here it begins and ends, and each request finds its era and its method. The era is judged per
 * request, by what arrives: modern metadata means modern, everything else belongs to the one legacy
 * conversation of the process.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "base/mem.h"
#include "demo/demo.h"
#include "transport/pipe.h"

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };
enum { LEAVE_WITHIN_MS = 2000 }; /* for a client that does not read what we have to say */

/* What we serve; the method's row in methods.def says in which era. */
static void (*const serve[MP_METHODS])(struct mp_demo_call *c) = {
	[MP_METHOD_INITIALIZE] = mp_demo_initialize,
	[MP_METHOD_DISCOVER] = mp_demo_discover,
	[MP_METHOD_PING] = mp_demo_ping,
	[MP_METHOD_SET_LEVEL] = mp_demo_set_level,
	[MP_METHOD_TOOLS_LIST] = mp_demo_tools_list,
	[MP_METHOD_TOOLS_CALL] = mp_demo_tools_call,
	[MP_METHOD_RESOURCES_LIST] = mp_demo_resources_list,
	[MP_METHOD_TEMPLATES_LIST] = mp_demo_templates_list,
	[MP_METHOD_RESOURCES_READ] = mp_demo_resources_read,
	[MP_METHOD_RESOURCES_SUBSCRIBE] = mp_demo_subscribe,
	[MP_METHOD_RESOURCES_UNSUBSCRIBE] = mp_demo_unsubscribe,
	[MP_METHOD_PROMPTS_LIST] = mp_demo_prompts_list,
	[MP_METHOD_PROMPTS_GET] = mp_demo_prompts_get,
	[MP_METHOD_COMPLETE] = mp_demo_complete,
	[MP_METHOD_LISTEN] = mp_demo_listen,
};

/* --- requests ------------------------------------------------------------------------------- */

static struct mp_demo_call *find_call(struct mp_demo *d, struct mp_str id)
{
	MP_LIST_EACH(&d->calls, link) {
		struct mp_demo_call *c = mp_container_of(link, struct mp_demo_call, link);

		if (mp_str_eq(mp_demo_id(c), id))
			return c;
	}
	return NULL;
}

static struct mp_demo_call *new_call(struct mp_demo *d, const struct mp_message *m)
{
	struct mp_demo_call *c = mp_alloc(sizeof(*c));
	struct mp_str token = mp_value_source(m->tape, m->progress_token);

	c->demo = d;
	c->message = m;
	c->method = m->method;
	c->level = d->level;
	c->can_ask = d->can_ask;
	memcpy(c->id, m->id.p, m->id.len); /* message.c has seen to its length */
	c->id_len = m->id.len;
	if (token.len && token.len <= sizeof(c->token)) {
		memcpy(c->token, token.p, token.len);
		c->token_len = token.len;
	}
	mp_buf_init(&c->answer, MP_LIMIT_MESSAGE);
	mp_timer_init(&c->timer, d->loop, NULL, c);
	return c;
}

void mp_demo_drop(struct mp_demo_call *c)
{
	if (c->demo->held == c)
		c->demo->held = NULL;
	if (mp_list_linked(&c->link))
		mp_list_remove(&c->demo->calls, &c->link);
	mp_timer_stop(&c->timer);
	mp_buf_done(&c->answer);
	mp_free(c);
}

static bool has_meta(const struct mp_message *m)
{
	return m->version != MP_NONE ||
	       mp_value_get(m->tape, m->meta, "io.modelcontextprotocol/clientCapabilities") !=
		       MP_NONE;
}

static bool is_modern(const struct mp_demo *d, const struct mp_message *m)
{
	if (d->knobs.era != MP_DEMO_ERA_BOTH)
		return d->knobs.era == MP_DEMO_ERA_MODERN;
	return has_meta(m) || mp_method_get(m->method)->eras == MP_ERA_MODERN;
}

static void fail_method(struct mp_demo_call *c)
{
	const struct mp_message *m = c->message;

	mp_demo_fail(c, MP_DEMO_NO_METHOD, "there is no method %.*s%s",
		     MP_STR_ARGS(mp_value_source(m->tape, m->method_name)),
		     c->modern ? " in " MP_DEMO_MODERN : "");
}

static void dispatch(struct mp_demo_call *c)
{
	enum mp_era era = c->modern ? MP_ERA_MODERN : MP_ERA_LEGACY;

	if (!serve[c->method] || !(mp_method_get(c->method)->eras & era))
		fail_method(c);
	else if (!c->modern && !c->demo->initialized && c->method != MP_METHOD_INITIALIZE &&
		 c->method != MP_METHOD_PING)
		mp_demo_fail(c, MP_DEMO_INVALID_REQUEST, "the first request is initialize");
	else
		serve[c->method](c);
}

/* Whatever is called here may have answered, and so forgotten, the request when it returns. */
static void take_request(struct mp_demo *d, const struct mp_message *m)
{
	struct mp_demo_call *c = new_call(d, m);
	bool twice = find_call(d, m->id) != NULL;

	c->modern = is_modern(d, m);
	if (m->method == MP_METHOD_DISCOVER && d->knobs.probe == MP_DEMO_PROBE_SILENT)
		mp_demo_drop(c);
	else if (twice)
		mp_demo_fail(c, MP_DEMO_INVALID_REQUEST,
			     "a request with this id is still under way");
	else if (d->calls.len >= MP_DEMO_MAX_CALLS)
		mp_demo_fail(c, MP_DEMO_INTERNAL, "%d requests are under way already",
			     MP_DEMO_MAX_CALLS);
	else if (c->modern && m->method == MP_METHOD_INITIALIZE && !has_meta(m))
		mp_demo_fail_version(c, mp_value_get(m->tape, m->params, "protocolVersion"));
	else {
		mp_list_append(&d->calls, &c->link);
		if (!c->modern || mp_demo_read_meta(c))
			dispatch(c);
	}
}

/* --- by itself ------------------------------------------------------------------------------- */

static void watch_idleness(struct mp_demo *d)
{
	if (d->knobs.exit_idle_ms)
		mp_timer_start(&d->idle_timer, d->knobs.exit_idle_ms);
}

/* An open listen stream does not count as work. */
static bool is_idle(const struct mp_demo *d)
{
	MP_LIST_EACH(&d->calls, link) {
		if (mp_container_of(link, struct mp_demo_call, link)->method != MP_METHOD_LISTEN)
			return false;
	}
	return true;
}

static void on_idle(void *u)
{
	struct mp_demo *d = u;

	if (is_idle(d))
		mp_demo_leave(d, EXIT_DONE);
	else
		watch_idleness(d);
}

static void on_change(void *u)
{
	mp_demo_change(u);
}

/* --- messages ------------------------------------------------------------------------------- */

/* A cancelled request gets no answer; an unknown id is ignored. */
static void cancel(struct mp_demo *d, const struct mp_message *m)
{
	mp_value id = mp_value_get(m->tape, m->params, "requestId");
	struct mp_demo_call *c = find_call(d, mp_value_source(m->tape, id));

	if (!c)
		return;
	if (c->question) { /* the user need not be asked any more */
		mp_write_member_i64(mp_demo_begin_object(d), "requestId", c->question);
		mp_demo_notify(d, MP_METHOD_CANCELLED);
	}
	mp_demo_mischief_at_end(c, "cancelled");
	mp_demo_drop(c);
}

/* The first message: some servers cannot stand any but initialize, and some are chatty. */
static void meet(struct mp_demo *d, const struct mp_message *m)
{
	if (d->met)
		return;
	d->met = true;
	if (d->knobs.change_after_ms)
		mp_timer_start(&d->change_timer, d->knobs.change_after_ms);
	if (d->knobs.probe == MP_DEMO_PROBE_DIE && m->method != MP_METHOD_INITIALIZE) {
		fputs("demo-server: expected initialize, dies as it was told to\n", stderr);
		_exit(EXIT_FAILED);
	}
	mp_demo_flood(STDOUT_FILENO, d->knobs.flood_stdout);
}

static void take(struct mp_demo *d, const struct mp_message *m)
{
	meet(d, m);
	switch (m->kind) {
	case MP_MESSAGE_REQUEST:
		take_request(d, m);
		break;
	case MP_MESSAGE_NOTIFICATION:
		if (m->method == MP_METHOD_CANCELLED)
			cancel(d, m);
		break;
	case MP_MESSAGE_RESULT:
	case MP_MESSAGE_ERROR:
		mp_demo_hear(d, m);
		break;
	case MP_MESSAGE_BATCH:
		mp_demo_fail_unnamed(d, MP_DEMO_INVALID_REQUEST, "batches are not served");
		break;
	}
}

static void on_message(void *u, struct mp_str text)
{
	struct mp_demo *d = u;
	struct mp_message m;
	struct mcpool_error e;

	if (d->leave_by_ms)
		return;
	watch_idleness(d);
	if (mp_message_scan(&d->tape, text, &m, &e) == 0)
		take(d, &m);
	else if (m.id.len)
		mp_demo_fail(new_call(d, &m), e.rpc_code, "%s", e.message);
	else
		mp_demo_fail_unnamed(d, e.rpc_code, e.message);
	mp_arena_reset(&d->arena);
}

static void on_oversize(void *u, struct mp_str head, struct mp_str tail)
{
	(void)head;
	(void)tail;
	mp_demo_fail_unnamed(u, MP_DEMO_INVALID_REQUEST, "the message is too large");
}

/* --- the end -------------------------------------------------------------------------------- */

static void try_to_leave(void *u)
{
	struct mp_demo *d = u;

	if (mp_demo_is_drained(d) || mp_loop_now_ms(d->loop) >= d->leave_by_ms)
		mp_loop_stop(d->loop);
	else
		mp_timer_start(&d->leave_timer, 1);
}

void mp_demo_leave(struct mp_demo *d, int exit_code)
{
	int64_t delay = d->knobs.exit_delay_ms;

	if (d->leave_by_ms)
		return;
	d->exit_code = exit_code;
	d->leave_by_ms = mp_loop_now_ms(d->loop) + delay + LEAVE_WITHIN_MS;
	mp_demo_end_listens(d);
	if (delay != MP_DEMO_FOREVER)
		mp_timer_start(&d->leave_timer, delay);
}

static void on_written(void *u, uint64_t total)
{
	struct mp_demo *d = u;

	d->written = total;
}

static void on_ended(void *u, const struct mcpool_error *why)
{
	struct mp_demo *d = u;

	(void)why; /* a client that leaves is not an error */
	if (mp_demo_mischief_may_leave(&d->knobs))
		mp_demo_leave(d, EXIT_DONE);
}

static void on_term(uv_signal_t *signal, int number)
{
	struct mp_demo *d = signal->data;

	(void)number;
	if (!d->knobs.ignore_term)
		mp_demo_leave(d, EXIT_DONE);
}

/* --- life ----------------------------------------------------------------------------------- */

static const struct mp_transport_hooks hooks = {
	.message = on_message,
	.oversize = on_oversize,
	.written = on_written,
	.ended = on_ended,
};

static void init(struct mp_demo *d)
{
	mp_list_init(&d->calls);
	mp_tape_init(&d->tape, 0); /* all levels: arguments and capabilities are read here */
	mp_arena_init(&d->arena, MP_LIMIT_ARENA);
	mp_buf_init(&d->body, MP_LIMIT_MESSAGE);
	mp_buf_init(&d->frame, MP_LIMIT_MESSAGE + MP_KIB(4));
	mp_timer_init(&d->leave_timer, d->loop, try_to_leave, d);
	mp_timer_init(&d->idle_timer, d->loop, on_idle, d);
	mp_timer_init(&d->change_timer, d->loop, on_change, d);
	watch_idleness(d);
	d->level = MP_DEMO_INFO;
	d->wire = mp_pipe_new(d->loop, STDIN_FILENO, STDOUT_FILENO);
	d->wire->hooks = &hooks;
	d->wire->u = d;
}

static void done(struct mp_demo *d)
{
	while (d->calls.len)
		mp_demo_drop(mp_container_of(mp_list_first(&d->calls), struct mp_demo_call, link));
	mp_timer_stop(&d->leave_timer);
	mp_timer_stop(&d->idle_timer);
	mp_timer_stop(&d->change_timer);
	d->wire = mp_transport_free(d->wire);
	mp_buf_done(&d->frame);
	mp_buf_done(&d->body);
	mp_arena_done(&d->arena);
	mp_tape_done(&d->tape);
}

static int watch_term(struct mp_demo *d, uv_signal_t *term)
{
	int r = uv_signal_init(mp_loop_get_uv(d->loop), term);

	if (r < 0)
		return r;
	term->data = d;
	return uv_signal_start(term, on_term, SIGTERM);
}

static int run(struct mp_demo *d)
{
	struct mcpool_error e;
	uv_signal_t term;

	if (mp_loop_new(&d->loop) < 0 || watch_term(d, &term) < 0) {
		fputs("demo-server: the event loop could not be made\n", stderr);
		return EXIT_FAILED;
	}
	init(d);
	if (d->wire->impl->start(d->wire, &e) < 0) {
		fprintf(stderr, "demo-server: %s\n", e.message);
		d->exit_code = EXIT_FAILED;
		mp_loop_stop(d->loop);
	}
	mp_loop_run(d->loop);
	done(d);
	uv_close((uv_handle_t *)&term, NULL);
	d->loop = mp_loop_free(d->loop);
	return d->exit_code;
}

static int show_help(void)
{
	puts("usage: demo-server\n\n"
	     "An MCP server on stdin and stdout, for tests. It speaks all\n"
	     "revisions from 2024-10-07 to " MP_DEMO_MODERN
	     ", as each request asks for, and has tools,\n"
	     "resources, prompts and completion. It ends when its stdin does.\n\n"
	     "For tests it misbehaves as the environment says:\n");
	mp_demo_knobs_print(stdout);
	return EXIT_DONE;
}

int main(int argc, char **argv)
{
	struct mp_demo d = {0};
	struct mcpool_error e;
	int code;

	if (argc == 2 && strcmp(argv[1], "--help") == 0)
		return show_help();
	if (argc > 1) {
		fprintf(stderr, "demo-server: takes no '%s'. See `demo-server --help`.\n", argv[1]);
		return EXIT_USAGE;
	}
	if (mp_demo_knobs_read(&d.knobs, &e) < 0) {
		fprintf(stderr, "demo-server: %s. See `demo-server --help`.\n", e.message);
		return EXIT_USAGE;
	}
	signal(SIGPIPE, SIG_IGN); /* a client that goes is met when we write */
	code = mp_demo_mischief_at_start(&d.knobs);
	return code >= 0 ? code : run(&d);
}
