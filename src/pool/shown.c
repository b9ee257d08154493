/*
 * shown.c - what is to be seen of a server: the few states people know, and all the figures.
 */
#include "pool/pool.h"

#include "base/error.h"
#include "pool/workspace.h"

struct mp_offer *mp_workspace_get_offer(struct mp_workspace *v, size_t i, mp_id session)
{
	struct mp_instance *in = mp_workspace_entry_get_instance(v, i, session);
	const struct mp_key *key = mp_workspace_entry_get_key(v, i);
	struct mp_definition_key name = {mp_workspace_get_entry(v, i)->name,
					 {(const char *)key->bytes, sizeof(key->bytes)}};

	if (in && in->offer)
		return mp_offer_ref(in->offer);
	if (mp_workspace_entry_get_state(v, i) != MP_STATUS_READY || !key->is_known ||
	    !v->pool->o.db)
		return NULL;
	return mp_offer_load(v->pool->o.db, &name, mp_loop_wall_now_ms(v->pool->o.loop));
}

static int peek(struct mp_workspace *v, size_t i, struct mp_definition *ret)
{
	const struct mp_key *key = mp_workspace_entry_get_key(v, i);
	struct mp_definition_key name = {mp_workspace_get_entry(v, i)->name,
					 {(const char *)key->bytes, sizeof(key->bytes)}};

	if (mp_workspace_entry_get_state(v, i) != MP_STATUS_READY || !key->is_known ||
	    !v->pool->o.db)
		return 0;
	return mp_definitions_peek(v->pool->o.db, &name, mp_loop_wall_now_ms(v->pool->o.loop), ret);
}

bool mp_workspace_is_remembered(struct mp_workspace *v, size_t i)
{
	struct mp_definition d;

	return peek(v, i, &d) > 0;
}

/* The few states that people see (doc/protocol.md, "States on display"). */
static enum mp_status_state show(const struct mp_keeper_facts *f)
{
	switch (f->state) {
	case MP_KEEPER_PREPARING:
	case MP_KEEPER_STARTING:
	case MP_KEEPER_LISTING:
	case MP_KEEPER_RENEWING:
		return MP_STATUS_PENDING;
	case MP_KEEPER_UP:
	case MP_KEEPER_CHECKING:
		return MP_STATUS_CONNECTED;
	case MP_KEEPER_CLEARING:
	case MP_KEEPER_BACKOFF:
	case MP_KEEPER_FAILED:
		return MP_STATUS_FAILED;
	case MP_KEEPER_BARRED:
		return f->why.code == MCPOOL_ENEEDS_AUTH ? MP_STATUS_NEEDS_AUTH
							 : MP_STATUS_NEEDS_APPROVAL;
	case MP_KEEPER_DOWN:
	case MP_KEEPER_STOPPING:
	case MP_KEEPER_STATE_COUNT:
		break;
	}
	return MP_STATUS_READY;
}

static void show_offer(struct mp_status *s, const struct mp_offer *o)
{
	s->tools = (ptrdiff_t)o->lists[MP_CATALOG_TOOL]->list.n;
	s->prompts = (ptrdiff_t)o->lists[MP_CATALOG_PROMPT]->list.n;
	s->resources = (ptrdiff_t)o->lists[MP_CATALOG_RESOURCE]->list.n;
}

/* As declare() in instance.c and upstream.c have it; modern servers are told with each call. */
static bool withholds(const struct mp_entry *e, const struct mp_offer *offer)
{
	return e->tuning.mode != MP_MODE_SESSION && e->tuning.mode != MP_MODE_SERIAL &&
	       e->kind != MP_KIND_HTTP && !(offer && offer->hello.era == MP_ERA_MODERN);
}

