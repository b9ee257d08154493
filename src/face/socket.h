/*
 * socket.h - the unix socket: bridges, which connect an agent, and the command line
 * (doc/protocol.md, "Hub socket"). Only processes of this user are accepted, by their peer
 * credentials (V18).
 */
#ifndef MP_SOCKET_H
#define MP_SOCKET_H

#include "base/base.h"
#include "base/buf.h"
#include "hub/hub.h"
#include "json/write.h"

struct mp_socket_face;

struct mp_socket_hooks {
	/*
	 * A peer asks the hub to stop. drain: open requests may finish; replace: another hub waits
	 * for the socket, so hand it over before that. Must not close connections during the call.
	 * False: the hub keeps running, because its successor would lack its options.
	 */
	bool (*stop)(void *u, bool drain, bool replace);
	/* Adds members to the object `hub` of a status: other listeners. May be NULL. */
	void (*describe)(void *u, struct mp_writer *w);
	/* Adds the address that logs a browser in to the dashboard, once. May be NULL. */
	int (*open_dashboard)(void *u, struct mp_buf *url, struct mcpool_error *reterr);
};

/* listener: a listening, non-blocking socket; borrowed until mp_socket_face_close(). */
struct mp_socket_face *mp_socket_face_open(struct mp_hub *hub, int listener,
					   const struct mp_socket_hooks *hooks, void *u);
/* Accept no new peers. */
void mp_socket_face_close(struct mp_socket_face *f);
/* Accept from this socket, after mp_socket_face_close(). Borrowed as above. */
void mp_socket_face_listen(struct mp_socket_face *f, int listener);
/*
 * Tell bridges that the hub is shutting down, so that they send no new requests. replaced: a newer
 * hub takes over, and bridges should look for it now.
 */
void mp_socket_face_announce(struct mp_socket_face *f, bool replaced);
/* Tell all peers that the hub exits, and disconnect them after what they sent is handled. */
void mp_socket_face_dismiss(struct mp_socket_face *f);
/* At once. Accepts NULL, returns NULL. */
struct mp_socket_face *mp_socket_face_free(struct mp_socket_face *f);
size_t mp_socket_face_count(const struct mp_socket_face *f); /* connected peers */

/* For tests: accept the peer at the other end of fd, which is taken. */
void mp_socket_face_admit(struct mp_socket_face *f, int fd);

#endif
