/* conn_tls.h - TLS on a conn, our end being the server's. */
#ifndef MP_CONN_TLS_H
#define MP_CONN_TLS_H

#include "base/base.h"
#include "http/tls_context.h"
#include "http/conn.h"

/* Takes the conn below, also where it returns NULL, for lack of memory. */
struct mp_conn *mp_conn_tls_open(const struct mp_tls_context *c, struct mp_loop *loop,
				 struct mp_conn *below);

#endif
