/*
 * tuning.c - how a server is run: what one layer says over another.
 */
#include "config/values/tuning.h"

#include <stdio.h>
#include <string.h>

#include "process/environment.h"
#include "rpc/message.h"

const char *const mp_modes[] = {"shared", "project", "serial", "session", NULL};
const char *const mp_starts[] = {"eager", "lazy", NULL};
const char *const mp_health_probes[] = {"ping", "listTools", NULL};
const char *const mp_era_names[] = {"auto", "legacy", "modern", NULL};
const char *const mp_timeout_orders[] = {"tool", "transport", NULL};
const char *const mp_pins_names[] = {"warn", "freeze", "off", NULL};
const char *const mp_restart_modes[] = {"relentless", "remote", "once", "none", NULL};
static const char *const callers[] = {"wait", "fail", NULL};
static const char *const on_timeouts[] = {"probe", "restart", NULL};
static const char *const environments[] = {"inherit", "minimal", "none", NULL};

#define ROW(kind, key, field, ...) MP_BIND(struct mp_restart, kind, key, field, ##__VA_ARGS__)
static const struct mp_bind_field restart_fields[] = {
	ROW(CHOICE, "mode", mode, .choices = mp_restart_modes),
	ROW(RAW, "schedule", schedule_json),
	ROW(MS, "stableMs", stable_ms, .min = 0, .max = INT32_MAX),
	ROW(CHOICE, "callers", callers, .choices = callers),
	ROW(MS, "waitMs", wait_ms, .min = 0, .max = INT32_MAX),
	ROW(I64, "attempts", attempts, .min = 1, .max = 1000),
	ROW(BOOL, "final", is_final),
	ROW(MS, "finalRetryMs", final_retry_ms, .min = 0, .max = INT32_MAX),
	ROW(BOOL, "jitter", is_jittered),
	ROW(CHOICE, "onTimeout", on_timeout, .choices = on_timeouts),
};
#undef ROW

const struct mp_bind_table mp_restart_table = {
	restart_fields,
	MP_ARRAY_LEN(restart_fields),
	offsetof(struct mp_restart, present),
};

/* --- values of more than one type ------------------------------------------------------------ */

struct finishing {
	const struct mp_tape *t;
	mp_value object;
	mp_bind_problem_fn fn;
	void *u;
};

static void tuning_tell(const struct finishing *f, mp_value object, const char *key,
			const char *message)
{
	if (f->fn)
		f->fn(&(struct mp_bind_problem){MP_BIND_TYPE,
						mp_value_get_key(f->t, object, mp_str_of(key)),
						message},
		      f->u);
}

static bool read_idle(const char *text, int64_t *ret_ms)
{
	if (strcmp(text, "keep") == 0) {
		*ret_ms = 0;
		return true;
	}
	if (strncmp(text, "idle:", 5) != 0)
		return false;
	if (mp_str_to_ms(mp_str_of(text + 5), ret_ms) == 0)
		return *ret_ms > 0;
	return mp_str_to_i64(mp_str_of(text + 5), ret_ms) == 0 && *ret_ms > 0;
}

static bool read_schedule(struct mp_restart *r, const struct mp_tape *t, mp_value list)
{
	size_t n = 0;

	if (!mp_value_is(t, list, MP_TAPE_ARRAY) || mp_value_count(t, list) == 0 ||
	    mp_value_count(t, list) > MP_SCHEDULE_MAX)
		return false;
	MP_VALUE_EACH(t, list, v) {
		if (mp_bind_read_ms(t, v, &r->schedule_ms[n]) < 0 || r->schedule_ms[n] < 0 ||
		    r->schedule_ms[n] > INT32_MAX)
			return false;
		n++;
	}
	r->n_schedule = n;
	return true;
}

static void finish_restart(struct mp_restart *r, const struct mp_restart *before,
			   const struct finishing *f)
{
	mp_value object = mp_value_get(f->t, f->object, "restart");

	if (!mp_bind_is_present(&mp_restart_table, r, "schedule"))
		return;
	if (read_schedule(r, f->t, mp_value_get(f->t, object, "schedule"))) {
		/* Delays that are written down are kept exactly. */
		if (!mp_bind_is_present(&mp_restart_table, r, "jitter")) {
			r->is_jittered = false;
			mp_bind_set_present(&mp_restart_table, r, "jitter", true);
		}
		return;
	}
	tuning_tell(
		f, object, "schedule",
		"\"schedule\" must be a list of 1 to 32 waiting times, in milliseconds or such as "
		"\"5s\"");
	memcpy(r->schedule_ms, before->schedule_ms, sizeof(r->schedule_ms));
	r->n_schedule = before->n_schedule;
	r->schedule_json = before->schedule_json;
	mp_bind_set_present(&mp_restart_table, r, "schedule", false);
}

/* An object is the variables of the server, as OpenCode and netdata write them; entry.c has it. */
static bool finish_environment(struct mp_tuning *tuning, const struct mp_tuning *before,
			       const struct finishing *f)
{
	mp_value v = mp_value_get(f->t, f->object, "environment");

	if (!mp_value_is(f->t, v, MP_TAPE_OBJECT)) {
		for (int i = 0; environments[i]; i++)
			if (mp_value_text_is(f->t, v, mp_str_of(environments[i]))) {
				tuning->environment = i;
				return true;
			}
		tuning_tell(f, f->object, "environment",
			    "\"environment\" must be \"inherit\", \"minimal\" or \"none\"");
	}
	tuning->environment = before->environment;
	tuning->environment_json = before->environment_json;
	return false;
}

