/*
 * serve_faces.c - the faces of `mcpool serve`: the election, the socket, HTTP.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/paths.h"
#include "cli/verbs/serve.h"
#include "files/follow.h"
#include "json/value.h"
#include "web/dashboard_port.h"

static const struct mp_log hub_log = {"hub"};

/* Wait this long for a hub that is shutting down and stops its servers. */
enum { WAIT_FOR_OLD_MS = 6000 };

/* --- the election ---------------------------------------------------------------------------- */

/*
 * The process that started us in the background waits for the end of our stdout, then tries the
 * socket. Keep that pipe in a descriptor that no child inherits.
 */
static void keep_starter_waiting(struct mp_serve *s)
{
	if (!s->args->background)
		return;
	s->starter = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
		mp_cli_complain("stdout: %s", strerror(errno));
}

static void tell_starter(struct mp_serve *s)
{
	if (s->starter >= 0)
		close(s->starter);
	s->starter = -1;
}

int mp_serve_be_elected(struct mp_serve *s)
{
	struct mcpool_error why;
	pid_t winner;
	int r = mp_election_stand(&s->election, mp_manager_take_socket(&s->manager, AF_UNIX),
				  WAIT_FOR_OLD_MS, &winner, &why);

	if (r == 0) {
		keep_starter_waiting(s);
		if (!s->args->http) /* else it reports whether the address could be used */
			tell_starter(s);
		return MP_EXIT_DONE;
	}
	if (r == MCPOOL_ENOENT) { /* no HOME: no client would find us */
		mp_cli_complain("%s; agents cannot come here by `mcpool stdio`", why.message);
		return MP_EXIT_DONE;
	}
	if (r == MCPOOL_EEXIST && winner > 0)
		mp_cli_complain(
			"a hub of yours runs already, as process %ld. `mcpool status` shows "
			"it, `mcpool down` stops it.",
			(long)winner);
	else
		mp_cli_complain("%s", why.message);
	return MP_EXIT_START;
}

/* --- the socket ------------------------------------------------------------------------------ */

static void stop_now(void *u)
{
	struct mp_serve *s = u;

	mp_print_need_no_json();
	mp_serve_stop(s, MP_EXIT_DONE, s->stop_patience_ms);
}

/* Before the answer: the peer then starts the next hub at once. */
static void make_room(struct mp_serve *s)
{
	if (s->is_replaced) /* several newer bridges ask at the same time */
		return;
	mp_log_info(&hub_log, "a newer hub takes this one's place");
	s->is_replaced = true;
	mp_serve_shut_doors(s);
	mp_election_reserve(&s->election);
	mp_election_resign(&s->election);
}

/* The next hub would be started without these options. */
static bool has_options(const struct mp_cli_args *args)
{
	return args->http || args->no_token || args->config.n || args->strict_config;
}

/* Stop from the loop, so that the peer gets its answer first. */
static bool asked_to_stop(void *u, bool drain, bool replace)
{
	struct mp_serve *s = u;
	int64_t patience_ms = drain ? MP_LIMIT_DRAIN_MS : 0;

	if (replace && !s->is_stopping && has_options(s->args)) {
		mp_log_warn(&hub_log,
			    "a newer mcpool is here, and this one was started with options "
			    "of its own: restart it when you can");
		return false;
	}
	if (replace)
		make_room(s);
	if (s->is_stopping) {
		mp_serve_stop(s, MP_EXIT_DONE, patience_ms);
		return true;
	}
	s->stop_patience_ms = patience_ms;
	if (!mp_list_linked(&s->stop_task.link))
		mp_loop_post(s->hub->loop, &s->stop_task);
	return true;
}

static void serve_write_faces(struct mp_serve *s, struct mp_writer *w)
{
	mp_write_key(w, MP_STR("listening"));
	mp_write_begin_object(w);
	if (s->socket)
		mp_write_member_text(w, "socket", mp_str_of(s->election.place.socket));
	if (s->http)
		mp_write_member_text(w, "http", mp_str_of(mp_http_face_get_address(s->http)));
	mp_write_end_object(w);
}

static void serve_faces_describe(void *u, struct mp_writer *w)
{
	serve_write_faces(u, w);
}

/* --- restoring removed files ----------------------------------------------------------------- */

/*
 * Without lock and socket no agent finds this hub, and a second one would start. Restore a folder
 * that was cleaned up; if another hub has taken over, shut down.
 */
static void place_changed(void *u)
{
	struct mp_serve *s = u;
	struct mcpool_error why;
	int r;

	if (s->is_shut || mp_election_is_intact(&s->election))
		return;
	mp_socket_face_close(s->socket);
	r = mp_election_restore(&s->election, &why);
	if (r < 0) {
		mp_log_warn(&hub_log,
			    "%s was removed or replaced, and this hub cannot be found "
			    "any more: %s; it leaves",
			    s->election.place.folder, why.message);
		s->is_replaced = r == MCPOOL_EEXIST;
		mp_print_need_no_json();
		mp_serve_stop(s, MP_EXIT_DONE, MP_LIMIT_DRAIN_MS);
		return;
	}
	mp_log_warn(&hub_log, "%s was removed by another program; it is made again",
		    s->election.place.socket);
	mp_socket_face_listen(s->socket, s->election.listener);
}

