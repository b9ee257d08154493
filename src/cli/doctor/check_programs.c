/*
 * check_programs.c - the programs that entries name: are they here, in the PATH of the hub too,
 * and is Node.js, Python or Docker such that servers can use it?
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "cli/agents/agent_run.h"
#include "cli/doctor/examination.h"
#include "cli/doctor/runtime.h"
#include "process/capture.h"
#include "process/exec.h"
#include "process/failure.h"

extern char **environ;

enum { VERSION_MS = 5000 };

/* Its command with the variables of this shell; NULL: it has none, or it cannot be told. */
static const char *command_get(struct mp_doctor *d, const struct mp_entry *e)
{
	struct mp_resolved out;
	struct mcpool_error why;
	const char *command = NULL;

	if (!mp_doctor_is_about(d, e) || e->kind != MP_KIND_STDIO)
		return NULL;
	if (mp_doctor_resolve(d, e, &out, &why) == 0 && out.argv && out.argv[0])
		command = mp_arena_dup(&d->arena, mp_str_of(out.argv[0]));
	mp_resolved_done(&out);
	return command;
}

static bool is_connected(const struct mp_doctor *d, const struct mp_entry *e)
{
	const struct mp_status *s = mp_doctor_get_status(d, e->name);

	return s && s->state == MP_STATUS_CONNECTED;
}

/* --- are they here? -------------------------------------------------------------------------- */

static int missing_tell(struct mp_doctor *d, const struct mp_entry *e, const char *command)
{
	bool is_path = strchr(command, '/') != NULL;
	struct mcpool_error why;

	mp_failure_explain(MP_STAGE_COMMAND,
			   is_path && access(command, F_OK) == 0 ? EACCES : ENOENT, command, "",
			   &why);
	return mp_doctor_tell_error(d, mp_check_commands.name, e, why.message,
				    is_path ? NULL : mp_runtime_get_advice(command));
}

static int commands_find(struct mp_doctor *d)
{
	int r = 0;

	for (size_t i = 0; i < d->c->set->n && r == 0; i++) {
		const struct mp_entry *e = d->c->set->entries[i];
		const char *command = is_connected(d, e) ? NULL : command_get(d, e);
		char path[PATH_MAX];

		if (!command || mp_doctor_knows(d, e->name))
			continue;
		if (command[0] == '/' ? access(command, X_OK) < 0
				      : !strchr(command, '/') && !mp_program_find(command, path))
			r = missing_tell(d, e, command);
	}
	return r;
}

const struct mp_check mp_check_commands = {
	"commands",
	"the commands of all servers are installed",
	commands_find,
	NULL,
};

/* --- the PATH of the hub --------------------------------------------------------------------- */

static int path_compare(struct mp_doctor *d, const struct mp_entry *e, const char *command)
{
	struct mp_finding f = {
		.check = mp_check_path.name, .server = e->name, .severity = MP_FINDING_WARNING};
	char here[PATH_MAX], there[PATH_MAX];

	if (strchr(command, '/') || !mp_program_find(command, here))
		return 0;
	if (!mp_program_find_in(d->hub_path, command, there)) {
		if (!is_connected(d, e))
			f.severity = MP_FINDING_ERROR;
		return mp_doctor_tell(d, &f, "mcpool down; mcpool up",
				      "'%s' is %s in this shell, and not in the PATH of the hub",
				      command, here);
	}
	if (strcmp(here, there) == 0)
		return 0;
	return mp_doctor_tell(d, &f, "mcpool down; mcpool up",
			      "'%s' is %s in this shell, and %s in the PATH of the hub", command,
			      here, there);
}

/* A program that was installed by nvm or the like is known to interactive shells alone. */
static int path_find(struct mp_doctor *d)
{
	int r = 0;

	if (!d->hub_path[0])
		return 0;
	for (size_t i = 0; i < d->c->set->n && r == 0; i++) {
		const char *command = command_get(d, d->c->set->entries[i]);

		if (command)
			r = path_compare(d, d->c->set->entries[i], command);
	}
	return r;
}

const struct mp_check mp_check_path = {
	"path",
	"the hub finds the same programs as this shell",
	path_find,
	NULL,
};

/* --- runtimes -------------------------------------------------------------------------------- */

/* Its first line; "": it says nothing. */
static void version_read(const char *path, char *out, size_t size)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	char option[] = "--version", *argv[] = {(char *)(uintptr_t)path, option, NULL};
	struct mcpool_error why;

	out[0] = '\0';
	mp_buf_init(&text, MP_CAPTURE_MAX);
	if (mp_capture_run(argv, "/", environ, VERSION_MS, &text, &why) == 0 &&
	    mp_buf_terminate(&text) == 0)
		snprintf(out, size, "%.*s", (int)strcspn(text.data, "\r\n"), text.data);
}

static int runtime_look(struct mp_doctor *d, const struct mp_runtime *rt)
{
	struct mp_finding f = {.check = mp_check_runtimes.name,
			       .severity = MP_FINDING_WARNING,
			       .subject = rt->program};
	char path[PATH_MAX], version[128];

	if (!mp_program_find(rt->program, path))
		return 0; /* what needs it says so */
	version_read(path, version, sizeof(version));
	if (!version[0])
		return mp_doctor_tell(d, &f, rt->advice, "%s does not say its version", path);
	if (!mp_runtime_is_old(rt, version))
		return 0;
	return mp_doctor_tell(d, &f, rt->advice, "%s is %s, and many servers need %u.%u or newer",
			      path, version, rt->major, rt->minor);
}

/* The socket of Docker may be used by its group alone. */
static int docker_look(struct mp_doctor *d)
{
	struct mp_finding f = {.check = mp_check_runtimes.name,
			       .severity = MP_FINDING_WARNING,
			       .subject = "docker"};
	const char *host = getenv("DOCKER_HOST"), *socket = "/var/run/docker.sock";

	if (host || access(socket, R_OK | W_OK) == 0)
		return 0;
	return access(socket, F_OK) == 0
		       ? mp_doctor_tell(d, &f,
					"sudo usermod -aG docker \"$USER\" # then log in again",
					"you may not use %s", socket)
		       : mp_doctor_tell(d, &f, "sudo systemctl start docker",
					"there is no %s: Docker does not run", socket);
}

static bool is_used(struct mp_doctor *d, const struct mp_runtime *rt)
{
	for (size_t i = 0; i < d->c->set->n; i++) {
		const char *command = command_get(d, d->c->set->entries[i]);

		if (command && mp_runtime_is_for(rt, command))
			return true;
	}
	return false;
}

static int runtimes_find(struct mp_doctor *d)
{
	int r = 0;

	for (size_t i = 0; i < mp_runtimes_n && r == 0; i++) {
		const struct mp_runtime *rt = &mp_runtimes[i];

		if (!is_used(d, rt))
			continue;
		r = strcmp(rt->program, "docker") == 0 ? docker_look(d) : runtime_look(d, rt);
	}
	return r;
}

const struct mp_check mp_check_runtimes = {
	"runtimes",
	"Node.js, Python, uv and Docker are new enough, where servers use them",
	runtimes_find,
	NULL,
};
