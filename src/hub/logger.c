/*
 * logger.c - writes the event ring into the log: attempts at WRN, failures at ERR.
 * One failure is one line at ERR: where something had to be taken down it stands there, with what
 * triggered it, and what is decided a moment later is told in a lower voice.
 */
#include "hub/logger.h"

#include <string.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "hub/chorus.h"

struct mp_logger {
	struct mp_events *events;
	struct mp_pool *pool;
	struct mp_listener listener;
	struct mp_chorus *chorus;
	struct mp_map last; /* id of an instance, as bytes, to the last row about it */
	uint64_t cursor;
	uint64_t from; /* what went wrong before this event is told elsewhere; 0: not yet known */
};

/* `after` is the level of an event right behind the one that `behind` names. */
struct row {
	const char *what;
	enum mp_level level;
	const char *words;
	const char *behind;
	enum mp_level after;
};

static const struct row rows[] = {
	{"preparing", MP_LEVEL_TRC, "starting", NULL, 0}, /* attempts: see level_of() */
	{"starting", MP_LEVEL_TRC, "spawned or dialled", NULL, 0},
	{"listing", MP_LEVEL_TRC, "listing what it offers", NULL, 0},
	{"up", MP_LEVEL_INF, "up", "checking", MP_LEVEL_VRB},
	{"checking", MP_LEVEL_VRB, "probing", NULL, 0},
	{"clearing", MP_LEVEL_ERR, "failed", NULL, 0},
	{"backoff", MP_LEVEL_ERR, "waiting", "clearing", MP_LEVEL_VRB},
	{"failed", MP_LEVEL_ERR, "given up", "clearing", MP_LEVEL_WRN},
	{"barred", MP_LEVEL_ERR, "waits for a person", "clearing", MP_LEVEL_WRN},
	{"stopping", MP_LEVEL_VRB, "stopping", NULL, 0},
	{"renewing", MP_LEVEL_INF, "to be started anew", NULL, 0},
	{"down", MP_LEVEL_VRB, "stopped", NULL, 0},
	{"offers", MP_LEVEL_VRB, "offers", NULL, 0},
	{"offers-the-same", MP_LEVEL_TRC, "offers the same", NULL, 0},
	{"offers-changed", MP_LEVEL_INF, "now offers", NULL, 0},
	{"left-out", MP_LEVEL_WRN, "left out of its list", NULL, 0},
	{"tool-changed", MP_LEVEL_WRN, "a tool is not what it was (pins)", NULL, 0},
	{"tool-added", MP_LEVEL_WRN, "a tool is new (pins)", NULL, 0},
	{"name-collision", MP_LEVEL_WRN, "more than one tool or prompt asks for a name", NULL, 0},
	{"refresh-failed", MP_LEVEL_WRN, "its lists could not be read again", NULL, 0},
	{"acquire-timeout", MP_LEVEL_WRN, "whoever waited for it was refused", NULL, 0},
	{"call-failed", MP_LEVEL_WRN, "a call failed", NULL, 0},
	{"namesake", MP_LEVEL_WRN, "shared with a namesake", NULL, 0},
	{"no-owner", MP_LEVEL_WRN, "refused what belongs to no session", NULL, 0},
	{"toggled", MP_LEVEL_INF, "switched", NULL, 0},
	{"idle", MP_LEVEL_INF, "idle", NULL, 0},
	{"draining", MP_LEVEL_INF, "replaced or removed", NULL, 0},
	{"gone", MP_LEVEL_INF, "gone", NULL, 0},
	{"reloaded", MP_LEVEL_INF, "configuration read again", NULL, 0},
	{"reload-failed", MP_LEVEL_ERR, "the configuration stays as it was", NULL, 0},
	{"woke-up", MP_LEVEL_INF, "the machine woke up", NULL, 0},
};

static const struct row *find_row(const char *what)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++)
		if (strcmp(rows[i].what, what) == 0)
			return &rows[i];
	return NULL;
}

/* --- one event ------------------------------------------------------------------------------- */

static struct mp_str key_of(const mp_id *id)
{
	return (struct mp_str){(const char *)id, sizeof(*id)};
}

/* Steps of a server follow each other; what only happened to it does not come between them. */
static bool is_step(const struct row *row)
{
	return row && row < find_row("offers");
}

/* Where there is no memory for it a line more is written, no less. */
static void remember(struct mp_logger *l, const struct mp_event *e, const struct row *row)
{
	if (strcmp(e->what, "gone") == 0)
		(void)mp_map_remove(&l->last, key_of(&e->id));
	else if (is_step(row) && mp_map_set(&l->last, key_of(&e->id), (void *)row) < 0)
		(void)mp_map_remove(&l->last, key_of(&e->id));
}

static enum mp_level level_of(struct mp_logger *l, const struct mp_event *e, const struct row *row)
{
	const struct row *before = mp_map_get(&l->last, key_of(&e->id));

	if (!row)
		return MP_LEVEL_VRB;
	if (strcmp(e->what, "preparing") == 0 && e->text[0])
		return MP_LEVEL_WRN; /* not the first attempt */
	if (strcmp(e->what, "reloaded") == 0 && strstr(e->text, "nothing changed"))
		return MP_LEVEL_VRB; /* agents write to their files all day */
	if (row->behind && before && strcmp(before->what, row->behind) == 0)
		return row->after;
	return row->level;
}

/* No network's fault, and nothing that a gate could tell: what was approved is another (V38). */
static bool is_about_approval(const struct mp_event *e)
{
	return strncmp(e->what, "tool-", 5) == 0 || strcmp(e->what, "name-collision") == 0;
}

static void write_line(struct mp_logger *l, const struct mp_event *e, enum mp_level level,
		       const struct row *row)
{
	const char *name = mp_pool_get_name(l->pool, e->id), *words = row ? row->words : e->what;
	struct mp_log log = {""};

	if (e->id)
		mp_log_init(&log, "%s#%llu", name ? name : "", (unsigned long long)e->id);
	/* One network may fail many servers at once. */
	if (level >= MP_LEVEL_WRN && !is_about_approval(e) && mp_pool_is_remote(l->pool, e->id)) {
		mp_chorus_say(l->chorus, log.object, level, words, e->text);
		return;
	}
	mp_chorus_release(l->chorus, log.object);
	mp_log_write(&log, level, "%s%s%s", words, e->text[0] ? ": " : "", e->text);
}

/* What is there at the gate is reported there; what changed since the last time is not. */
static bool is_told_elsewhere(const struct mp_logger *l, const struct mp_event *e)
{
	return (l->from == 0 || e->number < l->from) && !is_about_approval(e);
}

static void take(struct mp_logger *l, const struct mp_event *e)
{
	const struct row *row = find_row(e->what);
	enum mp_level level = level_of(l, e, row);

	remember(l, e, row);
	if (mp_log_wants(level) && (level < MP_LEVEL_WRN || !is_told_elsewhere(l, e)))
		write_line(l, e, level, row);
}

static void read_events(void *u)
{
	struct mp_logger *l = u;
	const struct mp_event *e;
	uint64_t missed;

	while ((e = mp_events_read(l->events, &l->cursor, &missed))) {
		if (missed)
			mp_log_warn(NULL, "%llu events came too fast to be written down",
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
	l->chorus = mp_chorus_new(mp_pool_get_loop(pool));
	mp_map_init(&l->last, MP_LIMIT_INSTANCES);
	mp_listener_join(events, &l->listener, read_events, l);
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
	mp_listener_leave(l->events, &l->listener);
	mp_chorus_free(l->chorus);
	mp_map_done(&l->last);
	return mp_free(l);
}
