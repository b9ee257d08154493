/*
 * script_run.c - is what will be run what was approved? Asked when all placeholders are filled in.
 * A variable may name a file that the entry as written does not, and PATH may lead into the
 * project. Such a file is not part of the approval id, so it must not run.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/shell.h"
#include "files/file.h"
#include "config/values/scripts.h"

bool mp_scripts_is_code_variable(struct mp_str name)
{
	static const char *const names[] = {
		"PATH",
		"BASH_ENV",
		"ENV",
		"NODE_OPTIONS",
		"NODE_PATH",
		"RUBYOPT",
		"RUBYLIB",
		"PERL5OPT",
		"PERL5LIB",
		"SHELL",
		"GIT_SSH",
		"GIT_ASKPASS",
		"SSH_ASKPASS",
		"EDITOR",
		"VISUAL",
		"PAGER",
		"JAVA_TOOL_OPTIONS",
		"PROMPT_COMMAND",
	};
	static const char *const begins[] = {"LD_", "DYLD_", "PYTHON", "npm_config_"};

	for (size_t i = 0; i < MP_ARRAY_LEN(names); i++)
		if (mp_str_eq(name, mp_str_of(names[i])))
			return true;
	for (size_t i = 0; i < MP_ARRAY_LEN(begins); i++)
		if (mp_str_starts(name, mp_str_of(begins[i])))
			return true;
	return mp_str_starts(name, MP_STR("GIT_")) && name.len >= 11 &&
	       mp_str_eq((struct mp_str){name.p + name.len - 7, 7}, MP_STR("COMMAND"));
}

/* --- the program ------------------------------------------------------------------------------ */

static const char *get_path(char *const *environment)
{
	for (; environment && *environment; environment++)
		if (strncmp(*environment, "PATH=", 5) == 0)
			return *environment + 5;
	return "/usr/bin"; /* whatever exec.c takes then, none of it is a project's */
}

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* As exec.c finds it; false: nowhere, and then it does not start. */
static bool find_program(const struct mp_scripts_run *run, char out[PATH_MAX])
{
	const char *dir = get_path(run->environment), *end;

	if (strchr(run->argv[0], '/'))
		return false;
	for (;; dir = end + 1) {
		int n;

		end = strchrnul(dir, ':');
		n = snprintf(out, PATH_MAX, "%s%s%.*s%s%s", *dir == '/' ? "" : run->cwd,
			     *dir == '/' ? "" : "/", (int)(end - dir), dir, end > dir ? "/" : "",
			     run->argv[0]);
		if (n > 0 && n < PATH_MAX && is_program(out))
			return true;
		if (!*end)
			return false;
	}
}

/* --- what is run ------------------------------------------------------------------------------ */

static int set_argv(struct mp_entry *now, const struct mp_scripts_run *run, const char *program,
		    struct mp_arena *arena)
{
	size_t n = 0;

	while (run->argv[n])
		n++;
	now->argv = mp_arena_alloc_array(arena, n + 1, sizeof(*now->argv));
	if (!now->argv)
		return mp_arena_get_error(arena);
	for (size_t i = 0; i < n; i++)
		now->argv[i] = i == 0 && program ? program : run->argv[i];
	now->argc = n;
	return 0;
}

/* Variables that decide what code runs. Others may name files that are data, and change. */
static int set_env(struct mp_entry *now, const struct mp_scripts_run *run, struct mp_arena *arena)
{
	struct mp_bind_pair *items;
	size_t n = 0, used = 0;

	while (run->env && run->env[n])
		n++;
	items = mp_arena_alloc_array(arena, n + 1, sizeof(*items));
	if (!items)
		return mp_arena_get_error(arena);
	for (size_t i = 0; i < n; i++) {
		struct mp_str name = {run->env[i], strcspn(run->env[i], "=")};

		if (mp_scripts_is_code_variable(name))
			items[used++] = (struct mp_bind_pair){"", run->env[i] + name.len + 1};
	}
	now->env = (struct mp_bind_map){items, used};
	return 0;
}

