/*
 * top_hub.c - the hub as `top` sees it.
 */
#include "cli/console/top_hub.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/console/call_line.h"
#include "cli/display/safe.h"
#include "cli/servers/hub_client.h"

enum {
	EVERY_MS = 1000,  /* a status, or an attempt to connect */
	SOON_MS = 250,    /* the least time between two statuses after events */
	SHARE = 20,       /* of the time that a status takes: the hub has other things to do */
	LISTEN_MS = 250,  /* how often events and calls are read; the hub keeps them meanwhile */
	LISTEN_MAX = 2000 /* at once */
};

int64_t mp_top_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* --- life ------------------------------------------------------------------------------------ */

void mp_top_hub_init(struct mp_top_hub *h)
{
	*h = (struct mp_top_hub){.n_calls = 0};
	mp_feed_init(&h->events);
	mp_feed_init(&h->calls);
}

static void hub_forget_calls(struct mp_top_hub *h)
{
	for (size_t i = 0; i < MP_TOP_CALLS; i++) {
		h->ring[i].server = mp_free(h->ring[i].server);
		h->ring[i].line = mp_free(h->ring[i].line);
	}
	h->n_calls = 0;
}

static void hub_disconnect(struct mp_top_hub *h)
{
	h->status = mp_hub_client_free(h->status);
	mp_feed_done(&h->events);
	mp_feed_done(&h->calls);
	mp_feed_init(&h->events);
	mp_feed_init(&h->calls);
	h->is_asked = false;
	h->has_news = false;
}

void mp_top_hub_done(struct mp_top_hub *h)
{
	hub_disconnect(h);
	mp_feed_done(&h->events);
	mp_feed_done(&h->calls);
	hub_forget_calls(h);
}

int mp_top_hub_open(struct mp_top_hub *h, struct mcpool_error *reterr)
{
	int r = mp_hub_client_open(&h->status, reterr);

	if (r == 0)
		r = mp_feed_open(&h->events, &mp_feed_events, 0, reterr);
	if (r == 0)
		r = mp_feed_open(&h->calls, &mp_feed_calls, 1, reterr);
	if (r == MCPOOL_ENOENT && h->status) /* a hub runs */
		r = mp_fail(reterr, MCPOOL_EPROTO,
			    "the hub that runs is too old for top; `mcpool down` and `mcpool up` "
			    "replace it");
	if (r < 0) {
		hub_disconnect(h);
		return r;
	}
	hub_forget_calls(h); /* those of the new hub follow */
	h->next_ms = h->listen_ms = mp_top_now_ms();
	return 0;
}

static void hub_lose(struct mp_top_hub *h, const struct mcpool_error *why)
{
	hub_disconnect(h);
	h->why = *why;
	if (!h->lost_ms)
		h->lost_ms = mp_top_now_ms();
	h->next_ms = mp_top_now_ms() + EVERY_MS;
}

static void hub_lose_silently(struct mp_top_hub *h)
{
	struct mcpool_error why;

	(void)mp_fail(&why, MCPOOL_ECLOSED, "the hub has ended");
	hub_lose(h, &why);
}

/* --- the status ------------------------------------------------------------------------------ */

static void hub_ask(struct mp_top_hub *h, int64_t now)
{
	struct mcpool_error why;

	if (mp_hub_client_begin(h->status, "mcpool/status", MP_STR(MP_HUB_STATUS_MEASURED), &why) <
	    0) {
		hub_lose(h, &why);
		return;
	}
	h->is_asked = true;
	h->has_news = false;
	h->asked_ms = now;
}

/* When to ask again: the answer took so long. */
static void hub_rest(struct mp_top_hub *h, int64_t now)
{
	int64_t rest_ms = (now - h->asked_ms) * SHARE;

	h->is_asked = false;
	h->lost_ms = 0;
	h->next_ms = h->asked_ms + (rest_ms > EVERY_MS ? rest_ms : EVERY_MS);
	h->soon_ms = h->asked_ms + (rest_ms > SOON_MS ? rest_ms : SOON_MS);
}

/* True: there is a new status, or no hub any more. */
static bool hub_hear(struct mp_top_hub *h, struct mp_top_model *model)
{
	MP_CLEANUP(mp_hub_status_done) struct mp_hub_status next = {.n = 0};
	struct mcpool_error why;
	int r;

	mp_hub_status_init(&next);
	r = mp_hub_client_finish(h->status, 0, &next.text, &why);
	if (r == MCPOOL_ETIMEDOUT)
		return false;
	if (r == 0)
		r = mp_hub_status_read(&next, &why);
	if (r < 0) {
		hub_lose(h, &why);
		return true;
	}
	hub_rest(h, mp_top_now_ms());
	mp_top_model_take(model, &next);
	return true;
}

