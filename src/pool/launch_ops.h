/*
 * launch_ops.h - how the pool finds out what to start, and starts it. launch_plan.c is the real
 * one; tests have their own, so that time, processes and peers are theirs.
 */
#ifndef MP_LAUNCH_OPS_H
#define MP_LAUNCH_OPS_H

#include "base/arena.h"
#include "base/base.h"
#include "config/values/set.h"
#include "store/digest.h"
#include "transport/transport.h"

/* The launch keys of a set, in the order of its entries. */
struct mp_keys {
	struct mp_arena arena;
	struct mp_key {
		bool is_known; /* of entries that may run and whose values are all there */
		unsigned char bytes[MP_DIGEST_SIZE];
		int code;            /* else: MCPOOL_E*, 0 for those that may not run */
		const char *problem; /* and the words; NULL for those that may not run */
	} * of;
	size_t n;
};
struct mp_keys *mp_keys_free(struct mp_keys *keys); /* accepts NULL, returns NULL */

/* keys: now the caller's; NULL and error where there was no memory or no worker. */
typedef void (*mp_keys_fn)(struct mp_keys *keys, const struct mcpool_error *error, void *u);

struct mp_launch_plan; /* what one start needs: values, environment, folder; of the implementation
			*/
/* error NULL: the plan may be dialled. */
typedef void (*mp_launch_plan_fn)(struct mp_launch_plan *plan, const struct mcpool_error *error,
				  void *u);

struct mp_launch_ops {
	/*
	 * Find the keys of all servers that may run, without running or dialling anything. set and
	 * env are the caller's and stay until fn has run: once, from the loop, never from within,
	 * unless the return value is negative.
	 */
	int (*identify)(void *u, const struct mp_config_set *set, char *const *env, mp_keys_fn fn,
			void *fn_u) MP_MUST;
	/*
	 * Find out what a start of this entry needs: is it still what was approved
	 * (MCPOOL_ENEEDS_APPROVAL), its values, its commands' answers. As above; set is referenced
	 * for as long as needed, env is the caller's and outlives the plan. MCPOOL_EINVAL and
	 * MCPOOL_ENOENT are final, all else may be tried again.
	 */
	int (*prepare)(void *u, struct mp_config_set *set, const struct mp_entry *e,
		       char *const *env, mp_launch_plan_fn fn, void *fn_u,
		       struct mp_launch_plan **ret_plan) MP_MUST;
	/* A transport for it, not yet started. May be called again for the same plan. */
	int (*dial)(void *u, struct mp_launch_plan *plan, struct mp_transport **ret_transport,
		    struct mcpool_error *reterr) MP_MUST;
	/* At any time; fn stays silent. Accepts NULL, returns NULL. */
	struct mp_launch_plan *(*drop)(void *u, struct mp_launch_plan *plan);
	const unsigned char *(*get_key)(const struct mp_launch_plan *plan); /* once prepared */
};

#endif
