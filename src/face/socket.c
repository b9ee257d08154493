/*
 * socket.c - the unix socket: accepts peers, reads their hello, then serves a session or control
 * calls.
 */
#include "face/socket.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/mem.h"
#include "face/control.h"
#include "face/greeting.h"
#include "face/line_conn.h"
#include "face/nearest_session.h"
#include "base/listener.h"
#include "hub/workspaces.h"
#include "process/tree.h"
#include "session/sessions.h"
#include "session/session.h"

static const struct mp_log socket_log = {"socket"};

/* A hello contains an environment of at most 2 MiB. */
#define HELLO_LIMIT   MP_MIB(4)
#define HELLO_MS      MP_SECONDS(10)
#define LAST_WORDS_MS MP_SECONDS(5)
/* Time for a bridge to return the bye; older ones do not. */
#define BYE_MS MP_SECONDS(1)
/* The kernel's backlog is as long again. */
#define MAX_CONNS (MP_LIMIT_SESSIONS + 256)

#define SOCKET_CONN_STATES(X)                                          \
	X(FRESH, "fresh", "no hello yet")                              \
	X(LOOKING, "looking", "its workspace is being found")          \
	X(BRIDGE, "bridge", "an agent's messages come and go")         \
	X(CONTROL, "control", "the command line asks and is obeyed")   \
	X(LEAVING, "leaving", "it was told so, and is to hear it yet") \
	X(OVER, "over", "the last state")

#define SOCKET_CONN_EVENTS(X)                                      \
	X(LINE, "line", "it said something")                       \
	X(OVERSIZE, "oversize", "it said too much at once")        \
	X(GREETED, "greeted", "that was a hello")                  \
	X(VIEW, "view", "its workspace is there")                  \
	X(AS_BRIDGE, "as bridge", "it has a session now")          \
	X(AS_CONTROL, "as control", "it needs none")               \
	X(REFUSED, "refused", "it cannot be let in; why is noted") \
	X(DISMISSED, "dismissed", "the hub leaves")                \
	X(TIMER, "timer", "it took too long")                      \
	X(GONE, "gone", "the connection is over")

MP_MACHINE_ENUM(socket_conn_state, SOCKET_CONN_STATES);
MP_MACHINE_ENUM(socket_conn_event, SOCKET_CONN_EVENTS);

struct mp_socket_face {
	struct mp_hub *hub;
	const struct mp_socket_hooks *hooks;
	void *u;
	struct mp_listener *listener; /* owned; NULL: closed */
	struct mp_list conns;
	bool is_replaced; /* by a newer hub */
};

struct socket_conn {
	struct mp_link link;
	struct mp_socket_face *face;
	enum socket_conn_state state;
	struct mp_line_conn *conn;
	struct mp_timer timer;
	int pid; /* from SO_PEERCRED */
	uid_t uid;
	struct mp_str line, tail; /* the line being handled */
	struct mp_arena arena;    /* of its hello, until it is accepted */
	struct mp_greeting hello;
	char *id; /* of its hello; owned, until it is answered */
	struct mp_workspace_user *user;
	struct mp_workspace *workspace; /* NULL before the hello */
	struct mcpool_error *why;
	struct mp_session *session;
	struct mp_control *control;
	bool is_told;    /* that the hub is shutting down */
	bool is_awaited; /* it may have sent requests before it read that; the hub waits */
	struct mp_grave grave;
};

MP_MACHINE_TYPES(socket_conn, struct socket_conn, enum socket_conn_event, SOCKET_CONN_STATES,
		 SOCKET_CONN_EVENTS);
static socket_conn_action read_hello, refuse_oversize, socket_refuse, refuse_late, say_bye,
	socket_bury, let_in, socket_welcome, pass_on, pass_on_oversize, socket_obey, bye_give_up;

