/*
 * dashboard_port.h - the port that a hub without http.listen was given for its dashboard, kept so
 * that the next hub listens there again: open pages find it. It is kept as long as a login is
 * valid.
 */
#ifndef MP_DASHBOARD_PORT_H
#define MP_DASHBOARD_PORT_H

#include "base/base.h"
#include "base/str.h"

/* address: of the face, "http://127.0.0.1:7717". */
int mp_dashboard_port_keep(const char *address, struct mcpool_error *reterr) MP_MUST;
/* The address to listen on, "127.0.0.1:7717"; false: none is kept, or it is too old. */
bool mp_dashboard_port_find(int64_t wall_ms, char *out, size_t size);

#endif
