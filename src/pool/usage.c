/*
 * usage.c - memory and processor time of the processes of all servers, and of ours.
 */
#include "pool/usage.h"

#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "pool/instance.h"

/*
 * Measuring takes at most about this part of one processor: 1 / REST. Who asks once a second gets
 * new ones each time.
 */
enum { REST = 40, REST_LEAST_MS = 900 };

struct measured {
	mp_id id;
	pid_t pid;
	struct mp_tree_usage used;
};

struct mp_usage {
	struct mp_pool *pool; /* NULL: freed while the worker measured */
	struct mp_list waiting;
	int64_t rest_until_ms;
	struct mp_tree_usage own; /* as measured last */
	int64_t measured_wall_ms; /* when; 0: not yet */
	/* The worker's, until it is done. */
	bool is_running;
	struct measured *servers; /* owned */
	size_t n;
	pid_t hub;
	struct mp_tree_usage own_now;
	int64_t took_us;
};

/* --- on the worker --------------------------------------------------------------------------- */

static int64_t usage_read_thread_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/*
 * A server is a child of its shepherd, which is a child of the launcher, which is one of ours; a
 * shepherd that was killed leaves it to a process whose other children are not the server's.
 */
static void measure(struct mp_usage *m, struct measured *server, pid_t *launcher)
{
	struct mp_proc p, shepherd;

	if (mp_tree_read(server->pid, &p) < 0 || mp_tree_read(p.parent, &shepherd) < 0 ||
	    !mp_tree_is_below(shepherd.pid, m->hub) ||
	    mp_tree_measure(shepherd.pid, &server->used) < 0)
		return;
	mp_tree_measure_one(shepherd.pid, &m->own_now);
	*launcher = shepherd.parent;
}

static void usage_run(void *u)
{
	struct mp_usage *m = u;
	int64_t began_us = usage_read_thread_us();
	pid_t launcher = 0;

	for (size_t i = 0; i < m->n; i++)
		measure(m, &m->servers[i], &launcher);
	mp_tree_measure_one(m->hub, &m->own_now);
	if (launcher > 0)
		mp_tree_measure_one(launcher, &m->own_now);
	m->took_us = usage_read_thread_us() - began_us;
}

/* --- on the loop ----------------------------------------------------------------------------- */

static void usage_tell(struct mp_usage *m)
{
	struct mp_link *link;

	while ((link = mp_list_pop(&m->waiting))) {
		struct mp_usage_listener *l = mp_container_of(link, struct mp_usage_listener, link);

		l->fn(l->u);
	}
}

static void usage_keep(struct mp_usage *m)
{
	for (size_t i = 0; i < m->n; i++) {
		struct mp_instance *in = mp_ids_get(&m->pool->ids, m->servers[i].id);

		if (!in)
			continue;
		in->usage.pid = m->servers[i].pid;
		in->usage.used = m->servers[i].used;
	}
	m->own = m->own_now;
	m->measured_wall_ms = mp_loop_wall_now_ms(m->pool->o.loop);
}

static void usage_rest(struct mp_usage *m)
{
	int64_t rest_ms = m->took_us * REST / 1000;

	m->rest_until_ms = mp_loop_now_ms(m->pool->o.loop) +
			   (rest_ms > REST_LEAST_MS ? rest_ms : REST_LEAST_MS);
}

static void usage_done(void *u)
{
	struct mp_usage *m = u;

	m->is_running = false;
	if (m->pool)
		usage_keep(m);
	m->servers = mp_free(m->servers);
	if (!m->pool) {
		mp_free(m);
		return;
	}
	usage_rest(m);
	usage_tell(m);
}

static void usage_add(struct mp_usage *m, const struct mp_list *instances)
{
	MP_LIST_EACH(instances, link) {
		struct mp_instance *in = mp_container_of(link, struct mp_instance, link);
		pid_t pid = mp_keeper_get_pid(in->k);

		if (pid > 0)
			m->servers[m->n++] = (struct measured){.id = in->id, .pid = pid};
	}
}

