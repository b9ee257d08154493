/*
 * http_face.h - the ways in over HTTP: Streamable HTTP of both eras at /mcp, HTTP+SSE at /sse,
 * WebSockets at /ws, and whether we live at /health.
 */
#ifndef MP_HTTP_FACE_H
#define MP_HTTP_FACE_H

#include "base/base.h"
#include "base/loop.h"
#include "pool/pool.h"
#include "session/lobby.h"

struct mp_http_face;

enum { MP_HTTP_ADDRESS = 300 };
#define MP_HTTP_LISTEN "127.0.0.1:7717" /* where nothing else is said */

struct mp_http_face_options {
	struct mp_loop *loop; /* borrowed, as are the next two */
	struct mp_lobby *lobby;
	struct mp_workspace *workspace; /* ready; what all who come this way see */
	/* "127.0.0.1:7717", "[::1]:0", "localhost:80", "7717"; NULL: MP_HTTP_LISTEN. Port 0: any.
	 */
	const char *listen;
	int fd;                 /* listens already (socket activation), taken; 0 and less: none */
	const char *cert, *key; /* files for TLS; NULL: none */
	const char *token_path; /* NULL: where it is kept (token.h) */
	bool no_token;          /* on this machine only */
	const char *name;       /* another name of this host; NULL: none */
};

/*
 * MCPOOL_EINVAL: no address; MCPOOL_EPERM: a token or TLS is missing where others can come;
 * MCPOOL_ESYSTEM: somebody else listens there. Words say what to do.
 */
int mp_http_face_new(const struct mp_http_face_options *o, struct mp_http_face **ret_face,
		     struct mcpool_error *reterr) MP_MUST;
/* At once; sessions end. Accepts NULL, returns NULL. */
struct mp_http_face *mp_http_face_free(struct mp_http_face *f);

/* "http://127.0.0.1:7717", the port being the one that was chosen. */
const char *mp_http_face_get_address(const struct mp_http_face *f);
/* NULL where none is needed. */
const char *mp_http_face_get_token_path(const struct mp_http_face *f);

/* Nobody new is let in; who is being answered may hear the end. Once, from the loop or at once. */
void mp_http_face_drain(struct mp_http_face *f, void (*drained)(void *u), void *u);

#endif
