/*
 * peer.c - one conversation: what is sent, and how all of it ends.
 */
#include "rpc/peer.h"

#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "rpc/era.h"
#include "rpc/outgoing.h"

enum { MAX_THEIRS = 1024 };

/* --- sending -------------------------------------------------------------------------------- */

int mp_peer_send_out(struct mp_peer *p, const struct mp_outgoing *o, uint64_t *ret_at)
{
	if (p->lost)
		return MCPOOL_ECLOSED;
	return o->len > MP_LIMIT_MESSAGE ? MCPOOL_ETOO_LARGE : p->hooks->send(p->u, o, ret_at);
}

static int peer_get_meta(struct mp_peer *p, const struct mp_call_options *o, struct mp_str *ret)
{
	*ret = o->meta;
	if (o->meta.len || !p->is_modern || !p->hooks->write_meta)
		return 0;
	return p->hooks->write_meta(p->u, o, ret);
}

static int peer_send_call(struct mp_peer *p, struct mp_call *c, struct mp_str params)
{
	MP_UNSET struct mp_outgoing o;
	char digits[MP_STR_DIGITS];
	struct mp_str number = mp_str_from_u64(c->id, digits);
	struct mp_splice splice = {
		.id = number,
		.progress_token = c->hooks->progress ? number : MP_STR(""),
		.more = c->o.foreign,
	};
	int r = peer_get_meta(p, &c->o, &splice.meta);

	if (r < 0)
		return r == MCPOOL_ELIMIT ? MCPOOL_ETOO_LARGE : r;
	mp_outgoing_request(&o, c->o.method, params, &splice);
	if (mp_method_get(c->o.method)->subject)
		o.name = c->o.name;
	if (splice.meta.len)
		o.version = MP_STR(MP_MODERN_VERSION);
	return mp_peer_send_out(p, &o, &c->at);
}

int mp_peer_send(struct mp_call *c, struct mp_str params)
{
	struct mp_peer *p = c->peer;
	int r;

	c->id = mp_ids_add(&p->calls, c);
	c->has_progressed = false;
	r = peer_send_call(p, c, params);
	if (r < 0)
		mp_ids_remove(&p->calls, c->id);
	else
		mp_call_start_limit(c);
	return r;
}

int mp_peer_notify(struct mp_peer *p, enum mp_method_id method, struct mp_str params)
{
	MP_UNSET struct mp_outgoing o;

	mp_outgoing_notification(&o, method, params);
	return mp_peer_send_out(p, &o, NULL);
}

void mp_peer_tell_cancelled(struct mp_call *c, const char *reason)
{
	struct mp_peer *p = c->peer;
	MP_UNSET struct mp_outgoing o;
	char digits[MP_STR_DIGITS], params[96];
	struct mp_str id = mp_str_from_u64(c->id, digits);
	int n;

	if (c->o.method == MP_METHOD_INITIALIZE)
		return; /* must not be cancelled; the caller closes the conversation instead */
	n = snprintf(params, sizeof(params), "{\"requestId\":%.*s,\"reason\":\"%s\"}",
		     MP_STR_ARGS(id), reason);
	mp_outgoing_notification(&o, MP_METHOD_CANCELLED, (struct mp_str){params, (size_t)n});
	o.cancelled_id = id;
	/* A peer that does not take it will not answer either; the call ends here all the same. */
	if (mp_peer_send_out(p, &o, NULL) < 0)
		p->counts.undelivered++;
}

/* --- calls that the peer owns ----------------------------------------------------------------- */

static void forgotten_answered(struct mp_call *c, const struct mp_answer *answer)
{
	(void)answer;
	mp_call_done(c);
	mp_free(c);
}

static const struct mp_call_hooks forgotten_hooks = {.answered = forgotten_answered};

int mp_peer_call_and_forget(struct mp_peer *p, const struct mp_call_options *o)
{
	struct mp_call *c = mp_alloc(sizeof(*c));
	int r;

	mp_call_init(c, p->loop, &forgotten_hooks);
	r = mp_peer_call(p, c, o);
	if (r < 0)
		mp_free(c);
	return r;
}

/* --- by id ------------------------------------------------------------------------------------ */

struct mp_call *mp_peer_find(const struct mp_peer *p, struct mp_str id)
{
	uint64_t number;

	return mp_str_to_u64(id, &number) < 0 ? NULL : mp_ids_get(&p->calls, number);
}

