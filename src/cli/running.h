/*
 * running.h - what a running hub says of the servers that this folder sees, for verbs that are
 * about files. Nothing is started for it.
 */
#ifndef MP_RUNNING_H
#define MP_RUNNING_H

#include "base/arena.h"
#include "base/buf.h"
#include "cli/cli.h"
#include "json/value.h"

struct mp_running {
	struct mp_buf text;
	struct mp_tape tape;
	struct mp_arena arena;
	bool is_there; /* a hub runs, and has answered */
};

/* Ask it, unless the options name files (--config): these are not the hub's. */
void mp_running_ask(struct mp_running *r, const struct mp_cli_args *args);
void mp_running_done(struct mp_running *r); /* zeroed ones, too */

/* MP_NONE: no hub runs, or it does not know this server. */
mp_value mp_running_find(const struct mp_running *r, const char *server);
/* A member of that one as it is written; empty: it has none. */
struct mp_str mp_running_get(const struct mp_running *r, mp_value server, const char *key);
/* A text of it; "" */
const char *mp_running_get_text(struct mp_running *r, mp_value server, const char *key);

#endif
