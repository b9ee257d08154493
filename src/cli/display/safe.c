/*
 * safe.c - makes text from servers safe for a terminal (V40).
 */
#include "cli/display/safe.h"

#include <stdlib.h>
#include <string.h>
#include <wchar.h>

/* Characters that reorder, hide or join text: bidirectional controls, zero-width characters,
 * tags. */
static const struct {
	uint32_t first, last;
} tricks[] = {
	{0x80, 0x9f},       /* C1 controls; 0x9b is an escape sequence of its own */
	{0xad, 0xad},       /* soft hyphen */
	{0x034f, 0x034f},   /* combining grapheme joiner */
	{0x061c, 0x061c},   /* Arabic letter mark */
	{0x115f, 0x1160},   /* Hangul fillers */
	{0x17b4, 0x17b5},   /* invisible Khmer vowels */
	{0x180b, 0x180f},   /* Mongolian selectors */
	{0x200b, 0x200f},   /* zero width, direction marks */
	{0x2028, 0x202e},   /* line and paragraph separators, embeddings, overrides */
	{0x2060, 0x206f},   /* word joiner, isolates, deprecated controls */
	{0x3164, 0x3164},   /* Hangul filler */
	{0xfe00, 0xfe0e},   /* variation selectors, but for the one of emoji */
	{0xfeff, 0xfeff},   /* byte order mark */
	{0xffa0, 0xffa0},   /* half width Hangul filler */
	{0xfff0, 0xfffb},   /* interlinear annotations */
	{0x13430, 0x1345f}, /* Egyptian hieroglyph format controls */
	{0x1bca0, 0x1bca3}, /* shorthand format controls */
	{0x1d159, 0x1d159}, /* musical symbol null notehead */
	{0x1d173, 0x1d17a}, /* musical format controls */
	{0xe0000, 0xe0fff}, /* tags: can encode invisible sentences */
};

static bool plays_tricks(uint32_t c)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(tricks); i++)
		if (c >= tricks[i].first && c <= tricks[i].last)
			return true;
	return false;
}

static uint32_t safe_decode(const char *p, size_t len)
{
	static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	uint32_t c = (unsigned char)p[0] & masks[len];

	for (size_t i = 1; i < len; i++)
		c = c << 6 | ((unsigned char)p[i] & 0x3f);
	return c;
}

static bool is_space(uint32_t c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static int add_char(struct mp_buf *out, const char *p, size_t len, enum mp_safe_kind kind)
{
	uint32_t c = safe_decode(p, len);

	if (kind == MP_SAFE_TEXT && (c == '\n' || c == '\t'))
		return mp_buf_add_char(out, (char)c);
	if (c < 0x20 || c == 0x7f)
		return mp_buf_addf(out, "\\x%02x", (unsigned)c);
	if (plays_tricks(c))
		return mp_buf_addf(out, "\\u{%x}", (unsigned)c);
	return mp_buf_add(out, p, len);
}

int mp_safe_add(struct mp_buf *out, struct mp_str text, enum mp_safe_kind kind)
{
	const char *p = text.len ? text.p : "";
	const char *end = p + text.len;
	int r = 0;

	while (p < end && r == 0) {
		size_t len = mp_utf8_char(p, end);

		if (len == 0) {
			r = mp_buf_add_str(out, MP_STR("\xef\xbf\xbd"));
			p++;
		} else if (kind == MP_SAFE_LINE && is_space((unsigned char)*p)) {
			while (p < end && is_space((unsigned char)*p))
				p++;
			r = mp_buf_add_char(out, ' ');
		} else if (*p == '\r' && p + 1 < end && p[1] == '\n') {
			p++; /* CRLF is one line break */
		} else {
			r = add_char(out, p, len, kind);
			p += len;
		}
	}
	return r;
}

/* --- words ----------------------------------------------------------------------------------- */

/* Blanks of another width look like none, or like several. */
static bool is_odd_blank(uint32_t c)
{
	return c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x202f ||
	       c == 0x205f || c == 0x2800 || c == 0x3000;
}

/* before: the preceding byte, 0 for none. A row of blanks could push the rest out of sight. */
static int add_visible(struct mp_buf *out, const char *p, size_t len, char before, bool quoted)
{
	static const char breaks[] = "\n\r\t", names[] = "nrt";
	const char *at = memchr(breaks, p[0], sizeof(breaks) - 1);
	uint32_t c = safe_decode(p, len);

	if (at)
		return mp_buf_addf(out, "\\%c", names[at - breaks]);
	if (quoted && (c == '"' || c == '\\'))
		return mp_buf_addf(out, "\\%c", p[0]);
	if (c == ' ' && before == ' ')
		return mp_buf_add_str(out, MP_STR("\\x20"));
	if (is_odd_blank(c))
		return mp_buf_addf(out, "\\u{%x}", (unsigned)c);
	return add_char(out, p, len, MP_SAFE_LINE);
}

static int add_all_visible(struct mp_buf *out, struct mp_str text, bool quoted)
{
	const char *p = text.len ? text.p : "";
	const char *end = p + text.len;
	char before = 0;
	int r = 0;

	while (p < end && r == 0) {
		size_t len = mp_utf8_char(p, end);

		r = len ? add_visible(out, p, len, before, quoted)
			: mp_buf_addf(out, "\\x%02x", (unsigned)(unsigned char)*p);
		before = *p;
		p += len ? len : 1;
	}
	return r;
}

int mp_safe_add_word(struct mp_buf *out, struct mp_str word)
{
	int r = mp_buf_add_char(out, '"');

	if (r == 0)
		r = add_all_visible(out, word, true);
	return r < 0 ? r : mp_buf_add_char(out, '"');
}

int mp_safe_add_json(struct mp_buf *out, struct mp_str json)
{
	return add_all_visible(out, json, false);
}

/* --- widths ---------------------------------------------------------------------------------- */

static size_t safe_measure(struct mp_str text, size_t columns, size_t *ret_width)
{
	const char *start = text.len ? text.p : "";
	const char *p = start;
	const char *end = p + text.len;
	size_t width = 0;

	while (p < end) {
		size_t len = mp_utf8_char(p, end);
		int w = len ? wcwidth((wchar_t)safe_decode(p, len)) : 1;

		if (w > 0 && width + (size_t)w > columns)
			break;
		width += w > 0 ? (size_t)w : 0;
		p += len ? len : 1;
	}
	*ret_width = width;
	return (size_t)(p - start);
}

size_t mp_safe_get_width(struct mp_str text)
{
	size_t width;

	safe_measure(text, SIZE_MAX, &width);
	return width;
}

size_t mp_safe_cut(struct mp_str text, size_t columns)
{
	size_t width;

	return safe_measure(text, columns, &width);
}

/* As setlocale() reads it; main() sets another one for character widths. */
static const char *get_locale(void)
{
	static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

	for (size_t i = 0; i < MP_ARRAY_LEN(names); i++) {
		const char *value = getenv(names[i]);

		if (value && value[0])
			return value;
	}
	return "";
}

static bool is_plain;

void mp_safe_set_plain(void)
{
	is_plain = true;
}

bool mp_safe_is_plain(void)
{
	return is_plain;
}

bool mp_safe_has_utf8(void)
{
	const char *locale = get_locale();

	return !is_plain && strcmp(locale, "C") != 0 && strcmp(locale, "POSIX") != 0;
}

struct mp_str mp_safe_get_cut_mark(void)
{
	return mp_safe_has_utf8() ? MP_STR("\xe2\x80\xa6") : MP_STR("...");
}
