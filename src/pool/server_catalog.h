/*
 * server_catalog.h - the catalog of one server: what it says of itself and its lists, live or
 * cached. A value: made whole, shared by count, never changed.
 */
#ifndef MP_SERVER_CATALOG_H
#define MP_SERVER_CATALOG_H

#include "base/base.h"
#include "client/catalog.h"
#include "client/upstream.h"
#include "store/definitions.h"

struct mp_server_catalog_list {
	unsigned refs;
	struct mp_catalog_list list;
	const char *problem; /* why it could not be had, and is empty; NULL: it could */
};

/* The texts of a hello, shared by the offers of one life. */
struct mp_server_catalog_words {
	unsigned refs;
	struct mp_arena arena;
};

struct mp_server_catalog {
	unsigned refs;
	struct mp_server_catalog_words *words;
	struct mp_hello hello; /* texts in words */
	struct mp_server_catalog_list
		*lists[MP_CATALOG_COUNT]; /* never NULL; shared between offers */
	int64_t saved_ms;                 /* remembered since; 0: live */
};

struct mp_server_catalog *mp_server_catalog_ref(struct mp_server_catalog *o);
struct mp_server_catalog *mp_server_catalog_unref(
	struct mp_server_catalog *o); /* accepts NULL, returns NULL */

/* Is it the same, item by item, in any order? (C17) Without memory to find out: no. */
bool mp_server_catalog_list_equals(const struct mp_catalog_list *a,
				   const struct mp_catalog_list *b);
/* A new offer like this one, with another list in the place of its kind; takes over list. */
struct mp_server_catalog *mp_server_catalog_replace(const struct mp_server_catalog *o,
						    struct mp_server_catalog_list *list);
struct mp_server_catalog_list *mp_server_catalog_list_new(
	enum mp_catalog_kind kind); /* empty, one reference */
struct mp_server_catalog_list *mp_server_catalog_list_unref(
	struct mp_server_catalog_list *l); /* accepts NULL */
/* Note why it could not be had; whatever is in it goes. */
void mp_server_catalog_list_blame(struct mp_server_catalog_list *l, const struct mcpool_error *why);
/* hello is copied, four empty lists are there; NULL: there is no memory for its texts. */
struct mp_server_catalog *mp_server_catalog_new(const struct mp_hello *hello) MP_MUST;

/* offer: the callee's (one reference), or NULL with an error. */
typedef void (*mp_server_catalog_fn)(struct mp_server_catalog *offer,
				     const struct mcpool_error *error, void *u);
struct mp_server_catalog_fetch;
/*
 * Ask a ready upstream for all its lists at once. Without tools/list there is no offer (E69); of
 * the other lists a failure is noted in the list's problem. skipped: see mp_pool_options. fn runs
 * once, from the loop, unless the return value is negative.
 */
int mp_server_catalog_fetch(struct mp_upstream *up, struct mp_loop *loop, int64_t timeout_ms,
			    unsigned skipped, mp_server_catalog_fn fn, void *u,
			    struct mp_server_catalog_fetch **ret_fetch) MP_MUST;
/* fn stays silent. Before the upstream goes. */
void mp_server_catalog_abandon(struct mp_server_catalog_fetch *f);

/*
 * As the store keeps it: views of text, which stays the caller's. MCPOOL_ELIMIT for what could not
 * be read back, MCPOOL_ENOMEM.
 */
int mp_server_catalog_to_definition(const struct mp_server_catalog *o, struct mp_buf *text,
				    struct mp_definition *ret) MP_MUST;
/* The store is trusted no more than a server is: what is not exactly as we write it is an error. */
int mp_server_catalog_from_definition(const struct mp_definition *d, struct mp_server_catalog **ret,
				      struct mcpool_error *reterr) MP_MUST;

/* To the store, queued; whatever fails there is forgotten (A59). */
void mp_server_catalog_save(const struct mp_server_catalog *o, struct mp_db *db,
			    const struct mp_definition_key *key, int64_t wall_ms);
/* From the store; NULL: nothing usable is there. */
struct mp_server_catalog *mp_server_catalog_load(struct mp_db *db,
						 const struct mp_definition_key *key,
						 int64_t wall_ms);

#endif
