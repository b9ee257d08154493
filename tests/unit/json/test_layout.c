/* test_layout.c - what is learned from a file, and what lies around a place in it. */
#include "test.h"

#include "json/layout.h"

static void done(struct mp_layout *l)
{
	mp_tape_done(&l->tape);
}

static bool learn(struct mp_layout *l, const char *text)
{
	l->text = mp_str_of(text);
	REQUIRE(mp_tape_parse(&l->tape, l->text, NULL) == 0);
	mp_layout_learn(l);
	return true;
}

TEST(habits_are_learned_from_the_first_place_that_shows_them)
{
	static const struct {
		const char *text, *indent, *eol;
		bool on_lines, spaces;
	} rows[] = {
		{"{}", "  ", "\n", true, true},
		{"{\"a\":1}", "  ", "\n", false, false},
		{"{\"a\": 1}", "  ", "\n", false, true},
		{"{\n\t\"a\":1\n}", "\t", "\n", true, false},
		{"{\r\n    \"a\": 1\r\n}", "    ", "\r\n", true, true},
		{"{\r \"a\": 1\r}", " ", "\r", true, true},
		{"{ \"a\": {\n   \"b\": 1 } }", "   ", "\n", true, true},
		{"[\n[\n  1]]", "  ", "\n", true, true},
		{"{\n  // only a comment\n}", "  ", "\n", true, true},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		MP_CLEANUP(done) struct mp_layout l = {.eol = NULL};

		mp_tape_init(&l.tape, MP_TAPE_JSONC);
		CHECK(learn(&l, rows[i].text));
		CHECK_TEXT(l.indent, rows[i].indent);
		CHECK_TEXT(l.eol, rows[i].eol);
		CHECK_EQ(l.on_lines, rows[i].on_lines);
		CHECK_EQ(l.spaces, rows[i].spaces);
	}
}

TEST(neighbours_of_a_value_are_values)
{
	MP_CLEANUP(done) struct mp_layout l = {.eol = NULL};
	mp_value a, b;

	mp_tape_init(&l.tape, MP_TAPE_JSONC);
	CHECK(learn(&l, "{ \"a\": 1 /* , */ ,\n  \"b\": [2] }"));
	a = mp_value_get(&l.tape, MP_ROOT, "a");
	b = mp_value_get(&l.tape, MP_ROOT, "b");
	CHECK_EQ(mp_layout_first_inside(&l, MP_ROOT), a);
	CHECK_EQ(mp_layout_sibling(&l, MP_ROOT, a), b);
	CHECK_EQ(mp_layout_sibling(&l, MP_ROOT, b), MP_NONE);
	CHECK_EQ(mp_layout_sibling_before(&l, MP_ROOT, b), a);
	CHECK_EQ(mp_layout_sibling_before(&l, MP_ROOT, a), MP_NONE);
	CHECK_EQ(mp_layout_sibling_before(&l, MP_ROOT, MP_NONE), b);
	CHECK_EQ(mp_layout_start_of(&l, MP_ROOT, a), 2);
	CHECK_EQ(mp_layout_comma_behind(&l, a), 17);
	CHECK(!mp_layout_has_own_line(&l, MP_ROOT, a) && mp_layout_has_own_line(&l, MP_ROOT, b));
	CHECK_EQ(mp_layout_first_inside(&l, b), b + 1);
}

TEST(places_in_the_text)
{
	struct mp_str s = MP_STR("ab\n \t\"x\": 1, // one\n  /* two\n */ y");

	CHECK_EQ(mp_layout_line_start(s, 7), 3);
	CHECK(mp_layout_begins_line(s, 5) && !mp_layout_begins_line(s, 6));
	CHECK_STR(mp_layout_indent_at(s, 9), " \t");
	CHECK_EQ(mp_layout_skip_line_tail(s, 12), 19);
	CHECK_EQ(mp_layout_skip_comment(s, 22), 32);
	CHECK(mp_layout_is_gap(s, 2, 5) && !mp_layout_is_gap(s, 2, 6));
	CHECK(mp_layout_has_eol(s, 0, 3) && !mp_layout_has_eol(s, 3, 19));
}
