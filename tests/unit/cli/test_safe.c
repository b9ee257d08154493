/* test_safe.c - hostile text as a terminal gets it (V40). */
#include "test.h"

#include <locale.h>

#include "cli/display/safe.h"

static const struct {
	const char *text, *safe;
} rows[] = {
	{"plain text, 100% of it", "plain text, 100% of it"},
	{"", ""},
	/* escape sequences: colours, titles, clipboard, cursor, alternate screens */
	{"\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"},
	{"\x1b]0;title\x07", "\\x1b]0;title\\x07"},
	{"\x1b]52;c;ZXZpbA==\x1b\\", "\\x1b]52;c;ZXZpbA==\\x1b\\"},
	{"\x1b]8;;http://evil\x1b\\click\x1b]8;;\x1b\\",
	 "\\x1b]8;;http://evil\\x1b\\click\\x1b]8;;\\x1b\\"},
	{"\x1bPq#0\x1b\\", "\\x1bPq#0\\x1b\\"},
	{"\x1b[2J\x1b[H", "\\x1b[2J\\x1b[H"},
	{"\x1b[?1049h", "\\x1b[?1049h"},
	{"\x1b", "\\x1b"},
	/* controls */
	{"a\bb", "a\\x08b"},
	{"\x07", "\\x07"},
	{"\x7f", "\\x7f"},
	{"a\rb", "a\\x0db"},
	/* C1 controls as UTF-8, and as bare bytes, which are no UTF-8 */
	{"\xc2\x9b"
	 "31m",
	 "\\u{9b}31m"},
	{"\x9b"
	 "31m",
	 "\xef\xbf\xbd"
	 "31m"},
	{"\xc2\x90", "\\u{90}"},
	/* direction */
	{"abc\xe2\x80\xae"
	 "def",
	 "abc\\u{202e}def"},
	{"\xe2\x81\xa6x\xe2\x81\xa9", "\\u{2066}x\\u{2069}"},
	{"\xd8\x9c", "\\u{61c}"},
	{"\xe2\x80\x8f", "\\u{200f}"},
	/* invisible characters */
	{"a\xe2\x80\x8b"
	 "b",
	 "a\\u{200b}b"},
	{"\xef\xbb\xbf", "\\u{feff}"},
	{"\xc2\xad", "\\u{ad}"},
	{"\xf3\xa0\x81\x81", "\\u{e0041}"},
	{"\xf3\xa0\x84\x80", "\\u{e0100}"},
	{"\xe2\x80\xa8", "\\u{2028}"},
	{"\xe3\x85\xa4", "\\u{3164}"},
	/* invalid UTF-8 */
	{"\xff\xfe", "\xef\xbf\xbd\xef\xbf\xbd"},
	{"\xc0\x9b", "\xef\xbf\xbd\xef\xbf\xbd"},
	{"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
	{"cut \xe2\x82", "cut \xef\xbf\xbd\xef\xbf\xbd"},
	/* what is fine */
	{"Grüße, 世界, 🙂", "Grüße, 世界, 🙂"},
	{"❤️", "❤️"},
};

TEST(nothing_is_obeyed)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		MP_CLEANUP(mp_buf_done) struct mp_buf out;

		mp_buf_init(&out, 1000);
		CHECK_EQ(mp_safe_add(&out, mp_str_of(rows[i].text), MP_SAFE_TEXT), 0);
		CHECK_EQ(mp_buf_terminate(&out), 0);
		CHECK_TEXT(out.data, rows[i].safe);
	}
}

TEST(text_keeps_its_lines_and_a_line_is_one)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;

	mp_buf_init(&out, 1000);
	CHECK_EQ(mp_safe_add(&out, MP_STR("a\r\nb\tc\n\n d"), MP_SAFE_TEXT), 0);
	CHECK_STR(mp_buf_get(&out), "a\nb\tc\n\n d");
	mp_buf_clear(&out);
	CHECK_EQ(mp_safe_add(&out, MP_STR("a\r\nb\tc\n\n d\v\f"), MP_SAFE_LINE), 0);
	CHECK_STR(mp_buf_get(&out), "a b c d ");
}

