/*
 * otlp_text.h - spans of calls as OTLP has them in JSON (ExportTraceServiceRequest).
 * Ids are lower-case hexadecimal, times are strings of nanoseconds, kind and status are numbers.
 */
#ifndef MP_OTLP_TEXT_H
#define MP_OTLP_TEXT_H

#include "base/base.h"
#include "base/buf.h"
#include "pool/call_log.h"

/* Append one span; a call without a trace begins one. */
int mp_otlp_add_span(struct mp_buf *out, const struct mp_call_record *r) MP_MUST;
/* The body of a request with these spans, which have commas between them. */
int mp_otlp_write_request(struct mp_buf *out, const char *service, struct mp_str spans) MP_MUST;

#endif
