/*
 * control_watch.c - mcpool/watch: the status of everything, then what changed in it.
 * Of each object the peer has, a digest is kept; an object whose text is equal is not sent again.
 * States are told soon, figures once a second. Looking takes at most a small part of one processor,
 * however many servers there are: a look that took long is followed by a rest.
 */
#include "face/control_watch.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "face/control_status.h"
#include "hub/workspaces.h"
#include "pool/pool_call.h"
#include "pool/status.h"
#include "session/scope.h"
#include "session/sessions.h"

enum {
	SOON_MS = 50,
	TICK_MS = 1000,
	REST = 40,              /* looking takes 1 / REST of one processor */
	HELD_BYTES = 256 << 10, /* with more unread nothing is added */
	RUNNING = 64,           /* calls that are listed */
	MESSAGE = 16 << 20,     /* bytes of one message */
	FLOWS = 2000,
};

/* What the peer has of one object. */
struct told {
	uint64_t digest, round;
};

/* --- what was told --------------------------------------------------------------------------- */

static void told_clear(struct mp_map *m)
{
	const struct mp_map_entry *e;
	size_t cursor = 0;

	while ((e = mp_map_next(m, &cursor)))
		mp_free(e->value);
	mp_map_done(m);
}

/* True: the peer does not have it in this form. */
static bool told_note(struct mp_control_watch *cw, struct mp_map *m, struct mp_str key,
		      uint64_t digest)
{
	struct told *told = mp_map_get(m, key);
	bool is_new;

	if (!told) {
		told = mp_alloc(sizeof(*told));
		if (mp_map_set(m, key, told) < 0) {
			mp_free(told);
			return true;
		}
		told->digest = ~digest;
	}
	is_new = told->digest != digest;
	*told = (struct told){digest, cw->round};
	return is_new;
}

/* Writes the keys of those that the last look at everything did not find. */
static void told_write_gone(struct mp_control_watch *cw, struct mp_map *m, struct mp_writer *w,
			    const char *key, bool are_numbers)
{
	const struct mp_map_entry *e;
	size_t cursor = 0;
	bool has_any = false;

	while ((e = mp_map_next(m, &cursor))) {
		struct told *told = e->value;

		if (told->round == cw->round)
			continue;
		if (!has_any) {
			mp_write_key(w, mp_str_of(key));
			mp_write_begin_array(w);
			has_any = true;
		}
		if (are_numbers)
			mp_write_raw(w, e->key);
		else
			mp_write_text(w, e->key);
		mp_free(mp_map_remove(m, e->key));
	}
	if (has_any)
		mp_write_end_array(w);
}

/* --- servers --------------------------------------------------------------------------------- */

/* A message that is being written: a list begins with its first item. */
struct draft {
	struct mp_control_watch *cw;
	struct mp_writer w;
	struct mp_arena arena;
	const char *list; /* the list that is open; NULL: none */
	bool is_whole;    /* empty lists, too */
	size_t n;         /* members so far */
};

static void draft_open_list(struct draft *d, const char *key)
{
	if (d->list == key)
		return;
	mp_write_key(&d->w, mp_str_of(key));
	mp_write_begin_array(&d->w);
	d->list = key;
	d->n++;
}

static void draft_close_list(struct draft *d, const char *key)
{
	if (d->is_whole)
		draft_open_list(d, key);
	if (d->list)
		mp_write_end_array(&d->w);
	d->list = NULL;
}

/* The text of one object is in cw->text: add it where it is new to the peer. */
static void draft_add(struct draft *d, const char *list, struct mp_map *m, struct mp_str key,
		      uint64_t digest)
{
	bool is_new = told_note(d->cw, m, key, digest);

	if (!is_new && !d->is_whole)
		return;
	draft_open_list(d, list);
	mp_write_raw(&d->w, mp_buf_get(&d->cw->text));
}

