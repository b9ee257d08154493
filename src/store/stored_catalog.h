/*
 * stored_catalog.h - what a server offered when it was last seen, kept for 30 days (U24).
 * Per name and launch key, so that lists never cross credentials. A help for a fast start, nothing
 * more: a row that is broken or of another format is as good as none, and gets replaced. Several
 * processes may read and write at once.
 */
#ifndef MP_STORED_CATALOG_H
#define MP_STORED_CATALOG_H

#include "base/base.h"
#include "base/str.h"
#include "store/db.h"

/* In the order of MP_CATALOG_KINDS: tools, prompts, resources, templates. */
enum { MP_STORED_CATALOG_LISTS = 4 };

struct mp_stored_catalog {
	struct mp_str server; /* what it says about itself; a JSON object */
	struct mp_str
		lists[MP_STORED_CATALOG_LISTS]; /* each as a page of the protocol; empty: none */
	size_t counts[MP_STORED_CATALOG_LISTS]; /* how many items each has */
	size_t tools_size;                      /* bytes of the tools, of peek() */
	int64_t saved_ms;                       /* since 1970; put() sets it */
	char *text;                             /* owned by what get() returned; else NULL */
};
void mp_stored_catalog_done(struct mp_stored_catalog *d);

struct mp_stored_catalog_key {
	const char *name;
	struct mp_str launch_key;
};

/* 1: there is one. 0: there is none, or it is too old, broken or of another format. Never fails. */
int mp_stored_catalog_get(struct mp_db *db, const struct mp_stored_catalog_key *key,
			  int64_t wall_ms, struct mp_stored_catalog *ret) MP_MUST;
/* The same without the texts: only counts and saved_ms. */
int mp_stored_catalog_peek(struct mp_db *db, const struct mp_stored_catalog_key *key,
			   int64_t wall_ms, struct mp_stored_catalog *ret) MP_MUST;
/*
 * Queued, in place of what was there; copied. The same content again is not written more than once
 * a day. Sweeps what has expired.
 */
void mp_stored_catalog_put(struct mp_db *db, const struct mp_stored_catalog_key *key,
			   const struct mp_stored_catalog *d, int64_t wall_ms);
void mp_stored_catalog_forget(struct mp_db *db, const struct mp_stored_catalog_key *key);

#endif
