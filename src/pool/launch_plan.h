/*
 * launch_plan.h - the real launch operations: values are resolved on workers, servers are reached
 * by the dialer.
 */
#ifndef MP_LAUNCH_PLAN_H
#define MP_LAUNCH_PLAN_H

#include "base/base.h"
#include "base/loop.h"
#include "pool/launch_ops.h"

struct mp_launch_planner; /* owns the dialer, and `!command`s */

/* exe: whose `launcher` is started; NULL: this program. MCPOOL_E* when there is no local key. */
int mp_launch_planner_new(struct mp_loop *loop, const char *exe,
			  struct mp_launch_planner **ret_planner,
			  struct mcpool_error *reterr) MP_MUST;
/* The same with this key of MP_LOCAL_KEY_SIZE bytes, which is copied. Nothing is read. */
struct mp_launch_planner *mp_launch_planner_make(struct mp_loop *loop, const char *exe,
						 const unsigned char *key);
/* See mp_dialer_open_launcher(). */
void mp_launch_planner_open_launcher(struct mp_launch_planner *p);
/* "NAME=value" that every server has in its environment; copied. Before the first plan. */
void mp_launch_planner_mark(struct mp_launch_planner *p, const char *entry);
/* Plans must be dropped, transports freed; workers under way finish on their own, and tell. */
struct mp_launch_planner *mp_launch_planner_free(struct mp_launch_planner *p);

extern const struct mp_launch_ops mp_launch_planner_ops; /* u is the planner */

#endif