/* Without inotify changes are not noticed, as for configuration files. */
static void follow_place(struct mp_serve *s)
{
	const char *paths[] = {s->election.place.lock, s->election.place.socket};
	struct mp_config_watch *watch = mp_hub_get_watch(s->hub);
	struct mcpool_error why;

	if (!watch || !s->socket)
		return;
	s->place = mp_config_watch_follow(watch, place_changed, s);
	if (mp_follower_set_paths(s->place, paths, MP_ARRAY_LEN(paths), &why) < 0)
		mp_log_warn(&hub_log, "the removal of the socket will not be noticed: %s",
			    why.message);
}

static int asked_for_dashboard(void *u, struct mp_buf *url, struct mcpool_error *reterr);

static const struct mp_socket_hooks socket_hooks = {
	.stop = asked_to_stop,
	.describe = serve_faces_describe,
	.open_dashboard = asked_for_dashboard,
};

int mp_serve_open_faces(struct mp_serve *s)
{
	const struct mp_dashboard_options dashboard = {
		.hub = s->hub,
		.exe = MP_PATH_SELF,
		.stop = asked_to_stop,
		.describe = serve_faces_describe,
		.u = s,
	};

	mp_task_init(&s->stop_task, stop_now, s);
	s->dashboard = mp_dashboard_new(&dashboard);
	if (s->election.listener >= 0)
		s->socket = mp_socket_face_open(s->hub, s->election.listener, &socket_hooks, s);
	follow_place(s);
	mp_manager_keep_watch(&s->manager, s->hub->loop);
	return MP_EXIT_DONE;
}

/* The address of the command line, else of a file; NULL: none. */
static const char *get_address(const struct mp_serve *s)
{
	return s->args->http ? s->args->http : s->c.set->settings.http.listen;
}

/* Relative to the home folder, wherever the hub was started: it may be restarted elsewhere. */
static const char *find_file(const struct mp_serve *s, struct mp_arena *arena, struct mp_str path)
{
	const char *home = s->c.set->home;
	char text[PATH_MAX];

	if (mp_str_starts(path, MP_STR("~/")))
		path = (struct mp_str){path.p + 2, path.len - 2};
	else if (!home || mp_str_starts(path, MP_STR("/")))
		return mp_arena_dup(arena, path);
	snprintf(text, sizeof(text), "%s/%.*s", home ? home : "", MP_STR_ARGS(path));
	return mp_arena_dup(arena, mp_str_of(text));
}

static int read_tls(const struct mp_serve *s, struct mp_arena *arena,
		    struct mp_http_face_options *o)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct mp_str json = s->c.set->settings.http.tls_json, cert, key;

	mp_tape_init(&t, 0);
	if (!json.len)
		return 0;
	if (mp_tape_parse(&t, json, NULL) < 0 ||
	    mp_value_text(&t, mp_value_get(&t, MP_ROOT, "cert"), arena, &cert) < 0 ||
	    mp_value_text(&t, mp_value_get(&t, MP_ROOT, "key"), arena, &key) < 0)
		return MCPOOL_EINVAL;
	o->cert = find_file(s, arena, cert);
	o->key = find_file(s, arena, key);
	return o->cert && o->key ? 0 : MCPOOL_ENOMEM;
}

/* A bare port is an IPv6 socket for both families. */
static int take_network_socket(struct mp_serve *s)
{
	int fd = mp_manager_take_socket(&s->manager, AF_INET);

	return fd >= 0 ? fd : mp_manager_take_socket(&s->manager, AF_INET6);
}

/* An exit code; the reason is in why. */
static int serve_listen(struct mp_serve *s, const char *address, int fd, struct mcpool_error *why)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mp_http_face_options o = {
		.loop = s->hub->loop,
		.all_sessions = s->hub->sessions,
		.workspace = s->hub->workspace,
		.usage = s->hub->usage,
		.listen = address,
		.fd = fd,
		.db = s->c.db,
		.oauth = s->c.set->settings.http.oauth_json,
		.metrics_from = s->c.set->settings.http.metrics_from.items,
		.n_metrics_from = s->c.set->settings.http.metrics_from.n,
		.no_token = s->args->no_token,
		.name = s->c.set->settings.http.name,
		.dashboard = &mp_dashboard_routes,
		.dashboard_u = s->dashboard,
	};

	mp_arena_init(&arena, MP_KIB(64));
	if (read_tls(s, &arena, &o) < 0) {
		(void)mp_fail(why, MCPOOL_EINVAL,
			      "\"http\".\"tls\" is {\"cert\": FILE, \"key\": FILE}");
		return MP_EXIT_CONFIG;
	}
	if (mp_http_face_new(&o, &s->http, why) < 0)
		return MP_EXIT_START;
	if (s->is_ready)
		mp_http_face_set_ready(s->http);
	return MP_EXIT_DONE;
}

