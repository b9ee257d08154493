/*
 * http_held.h - bytes that the hub keeps for HTTP connections: request bodies that are not complete
 * and answers that were not taken. All together have a ceiling; a client that takes its answer more
 * slowly than MP_LIMIT_HTTP_RATE is dropped.
 */
#ifndef MP_HTTP_HELD_H
#define MP_HTTP_HELD_H

#include "base/base.h"

struct mp_http_connection;
struct mp_http_service;

/*
 * Call it after bytes of this connection moved: written, taken, or received. Over the ceiling the
 * connection whose bytes did not move for longest is lost, which may be this one.
 */
void mp_http_held_note(struct mp_http_connection *c);
/* The connection closes: nothing is kept for it. */
void mp_http_held_forget(struct mp_http_connection *c);
/* Drop clients that were too slow. Returns when to look again; INT64_MAX: none has bytes to take.
 */
int64_t mp_http_held_check(struct mp_http_service *s, int64_t now_ms);

#endif
