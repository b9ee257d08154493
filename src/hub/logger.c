/*
 * logger.c - writes the event ring into the log: attempts at WRN or ERR, failures at ERR.
 * One failure is one line at ERR: the line about the stopped instance has the trigger, and lines
 * that follow from it get a lower level.
 */
#include "hub/logger.h"

#include <string.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "config/values/settings.h"
#include "hub/log_merge.h"

struct mp_logger {
	struct mp_events *events;
	struct mp_pool *pool;
	struct mp_event_listener listener;
	struct mp_log_merge *merge;
	struct mp_map last; /* from an instance's id, as bytes, to the last row about it */
	uint64_t cursor;
	uint64_t from; /* failures before this event are reported by the gate; 0: not known yet */
};

static const struct mp_log hub_log = {"hub"};

static const struct row {
	enum mp_level level;
	const char *words;
} rows[] = {
#define E(kind, name, level, words) [MP_EVENT_##kind] = {MP_LEVEL_##level, words},
#include "base/events.def"
#undef E
};

/* --- one event ------------------------------------------------------------------------------- */

static struct mp_str key_of(const mp_id *id)
{
	return (struct mp_str){(const char *)id, sizeof(*id)};
}

/* Transitions of a server follow each other; other events about it do not count. */
static bool is_step(enum mp_event_kind kind)
{
	return kind < MP_EVENT_OFFERS;
}

/* Without memory, one more line is written. */
static void logger_remember(struct mp_logger *l, const struct mp_event *e)
{
	bool is_gone = e->kind == MP_EVENT_GONE;

	if (is_gone ||
	    (is_step(e->kind) && mp_map_set(&l->last, key_of(&e->id), (void *)&rows[e->kind]) < 0))
		(void)mp_map_remove(&l->last, key_of(&e->id));
}

/* An event that follows from a logged one gets a lower level. */
static enum mp_level lower(enum mp_event_kind kind, const struct row *before)
{
	if (kind == MP_EVENT_UP && before == &rows[MP_EVENT_CHECKING])
		return MP_LEVEL_VRB;
	if (kind == MP_EVENT_BACKOFF && before == &rows[MP_EVENT_CLEARING])
		return MP_LEVEL_VRB;
	if ((kind == MP_EVENT_FAILED || kind == MP_EVENT_BARRED) &&
	    before == &rows[MP_EVENT_CLEARING])
		return MP_LEVEL_WRN;
	return rows[kind].level;
}

/* Another attempt; log.attempts decides (X9). */
static enum mp_level get_attempt_level(const struct mp_logger *l, mp_id instance)
{
	const struct mp_settings *s = mp_pool_get_settings(l->pool, instance);

	return s && s->log.attempts == MP_LOG_ATTEMPTS_ERROR ? MP_LEVEL_ERR : MP_LEVEL_WRN;
}

static enum mp_level level_of(struct mp_logger *l, const struct mp_event *e)
{
	if (e->kind == MP_EVENT_PREPARING && e->text[0])
		return get_attempt_level(l, e->id); /* not the first one */
	if (e->kind == MP_EVENT_RELOADED && strstr(e->text, "nothing changed"))
		return MP_LEVEL_VRB; /* agents write to their files all day */
	return lower(e->kind, mp_map_get(&l->last, key_of(&e->id)));
}

/* A changed approval is not a network failure, and the gate does not report it (V38). */
static bool is_about_approval(const struct mp_event *e)
{
	return e->kind == MP_EVENT_TOOL_CHANGED || e->kind == MP_EVENT_TOOL_ADDED ||
	       e->kind == MP_EVENT_NAME_COLLISION;
}

static void write_line(struct mp_logger *l, const struct mp_event *e, enum mp_level level)
{
	const struct mp_log *known = mp_pool_get_log(l->pool, e->id);
	const char *words = rows[e->kind].words;
	struct mp_log log = {""};

	if (known)
		log = *known;
	else if (e->id)
		mp_log_init(&log, "#%llu", (unsigned long long)e->id);
	/* One network failure can hit many servers at once. */
	if (level >= MP_LEVEL_WRN && !is_about_approval(e) && mp_pool_is_remote(l->pool, e->id)) {
		mp_log_merge_say(l->merge, log.object, level, words, e->text);
		return;
	}
	mp_log_merge_release(l->merge, log.object);
	mp_log_write(&log, level, "%s%s%s", words, e->text[0] ? ": " : "", e->text);
}

/* The gate's result reports what fails before it opens, except changed approvals. */
static bool is_told_elsewhere(const struct mp_logger *l, const struct mp_event *e)
{
	return (l->from == 0 || e->number < l->from) && !is_about_approval(e);
}

static void take(struct mp_logger *l, const struct mp_event *e)
{
	enum mp_level level = level_of(l, e);

	logger_remember(l, e);
	if (mp_log_wants(level) && (level < MP_LEVEL_WRN || !is_told_elsewhere(l, e)))
		write_line(l, e, level);
}

static void read_events(void *u)
{
	struct mp_logger *l = u;
	const struct mp_event *e;
	uint64_t missed;

	while ((e = mp_events_read(l->events, &l->cursor, &missed))) {
		if (missed)
			mp_log_warn(&hub_log, "%llu events came too fast to be written down",
				    (unsigned long long)missed);
		take(l, e);
	}
}

/* --- the outside ----------------------------------------------------------------------------- */

struct mp_logger *mp_logger_new(struct mp_events *events, struct mp_pool *pool)
{
	struct mp_logger *l = mp_alloc(sizeof(*l));

	l->events = events;
	l->pool = pool;
	l->cursor = events->last + 1;
	l->merge = mp_log_merge_new(mp_pool_get_loop(pool));
	mp_map_init(&l->last, MP_LIMIT_INSTANCES);
	mp_event_listener_join(events, &l->listener, read_events, l);
	return l;
}

void mp_logger_speak(struct mp_logger *l)
{
	l->from = l->events->last + 1;
}

struct mp_logger *mp_logger_free(struct mp_logger *l)
{
	if (!l)
		return NULL;
	mp_event_listener_leave(l->events, &l->listener);
	mp_log_merge_free(l->merge);
	mp_map_done(&l->last);
	return mp_free(l);
}
