/*
 * http_stage.h - a transport over HTTP and the server at its other end, on one loop whose clock is
 * moved by hand. What the transport tells is written down in words; what the server gets is kept,
 * and answered by the test or by a script of answers.
 */
#ifndef TEST_HTTP_STAGE_H
#define TEST_HTTP_STAGE_H

#include "test.h"

#include <poll.h>
#include <signal.h>
#include <stdarg.h>

#include "base/mem.h"
#include "loopback_http.h"
#include "net/http_client.h"
#include "transport/destination.h"
#include "transport/transport.h"
#include "outgoing.h"

enum { STAGE_REQUESTS = 64 };

struct stage_request {
	char head[2048];
	char body[2048];
	struct conn *conn;
};

struct stage {
	struct mp_loop *loop;
	struct mp_http_client *client;
	struct server server;
	struct mp_destination to;
	struct mp_transport *t;
	struct stage_request got[STAGE_REQUESTS];
	int n;
	/* Answers by itself; NULL: the test does. */
	bool (*script)(struct stage *s, struct stage_request *r);
	char news[4000];
	char during[24];   /* on whose stream the last message came */
	char open[16][24]; /* ids of requests that wait for an answer */
	struct mcpool_error why;
	bool closed;
};

static inline void MP_PRINTF(2, 3) stage_note(struct stage *s, const char *format, ...)
{
	size_t len = strlen(s->news);
	va_list args;

	va_start(args, format);
	(void)vsnprintf(s->news + len, sizeof(s->news) - len, format, args);
	va_end(args);
}

static inline void stage_set_open(struct stage *s, const char *id, bool open)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(s->open); i++)
		if (open ? !s->open[i][0] : strcmp(s->open[i], id) == 0) {
			snprintf(s->open[i], sizeof(s->open[i]), "%s", open ? id : "");
			return;
		}
}

static inline bool stage_is_open(void *u, struct mp_str id)
{
	struct stage *s = u;

	for (size_t i = 0; i < MP_ARRAY_LEN(s->open); i++)
		if (s->open[i][0] && mp_str_eq(mp_str_of(s->open[i]), id))
			return true;
	return false;
}

static inline void stage_opened(void *u)
{
	stage_note(u, "opened ");
}

/* An answer ends the request that waits for it; texts are short in these tests. */
static inline void stage_message(void *u, struct mp_str text)
{
	struct stage *s = u;
	char *copy = strndup(text.p, text.len), *id = strstr(copy, "\"id\":");
	char word[24] = "";

	snprintf(s->during, sizeof(s->during), "%.*s", MP_STR_ARGS(s->t->during));
	if (id && !strstr(copy, "\"method\""))
		(void)sscanf(id + 5, "%20[0-9]", word);
	if (word[0])
		stage_set_open(s, word, false);
	if (strstr(copy, "\"method\""))
		stage_note(s, "said ");
	else if (strstr(copy, "\"error\""))
		stage_note(s, "error:%s ", word);
	else
		stage_note(s, "answer:%s ", word);
	free(copy);
}

static inline void stage_oversize(void *u, struct mp_str head, struct mp_str tail)
{
	(void)head;
	(void)tail;
	stage_note(u, "oversize ");
}

static inline void stage_sent(void *u, struct mp_str id)
{
	stage_note(u, "sent:%.*s ", MP_STR_ARGS(id));
}

static inline void stage_lost(void *u, struct mp_str id, enum mp_unanswered how,
			      const struct mcpool_error *why)
{
	static const char *const words[] = {"untaken", "unknown", "unusable"};
	struct stage *s = u;
	char text[24];

	snprintf(text, sizeof(text), "%.*s", MP_STR_ARGS(id));
	stage_set_open(s, text, false);
	s->why = *why;
	stage_note(s, "%s:%s ", words[how], text);
}

static inline void stage_doubt(void *u, const char *why)
{
	(void)why;
	stage_note(u, "doubt ");
}

static inline void stage_ended(void *u, const struct mcpool_error *why)
{
	struct stage *s = u;

	s->why = *why;
	stage_note(s, "ended ");
}

static inline void stage_closed(void *u)
{
	struct stage *s = u;

	s->closed = true;
	stage_note(s, "closed ");
}

static const struct mp_transport_hooks stage_hooks = {
	.opened = stage_opened,
	.message = stage_message,
	.oversize = stage_oversize,
	.sent = stage_sent,
	.lost = stage_lost,
	.is_open = stage_is_open,
	.doubt = stage_doubt,
	.ended = stage_ended,
	.closed = stage_closed,
};

