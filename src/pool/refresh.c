/*
 * refresh.c - fetches lists again that change while a server runs.
 * Each kind of list is handled separately. A change of resources includes their templates.
 */
#include "pool/refresh.h"

#include "base/error.h"
#include "base/machine.h"
#include "base/mem.h"
#include "pool/listening.h"

#define REFRESH_STATES(X)                                               \
	X(QUIET, "quiet", "what we have is what there is")              \
	X(GATHERING, "gathering", "it changed, and may go on doing so") \
	X(FETCHING, "fetching", "it is being fetched")                  \
	X(OUTDATED, "outdated", "it is being fetched and changed meanwhile")

#define REFRESH_EVENTS(X)                                  \
	X(NEWS, "news", "the server says that it changed") \
	X(DUE, "due", "enough was gathered")               \
	X(FETCHED, "fetched", "the whole list is there")   \
	X(FAILED, "failed", "it cannot be had; why is written down")

MP_MACHINE_ENUM(refresh_state, REFRESH_STATES);
MP_MACHINE_ENUM(refresh_event, REFRESH_EVENTS);

struct one_list {
	struct mp_refresh *r;
	enum mp_catalog_kind kind;
	enum refresh_state state;
	struct mp_timer timer;
	int64_t first_ms;                    /* when the first notification came */
	struct mp_catalog_fetch *fetch;      /* NULL: none in progress */
	struct mp_server_catalog_list *list; /* its result; owned */
	struct mcpool_error *why;            /* of FAILED; owned */
};

struct mp_refresh {
	struct mp_upstream *up;
	struct mp_loop *loop;
	int64_t timeout_ms;
	const struct mp_refresh_hooks *hooks;
	void *u;
	struct one_list lists[MP_CATALOG_COUNT];
	struct mp_listening *listening; /* NULL: legacy server */
};

/* A hook is always called last, because it may free everything. */
MP_MACHINE_TYPES(refresh, struct one_list, enum refresh_event, REFRESH_STATES, REFRESH_EVENTS);
static refresh_action refresh_gather, gather_more, fetch, hand_on, hand_on_and_gather,
	refresh_complain, complain_and_gather;

MP_MACHINE_STEPS(refresh) = {
	[QUIET] = {[NEWS] = MP_TO(GATHERING, refresh_gather)},
	[GATHERING] = {[NEWS] = MP_DO(gather_more), [DUE] = MP_TO(FETCHING, fetch)},
	[FETCHING] = {[NEWS] = MP_TO(OUTDATED, NULL),
		      [FETCHED] = MP_TO(QUIET, hand_on),
		      [FAILED] = MP_TO(QUIET, refresh_complain)},
	[OUTDATED] = {[NEWS] = MP_STAY,
		      [FETCHED] = MP_TO(GATHERING, hand_on_and_gather),
		      [FAILED] = MP_TO(GATHERING, complain_and_gather)},
};

static void refresh_describe(const struct one_list *l, struct mp_log *ret_log)
{
	const struct mp_log *log = mp_upstream_get_log(l->r->up);

	if (log)
		*ret_log = *log;
}

MP_MACHINE(refresh, struct one_list, .describe = refresh_describe)

/* --- actions -------------------------------------------------------------------------------- */

static enum refresh_event refresh_gather(struct one_list *l)
{
	l->first_ms = mp_loop_now_ms(l->r->loop);
	return gather_more(l);
}

/* Shortly after the last notification, but with an upper limit for a server that does not stop. */
static enum refresh_event gather_more(struct one_list *l)
{
	int64_t left_ms = l->first_ms + MP_REFRESH_LATEST_MS - mp_loop_now_ms(l->r->loop);

	mp_timer_start(&l->timer, left_ms < MP_REFRESH_QUIET_MS ? left_ms : MP_REFRESH_QUIET_MS);
	return MP_QUIET;
}

static void got_list(struct mp_catalog_list *list, const struct mcpool_error *error, void *u)
{
	struct one_list *l = u;

	(void)list;
	l->fetch = NULL;
	if (error)
		mp_error_keep(&l->why, error);
	refresh_advance(l, error ? FAILED : FETCHED);
}

static enum refresh_event fetch(struct one_list *l)
{
	struct mp_refresh *r = l->r;
	struct mcpool_error why;
	int error;

	l->list = mp_server_catalog_list_new(l->kind);
	error = mp_catalog_fetch(r->up, &l->list->list, r->timeout_ms, got_list, l, r->loop,
				 &l->fetch);
	if (error == 0)
		return MP_QUIET;
	(void)mp_fail(&why, error, "%s", mcpool_error_text(error));
	mp_error_keep(&l->why, &why);
	return FAILED;
}

