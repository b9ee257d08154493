/*
 * http_face.c - the HTTP face: listener, admission and sessions put together.
 */
#include "face/http_face.h"

#include <arpa/inet.h>
#include <limits.h>
#include <netinet/in.h>
#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "files/follow.h"
#include "config/values/settings.h"
#include "http/http_listener.h"

/* --- requests ------------------------------------------------------------------------------- */

static void send_strangers_away(struct mp_http_face *f);

static void judge(void *u, struct mp_exchange *x)
{
	struct mp_http_face *f = u;
	const struct mp_route *route = mp_routes_find(mp_inbound_get_path(x->in));

	const struct mp_address *peer = &mp_http_connection_of(x)->conn->peer;

	if (mp_admit_judge(&f->admit, route, x->in, peer, &x->admission, &x->refusal))
		(void)mp_routes_allow(route, mp_inbound_get_verb(x->in),
				      &x->refusal); /* the refusal has the reason */
	else if (x->refusal.status == 0)
		x->is_deferred = true;
	else
		mp_log_verbose(&f->log, "refused, %d: %s", x->refusal.status, x->refusal.words);
	send_strangers_away(f);
}

/* The token may have become void while the body was read. */
static void serve(void *u, struct mp_exchange *x)
{
	struct mp_http_face *f = u;

	if (!x->admission.holder || mp_admit_find_holder(&f->admit, &x->admission)) {
		mp_routes_serve(f, x);
		return;
	}
	mp_admit_refuse_late(&f->admit, x->in, &x->refusal);
	mp_exchange_refuse(x, &x->refusal);
}

static const struct mp_http_hooks_of_service service_hooks = {judge, serve};

static void http_face_arrived(void *u, struct mp_conn *conn)
{
	mp_http_service_take(&((struct mp_http_face *)u)->service, conn);
}

/* --- the dashboard -------------------------------------------------------------------------- */

void mp_http_face_serve_dashboard(struct mp_http_face *f, struct mp_exchange *x)
{
	if (f->dashboard)
		f->dashboard->serve(f->dashboard_u, f, x);
	else
		mp_routes_serve_nothing(f, x);
}

/* Browsers get the page, all others a text. */
void mp_http_face_serve_front(struct mp_http_face *f, struct mp_exchange *x)
{
	struct mp_str accept = mp_inbound_get(x->in, MP_FIELD_ACCEPT);

	if (f->dashboard && mp_str_find(accept, MP_STR("text/html"), 0) >= 0)
		f->dashboard->serve(f->dashboard_u, f, x);
	else
		mp_routes_serve_front(f, x);
}

/* --- sessions ------------------------------------------------------------------------------- */

/* The value of `?naming=server__tool`, static; NULL: none, or not a known one. */
const char *mp_http_face_get_naming(const struct mp_exchange *x)
{
	struct mp_str query = mp_inbound_get_query(x->in), key = MP_STR("naming=");

	while (query.len) {
		const char *end = memchr(query.p, '&', query.len);
		size_t n = end ? (size_t)(end - query.p) : query.len;

		if (mp_str_starts((struct mp_str){query.p, n}, key)) {
			int i = mp_naming_find((struct mp_str){query.p + key.len, n - key.len});

			return i < 0 ? NULL : mp_naming_get_word((enum mp_naming)i);
		}
		n += end != NULL;
		query = (struct mp_str){query.p + n, query.len - n};
	}
	return NULL;
}

int mp_http_face_open_session(struct mp_http_face *f, const struct mp_exchange *x, const char *way,
			      unsigned traits, const struct mp_session_hooks *hooks, void *u,
			      struct mp_session **ret_session)
{
	const struct mp_holder *holder = mp_admit_find_holder(&f->admit, &x->admission);
	struct mp_session_options o = {
		.workspace = f->workspace,
		.way = way,
		.traits = traits,
		.narrowing = {.naming = mp_http_face_get_naming(x)},
	};
	int r;

	if (!holder)
		return MCPOOL_EPERM;
	o.principal = holder->principal;
	o.narrowing.servers = holder->servers.items;
	o.narrowing.n_servers = holder->servers.n;
	o.narrowing.tools = holder->tools.items;
	o.narrowing.n_tools = holder->tools.n;
	r = mp_session_new(f->all_sessions, &o, hooks, u, ret_session, NULL);
	if (r == MCPOOL_ELIMIT && mp_http_sessions_end_oldest(f)) /* V28 */
		r = mp_session_new(f->all_sessions, &o, hooks, u, ret_session, NULL);
	return r;
}

void mp_http_face_note_trace(const struct mp_exchange *x, struct mp_session *session)
{
	const struct mp_trace_texts headers = {
		.parent = mp_inbound_get(x->in, MP_FIELD_TRACE_PARENT),
		.state = mp_inbound_get(x->in, MP_FIELD_TRACE_STATE),
		.baggage = mp_inbound_get(x->in, MP_FIELD_BAGGAGE),
	};

	mp_session_note_trace(session, &headers);
}

