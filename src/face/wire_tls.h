/* wire_tls.h - TLS on a wire, our end being the server's. */
#ifndef MP_WIRE_TLS_H
#define MP_WIRE_TLS_H

#include "base/base.h"
#include "face/wire.h"

struct mp_wire_tls_context;

/* A certificate (with its chain) and its key, as PEM files. MCPOOL_EINVAL with words. */
int mp_wire_tls_context_new(const char *cert, const char *key,
			    struct mp_wire_tls_context **ret_context,
			    struct mcpool_error *reterr) MP_MUST;
/* Wires that were opened with it go on. Accepts NULL, returns NULL. */
struct mp_wire_tls_context *mp_wire_tls_context_free(struct mp_wire_tls_context *c);

/* Takes the wire below, also where it returns NULL, for lack of memory. */
struct mp_wire *mp_wire_tls_open(struct mp_wire_tls_context *c, struct mp_loop *loop,
				 struct mp_wire *below);

#endif
