/*
 * remote_source.h - the copy of a remote source that was fetched last, and what is known about it.
 * Loading a configuration reads the copy and never the network; hub/remote_sources.c fetches.
 */
#ifndef MP_REMOTE_SOURCE_H
#define MP_REMOTE_SOURCE_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"

enum {
	MP_REMOTE_SOURCE_FRESH_MS = 5 * 60 * 1000,   /* asked again after this long */
	MP_REMOTE_SOURCE_FIRST_REST_MS = 60 * 1000,  /* after a failure, and then twice as long */
	MP_REMOTE_SOURCE_LAST_REST_MS = 3600 * 1000, /* each time, up to this */
};

struct mp_remote_source_state {
	char etag[256], modified[64]; /* what the server wants to hear again; "" */
	int64_t fetched_ms;           /* when the copy was last known to be right; 0: never */
	int64_t size;                 /* bytes of the copy */
	int64_t next_ms;              /* not asked before; 0: at once */
	unsigned failures;            /* since then */
	char why[300];                /* of the last of them; "" */
};

/* Is it fetched? https, or http of this machine; anything else is a file, or nothing. */
bool mp_remote_source_is_fetched(const char *url);
/* For people: without user, query and fragment, which may hold secrets. */
int mp_remote_source_name(const char *url, struct mp_buf *out) MP_MUST;
/* Where its copy is; out ends in NUL. MCPOOL_ENOENT without a home. */
int mp_remote_source_get_path(const char *url, struct mp_buf *out) MP_MUST;

/*
 * What is known; all zero where nothing is, or what is there cannot be read. Without the copy that
 * belongs to it only failures count.
 */
void mp_remote_source_load(const char *url, struct mp_remote_source_state *ret);
/* Is this what the copy says already? */
bool mp_remote_source_is_same(const char *url, struct mp_str content);
/* content NULL: the copy stays as it is. */
int mp_remote_source_save(const char *url, const struct mp_remote_source_state *state,
			  const struct mp_str *content, struct mcpool_error *reterr) MP_MUST;

/* What follows from an answer, or from none. */
void mp_remote_source_note_fetched(struct mp_remote_source_state *s, int64_t wall_ms);
void mp_remote_source_note_failed(struct mp_remote_source_state *s, int64_t wall_ms,
				  const char *why);

#endif