static enum refresh_event hand_on(struct one_list *l)
{
	l->r->hooks->fetched(l->r->u, MP_TAKE(l->list));
	return MP_QUIET;
}

static enum refresh_event hand_on_and_gather(struct one_list *l)
{
	(void)refresh_gather(l);
	return hand_on(l);
}

static enum refresh_event refresh_complain(struct one_list *l)
{
	struct mcpool_error why = *l->why;

	l->list = mp_server_catalog_list_unref(l->list);
	l->r->hooks->failed(l->r->u, l->kind, &why);
	return MP_QUIET;
}

static enum refresh_event complain_and_gather(struct one_list *l)
{
	(void)refresh_gather(l);
	return refresh_complain(l);
}

static void time_to_fetch(void *u)
{
	refresh_advance(u, DUE);
}

/* --- notifications -------------------------------------------------------------------------- */

bool mp_refresh_hear(struct mp_refresh *r, const struct mp_message *m)
{
	if (m->method == MP_METHOD_TOOLS_CHANGED) {
		refresh_advance(&r->lists[MP_CATALOG_TOOL], NEWS);
	} else if (m->method == MP_METHOD_PROMPTS_CHANGED) {
		refresh_advance(&r->lists[MP_CATALOG_PROMPT], NEWS);
	} else if (m->method == MP_METHOD_RESOURCES_CHANGED) {
		refresh_advance(&r->lists[MP_CATALOG_RESOURCE], NEWS);
		refresh_advance(&r->lists[MP_CATALOG_TEMPLATE], NEWS);
	} else {
		return mp_listening_hear(r->listening, m);
	}
	return true;
}

/* Changes were missed while no stream was open. */
static void refresh_reopened(void *u)
{
	static const unsigned changes[] = {
		[MP_CATALOG_TOOL] = MP_OFFERS_TOOLS_CHANGES,
		[MP_CATALOG_PROMPT] = MP_OFFERS_PROMPTS_CHANGES,
		[MP_CATALOG_RESOURCE] = MP_OFFERS_RESOURCES_CHANGES,
		[MP_CATALOG_TEMPLATE] = MP_OFFERS_RESOURCES_CHANGES,
	};
	struct mp_refresh *r = u;
	unsigned offers = mp_upstream_get_hello(r->up)->offers;

	for (int kind = 0; kind < MP_CATALOG_COUNT; kind++)
		if (offers & changes[kind])
			refresh_advance(&r->lists[kind], NEWS);
}

void mp_refresh_again(struct mp_refresh *r, enum mp_catalog_kind kind)
{
	refresh_advance(&r->lists[kind], NEWS);
}

void mp_refresh_listen_to(struct mp_refresh *r, const struct mp_str *uris, size_t n)
{
	if (r->listening)
		mp_listening_set_uris(r->listening, uris, n);
}

/* --- life ----------------------------------------------------------------------------------- */

struct mp_refresh *mp_refresh_new(struct mp_upstream *up, struct mp_loop *loop, int64_t timeout_ms,
				  const struct mp_refresh_hooks *hooks, void *u)
{
	struct mp_refresh *r = mp_alloc(sizeof(*r));

	r->up = up;
	r->loop = loop;
	r->timeout_ms = timeout_ms;
	r->hooks = hooks;
	r->u = u;
	for (int kind = 0; kind < MP_CATALOG_COUNT; kind++) {
		struct one_list *l = &r->lists[kind];

		l->r = r;
		l->kind = (enum mp_catalog_kind)kind;
		mp_timer_init(&l->timer, loop, time_to_fetch, l);
	}
	r->listening = mp_listening_new(up, loop, refresh_reopened, r);
	return r;
}

struct mp_refresh *mp_refresh_free(struct mp_refresh *r)
{
	if (!r)
		return NULL;
	for (int kind = 0; kind < MP_CATALOG_COUNT; kind++) {
		struct one_list *l = &r->lists[kind];

		mp_timer_stop(&l->timer);
		if (l->fetch)
			mp_catalog_abandon(l->fetch);
		mp_server_catalog_list_unref(l->list);
		mp_free(l->why);
	}
	mp_listening_free(r->listening);
	return mp_free(r);
}

bool mp_refresh_is_quiet(const struct mp_refresh *r)
{
	for (int kind = 0; kind < MP_CATALOG_COUNT; kind++)
		if (r->lists[kind].state != QUIET)
			return false;
	return true;
}

const char *mp_refresh_get_state(const struct mp_refresh *r, enum mp_catalog_kind kind)
{
	return refresh_states[r->lists[kind].state].word;
}
