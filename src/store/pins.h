/*
 * pins.h - how a server's tools looked when they were first seen, or accepted (V38).
 * A pin is a few digests; pool/pins.c decides what they cover.
 */
#ifndef MP_STORE_PINS_H
#define MP_STORE_PINS_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"
#include "store/db.h"
#include "store/digest.h"

enum { MP_PIN_PART = 16, MP_PIN_PARTS = 6, MP_PIN_SIZE = MP_PIN_PART * MP_PIN_PARTS };

/* Whose tools: the server as it was approved. */
struct mp_pins_owner {
	unsigned char bytes[MP_DIGEST_SIZE];
};
void mp_pins_name_owner(const char *server, const void *approval_id, size_t n,
			struct mp_pins_owner *ret);

/* How many there are; fn for each. Trouble with the store is an error: nothing is known then. */
typedef void (*mp_pins_fn)(void *u, struct mp_str tool, const unsigned char pin[MP_PIN_SIZE]);
int mp_pins_read(struct mp_db *db, const struct mp_pins_owner *owner, mp_pins_fn fn, void *u,
		 struct mcpool_error *reterr) MP_MUST;

/*
 * Gathered, then written together, later. A pin that is there already is replaced. An owner has
 * MP_LIMIT_PINS at most: its own oldest go. Beyond MP_LIMIT_PIN_OWNERS the owners that were written
 * longest ago lose theirs, except those that are approved and those in `used`.
 */
struct mp_pins_batch {
	struct mp_buf rows;
	struct mp_buf used; /* owners that are configured now; none: no owner is swept */
};
void mp_pins_batch_init(struct mp_pins_batch *b);
void mp_pins_batch_done(struct mp_pins_batch *b);
int mp_pins_batch_add(struct mp_pins_batch *b, struct mp_str tool,
		      const unsigned char pin[MP_PIN_SIZE]) MP_MUST;
int mp_pins_batch_use(struct mp_pins_batch *b, const struct mp_pins_owner *owner) MP_MUST;
void mp_pins_write(struct mp_db *db, const struct mp_pins_owner *owner, struct mp_pins_batch *b);

/* Accept what it offers now: forget all pins, the next list is pinned. Returns how many. */
int mp_pins_forget(struct mp_db *db, const struct mp_pins_owner *owner,
		   struct mcpool_error *reterr) MP_MUST;

#endif
