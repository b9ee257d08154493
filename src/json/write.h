/*
 * write.h - builder that writes JSON straight into a buf.
 * Commas, colons and indentation come by themselves. A failure (the buf's ceiling, memory, nesting
 * past MP_LIMIT_JSON_DEPTH) sticks: later calls do nothing and mp_write_finish() reports it, so a
 * whole message is written without a check in between. Calls in an impossible order are a broken
 * promise.
 */
#ifndef MP_WRITE_H
#define MP_WRITE_H

#include "base/base.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/str.h"
#include "json/tape.h"
#include "json/value.h"

struct mp_writer {
	struct mp_buf *out; /* borrowed */
	const char *indent; /* of one level, as "  " or "\t"; NULL: all on one line */
	unsigned depth;

	/* May be changed behind mp_write_init(). */
	const char *eol;      /* where indent is given; "\n" */
	struct mp_str margin; /* before every line but the first; none */
	bool spaces;          /* behind each colon and comma; yes where indent is given */
	bool member;          /* the text is one member, key and value without the braces; no */

	uint64_t objects[2]; /* bit per level: is it an object? */
	enum {
		MP_WRITE_FIRST,    /* this level is empty so far */
		MP_WRITE_NEXT,     /* something does; a comma comes before what follows */
		MP_WRITE_KEYED,    /* a key was written, its value comes next */
		MP_WRITE_COMPLETE, /* the one value is there */
	} state;
	int error; /* the first failure */
};

void mp_write_init(struct mp_writer *w, struct mp_buf *out, const char *indent);
/* 0, or the first failure, after which out holds an unfinished text. */
int mp_write_finish(struct mp_writer *w) MP_MUST;

void mp_write_begin_object(struct mp_writer *w);
void mp_write_end_object(struct mp_writer *w);
void mp_write_begin_array(struct mp_writer *w);
void mp_write_end_array(struct mp_writer *w);

void mp_write_key(struct mp_writer *w, struct mp_str key);
/* A key as it is spelled elsewhere, quotes included. */
void mp_write_raw_key(struct mp_writer *w, struct mp_str json);
/* Members of an object as they are, `"a":1,"b":2`; empty: none. */
void mp_write_raw_members(struct mp_writer *w, struct mp_str json);
void mp_write_null(struct mp_writer *w);
void mp_write_bool(struct mp_writer *w, bool value);
void mp_write_i64(struct mp_writer *w, int64_t value);
void mp_write_u64(struct mp_writer *w, uint64_t value);
/* The shortest spelling that reads back as the same number; null where JSON has no number for it.
 */
void mp_write_f64(struct mp_writer *w, double value);
/* Bytes that are not UTF-8 become U+FFFD. */
void mp_write_text(struct mp_writer *w, struct mp_str text);
/* One valid JSON value as it is. */
void mp_write_raw(struct mp_writer *w, struct mp_str json);
/*
 * A value off a tape, spelled as in its source, without its comments, laid out as this text is.
 * What is folded there stays on one line.
 */
void mp_write_value(struct mp_writer *w, const struct mp_tape *t, mp_value v);

/* Shorthand for the common members. */
void mp_write_member_text(struct mp_writer *w, const char *key, struct mp_str text);
void mp_write_member_i64(struct mp_writer *w, const char *key, int64_t value);
void mp_write_member_bool(struct mp_writer *w, const char *key, bool value);
void mp_write_member_raw(struct mp_writer *w, const char *key, struct mp_str json);

#endif