static void show_instance(struct mp_status *s, struct mp_instance *in)
{
	const struct mp_keeper_facts *f = mp_keeper_get_facts(in->k);
	int64_t now = mp_loop_now_ms(in->pool->o.loop);
	bool is_up = mp_keeper_is_up(in->k);

	s->instance = in->id;
	s->state = show(f);
	s->detail = mp_keeper_get_state_name(f->state);
	s->error = f->why.message;
	s->code = f->why.code;
	s->fault = mp_error_get_fault(&f->why);
	s->tail = f->tail;
	s->failed_at_ms = f->why.code ? f->failed_wall_ms : 0;
	s->since_ms = f->since_wall_ms;
	s->attempt = f->attempt;
	s->max = f->max;
	if (f->state == MP_KEEPER_BACKOFF)
		s->next_at_ms = mp_loop_wall_now_ms(in->pool->o.loop) + f->next_ms - now;
	s->pid = f->pid;
	s->environment = in->environment;
	s->uptime_ms = is_up ? now - f->up_since_ms : 0;
	s->starts = f->starts;
	s->restarts = f->restarts;
	s->stats = in->stats.calls ? &in->stats : NULL;
	s->waiting = in->calls[MP_POOL_CALL_WAITING].len;
	s->lined = in->calls[MP_POOL_CALL_LINED].len;
	s->out = in->calls[MP_POOL_CALL_OUT].len;
	s->calls = mp_instance_count_calls(in);
	s->prepare_us = f->times.prepare_us;
	s->spawn_us = f->times.spawn_us;
	s->handshake_us = f->times.handshake_us;
	s->list_us = f->times.list_us;
	if (in->offer) {
		show_offer(s, in->offer);
		s->seen_ms = mp_loop_wall_now_ms(in->pool->o.loop);
	}
}

static void show_entry(struct mp_status *s, const struct mp_workspace *v, size_t i)
{
	const struct mp_entry *e = s->entry;
	const struct mp_key *key = mp_workspace_entry_get_key(v, i);

	switch (mp_workspace_entry_get_state(v, i)) {
	case MP_STATUS_DISABLED:
		s->state = MP_STATUS_DISABLED;
		break;
	case MP_STATUS_NEEDS_APPROVAL:
		s->state = MP_STATUS_NEEDS_APPROVAL;
		break;
	case MP_STATUS_FAILED:
		s->state = MP_STATUS_FAILED;
		s->error = e->invalid ? e->invalid : e->unapprovable;
		s->code = MCPOOL_EINVAL;
		break;
	default: /* ready */
		s->state = key->is_known ? MP_STATUS_READY : MP_STATUS_FAILED;
		s->code = key->is_known ? 0 : key->code;
		s->error = key->is_known ? "" : key->problem;
		break;
	}
}

void mp_workspace_refresh(struct mp_workspace *v, size_t i, mp_id session)
{
	struct mp_instance *in = mp_workspace_entry_get_instance(v, i, session);

	for (int kind = 0; in && in->refresh && kind < MP_CATALOG_COUNT; kind++)
		mp_refresh_again(in->refresh, (enum mp_catalog_kind)kind);
}

bool mp_workspace_is_refreshing(struct mp_workspace *v, size_t i, mp_id session)
{
	struct mp_instance *in = mp_workspace_entry_get_instance(v, i, session);

	return in && in->refresh && !mp_refresh_is_quiet(in->refresh);
}

enum mp_status_state mp_workspace_get_state(struct mp_workspace *v, size_t i, mp_id session)
{
	struct mp_instance *in = mp_workspace_entry_get_instance(v, i, session);
	struct mp_status s = {.entry = mp_workspace_get_entry(v, i)};

	if (in)
		return show(mp_keeper_get_facts(in->k));
	show_entry(&s, v, i);
	return s.state;
}

void mp_workspace_get_status(struct mp_workspace *v, size_t i, mp_id session, struct mp_status *ret)
{
	struct mp_instance *in = mp_workspace_entry_get_instance(v, i, session);
	struct mp_definition d;

	*ret = (struct mp_status){
		.entry = mp_workspace_get_entry(v, i),
		.detail = "",
		.error = "",
		.environment = "",
		.tail = {"", 0},
		.prepare_us = -1,
		.spawn_us = -1,
		.handshake_us = -1,
		.list_us = -1,
		.tools = -1,
		.prompts = -1,
		.resources = -1,
	};
	ret->withholds = withholds(ret->entry, in ? in->offer : NULL);
	show_entry(ret, v, i);
	if (in)
		show_instance(ret, in);
	if (ret->tools < 0 && peek(v, i, &d) > 0) {
		ret->tools = (ptrdiff_t)d.counts[MP_CATALOG_TOOL];
		ret->prompts = (ptrdiff_t)d.counts[MP_CATALOG_PROMPT];
		ret->resources = (ptrdiff_t)d.counts[MP_CATALOG_RESOURCE];
		ret->seen_ms = d.saved_ms;
	}
}

int mp_workspace_get_tail(struct mp_workspace *v, size_t i, mp_id session, size_t lines,
			  struct mp_buf *out)
{
	struct mp_instance *in = mp_workspace_entry_get_instance(v, i, session);
	struct mp_upstream *up = in ? mp_keeper_get_upstream(in->k) : NULL;

	return up ? mp_upstream_get_tail(up, lines, out) : 0;
}
