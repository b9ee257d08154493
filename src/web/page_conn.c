/*
 * page_conn.c - one WebSocket of the dashboard's page.
 */
#include "web/page_conn.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/machine.h"
#include "base/mem.h"
#include "face/server_requests.h"
#include "face/ws_conn.h"
#include "hub/workspaces.h"
#include "rpc/message.h"
#include "session/sessions.h"
#include "web/page_verbs.h"

extern char **environ;

#define PROTOCOL "mcpool.control"
enum {
	VERSION = 1,
	HELLO_MS = 10000,
	PROJECTS = 256,
	FIRST_ASKED = 1000000000, /* ids of calls' requests are below */
	/* Close codes, in the range for applications. */
	CLOSE_MALFORMED = 4400,
	CLOSE_NOT_LOGGED_IN = 4401,
};

#define PAGE_CONN_STATES(X)                                   \
	X(FRESH, "fresh", "no hello yet")                     \
	X(LOOKING, "looking", "its workspace is being found") \
	X(OPEN, "open", "it asks and is obeyed")              \
	X(OVER, "over", "the last state")

#define PAGE_CONN_EVENTS(X)                                  \
	X(TEXT, "text", "it said something")                 \
	X(GREETED, "greeted", "that was a hello of a login") \
	X(SEEN, "seen", "its workspace is there")            \
	X(REFUSED, "refused", "it cannot be served")         \
	X(LATE, "late", "there was no hello in time")        \
	X(DISMISSED, "dismissed", "the hub leaves")          \
	X(GONE, "gone", "the connection is over")

MP_MACHINE_ENUM(page_conn_state, PAGE_CONN_STATES);
MP_MACHINE_ENUM(page_conn_event, PAGE_CONN_EVENTS);

struct mp_page_conn {
	struct mp_link link;
	struct mp_page_conns *all;
	enum page_conn_state state;
	struct mp_ws_conn conn;
	mp_id holder; /* of its login, in the face */
	struct mp_timer timer;
	struct mp_str text; /* the message being handled */
	char *id;           /* of its hello; owned, until it is answered */
	char *project;      /* owned; NULL: the hub's own */
	int code;           /* to close with */
	const char *words;
	struct mp_workspace_user *user;
	struct mp_workspace *workspace;
	struct mp_control *control;
	struct mp_page_verbs verbs;
	struct mp_server_requests asked; /* servers, for agents that cannot be asked */
	struct mp_grave grave;
};

MP_MACHINE_TYPES(page_conn, struct mp_page_conn, enum page_conn_event, PAGE_CONN_STATES,
		 PAGE_CONN_EVENTS);
static page_conn_action read_hello, page_conn_welcome, page_conn_obey, page_conn_refuse,
	page_conn_bury, refuse_late, refuse_early, say_goodbye;

MP_MACHINE_STEPS(page_conn) = {
	[FRESH] = {[TEXT] = MP_DO(read_hello),
		   [GREETED] = MP_TO(LOOKING, NULL),
		   [REFUSED] = MP_TO(OVER, page_conn_refuse),
		   [LATE] = MP_DO(refuse_late),
		   [DISMISSED] = MP_TO(OVER, say_goodbye),
		   [GONE] = MP_TO(OVER, page_conn_bury)},
	[LOOKING] = {[TEXT] = MP_DO(refuse_early),
		     [SEEN] = MP_TO(OPEN, page_conn_welcome),
		     [REFUSED] = MP_TO(OVER, page_conn_refuse),
		     [DISMISSED] = MP_TO(OVER, say_goodbye),
		     [GONE] = MP_TO(OVER, page_conn_bury)},
	[OPEN] = {[TEXT] = MP_DO(page_conn_obey),
		  [DISMISSED] = MP_TO(OVER, say_goodbye),
		  [GONE] = MP_TO(OVER, page_conn_bury)},
};

MP_MACHINE(page_conn, struct mp_page_conn)

/* --- hello ----------------------------------------------------------------------------------- */

static enum page_conn_event note_refusal(struct mp_page_conn *b, int code, const char *words)
{
	b->code = code;
	b->words = words;
	return REFUSED;
}