void mp_http_face_refuse_session(struct mp_exchange *x, int error)
{
	static const struct mp_http_refusal void_token = {401, "this token is not valid any more",
							  NULL},
					    full = {503, "there are too many sessions",
						    "Retry-After: 5\r\n"},
					    memory = {503, "there is no memory for a session",
						      "Retry-After: 5\r\n"};

	mp_exchange_refuse(x, error == MCPOOL_EPERM    ? &void_token
			      : error == MCPOOL_ELIMIT ? &full
						       : &memory);
}

/* --- tokens that end ------------------------------------------------------------------------ */

enum { LOOK_AGAIN_MS = 30000 }; /* at the latest: the date may be set, and files not be watched */

/* Their token is no longer valid: end the exchanges that are still being answered (V19). */
static void cut_strangers(struct mp_http_face *f)
{
	MP_LIST_WALK(&f->service.connections, link) {
		struct mp_http_connection *c =
			mp_container_of(link, struct mp_http_connection, link);
		bool is_open = c->state == MP_HTTP_CONNECTION_SERVED ||
			       c->state == MP_HTTP_CONNECTION_TUNNEL;

		if (!c->x.admission.holder || mp_admit_find_holder(&f->admit, &c->x.admission))
			continue;
		mp_http_service_note_admission(c, false);
		if (is_open)
			mp_http_connection_advance(c, MP_HTTP_CONNECTION_ON_DROP);
	}
}

/* While there is a token that can end by itself, or by a store that is not watched. */
static void http_face_look_later(struct mp_http_face *f)
{
	int64_t left = f->admit.holders.next_ms - mp_loop_wall_now_ms(f->loop);

	if (f->admit.holders.list.len < 2)
		return;
	left = left < 1 ? 1 : left;
	mp_timer_start(&f->ended_timer, left < LOOK_AGAIN_MS ? left : LOOK_AGAIN_MS);
}

static void send_strangers_away(struct mp_http_face *f)
{
	uint64_t ended = mp_admit_look(&f->admit);

	http_face_look_later(f);
	if (ended == f->ended)
		return;
	f->ended = ended;
	mp_log_info(&f->log, "a token is not valid any more; who came with it is sent away");
	cut_strangers(f);
	mp_http_sessions_end_strangers(f);
	mp_http_stateless_end_strangers(f);
}

void mp_http_face_end_strangers(struct mp_http_face *f)
{
	send_strangers_away(f);
}

static void token_changed(void *u)
{
	send_strangers_away(u);
}

/* If files cannot be watched, the next request detects the change. */
static void follow_token(struct mp_http_face *f)
{
	const char *db = f->admit.named.db ? mp_db_get_path(f->admit.named.db) : "";
	char log[PATH_MAX];
	const char *paths[4];
	struct mcpool_error why;
	size_t n = 0;

	if (f->admit.needs_token)
		paths[n++] = f->admit.token.path;
	if (f->admit.logins.key.path)
		paths[n++] = f->admit.logins.key.path;
	if (!n)
		return;
	snprintf(log, sizeof(log), "%s-wal", db);
	if (db[0]) {
		paths[n++] = db;
		paths[n++] = log;
	}
	if (mp_config_watch_new(f->loop, &f->watch, &why) == 0) {
		f->follower = mp_config_watch_follow(f->watch, token_changed, f);
		if (mp_follower_set_paths(f->follower, paths, n, &why) == 0)
			return;
	}
	mp_log_warn(&f->log, "changes of the token are noticed late: %s", why.message);
}

/* --- life ----------------------------------------------------------------------------------- */

/* Write the address as clients should use it: by name, if there is one. */
static void write_address(struct mp_http_face *f, bool is_secure, const char *name)
{
	const struct sockaddr *a = mp_http_listener_get_address(f->listener);
	const struct sockaddr_in6 *six = (const void *)a;
	const struct sockaddr_in *four = (const void *)a;
	bool is_six = a->sa_family == AF_INET6;
	char text[INET6_ADDRSTRLEN] = "";

	inet_ntop(a->sa_family, is_six ? (const void *)&six->sin6_addr : &four->sin_addr, text,
		  sizeof(text));
	snprintf(f->address, sizeof(f->address), is_six && !name ? "%s://[%s]:%d" : "%s://%s:%d",
		 is_secure ? "https" : "http", name ? name : text,
		 ntohs(is_six ? six->sin6_port : four->sin_port));
}

/* Such requests would be refused: an unknown Host may be anyone's (V12). */
static void warn_without_name(struct mp_http_face *f, const struct mp_http_face_options *o)
{
	if (!o->name && mp_admit_is_everywhere(mp_http_listener_get_address(f->listener)))
		mp_log_warn(&f->log, "other machines can come by a name only: set http.name to "
				     "that of the certificate");
}

