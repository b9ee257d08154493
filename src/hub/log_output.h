/*
 * log_output.h - the log of a hub in another form than text: a JSON object a line, or entries of
 * the systemd journal with fields (doc/protocol.md, "Log").
 */
#ifndef MP_LOG_OUTPUT_H
#define MP_LOG_OUTPUT_H

#include "base/base.h"
#include "base/buf.h"
#include "base/log.h"

#define MP_JOURNAL_SOCKET "/run/systemd/journal/socket"

/*
 * From now on: JSON on stderr; or, without is_json, where stderr is the journal, entries to its
 * socket. Otherwise text, as before. False: it is text.
 */
bool mp_log_output_begin(bool is_json, const char *journal_socket);
/* Text again. */
void mp_log_output_end(void);

/* For tests: a line in each form. */
int mp_log_output_write_json(const struct mp_log_line *line, struct mp_buf *out) MP_MUST;
int mp_log_output_write_entry(const struct mp_log_line *line, struct mp_buf *out) MP_MUST;

#endif
