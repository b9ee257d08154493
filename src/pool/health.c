/*
 * health.c - why a server does not work, and with which limits and which schedule it is
 * kept: what `doctor NAME` and `status NAME` show beyond the state (E75, E76).
 */
#include "pool/health.h"

#include "base/limits.h"

enum { MOST_CHANGES = 12, MOST_DELAYS = MP_SCHEDULE_MAX };

static void cause_write(struct mp_writer *w, const struct mp_symptoms *symptoms,
			struct mp_arena *arena)
{
	struct mp_cause cause;

	if (!symptoms || !mp_cause_find(symptoms, arena, &cause))
		return;
	mp_write_member_text(w, "cause", mp_str_of(cause.what));
	mp_write_member_text(w, "fix", mp_str_of(cause.fix));
	if (cause.port)
		mp_write_member_text(w, "port", mp_str_of(cause.port));
	if (cause.variable)
		mp_write_member_text(w, "variable", mp_str_of(cause.variable));
}

static void limits_write(struct mp_writer *w, const struct mp_entry *e)
{
	mp_write_key(w, MP_STR("limits"));
	mp_write_begin_object(w);
	mp_write_member_i64(w, "startMs", e->tuning.timeout_ms);
	mp_write_member_i64(w, "callMs", e->tuning.tool_timeout_ms);
	mp_write_member_i64(w, "totalMs", e->tuning.max_total_ms);
	mp_write_end_object(w);
}

/* The delays before the first, second, ... retry; the last one counts for all that follow. */
static void schedule_write(struct mp_writer *w, const struct mp_entry *e)
{
	struct mp_policy p;
	size_t n;

	mp_policy_init(&p, &e->tuning.restart, e->kind != MP_KIND_STDIO);
	n = mp_policy_get_max(&p) ? mp_policy_get_max(&p) : p.n_schedule;
	mp_write_key(w, MP_STR("restart"));
	mp_write_begin_object(w);
	mp_write_member_text(w, "mode", mp_str_of(mp_restart_modes[e->tuning.restart.mode]));
	mp_write_key(w, MP_STR("delaysMs"));
	mp_write_begin_array(w);
	for (unsigned i = 1; i <= n && i <= MOST_DELAYS && mp_policy_get_delay(&p, i) >= 0; i++)
		mp_write_i64(w, mp_policy_get_delay(&p, i));
	mp_write_end_array(w);
	mp_write_member_i64(w, "stableMs", p.stable_ms);
	mp_write_end_object(w);
}

static void probe_write(struct mp_writer *w, const struct mp_entry *e, struct mp_instance *in)
{
	const struct mp_keeper_facts *f = mp_keeper_get_facts(in->k);

	mp_write_key(w, MP_STR("probe"));
	mp_write_begin_object(w);
	mp_write_member_text(w, "kind", mp_str_of(mp_health_probes[e->tuning.health_probe]));
	mp_write_member_i64(w, "intervalMs", e->tuning.health_interval_ms);
	mp_write_member_i64(w, "sent", (int64_t)f->probe.sent);
	mp_write_member_i64(w, "failed", (int64_t)f->probe.failed);
	if (f->probe.wall_ms > 0) {
		mp_write_member_i64(w, "at", f->probe.wall_ms);
		mp_write_member_i64(w, "tookUs", f->probe.took_us);
		mp_write_member_bool(w, "answered", f->probe.is_answered);
	}
	mp_write_end_object(w);
}

static void change_write(struct mp_writer *w, const struct mp_event *e)
{
	mp_write_begin_object(w);
	mp_write_member_i64(w, "time", e->wall_ms);
	mp_write_member_text(w, "what", mp_str_of(e->what));
	mp_write_member_text(w, "text", mp_str_of(e->text));
	mp_write_end_object(w);
}

static void failing_write(struct mp_writer *w, struct mp_instance *in)
{
	const struct mp_keeper_facts *f = mp_keeper_get_facts(in->k);

	if (f->why.code)
		mp_write_member_i64(w, "failingSince", f->failing_wall_ms);
}

/* The steps of a start say no more than its end. */
static bool is_told(const struct mp_event *e, mp_id id)
{
	return e->id == id && e->kind != MP_EVENT_PREPARING && e->kind != MP_EVENT_STARTING &&
	       e->kind != MP_EVENT_LISTING && e->kind != MP_EVENT_OFFERS &&
	       e->kind != MP_EVENT_OFFERS_THE_SAME;
}

/* The oldest first. */
static void changes_write(struct mp_writer *w, const struct mp_events *events, mp_id id)
{
	uint64_t last[MOST_CHANGES] = {0}, at = 1, missed;
	const struct mp_event *e;
	size_t n = 0;

	while ((e = mp_events_read(events, &at, &missed)))
		if (is_told(e, id))
			last[n++ % MOST_CHANGES] = e->number;
	mp_write_key(w, MP_STR("changes"));
	mp_write_begin_array(w);
	for (size_t i = n > MOST_CHANGES ? n - MOST_CHANGES : 0; i < n; i++) {
		at = last[i % MOST_CHANGES];
		e = mp_events_read(events, &at, &missed);
		if (e)
			change_write(w, e);
	}
	mp_write_end_array(w);
}

struct mp_str mp_health_write(const struct mp_entry *e, struct mp_instance *in,
			      const struct mp_symptoms *symptoms, struct mp_arena *arena)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;
	const char *kept;

	mp_buf_init(&text, MP_KIB(256));
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	cause_write(&w, symptoms, arena);
	limits_write(&w, e);
	schedule_write(&w, e);
	if (in) {
		failing_write(&w, in);
		probe_write(&w, e, in);
		changes_write(&w, in->pool->o.events, in->id);
	}
	mp_write_end_object(&w);
	kept = mp_write_finish(&w) < 0 ? NULL : mp_arena_dup(arena, mp_buf_get(&text));
	return mp_str_of(kept ? kept : "");
}