/* Pages that an earlier hub has opened look for it at its port. Another program may have it now. */
static void serve_reopen_dashboard(struct mp_serve *s)
{
	char address[32];
	struct mcpool_error why;

	if (!s->args->background ||
	    !mp_dashboard_port_find(mp_loop_wall_now_ms(s->hub->loop), address, sizeof(address)))
		return;
	if (serve_listen(s, address, -1, &why) != MP_EXIT_DONE)
		mp_log_info(&hub_log, "the dashboard is not where it was: %s", why.message);
}

int mp_serve_open_http(struct mp_serve *s)
{
	const char *address = get_address(s);
	int fd = take_network_socket(s), r;
	struct mcpool_error why;

	if (!address && fd <= 0) {
		serve_reopen_dashboard(s);
		return MP_EXIT_DONE;
	}
	r = serve_listen(s, address, fd, &why);
	if (r == MP_EXIT_DONE)
		tell_starter(s);
	else
		mp_cli_complain("%s", why.message);
	return r;
}

/* A hub without HTTP begins to listen on loopback: at the usual port, or at any. */
static int asked_for_dashboard(void *u, struct mp_buf *url, struct mcpool_error *reterr)
{
	struct mp_serve *s = u;
	int r;

	if (s->is_shut || s->is_stopping)
		return mp_fail(reterr, MCPOOL_ECLOSED, "the hub is about to stop");
	if (!s->http && serve_listen(s, MP_HTTP_LISTEN, -1, reterr) != MP_EXIT_DONE &&
	    serve_listen(s, "127.0.0.1:0", -1, reterr) != MP_EXIT_DONE)
		return reterr->code ? reterr->code : MCPOOL_ESYSTEM;
	if (!get_address(s) && s->args->background &&
	    mp_dashboard_port_keep(mp_http_face_get_address(s->http), reterr) < 0)
		mp_log_warn(&hub_log, "the next hub will not know the dashboard's port: %s",
			    reterr->message);
	r = mp_dashboard_write_address(s->http, url);
	return r < 0 ? mp_fail(reterr, r, "this hub has no dashboard") : 0;
}

static void http_is_drained(void *u)
{
	(void)u; /* mp_sessions knows when everything is answered */
}

void mp_serve_shut_doors(struct mp_serve *s)
{
	if (s->is_shut)
		return;
	s->is_shut = true;
	s->place = mp_follower_leave(s->place);
	if (s->http)
		mp_http_face_drain(s->http, http_is_drained, s);
	if (s->socket) {
		mp_socket_face_close(s->socket);
		mp_socket_face_announce(s->socket, s->is_replaced);
	}
	mp_election_stop_listening(&s->election);
}

void mp_serve_dismiss(struct mp_serve *s)
{
	if (s->socket)
		mp_socket_face_dismiss(s->socket);
}

void mp_serve_close_faces(struct mp_serve *s)
{
	mp_loop_unpost(s->hub->loop, &s->stop_task);
	if (s->http)
		mp_dashboard_routes.drain(s->dashboard);
	s->http = mp_http_face_free(s->http);
	s->socket = mp_socket_face_free(s->socket);
	s->dashboard = mp_dashboard_free(s->dashboard);
	mp_manager_done(&s->manager);
}

/* --- reporting ------------------------------------------------------------------------------- */

static void print_json(struct mp_serve *s)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;

	mp_buf_init(&text, MP_KIB(16));
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	serve_write_faces(s, &w);
	mp_write_end_object(&w);
	if (mp_write_finish(&w) == 0)
		mp_serve_print(s, mp_buf_get(&text));
}

static void describe_http(const struct mp_serve *s, char *out, size_t size)
{
	const char *address = mp_http_face_get_address(s->http);
	const char *token = mp_http_face_get_token_path(s->http);

	snprintf(out, size, "  endpoint   %s/mcp (also /sse, /ws); %s%s\n", address,
		 token ? "its token is in " : "WITHOUT A TOKEN: every program here may call",
		 token ? token : "");
}

void mp_serve_report_faces(struct mp_serve *s)
{
	char text[2048], http[512] = "";

	if (s->args->json) {
		print_json(s);
		return;
	}
	if (s->http)
		describe_http(s, http, sizeof(http));
	snprintf(text, sizeof(text),
		 "  socket     %s\n%s"
		 "  dashboard  `mcpool dashboard` opens it in your browser\n"
		 "  agents     run `mcpool connect claude` (codex, cursor, vscode, ...) to connect "
		 "one",
		 s->socket ? s->election.place.socket : "none: HOME is not set", http);
	for (char *line = text, *rest; s->screen && line; line = rest) {
		rest = strchr(line, '\n');
		if (rest)
			*rest++ = '\0';
		mp_screen_say(s->screen, mp_str_of(line));
	}
	if (s->screen)
		return;
	puts(text);
	fflush(stdout);
}
