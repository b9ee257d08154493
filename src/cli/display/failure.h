/*
 * failure.h - reports a call without a result: as text on stderr (U23), with --json also as an
 * object on stdout (doc/protocol.md, "Errors").
 */
#ifndef MP_CLI_FAILURE_H
#define MP_CLI_FAILURE_H

#include "base/base.h"
#include "rpc/message.h"
#include "session/failed_call.h"

/* With json: {"error": {"code", "message", "data": {...}}, "ok": false, ...}. */
void mp_failure_tell(const struct mp_failed_call *f, bool json);
void mp_failure_print(const struct mp_failed_call *f); /* that object alone */
/*
 * Report the server's own error. f: its server and tool. With json: the error as the server wrote
 * it, and what we know: {"error": {...}, "failure": {...}, "ok": false, ...}.
 */
void mp_failure_tell_error(const struct mp_failed_call *f, const struct mp_message *m, bool json);

#endif
