/*
 * connect.h - shared by the files of `mcpool connect`: one agent, and how it connects.
 */
#ifndef MP_CONNECT_H
#define MP_CONNECT_H

#include "cli/agents/agent_file.h"
#include "cli/agents/agent_run.h"
#include "cli/display/cli.h"

struct mp_connect {
	const struct mp_cli_args *args;
	const struct mp_agent *agent;
	struct mp_places places;
	struct mp_arena arena;

	char mcpool[PATH_MAX], url[300];
	struct mp_agent_way way;
	const char *file;       /* NULL: it has none at this level */
	struct mp_buf entry;    /* as it would be written */
	char program[PATH_MAX]; /* the agent's own; "": not found */
	struct mp_agent_view view;
};

/* --- connect.c --- */

/* --write and --undo: preview, question, change. *ret_word: the result. Returns the exit code. */
int mp_connect_write(struct mp_connect *c, const char **ret_word);
int mp_connect_undo(struct mp_connect *c, const char **ret_word);

#endif
