/*
 * fuzz_bind.c - objects to structs and back: what was read is written, and reads back the same.
 */
#include "fuzz.h"
#include "base/arena.h"
#include "base/buf.h"
#include "json/bind.h"

struct inner {
	uint64_t present;
	int64_t slots;
	const char *name;
};

struct server {
	uint64_t present;
	bool enabled;
	int64_t timeout;
	double ratio;
	const char *command;
	int mode;
	struct mp_bind_list args;
	struct mp_bind_map env;
	struct inner queue;
	struct mp_str auth;
};

static const char *const modes[] = {"shared", "project", "serial", "session", NULL};

static const struct mp_bind_field inner_fields[] = {
	MP_BIND(struct inner, I64, "slots", slots, .min = 1, .max = 64),
	MP_BIND(struct inner, TEXT, "name", name, .required = true),
};
static const struct mp_bind_table inner_table = {inner_fields, MP_ARRAY_LEN(inner_fields),
						 offsetof(struct inner, present)};

static const struct mp_bind_field fields[] = {
	MP_BIND(struct server, BOOL, "enabled", enabled, .required = true),
	MP_BIND(struct server, I64, "timeout", timeout),
	MP_BIND(struct server, I64, "timeout_ms", timeout, .alias = true),
	MP_BIND(struct server, F64, "ratio", ratio),
	MP_BIND(struct server, TEXT, "command", command),
	MP_BIND(struct server, CHOICE, "mode", mode, .choices = modes),
	MP_BIND(struct server, LIST, "args", args),
	MP_BIND(struct server, MAP, "env", env),
	MP_BIND(struct server, OBJECT, "queue", queue, .table = &inner_table),
	MP_BIND(struct server, RAW, "auth", auth),
};
static const struct mp_bind_table table = {fields, MP_ARRAY_LEN(fields),
					   offsetof(struct server, present)};

static void count_problem(const struct mp_bind_problem *p, void *u)
{
	size_t *n = u;

	FUZZ_CHECK(p->message[0] && p->at != MP_NONE);
	if (p->kind != MP_BIND_UNKNOWN)
		++*n;
}

static void write(const struct server *s, struct mp_buf *out)
{
	struct mp_writer w;

	mp_write_init(&w, out, NULL);
	mp_bind_write(&table, s, &w);
	FUZZ_CHECK(mp_write_finish(&w) == 0);
}

static void check_round_trip(const struct server *s, struct mp_arena *arena)
{
	struct mp_buf once, twice;
	struct server again = {.present = 0};
	struct mp_tape t;
	size_t problems = 0;

	mp_buf_init(&once, MP_LIMIT_MESSAGE);
	mp_buf_init(&twice, MP_LIMIT_MESSAGE);
	mp_tape_init(&t, 0);
	write(s, &once);
	FUZZ_CHECK(mp_tape_parse(&t, mp_buf_get(&once), NULL) == 0);
	FUZZ_CHECK(mp_bind_read(&table, &t, MP_ROOT, arena, &again, count_problem, &problems,
				NULL) == 0);
	FUZZ_CHECK(again.present == s->present && again.queue.present == s->queue.present);
	write(&again, &twice);
	FUZZ_CHECK(mp_str_eq(mp_buf_get(&once), mp_buf_get(&twice)));
	mp_tape_done(&t);
	mp_buf_done(&once);
	mp_buf_done(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct server lenient = {.present = 0}, strict = {.present = 0};
	size_t problems = 0;
	struct mp_arena arena;
	struct mp_tape t;
	int r;

	mp_tape_init(&t, MP_TAPE_JSONC);
	mp_arena_init(&arena, MP_LIMIT_ARENA);
	if (mp_tape_parse(&t, (struct mp_str){(const char *)data, size}, NULL) == 0) {
		r = mp_bind_read(&table, &t, MP_ROOT, &arena, &lenient, count_problem, &problems,
				 NULL);
		FUZZ_CHECK(r == (mp_value_is(&t, MP_ROOT, MP_TAPE_OBJECT) ? 0 : MCPOOL_ETYPE));
		if (r == 0) {
			r = mp_bind_read(&table, &t, MP_ROOT, &arena, &strict, NULL, NULL, NULL);
			FUZZ_CHECK((r == 0) == (problems == 0));
			check_round_trip(&lenient, &arena);
		}
	}
	mp_arena_done(&arena);
	mp_tape_done(&t);
	return 0;
}