static int open_listener(struct mp_http_face *f, const struct mp_http_face_options *o,
			 struct mcpool_error *reterr)
{
	struct mp_http_listener_options p = {
		.loop = o->loop,
		.listen = o->listen ? o->listen : MP_HTTP_LISTEN,
		.fd = o->fd,
		.cert = o->cert,
		.key = o->key,
		.arrived = http_face_arrived,
		.u = f,
	};

	return mp_http_listener_new(&p, &f->listener, reterr);
}

static void http_face_judge_again(void *u)
{
	mp_http_service_judge_again(&((struct mp_http_face *)u)->service);
}

static int open_gate(struct mp_http_face *f, const struct mp_http_face_options *o,
		     struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf path, logins;
	struct mp_admit_options a = {
		.loop = o->loop,
		.token_path = o->token_path,
		.db = o->db,
		.oauth = o->oauth,
		.metrics_from = o->metrics_from,
		.n_metrics_from = o->n_metrics_from,
		.judge_again = http_face_judge_again,
		.u = f,
		.no_token = o->no_token,
		.is_secure = o->cert != NULL,
		.name = o->name,
		.address = mp_http_listener_get_address(f->listener),
	};
	int r = 0;

	mp_buf_init(&path, PATH_MAX);
	mp_buf_init(&logins, PATH_MAX);
	if (o->dashboard && mp_browser_logins_get_path(&logins) == 0)
		a.logins_path = logins.data;
	if (!a.token_path && !a.no_token)
		r = mp_http_token_get_path(&path);
	if (r < 0)
		return mp_fail(reterr, r, "HOME is not set, so there is no place for a token");
	if (!a.token_path)
		a.token_path = path.data;
	return mp_admit_init(&f->admit, &a, reterr);
}

static void set_up(struct mp_http_face *f, const struct mp_http_face_options *o)
{
	f->loop = o->loop;
	f->all_sessions = o->all_sessions;
	f->workspace = o->workspace;
	f->usage = o->usage;
	f->dashboard = o->dashboard;
	f->dashboard_u = o->dashboard_u;
	mp_log_init(&f->log, "http");
	mp_http_service_init(&f->service, f->loop, &service_hooks, f);
	mp_message_tape_init(&f->tape);
	mp_ids_init(&f->exchanges);
	mp_list_init(&f->sockets);
	mp_list_init(&f->stateless);
	mp_timer_init(&f->ended_timer, f->loop, token_changed, f);
	mp_map_init(&f->talks, MP_LIMIT_SESSIONS);
	mp_http_sessions_init(f);
}

int mp_http_face_new(const struct mp_http_face_options *o, struct mp_http_face **ret_face,
		     struct mcpool_error *reterr)
{
	struct mp_http_face *f = mp_alloc(sizeof(*f));
	int r;

	set_up(f, o);
	r = open_listener(f, o, reterr);
	if (r == 0)
		r = open_gate(f, o, reterr);
	if (r < 0) {
		mp_http_face_free(f);
		return r;
	}
	f->ended = mp_admit_look(&f->admit);
	write_address(f, o->cert != NULL, o->name);
	warn_without_name(f, o);
	if (o->no_token)
		mp_log_warn(&f->log,
			    "no token is asked for: every program on this machine may call "
			    "the tools at %s",
			    f->address);
	follow_token(f);
	mp_http_listener_open(f->listener);
	*ret_face = f;
	return 0;
}

struct mp_http_face *mp_http_face_free(struct mp_http_face *f)
{
	if (!f)
		return NULL;
	f->drained = NULL;
	f->listener = mp_http_listener_free(f->listener);
	mp_web_socket_done(f);
	mp_http_sse_done(f);
	mp_http_sessions_done(f);
	mp_http_service_done(&f->service);
	mp_http_stateless_done(f);
	mp_timer_stop(&f->ended_timer);
	if (f->usage)
		mp_usage_leave(f->usage, &f->usage_listener);
	f->follower = mp_follower_leave(f->follower);
	f->watch = mp_config_watch_close(f->watch);
	mp_ids_done(&f->exchanges);
	mp_tape_done(&f->tape);
	mp_admit_done(&f->admit);
	return mp_free(f);
}

const char *mp_http_face_get_address(const struct mp_http_face *f)
{
	return f->address;
}

const char *mp_http_face_get_token_path(const struct mp_http_face *f)
{
	return f->admit.needs_token ? f->admit.token.path : NULL;
}

static void emptied(void *u)
{
	struct mp_http_face *f = u;
	void (*drained)(void *u) = MP_TAKE(f->drained);

	if (drained)
		drained(f->u);
}

void mp_http_face_set_ready(struct mp_http_face *f)
{
	f->is_ready = true;
}

void mp_http_face_drain(struct mp_http_face *f, void (*drained)(void *u), void *u)
{
	f->draining = true;
	f->drained = drained;
	f->u = u;
	mp_http_listener_close(f->listener);
	mp_web_socket_drain(f);
	mp_http_sse_drain(f);
	if (f->dashboard)
		f->dashboard->drain(f->dashboard_u);
	mp_http_sessions_drain(f);
	mp_http_service_drain(&f->service, emptied);
}
