/*
 * http_sessions.h - HTTP sessions of revisions up to 2025-11-25, as their test sees them.
 */
#ifndef MP_HTTP_SESSIONS_H
#define MP_HTTP_SESSIONS_H

#include "base/base.h"

/* How long what was said is kept for a client that may not have heard it. */
#define MP_HTTP_FINISHED_MS 60000
enum { MP_HTTP_FINISHED = 64 }; /* streams of all sessions that are kept, beside that */

#endif
