/*
 * top_actions.c - what `top` does to a server.
 */
#include "cli/console/top_actions.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/limits.h"
#include "base/paths.h"
#include "cli/display/terminal.h"
#include "cli/servers/hub_client.h"
#include "cli/verbs/verbs.h"

extern char **environ;

/* A connection of its own: the others wait for answers. */
static void action_run(const char *method, const char *name, const char *done, char *words,
		       size_t size)
{
	MP_CLEANUP(mp_hub_client_freep) struct mp_hub_client *c = NULL;
	MP_CLEANUP(mp_buf_done) struct mp_buf result;
	struct mp_cli_args args = {.json = false};
	struct mcpool_error why;
	int r;

	mp_buf_init(&result, MP_MIB(1));
	r = mp_hub_client_open(&c, &why);
	if (r == 0)
		r = mp_cmd_tell_hub(c, &args, method, name, &result, &why);
	snprintf(words, size, "%s: %s", name, r < 0 ? why.message : done);
}

void mp_top_restart(const char *name, char *words, size_t size)
{
	action_run("mcpool/server/reconnect", name, "a new connection begins", words, size);
}

void mp_top_switch(const char *name, bool on, char *words, size_t size)
{
	if (on)
		action_run("mcpool/server/enable", name, "on, until the hub ends", words, size);
	else
		action_run("mcpool/server/disable", name,
			   "off, until the hub ends; `mcpool disable` lasts", words, size);
}

/* --- approval -------------------------------------------------------------------------------- */

static int program_spawn(char *const *argv, const sigset_t *mask, pid_t *ret_pid)
{
	char self[PATH_MAX];
	posix_spawnattr_t how;
	sigset_t usual;
	int r = posix_spawnattr_init(&how);

	if (r)
		return r;
	mp_path_find_self(self);
	sigemptyset(&usual);
	sigaddset(&usual, SIGINT);
	posix_spawnattr_setsigmask(&how, mask);
	posix_spawnattr_setsigdefault(&how, &usual);
	posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	r = posix_spawn(ret_pid, self, NULL, &how, argv, environ);
	posix_spawnattr_destroy(&how);
	return r;
}

/* Ctrl-C is for the program, not for top. Returns its exit code; -1: it was not started. */
static int program_run(char *const *argv, const sigset_t *mask)
{
	struct sigaction ignored = {.sa_handler = SIG_IGN}, before;
	int status = -1;
	pid_t pid;

	sigaction(SIGINT, &ignored, &before);
	if (program_spawn(argv, mask, &pid) == 0) {
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		status = WIFEXITED(status) ? WEXITSTATUS(status) : MP_EXIT_INTERRUPTED;
	}
	sigaction(SIGINT, &before, NULL);
	return status;
}

void mp_top_approve(const struct mp_status *s, struct mp_top_screen *screen, const sigset_t *mask,
		    char *words, size_t size)
{
	char name[MP_LIMIT_NAME + 1], answer[16];
	char *argv[] = {"mcpool", "trust", name, NULL};
	int r;

	if (s->state != MP_STATUS_NEEDS_APPROVAL) {
		snprintf(words, size, "%s needs no approval", s->name);
		return;
	}
	if (s->error[0] || s->name[0] == '-') { /* another command than usual */
		snprintf(words, size, "type: %s", s->error[0] ? s->error : "mcpool trust");
		return;
	}
	snprintf(name, sizeof(name), "%s", s->name);
	mp_top_screen_leave(screen);
	r = program_run(argv, mask);
	(void)mp_terminal_ask("\nEnter goes back to top.", answer, sizeof(answer));
	mp_top_screen_return(screen);
	snprintf(words, size, "%s", r == MP_EXIT_DONE ? "" : "nothing was approved");
}
