/*
 * probe.c - is it alive?
 * ping (or, modern, server/discover), then a list. Any answer means alive, also an error such as
 * method not found.
 */
#include "client/probe.h"

#include "base/limits.h"
#include "base/mem.h"

struct probe {
	struct mp_call call;
	struct mp_upstream *up;
	bool last; /* the list is asked: there is nothing after it */
	mp_probe_fn fn;
	void *u;
};

static int probe_ask(struct probe *p)
{
	bool modern = mp_upstream_get_hello(p->up)->era == MP_ERA_MODERN;
	struct mp_call_options o = {
		.method = p->last  ? MP_METHOD_TOOLS_LIST
			  : modern ? MP_METHOD_DISCOVER
				   : MP_METHOD_PING,
		.timeout_ms = MP_LIMIT_PROBE_MS,
	};

	return mp_upstream_call(p->up, &p->call, &o);
}

static void probe_answered(struct mp_call *c, const struct mp_answer *answer)
{
	struct probe *p = mp_container_of(c, struct probe, call);
	bool alive =
		answer->outcome == MP_OUTCOME_ANSWERED || answer->outcome == MP_OUTCOME_REFUSED;

	if (!alive && answer->outcome == MP_OUTCOME_TIMEOUT && !p->last) {
		p->last = true;
		if (probe_ask(p) == 0)
			return;
	}
	p->fn(alive ? NULL : answer->error, p->u);
	mp_free(p);
}

static const struct mp_call_hooks probe_hooks = {.answered = probe_answered};

int mp_probe_start(struct mp_upstream *up, bool list_only, mp_probe_fn fn, void *u)
{
	struct probe *p = mp_alloc(sizeof(*p));
	int r;

	*p = (struct probe){.up = up, .last = list_only, .fn = fn, .u = u};
	mp_call_init(&p->call, mp_upstream_get_loop(up), &probe_hooks);
	r = probe_ask(p);
	if (r < 0)
		mp_free(p);
	return r;
}
