/*
 * election.h - one hub per user: the process that holds the lock is the hub and listens on the
 * socket next to it.
 * The folder of both is private to the user; files planted there by others are refused (V20).
 */
#ifndef MP_ELECTION_H
#define MP_ELECTION_H

#include <limits.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/base.h"

enum { MP_SOCKET_PATH = 108 }; /* sizeof(sun_path) */

/* The place of this user's hub. */
struct mp_hub_place {
	char folder[PATH_MAX];
	char lock[PATH_MAX + 16];
	char socket[MP_SOCKET_PATH];
};

/*
 * From this process's environment, never from a project's: $XDG_RUNTIME_DIR/mcpool; if unset, the
 * same below /run/user/UID if that is ours and HOME is this user's home; else
 * $XDG_STATE_HOME/mcpool/run. If the socket path would be too long, a folder of the user in the
 * temporary folder. If no hub runs there, but one with the same state folder runs elsewhere
 * (hub.place in the state folder), the place of that hub: else agents that start us without
 * XDG_RUNTIME_DIR would start a second hub. MCPOOL_ENOENT without HOME. Creates nothing.
 */
int mp_hub_place_find(struct mp_hub_place *ret, struct mcpool_error *reterr) MP_MUST;
/* For tests: this folder instead of /run/user, and the home of this user. NULL: the real ones. */
void mp_hub_place_pretend(const char *logins, const char *home);
/*
 * Connect to the hub; returns a non-blocking descriptor. MCPOOL_ENOENT: no hub listens;
 * MCPOOL_EAGAIN: its backlog is full; MCPOOL_EPERM: the listener belongs to another user, nothing
 * was sent (V19).
 */
int mp_hub_place_connect(const struct mp_hub_place *p, struct mcpool_error *reterr) MP_MUST;
/* Is the lock held now, by a hub that listens or not yet? */
bool mp_hub_place_is_held(const struct mp_hub_place *p);
/* The pid written in the lock file; 0: unknown. */
pid_t mp_hub_place_get_pid(const struct mp_hub_place *p);
/* The living mcpool process that holds the lock now; 0: none. */
pid_t mp_hub_place_get_holder(const struct mp_hub_place *p);

/* A won election. */
struct mp_election {
	struct mp_hub_place place;
	int lock;           /* held while it is open; -1 */
	int listener;       /* -1 */
	bool is_given;      /* from a service manager, which owns the socket and its path */
	struct stat socket; /* the bound path; compared by identity only */
};

/*
 * Become the hub: take the lock, remove what a dead hub left, listen. given: a listening socket
 * (systemd), or -1; taken on success. A holder that does not listen is starting or shutting down:
 * wait for it up to wait_ms. MCPOOL_EEXIST: a hub is running, *ret_winner is its pid (0: unknown);
 * MCPOOL_EPERM, MCPOOL_ESYSTEM with what to do.
 */
int mp_election_stand(struct mp_election *e, int given, int64_t wait_ms, pid_t *ret_winner,
		      struct mcpool_error *reterr) MP_MUST;
/*
 * Check that lock and socket are still in place; create again what was removed, including the
 * folder. 0: nothing changed; 1: there is a new listener and the old one is closed: stop polling
 * the old one before the call. MCPOOL_EEXIST: another hub has the place; other errors: it cannot be
 * restored. In both cases the hub must exit.
 */
int mp_election_restore(struct mp_election *e, struct mcpool_error *reterr) MP_MUST;
/* False: mp_election_restore() has something to do. */
bool mp_election_is_intact(const struct mp_election *e);
/* Close the listener; the lock stays until mp_election_resign(). */
void mp_election_stop_listening(struct mp_election *e);
/*
 * Reserve the place for a newer hub that is about to start: hubs of this version and older ones
 * wait for it. Written into the lock file, so it also works for programs that do not know this hub.
 */
void mp_election_reserve(struct mp_election *e);
/* Release the lock. Accepts one that was never won, or resigned. */
void mp_election_resign(struct mp_election *e);

#endif
