/*
 * launch_plan.h - the real launch operations: workers resolve values, the dialer reaches servers.
 */
#ifndef MP_LAUNCH_PLAN_H
#define MP_LAUNCH_PLAN_H

#include "base/base.h"
#include "base/loop.h"
#include "pool/launch_ops.h"

struct mp_accounts;
struct mp_launch_planner; /* owns the dialer and running `!command`s */

/* exe: the program for `exe launcher`; NULL: this program. MCPOOL_E* if there is no local key. */
int mp_launch_planner_new(struct mp_loop *loop, const char *exe,
			  struct mp_launch_planner **ret_planner,
			  struct mcpool_error *reterr) MP_MUST;
/* The same with this key of MP_LOCAL_KEY_SIZE bytes, which is copied. Reads no file. */
struct mp_launch_planner *mp_launch_planner_make(struct mp_loop *loop, const char *exe,
						 const unsigned char *key);
/* See mp_dialer_open_launcher(). */
void mp_launch_planner_open_launcher(struct mp_launch_planner *p);
/* "NAME=value" for the environment of every server; copied. Call before the first plan. */
void mp_launch_planner_mark(struct mp_launch_planner *p, const char *entry);
/* Drop plans and free transports first. Running workers finish on their own. */
struct mp_launch_planner *mp_launch_planner_free(struct mp_launch_planner *p);

/* The accounts of servers; the planner's. */
struct mp_accounts *mp_launch_planner_get_accounts(struct mp_launch_planner *p);

extern const struct mp_launch_ops mp_launch_planner_ops; /* u is the planner */

#endif
