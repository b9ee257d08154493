/*
 * hub_status.h - the status of a running hub and of the servers of this folder.
 * Starts nothing.
 */
#ifndef MP_HUB_STATUS_H
#define MP_HUB_STATUS_H

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "cli/display/cli.h"
#include "json/value.h"
#include "pool/status.h"

struct mp_hub_status {
	struct mp_buf text; /* the hub's answer */
	struct mp_tape tape;
	struct mp_arena arena;
	struct mp_status *servers; /* in the arena */
	size_t n;                  /* 0 if no hub runs */
};

/*
 * Ask the hub, unless the options name files (--config), which the hub does not use.
 * name: only this server, with what it said of itself; NULL: all.
 */
void mp_hub_status_ask(struct mp_hub_status *h, const struct mp_cli_args *args, const char *name);
void mp_hub_status_done(struct mp_hub_status *h); /* accepts a zeroed one */
/* NULL: no hub runs, or the server is unknown to it. */
const struct mp_status *mp_hub_status_find(const struct mp_hub_status *h, const char *server);

/* Lines of `status NAME` and `get`: one title with its text; those about a server's life. */
void mp_hub_status_print_line(const char *title, struct mp_str text);
void mp_hub_status_print_life(const struct mp_status *s);

/* `trust --projects always` holds. */
void mp_hub_status_tell_projects(void);

/* name: one server; NULL: all. False: no hub runs or it cannot be asked; nothing was printed. */
bool mp_hub_status_show(const char *name, bool json, int *ret_exit_code);

#endif
