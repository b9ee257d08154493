/*
 * log.h - levels, object prefixes, secrets shown as dots.
 * A line starts with its object, `files#3` or `session 12`, then says what happened. Whatever is
 * logged is redacted first, whatever its source.
 */
#ifndef MP_LOG_H
#define MP_LOG_H

#include <stdatomic.h>

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"

enum mp_level {
	MP_LEVEL_TRC, /* every step: state changes, bytes, lists */
	MP_LEVEL_VRB, /* what a curious operator wants: filters, latencies */
	MP_LEVEL_INF, /* what a user wants to know happened */
	MP_LEVEL_WRN, /* it went wrong and mcpool goes on */
	MP_LEVEL_ERR, /* it failed, and users are affected */
	MP_LEVEL_OFF,
};

/* The voice of one object. */
struct mp_log {
	char object[64]; /* "files#3"; cut if longer */
};

struct mp_log_line {
	enum mp_level level;
	int64_t wall_ms;    /* since 1970, UTC */
	const char *object; /* redacted, as others choose names; "" where there is none */
	const char *text;   /* redacted, one line, no control characters, ends in NUL */
};
typedef void (*mp_log_fn)(const struct mp_log_line *line, void *u);

void mp_log_init(struct mp_log *log, const char *format, ...) MP_PRINTF(2, 3);

/*
 * Where lines go; fn NULL: to stderr. Called for one line at a time, from any thread; the line is
 * valid during the call only. What the sink itself logs is dropped.
 */
void mp_log_set_sink(mp_log_fn fn, void *u);
void mp_log_set_level(enum mp_level least);
const char *mp_level_get_name(enum mp_level level); /* "WRN" */

extern _Atomic int mp_log_least; /* what mp_log_set_level() said */
static inline bool mp_log_wants(enum mp_level level)
{
	return (int)level >= atomic_load_explicit(&mp_log_least, memory_order_relaxed);
}
/* log may be NULL. */
void mp_log_write(const struct mp_log *log, enum mp_level level, const char *format, ...)
	MP_PRINTF(3, 4);

/* Arguments are not evaluated when the level is off. */
#define MP_LOG_AT(log, level, ...)                                 \
	do {                                                       \
		if (mp_log_wants(level))                           \
			mp_log_write((log), (level), __VA_ARGS__); \
	} while (0)
#define mp_log_trace(log, ...)   MP_LOG_AT(log, MP_LEVEL_TRC, __VA_ARGS__)
#define mp_log_verbose(log, ...) MP_LOG_AT(log, MP_LEVEL_VRB, __VA_ARGS__)
#define mp_log_info(log, ...)    MP_LOG_AT(log, MP_LEVEL_INF, __VA_ARGS__)
#define mp_log_warn(log, ...)    MP_LOG_AT(log, MP_LEVEL_WRN, __VA_ARGS__)
#define mp_log_error(log, ...)   MP_LOG_AT(log, MP_LEVEL_ERR, __VA_ARGS__)

#endif
