/*
 * known.c - what the store knows of configured servers.
 * Definitions are kept by launch key, and keys are found by a hub; a `!command` in an entry enters
 * them as its text and is not run.
 */
#include "cli/known.h"

#include "base/limits.h"
#include "base/mem.h"
#include "cli/inproc.h"
#include "pool/status.h"

struct job {
	const struct mp_configured *c;
	struct mp_known *list;
};

static void recall(struct mp_inproc *p, void *u)
{
	struct job *job = u;
	struct mp_workspace *v = mp_inproc_get_view(p);
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;

	mp_arena_init(&arena, MP_LIMIT_ARENA);
	for (size_t i = 0; i < job->c->set->n; i++) {
		const struct mp_entry *e = job->c->set->entries[i];
		ptrdiff_t at = mp_workspace_find(v, e->name);
		struct mp_status s;

		if (at < 0 || e->shadow != MP_SHADOW_NONE)
			continue; /* the name is another one's */
		mp_status_take(v, (size_t)at, MP_INPROC_SESSION, &arena, &s);
		job->list[i] = (struct mp_known){s.tools, s.seen_ms};
	}
	mp_inproc_finish(p, MP_EXIT_DONE);
}

int mp_known_recall(const struct mp_configured *c, const struct mp_cli_args *args,
		    struct mp_known **ret_list)
{
	static const struct mp_inproc_hooks hooks = {.ready = recall};
	struct mp_inproc_options options = {.c = c, .args = args};
	struct job job = {.c = c};
	int r;

	job.list = mp_alloc((c->set->n + 1) * sizeof(*job.list));
	for (size_t i = 0; i < c->set->n; i++)
		job.list[i].tools = -1;
	*ret_list = job.list;
	r = c->set->n > 0 ? mp_inproc_run(&options, &hooks, &job) : MP_EXIT_DONE;
	return r == MP_EXIT_INTERRUPTED ? r : MP_EXIT_DONE;
}
