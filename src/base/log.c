/*
 * log.c - levels, object prefixes, and the way of a line to its sink.
 * What is hidden from a line is decided in redact.c; what becomes of it, by the sink.
 */
#include "base/log.h"

#include <stdio.h>
#include <pthread.h>
#include <time.h>

#include "base/limits.h"
#include "base/redact.h"

static const char *const levels[] = {
	[MP_LEVEL_TRC] = "TRC", [MP_LEVEL_VRB] = "VRB", [MP_LEVEL_INF] = "INF",
	[MP_LEVEL_WRN] = "WRN", [MP_LEVEL_ERR] = "ERR", [MP_LEVEL_OFF] = "OFF",
};

/* Guards the sink and keeps lines whole. Recursive: a sink may hand over to another one. */
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static mp_log_fn sink;
static void *sink_data;
_Atomic int mp_log_least = MP_LEVEL_INF;

void mp_log_init(struct mp_log *log, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)mp_str_format(log->object, sizeof(log->object), format, args); /* cut is fine */
	va_end(args);
}

void mp_log_set_sink(mp_log_fn fn, void *u)
{
	pthread_mutex_lock(&lock);
	sink = fn;
	sink_data = u;
	pthread_mutex_unlock(&lock);
}

void mp_log_set_level(enum mp_level level)
{
	mp_log_least = (int)level;
}

const char *mp_level_get_name(enum mp_level level)
{
	return levels[level];
}

static void to_stderr(const struct mp_log_line *line)
{
	time_t seconds = (time_t)(line->wall_ms / 1000);
	struct tm tm;
	char when[32];

	if (!gmtime_r(&seconds, &tm) || !strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", &tm))
		when[0] = '\0';
	fprintf(stderr, "%s.%03dZ %s %s%s%s\n", when, (int)(line->wall_ms % 1000),
		mp_level_get_name(line->level), line->object, line->object[0] ? ": " : "",
		line->text);
}

static void pass_on(const struct mp_log_line *line)
{
	static _Thread_local bool inside; /* a sink that logs would hear of itself for ever */

	if (inside)
		return;
	inside = true;
	pthread_mutex_lock(&lock);
	if (sink)
		sink(line, sink_data);
	else
		to_stderr(line);
	pthread_mutex_unlock(&lock);
	inside = false;
}

static int64_t wall_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The text redacted, as a C string; one that cannot be redacted in full is not shown at all. */
static const char *log_redacted(const char *text, bool cut, struct mp_buf *out)
{
	if (mp_redact(mp_str_of(text), cut, out) < 0 || mp_buf_terminate(out) < 0)
		return "(memory did not suffice to redact this)";
	return out->data;
}

void mp_log_write(const struct mp_log *log, enum mp_level level, const char *format, ...)
{
	char text[MP_LIMIT_LOG_LINE];
	MP_CLEANUP(mp_buf_done) struct mp_buf object;
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	va_list args;
	bool whole;

	mp_buf_init(&object, 8 * sizeof(struct mp_log)); /* an escaped byte takes four, ... */
	mp_buf_init(&out, 8 * MP_LIMIT_LOG_LINE);        /* ... and dots may be added */
	if (!mp_log_wants(level))
		return;
	va_start(args, format);
	whole = mp_str_format(text, sizeof(text), format, args);
	va_end(args);
	pass_on(&(struct mp_log_line){
		.level = level,
		.wall_ms = wall_now_ms(),
		.object = log ? log_redacted(log->object, false, &object) : "",
		.text = log_redacted(text, !whole, &out),
	});
}