static inline void stage_request_came(struct server *server, struct conn *c, const char *head,
				      const char *body)
{
	struct stage *s = server->u;
	struct stage_request *r = &s->got[s->n];

	if (s->n == STAGE_REQUESTS)
		return;
	s->n++;
	snprintf(r->head, sizeof(r->head), "%s", head);
	snprintf(r->body, sizeof(r->body), "%s", body);
	r->conn = c;
	if (s->script)
		(void)s->script(s, r);
}

/* --- turning ---------------------------------------------------------------------------------- */

static inline void stage_turn(struct stage *s)
{
	struct pollfd fd = {mp_loop_get_fd(s->loop), POLLIN, 0};

	mp_loop_advance(s->loop, 0);
	(void)poll(&fd, 1, 2);
	mp_loop_turn(s->loop, false);
}

/* Until the news end in this, for at most some seconds of real time. */
static inline bool stage_until(struct stage *s, const char *word)
{
	for (int i = 0; i < 3000; i++) {
		if (strstr(s->news, word))
			return true;
		stage_turn(s);
	}
	fprintf(stderr, "'%s' did not come; news: %s\n", word, s->news);
	return false;
}

static inline bool stage_until_requests(struct stage *s, int n)
{
	for (int i = 0; i < 3000 && s->n < n; i++)
		stage_turn(s);
	if (s->n < n)
		fprintf(stderr, "%d requests, not %d; news: %s\n", s->n, n, s->news);
	return s->n >= n;
}

/* Long enough for whatever would come at once. */
static inline void stage_settle(struct stage *s)
{
	for (int i = 0; i < 15; i++)
		stage_turn(s);
}

/* --- answers ---------------------------------------------------------------------------------- */

static inline void stage_write(struct stage_request *r, const char *bytes)
{
	conn_write(r->conn, bytes, strlen(bytes));
}

static inline void MP_PRINTF(4, 5) stage_answer(struct stage_request *r, const char *status,
						const char *headers, const char *format, ...)
{
	char body[2048], all[4096];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(body, sizeof(body), format, args);
	va_end(args);
	snprintf(all, sizeof(all), "HTTP/1.1 %s\r\n%sContent-Length: %zu\r\n\r\n%s", status,
		 headers, strlen(body), body);
	stage_write(r, all);
}

#define STAGE_JSON   "Content-Type: application/json\r\n"
#define STAGE_STREAM "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"

/* --- life ------------------------------------------------------------------------------------- */

static inline void stage_done(struct stage *s)
{
	s->t = mp_transport_free(s->t);
	mp_http_client_free(s->client);
	server_stop(&s->server);
	mp_destination_done(&s->to);
	mp_loop_free(s->loop);
}

typedef int (*stage_new_fn)(struct mp_loop *loop, struct mp_http_client *client,
			    const struct mp_destination *to, struct mp_transport **ret,
			    struct mcpool_error *reterr);

static inline bool stage_init(struct stage *s, stage_new_fn make)
{
	char url[64];

	memset(s, 0, sizeof(*s));
	mp_http_fields_init(&s->to.headers);
	signal(SIGPIPE, SIG_IGN);
	REQUIRE(mp_loop_new_by_hand(1000000, &s->loop) == 0);
	s->server.on_request = stage_request_came;
	s->server.u = s;
	REQUIRE(server_start(&s->server, s->loop, NULL));
	REQUIRE(mp_http_client_new(s->loop, &s->client) == 0);
	snprintf(url, sizeof(url), "http://127.0.0.1:%d/mcp?key=1", s->server.port);
	REQUIRE(mp_destination_init(&s->to, url, NULL) == 0);
	REQUIRE(mp_http_fields_add(&s->to.headers, MP_STR("X-Own"), MP_STR("yes")) == 0);
	REQUIRE(make(s->loop, s->client, &s->to, &s->t, NULL) == 0);
	s->t->hooks = &stage_hooks;
	s->t->u = s;
	REQUIRE(s->t->impl->start(s->t, NULL) == 0);
	return true;
}

/* A request with this id waits for its answer from now on. */
static inline bool stage_send(struct stage *s, const char *text)
{
	const char *id = strstr(text, "\"id\":");
	char word[24] = "";
	uint64_t at;

	if (id && strstr(text, "\"method\""))
		(void)sscanf(id + 5, "%20[0-9]", word);
	if (word[0])
		stage_set_open(s, word, true);
	return outgoing_send(s->t, mp_str_of(text), &at) == 0;
}

#endif