MP_MACHINE_STEPS(socket_conn) = {
	[FRESH] = {[LINE] = MP_DO(read_hello),
		   [OVERSIZE] = MP_DO(refuse_oversize),
		   [GREETED] = MP_TO(LOOKING, NULL),
		   [REFUSED] = MP_TO(LEAVING, socket_refuse),
		   [TIMER] = MP_DO(refuse_late),
		   [DISMISSED] = MP_TO(LEAVING, say_bye),
		   [GONE] = MP_TO(OVER, socket_bury)},
	[LOOKING] = {[VIEW] = MP_DO(let_in),
		     [AS_BRIDGE] = MP_TO(BRIDGE, socket_welcome),
		     [AS_CONTROL] = MP_TO(CONTROL, socket_welcome),
		     [REFUSED] = MP_TO(LEAVING, socket_refuse),
		     [DISMISSED] = MP_TO(LEAVING, say_bye),
		     [GONE] = MP_TO(OVER, socket_bury)},
	[BRIDGE] = {[LINE] = MP_DO(pass_on),
		    [OVERSIZE] = MP_DO(pass_on_oversize),
		    [TIMER] = MP_DO(bye_give_up),
		    [DISMISSED] = MP_TO(LEAVING, say_bye),
		    [GONE] = MP_TO(OVER, socket_bury)},
	[CONTROL] = {[LINE] = MP_DO(socket_obey),
		     [OVERSIZE] = MP_TO(LEAVING, say_bye),
		     [DISMISSED] = MP_TO(LEAVING, say_bye),
		     [GONE] = MP_TO(OVER, socket_bury)},
	[LEAVING] = {[VIEW] = MP_STAY,
		     [REFUSED] = MP_STAY,
		     [DISMISSED] = MP_STAY,
		     [TIMER] = MP_TO(OVER, socket_bury),
		     [GONE] = MP_TO(OVER, socket_bury)},
};

static void socket_conn_describe(const struct socket_conn *g, struct mp_log *ret_log)
{
	mp_log_init(ret_log, "socket %d", g->pid);
}

MP_MACHINE(socket_conn, struct socket_conn, .describe = socket_conn_describe)

/* --- hello ----------------------------------------------------------------------------------- */

static enum socket_conn_event note_refusal(struct socket_conn *g, const struct mcpool_error *why)
{
	mp_error_keep(&g->why, why);
	return REFUSED;
}

static void socket_seen(void *u, struct mp_workspace *workspace, const struct mcpool_error *error)
{
	struct socket_conn *g = u;

	g->workspace = workspace;
	if (error)
		(void)note_refusal(g, error);
	socket_conn_advance(g, error ? REFUSED : VIEW);
}

static int check_protocol(const struct mp_greeting *h, struct mcpool_error *reterr)
{
	if (h->protocol == MP_GREETING_PROTOCOL)
		return 0;
	return mp_fail(reterr, MCPOOL_EPROTO,
		       "this hub is mcpool %s and speaks protocol %d; you are %s and speak "
		       "protocol %lld",
		       mcpool_version(), MP_GREETING_PROTOCOL,
		       h->version[0] ? h->version : "of an unknown version",
		       (long long)h->protocol);
}

/*
 * Refuse a peer that descends from one of our servers: the server would call itself. A variable in
 * its environment says so too, unless it was removed.
 */
static int check_descent(const struct socket_conn *g, struct mcpool_error *reterr)
{
	if (g->hello.role != MP_GREETING_BRIDGE || !mp_tree_is_below(g->pid, getpid()))
		return 0;
	return mp_fail(
		reterr, MCPOOL_EPERM,
		"this `mcpool stdio` was started by one of the hub's own servers, so that the "
		"hub would serve itself; take it out of what mcpool runs");
}

/* A bridge has the environment of the agent that started it. */
static void describe_env(const struct socket_conn *g, char *out, size_t size)
{
	struct mp_proc bridge, agent;

	if (g->hello.role == MP_GREETING_CONTROL)
		snprintf(out, size, "the command line");
	else if (mp_tree_read(g->pid, &bridge) == 0 && mp_tree_read(bridge.parent, &agent) == 0)
		snprintf(out, size, "%s (process %d)", agent.name, (int)agent.pid);
	else
		snprintf(out, size, "an agent (process %d)", g->pid);
}

static int socket_look(struct socket_conn *g, struct mcpool_error *reterr)
{
	const struct mp_greeting *h = &g->hello;
	char who[64];
	struct mp_workspace_request request = {
		.cwd = h->options.project ? h->options.project : h->cwd,
		.env = h->env,
		.profile = h->options.profile,
		.files = h->options.files.items,
		.n_files = h->options.files.n,
		.strict = h->options.strict,
		.starts_nothing = h->role == MP_GREETING_CONTROL,
		.who = who,
	};
	struct stat st;

	describe_env(g, who, sizeof(who));
	if (h->options.project && stat(h->options.project, &st) < 0)
		return mp_fail(reterr, MCPOOL_ENOENT, "there is no folder %s", h->options.project);
	return mp_workspaces_join(g->face->hub->workspaces, &request, socket_seen, g, &g->user,
				  reterr);
}

