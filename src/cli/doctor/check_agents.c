/*
 * check_agents.c - entries for mcpool in the files of agents that cannot work.
 */
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "cli/agents/agent_file.h"
#include "cli/agents/agent_run.h"
#include "cli/doctor/doctor.h"

struct agents_look {
	struct mp_doctor *d;
	struct mp_places places;
	struct mp_agent_way way;
	struct mp_arena arena;
};

static int problem_tell(struct mp_doctor *d, const struct mp_agent *a, bool is_project,
			const char *file, const char *problem)
{
	struct mp_finding f = {.check = mp_check_agents.name, .subject = a->label};
	char fix[128];

	snprintf(fix, sizeof(fix), "mcpool connect %s --write%s", a->name,
		 is_project ? " --project" : "");
	return mp_doctor_tell(d, &f, fix, "its entry in %s cannot start mcpool: %s", file, problem);
}

/* A file that cannot be read is the agent's own matter. */
static int agent_look(struct agents_look *l, const struct mp_agent *a, bool is_project)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf entry;
	struct mp_agent_view view = {0};
	struct mcpool_error why;
	const char *file = mp_agent_get_file(a, &l->places, is_project, &l->arena);

	mp_buf_init(&entry, MP_LIMIT_CONFIG_FILE);
	l->way.project = is_project;
	if (!file || access(file, F_OK) < 0 || mp_agent_write_entry(a, &l->way, &entry) < 0 ||
	    mp_agent_look(a, file, mp_buf_get(&entry), &l->arena, &view, &why) < 0 || !view.problem)
		return 0;
	return problem_tell(l->d, a, is_project, file, view.problem);
}

static int agents_find(struct mp_doctor *d)
{
	struct agents_look l = {.d = d};
	char self[PATH_MAX];
	int r = 0;

	mp_program_find_self(self);
	l.way.mcpool = self;
	mp_arena_init(&l.arena, MP_LIMIT_ARENA);
	if (mp_places_find(&l.places, d->c->cwd, environ, &l.arena) == 0)
		for (size_t i = 0; i < mp_agents_n && r == 0; i++) {
			r = agent_look(&l, &mp_agents[i], false);
			if (r == 0)
				r = agent_look(&l, &mp_agents[i], true);
		}
	mp_arena_done(&l.arena);
	return r;
}

const struct mp_check mp_check_agents = {
	"agents",
	"the files of agents name programs of mcpool that exist",
	agents_find,
	NULL,
};