static void page_conn_seen(void *u, struct mp_workspace *workspace,
			   const struct mcpool_error *error)
{
	struct mp_page_conn *b = u;

	b->workspace = workspace;
	page_conn_advance(b, error ? note_refusal(b, CLOSE_MALFORMED, "this folder cannot be shown")
				   : SEEN);
}

static int page_conn_look(struct mp_page_conn *b)
{
	const struct mp_workspace_request request = {
		.cwd = b->project,
		.env = environ,
		.starts_nothing = true,
		.who = "the dashboard",
	};
	struct mcpool_error why;

	return mp_workspaces_join(b->all->hub->workspaces, &request, page_conn_seen, b, &b->user,
				  &why);
}

static bool hello_is_proven(struct mp_page_conn *b, const struct mp_message *m,
			    struct mp_arena *arena)
{
	const struct mp_admit *admit = &b->conn.face->admit;
	const struct mp_holder *holder = mp_holders_find(&admit->holders, b->holder);
	struct mp_str proof;

	return holder && !holder->is_over &&
	       mp_value_text(m->tape, mp_value_get(m->tape, m->params, "proof"), arena, &proof) ==
		       0 &&
	       mp_browser_logins_is_proven(&admit->logins, holder, proof);
}

static char *text_keep(struct mp_str text)
{
	char *copy = mp_alloc(text.len + 1);

	memcpy(copy, text.p, text.len);
	return copy;
}

/* A folder that is there; its absence is the hub's own workspace. */
static bool hello_read_project(struct mp_page_conn *b, const struct mp_message *m,
			       struct mp_arena *arena)
{
	mp_value v = mp_value_get(m->tape, m->params, "project");
	struct mp_str project;
	struct stat st;

