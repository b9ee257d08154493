/*
 * control_client.c - asks a hub over a control connection and hears its answers on the loop.
 */
#include "cli/servers/control_client.h"

#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "face/line_conn.h"

enum { METHOD_NOT_FOUND = -32601 };

/* A request that is not answered yet. */
struct request {
	struct mp_link link;
	uint64_t id;
	mp_control_answer_fn fn;
	void *u;
};

struct mp_control_client {
	struct mp_line_conn *conn;
	const struct mp_control_client_hooks *hooks;
	void *u;
	uint64_t last_id;
	struct mp_list requests;
};

/* --- answers --------------------------------------------------------------------------------- */

static void request_answer(struct mp_control_client *c, struct request *rq,
			   const struct mp_message *m)
{
	mp_control_answer_fn fn = rq->fn;
	void *u = rq->u;

	mp_list_remove(&c->requests, &rq->link);
	mp_free(rq);
	fn(u, m);
}

static struct request *request_find(struct mp_control_client *c, uint64_t id)
{
	MP_LIST_EACH(&c->requests, link) {
		struct request *rq = mp_container_of(link, struct request, link);

		if (rq->id == id)
			return rq;
	}
	return NULL;
}

static void client_take(struct mp_control_client *c, const struct mp_message *m)
{
	struct request *rq;
	uint64_t id;

	if (m->kind == MP_MESSAGE_NOTIFICATION) {
		c->hooks->notification(c->u, m);
		return;
	}
	if (mp_str_to_u64(m->id, &id) < 0)
		return; /* ids are numbers, ours and the hub's */
	if (m->kind == MP_MESSAGE_REQUEST) {
		c->hooks->request(c->u, id, m);
		return;
	}
	rq = request_find(c, id);
	if (rq)
		request_answer(c, rq, m);
}

/* An answer that cannot be read: its id is unknown, so the oldest request fails. */
static void client_fail_first(struct mp_control_client *c)
{
	struct mp_link *first = mp_list_first(&c->requests);

	if (first)
		request_answer(c, mp_container_of(first, struct request, link), NULL);
}

/* The hook may free the client; the tape belongs to this function. */
static void on_line(void *u, struct mp_str text)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct mp_message m;

	mp_tape_init(&t, 0);
	if (mp_message_scan(&t, text, &m, NULL) == 0)
		client_take(u, &m);
	else
		client_fail_first(u);
}

static void on_oversize(void *u, struct mp_str head, struct mp_str tail)
{
	(void)head;
	(void)tail;
	client_fail_first(u);
}

static void on_ended(void *u, int why)
{
	struct mp_control_client *c = u;

	(void)why;
	c->hooks->ended(c->u);
}

/* --- requests -------------------------------------------------------------------------------- */

int mp_control_client_ask(struct mp_control_client *c, const char *method, struct mp_str params,
			  mp_control_answer_fn fn, void *u, uint64_t *ret_id)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct request *rq;
	int r;

	mp_buf_init(&text, 2 * MP_LIMIT_MESSAGE);
	r = mp_buf_addf(&text, "{\"jsonrpc\":\"2.0\",\"id\":%llu,\"method\":\"%s\",\"params\":",
			(unsigned long long)++c->last_id, method);
	if (r == 0)
		r = mp_buf_add_str(&text, params);
	if (r == 0)
		r = mp_buf_add_char(&text, '}');
	if (r < 0)
		return r;
	rq = mp_alloc(sizeof(*rq));
	rq->id = c->last_id;
	rq->fn = fn;
	rq->u = u;
	mp_list_append(&c->requests, &rq->link);
	if (ret_id)
		*ret_id = rq->id;
	mp_line_conn_say(c->conn, mp_buf_get(&text));
	return 0;
}

void mp_control_client_cancel(struct mp_control_client *c, uint64_t id)
{
	char text[120];

	snprintf(text, sizeof(text),
		 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
		 "\"params\":{\"requestId\":%llu}}",
		 (unsigned long long)id);
	mp_line_conn_say(c->conn, mp_str_of(text));
}

void mp_control_client_reply(struct mp_control_client *c, uint64_t id, struct mp_str result,
			     const char *refusal)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	char room[MP_STR_DIGITS];
	struct mp_str number = mp_str_from_u64(id, room);
	int r;

	mp_buf_init(&out, MP_LIMIT_MESSAGE + MP_KIB(4));
	r = result.len ? mp_message_result(&out, number, result)
		       : mp_message_error(&out, number, METHOD_NOT_FOUND, mp_str_of(refusal),
					  MP_STR(""));
	if (r == 0)
		mp_line_conn_say(c->conn, mp_buf_get(&out));
}

/* --- life ------------------------------------------------------------------------------------ */

struct mp_control_client *mp_control_client_new(struct mp_loop *loop, int fd, size_t limit,
						const struct mp_control_client_hooks *hooks,
						void *u)
{
	static const struct mp_line_conn_hooks conn_hooks = {on_line, on_oversize, on_ended, NULL};
	struct mp_control_client *c = mp_alloc(sizeof(*c));

	c->hooks = hooks;
	c->u = u;
	mp_list_init(&c->requests);
	c->conn = mp_line_conn_new(loop, fd, limit, &conn_hooks, c);
	return c;
}

struct mp_control_client *mp_control_client_free(struct mp_control_client *c)
{
	if (!c)
		return NULL;
	MP_LIST_EACH(&c->requests, link) {
		mp_list_remove(&c->requests, link);
		mp_free(mp_container_of(link, struct request, link));
	}
	mp_line_conn_free(c->conn);
	return mp_free(c);
}