static bool state_works(enum mp_status_state s)
{
	return s == MP_STATUS_CONNECTED || s == MP_STATUS_READY || s == MP_STATUS_DISABLED ||
	       s == MP_STATUS_SHADOWED;
}

/* Leave its age out of the digest, because it changes always. */
static int server_write(struct mp_control_watch *cw, struct mp_status *s, uint64_t *ret_digest)
{
	int64_t uptime_ms = s->uptime_ms;
	struct mp_writer w;
	int r;

	s->uptime_ms = -1;
	for (int pass = 0; pass < 2; pass++) {
		mp_buf_clear(&cw->text);
		mp_write_init(&w, &cw->text, NULL);
		mp_status_write(&w, s, MP_STATUS_HUB);
		r = mp_write_finish(&w);
		if (r < 0)
			return r;
		if (pass == 0)
			*ret_digest = mp_hash(mp_buf_get(&cw->text));
		s->uptime_ms = uptime_ms;
	}
	return 0;
}

static void server_add(struct draft *d, size_t i)
{
	struct mp_workspace *workspace = d->cw->peer->workspace;
	struct mp_status s;
	uint64_t digest;

	mp_arena_reset(&d->arena);
	mp_status_take(workspace, i, 0, &d->arena, &s);
	if (!state_works(s.state))
		mp_status_add_health(&s, workspace, i, 0, &d->arena);
	if (server_write(d->cw, &s, &digest) == 0)
		draft_add(d, "servers", &d->cw->servers, mp_str_of(s.name), digest);
}

static void servers_add(struct draft *d)
{
	struct mp_workspace *workspace = d->cw->peer->workspace;

	mp_workspace_begin_peeks(workspace);
	for (size_t i = 0; i < mp_workspace_count(workspace); i++)
		server_add(d, i);
	mp_workspace_end_peeks(workspace);
	draft_close_list(d, "servers");
	told_write_gone(d->cw, &d->cw->servers, &d->w, "gone", false);
}

/* Only those that moved. */
static void moved_add(struct draft *d)
{
	struct mp_control_watch *cw = d->cw;

	for (size_t k = 0; k < cw->n_moved; k++) {
		ptrdiff_t i = mp_workspace_find_id(cw->peer->workspace, cw->moved[k]);

		if (i >= 0)
			server_add(d, (size_t)i);
	}
	draft_close_list(d, "servers");
}

/* --- sessions -------------------------------------------------------------------------------- */

static void session_add(void *u, const struct mp_session_info *s)
{
	struct draft *d = u;
	struct mp_writer w;
	char key[24];

	snprintf(key, sizeof(key), "%llu", (unsigned long long)s->id);
	mp_buf_clear(&d->cw->text);
	mp_write_init(&w, &d->cw->text, NULL);
	mp_control_status_write_session(&w, s);
	if (mp_write_finish(&w) == 0)
		draft_add(d, "sessions", &d->cw->sessions, mp_str_of(key),
			  mp_hash(mp_buf_get(&d->cw->text)));
}

static void sessions_add(struct draft *d)
{
	mp_sessions_walk(d->cw->peer->hub->sessions, session_add, d);
	draft_close_list(d, "sessions");
	told_write_gone(d->cw, &d->cw->sessions, &d->w, "ended", true);
}

/* --- calls ----------------------------------------------------------------------------------- */

struct oldest {
	struct mp_open_call calls[RUNNING]; /* the oldest so far, oldest first */
	size_t n;
};

static void oldest_take(void *u, const struct mp_open_call *c)
{
	struct oldest *r = u;
	size_t at = r->n;

	if (r->n == RUNNING && r->calls[RUNNING - 1].since_us <= c->since_us)
		return;
	if (r->n == RUNNING)
		at--;
	else
		r->n++;
	for (; at > 0 && r->calls[at - 1].since_us > c->since_us; at--)
		r->calls[at] = r->calls[at - 1];
	r->calls[at] = *c;
}

