/*
 * offer.h - what one server offers: its words about itself and its lists, live or remembered.
 * A value: made whole, shared by count, never changed.
 */
#ifndef MP_OFFER_H
#define MP_OFFER_H

#include "base/base.h"
#include "client/catalog.h"
#include "client/upstream.h"
#include "store/definitions.h"

struct mp_offer_list {
	unsigned refs;
	struct mp_catalog_list list;
	const char *problem; /* why it could not be had, and is empty; NULL: it could */
};

/* The texts of a hello, shared by the offers of one life. */
struct mp_offer_words {
	unsigned refs;
	struct mp_arena arena;
};

struct mp_offer {
	unsigned refs;
	struct mp_offer_words *words;
	struct mp_hello hello;                         /* texts in words */
	struct mp_offer_list *lists[MP_CATALOG_COUNT]; /* never NULL; shared between offers */
	int64_t saved_ms;                              /* remembered since; 0: live */
};

struct mp_offer *mp_offer_ref(struct mp_offer *o);
struct mp_offer *mp_offer_unref(struct mp_offer *o); /* accepts NULL, returns NULL */

/* Is it the same, item by item, in any order? (C17) Without memory to find out: no. */
bool mp_offer_list_equals(const struct mp_catalog_list *a, const struct mp_catalog_list *b);
/* A new offer like this one, with another list in the place of its kind; takes over list. */
struct mp_offer *mp_offer_replace(const struct mp_offer *o, struct mp_offer_list *list);
struct mp_offer_list *mp_offer_list_new(enum mp_catalog_kind kind); /* empty, one reference */
struct mp_offer_list *mp_offer_list_unref(struct mp_offer_list *l); /* accepts NULL */
/* Note why it could not be had; whatever is in it goes. */
void mp_offer_list_blame(struct mp_offer_list *l, const struct mcpool_error *why);
/* hello is copied, four empty lists are there; NULL: there is no memory for its texts. */
struct mp_offer *mp_offer_new(const struct mp_hello *hello) MP_MUST;

/* offer: the callee's (one reference), or NULL with an error. */
typedef void (*mp_offer_fn)(struct mp_offer *offer, const struct mcpool_error *error, void *u);
struct mp_offer_fetch;
/*
 * Ask a ready upstream for all its lists at once. Without tools/list there is no offer (E69); of
 * the other lists a failure is noted in the list's problem. skipped: see mp_pool_options. fn runs
 * once, from the loop, unless the return value is negative.
 */
int mp_offer_fetch(struct mp_upstream *up, struct mp_loop *loop, int64_t timeout_ms,
		   unsigned skipped, mp_offer_fn fn, void *u,
		   struct mp_offer_fetch **ret_fetch) MP_MUST;
/* fn stays silent. Before the upstream goes. */
void mp_offer_abandon(struct mp_offer_fetch *f);

/*
 * As the store keeps it: views of text, which stays the caller's. MCPOOL_ELIMIT for what could not
 * be read back, MCPOOL_ENOMEM.
 */
int mp_offer_to_definition(const struct mp_offer *o, struct mp_buf *text,
			   struct mp_definition *ret) MP_MUST;
/* The store is trusted no more than a server is: what is not exactly as we write it is an error. */
int mp_offer_from_definition(const struct mp_definition *d, struct mp_offer **ret,
			     struct mcpool_error *reterr) MP_MUST;

/* To the store, queued; whatever fails there is forgotten (A59). */
void mp_offer_save(const struct mp_offer *o, struct mp_db *db, const struct mp_definition_key *key,
		   int64_t wall_ms);
/* From the store; NULL: nothing usable is there. */
struct mp_offer *mp_offer_load(struct mp_db *db, const struct mp_definition_key *key,
			       int64_t wall_ms);

#endif