	if (v == MP_NONE)
		return true;
	if (mp_value_text(m->tape, v, arena, &project) < 0 || !mp_str_starts(project, MP_STR("/")))
		return false;
	b->project = text_keep(project);
	return stat(b->project, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The message is valid only during this call. */
static enum page_conn_event read_hello(struct mp_page_conn *b)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mcpool_error why;
	struct mp_message m;
	int64_t version = 0;

	mp_tape_init(&t, 0);
	mp_arena_init(&arena, MP_KIB(64));
	if (b->text.len > MP_KIB(64) || mp_message_scan(&t, b->text, &m, &why) < 0 ||
	    m.kind != MP_MESSAGE_REQUEST ||
	    !mp_value_text_is(&t, m.method_name, MP_STR("mcpool/hello")) ||
	    mp_value_i64(&t, mp_value_get(&t, m.params, "protocol"), &version) < 0)
		return note_refusal(b, CLOSE_MALFORMED, "the first message is mcpool/hello");
	if (version != VERSION)
		return note_refusal(b, CLOSE_MALFORMED,
				    "this hub is another version: load the page again");
	if (!hello_is_proven(b, &m, &arena))
		return note_refusal(b, CLOSE_NOT_LOGGED_IN, "this browser is not logged in");
	if (!hello_read_project(b, &m, &arena))
		return note_refusal(b, CLOSE_MALFORMED, "there is no such folder");
	b->id = text_keep(m.id);
	mp_timer_stop(&b->timer);
	if (page_conn_look(b) < 0)
		return note_refusal(b, CLOSE_MALFORMED, "this folder cannot be shown");
	return GREETED;
}

static enum page_conn_event refuse_late(struct mp_page_conn *b)
{
	return note_refusal(b, CLOSE_MALFORMED, "there was no mcpool/hello");
}

static enum page_conn_event refuse_early(struct mp_page_conn *b)
{
	return note_refusal(b, CLOSE_MALFORMED, "wait for the answer to mcpool/hello");
}

/* --- the answer to it ------------------------------------------------------------------------ */

struct projects {
	const char *roots[PROJECTS];
	int64_t sessions[PROJECTS];
	size_t n;
};

static void projects_note(void *u, const struct mp_session_info *s)
{
	struct projects *p = u;
	size_t i = 0;

	while (i < p->n && strcmp(p->roots[i], s->root) != 0)
		i++;
	if (i == PROJECTS || !s->root[0])
		return;
	if (i == p->n)
		p->roots[p->n++] = s->root;
	p->sessions[i]++;
}

static void projects_write(struct mp_writer *w, struct mp_sessions *sessions)
{
	struct projects p = {.n = 0};

	mp_sessions_walk(sessions, projects_note, &p);
	mp_write_key(w, MP_STR("projects"));
	mp_write_begin_array(w);
	for (size_t i = 0; i < p.n; i++) {
		mp_write_begin_object(w);
		mp_write_member_text(w, "project", mp_str_of(p.roots[i]));
		mp_write_member_i64(w, "sessions", p.sessions[i]);
		mp_write_end_object(w);
	}
	mp_write_end_array(w);
}

static int hello_write(const struct mp_page_conn *b, struct mp_buf *out)
{
	const struct mp_config_set *set = mp_workspace_get_set(b->workspace);
	struct mp_writer w;

	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	mp_write_member_i64(&w, "protocol", VERSION);
	mp_write_member_text(&w, "version", mp_str_of(mcpool_version()));
	mp_write_member_i64(&w, "pid", (int64_t)getpid());
	mp_write_member_text(&w, "project",
			     mp_str_of(b->project  ? b->project
				       : set->root ? set->root
						   : ""));
	mp_write_member_text(&w, "home", mp_str_of(set->home ? set->home : ""));
	projects_write(&w, b->all->hub->sessions);
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

static void page_conn_say(void *u, struct mp_str text)
{
	struct mp_page_conn *b = u;

	mp_ws_conn_say(&b->conn, text);
}

static bool page_conn_stop(void *u, bool drain, bool replace)
{
	struct mp_page_conn *b = u;

	return b->all->stop(b->all->u, drain, replace);
}

static void page_conn_describe(void *u, struct mp_writer *w)
{
	struct mp_page_conn *b = u;

	if (b->all->describe)
		b->all->describe(b->all->u, w);
}

static size_t page_conn_get_queued(void *u)
{
	struct mp_page_conn *b = u;

	return mp_ws_conn_get_queued(&b->conn);
}

static int page_conn_take(void *u, struct mp_str id, const struct mp_tape *t, mp_value method,
			  mp_value params, struct mcpool_error *reterr)
{
	struct mp_page_conn *b = u;

	if (!mp_value_text_is(t, method, MP_STR("mcpool/verb")))
		return MCPOOL_ENOENT;
	return mp_page_verbs_run(&b->verbs, id, t, params, reterr);
}

static void page_conn_cancel(void *u, struct mp_str id)
{
	struct mp_page_conn *b = u;

	mp_page_verbs_cancel(&b->verbs, id);
}

static void page_conn_reply(void *u, const struct mp_message *m)
{
	struct mp_page_conn *b = u;

	mp_server_requests_answer(&b->asked, m);
}

static const struct mp_control_hooks control_hooks = {
	.reply = page_conn_reply,
	.say = page_conn_say,
	.stop = page_conn_stop,
	.describe = page_conn_describe,
	.get_queued = page_conn_get_queued,
	.take = page_conn_take,
	.cancel = page_conn_cancel,
};

static enum page_conn_event page_conn_welcome(struct mp_page_conn *b)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf result, out;

	mp_buf_init(&result, MP_MIB(1));
	mp_buf_init(&out, MP_MIB(2));
	b->control = mp_control_new(b->all->hub, b->workspace, &control_hooks, b);
	mp_server_requests_init(&b->asked, b->all->hub->pool, page_conn_say, b);
	b->asked.last_id = FIRST_ASKED;
	b->verbs.folder = b->project;
	b->verbs.workspace = b->workspace;
	if (hello_write(b, &result) == 0 &&
	    mp_message_result(&out, mp_str_of(b->id), mp_buf_get(&result)) == 0)
		mp_ws_conn_say(&b->conn, mp_buf_get(&out));
	b->id = mp_free(b->id);
	return MP_QUIET;
}

static enum page_conn_event page_conn_obey(struct mp_page_conn *b)
{
	mp_control_receive(b->control, b->text);
	return MP_QUIET;
}

/* --- the end --------------------------------------------------------------------------------- */

static void page_conn_freed(struct mp_grave *grave)
{
	struct mp_page_conn *b = mp_container_of(grave, struct mp_page_conn, grave);

	mp_ws_conn_done(&b->conn);
	mp_free(b->id);
	mp_free(b->project);
	mp_free(b);
}

/* Bytes of its connection may be on the stack. */
static enum page_conn_event page_conn_bury(struct mp_page_conn *b)
{
	mp_timer_stop(&b->timer);
	mp_page_verbs_done(&b->verbs);
	if (b->control) {
		mp_server_requests_decline(&b->asked);
		mp_server_requests_done(&b->asked);
	}
	b->control = mp_control_free(b->control);
	b->user = mp_workspace_user_free(b->user);
	mp_list_remove(&b->all->list, &b->link);
	mp_loop_bury(b->all->hub->loop, &b->grave, page_conn_freed);
	return MP_QUIET;
}

static enum page_conn_event page_conn_refuse(struct mp_page_conn *b)
{
	mp_ws_conn_close(&b->conn, b->code, b->words);
	return page_conn_bury(b);
}

static enum page_conn_event say_goodbye(struct mp_page_conn *b)
{
	mp_ws_conn_close(&b->conn, MP_WS_GOING_AWAY, "the hub ends");
	return page_conn_bury(b);
}

/* --- life ------------------------------------------------------------------------------------ */

static void page_conn_text(void *u, struct mp_str text)
{
	struct mp_page_conn *b = u;

	b->text = text;
	page_conn_advance(b, TEXT);
}

static void page_conn_closed(void *u)
{
	page_conn_advance(u, GONE);
}

static void page_conn_taken(void *u)
{
	struct mp_page_conn *b = u;

	if (b->control)
		mp_control_flushed(b->control);
}

static void page_conn_late(void *u)
{
	page_conn_advance(u, LATE);
}

static const struct mp_ws_conn_hooks conn_hooks = {
	.text = page_conn_text, .closed = page_conn_closed, .taken = page_conn_taken};

void mp_page_conn_serve(struct mp_page_conns *all, struct mp_http_face *f, struct mp_exchange *x)
{
	static const struct mp_http_refusal memory = {503, "there is no memory",
						      "Retry-After: 5\r\n"};
	struct mp_page_conn *b;

	if (!mp_ws_conn_check(x, PROTOCOL, true))
		return;
	b = mp_alloc(sizeof(*b));
	b->all = all;
	b->holder = x->admission.holder;
	if (mp_ws_conn_init(&b->conn, f, x, &conn_hooks, b) < 0) {
		mp_ws_conn_done(&b->conn);
		mp_free(b);
		mp_exchange_refuse(x, &memory);
		return;
	}
	mp_page_verbs_init(&b->verbs, all->hub->loop, all->exe, page_conn_say, b, &all->n_verbs);
	mp_timer_init(&b->timer, all->hub->loop, page_conn_late, b);
	mp_timer_start(&b->timer, HELLO_MS);
	mp_list_append(&all->list, &b->link);
	mp_ws_conn_open(&b->conn, PROTOCOL);
}

/* --- for agents that cannot be asked --------------------------------------------------------- */

/* The page that was opened last. */
static bool page_conns_ask(void *u, const struct mp_pool_server_request *rq)
{
	struct mp_page_conns *all = u;
	struct mp_page_conn *last = NULL;

	MP_LIST_EACH(&all->list, link) {
		struct mp_page_conn *b = mp_container_of(link, struct mp_page_conn, link);

		if (b->state == OPEN)
			last = b;
	}
	if (last)
		mp_server_requests_send(&last->asked, rq);
	return last != NULL;
}

static void page_conns_withdraw(void *u, mp_id request)
{
	struct mp_page_conns *all = u;

	MP_LIST_EACH(&all->list, link) {
		struct mp_page_conn *b = mp_container_of(link, struct mp_page_conn, link);

		if (b->state == OPEN)
			mp_server_requests_withdraw(&b->asked, request);
	}
}

void mp_page_conns_init(struct mp_page_conns *all)
{
	const struct mp_page_answerer answerer = {page_conns_ask, page_conns_withdraw, all};

	mp_list_init(&all->list);
	mp_sessions_set_page_answerer(all->hub->sessions, &answerer);
}

void mp_page_conns_done(struct mp_page_conns *all)
{
	mp_check(all->list.len == 0);
	mp_sessions_set_page_answerer(all->hub->sessions, NULL);
}

void mp_page_conns_drain(struct mp_page_conns *all)
{
	MP_LIST_WALK(&all->list, link)
		page_conn_advance(mp_container_of(link, struct mp_page_conn, link), DISMISSED);
}