static bool usage_begin(struct mp_usage *m)
{
	struct mp_pool *p = m->pool;
	const struct mp_work work = {usage_run, usage_done, m};

	m->servers = mp_alloc((p->instances.len + p->leaving.len + 1) * sizeof(*m->servers));
	m->n = 0;
	usage_add(m, &p->instances);
	usage_add(m, &p->leaving);
	m->hub = getpid();
	m->own_now = (struct mp_tree_usage){0};
	m->is_running = mp_loop_work(p->o.loop, &work) == 0;
	if (!m->is_running)
		m->servers = mp_free(m->servers);
	return m->is_running;
}

struct mp_usage *mp_usage_new(struct mp_pool *p)
{
	struct mp_usage *m = mp_alloc(sizeof(*m));

	*m = (struct mp_usage){.pool = p};
	mp_list_init(&m->waiting);
	return m;
}

bool mp_usage_ask(struct mp_usage *m, struct mp_usage_listener *l, void (*fn)(void *u), void *u)
{
	struct mp_pool *p = m->pool;

	if (!m->is_running &&
	    (mp_loop_now_ms(p->o.loop) < m->rest_until_ms || p->is_stopping || !usage_begin(m)))
		return true;
	*l = (struct mp_usage_listener){.fn = fn, .u = u};
	mp_list_append(&m->waiting, &l->link);
	return false;
}

void mp_usage_leave(struct mp_usage *m, struct mp_usage_listener *l)
{
	if (mp_list_linked(&l->link))
		mp_list_remove(&m->waiting, &l->link);
}

struct mp_usage *mp_usage_free(struct mp_usage *m)
{
	if (!m)
		return NULL;
	mp_check(m->waiting.len == 0);
	m->pool = NULL;
	if (!m->is_running)
		mp_free(m);
	return NULL;
}

/* --- results --------------------------------------------------------------------------------- */

struct mp_tree_usage mp_usage_get_own(const struct mp_usage *m)
{
	return m->own;
}

int64_t mp_usage_get_time(const struct mp_usage *m)
{
	return m->measured_wall_ms;
}

const struct mp_tree_usage *mp_usage_get(const struct mp_instance *in)
{
	bool is_measured = in->usage.pid > 0 && in->usage.used.processes > 0 &&
			   in->usage.pid == mp_keeper_get_pid(in->k);

	return is_measured ? &in->usage.used : NULL;
}

static void usage_add_up(struct mp_usage_sum *sum, const struct mp_instance *in)
{
	const struct mp_tree_usage *used = mp_usage_get(in);
	int64_t others = in->usage.sessions > 1 ? (int64_t)in->usage.sessions - 1 : 0;

	sum->calls_last_minute +=
		mp_stats_count_minute(&in->stats, mp_loop_now_ms(in->pool->o.loop));
	if (!used)
		return;
	sum->servers.processes += used->processes;
	sum->servers.memory += used->memory;
	sum->servers.cpu_us += used->cpu_us;
	sum->saved_processes += others * used->processes;
	sum->saved_memory += others * used->memory;
}

struct mp_usage_sum mp_usage_sum_up(const struct mp_usage *m)
{
	const struct mp_pool *p = m->pool;
	struct mp_usage_sum sum = {.calls_last_minute = 0};

	MP_LIST_EACH(&p->instances, link)
		usage_add_up(&sum, mp_container_of(link, struct mp_instance, link));
	MP_LIST_EACH(&p->leaving, link)
		usage_add_up(&sum, mp_container_of(link, struct mp_instance, link));
	return sum;
}

void mp_usage_clear_sessions(struct mp_pool *p)
{
	MP_LIST_EACH(&p->instances, link)
		mp_container_of(link, struct mp_instance, link)->usage.sessions = 0;
	MP_LIST_EACH(&p->leaving, link)
		mp_container_of(link, struct mp_instance, link)->usage.sessions = 0;
}

void mp_usage_add_sessions(struct mp_pool *p, mp_id instance, size_t n)
{
	struct mp_instance *in = mp_ids_get(&p->ids, instance);

	if (in)
		in->usage.sessions += n;
}
