/*
 * outbox.c - messages that leave as POSTs of their own.
 * Each may have a connection to itself, so any may overtake any other. That matters in two cases:
 * nothing may arrive before notifications/initialized, so all that follows waits for it; and a
 * request that is taken back while it is still here does not leave at all.
 */
#include "transport/outbox.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "rpc/outgoing.h"

/* As for a pipe: one message of the largest size, and some. */
#define MAX_UNSENT (MP_LIMIT_MESSAGE + MP_MIB(1))

static struct mp_http_post *post_of(struct mp_link *link)
{
	return mp_container_of(link, struct mp_http_post, link);
}

static void put_into(struct mp_list *list, struct mp_http_post *p)
{
	mp_list_append(list, &p->link);
	p->list = list;
}

static void outbox_uncount(struct mp_outbox *o, struct mp_http_post *p)
{
	if (p->is_counted)
		o->unsent -= p->size;
	p->is_counted = false;
}

static void take_out(struct mp_outbox *o, struct mp_http_post *p)
{
	mp_list_remove(p->list, &p->link);
	if (o->first == p)
		o->first = NULL;
	outbox_uncount(o, p);
}

static void outbox_drop(struct mp_outbox *o, struct mp_http_post *p)
{
	take_out(o, p);
	mp_http_post_free(p);
}

void mp_outbox_tell_sent(struct mp_outbox *o, struct mp_http_post *p)
{
	if (p->is_told)
		return;
	p->is_told = true;
	outbox_uncount(o, p);
	if (p->id)
		o->hooks->sent(o->u, mp_str_of(p->id));
}

/* --- from the posts ------------------------------------------------------------------------- */

static void outbox_release(struct mp_outbox *o);

static void outbox_finish(struct mp_outbox *o, struct mp_http_post *p,
			  const struct mp_http_post_end *end)
{
	take_out(o, p);
	o->hooks->done(o->u, p, end);
	mp_http_post_free(p);
}

static void post_sent(void *u, struct mp_http_post *p)
{
	mp_outbox_tell_sent(u, p);
}

static void post_ended(void *u, struct mp_http_post *p, const struct mp_http_post_end *end)
{
	struct mp_outbox *o = u;
	bool was_first = o->first == p;

	outbox_finish(o, p, end);
	if (was_first)
		outbox_release(o);
}

static int post_request(void *u, struct mp_http_post *p, bool goes_back,
			struct mp_http_request *ret)
{
	struct mp_outbox *o = u;

	(void)goes_back; /* nothing does: what comes back comes elsewhere */
	return o->hooks->request(o->u, p, ret);
}

static const struct mp_http_post_hooks post_hooks = {
	.request = post_request,
	.sent = post_sent,
	.ended = post_ended,
	.is_one_way = true,
};

/* --- sending -------------------------------------------------------------------------------- */

static int outbox_launch(struct mp_outbox *o, struct mp_http_post *p, struct mcpool_error *reterr)
{
	int r = mp_http_post_try(p, reterr);

	if (r == 0 && p->goes_first)
		o->first = p;
	return r;
}

/* The hook that tells that one of them cannot go may end everything. */
static void outbox_release(struct mp_outbox *o)
{
	struct mp_link *link;

	while (!o->first && (link = mp_list_pop(&o->held))) {
		struct mp_http_post_end end = {.stage = MP_HTTP_POST_GOING, .how = MP_HTTP_CONNECT};
		struct mp_http_post *p = post_of(link);

		put_into(&o->going, p);
		if (outbox_launch(o, p, &end.why) < 0)
			outbox_finish(o, p, &end);
	}
}

/* A request of ours with that id which is not out yet. */
static struct mp_http_post *find_unsent(struct mp_outbox *o, struct mp_str id)
{
	struct mp_list *lists[] = {&o->going, &o->held};

	for (size_t i = 0; i < MP_ARRAY_LEN(lists); i++)
		MP_LIST_EACH(lists[i], link) {
			struct mp_http_post *p = post_of(link);

			if (p->id && !p->is_told && mp_str_eq(mp_str_of(p->id), id))
				return p;
		}
	return NULL;
}

void mp_outbox_note_sent(struct mp_outbox *o, struct mp_str id)
{
	struct mp_http_post *p = o->unsent && id.len ? find_unsent(o, id) : NULL;

	if (p && p->list == &o->going)
		mp_outbox_tell_sent(o, p);
}

static bool take_back(struct mp_outbox *o, const struct mp_outgoing *m)
{
	struct mp_http_post *p;

	if (m->method != MP_METHOD_CANCELLED || o->unsent == 0)
		return false;
	p = find_unsent(o, m->cancelled_id);
	if (p)
		outbox_drop(o, p);
	return p;
}

static int outbox_make(struct mp_outbox *o, const struct mp_outgoing *m,
		       struct mp_http_post **ret_post)
{
	struct mp_str id = m->kind == MP_MESSAGE_REQUEST ? m->id : MP_STR("");
	struct mp_http_post *p;
	int r = mp_http_post_new(o->loop, o->client, m, &post_hooks, o, &p);

	if (r < 0)
		return r;
	p->size = m->len;
	if (id.len) {
		p->id = mp_try_alloc(id.len + 1);
		if (!p->id) {
			mp_http_post_free(p);
			return MCPOOL_ENOMEM;
		}
		memcpy(p->id, id.p, id.len);
		p->id[id.len] = '\0';
	}
	*ret_post = p;
	return 0;
}

static int outbox_add(struct mp_outbox *o, const struct mp_outgoing *m)
{
	struct mp_http_post *p;
	int r = outbox_make(o, m, &p);

	if (r < 0)
		return r;
	p->goes_first = m->method == MP_METHOD_INITIALIZED;
	p->is_counted = true;
	o->unsent += p->size;
	put_into(o->first ? &o->held : &o->going, p);
	if (!o->first)
		r = outbox_launch(o, p, NULL);
	if (r < 0)
		outbox_drop(o, p);
	return r;
}

int mp_outbox_send(struct mp_outbox *o, const struct mp_outgoing *m)
{
	if (take_back(o, m))
		return 0;
	if (o->going.len + o->held.len >= MP_OUTBOX_POSTS || m->len > MAX_UNSENT - o->unsent)
		return MCPOOL_ELIMIT;
	return outbox_add(o, m);
}

/* --- life ----------------------------------------------------------------------------------- */

void mp_outbox_init(struct mp_outbox *o, struct mp_loop *loop, struct mp_http_client *client,
		    const struct mp_outbox_hooks *hooks, void *u)
{
	*o = (struct mp_outbox){.loop = loop, .client = client, .hooks = hooks, .u = u};
	mp_list_init(&o->going);
	mp_list_init(&o->held);
}

void mp_outbox_cut(struct mp_outbox *o)
{
	struct mp_link *link;

	while ((link = mp_list_first(&o->held)) || (link = mp_list_first(&o->going)))
		outbox_drop(o, post_of(link));
}