/* The line is valid only during this call: copy what is needed later into the arena. */
static enum socket_conn_event read_hello(struct socket_conn *g)
{
	struct mcpool_error why;
	int r;

	mp_arena_init(&g->arena, MP_LIMIT_ARENA);
	r = mp_greeting_read(g->line, &g->arena, &g->hello, &why);
	if (g->hello.id.len) {
		g->id = mp_alloc(g->hello.id.len + 1);
		memcpy(g->id, g->hello.id.p, g->hello.id.len);
	}
	if (r == 0)
		r = check_protocol(&g->hello, &why);
	if (r == 0)
		r = check_descent(g, &why);
	if (r == 0)
		r = socket_look(g, &why);
	if (r < 0)
		return note_refusal(g, &why);
	mp_timer_stop(&g->timer);
	mp_line_conn_hush(g->conn,
			  true); /* later lines are for the session, which does not exist yet */
	return GREETED;
}

static enum socket_conn_event refuse_oversize(struct socket_conn *g)
{
	struct mcpool_error why;

	(void)mp_fail(&why, MCPOOL_ELIMIT, "the first message is too large");
	return note_refusal(g, &why);
}

static enum socket_conn_event refuse_late(struct socket_conn *g)
{
	struct mcpool_error why;

	(void)mp_fail(&why, MCPOOL_ETIMEDOUT, "there was no " MP_GREETING_METHOD);
	return note_refusal(g, &why);
}

/* --- sessions -------------------------------------------------------------------------------- */

/* May be called from within receive. */
static void deliver(void *u, const struct mp_delivery *d)
{
	struct socket_conn *g = u;

	if (d->text.len)
		mp_line_conn_say(g->conn, d->text);
}

static const struct mp_session_hooks session_hooks = {.deliver = deliver};

/*
 * The session whose private servers it borrows (A73). An id may be of a hub that has crashed, and
 * the agent may have started on its own: neither is a reason to fail.
 */
static mp_id find_parent(const struct socket_conn *g, const char *principal)
{
	const struct mp_sessions *sessions = g->face->hub->sessions;
	const char *parent = g->hello.options.parent;
	mp_id id;

	if (!parent)
		return 0;
	id = strcmp(parent, "auto") == 0 ? mp_nearest_session_find(sessions, g->pid)
					 : strtoull(parent, NULL, 10);
	if (mp_sessions_has(sessions, id, principal))
		return id;
	mp_log_warn(&socket_log,
		    "pid %d: --parent %s: there is no such session; it has servers of its own",
		    g->pid, parent);
	return 0;
}

static int open_session(struct socket_conn *g, struct mcpool_error *reterr)
{
	const struct mp_greeting_options *h = &g->hello.options;
	struct mp_proc bridge = {0};
	char principal[32];
	struct mp_session_options options = {
		.workspace = g->workspace,
		.principal = principal,
		.way = "stdio",
		.narrowing = {.servers = h->servers.items,
			      .n_servers = h->servers.n,
			      .tools = h->tools.items,
			      .n_tools = h->tools.n,
			      .naming = h->naming},
		.traits = MP_SESSION_ONE_STREAM,
		.pid = g->pid,
	};

	snprintf(principal, sizeof(principal), "uid:%u", (unsigned)g->uid);
	if (mp_tree_read(g->pid, &bridge) == 0 && bridge.parent > 1)
		options.client_pid = bridge.parent;
	options.parent = find_parent(g, principal);
	return mp_session_new(g->face->hub->sessions, &options, &session_hooks, g, &g->session,
			      reterr);
}

static void socket_say(void *u, struct mp_str text)
{
	struct socket_conn *g = u;

	mp_line_conn_say(g->conn, text);
}

static bool asked_to_stop(void *u, bool drain, bool replace)
{
	struct socket_conn *g = u;

	return g->face->hooks->stop(g->face->u, drain, replace);
}

static void describe(void *u, struct mp_writer *w)
{
	struct socket_conn *g = u;

	if (g->face->hooks->describe)
		g->face->hooks->describe(g->face->u, w);
}

static int socket_open_dashboard(void *u, struct mp_buf *url, struct mcpool_error *reterr)
{
	struct socket_conn *g = u;

	if (!g->face->hooks->open_dashboard)
		return mp_fail(reterr, MCPOOL_EPERM, "this hub has no dashboard");
	return g->face->hooks->open_dashboard(g->face->u, url, reterr);
}

