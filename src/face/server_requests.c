/*
 * server_requests.c - requests of servers that the peer of one control connection answers.
 */
#include "face/server_requests.h"

#include <stdio.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/mem.h"
#include "rpc/era.h"

enum { INTERNAL_ERROR = -32603 };

struct request {
	struct mp_link link;
	mp_id question; /* id in the pool */
	uint64_t id;    /* id on the connection */
};

static struct request *request_of(struct mp_link *link)
{
	return mp_container_of(link, struct request, link);
}

static void request_drop(struct mp_server_requests *rs, struct request *q)
{
	mp_list_remove(&rs->open, &q->link);
	mp_free(q);
}

void mp_server_requests_init(struct mp_server_requests *rs, struct mp_pool *pool,
			     void (*say)(void *u, struct mp_str text), void *u)
{
	*rs = (struct mp_server_requests){.pool = pool, .say = say, .u = u};
	mp_list_init(&rs->open);
}

void mp_server_requests_done(struct mp_server_requests *rs)
{
	struct mp_link *link;

	while ((link = mp_list_first(&rs->open)))
		request_drop(rs, request_of(link));
}

void mp_server_requests_decline(struct mp_server_requests *rs)
{
	struct mp_link *link;

	while ((link = mp_list_first(&rs->open))) {
		mp_id question = request_of(link)->question;

		request_drop(rs, request_of(link));
		mp_pool_client_decline(rs->pool, question, -1, MP_STR("the page was closed"));
	}
}

void mp_server_requests_send(struct mp_server_requests *rs, const struct mp_pool_server_request *rq)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	char room[MP_STR_DIGITS];
	struct mp_splice splice = {.id = mp_str_from_u64(rs->last_id + 1, room)};
	struct request *q;

	mp_buf_init(&out, MP_LIMIT_MESSAGE + MP_KIB(4));
	if (mp_message_request(&out, rq->method, rq->params, &splice) < 0) {
		mp_pool_client_decline(rs->pool, rq->id, INTERNAL_ERROR, MP_STR("no memory"));
		return;
	}
	q = mp_alloc(sizeof(*q));
	q->question = rq->id;
	q->id = ++rs->last_id;
	mp_list_append(&rs->open, &q->link);
	rs->say(rs->u, mp_buf_get(&out));
}

void mp_server_requests_withdraw(struct mp_server_requests *rs, mp_id question)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	char params[64];

	mp_buf_init(&out, MP_KIB(4));
	MP_LIST_EACH(&rs->open, link) {
		struct request *q = request_of(link);

		if (q->question != question)
			continue;
		snprintf(params, sizeof(params), "{\"requestId\":%llu}", (unsigned long long)q->id);
		request_drop(rs, q);
		if (mp_message_notify(&out, MP_METHOD_CANCELLED, mp_str_of(params)) == 0)
			rs->say(rs->u, mp_buf_get(&out));
		return;
	}
}

static void request_answer(struct mp_server_requests *rs, mp_id question,
			   const struct mp_message *m)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;

	mp_arena_init(&arena, MP_LIMIT_MESSAGE);
	if (m->kind == MP_MESSAGE_ERROR)
		mp_pool_client_decline(rs->pool, question, (int)mp_error_read_code(m),
				       mp_error_read_words(m, &arena));
	else if (mp_value_is(m->tape, m->result, MP_TAPE_OBJECT))
		mp_pool_client_reply(rs->pool, question, mp_value_source(m->tape, m->result));
	else
		mp_pool_client_decline(rs->pool, question, INTERNAL_ERROR,
				       MP_STR("the result is not an object"));
}

void mp_server_requests_answer(struct mp_server_requests *rs, const struct mp_message *m)
{
	uint64_t id;

	if (mp_str_to_u64(m->id, &id) < 0)
		return;
	MP_LIST_EACH(&rs->open, link) {
		struct request *q = request_of(link);
		mp_id question = q->question;

		if (q->id != id)
			continue;
		request_drop(rs, q);
		request_answer(rs, question, m);
		return;
	}
}