static bool finish_instructions(struct mp_tuning *tuning, const struct mp_tuning *before,
				const struct finishing *f)
{
	mp_value v = mp_value_get(f->t, f->object, "instructions");
	int64_t n;

	if (mp_value_is(f->t, v, MP_TAPE_FALSE)) {
		tuning->instructions = 0;
	} else if (mp_value_is(f->t, v, MP_TAPE_TRUE)) {
		tuning->instructions = before->instructions > 0 ? before->instructions : 4000;
	} else if (mp_value_i64(f->t, v, &n) == 0 && n >= 0 && n <= INT32_MAX) {
		tuning->instructions = n;
	} else {
		tuning_tell(f, f->object, "instructions",
			    "\"instructions\" must be true, false or a number of characters");
		tuning->instructions_json = before->instructions_json;
		return false;
	}
	return true;
}

void mp_tuning_finish(struct mp_tuning *tuning, const struct mp_tuning *before,
		      const struct mp_bind_table *table, void *from, const struct mp_tape *t,
		      mp_value object, mp_bind_problem_fn fn, void *u)
{
	static const enum mp_era eras[] = {MP_ERA_BOTH, MP_ERA_LEGACY, MP_ERA_MODERN};
	struct finishing f = {t, object, fn, u};

	if (mp_bind_is_present(table, from, "residency") &&
	    !read_idle(tuning->residency, &tuning->idle_ms)) {
		tuning_tell(&f, object, "residency",
			    "\"residency\" must be \"keep\" or \"idle:\" and milliseconds or a "
			    "time such "
			    "as \"30s\"");
		tuning->residency = before->residency;
		tuning->idle_ms = before->idle_ms;
		mp_bind_set_present(table, from, "residency", false);
	}
	if (mp_bind_is_present(table, from, "shared") && !mp_bind_is_present(table, from, "mode")) {
		tuning->mode = tuning->shared ? MP_MODE_SHARED : MP_MODE_SESSION;
		mp_bind_set_present(table, from, "mode", true);
	}
	if (mp_bind_is_present(table, from, "restart"))
		finish_restart(&tuning->restart, &before->restart, &f);
	if (mp_bind_is_present(table, from, "environment") &&
	    !finish_environment(tuning, before, &f))
		mp_bind_set_present(table, from, "environment", false);
	if (mp_bind_is_present(table, from, "instructions") &&
	    !finish_instructions(tuning, before, &f))
		mp_bind_set_present(table, from, "instructions", false);
	tuning->era = (int)eras[tuning->era_choice];
}

/* --- who set what ---------------------------------------------------------------------------- */

static struct mp_provenance_row *find_row(const struct mp_provenance *p, const char *key)
{
	for (size_t i = 0; i < p->n; i++)
		if (strcmp(p->rows[i].key, key) == 0)
			return &p->rows[i];
	return NULL;
}

const char *mp_provenance_get(const struct mp_provenance *p, const char *key)
{
	const struct mp_provenance_row *row = find_row(p, key);

	return row ? row->from : NULL;
}

static int make_room(struct mp_provenance *p, size_t room, struct mp_arena *arena)
{
	struct mp_provenance_row *rows;

	if (room <= p->room)
		return 0;
	rows = mp_arena_alloc_array(arena, room, sizeof(*rows));
	if (!rows)
		return mp_arena_get_error(arena);
	if (p->n)
		memcpy(rows, p->rows, p->n * sizeof(*rows));
	p->rows = rows;
	p->room = room;
	return 0;
}

int mp_provenance_note_key(struct mp_provenance *p, const char *key, const char *from,
			   struct mp_arena *arena)
{
	struct mp_provenance_row *row = find_row(p, key);
	int r;

	if (row) {
		row->from = from;
		return 0;
	}
	r = make_room(p, p->n < p->room ? p->room : 2 * p->n + 16, arena);
	if (r < 0)
		return r;
	key = mp_arena_dup(arena, mp_str_of(key));
	if (!key)
		return mp_arena_get_error(arena);
	p->rows[p->n++] = (struct mp_provenance_row){key, from};
	return 0;
}

int mp_provenance_copy(struct mp_provenance *p, const struct mp_provenance *from,
		       struct mp_arena *arena)
{
	int r;

	*p = (struct mp_provenance){0};
	r = make_room(p, from->n + 16, arena);
	if (r < 0)
		return r;
	if (from->n)
		memcpy(p->rows, from->rows, from->n * sizeof(*p->rows));
	p->n = from->n;
	return 0;
}

int mp_provenance_note(struct mp_provenance *p, const struct mp_bind_table *table,
		       const void *bound, const char *prefix, const char *from,
		       struct mp_arena *arena)
{
	uint64_t present;
	char key[80];
	int r = 0;

	memcpy(&present, (const char *)bound + table->present, sizeof(present));
	for (size_t i = 0; i < table->n && r == 0; i++) {
		const struct mp_bind_field *f = &table->fields[i];

		if (f->alias || !(present >> i & 1))
			continue;
		snprintf(key, sizeof(key), "%s%s", prefix, f->key);
		if (f->type != MP_BIND_OBJECT) {
			r = mp_provenance_note_key(p, key, from, arena);
			continue;
		}
		snprintf(key, sizeof(key), "%s%s.", prefix, f->key);
		r = mp_provenance_note(p, f->table, (const char *)bound + f->offset, key, from,
				       arena);
	}
	return r;
}