static size_t socket_get_queued(void *u)
{
	struct socket_conn *g = u;

	return mp_line_conn_get_queued(g->conn);
}

static const struct mp_control_hooks control_hooks = {
	.say = socket_say,
	.get_queued = socket_get_queued,
	.stop = asked_to_stop,
	.describe = describe,
	.open_dashboard = socket_open_dashboard,
};

static enum socket_conn_event let_in(struct socket_conn *g)
{
	struct mcpool_error why;
	bool is_bridge = g->hello.role == MP_GREETING_BRIDGE;

	if (is_bridge && open_session(g, &why) < 0)
		return note_refusal(g, &why);
	if (!is_bridge) {
		g->control = mp_control_new(g->face->hub, g->workspace, &control_hooks, g);
		mp_control_set_pid(g->control, g->pid);
	}
	return is_bridge ? AS_BRIDGE : AS_CONTROL;
}

static void forget_hello(struct socket_conn *g)
{
	mp_arena_done(&g->arena);
	mp_arena_init(&g->arena, 0);
	g->hello = (struct mp_greeting){0};
	g->id = mp_free(g->id);
}

static enum socket_conn_event socket_welcome(struct socket_conn *g)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;

	mp_buf_init(&out, MP_KIB(2));
	if (mp_greeting_write_answer(&out, mp_str_of(g->id)) == 0)
		mp_line_conn_say(g->conn, mp_buf_get(&out));
	forget_hello(g);
	mp_line_conn_set_limit(g->conn, MP_LIMIT_MESSAGE);
	mp_line_conn_hush(g->conn, false);
	return MP_QUIET;
}

/* The bridge knows that the hub shuts down, or the hub waits no longer for it. */
static void bye_settle(struct socket_conn *g)
{
	if (!g->is_awaited)
		return;
	g->is_awaited = false;
	mp_timer_stop(&g->timer);
	mp_sessions_end_call(g->face->hub->sessions);
}

static enum socket_conn_event bye_give_up(struct socket_conn *g)
{
	bye_settle(g);
	return MP_QUIET;
}

static enum socket_conn_event pass_on(struct socket_conn *g)
{
	if (MP_UNLIKELY(g->is_told) && mp_str_starts(g->line, MP_STR(MP_GREETING_BYE_START))) {
		bye_settle(g);
		return MP_QUIET;
	}
	(void)mp_session_receive_text(g->session, g->line, 0); /* errors are sent as answers too */
	return MP_QUIET;
}

static enum socket_conn_event pass_on_oversize(struct socket_conn *g)
{
	(void)mp_session_receive_oversize(g->session, g->line, g->tail, 0);
	return MP_QUIET;
}

static enum socket_conn_event socket_obey(struct socket_conn *g)
{
	mp_control_receive(g->control, g->line);
	return MP_QUIET;
}

/* --- closing --------------------------------------------------------------------------------- */

static void take_leave(struct socket_conn *g)
{
	mp_line_conn_finish(g->conn);
	mp_timer_start(&g->timer, LAST_WORDS_MS);
}

static enum socket_conn_event socket_refuse(struct socket_conn *g)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;

	mp_buf_init(&out, MP_KIB(16));
	mp_log_verbose(&socket_log, "pid %d is not let in: %s", g->pid, g->why->message);
	if (mp_greeting_write_refusal(&out, mp_str_of(g->id), g->why) == 0)
		mp_line_conn_say(g->conn, mp_buf_get(&out));
	take_leave(g);
	return MP_QUIET;
}

/* A bridge treats a disconnect without this message as a crash. It returns it as its last line. */
static void socket_announce(struct socket_conn *g)
{
	static const struct mp_str bye = MP_STR(MP_GREETING_BYE_START "}"),
				   replaced = MP_STR(MP_GREETING_BYE_START
						     ",\"params\":{\"" MP_GREETING_REPLACED
						     "\":true}}");

	if (!g->session || g->is_told)
		return;
	g->is_told = true;
	g->is_awaited = mp_sessions_begin_call(g->face->hub->sessions);
	if (g->is_awaited)
		mp_timer_start(&g->timer, BYE_MS);
	mp_line_conn_say(g->conn, g->face->is_replaced ? replaced : bye);
}

static enum socket_conn_event say_bye(struct socket_conn *g)
{
	socket_announce(g);
	bye_settle(g);
	g->session = mp_session_free(g->session);
	g->control = mp_control_free(g->control);
	take_leave(g);
	return MP_QUIET;
}

