/*
 * retry_watch.h - follows the files that a start needs: its command, the interpreter, the folder.
 * A start that failed for good is tried again when one of them appears or changes.
 */
#ifndef MP_RETRY_WATCH_H
#define MP_RETRY_WATCH_H

#include "base/base.h"
#include "files/follow.h"
#include "pool/launch_ops.h"

/* fn runs from the loop after each change. NULL: they cannot be followed. */
struct mp_follower *mp_retry_watch_follow(struct mp_config_watch *files,
					  const struct mp_launch_command *command,
					  mp_follower_fn fn, void *u);

#endif