/* attack-S16 */
TEST(format_controls_of_all_scripts_are_escaped)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;

	mp_buf_init(&out, 1000);
	CHECK_EQ(mp_safe_add_word(&out,
				  MP_STR("a \xf0\x93\x90\xb0 \xf0\x93\x91\x95 \xf0\x9d\x85\x99 b")),
		 0);
	CHECK_STR(mp_buf_get(&out), "\"a \\u{13430} \\u{13455} \\u{1d159} b\"");
}

/* Every character there is: what comes out has no control and nothing that plays tricks. */
TEST(no_character_slips_through)
{
	MP_CLEANUP(mp_buf_done)
	struct mp_buf out; /* one for all: each test is repeated per allocation */

	mp_buf_init(&out, 100);
	for (uint32_t c = 0; c < 0x110000;
	     c += c < 0x3000 || (c >= 0xe0000 && c < 0xe1000) ? 1 : 61) {
		char text[4];
		size_t n;

		if (c >= 0xd800 && c < 0xe000)
			continue;
		n = mp_utf8_encode(c, text);
		mp_buf_clear(&out);
		if (mp_safe_add(&out, (struct mp_str){text, n}, MP_SAFE_LINE) < 0)
			return;
		CHECK(mp_utf8_valid(mp_buf_get(&out)));
		for (size_t i = 0; i < out.len; i++)
			CHECK((unsigned char)out.data[i] >= 0x20 && out.data[i] != 0x7f);
		CHECK(!(out.len == 2 && (unsigned char)out.data[0] == 0xc2 &&
			(unsigned char)out.data[1] < 0xa0));
	}
}

/* V09: what is asked about can be told apart, and nothing of it is out of sight. */
TEST(words_show_their_borders)
{
	static const struct {
		const char *word, *shown;
	} words[] = {
		{"plain", "\"plain\""},
		{"", "\"\""},
		{"two words", "\"two words\""},
		{"a  b   c", "\"a \\x20b \\x20\\x20c\""},
		{"say \"hi\" \\", "\"say \\\"hi\\\" \\\\\""},
		{"a\nb\tc\rd", "\"a\\nb\\tc\\rd\""},
		{"\x1b[2K", "\"\\x1b[2K\""},
		{"a\xe2\x80\xae", "\"a\\u{202e}\""},
		{"a\xc2\xa0\xe3\x80\x80", "\"a\\u{a0}\\u{3000}\""},
		{"\xff", "\"\\xff\""},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(words); i++) {
		MP_CLEANUP(mp_buf_done) struct mp_buf out;

		mp_buf_init(&out, 1000);
		CHECK_EQ(mp_safe_add_word(&out, mp_str_of(words[i].word)), 0);
		CHECK_EQ(mp_buf_terminate(&out), 0);
		CHECK_TEXT(out.data, words[i].shown);
	}
}

TEST(json_keeps_its_quotes)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;

	mp_buf_init(&out, 1000);
	CHECK_EQ(mp_safe_add_json(&out, MP_STR("[\"a  b\\n\",\"\xe2\x80\xae\"]")), 0);
	CHECK_STR(mp_buf_get(&out), "[\"a \\x20b\\n\",\"\\u{202e}\"]");
}

TEST(widths_and_cuts)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	CHECK_EQ(mp_safe_get_width(MP_STR("abc")), 3);
	CHECK_EQ(mp_safe_get_width(MP_STR("世界")), 4);
	CHECK_EQ(mp_safe_get_width(MP_STR("e\xcc\x81")), 1); /* a combining accent */
	CHECK_EQ(mp_safe_cut(MP_STR("abcdef"), 4), 4);
	CHECK_EQ(mp_safe_cut(MP_STR("世界"), 3), 3); /* half a character is none */
	CHECK_EQ(mp_safe_cut(MP_STR("abc"), 10), 3);
	CHECK_EQ(mp_safe_cut(MP_STR("abc"), 0), 0);
}