static void open_call_write(struct mp_writer *w, struct mp_loop *loop, const struct mp_open_call *c)
{
	int64_t wall_ms = mp_loop_wall_now_ms(loop), now_us = mp_loop_now_us(loop);

	mp_write_begin_object(w);
	mp_write_key(w, MP_STR("session"));
	mp_write_u64(w, c->session);
	mp_write_member_text(w, "client", mp_str_of(c->client));
	mp_write_member_text(w, "server", mp_str_of(c->server));
	mp_write_member_text(w, "method", mp_str_of(mp_method_get(c->method)->name));
	mp_write_member_text(w, "tool", c->subject);
	mp_write_member_i64(w, "since", wall_ms - (now_us - c->since_us) / 1000);
	if (c->sent_us)
		mp_write_member_i64(w, "sentAt", wall_ms - (now_us - c->sent_us) / 1000);
	mp_write_end_object(w);
}

/* A list that is sent whole, when it differs. The text is in cw->text. */
static void list_add(struct draft *d, const char *key, uint64_t *digest)
{
	struct mp_str text = mp_buf_get(&d->cw->text);
	uint64_t now = mp_hash(text);

	if (now == *digest && !d->is_whole)
		return;
	*digest = now;
	mp_write_member_raw(&d->w, key, text);
	d->n++;
}

static void open_calls_add(struct draft *d, const struct oldest *r)
{
	struct mp_writer w;

	mp_buf_clear(&d->cw->text);
	mp_write_init(&w, &d->cw->text, NULL);
	mp_write_begin_array(&w);
	for (size_t i = 0; i < r->n; i++)
		open_call_write(&w, d->cw->peer->hub->loop, &r->calls[i]);
	mp_write_end_array(&w);
	if (mp_write_finish(&w) == 0)
		list_add(d, "running", &d->cw->running);
}

static int64_t oldest_count_waiting(const struct oldest *r, mp_id session, const char *server)
{
	int64_t n = 0;

	for (size_t i = 0; i < r->n; i++)
		n += r->calls[i].session == session && !r->calls[i].sent_us &&
		     strcmp(r->calls[i].server, server) == 0;
	return n;
}

static void flow_write(struct mp_writer *w, mp_id session, const char *server, int64_t calls,
		       int64_t waiting)
{
	mp_write_begin_object(w);
	mp_write_key(w, MP_STR("session"));
	mp_write_u64(w, session);
	mp_write_member_text(w, "server", mp_str_of(server));
	mp_write_member_i64(w, "callsLastMinute", calls);
	mp_write_member_i64(w, "waiting", waiting);
	mp_write_end_object(w);
}

/* The first of a session's calls that wait for a server. */
static bool oldest_is_first(const struct oldest *r, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (!r->calls[i].sent_us && r->calls[i].session == r->calls[at].session &&
		    strcmp(r->calls[i].server, r->calls[at].server) == 0)
			return false;
	return !r->calls[at].sent_us && r->calls[at].session;
}

static bool flows_have(const struct mp_traffic *t, mp_id session, const char *server)
{
	const struct mp_flow *f;
	size_t cursor = 0;

	while ((f = mp_traffic_next_flow(t, &cursor)))
		if (f->session == session && strcmp(f->server, server) == 0)
			return true;
	return false;
}

