/*
 * queues.c - the waiting lines that `queues` defines, and which of them a call goes through.
 * Layers are laid over each other name by name, so that a project that defines a queue takes none
 * away from the servers of its user. A later layer replaces a definition; in the netdata profile
 * the larger numbers of all files count.
 */
#include "config/values/queues.h"

#include <stdarg.h>
#include <string.h>
#include <uv.h>

#include "base/buf.h"
#include "base/limits.h"
#include "json/write.h"

enum { DEFAULT_SLOTS = 64, DEFAULT_LINE = 1024, MOST = 65536 };

static const struct mp_str default_name = {"default", 7};

static struct mp_queue_setting *queues_find(const struct mp_settings *s, struct mp_str name)
{
	for (size_t i = 0; i < s->n_queues; i++)
		if (mp_str_eq(s->queues[i].name, name))
			return &s->queues[i];
	return NULL;
}

/* --- reading -------------------------------------------------------------------------------- */

struct reading {
	const struct mp_tape *t;
	bool is_of_file;
	bool keeps_larger; /* of what files define */
	struct mp_arena *arena;
	mp_bind_problem_fn fn;
	void *u;
};

static void queues_tell(const struct reading *r, mp_value at, const char *message)
{
	if (r->fn)
		r->fn(&(struct mp_bind_problem){MP_BIND_TYPE, at, message}, r->u);
}

static int64_t read_slots(const struct reading *r, mp_value key)
{
	mp_value v = mp_value_of(key);
	int64_t n;

	if (mp_value_text_is(r->t, v, MP_STR("auto")))
		return MP_QUEUE_AUTO;
	if (mp_value_i64(r->t, v, &n) == 0 && n >= 0 && n <= MOST)
		return n;
	queues_tell(r, key,
		    "\"slots\" of a queue must be \"auto\" or a number from 0 to 65536; the "
		    "default is used");
	return MP_QUEUE_UNSAID;
}

static int64_t read_line(const struct reading *r, mp_value key)
{
	int64_t n;

	if (mp_value_i64(r->t, mp_value_of(key), &n) == 0 && n >= 0 && n <= MOST)
		return n;
	queues_tell(r, key,
		    "\"line\" of a queue must be a number from 0 to 65536; the default is used");
	return MP_QUEUE_UNSAID;
}

static void read_one(const struct reading *r, mp_value key, struct mp_queue_setting *into)
{
	mp_value object = mp_value_of(key);

	into->slots = into->line = MP_QUEUE_UNSAID;
	if (!mp_value_is(r->t, object, MP_TAPE_OBJECT))
		queues_tell(
			r, key,
			"a queue is an object with \"slots\" and \"line\"; the default is used");
	MP_VALUE_EACH(r->t, object, k) {
		if (mp_value_text_is(r->t, k, MP_STR("slots")))
			into->slots = read_slots(r, k);
		else if (mp_value_text_is(r->t, k, MP_STR("line")))
			into->line = read_line(r, k);
		else
			queues_tell(r, k, "a queue has \"slots\" and \"line\", and nothing else");
	}
}

/* The place of this name, a new one behind the others if need be; NULL past the ceiling. */
static struct mp_queue_setting *get_place(struct mp_settings *s, struct mp_str name)
{
	struct mp_queue_setting *known = queues_find(s, name);

	if (known || s->n_queues >= MP_LIMIT_LAYER_KEYS)
		return known;
	s->queues[s->n_queues] = (struct mp_queue_setting){.name = name};
	return &s->queues[s->n_queues++];
}

static size_t get_auto_slots(void)
{
	size_t slots = 2 * (size_t)uv_available_parallelism();

	return slots < DEFAULT_SLOTS ? slots : DEFAULT_SLOTS;
}

/* 0 slots are no limit. */
static int64_t weigh_slots(int64_t slots)
{
	if (slots == MP_QUEUE_AUTO)
		return (int64_t)get_auto_slots();
	return slots == 0 ? INT64_MAX : slots;
}

/* Puts a definition over the one that is there. */
static void queues_put(const struct reading *r, struct mp_queue_setting *place,
		       struct mp_queue_setting q)
{
	if (r->keeps_larger && r->is_of_file && place->is_of_file) {
		if (weigh_slots(place->slots) > weigh_slots(q.slots))
			q.slots = place->slots;
		if (place->line > q.line)
			q.line = place->line;
	}
	q.name = place->name;
	q.is_of_file = r->is_of_file;
	*place = q;
}

static int read_all(struct mp_settings *s, const struct reading *r, mp_value queues)
{
	MP_VALUE_EACH(r->t, queues, key) {
		struct mp_queue_setting *place, q;
		struct mp_str name;
		int error = mp_value_text(r->t, key, r->arena, &name);

		if (error < 0)
			return error;
		name.p = mp_arena_dup(r->arena, name); /* the file goes */
		if (!name.p)
			return mp_arena_get_error(r->arena);
		place = get_place(s, name);
		if (!place) {
			queues_tell(r, key, "there are too many queues; the rest is ignored");
			return 0;
		}
		read_one(r, key, &q);
		queues_put(r, place, q);
	}
	return 0;
}

