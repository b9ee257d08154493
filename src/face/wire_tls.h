/* wire_tls.h - TLS on a wire, our end being the server's. */
#ifndef MP_WIRE_TLS_H
#define MP_WIRE_TLS_H

#include "base/base.h"
#include "face/tls_context.h"
#include "face/wire.h"

/* Takes the wire below, also where it returns NULL, for lack of memory. */
struct mp_wire *mp_wire_tls_open(const struct mp_tls_context *c, struct mp_loop *loop,
				 struct mp_wire *below);

#endif
