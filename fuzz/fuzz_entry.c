/*
 * fuzz_entry.c - any JSON as an entry of any tool: it is read or it says why not, its canonical
 * form is its own canonical form, and what we write of a valid one reads back as valid.
 */
#include "fuzz.h"

#include "base/limits.h"
#include "config/values/effective.h"
#include "config/values/expand.h"
#include "config/read/import.h"
#include "config/values/scripts.h"

static unsigned problems;

static void count(const struct mp_bind_problem *p, void *u)
{
	(void)u;
	FUZZ_CHECK(p->message && p->message[0]);
	problems++;
}

static struct mp_entry *read_entry(const struct mp_tape *t, const struct mp_origin *origin,
				   const struct mp_settings *s, struct mp_arena *arena)
{
	struct mp_entry *e = NULL;
	int r = mp_entry_read(MP_STR("x"), t, MP_ROOT, origin, s, arena, count, NULL, &e);

	FUZZ_CHECK(r == 0 || r == MCPOOL_ELIMIT);
	return r == 0 ? e : NULL;
}

static void check_canonical(struct mp_str once)
{
	struct mcpool_error error;
	struct mp_tape t;
	struct mp_buf twice;

	mp_tape_init(&t, 0);
	mp_buf_init(&twice, MP_MIB(64));
	FUZZ_CHECK(mp_tape_parse(&t, once, NULL) == 0);
	FUZZ_CHECK(mp_canonical_add(&t, MP_ROOT, &twice, &error) == 0);
	FUZZ_CHECK(mp_str_eq(once, mp_buf_get(&twice)));
	mp_buf_done(&twice);
	mp_tape_done(&t);
}

static void check_shape(const struct mp_entry *e)
{
	FUZZ_CHECK((e->kind == MP_KIND_STDIO) == (e->argv != NULL));
	FUZZ_CHECK((e->kind == MP_KIND_STDIO) == (e->address == NULL));
	if (e->argv) {
		FUZZ_CHECK(e->argc > 0 && e->argv[0][0] && !e->argv[e->argc]);
		for (size_t i = 0; i < e->argc; i++)
			FUZZ_CHECK(e->argv[i]);
	}
	FUZZ_CHECK(e->tuning.timeout_ms >= 0 && e->tuning.tool_timeout_ms >= 0);
	FUZZ_CHECK(e->tuning.idle_ms >= 0 && e->tuning.restart.n_schedule > 0);
	FUZZ_CHECK(e->canonical.len > 0 && e->connection.len > 0 && e->endpoint.len > 0);
}

static void check_effective(const struct mp_entry *e)
{
	struct mp_buf text;

	mp_buf_init(&text, MP_MIB(64));
	FUZZ_CHECK(mp_effective_add(e, &text) == 0);
	mp_buf_done(&text);
}

/* Our shape of a valid entry is valid, of the same kind, and has nothing that is told. */
static void check_own(const struct mp_entry *e, const struct mp_settings *s, struct mp_arena *arena)
{
	struct mp_config_set set = {.home = "/home/x", .root = "/p", .cwd = "/p"};
	struct mp_origin ours = {.file = "/o",
				 .real = "/o",
				 .tool = "mcpool",
				 .label = "mcpool",
				 .root = "",
				 .scope = "",
				 .spellings = MP_EXPAND_VARIABLE,
				 .quirks = MP_QUIRK_OWN | MP_QUIRK_COMMANDS};
	struct mcpool_error error;
	struct mp_tape t;
	struct mp_buf text;
	struct mp_entry *again;
	int r;

	mp_tape_init(&t, 0);
	mp_buf_init(&text, MP_MIB(64));
	r = mp_import_write_entry(&set, e, e->tuning.timeout_ms % 2, &text, &error);
	FUZZ_CHECK(r == 0 || (error.code == r && error.message[0]));
	if (r == 0) {
		FUZZ_CHECK(mp_tape_parse(&t, mp_buf_get(&text), NULL) == 0);
		problems = 0;
		again = read_entry(&t, &ours, s, arena);
		if (again) {
			if (again->invalid)
				fprintf(stderr, "%s\n%.*s\n", again->invalid,
					MP_STR_ARGS(mp_buf_get(&text)));
			FUZZ_CHECK(!again->invalid && problems == 0);
			FUZZ_CHECK(again->kind == e->kind && again->enabled == e->enabled);
			FUZZ_CHECK(again->argc == e->argc);
		}
	}
	mp_buf_done(&text);
	mp_tape_done(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const unsigned spellings[] = {0, MP_EXPAND_VARIABLE,
					     MP_EXPAND_ENV | MP_EXPAND_FOLDERS, MP_EXPAND_BRACES};
	struct fuzz_input in = {data, size};
	uint8_t choice = fuzz_byte(&in);
	struct mp_origin origin = {.file = "/p/d/f",
				   .real = "/p/d/f",
				   .tool = "t",
				   .label = "T",
				   .root = choice & 64 ? "/p" : "",
				   .scope = "",
				   .spellings = spellings[choice >> 5 & 3],
				   .quirks = choice & 31};
	struct mp_settings settings;
	struct mp_arena arena;
	struct mp_tape t;
	struct mp_entry *e;

	mp_arena_init(&arena, MP_MIB(16));
	mp_tape_init(&t, MP_TAPE_JSONC);
	FUZZ_CHECK(mp_settings_init(&settings, &arena) == 0);
	if (mp_tape_parse(&t, fuzz_rest(&in), NULL) == 0) {
		e = read_entry(&t, &origin, &settings, &arena);
		if (e && e->canonical.len)
			check_canonical(e->canonical);
		if (e && !e->invalid) {
			check_shape(e);
			check_effective(e);
			check_own(e, &settings, &arena);
		}
	}
	mp_tape_done(&t);
	mp_arena_done(&arena);
	return 0;
}