static void write_one(const struct mp_queue_setting *q, struct mp_writer *w)
{
	mp_write_key(w, q->name);
	mp_write_begin_object(w);
	if (q->slots == MP_QUEUE_AUTO)
		mp_write_member_text(w, "slots", MP_STR("auto"));
	else if (q->slots >= 0)
		mp_write_member_i64(w, "slots", q->slots);
	if (q->line >= 0)
		mp_write_member_i64(w, "line", q->line);
	mp_write_end_object(w);
}

/* For people: what holds now. */
static int write_all(struct mp_settings *s, struct mp_arena *arena)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;
	int r;

	mp_buf_init(&text, MP_LIMIT_ARENA);
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	for (size_t i = 0; i < s->n_queues; i++)
		write_one(&s->queues[i], &w);
	mp_write_end_object(&w);
	r = mp_write_finish(&w);
	if (r < 0)
		return r;
	s->queues_json = (struct mp_str){mp_arena_dup(arena, mp_buf_get(&text)), text.len};
	return s->queues_json.p ? 0 : mp_arena_get_error(arena);
}

int mp_settings_read_queues(struct mp_settings *s, const struct mp_tape *t, mp_value queues,
			    bool is_of_file, struct mp_arena *arena, mp_bind_problem_fn fn, void *u)
{
	struct reading reading = {t, is_of_file, s->profile == MP_PROFILE_NETDATA, arena, fn, u};
	size_t more = mp_value_count(t, queues), room = s->n_queues + more;
	struct mp_queue_setting *below = s->queues;
	int r;

	if (room > MP_LIMIT_LAYER_KEYS)
		room = MP_LIMIT_LAYER_KEYS;
	s->queues = mp_arena_alloc_array(arena, room + 1, sizeof(*s->queues));
	if (!s->queues) {
		s->queues = below;
		return mp_arena_get_error(arena);
	}
	if (s->n_queues)
		memcpy(s->queues, below, s->n_queues * sizeof(*below));
	r = read_all(s, &reading, queues);
	return r < 0 ? r : write_all(s, arena);
}

/* --- asking --------------------------------------------------------------------------------- */

static void fill(struct mp_queue_definition *d, const struct mp_queue_setting *q)
{
	if (q && q->slots == MP_QUEUE_AUTO)
		d->slots = get_auto_slots();
	else if (q && q->slots >= 0)
		d->slots = (size_t)q->slots;
	if (q && q->line >= 0)
		d->line = (size_t)q->line;
}

bool mp_queues_find(const struct mp_settings *s, struct mp_str name,
		    struct mp_queue_definition *ret)
{
	const struct mp_queue_setting *q = queues_find(s, name);

	if (!q && !mp_str_eq(name, default_name))
		return false;
	*ret = (struct mp_queue_definition){q ? q->name : default_name, DEFAULT_SLOTS,
					    DEFAULT_LINE};
	fill(ret, queues_find(s, default_name));
	fill(ret, q);
	return true;
}

struct mp_str mp_queues_choose(const struct mp_entry *e, struct mp_str tool)
{
	for (size_t i = 0; tool.len && i < e->tool_queues.n; i++)
		if (mp_str_eq(mp_str_of(e->tool_queues.items[i].key), tool))
			return mp_str_of(e->tool_queues.items[i].value);
	return e->tuning.queue ? mp_str_of(e->tuning.queue) : default_name;
}

/* --- checking ------------------------------------------------------------------------------- */

static const char *MP_PRINTF(2, 3) queues_complain(struct mp_arena *arena, const char *format, ...)
{
	char text[1000];
	va_list args;

	va_start(args, format);
	(void)mp_str_format(text, sizeof(text), format, args); /* cut is fine */
	va_end(args);
	return mp_arena_dup(arena, mp_str_of(text));
}

#define ADVICE "define it in \"queues\" of the \"mcpool\" object of a file of mcpool's own"

const char *mp_queues_check(const struct mp_settings *s, const struct mp_entry *e,
			    struct mp_arena *arena)
{
	struct mp_queue_definition found;

	if (!mp_queues_find(s, mp_queues_choose(e, (struct mp_str){NULL, 0}), &found))
		return queues_complain(arena, "Server \"%s\": queue \"%s\" is not defined; " ADVICE,
				       e->name, e->tuning.queue);
	for (size_t i = 0; i < e->tool_queues.n; i++) {
		const struct mp_bind_pair *pair = &e->tool_queues.items[i];

		if (!mp_queues_find(s, mp_str_of(pair->value), &found))
			return queues_complain(arena,
					       "Server \"%s\": queue \"%s\" of tool \"%s\" is not "
					       "defined; " ADVICE,
					       e->name, pair->value, pair->key);
	}
	return NULL;
}
