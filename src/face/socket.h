/*
 * socket.h - the unix socket: bridges, which speak for an agent, and the command line
 * (doc/protocol.md, "Hub socket"). Only processes of this user are accepted, by what the kernel
 * says of them (V18).
 */
#ifndef MP_SOCKET_H
#define MP_SOCKET_H

#include "base/base.h"
#include "hub/hub.h"
#include "json/write.h"

struct mp_socket_face;

struct mp_socket_hooks {
	/*
	 * Somebody wants the hub to stop; drain: what is open may finish; replace: the next one
	 * waits for its place and need not wait for that. Nobody is dismissed from within. False:
	 * it stays, because the next one would not be what it is.
	 */
	bool (*stop)(void *u, bool drain, bool replace);
	/* Members of the object `hub` in a status: where else it listens. May be NULL. */
	void (*describe)(void *u, struct mp_writer *w);
};

/* listener: listens, does not block; borrowed until mp_socket_face_close(). */
struct mp_socket_face *mp_socket_face_open(struct mp_hub *hub, int listener,
					   const struct mp_socket_hooks *hooks, void *u);
/* Nobody new is let in. */
void mp_socket_face_close(struct mp_socket_face *f);
/* Accept from this one; behind mp_socket_face_close(). Borrowed as above. */
void mp_socket_face_listen(struct mp_socket_face *f, int listener);
/*
 * Bridges are told that the hub is about to leave: they ask it for nothing new. replaced: a newer
 * one comes, so that they need not wait for a reason to look for it.
 */
void mp_socket_face_announce(struct mp_socket_face *f, bool replaced);
/* Everybody is told that the hub leaves, and leaves too; what they said before is not lost. */
void mp_socket_face_dismiss(struct mp_socket_face *f);
/* At once. Accepts NULL, returns NULL. */
struct mp_socket_face *mp_socket_face_free(struct mp_socket_face *f);
size_t mp_socket_face_count(const struct mp_socket_face *f); /* who is connected */

/* For tests: somebody at the other end of fd, which is taken. */
void mp_socket_face_admit(struct mp_socket_face *f, int fd);

#endif