static void freed(struct mp_grave *grave)
{
	mp_free(mp_container_of(grave, struct socket_conn, grave));
}

/* Its connection may be delivering a line, and the session answering it. */
static enum socket_conn_event socket_bury(struct socket_conn *g)
{
	bye_settle(g);
	mp_timer_stop(&g->timer);
	g->session = mp_session_free(g->session);
	g->control = mp_control_free(g->control);
	g->user = mp_workspace_user_free(g->user);
	g->conn = mp_line_conn_free(g->conn);
	forget_hello(g);
	g->why = mp_free(g->why);
	mp_list_remove(&g->face->conns, &g->link);
	mp_loop_bury(g->face->hub->loop, &g->grave, freed);
	return MP_QUIET;
}

/* --- hooks of the connection ----------------------------------------------------------------- */

static void line(void *u, struct mp_str text)
{
	struct socket_conn *g = u;

	g->line = text;
	socket_conn_advance(g, LINE);
}

static void oversize(void *u, struct mp_str head, struct mp_str tail)
{
	struct socket_conn *g = u;

	g->line = head;
	g->tail = tail;
	socket_conn_advance(g, OVERSIZE);
}

static void ended(void *u, int why)
{
	struct socket_conn *g = u;

	if (why != MCPOOL_ECLOSED)
		mp_log_warn(&socket_log, "pid %d does not read what it is told, and is cut off",
			    g->pid);
	socket_conn_advance(g, GONE);
}

static void flushed(void *u)
{
	struct socket_conn *g = u;

	if (g->control)
		mp_control_flushed(g->control);
}

static const struct mp_line_conn_hooks conn_hooks = {line, oversize, ended, flushed};

static void too_long(void *u)
{
	socket_conn_advance(u, TIMER);
}

/* --- accepting ------------------------------------------------------------------------------ */

void mp_socket_face_admit(struct mp_socket_face *f, int fd)
{
	struct socket_conn *g;
	unsigned uid;
	int pid;

	if (!mp_listener_identify(fd, &pid, &uid) || uid != geteuid() ||
	    f->conns.len >= MAX_CONNS) {
		close(fd); /* no message: a refused peer learns nothing */
		return;
	}
	g = mp_alloc(sizeof(*g));
	g->face = f;
	g->pid = pid;
	g->uid = uid;
	mp_arena_init(&g->arena, 0);
	mp_list_append(&f->conns, &g->link);
	mp_timer_init(&g->timer, f->hub->loop, too_long, g);
	mp_timer_start(&g->timer, HELLO_MS);
	g->conn = mp_line_conn_new(f->hub->loop, fd, HELLO_LIMIT, &conn_hooks, g);
}

static void accepted(void *u, int fd)
{
	mp_socket_face_admit(u, fd);
}

void mp_socket_face_listen(struct mp_socket_face *f, int listener)
{
	mp_check(!f->listener);
	f->listener = mp_listener_new(f->hub->loop, listener, "hub socket", accepted, f);
	mp_check(f->listener);
	mp_listener_open(f->listener);
}

struct mp_socket_face *mp_socket_face_open(struct mp_hub *hub, int listener,
					   const struct mp_socket_hooks *hooks, void *u)
{
	struct mp_socket_face *f = mp_alloc(sizeof(*f));

	f->hub = hub;
	f->hooks = hooks;
	f->u = u;
	mp_list_init(&f->conns);
	if (listener >= 0)
		mp_socket_face_listen(f, listener);
	return f;
}

void mp_socket_face_close(struct mp_socket_face *f)
{
	f->listener = mp_listener_free(f->listener);
}

void mp_socket_face_announce(struct mp_socket_face *f, bool replaced)
{
	f->is_replaced = f->is_replaced || replaced;
	MP_LIST_EACH(&f->conns, link)
		socket_announce(mp_container_of(link, struct socket_conn, link));
}

void mp_socket_face_dismiss(struct mp_socket_face *f)
{
	MP_LIST_EACH(&f->conns, link)
		socket_conn_advance(mp_container_of(link, struct socket_conn, link), DISMISSED);
}

struct mp_socket_face *mp_socket_face_free(struct mp_socket_face *f)
{
	if (!f)
		return NULL;
	mp_socket_face_close(f);
	MP_LIST_EACH(&f->conns, link)
		socket_conn_advance(mp_container_of(link, struct socket_conn, link), GONE);
	return mp_free(f);
}

size_t mp_socket_face_count(const struct mp_socket_face *f)
{
	return f->conns.len;
}
