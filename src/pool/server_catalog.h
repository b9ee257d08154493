/*
 * server_catalog.h - the catalog of one server: its description and its lists, live or cached.
 * A value: immutable and reference-counted.
 */
#ifndef MP_SERVER_CATALOG_H
#define MP_SERVER_CATALOG_H

#include "base/base.h"
#include "client/catalog.h"
#include "client/upstream.h"
#include "store/stored_catalog.h"

struct mp_server_catalog_list {
	unsigned refs;
	struct mp_catalog_list list;
	const char *problem; /* why it could not be fetched (it is empty then); NULL: no error */
};

/* The texts of a hello, shared by the catalogs of one life. */
struct mp_server_catalog_words {
	unsigned refs;
	struct mp_arena arena;
};

struct mp_server_catalog {
	unsigned refs;
	struct mp_server_catalog_words *words;
	struct mp_hello hello; /* texts in words */
	struct mp_server_catalog_list
		*lists[MP_CATALOG_COUNT]; /* never NULL; shared between catalogs */
	int64_t saved_ms;                 /* when it was stored; 0: live */
};

struct mp_server_catalog *mp_server_catalog_ref(struct mp_server_catalog *o);
struct mp_server_catalog *mp_server_catalog_unref(
	struct mp_server_catalog *o); /* accepts NULL, returns NULL */

/* Compares item by item, in any order (C17). False without memory for the comparison. */
bool mp_server_catalog_list_equals(const struct mp_catalog_list *a,
				   const struct mp_catalog_list *b);
/* A new catalog like this one with another list of its kind; takes ownership of list. */
struct mp_server_catalog *mp_server_catalog_replace(const struct mp_server_catalog *o,
						    struct mp_server_catalog_list *list);
struct mp_server_catalog_list *mp_server_catalog_list_new(
	enum mp_catalog_kind kind); /* empty, one reference */
struct mp_server_catalog_list *mp_server_catalog_list_unref(
	struct mp_server_catalog_list *l); /* accepts NULL */
/* Sets the error of a list that could not be fetched, and clears the list. */
void mp_server_catalog_list_blame(struct mp_server_catalog_list *l, const struct mcpool_error *why);
/* hello is copied, with four empty lists; NULL: no memory for its texts. */
struct mp_server_catalog *mp_server_catalog_new(const struct mp_hello *hello) MP_MUST;

/* offer: one reference for the callee, or NULL with an error. */
typedef void (*mp_server_catalog_fn)(struct mp_server_catalog *offer,
				     const struct mcpool_error *error, void *u);
struct mp_server_catalog_fetch;
/*
 * Fetch all lists of a ready upstream at once. Without tools/list there is no catalog (E69); for
 * other lists a failure is kept in the list's problem. skipped: see mp_pool_options. fn runs once,
 * from the loop, unless the return value is negative.
 */
int mp_server_catalog_fetch(struct mp_upstream *up, struct mp_loop *loop, int64_t timeout_ms,
			    unsigned skipped, mp_server_catalog_fn fn, void *u,
			    struct mp_server_catalog_fetch **ret_fetch) MP_MUST;
/* fn does not run. Before the upstream is freed. */
void mp_server_catalog_abandon(struct mp_server_catalog_fetch *f);

/*
 * Converts to the form of the store: views of text, which the caller owns. MCPOOL_ELIMIT for what
 * could not be read back, MCPOOL_ENOMEM.
 */
int mp_server_catalog_to_definition(const struct mp_server_catalog *o, struct mp_buf *text,
				    struct mp_stored_catalog *ret) MP_MUST;
/* The store is trusted as little as a server: any deviation from our own format is an error. */
int mp_server_catalog_from_definition(const struct mp_stored_catalog *d,
				      struct mp_server_catalog **ret,
				      struct mcpool_error *reterr) MP_MUST;

/* To the store, queued; errors there are ignored (A59). */
void mp_server_catalog_save(const struct mp_server_catalog *o, struct mp_db *db,
			    const struct mp_stored_catalog_key *key, int64_t wall_ms,
			    const struct mp_log *log);
/* From the store; NULL: no usable catalog. */
struct mp_server_catalog *mp_server_catalog_load(struct mp_db *db,
						 const struct mp_stored_catalog_key *key,
						 int64_t wall_ms, const struct mp_log *log);

#endif
