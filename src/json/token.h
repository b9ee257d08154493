/*
 * token.h - single tokens of JSON: strings, numbers, words, comments. tape.c alone uses it.
 * Each scanner says where its token ends, or what is wrong and where. The fault CUT means that the
 * text ends within the token and might go on. Inline, because the parser spends its time here.
 */
#ifndef MP_TOKEN_H
#define MP_TOKEN_H

#include "json/scan.h"
#include "json/tape_fault.h"

/* Where a token ended, or why there is none. */
struct mp_token {
	const char *end; /* on a fault: the place of it */
	enum mp_tape_fault fault;
	uint8_t flags;
};

static inline struct mp_token mp_token_found(const char *end, uint8_t flags)
{
	return (struct mp_token){end, MP_TAPE_FAULT_NONE, flags};
}

static inline struct mp_token mp_token_faulty(const char *at, enum mp_tape_fault fault)
{
	return (struct mp_token){at, fault, 0};
}

static inline bool mp_token_is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* The escape whose backslash is at p. Lone surrogates pass: JSON.stringify() writes them. */
static inline struct mp_token mp_token_escape(const char *p, const char *end)
{
	if (end - p < 2)
		return mp_token_faulty(end, MP_TAPE_FAULT_CUT);
	switch (p[1]) {
	case '"':
	case '\\':
	case '/':
	case 'b':
	case 'f':
	case 'n':
	case 'r':
	case 't':
		return mp_token_found(p + 2, MP_TAPE_ESCAPED);
	case 'u':
		for (int i = 2; i < 6; i++) {
			if (end - p <= i)
				return mp_token_faulty(end, MP_TAPE_FAULT_CUT);
			if (!mp_token_is_hex(p[i]))
				return mp_token_faulty(p, MP_TAPE_FAULT_ESCAPE);
		}
		return mp_token_found(p + 6, MP_TAPE_ESCAPED);
	default:
		return mp_token_faulty(p, MP_TAPE_FAULT_ESCAPE);
	}
}

/* A run of characters from p that are not ASCII. */
static inline struct mp_token mp_token_utf8(const char *p, const char *end)
{
	do {
		size_t n = mp_utf8_char(p, end);

		if (n == 0)
			return mp_token_faulty(p, MP_TAPE_FAULT_UTF8);
		p += n;
	} while (p < end && (signed char)*p < 0);
	return mp_token_found(p, 0);
}

/* The rest of a string from its first byte that is not plain. */
static inline struct mp_token mp_token_odd_string(const char *p, const char *end)
{
	uint8_t flags = 0;
	struct mp_token t;

	for (; p < end && *p != '"'; p = mp_scan_plain(t.end, end)) {
		if (*p == '\\')
			t = mp_token_escape(p, end);
		else if ((signed char)*p < 0)
			t = mp_token_utf8(p, end);
		else
			t = mp_token_faulty(p, MP_TAPE_FAULT_CONTROL);
		if (t.fault)
			return t;
		flags |= t.flags;
	}
	return p < end ? mp_token_found(p + 1, flags) : mp_token_faulty(end, MP_TAPE_FAULT_CUT);
}

/* The string whose opening quote is before p. */
static inline struct mp_token mp_token_string(const char *p, const char *end)
{
	p = mp_scan_plain(p, end);
	if (MP_LIKELY(p < end && *p == '"'))
		return mp_token_found(p + 1, 0);
	return mp_token_odd_string(p, end);
}

static inline bool mp_token_is_digit(char c)
{
	return (unsigned)(unsigned char)c - '0' < 10;
}

static inline const char *mp_token_skip_digits(const char *p, const char *end)
{
	while (p < end && mp_token_is_digit(*p))
		p++;
	return p;
}

/* At least one digit from p on. */
static inline struct mp_token mp_token_digits(const char *p, const char *end, uint8_t flags)
{
	const char *behind = mp_token_skip_digits(p, end);

	if (behind > p)
		return mp_token_found(behind, flags);
	return mp_token_faulty(p, p == end ? MP_TAPE_FAULT_CUT : MP_TAPE_FAULT_NUMBER);
}

static inline struct mp_token mp_token_number(const char *p, const char *end)
{
	struct mp_token t;

	if (*p == '-')
		p++;
	if (p < end && *p == '0')
		t = mp_token_found(p + 1, MP_TAPE_WHOLE);
	else
		t = mp_token_digits(p, end, MP_TAPE_WHOLE);
	if (t.fault || t.end == end)
		return t;
	if (*p == '0' && mp_token_is_digit(*t.end))
		return mp_token_faulty(p, MP_TAPE_FAULT_NUMBER); /* a leading zero */
	if (*t.end == '.') {
		t = mp_token_digits(t.end + 1, end, 0);
		if (t.fault || t.end == end)
			return t;
	}
	if (*t.end == 'e' || *t.end == 'E') {
		p = t.end + 1;
		if (p < end && (*p == '+' || *p == '-'))
			p++;
		t = mp_token_digits(p, end, 0);
	}
	return t;
}

static inline struct mp_token mp_token_word(const char *p, const char *end, const char *word,
					    size_t len)
{
	size_t there = (size_t)(end - p);

	if (MP_LIKELY(there >= len))
		return memcmp(p, word, len) == 0 ? mp_token_found(p + len, 0)
						 : mp_token_faulty(p, MP_TAPE_FAULT_VALUE);
	return mp_token_faulty(p, memcmp(p, word, there) == 0 ? MP_TAPE_FAULT_CUT
							      : MP_TAPE_FAULT_VALUE);
}

/* The end of the comment whose first slash is at p. A line comment ends before its line does. */
static inline struct mp_token mp_token_comment(const char *p, const char *end)
{
	bool line;

	if (end - p < 2)
		return mp_token_faulty(p, MP_TAPE_FAULT_CUT);
	if (p[1] != '/' && p[1] != '*')
		return mp_token_faulty(p, MP_TAPE_FAULT_VALUE);
	line = p[1] == '/';
	for (p += 2; p < end;) {
		size_t n = mp_utf8_char(p, end);

		if (n == 0)
			return mp_token_faulty(p, MP_TAPE_FAULT_UTF8);
		if (line && (*p == '\n' || *p == '\r'))
			return mp_token_found(p, 0);
		if (!line && *p == '*' && end - p >= 2 && p[1] == '/')
			return mp_token_found(p + 2, 0);
		if (n == 1 && (unsigned char)*p < 0x20 && !mp_scan_is_space(*p))
			return mp_token_faulty(p, MP_TAPE_FAULT_CONTROL);
		p += n;
	}
	return mp_token_faulty(p, MP_TAPE_FAULT_CUT);
}

#endif
