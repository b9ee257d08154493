/*
 * metric_text.h - writes metrics as Prometheus reads them (text format 0.0.4).
 * A family is its HELP and TYPE, then all its series; a series is begun, gets its labels and ends
 * with its value.
 */
#ifndef MP_METRIC_TEXT_H
#define MP_METRIC_TEXT_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"

#define MP_METRIC_TEXT_TYPE "text/plain; version=0.0.4; charset=utf-8"

struct mp_metric_text {
	struct mp_buf *out; /* borrowed */
	const char *family; /* static; NULL before the first */
	bool has_labels;    /* of the series that is being written */
	int error;          /* the first; 0: none */
};

void mp_metric_text_init(struct mp_metric_text *t, struct mp_buf *out);
/* Names and help are static, and need no escapes. type: "counter", "gauge", "histogram". */
void mp_metric_family(struct mp_metric_text *t, const char *name, const char *type,
		      const char *help);
/* suffix: "", or of a histogram "_bucket", "_sum", "_count". */
void mp_metric_begin(struct mp_metric_text *t, const char *suffix);
/* Any value; it is escaped. */
void mp_metric_label(struct mp_metric_text *t, const char *name, struct mp_str value);
/* These end the series. */
void mp_metric_count(struct mp_metric_text *t, uint64_t value);
void mp_metric_seconds(struct mp_metric_text *t, int64_t us);
/* MCPOOL_ENOMEM, MCPOOL_ELIMIT: what was written cannot be used. */
int mp_metric_text_finish(const struct mp_metric_text *t) MP_MUST;

/* Seconds as decimals without zeros at their end: "0.001024", "67.108864", "2". */
enum { MP_METRIC_SECONDS = 32 };
void mp_metric_write_seconds(int64_t us, char ret_text[MP_METRIC_SECONDS]);

#endif
