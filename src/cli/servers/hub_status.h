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

struct mp_hub_client;

/* An empty one, for mp_hub_status_take(). */
void mp_hub_status_init(struct mp_hub_status *h);
/* Parameters of mcpool/status for all of it, newly measured. */
#define MP_HUB_STATUS_MEASURED "{\"usage\":true}"
/* Read the answer in h->text. */
int mp_hub_status_read(struct mp_hub_status *h, struct mcpool_error *reterr) MP_MUST;
/* The hub, all servers and sessions, newly measured, over an open connection. */
int mp_hub_status_take(struct mp_hub_status *h, struct mp_hub_client *c,
		       struct mcpool_error *reterr) MP_MUST;

/* The same of these servers alone, all about each. n: at least 1. */
int mp_hub_status_take_some(struct mp_hub_status *h, struct mp_hub_client *c,
			    const char *const *names, size_t n,
			    struct mcpool_error *reterr) MP_MUST;

/*
 * Ask the hub, unless the options name files (--config), which the hub does not use.
 * name: only this server, with what it said of itself; NULL: all.
 */
void mp_hub_status_ask(struct mp_hub_status *h, const struct mp_cli_args *args, const char *name);
void mp_hub_status_done(struct mp_hub_status *h); /* accepts a zeroed one */
/* NULL: no hub runs, or the server is unknown to it. */
const struct mp_status *mp_hub_status_find(const struct mp_hub_status *h, const char *server);

/* Say that the hub does not have it, and which it perhaps is. */
void mp_hub_status_tell_unknown(const char *server);

/* Members of an object of the answer, as `hub` or one of `sessions`; "" and -1: none. */
struct mp_str mp_hub_status_get_text(struct mp_hub_status *h, mp_value object, const char *key);
int64_t mp_hub_status_get_number(const struct mp_hub_status *h, mp_value object, const char *key);

/* Lines of `status NAME` and `get`: one title with its text; those about a server's life. */
void mp_hub_status_print_line(const char *title, struct mp_str text);
void mp_hub_status_print_life(const struct mp_status *s);

/* `trust --projects always` holds. */
void mp_hub_status_tell_projects(void);

/* No hub answered: say why, if one runs nevertheless. why: of mp_hub_client_open(). */
void mp_hub_status_tell_silence(const struct mcpool_error *why);
/* A file that cannot be read, and what the hub does meanwhile. MP_EXIT_DONE: none. */
int mp_hub_status_tell_problem(struct mp_hub_status *h);
/* False: no hub runs or it cannot be asked; nothing was printed. */
bool mp_hub_status_show_one(const char *name, bool json, int *ret_exit_code);

#endif
