/*
 * fuzz_http.c - bytes to requests to handlers: the same answers whatever the cuts, and no protected
 * handler runs for a request that did not bring the token and our name (V15).
 */
#include "fuzz.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "../tests/unit/memory_conn.h"
#include "base/loop.h"
#include "base/mem.h"
#include "face/admit.h"
#include "http/http_service.h"
#include "face/routes.h"

#define TOKEN "0123456789abcdef0123456789abcdef"

enum way { ANSWERS, STREAMS, TUNNELS, KEEPS, WAYS };

struct stage {
	struct mp_loop *loop;
	struct mp_http_service service;
	struct memory_conn conn;
	struct mp_admit admit;
	enum way way;
	struct mp_exchange *open;
	int judged, served, gone;
};

static void judge(void *u, struct mp_exchange *x)
{
	struct stage *s = u;
	const struct mp_route *route = mp_routes_find(mp_inbound_get_path(x->in));

	s->judged++;
	if (mp_admit_judge(&s->admit, route, x->in, &mp_http_connection_of(x)->conn->peer,
			   &x->admission, &x->refusal))
		(void)mp_routes_allow(route, mp_inbound_get_verb(x->in), &x->refusal);
	else
		FUZZ_CHECK(x->refusal.status && !x->admission.route);
}

static void quiet(void *u)
{
	(void)u;
}

static void gone(void *u)
{
	struct stage *s = u;

	s->open = NULL;
	s->gone++;
}

static void bytes(void *u, struct mp_str b)
{
	struct stage *s = u;

	if (s->open)
		mp_exchange_write(s->open, b);
}

static const struct mp_exchange_hooks hooks = {.quiet = quiet, .gone = gone, .bytes = bytes};

/* What mp_routes_serve() promises, found out in another way. */
static void check_admission(const struct mp_exchange *x)
{
	const struct mp_route *route = mp_routes_find(mp_inbound_get_path(x->in));
	struct mp_str host = mp_inbound_get(x->in, MP_FIELD_HOST);
	struct mp_str token = mp_inbound_get(x->in, MP_FIELD_AUTHORIZATION);

	FUZZ_CHECK(x->admission.route == route);
	FUZZ_CHECK(mp_str_eq(host, MP_STR("127.0.0.1:7717")) ||
		   mp_str_eq(host, MP_STR("localhost:7717")) ||
		   mp_str_eq(host, MP_STR("[::1]:7717")));
	FUZZ_CHECK(route->who == MP_ROUTE_FOR_VISITORS ||
		   mp_str_find(token, MP_STR(TOKEN), 0) >= 7);
	FUZZ_CHECK(!x->refusal.status);
}

static void serve(void *u, struct mp_exchange *x)
{
	struct stage *s = u;
	struct mp_str body = mp_inbound_get_body(x->in);

	check_admission(x);
	s->served++;
	if (s->way == ANSWERS) {
		mp_exchange_answer(x, &(struct mp_http_answer){200, "text/plain", NULL, body});
		return;
	}
	if (s->way == STREAMS) {
		mp_exchange_begin_stream(x, NULL);
		mp_exchange_event(x, MP_STR("message"), MP_STR("1"), MP_STR("{}"));
		mp_exchange_end(x);
		return;
	}
	s->open = x;
	x->hooks = &hooks;
	x->u = s;
	if (s->way == TUNNELS)
		mp_exchange_begin_tunnel(x, "Upgrade: x\r\n");
}

static const struct mp_http_hooks_of_service service_hooks = {judge, serve};

static void open_stage(struct stage *s, enum way way)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_port = htons(7717),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct mp_admit_options o = {.no_token = true, .address = (const struct sockaddr *)&at};

	*s = (struct stage){.way = way};
	FUZZ_CHECK(mp_loop_new_by_hand(784111777000, &s->loop) == 0);
	FUZZ_CHECK(mp_admit_init(&s->admit, &o, NULL) == 0);
	s->admit.needs_token = true;
	s->admit.token.is_valid = true;
	s->admit.token.path = mp_dup("/nowhere/token"); /* and there it stays */
	s->admit.token.len = sizeof(TOKEN) - 1;
	memcpy(s->admit.token.text, TOKEN, sizeof(TOKEN));
	memory_conn_init(&s->conn);
	mp_http_service_init(&s->service, s->loop, &service_hooks, s);
	mp_http_service_take(&s->service, &s->conn.base);
}

static void close_stage(struct stage *s)
{
	mp_http_service_done(&s->service);
	FUZZ_CHECK(!s->open);
	mp_loop_advance(s->loop, 0);
	mp_loop_free(s->loop);
	s->admit.token.len = 0; /* it was never announced as a secret */
	mp_admit_done(&s->admit);
	memory_conn_done(&s->conn);
}

/* What was answered. A last answer may name one fault of several, as the cuts have it. */
static struct mp_str get_answers(struct stage *s)
{
	struct mp_str all = mp_buf_get(&s->conn.out);
	ptrdiff_t last = 0, next = -1;

	while ((next = mp_str_find(all, MP_STR("HTTP/1.1 "), (size_t)(next + 1))) >= 0)
		last = next;
	if (s->conn.shut)
		all.len = (size_t)last;
	return all;
}

/* All of it in pieces of that size, each in memory of its own; what was answered goes to log. */
static void visit(struct mp_str all, enum way way, size_t step, struct mp_buf *log)
{
	struct stage s;

	open_stage(&s, way);
	for (size_t at = 0; at < all.len; at += step) {
		size_t n = all.len - at < step ? all.len - at : step;
		char *piece = malloc(n);

		FUZZ_CHECK(piece);
		memcpy(piece, all.p + at, n);
		memory_conn_say(&s.conn, (struct mp_str){piece, n});
		mp_loop_advance(s.loop, 0);
		free(piece);
	}
	FUZZ_CHECK(s.served <= s.judged);
	FUZZ_CHECK(mp_buf_add_str(log, get_answers(&s)) == 0);
	FUZZ_CHECK(mp_buf_addf(log, "%d %d %d", s.judged, s.served, s.conn.shut) == 0);
	mp_loop_advance(s.loop, 2 * MP_HTTP_IDLE_MS);
	FUZZ_CHECK(s.conn.closed || s.open);
	memory_conn_end(&s.conn);
	close_stage(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	enum way way = (enum way)fuzz_below(&in, WAYS);
	uint32_t step = 1 + fuzz_below(&in, 64);
	struct mp_str all = fuzz_rest(&in);
	struct mp_buf whole, cut;

	if (all.len > 1 << 16)
		return 0;
	mp_buf_init(&whole, 1 << 26);
	mp_buf_init(&cut, 1 << 26);
	visit(all, way, all.len ? all.len : 1, &whole);
	visit(all, way, step, &cut);
	FUZZ_CHECK(mp_str_eq(mp_buf_get(&whole), mp_buf_get(&cut)));
	mp_buf_done(&whole);
	mp_buf_done(&cut);
	return 0;
}