/* Pairs that had calls, and those whose first call waits. */
static void flows_add(struct draft *d, const struct oldest *r)
{
	struct mp_traffic *t = &d->cw->peer->hub->traffic;
	int64_t now_ms = mp_loop_now_ms(t->loop);
	const struct mp_flow *f;
	struct mp_writer w;
	size_t cursor = 0, n = 0;

	mp_buf_clear(&d->cw->text);
	mp_write_init(&w, &d->cw->text, NULL);
	mp_write_begin_array(&w);
	while (n < FLOWS && (f = mp_traffic_next_flow(t, &cursor))) {
		int64_t calls = mp_history_count_minute(&f->history, now_ms);
		int64_t waiting = oldest_count_waiting(r, f->session, f->server);

		if (!calls && !waiting)
			continue;
		flow_write(&w, f->session, f->server, calls, waiting);
		n++;
	}
	for (size_t i = 0; i < r->n; i++)
		if (oldest_is_first(r, i) &&
		    !flows_have(t, r->calls[i].session, r->calls[i].server))
			flow_write(
				&w, r->calls[i].session, r->calls[i].server, 0,
				oldest_count_waiting(r, r->calls[i].session, r->calls[i].server));
	mp_write_end_array(&w);
	if (mp_write_finish(&w) == 0)
		list_add(d, "flows", &d->cw->flows);
}

/* --- the hub --------------------------------------------------------------------------------- */

static int64_t get_midnight_ms(int64_t wall_ms)
{
	time_t now = (time_t)(wall_ms / 1000);
	struct tm day;

	if (!localtime_r(&now, &day))
		return wall_ms;
	day.tm_hour = day.tm_min = day.tm_sec = 0;
	day.tm_isdst = -1;
	return (int64_t)mktime(&day) * 1000;
}

static void overhead_write(struct mp_writer *w, struct mp_traffic *t)
{
	int64_t p50 = mp_traffic_get_overhead_us(t, 500);

	mp_write_key(w, MP_STR("overheadUs"));
	if (p50 < 0) {
		mp_write_null(w);
		return;
	}
	mp_write_begin_object(w);
	mp_write_member_i64(w, "p50", p50);
	mp_write_member_i64(w, "p99", mp_traffic_get_overhead_us(t, 990));
	mp_write_end_object(w);
}

static void hub_write_traffic(struct mp_writer *w, struct mp_hub *hub)
{
	uint32_t counts[MP_HISTORY_SLOTS];
	struct mp_traffic *t = &hub->traffic;
	int64_t wall_ms = mp_loop_wall_now_ms(hub->loop);
	uint64_t calls, failed;

	mp_history_read(&t->history, mp_loop_now_ms(hub->loop), counts);
	mp_write_key(w, MP_STR("history"));
	mp_write_begin_array(w);
	for (size_t i = 0; i < MP_HISTORY_SLOTS; i++)
		mp_write_i64(w, counts[i]);
	mp_write_end_array(w);
	mp_day_count_since(t->all, get_midnight_ms(wall_ms), wall_ms, &calls, &failed);
	mp_write_key(w, MP_STR("callsToday"));
	mp_write_u64(w, calls);
	mp_write_key(w, MP_STR("failedToday"));
	mp_write_u64(w, failed);
	overhead_write(w, t);
}

static void open_calls_count(void *u, const struct mp_open_call *c)
{
	*(int64_t *)u += !c->sent_us;
}

static void hub_add(struct draft *d)
{
	struct mp_control_watch *cw = d->cw;
	int64_t waiting = 0;

	mp_pool_call_walk(cw->peer->hub->pool, open_calls_count, &waiting);
	mp_write_key(&d->w, MP_STR("hub"));
	mp_write_begin_object(&d->w);
	mp_control_status_write_hub(&d->w, cw->peer, cw->describe);
	mp_write_member_i64(&d->w, "waiting", waiting);
	hub_write_traffic(&d->w, cw->peer->hub);
	mp_write_end_object(&d->w);
	d->n++;
}

static void problem_add(struct draft *d)
{
	const char *problem = mp_workspace_get_problem(d->cw->peer->workspace);
	uint64_t digest = mp_hash(mp_str_of(problem ? problem : ""));

	if (digest == d->cw->problem && !d->is_whole)
		return;
	d->cw->problem = digest;
	mp_write_key(&d->w, MP_STR("problem"));
	if (problem)
		mp_write_text(&d->w, mp_str_of(problem));
	else
		mp_write_null(&d->w);
	d->n++;
}

