/*
 * hub_status.h - what a running hub says of itself and of the servers that this folder sees.
 * Nothing is started for it.
 */
#ifndef MP_HUB_STATUS_H
#define MP_HUB_STATUS_H

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "cli/cli.h"
#include "json/value.h"
#include "pool/status.h"

struct mp_hub_status {
	struct mp_buf text; /* the hub's answer */
	struct mp_tape tape;
	struct mp_arena arena;
	struct mp_status *servers; /* in the arena */
	size_t n;                  /* 0 where no hub runs */
};

/* Ask it, unless the options name files (--config): these are not the hub's. */
void mp_hub_status_ask(struct mp_hub_status *h, const struct mp_cli_args *args);
void mp_hub_status_done(struct mp_hub_status *h); /* zeroed ones, too */
/* NULL: no hub runs, or it does not know this server. */
const struct mp_status *mp_hub_status_find(const struct mp_hub_status *h, const char *server);

/* name: of one server; NULL: all. False: no hub runs, or it cannot be asked; nothing was shown. */
bool mp_hub_status_show(const char *name, bool json, int *ret_exit_code);

#endif