void mp_peer_written(struct mp_peer *p, uint64_t total)
{
	struct mp_list *queued = &p->in_state[MP_CALL_QUEUED];
	struct mp_link *link;

	while ((link = mp_list_first(queued))) {
		struct mp_call *c = mp_container_of(link, struct mp_call, link);

		if (c->at >= total)
			break;
		mp_call_advance(c, MP_CALL_ON_SENT);
	}
}

void mp_peer_sent(struct mp_peer *p, struct mp_str id)
{
	struct mp_call *c = mp_peer_find(p, id);

	if (c)
		mp_call_advance(c, MP_CALL_ON_SENT);
}

/* --- endings ------------------------------------------------------------------------------- */

/* What was written may have happened; what was not, or not taken, did not. */
static void peer_explain_loss(struct mp_call *c, enum mp_call_event how,
			      const struct mcpool_error *why)
{
	bool may_have_happened = c->state == MP_CALL_WRITTEN && how == MP_CALL_ON_LOST;

	mp_error_keep(&c->why, why);
	c->outcome = mp_call_get_loss(c);
	if (how == MP_CALL_ON_GARBLED || (!may_have_happened && c->outcome == MP_OUTCOME_NOT_SENT))
		return;
	(void)mp_fail_because(c->why, MCPOOL_EOUTCOME_UNKNOWN, why, "%s", why->message);
	c->why->retry_ms = 0; /* it is not to be asked again, now or later */
}

void mp_peer_lose(struct mp_peer *p, struct mp_str id, enum mp_call_event how,
		  const struct mcpool_error *why)
{
	struct mp_call *c = mp_peer_find(p, id);

	if (!c)
		return;
	peer_explain_loss(c, how, why);
	mp_call_advance(c, how);
}

static void peer_lose_all(struct mp_peer *p, enum mp_call_state state,
			  const struct mcpool_error *why)
{
	struct mp_link *link;

	while ((link = mp_list_first(&p->in_state[state]))) {
		struct mp_call *c = mp_container_of(link, struct mp_call, link);

		peer_explain_loss(c, MP_CALL_ON_LOST, why);
		mp_call_advance(c, MP_CALL_ON_LOST);
	}
}

void mp_peer_lost(struct mp_peer *p, const struct mcpool_error *why)
{
	struct mcpool_error copy = *why; /* it may belong to what an answer takes down */
	struct mp_link *link;

	if (p->lost)
		return;
	p->lost = true;
	peer_lose_all(p, MP_CALL_WRITTEN, &copy);
	peer_lose_all(p, MP_CALL_QUEUED, &copy);
	peer_lose_all(p, MP_CALL_ASKED, &copy);
	peer_lose_all(p, MP_CALL_RETRYING, &copy);
	while ((link = mp_list_first(&p->serving)))
		mp_peer_withdraw(p, mp_container_of(link, struct mp_server_slot, link));
	while ((link = mp_list_first(&p->in_state[MP_CALL_ENDING])))
		mp_call_advance(mp_container_of(link, struct mp_call, link), MP_CALL_ON_TELL);
}

/* --- life ----------------------------------------------------------------------------------- */

void mp_peer_init(struct mp_peer *p, struct mp_loop *loop, const struct mp_peer_hooks *hooks,
		  void *u)
{
	*p = (struct mp_peer){.loop = loop, .hooks = hooks, .u = u};
	mp_message_tape_init(&p->tape);
	mp_message_tape_init(&p->batch_tape);
	mp_ids_init(&p->calls);
	mp_ids_init(&p->server_requests);
	for (int i = 0; i < MP_CALL_STATE_COUNT; i++)
		mp_list_init(&p->in_state[i]);
	mp_list_init(&p->serving);
	mp_map_init(&p->theirs, MAX_THEIRS);
}

static void peer_drop_calls(struct mp_list *list)
{
	struct mp_link *link;

	while ((link = mp_list_first(list))) {
		struct mp_call *c = mp_container_of(link, struct mp_call, link);

		mp_call_drop(c);
		if (c->hooks == &forgotten_hooks)
			mp_free(c);
	}
}

void mp_peer_done(struct mp_peer *p)
{
	struct mp_link *link;

	for (int i = 0; i < MP_CALL_STATE_COUNT; i++)
		peer_drop_calls(&p->in_state[i]);
	while ((link = mp_list_first(&p->serving)))
		mp_peer_free_slot(p, mp_container_of(link, struct mp_server_slot, link));
	mp_tape_done(&p->tape);
	mp_tape_done(&p->batch_tape);
	mp_ids_done(&p->calls);
	mp_ids_done(&p->server_requests);
	mp_map_done(&p->theirs);
}
