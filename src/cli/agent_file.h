/*
 * agent_file.h - an agent's own file: what stands there, our entry put in and taken out again.
 * Only ever on request; what was there before is kept beside it, and every comment stays.
 */
#ifndef MP_AGENT_FILE_H
#define MP_AGENT_FILE_H

#include "cli/agents.h"

enum mp_agent_link {
	MP_AGENT_APART,     /* nothing there leads to mcpool */
	MP_AGENT_CONNECTED, /* just as it would be written, or by another name */
	MP_AGENT_OTHERWISE, /* connected, but not in this way: another path, HTTP */
	MP_AGENT_TAKEN,     /* the name is another server's */
};

struct mp_agent_view {
	enum mp_agent_link link;
	bool exists;        /* there is a file */
	bool inner;         /* which has its servers where newer versions have them */
	const char *entry;  /* the name of what leads to mcpool, or takes our name; NULL */
	const char **names; /* of all other servers there */
	size_t n_names;
};

/*
 * Look at the file. entry: what would be written. A file that is not there is MP_AGENT_APART.
 * Otherwise as mp_document_open(), with the path and the place in the words.
 */
int mp_agent_look(const struct mp_agent *a, const char *file, struct mp_str entry,
		  struct mp_arena *arena, struct mp_agent_view *ret_view,
		  struct mcpool_error *reterr) MP_MUST;

/*
 * The text with our entry in it, or with it replaced. 1: it is in out; 0: it says so already.
 * MCPOOL_ETYPE, MCPOOL_EINVAL: the file is not what it should be.
 */
int mp_agent_add_text(const struct mp_agent *a, const struct mp_agent_way *way, struct mp_str old,
		      struct mp_buf *out, struct mcpool_error *reterr) MP_MUST;
/* The text without it. MCPOOL_ENOENT: it is not there, or not as we wrote it. */
int mp_agent_remove_text(const struct mp_agent *a, const struct mp_agent_way *way,
			 struct mp_str old, struct mp_buf *out,
			 struct mcpool_error *reterr) MP_MUST;

/* Do it: the old file is FILE.mcpool-backup then. 1 written, 0 nothing to do, or as the writer. */
int mp_agent_write(const struct mp_agent *a, const struct mp_agent_way *way, const char *file,
		   struct mcpool_error *reterr) MP_MUST;
/*
 * Undo it: a file that nobody changed since becomes what it was, byte for byte, or goes where there
 * was none; from one that was changed our entry is removed. 1 done, 0 there was nothing of ours.
 */
int mp_agent_undo(const struct mp_agent *a, const struct mp_agent_way *way, const char *file,
		  struct mcpool_error *reterr) MP_MUST;

/* A project's file must be in the project, whatever links it holds. */
int mp_agent_check_place(const char *file, const char *root, struct mcpool_error *reterr) MP_MUST;

#endif
