/* fake_server.c - an upstream and the server at its other end; see fake_server.h. */
#include "fake_server.h"

#include <stdio.h>

#include "test.h"

#include "base/error.h"
#include "base/mem.h"
#include "outgoing.h"

static void note_news(struct fake *f, const char *what)
{
	size_t len = strlen(f->news);

	snprintf(f->news + len, sizeof(f->news) - len, "%s ", what);
}

/* --- the server's end ------------------------------------------------------------------------ */

static void copy(char *to, size_t size, struct mp_str s)
{
	size_t n = s.len < size - 1 ? s.len : size - 1;

	if (n)
		memcpy(to, s.p, n);
	to[n] = '\0';
}

static void server_message(void *u, struct mp_str text)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct fake *f = u;
	struct mp_message m;
	struct fake_request *r;

	mp_message_tape_init(&t);
	if (f->n == FAKE_REQUESTS || mp_message_scan(&t, text, &m, NULL) < 0)
		return;
	r = &f->got[f->n++];
	copy(r->method, sizeof(r->method), mp_str_of(mp_method_get(m.method)->name));
	copy(r->id, sizeof(r->id), m.id);
	r->text = mp_alloc(text.len + 1);
	memcpy(r->text, text.p, text.len);
}

static const struct mp_transport_hooks server_hooks = {.message = server_message};

static int dial(void *u, struct mp_transport **ret, struct mcpool_error *reterr)
{
	struct fake *f = u;

	f->dials++;
	if (f->refuse_dial)
		return mp_fail(reterr, MCPOOL_ENOENT, "nobody is there");
	f->end = mp_transport_free(f->end);
	mp_memory_new(f->loop, ret, &f->end);
	(*ret)->traits = f->traits;
	f->end->hooks = &server_hooks;
	f->end->u = f;
	return f->end->impl->start(f->end, reterr);
}

/* --- the upstream's end ---------------------------------------------------------------------- */

static void up_ready(void *u)
{
	struct fake *f = u;

	note_news(f, "ready");
	if (f->ready)
		f->ready(f);
}

static void up_ended(void *u, const struct mcpool_error *why)
{
	struct fake *f = u;

	f->why = *why;
	note_news(f, "ended");
}

static void up_notification(void *u, const struct mp_message *m)
{
	struct fake *f = u;

	note_news(f, mp_method_get(m->method)->name);
	if (f->heard)
		f->heard(f->heard_u, m);
}

static void up_closed(void *u)
{
	note_news(u, "closed");
}

static const struct mp_upstream_hooks up_hooks = {
	.ready = up_ready, .ended = up_ended, .notification = up_notification, .closed = up_closed};

static const struct mp_identity identity = {
	.name = "tester", .title = "A test", .version = "7", .capabilities = {"{}", 2}};

/* --- life ------------------------------------------------------------------------------------ */

bool fake_init(struct fake *f)
{
	*f = (struct fake){.loop = NULL};
	mp_era_cache_init(&f->era_cache);
	REQUIRE(mp_loop_new_by_hand(1000000, &f->loop) == 0);
	f->options = (struct mp_upstream_options){
		.me = &identity,
		.eras = MP_ERA_BOTH,
		.timeout_ms = 30000,
		.era_cache = &f->era_cache,
		.launch_key = MP_STR("key"),
		.dial = dial,
		.dial_u = f,
	};
	return true;
}

void fake_done(struct fake *f)
{
	mp_upstream_free(f->up);
	mp_transport_free(f->end);
	for (int i = 0; i < f->n; i++)
		mp_free(f->got[i].text);
	mp_era_cache_done(&f->era_cache);
	mp_loop_free(f->loop);
}

bool fake_open(struct fake *f)
{
	f->up = mp_upstream_free(f->up);
	f->up = mp_upstream_new(f->loop, &f->options, &up_hooks, f);
	REQUIRE(mp_upstream_open(f->up, NULL) == 0);
	fake_settle(f);
	return true;
}

void fake_settle(struct fake *f)
{
	mp_loop_advance(f->loop, 0);
}

void fake_advance(struct fake *f, int64_t ms)
{
	mp_loop_advance(f->loop, ms);
	mp_loop_advance(f->loop, 0);
}

/* --- speaking -------------------------------------------------------------------------------- */

bool fake_say(struct fake *f, const char *text)
{
	REQUIRE(outgoing_send(f->end, mp_str_of(text), NULL) == 0);
	fake_settle(f);
	return true;
}

static bool reply(struct fake *f, int i, const char *key, const char *value)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;

	mp_buf_init(&text, 1 << 20);
	REQUIRE(i >= 0 && i < f->n);
	REQUIRE(mp_buf_addf(&text, "{\"jsonrpc\":\"2.0\",\"id\":%s,\"%s\":%s}", f->got[i].id, key,
			    value) == 0);
	REQUIRE(mp_buf_terminate(&text) == 0);
	return fake_say(f, text.data);
}

bool fake_answer(struct fake *f, int i, const char *result)
{
	return reply(f, i, "result", result);
}

bool fake_error(struct fake *f, int i, const char *error)
{
	return reply(f, i, "error", error);
}

void fake_die(struct fake *f)
{
	mp_memory_break(f->end);
	fake_settle(f);
}

int fake_find(const struct fake *f, const char *method)
{
	for (int i = f->n - 1; i >= 0; i--)
		if (strcmp(f->got[i].method, method) == 0)
			return i;
	return -1;
}

bool fake_open_legacy(struct fake *f)
{
	f->options.eras = MP_ERA_LEGACY;
	REQUIRE(fake_open(f));
	REQUIRE(fake_answer(f, fake_find(f, "initialize"), FAKE_INITIALIZED));
	REQUIRE(mp_upstream_is_ready(f->up));
	return true;
}

bool fake_open_modern(struct fake *f)
{
	REQUIRE(fake_open(f));
	REQUIRE(fake_answer(f, fake_find(f, "server/discover"), FAKE_DISCOVERED));
	REQUIRE(mp_upstream_is_ready(f->up));
	return true;
}

void fake_note(const struct mp_answer *answer, void *u)
{
	struct fake *f = u;

	f->answers++;
	f->outcome = answer->outcome;
	if (answer->outcome != MP_OUTCOME_ANSWERED)
		copy(f->result, sizeof(f->result), mp_str_of(answer->error->message));
	else
		copy(f->result, sizeof(f->result),
		     mp_value_source(answer->message->tape,
				     answer->message->kind == MP_MESSAGE_RESULT
					     ? answer->message->result
					     : answer->message->error));
}

bool fake_call(struct fake *f, enum mp_method_id method, const char *params, int64_t timeout_ms,
	       struct mp_call **ret_call)
{
	struct mp_call_options o = {
		.method = method, .params = mp_str_of(params), .timeout_ms = timeout_ms};

	f->answers = 0;
	REQUIRE(heap_call(f->up, &o, fake_note, f, ret_call) == 0);
	fake_settle(f);
	return true;
}
