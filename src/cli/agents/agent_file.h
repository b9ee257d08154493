/*
 * agent_file.h - an agent's own file: reads its entry for mcpool, adds and removes ours.
 * Only on request; a backup is kept beside the file, and every comment stays.
 */
#ifndef MP_AGENT_FILE_H
#define MP_AGENT_FILE_H

#include "cli/agents/agents.h"

#define MP_AGENT_BACKUP ".mcpool-backup"

enum mp_agent_link {
	MP_AGENT_APART,     /* no entry leads to mcpool */
	MP_AGENT_CONNECTED, /* as it would be written, or by another name */
	MP_AGENT_OTHERWISE, /* connected, but with another path or over HTTP */
	MP_AGENT_TAKEN,     /* another server has our name */
};

struct mp_agent_view {
	enum mp_agent_link link;
	bool exists;       /* there is a file */
	bool inner;        /* its servers are where newer versions have them */
	const char *entry; /* name of the entry for mcpool, or of the one with our name; or NULL */
	const char *problem; /* why it cannot work, such as a missing program; or NULL */
	const char *address; /* its URL; NULL: none */
	const char **names;  /* of all other servers there */
	size_t n_names;
};

/*
 * Look at the file. entry: what would be written. A file that is not there is MP_AGENT_APART.
 * Otherwise as mp_document_open(), with the path and the place in the words.
 */
int mp_agent_look(const struct mp_agent *a, const char *file, struct mp_str entry,
		  struct mp_arena *arena, struct mp_agent_view *ret_view,
		  struct mcpool_error *reterr) MP_MUST;

/* The object that the servers are in, or MP_NONE. */
mp_value mp_agent_find_servers(const struct mp_agent *a, const struct mp_tape *t, bool *ret_inner);

/* --- agent_change.c --- */

/*
 * The text that mp_agent_write() or mp_agent_undo() would make of old, the text of the file. 1: it
 * is in out; 0: it is the same. *ret_goes: undo removes the file, which did not exist before.
 * MCPOOL_ETYPE, MCPOOL_EINVAL: the file is not what it should be; MCPOOL_EEXIST, MCPOOL_ENOENT: its
 * entry is not as we wrote it.
 */
int mp_agent_plan(const struct mp_agent *a, const struct mp_agent_way *way, const char *file,
		  bool undo, struct mp_str old, struct mp_buf *out, bool *ret_goes,
		  struct mcpool_error *reterr) MP_MUST;
/*
 * Put our entry in, or replace it. The file as it was without one is FILE.mcpool-backup then. 1
 * written, 0 nothing to do, or as the writer.
 */
int mp_agent_write(const struct mp_agent *a, const struct mp_agent_way *way, const char *file,
		   struct mcpool_error *reterr) MP_MUST;
/*
 * Undo every mp_agent_write() since there was no entry. A file that no other program changed since
 * becomes what it was, byte for byte, or is removed where there was none; from another only our
 * entry is removed. 1 done, 0 there is no file.
 */
int mp_agent_undo(const struct mp_agent *a, const char *file, struct mcpool_error *reterr) MP_MUST;

/* --- agent_file.c --- */

/* A project's file must be in the project, whatever links it holds. */
int mp_agent_check_place(const char *file, const char *root, struct mcpool_error *reterr) MP_MUST;

#endif