/* --- what happens ---------------------------------------------------------------------------- */

static void call_keep(struct mp_top_hub *h)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	MP_CLEANUP(mp_buf_done) struct mp_buf line;
	struct mp_top_call *call = &h->ring[h->n_calls % MP_TOP_CALLS];
	struct mp_str server;
	char name[MP_LIMIT_NAME + 1];

	mp_arena_init(&arena, MP_LIMIT_ARENA);
	mp_buf_init(&line, MP_LIMIT_MESSAGE);
	server = mp_feed_get_text(&h->calls, &arena, "server");
	if (mp_call_line_add(&h->calls, &arena, false, &line) < 0 || server.len >= sizeof(name))
		return;
	if (line.len > MP_KIB(4)) /* arguments may be long, screens are not */
		line.len = mp_safe_cut(mp_buf_get(&line), MP_KIB(1));
	if (mp_buf_terminate(&line) < 0)
		return;
	mp_free(call->server);
	mp_free(call->line);
	snprintf(name, sizeof(name), "%.*s", MP_STR_ARGS(server));
	call->server = mp_dup(name);
	call->line = mp_dup(line.data);
	h->n_calls++;
}

/* Everything that is there. False: the hub has ended. */
static bool listening_read(struct mp_top_hub *h, struct mp_feed *l, bool *ret_any)
{
	int r = 0;

	for (int i = 0; i < LISTEN_MAX && r == 0; i++) {
		r = mp_feed_next(l, 0);
		*ret_any = *ret_any || r == 0;
		if (r == 0 && l == &h->calls)
			call_keep(h);
	}
	return r == 0 || r == MCPOOL_ETIMEDOUT;
}

/* True: there are calls to show. */
static bool hub_listen(struct mp_top_hub *h, int64_t now)
{
	bool has_events = false, has_calls = false, is_up;

	if (now < h->listen_ms)
		return false;
	is_up = listening_read(h, &h->events, &has_events) &&
		listening_read(h, &h->calls, &has_calls);
	h->has_news = h->has_news || has_events;
	if (has_events || has_calls)
		h->listen_ms = now + LISTEN_MS;
	if (!is_up)
		hub_lose_silently(h);
	return has_calls || !is_up;
}

/* --- steps ----------------------------------------------------------------------------------- */

static bool hub_connect(struct mp_top_hub *h, int64_t now)
{
	struct mcpool_error why;

	if (now < h->next_ms)
		return false;
	if (mp_top_hub_open(h, &why) < 0)
		hub_lose(h, &why);
	return true;
}

bool mp_top_hub_step(struct mp_top_hub *h, struct mp_top_model *model)
{
	int64_t now = mp_top_now_ms();
	bool has_news = h->status ? hub_listen(h, now) : hub_connect(h, now);

	if (h->status && h->is_asked)
		has_news = hub_hear(h, model) || has_news;
	if (h->status && !h->is_asked && (now >= h->next_ms || (h->has_news && now >= h->soon_ms)))
		hub_ask(h, now);
	return has_news;
}

void mp_top_hub_hurry(struct mp_top_hub *h)
{
	if (h->status)
		h->next_ms = mp_top_now_ms();
}

size_t mp_top_hub_get_polls(const struct mp_top_hub *h, struct pollfd polls[MP_TOP_POLLS],
			    int64_t *ret_until_ms)
{
	size_t n = 0;

	*ret_until_ms = h->next_ms;
	if (!h->status)
		return 0;
	if (h->is_asked)
		*ret_until_ms = mp_top_now_ms() + EVERY_MS; /* to say that it does not answer */
	else if (h->has_news && h->soon_ms < h->next_ms)
		*ret_until_ms = h->soon_ms;
	polls[n++] = (struct pollfd){.fd = mp_hub_client_get_fd(h->status), .events = POLLIN};
	if (mp_top_now_ms() < h->listen_ms) {
		if (h->listen_ms < *ret_until_ms)
			*ret_until_ms = h->listen_ms;
		return n;
	}
	polls[n++] = (struct pollfd){.fd = mp_hub_client_get_fd(h->events.c), .events = POLLIN};
	polls[n++] = (struct pollfd){.fd = mp_hub_client_get_fd(h->calls.c), .events = POLLIN};
	return n;
}

size_t mp_top_hub_get_calls(const struct mp_top_hub *h, const char *server, const char **ret_lines,
			    size_t most)
{
	size_t n = 0, kept = h->n_calls < MP_TOP_CALLS ? h->n_calls : MP_TOP_CALLS;

	for (size_t i = 1; i <= kept && n < most; i++) {
		const struct mp_top_call *call = &h->ring[(h->n_calls - i) % MP_TOP_CALLS];

		if (strcmp(call->server, server) == 0)
			ret_lines[n++] = call->line;
	}
	return n;
}
