/*
 * check_processes.c - the same servers, started by other tools: once more for each agent, or left
 * over by one that has ended. Their processes are never touched.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "cli/agents/agents.h"
#include "cli/display/live_table.h"
#include "cli/doctor/command_line.h"
#include "cli/doctor/examination.h"
#include "process/tree.h"

enum { MOST_FOUND = 64, MOST_PARENTS = 32 };

struct found {
	const struct mp_entry *e;
	const char *key, *owner; /* owner "": what started it has ended */
	struct mp_tree_usage usage;
	pid_t first;
};

struct search {
	struct mp_doctor *d;
	struct wanted {
		const char *key; /* NULL: none */
		char **argv;
	} * wanted; /* of the entries of the set */
	struct found items[MOST_FOUND];
	size_t n;
};

/* --- one process ----------------------------------------------------------------------------- */

static const char *agent_get_label(struct mp_str program)
{
	for (size_t i = 0; i < mp_agents_n; i++)
		if (mp_agents[i].program && mp_str_eq(program, mp_str_of(mp_agents[i].program)))
			return mp_agents[i].label;
	return NULL;
}

/* A service manager adopts what has lost its parent. */
static bool is_manager(pid_t pid, struct mp_str program)
{
	return pid <= 1 || mp_str_eq(program, MP_STR("systemd")) ||
	       mp_str_eq(program, MP_STR("init"));
}

/*
 * What started it: an agent above it, or else the nearest program, shells and runners apart. ""
 * if that has ended; NULL: it is one of ours, or a copy of itself started it.
 */
static const char *owner_find(struct mp_doctor *d, pid_t pid, const char *key)
{
	const char *nearest = NULL;
	struct mp_proc p;

	for (int i = 0; i < MOST_PARENTS && mp_tree_read(pid, &p) == 0; i++) {
		char room[MP_COMMAND_LINE];
		struct mp_str line = mp_command_line_read(p.parent, room);
		struct mp_str program = mp_command_line_get_program(line);
		const char *label = agent_get_label(program);

		pid = p.parent;
		if (label)
			return label;
		if (mp_str_starts(program, MP_STR("mcpool")) ||
		    (!nearest && mp_command_line_has(line, key)))
			return NULL;
		if (is_manager(pid, program))
			return nearest ? nearest : "";
		if (!nearest && program.len && !mp_command_line_is_helper(line))
			nearest = mp_arena_dup(&d->arena, program);
	}
	return nearest;
}

static struct found *found_get(struct search *s, const struct mp_entry *e, const char *owner)
{
	struct found *f;

	for (size_t i = 0; i < s->n; i++)
		if (s->items[i].e == e && strcmp(s->items[i].owner, owner) == 0)
			return &s->items[i];
	if (s->n == MOST_FOUND)
		return NULL;
	f = &s->items[s->n++];
	*f = (struct found){.e = e, .owner = owner};
	return f;
}

static void search_take(struct search *s, pid_t pid, size_t i)
{
	const char *owner = owner_find(s->d, pid, s->wanted[i].key);
	struct found *f = owner ? found_get(s, s->d->c->set->entries[i], owner) : NULL;

	if (!f)
		return;
	if (f->first == 0)
		f->first = pid;
	mp_tree_measure_one(pid, &f->usage);
	(void)!mp_tree_measure(pid, &f->usage);
}

/* Runners are counted by the process that they started. */
static void search_look(struct search *s, pid_t pid)
{
	char room[MP_COMMAND_LINE];
	struct mp_str line = mp_command_line_read(pid, room);

	if (!line.len || pid == getpid() ||
	    mp_str_starts(mp_command_line_get_program(line), MP_STR("mcpool")))
		return;
	for (size_t i = 0; i < s->d->c->set->n; i++)
		if (s->wanted[i].key &&
		    mp_command_line_fits(line, s->wanted[i].argv, s->wanted[i].key)) {
			search_take(s, pid, i);
			return;
		}
}

/* --- all of them ----------------------------------------------------------------------------- */

/* A copy in the arena that ends in NULL. */
static char **argv_keep(struct mp_doctor *d, char *const *argv)
{
	size_t n = 0;
	char **kept;

	while (argv[n])
		n++;
	kept = mp_arena_alloc_array(&d->arena, n + 1, sizeof(*kept));
	for (size_t i = 0; kept && i < n; i++) {
		kept[i] = mp_arena_dup(&d->arena, mp_str_of(argv[i]));
		if (!kept[i])
			return NULL;
	}
	return kept;
}

static int wanted_find(struct search *s)
{
	const struct mp_config_set *set = s->d->c->set;

	s->wanted = mp_arena_alloc_array(&s->d->arena, set->n + 1, sizeof(*s->wanted));
	for (size_t i = 0; s->wanted && i < set->n; i++) {
		const struct mp_entry *e = set->entries[i];
		struct wanted *w = &s->wanted[i];
		struct mp_resolved out;
		struct mcpool_error why;

		*w = (struct wanted){NULL, NULL};
		if (!mp_doctor_is_about(s->d, e) || e->kind != MP_KIND_STDIO)
			continue;
		if (mp_doctor_resolve(s->d, e, &out, &why) == 0 && out.argv)
			w->argv = argv_keep(s->d, out.argv);
		if (w->argv)
			w->key = mp_command_line_get_key(w->argv);
		mp_resolved_done(&out);
	}
	return mp_arena_get_error(&s->d->arena);
}

static void search_run(struct search *s)
{
	DIR *proc = opendir("/proc");
	struct dirent *e;

	while (proc && (e = readdir(proc))) {
		struct stat st;
		int64_t pid;

		if (mp_str_to_i64(mp_str_of(e->d_name), &pid) < 0 ||
		    fstatat(dirfd(proc), e->d_name, &st, 0) < 0 || st.st_uid != geteuid())
			continue;
		search_look(s, (pid_t)pid);
	}
	if (proc)
		closedir(proc);
}

static int found_tell(struct search *s, const struct found *f)
{
	struct mp_finding finding = {.check = mp_check_duplicates.name,
				     .severity = MP_FINDING_WARNING,
				     .server = f->e->name};
	const char *plural = f->usage.processes == 1 ? "" : "es";
	char memory[16], fix[512];

	mp_live_write_memory(f->usage.memory, memory);
	if (!f->owner[0]) {
		snprintf(fix, sizeof(fix), "kill %ld", (long)f->first);
		return mp_doctor_tell(s->d, &finding, fix,
				      "process %ld is a copy of it, outside of mcpool, whose agent "
				      "has ended (%lld process%s, %s)",
				      (long)f->first, (long long)f->usage.processes, plural,
				      memory);
	}
	snprintf(fix, sizeof(fix),
		 "mcpool connect --all --write # then remove %s from the servers of %s", f->e->name,
		 f->owner);
	return mp_doctor_tell(s->d, &finding, fix,
			      "it also runs outside of mcpool, started by %s (%lld process%s, %s)",
			      f->owner, (long long)f->usage.processes, plural, memory);
}

static int duplicates_find(struct mp_doctor *d)
{
	static struct search s; /* large */
	int r;

	s = (struct search){.d = d};
	r = wanted_find(&s);
	if (r == 0)
		search_run(&s);
	for (size_t i = 0; i < s.n && r == 0; i++)
		r = found_tell(&s, &s.items[i]);
	return r;
}

const struct mp_check mp_check_duplicates = {
	"duplicates",
	"no other tool runs a server that is configured here, and none was left over",
	duplicates_find,
	NULL,
};
