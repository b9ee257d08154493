/*
 * http_sessions.h - limits of HTTP sessions of revisions up to 2025-11-25, for their test.
 */
#ifndef MP_HTTP_SESSIONS_H
#define MP_HTTP_SESSIONS_H

#include "base/base.h"

/* How long a finished stream is kept for a client that may not have received it. */
#define MP_HTTP_FINISHED_MS 60000
enum { MP_HTTP_FINISHED = 64 }; /* and how many at most, over all sessions */

#endif