/* --- telling --------------------------------------------------------------------------------- */

static void everything_add(struct draft *d)
{
	struct oldest r = {.n = 0};

	d->cw->round++;
	hub_add(d);
	problem_add(d);
	servers_add(d);
	sessions_add(d);
	mp_pool_call_walk(d->cw->peer->hub->pool, oldest_take, &r);
	flows_add(d, &r);
	open_calls_add(d, &r);
}

static void draft_init(struct draft *d, struct mp_control_watch *cw, struct mp_buf *out,
		       bool is_whole)
{
	*d = (struct draft){.cw = cw, .is_whole = is_whole};
	mp_arena_init(&d->arena, MP_LIMIT_ARENA);
	mp_write_init(&d->w, out, NULL);
}

static int64_t watch_get_time(const struct mp_control_watch *cw)
{
	return mp_loop_wall_now_ms(cw->peer->hub->loop);
}

/* Looking again so soon would take too much of a processor. */
static void watch_rest(struct mp_control_watch *cw, int64_t began_us)
{
	struct mp_loop *loop = cw->peer->hub->loop;
	int64_t took_us = mp_loop_read_us(loop) - began_us;

	cw->rest_until_ms = mp_loop_now_ms(loop) + took_us * REST / 1000;
	cw->n_moved = 0;
}

static void watch_tell(struct mp_control_watch *cw, void (*add)(struct draft *d))
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	int64_t began_us = mp_loop_read_us(cw->peer->hub->loop);
	struct draft d;

	mp_buf_init(&out, MESSAGE);
	draft_init(&d, cw, &out, false);
	mp_write_begin_object(&d.w);
	mp_write_member_text(&d.w, "jsonrpc", MP_STR("2.0"));
	mp_write_member_text(&d.w, "method", MP_STR("mcpool/watch/changed"));
	mp_write_key(&d.w, MP_STR("params"));
	mp_write_begin_object(&d.w);
	mp_write_member_i64(&d.w, "time", watch_get_time(cw));
	add(&d);
	mp_write_end_object(&d.w);
	mp_write_end_object(&d.w);
	mp_arena_done(&d.arena);
	watch_rest(cw, began_us);
	if (d.n && mp_write_finish(&d.w) == 0)
		cw->peer->say(cw->peer->u, mp_buf_get(&out));
}

/* Differences stay differences: what is not sent now is sent when the peer has read. */
static bool watch_is_held(struct mp_control_watch *cw)
{
	const struct mp_control_peer *p = cw->peer;

	if (p->get_queued && p->get_queued(p->u) > HELD_BYTES)
		cw->is_held = true;
	return cw->is_held;
}

static int64_t watch_get_rest_ms(const struct mp_control_watch *cw, int64_t least_ms)
{
	int64_t left = cw->rest_until_ms - mp_loop_now_ms(cw->peer->hub->loop);

	return left > least_ms ? left : least_ms;
}

static void watch_measured(void *u)
{
	struct mp_control_watch *cw = u;

	if (!watch_is_held(cw))
		watch_tell(cw, everything_add);
	mp_timer_start(&cw->tick, watch_get_rest_ms(cw, TICK_MS));
}

static void watch_tick(void *u)
{
	struct mp_control_watch *cw = u;

	if (mp_usage_ask(cw->peer->hub->usage, &cw->usage, watch_measured, cw))
		watch_measured(cw);
}

static void watch_soon(void *u)
{
	struct mp_control_watch *cw = u;

	if (!watch_is_held(cw))
		watch_tell(cw, moved_add);
}

/* Called at each step of each instance. */
static void watch_moved(void *u, mp_id instance)
{
	struct mp_control_watch *cw = u;

	for (size_t i = 0; i < cw->n_moved; i++)
		if (cw->moved[i] == instance)
			return;
	if (cw->n_moved < cw->moved_size)
		cw->moved[cw->n_moved++] = instance; /* with more, the tick tells */
	if (!mp_timer_is_running(&cw->soon))
		mp_timer_start(&cw->soon, watch_get_rest_ms(cw, SOON_MS));
}

