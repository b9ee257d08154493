/*
 * own_hub.c - a hub in this process, for the duration of one command.
 */
#include "cli/servers/own_hub.h"

#include <errno.h>
#include <sys/socket.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "face/control.h"
#include "face/line_conn.h"
#include "process/exec.h"
#include "process/launcher.h"

extern char **environ;

const struct mp_identity mp_cli_identity = {
	.name = "mcpool",
	.title = "mcpool",
	.version = MCPOOL_VERSION,
	.capabilities = {"{}", 2},
};

struct mp_own_hub {
	const struct mp_own_hub_options *o;
	struct mp_config_set set; /* the command's servers: a value made of parts of c->set */
	struct mp_entry *entries; /* owned; copies */
	struct mp_entry **order;  /* owned; set.entries */
	struct mp_hub *hub;
	int64_t began_ms;
	struct mp_line_conn *conn;  /* to the command; NULL: not connected */
	struct mp_control *control; /* NULL: the same */
};

/* --- the connection -------------------------------------------------------------------------- */

static void on_line(void *u, struct mp_str text)
{
	struct mp_own_hub *h = u;

	mp_control_receive(h->control, text);
}

/* The command sends nothing larger than a call. */
static void on_oversize(void *u, struct mp_str head, struct mp_str tail)
{
	(void)u;
	(void)head;
	(void)tail;
}

static void own_hub_hang_up(struct mp_own_hub *h)
{
	h->control = mp_control_free(h->control);
	h->conn = mp_line_conn_free(h->conn);
}

static void on_ended(void *u, int why)
{
	(void)why;
	own_hub_hang_up(u);
}

static void say(void *u, struct mp_str text)
{
	struct mp_own_hub *h = u;

	mp_line_conn_say(h->conn, text);
}

int mp_own_hub_connect(struct mp_own_hub *h, struct mcpool_error *reterr)
{
	static const struct mp_line_conn_hooks conn_hooks = {on_line, on_oversize, on_ended, NULL};
	static const struct mp_control_hooks control_hooks = {.say = say};
	int fds[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds) < 0)
		return mp_fail(reterr, MCPOOL_ESYSTEM, "socketpair: %s", strerror(errno));
	h->conn = mp_line_conn_new(h->hub->loop, fds[0], 3 * MP_LIMIT_MESSAGE, &conn_hooks, h);
	mp_line_conn_set_ceiling(h->conn, MP_OWN_HUB_MAX_RESULT + MP_MIB(1));
	h->control = mp_control_new(h->hub, h->hub->workspace, &control_hooks, h);
	mp_control_set_limits(h->control, h->set.n + 1, MP_OWN_HUB_MAX_RESULT);
	return fds[1];
}

/* --- progress -------------------------------------------------------------------------------- */

bool mp_own_hub_show_starts(struct mp_own_hub *h, struct mp_progress_line *line)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf tail;
	struct mp_workspace *w = h->hub->workspace;
	const struct mp_entry *first = NULL;
	size_t n = 0;

	mp_buf_init(&tail, MP_LIMIT_STDERR_RING * 2);
	for (size_t i = 0; w && i < mp_workspace_count(w); i++) {
		if (mp_workspace_get_state(w, i, 1) != MP_STATUS_PENDING || n++ > 0)
			continue;
		first = mp_workspace_get_entry(w, i);
		if (mp_workspace_get_tail(w, i, 1, 1, &tail) < 0)
			mp_buf_clear(&tail);
	}
	if (n > 0)
		mp_progress_line_show_start(line, first->name, n - 1,
					    mp_loop_now_ms(h->hub->loop) - h->began_ms,
					    first->argc ? first->argv[0] : NULL, mp_buf_get(&tail));
	return n > 0;
}

/* --- the set --------------------------------------------------------------------------------- */

/*
 * A set is immutable. This one shares parts of the other, with the entries that the command needs
 * and the options of the command line.
 */
static void own_hub_make_set(struct mp_own_hub *h)
{
	const struct mp_own_hub_options *o = h->o;
	const struct mp_config_set *from = o->c->set;
	size_t n = o->entries ? o->n : from->n;

	h->entries = mp_alloc((n + 1) * sizeof(*h->entries));
	h->order = mp_alloc((n + 1) * sizeof(struct mp_entry *));
	for (size_t i = 0; i < n; i++) {
		struct mp_entry *e = &h->entries[i];

		*e = o->entries ? *o->entries[i] : *from->entries[i];
		h->order[i] = e;
		/* Each is started only on request, and stops with the command. */
		e->tuning.start = MP_START_EAGER;
		e->tuning.idle_ms = 0;
		if (o->start_timeout_ms)
			e->tuning.timeout_ms = o->start_timeout_ms;
		if (o->args->era != MP_ERA_BOTH)
			e->tuning.era = (int)o->args->era;
	}
	h->set = *from;
	h->set.refs = 1; /* never released: the parts are not ours to free */
	h->set.entries = h->order;
	h->set.n = n;
}

/* --- life ------------------------------------------------------------------------------------ */

static void is_ready(void *u, const struct mcpool_error *error)
{
	struct mp_own_hub *h = u;

	h->o->ready(h->o->u, error);
}

static void is_stopped(void *u)
{
	struct mp_own_hub *h = u;

	h->o->stopped(h->o->u);
}

static int own_hub_open(struct mp_own_hub *h, struct mcpool_error *reterr)
{
	static const struct mp_hub_hooks hooks = {.ready = is_ready, .stopped = is_stopped};
	struct mp_hub_options options = {
		.request = {.cwd = h->o->c->cwd, .env = environ, .db = h->o->c->db},
		.set = &h->set,
		.me = &mp_cli_identity,
		.one_shot = true,
		.skipped_lists = h->o->skipped_lists,
		.capabilities = h->o->capabilities,
	};
	int r;

	mp_exec_hide();
	mp_launcher_raise_files();
	r = mp_hub_new(&options, &hooks, h, &h->hub, reterr);
	if (r < 0)
		return r;
	h->began_ms = mp_loop_now_ms(h->hub->loop);
	if (h->set.is_typed && h->set.entries[0]->kind == MP_KIND_STDIO)
		mp_hub_open_launcher(h->hub); /* the command starts this server */
	mp_hub_start(h->hub);
	return 0;
}

int mp_own_hub_new(const struct mp_own_hub_options *options, struct mp_own_hub **ret,
		   struct mcpool_error *reterr)
{
	struct mp_own_hub *h = mp_alloc(sizeof(*h));
	int r;

	h->o = options;
	own_hub_make_set(h);
	r = own_hub_open(h, reterr);
	if (r < 0)
		h = mp_own_hub_free(h);
	*ret = h;
	return r;
}

struct mp_loop *mp_own_hub_get_loop(const struct mp_own_hub *h)
{
	return h->hub->loop;
}

void mp_own_hub_stop(struct mp_own_hub *h)
{
	own_hub_hang_up(h);
	mp_hub_stop(h->hub);
}

struct mp_own_hub *mp_own_hub_free(struct mp_own_hub *h)
{
	if (!h)
		return NULL;
	if (h->hub)
		own_hub_hang_up(h);
	mp_hub_free(h->hub);
	mp_free(h->order);
	mp_free(h->entries);
	return mp_free(h);
}
