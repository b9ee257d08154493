/*
 * service_stage.h - HTTP connections on conns of memory, with a judge and a handler that do what
 * the test says.
 */
#ifndef TEST_SERVICE_STAGE_H
#define TEST_SERVICE_STAGE_H

#include "test.h"
#include "memory_conn.h"

#include "http/http_service.h"

#define HOST "Host: a\r\n"

static const char a_route[] = "r"; /* a placeholder */

struct stage {
	struct mp_loop *loop;
	struct mp_http_service service;
	struct memory_conn conn;
	struct mp_exchange *open; /* the one that waits for its answer */
	struct mp_buf log;        /* what was judged and served */
	int quiet, gone, empty, served;
	int refuse;      /* every head with this status */
	bool at_once;    /* answers in serve() */
	bool is_visitor; /* requests show no token */
	bool tunnels;
	bool defers; /* the judge cannot tell yet */
	bool ready;
};

static inline void note(struct stage *s, const char *word, struct mp_str what)
{
	if (mp_buf_addf(&s->log, "%s %.*s;", word, MP_STR_ARGS(what)) < 0)
		s->ready = true; /* the test fails, as it may */
}

static inline void judge(void *u, struct mp_exchange *x)
{
	struct stage *s = u;

	note(s, "judge", mp_inbound_get_path(x->in));
	x->is_deferred = s->defers;
	if (s->defers)
		return;
	x->admission.route = (const struct mp_route *)(const void *)a_route;
	x->admission.principal = s->is_visitor || s->refuse ? NULL : "token:1";
	if (s->refuse)
		x->refusal = (struct mp_http_refusal){s->refuse, "no", "X-Why: because\r\n"};
}

static inline void quiet(void *u)
{
	((struct stage *)u)->quiet++;
}

static inline void gone(void *u)
{
	struct stage *s = u;

	s->gone++;
	s->open = NULL;
}

static inline void bytes(void *u, struct mp_str b)
{
	note(u, "bytes", b);
}

static const struct mp_exchange_hooks exchange_hooks = {
	.quiet = quiet, .gone = gone, .bytes = bytes};

static inline void answer(struct stage *s, const char *body)
{
	struct mp_exchange *x = MP_TAKE(s->open);

	if (x)
		mp_exchange_answer(
			x, &(struct mp_http_answer){200, "text/plain", NULL, mp_str_of(body)});
}

static inline void serve(void *u, struct mp_exchange *x)
{
	struct stage *s = u;

	s->served++;
	note(s, "serve", mp_inbound_get_body(x->in));
	s->open = x;
	x->hooks = &exchange_hooks;
	x->u = s;
	if (s->tunnels)
		mp_exchange_begin_tunnel(x, "Upgrade: x\r\n");
	else if (s->at_once)
		answer(s, "ok");
}

static inline void emptied(void *u)
{
	((struct stage *)u)->empty++;
}

static const struct mp_http_hooks_of_service service_hooks = {judge, serve};

static inline bool stage_open(struct stage *s)
{
	*s = (struct stage){.at_once = true};
	if (mp_loop_new_by_hand(784111777000, &s->loop) < 0)
		return false;
	mp_buf_init(&s->log, 100000);
	memory_conn_init(&s->conn);
	mp_http_service_init(&s->service, s->loop, &service_hooks, s);
	mp_http_service_take(&s->service, &s->conn.base);
	s->ready = true;
	return true;
}

static inline void stage_done(struct stage *s)
{
	if (!s->ready)
		return;
	mp_http_service_done(&s->service);
	mp_loop_advance(s->loop, 0);
	mp_loop_free(s->loop);
	memory_conn_done(&s->conn);
	mp_buf_done(&s->log);
}

static inline void say(struct stage *s, const char *text)
{
	memory_conn_say(&s->conn, mp_str_of(text));
	mp_loop_advance(s->loop, 0);
}

static inline struct mp_http_connection *connection(struct stage *s)
{
	return mp_container_of(mp_list_first(&s->service.connections), struct mp_http_connection,
			       link);
}

#endif