/* --- is it covered? ----------------------------------------------------------------------------
 */

/* The next byte of a name, behind what changes nothing: "./" in front of a part. */
static const char *skip_dots(const char *begin, const char *p)
{
	while ((p == begin || p[-1] == '/') && p[0] == '.' && p[1] == '/')
		p += 2;
	return p;
}

static bool is_same_line(const char *a, const char *b)
{
	const char *begin_a = a, *begin_b = b;

	do {
		a = skip_dots(begin_a, a);
		b = skip_dots(begin_b, b);
		if (*a != *b)
			return false;
	} while (*a++ != '\n' && *b++);
	return true;
}

static bool is_covered(const char *covered, const char *line)
{
	for (; *covered; covered += strcspn(covered, "\n") + 1)
		if (is_same_line(covered, line))
			return true;
	return false;
}

static bool is_named(const char *covered, struct mp_str name)
{
	for (; *covered; covered += strcspn(covered, "\n") + 1)
		if (mp_str_eq((struct mp_str){covered, strcspn(covered, "\t")}, name))
			return true;
	return false;
}

static int script_run_compare(const struct mp_entry *e, const char *lines,
			      struct mcpool_error *reterr)
{
	for (; *lines; lines += strcspn(lines, "\n") + 1) {
		struct mp_str name = {lines, strcspn(lines, "\t")};

		if (is_covered(e->scripts, lines))
			continue;
		if (is_named(e->scripts, name))
			return mp_fail(reterr, MCPOOL_ENEEDS_APPROVAL,
				       "Server \"%s\": %.*s changed since it was approved: mcpool "
				       "trust %s",
				       e->name, MP_STR_ARGS(name), e->name);
		return mp_fail(
			reterr, MCPOOL_ENEEDS_APPROVAL,
			"Server \"%s\" would run or read %.*s, a file of the project that its "
			"approval does not cover, because a variable or PATH leads to it. "
			"Write this path into the entry, then approve it: mcpool trust %s",
			e->name, MP_STR_ARGS(name), MP_SHELL_NAME(e->name));
	}
	return 0;
}

static int script_run_check(const struct mp_entry *e, struct mp_entry *now, struct mp_buf *seen,
			    struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf lines;
	struct mp_scripts_budget budget = MP_SCRIPTS_BUDGET;
	struct mcpool_error why = {0};
	int r;

	mp_buf_init(&lines, MP_MIB(1));
	budget.seen = seen;
	r = mp_scripts_add_within(now, &budget, &lines, &why);
	if (r == MCPOOL_EINVAL)
		return mp_fail(reterr, MCPOOL_ENEEDS_APPROVAL,
			       "Server \"%s\" cannot be started as it is now: %s", e->name,
			       why.message);
	if (r == 0)
		r = mp_buf_terminate(&lines);
	if (r < 0)
		return mp_fail(reterr, r, "Server \"%s\": %s", e->name, mcpool_error_text(r));
	return script_run_compare(e, lines.data, reterr);
}

int mp_scripts_check(const struct mp_entry *e, const struct mp_scripts_run *run,
		     struct mp_buf *seen, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mp_entry now = *e;
	char program[PATH_MAX];
	bool found;
	int r;

	mp_arena_init(&arena, MP_LIMIT_ARENA);
	if (!e->origin.root[0])
		return 0;
	found = find_program(run, program);
	now.cwd = run->cwd;
	now.headers = now.tls = (struct mp_bind_map){NULL, 0};
	now.headers_helper = now.env_file = NULL;
	now.env_layer = NULL;
	r = set_argv(&now, run, found ? program : NULL, &arena);
	if (r == 0)
		r = set_env(&now, run, &arena);
	if (r < 0)
		return mp_fail(reterr, r, "Server \"%s\": %s", e->name, mcpool_error_text(r));
	return script_run_check(e, &now, seen, reterr);
}
