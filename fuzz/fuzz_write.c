/*
 * fuzz_write.c - the builder: whatever sequence of calls, the text parses and says what was said.
 * The input is a little program; each instruction also goes into a list of what must come back.
 */
#include "fuzz.h"
#include "base/buf.h"
#include "json/value.h"
#include "json/write.h"

struct said {
	enum mp_tape_type type;
	struct mp_str text; /* STRING: as given, before U+FFFD */
	double number;
};

enum { MAX_SAID = 400 };
static struct said said[MAX_SAID];
static size_t n_said;

static void say(struct said s)
{
	if (n_said < MAX_SAID)
		said[n_said++] = s;
}

static void write_scalar(struct mp_writer *w, struct fuzz_input *in)
{
	struct mp_str s;
	int64_t i = 0;
	double f = 0;

	switch (fuzz_byte(in) % 5) {
	case 0:
		say((struct said){.type = MP_TAPE_NULL});
		mp_write_null(w);
		break;
	case 1:
		say((struct said){.type = MP_TAPE_TRUE});
		mp_write_bool(w, true);
		break;
	case 2:
		s = fuzz_take(in, 8);
		memcpy(&i, s.p, s.len);
		say((struct said){.type = MP_TAPE_NUMBER, .number = (double)i});
		mp_write_i64(w, i);
		break;
	case 3:
		s = fuzz_take(in, 8);
		memcpy(&f, s.p, s.len);
		say(__builtin_isfinite(f) ? (struct said){.type = MP_TAPE_NUMBER, .number = f}
					  : (struct said){.type = MP_TAPE_NULL});
		mp_write_f64(w, f);
		break;
	default:
		s = fuzz_take(in, fuzz_byte(in));
		say((struct said){.type = MP_TAPE_STRING, .text = s});
		mp_write_text(w, s);
	}
}

static void write_any(struct mp_writer *w, struct fuzz_input *in, unsigned depth)
{
	uint8_t what = fuzz_byte(in);
	unsigned n = what >> 4;

	if ((what & 3) < 2 || depth == 0 || n_said > MAX_SAID / 2) {
		write_scalar(w, in);
	} else if ((what & 3) == 2) {
		say((struct said){.type = MP_TAPE_ARRAY});
		mp_write_begin_array(w);
		while (n--)
			write_any(w, in, depth - 1);
		mp_write_end_array(w);
	} else {
		say((struct said){.type = MP_TAPE_OBJECT});
		mp_write_begin_object(w);
		while (n--) {
			struct mp_str key = fuzz_take(in, fuzz_byte(in) % 16);

			say((struct said){.type = MP_TAPE_STRING, .text = key});
			mp_write_key(w, key);
			write_any(w, in, depth - 1);
		}
		mp_write_end_object(w);
	}
}

static void check_node(const struct mp_tape *t, mp_value v, struct mp_arena *arena)
{
	const struct said *s = &said[v];
	struct mp_str text;
	double number;

	FUZZ_CHECK(mp_value_is(t, v, s->type));
	if (s->type == MP_TAPE_NUMBER) {
		FUZZ_CHECK(mp_value_f64(t, v, &number) == 0);
		FUZZ_CHECK(memcmp(&number, &s->number, sizeof(number)) == 0);
	}
	if (s->type == MP_TAPE_STRING && mp_utf8_valid(s->text)) {
		FUZZ_CHECK(mp_value_text(t, v, arena, &text) == 0);
		FUZZ_CHECK(mp_str_eq(text, s->text));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const indents[] = {NULL, "", "  ", "\t"};
	struct fuzz_input in = {data, size};
	uint8_t style = fuzz_byte(&in);
	struct mp_arena arena;
	struct mp_writer w;
	struct mp_tape t;
	struct mp_buf out;
	int r;

	n_said = 0;
	/* Sometimes too small, so that the error has to stick. */
	mp_buf_init(&out, style & 0x80 ? fuzz_byte(&in) : MP_LIMIT_MESSAGE);
	mp_write_init(&w, &out, indents[style & 3]);
	w.spaces = style & 4;
	if (style & 8)
		w.eol = "\r\n";
	write_any(&w, &in, 20);
	r = mp_write_finish(&w);
	FUZZ_CHECK(r == 0 || r == MCPOOL_ELIMIT);
	if (r == 0 && n_said < MAX_SAID) {
		mp_arena_init(&arena, MP_LIMIT_ARENA);
		mp_tape_init(&t, 0);
		FUZZ_CHECK(mp_tape_parse(&t, mp_buf_get(&out), NULL) == 0);
		FUZZ_CHECK(t.n == n_said);
		for (mp_value v = 0; v < t.n; v++)
			check_node(&t, v, &arena);
		mp_tape_done(&t);
		mp_arena_done(&arena);
	}
	mp_buf_done(&out);
	return 0;
}
