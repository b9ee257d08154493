/*
 * launch_ops.h - how the pool finds out what to start, and starts it.
 * launch_plan.c is the real implementation. Tests have their own and control time, processes and
 * peers.
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
		bool is_known; /* true if the entry may run and all its values are available */
		unsigned char bytes[MP_DIGEST_SIZE];
		int code;            /* else: MCPOOL_E*; 0 if the entry may not run */
		const char *problem; /* the message; NULL if the entry may not run */
	} * of;
	size_t n;
};
struct mp_keys *mp_keys_free(struct mp_keys *keys); /* accepts NULL, returns NULL */

/* keys: owned by the callee; NULL and error if memory or a worker is missing. */
typedef void (*mp_keys_fn)(struct mp_keys *keys, const struct mcpool_error *error, void *u);

struct mp_launch_plan; /* values, environment and folder of one start; opaque */
/* error NULL: the plan can be dialled. */
typedef void (*mp_launch_plan_fn)(struct mp_launch_plan *plan, const struct mcpool_error *error,
				  void *u);

/* What a process is started with; the strings belong to the plan. */
struct mp_launch_command {
	const char *name, *cwd; /* cwd: may be NULL */
	char *const *env;
};

struct mp_launch_ops {
	/*
	 * Find the keys of all servers that may run. Starts and dials nothing. The caller keeps set
	 * and env until fn has run. fn runs once, from the loop, unless the return value is
	 * negative.
	 */
	int (*identify)(void *u, const struct mp_config_set *set, char *const *env, mp_keys_fn fn,
			void *fn_u) MP_MUST;
	/*
	 * Find out what a start of this entry needs: check the approval (MCPOOL_ENEEDS_APPROVAL),
	 * resolve its values, run its `!command`s. fn as above. set is referenced as long as
	 * needed; env belongs to the caller and outlives the plan. mark: one more "NAME=value" for
	 * the server's environment, copied; NULL: none. MCPOOL_EINVAL and MCPOOL_ENOENT are final;
	 * all other errors may be retried.
	 */
	int (*prepare)(void *u, struct mp_config_set *set, const struct mp_entry *e,
		       char *const *env, const char *mark, mp_launch_plan_fn fn, void *fn_u,
		       struct mp_launch_plan **ret_plan) MP_MUST;
	/* Makes a transport and does not start it. May be called again for the same plan. */
	int (*dial)(void *u, struct mp_launch_plan *plan, struct mp_transport **ret_transport,
		    struct mcpool_error *reterr) MP_MUST;
	/* At any time; fn does not run. Accepts NULL, returns NULL. */
	struct mp_launch_plan *(*drop)(void *u, struct mp_launch_plan *plan);
	const unsigned char *(*get_key)(const struct mp_launch_plan *plan); /* once prepared */
	/* False: it starts no process, or is not prepared. */
	bool (*get_command)(const struct mp_launch_plan *plan, struct mp_launch_command *ret);
};

#endif
