/*
 * spans.h - sends a span for each call that ended to a collector: OTLP over HTTP, in JSON (keys
 * otlp.*). Spans wait in a bounded queue; what a collector does not take is counted, and said once.
 */
#ifndef MP_SPANS_H
#define MP_SPANS_H

#include "base/base.h"
#include "base/loop.h"
#include "config/values/settings.h"
#include "pool/call_log.h"

struct mp_spans;

/* For tests. */
enum { MP_SPANS_WAIT_MS = 5000, MP_SPANS_BATCH = 512, MP_SPANS_MOST = 2048 };

/*
 * settings: with an endpoint; copied. MCPOOL_EINVAL: the address of the collector is wrong, with
 * words.
 */
int mp_spans_new(struct mp_loop *loop, struct mp_call_log *calls,
		 const struct mp_otlp_settings *settings, struct mp_spans **ret_spans,
		 struct mcpool_error *reterr) MP_MUST;
/* The hub ends: send what there is, once. True: nothing is left to wait for. */
bool mp_spans_finish(struct mp_spans *s);
/* Before the log of calls is done. Accepts NULL, returns NULL. */
struct mp_spans *mp_spans_free(struct mp_spans *s);
/* Spans that no collector has. */
uint64_t mp_spans_count_lost(const struct mp_spans *s);

#endif
