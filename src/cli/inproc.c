/*
 * inproc.c - a hub of its own for one command.
 */
#include "cli/inproc.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "cli/interrupt.h"
#include "process/exec.h"
#include "process/launcher.h"

extern char **environ;

const struct mp_identity mp_cli_identity = {
	.name = "mcpool",
	.title = "mcpool",
	.version = MCPOOL_VERSION,
	.capabilities = {"{}", 2},
};

struct mp_inproc {
	const struct mp_inproc_options *o;
	const struct mp_inproc_hooks *hooks;
	void *u;
	struct mp_config_set set; /* what the command is about: a value made of c->set's parts */
	struct mp_entry *entries; /* owned; copies */
	struct mp_entry **order;  /* owned; set.entries */
	struct mp_hub *hub;
	struct mp_gate *gate;
	struct mp_progress_line line;
	struct mp_timer blink;
	int64_t began_ms;
	struct mp_interrupt interrupt;
	int exit_code; /* -1: not yet known */
};

/* --- what is to be seen ---------------------------------------------------------------------- */

struct mp_workspace *mp_inproc_get_view(struct mp_inproc *p)
{
	return p->hub->workspace;
}

struct mp_pool *mp_inproc_get_pool(struct mp_inproc *p)
{
	return p->hub->pool;
}

struct mp_progress_line *mp_inproc_get_line(struct mp_inproc *p)
{
	return &p->line;
}

bool mp_inproc_is_interrupted(const struct mp_inproc *p)
{
	return p->interrupt.happened;
}

/* Longer than a blink: say what we wait for. */
static void say_waiting(void *u)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf tail;
	struct mp_inproc *p = u;
	const struct mp_entry *first = NULL;
	size_t n = 0;

	mp_buf_init(&tail, MP_LIMIT_STDERR_RING * 2);
	for (size_t i = 0; i < mp_workspace_count(p->hub->workspace); i++) {
		if (mp_workspace_get_state(p->hub->workspace, i, MP_INPROC_SESSION) !=
		    MP_STATUS_PENDING)
			continue;
		if (n++ > 0)
			continue;
		first = mp_workspace_get_entry(p->hub->workspace, i);
		if (mp_workspace_get_tail(p->hub->workspace, i, MP_INPROC_SESSION, 1, &tail) < 0)
			mp_buf_clear(&tail);
	}
	mp_timer_start(&p->blink, MP_TICK_MS);
	if (n > 0)
		mp_progress_line_show_start(&p->line, first->name, n - 1,
					    mp_loop_now_ms(p->hub->loop) - p->began_ms,
					    first->argc ? first->argv[0] : NULL, mp_buf_get(&tail));
}

/* --- beginning and end ----------------------------------------------------------------------- */

void mp_inproc_finish(struct mp_inproc *p, int exit_code)
{
	mp_timer_stop(&p->blink);
	mp_progress_line_clear(&p->line);
	p->gate = mp_gate_free(p->gate);
	if (p->exit_code >= 0)
		return;
	p->exit_code = p->interrupt.happened ? MP_EXIT_INTERRUPTED : exit_code;
	fflush(stdout); /* nobody need wait for servers that take their time to leave */
	mp_hub_stop(p->hub);
}

static void closed(void *u)
{
	struct mp_inproc *p = u;

	mp_loop_stop(p->hub->loop);
}

static void stopped(void *u)
{
	struct mp_inproc *p = u;

	mp_interrupt_close(&p->interrupt, closed);
}

static void ready(void *u, const struct mcpool_error *error)
{
	struct mp_inproc *p = u;

	if (p->exit_code >= 0)
		return;
	if (!error) {
		p->hooks->ready(p, p->u);
		return;
	}
	mp_cli_complain("%s", error->message);
	mp_inproc_finish(p, MP_EXIT_CONFIG);
}

static const struct mp_hub_hooks hub_hooks = {.ready = ready, .stopped = stopped};

static void interrupted(void *u)
{
	struct mp_inproc *p = u;

	if (p->exit_code >= 0)
		return;
	if (!p->hooks->interrupted || !p->hooks->interrupted(p, p->u))
		mp_inproc_finish(p, MP_EXIT_INTERRUPTED);
	mp_progress_line_show(&p->line, MP_STR("cancelling ..."));
}