void mp_control_watch_resume(struct mp_control_watch *cw)
{
	if (!cw->is_held)
		return;
	cw->is_held = false;
	watch_tell(cw, everything_add);
}

/* --- life ------------------------------------------------------------------------------------ */

enum { MOVED = 256 };

void mp_control_watch_init(struct mp_control_watch *cw, struct mp_control_peer *peer,
			   void (*describe)(void *u, struct mp_writer *w))
{
	*cw = (struct mp_control_watch){.peer = peer, .describe = describe};
}

static void watch_open(struct mp_control_watch *cw)
{
	struct mp_hub *hub = cw->peer->hub;

	cw->is_on = true;
	cw->moved = mp_alloc(MOVED * sizeof(*cw->moved));
	cw->moved_size = MOVED;
	mp_map_init(&cw->servers, MP_LIMIT_SERVERS);
	mp_map_init(&cw->sessions, MP_LIMIT_SESSIONS);
	mp_buf_init(&cw->text, MESSAGE);
	mp_timer_init(&cw->soon, hub->loop, watch_soon, cw);
	mp_timer_init(&cw->tick, hub->loop, watch_tick, cw);
	mp_watcher_join(hub->pool, &cw->watcher, watch_moved, cw);
	mp_timer_start(&cw->tick, SOON_MS);
}

void mp_control_watch_done(struct mp_control_watch *cw)
{
	if (!cw->is_on)
		return;
	mp_timer_stop(&cw->soon);
	mp_timer_stop(&cw->tick);
	mp_usage_leave(cw->peer->hub->usage, &cw->usage);
	mp_watcher_leave(cw->peer->hub->pool, &cw->watcher);
	told_clear(&cw->servers);
	told_clear(&cw->sessions);
	mp_buf_done(&cw->text);
	cw->moved = mp_free(cw->moved);
	cw->is_on = false;
}

int mp_control_watch_begin(struct mp_control_watch *cw, struct mp_buf *out)
{
	struct draft d;
	int r;

	if (!cw->is_on)
		watch_open(cw);
	draft_init(&d, cw, out, true);
	mp_write_begin_object(&d.w);
	mp_write_member_i64(&d.w, "time", watch_get_time(cw));
	everything_add(&d);
	mp_write_end_object(&d.w);
	r = mp_write_finish(&d.w);
	mp_arena_done(&d.arena);
	return r;
}

/* --- history --------------------------------------------------------------------------------- */

int mp_control_watch_history(struct mp_control_peer *peer, const struct mp_tape *t, mp_value params,
			     struct mp_buf *out, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mp_traffic *traffic = &peer->hub->traffic;
	mp_value v = mp_value_get(t, params, "server");
	const char *server = NULL;
	struct mp_writer w;
	struct mp_str name;
	int64_t hours = MP_DAY_HOURS;
	mp_value h = mp_value_get(t, params, "hours");

	mp_arena_init(&arena, MP_KIB(64));
	if (h != MP_NONE && (mp_value_i64(t, h, &hours) < 0 || hours < 1 || hours > MP_DAY_HOURS))
		return mp_fail(reterr, MCPOOL_EINVAL, "`hours` must be 1 to 24");
	if (v != MP_NONE && mp_value_text(t, v, &arena, &name) == 0)
		server = mp_arena_dup(&arena, name);
	if (v != MP_NONE && !server)
		return mp_fail(reterr, MCPOOL_EINVAL, "`server` must be the name of a server");
	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	if (server)
		mp_write_member_text(&w, "server", mp_str_of(server));
	mp_day_write(&w, mp_traffic_get_day(traffic, server), (int)hours, traffic->began_ms,
		     mp_loop_wall_now_ms(peer->hub->loop));
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}
