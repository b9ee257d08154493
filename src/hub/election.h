/*
 * election.h - one hub per user: whoever holds the lock is it, and listens on the socket beside.
 * The folder of both is this user's alone; what somebody planted there is refused, never used
 * (V20).
 */
#ifndef MP_ELECTION_H
#define MP_ELECTION_H

#include <limits.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/base.h"

enum { MP_SOCKET_PATH = 108 }; /* what the kernel takes, its NUL included */

/* Where the hub of this user is to be found. */
struct mp_hub_place {
	char folder[PATH_MAX];
	char lock[PATH_MAX + 16];
	char socket[MP_SOCKET_PATH];
};

/*
 * From this process's environment, never from a project's: $XDG_RUNTIME_DIR/mcpool; not set:
 * the same below /run/user/UID, where that is ours and HOME is this user's home; else
 * $XDG_STATE_HOME/mcpool/run. Where the socket's path would be too long, a folder of the user's in
 * the system's temporary one. If no hub runs there, but one with the same state folder runs
 * elsewhere (the state folder's hub.place says where), its place is returned: agents that start us
 * without XDG_RUNTIME_DIR would begin a second hub. MCPOOL_ENOENT without HOME. Nothing is made.
 */
int mp_hub_place_find(struct mp_hub_place *ret, struct mcpool_error *reterr) MP_MUST;
/* For tests: that folder instead of /run/user, and the home of this user. NULL: as it is. */
void mp_hub_place_pretend(const char *logins, const char *home);
/*
 * Who listens there: a descriptor that does not block. MCPOOL_ENOENT: nobody does; MCPOOL_EAGAIN:
 * somebody does, and has no room at this moment; MCPOOL_EPERM: it is somebody else's, and is to
 * hear nothing from us (V19).
 */
int mp_hub_place_connect(const struct mp_hub_place *p, struct mcpool_error *reterr) MP_MUST;
/* Does somebody hold the lock at this moment, whether it listens yet or not? */
bool mp_hub_place_is_held(const struct mp_hub_place *p);
/* Who holds the lock, as far as is written there; 0: it is not known. */
pid_t mp_hub_place_get_pid(const struct mp_hub_place *p);
/* The living mcpool process that holds the lock at this moment; 0: there is none. */
pid_t mp_hub_place_get_holder(const struct mp_hub_place *p);

/* A won election. */
struct mp_election {
	struct mp_hub_place place;
	int lock;           /* held while it is open; -1 */
	int listener;       /* -1 */
	bool is_given;      /* by a service manager, which keeps it, and its path */
	struct stat socket; /* the name that was bound; only its identity counts */
};

/*
 * Become the hub: take the lock, clear away what a dead one left behind, listen. given: a socket
 * that listens already (systemd), or -1; it is taken on success. A holder that does not listen is
 * about to leave, or to begin: it is given up to wait_ms. MCPOOL_EEXIST: there is one, and
 * *ret_winner is its pid (0: it does not say); MCPOOL_EPERM, MCPOOL_ESYSTEM with what to do.
 */
int mp_election_stand(struct mp_election *e, int given, int64_t wait_ms, pid_t *ret_winner,
		      struct mcpool_error *reterr) MP_MUST;
/*
 * Are lock and socket still in their place? What was removed is made again, the folder included.
 * 0: all is as it was; 1: there is a new listener, and the old one is closed: poll it no more
 * before the call. MCPOOL_EEXIST: another hub has the place; other errors: it cannot be made
 * again. Then the hub has to leave.
 */
int mp_election_restore(struct mp_election *e, struct mcpool_error *reterr) MP_MUST;
/* Is there anything to restore? */
bool mp_election_is_intact(const struct mp_election *e);
/* Nobody shall knock any more; the lock stays until mp_election_resign(). */
void mp_election_stop_listening(struct mp_election *e);
/*
 * The next hub is to be a newer one, which is about to start: hubs of this version and older ones
 * wait for it. Written into the lock, so it also holds for programs that know nothing of this hub.
 */
void mp_election_reserve(struct mp_election *e);
/* The next one may come. Accepts one that was never won, or resigned. */
void mp_election_resign(struct mp_election *e);

#endif