void mp_inproc_open_gate(struct mp_inproc *p, enum mp_gate_due due, const bool *only,
			 int64_t max_ms, mp_gate_fn fn, void *u)
{
	struct mp_gate_options options = {
		.session = MP_INPROC_SESSION,
		.due = due,
		.only = only,
		.window_ms = max_ms,
		.uncached = MP_UNCACHED_WAIT_ALL,
		.max_wait_ms = max_ms,
	};

	p->gate = mp_gate_free(p->gate);
	p->gate = mp_gate_open(p->hub->workspace, &options, fn, u);
}

/* --- the set --------------------------------------------------------------------------------- */

/*
 * A set is a value that nobody changes. This one is made of the other's parts, has the entries that
 * the command is about, and what was said on the command line about them.
 */
static void make_set(struct mp_inproc *p)
{
	const struct mp_inproc_options *o = p->o;
	const struct mp_config_set *from = o->c->set;
	size_t n = o->entries ? o->n : from->n;

	p->entries = mp_alloc((n + 1) * sizeof(*p->entries));
	p->order = mp_alloc((n + 1) * sizeof(struct mp_entry *));
	for (size_t i = 0; i < n; i++) {
		struct mp_entry *e = &p->entries[i];

		*e = o->entries ? *o->entries[i] : *from->entries[i];
		p->order[i] = e;
		/* Each is started only when asked for, and leaves with the command, not before. */
		e->tuning.start = MP_START_EAGER;
		e->tuning.idle_ms = 0;
		if (o->start_timeout_ms)
			e->tuning.timeout_ms = o->start_timeout_ms;
		if (o->args->era != MP_ERA_BOTH)
			e->tuning.era = (int)o->args->era;
	}
	p->set = *from;
	p->set.refs = 1; /* ours, which is never given back: nothing frees the parts */
	p->set.entries = p->order;
	p->set.n = n;
}

static int open_hub(struct mp_inproc *p, struct mcpool_error *reterr)
{
	struct mp_hub_options options = {
		.request = {.cwd = p->o->c->cwd, .env = environ, .db = p->o->c->db},
		.set = &p->set,
		.me = &mp_cli_identity,
		.one_shot = true,
		.skipped_lists = p->o->skipped_lists,
		.capabilities = p->o->capabilities,
	};
	int r;

	mp_exec_hide();
	mp_launcher_raise_files();
	r = mp_hub_new(&options, &hub_hooks, p, &p->hub, reterr);
	if (r == 0 && p->set.is_typed && p->set.entries[0]->kind == MP_KIND_STDIO)
		mp_hub_open_launcher(p->hub); /* it is what the command is for */
	if (r == 0)                           /* nothing else joins this pool */
		mp_check(mp_pool_client_join(p->hub->pool, &p->hooks->client, p->u) ==
			 MP_INPROC_SESSION);
	return r;
}

int mp_inproc_run(const struct mp_inproc_options *options, const struct mp_inproc_hooks *hooks,
		  void *u)
{
	struct mp_inproc p = {.o = options, .hooks = hooks, .u = u, .exit_code = -1};
	struct mcpool_error why;

	mp_log_set_level(MP_LEVEL_WRN);
	make_set(&p);
	if (open_hub(&p, &why) < 0) {
		mp_cli_complain("%s", why.message);
		p.exit_code = MP_EXIT_START;
	} else {
		p.began_ms = mp_loop_now_ms(p.hub->loop);
		mp_timer_init(&p.blink, p.hub->loop, say_waiting, &p);
		mp_timer_start(&p.blink, MP_BLINK_MS);
		mp_interrupt_open(&p.interrupt, p.hub->loop, interrupted, &p);
		mp_hub_start(p.hub);
		mp_loop_run(p.hub->loop);
		mp_timer_stop(&p.blink);
		mp_progress_line_clear(&p.line);
		p.hub = mp_hub_free(p.hub);
	}
	mp_free(p.order);
	mp_free(p.entries);
	return mp_print_finish(p.exit_code);
}
