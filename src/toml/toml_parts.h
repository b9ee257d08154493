/*
 * toml_parts.h - what the files of the TOML reader share; see toml.h for the outside.
 * toml.c knows the grammar, toml_text.c strings, toml_scalar.c numbers and times, toml_tree.c which
 * table a key belongs to and what may be defined again.
 */
#ifndef MP_TOML_PARTS_H
#define MP_TOML_PARTS_H

#include "base/arena.h"
#include "base/base.h"
#include "base/str.h"

/* How far the text is read, and what stopped it. */
struct mp_toml_cursor {
	const char *start, *p, *end;
	struct mp_arena *arena; /* borrowed; nodes and decoded strings */
	const char *fault;      /* a static sentence; NULL while all is well */
	const char *fault_at;
};

/* Both return their code. The second is for an arena that returned NULL. */
int mp_toml_fault(struct mp_toml_cursor *c, const char *at, const char *sentence);
int mp_toml_no_room(struct mp_toml_cursor *c);

/* Does the rest begin with this? */
static inline bool mp_toml_sees(const struct mp_toml_cursor *c, const char *text, size_t n)
{
	return (size_t)(c->end - c->p) >= n && memcmp(c->p, text, n) == 0;
}

/* The next character; 0 at the end, and nowhere else because control characters are refused. */
static inline char mp_toml_peek(const struct mp_toml_cursor *c)
{
	return c->p < c->end ? *c->p : '\0';
}

static inline bool mp_toml_is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool mp_toml_is_bare(char c)
{
	return mp_toml_is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '_' || c == '-';
}

/* --- toml_text.c ----------------------------------------------------------------------------- */

/* All of the text: UTF-8 without control characters, so that later steps need not check that. */
int mp_toml_text_check(struct mp_toml_cursor *c) MP_MUST;
/* The string whose quote is at p. lines: three quotes begin one of many lines. */
int mp_toml_text_read(struct mp_toml_cursor *c, bool lines, struct mp_str *ret_text) MP_MUST;

/* --- toml_scalar.c --------------------------------------------------------------------------- */

struct mp_toml_scalar {
	bool quoted;        /* a string in JSON: inf, nan, dates, times */
	struct mp_str text; /* otherwise JSON as it is */
};

/* A boolean, number, date or time. */
int mp_toml_scalar_read(struct mp_toml_cursor *c, struct mp_toml_scalar *ret_scalar) MP_MUST;

/* --- toml_tree.c ----------------------------------------------------------------------------- */

enum mp_toml_kind {
	MP_TOML_RAW, /* JSON as it is */
	MP_TOML_TEXT,
	MP_TOML_ARRAY,
	MP_TOML_TABLE,
};

/* How a table or an array was defined decides what may extend it. */
enum mp_toml_made {
	MP_TOML_ON_THE_WAY, /* [a.b] makes a; its own header may still come */
	MP_TOML_BY_HEADER,  /* [a], [[a]] */
	MP_TOML_BY_DOTS,    /* a.b = 1 makes a */
	MP_TOML_IN_PLACE,   /* { } and [ ]: complete as they stand */
};

struct mp_toml_node {
	struct mp_toml_node *next;   /* in its table or array, in the order of the file */
	struct mp_toml_node *parent; /* NULL: the root */
	const char *key;             /* NULL: an element */
	uint64_t hash;               /* of parent and key */
	union {
		struct mp_str text;
		struct {
			struct mp_toml_node *first, *last;
		};
	};
	uint32_t key_len;
	uint32_t key_at, at; /* offsets of key and value in the text */
	uint8_t kind, made;
	uint8_t depth; /* how many tables and arrays are around it */
};

struct mp_toml_tree {
	struct mp_toml_cursor *c; /* borrowed; memory, and where faults go */
	struct mp_toml_node *root;
	struct mp_toml_node **slots; /* every key of every table; a power of two of them */
	size_t n_slots, n_keys;
	size_t n_nodes;
};

/* One of the keys between dots. */
struct mp_toml_part {
	struct mp_str name;
	const char *at;
};

int mp_toml_tree_init(struct mp_toml_tree *t, struct mp_toml_cursor *c) MP_MUST;
/* Make a node that has no value yet a table or an array. */
int mp_toml_tree_make(struct mp_toml_tree *t, struct mp_toml_node *node, enum mp_toml_kind kind,
		      enum mp_toml_made made) MP_MUST;
/* A key with its value still to come, and an element. at: of the value. */
int mp_toml_tree_add_key(struct mp_toml_tree *t, struct mp_toml_node *table,
			 struct mp_toml_part part, struct mp_toml_node **ret_node) MP_MUST;
int mp_toml_tree_add_element(struct mp_toml_tree *t, struct mp_toml_node *array, const char *at,
			     struct mp_toml_node **ret_node) MP_MUST;

/*
 * Go from *table to the one that a part of a key names, and make it where there is none: a part
 * before a dot in `a.b = 1` and in a header, the last of [a] and the last of [[a]]. header: where
 * its bracket is.
 */
int mp_toml_tree_pass_dot(struct mp_toml_tree *t, struct mp_toml_part part,
			  struct mp_toml_node **table) MP_MUST;
int mp_toml_tree_pass_header(struct mp_toml_tree *t, struct mp_toml_part part, const char *header,
			     struct mp_toml_node **table) MP_MUST;
int mp_toml_tree_open_table(struct mp_toml_tree *t, struct mp_toml_part part, const char *header,
			    struct mp_toml_node **table) MP_MUST;
int mp_toml_tree_open_element(struct mp_toml_tree *t, struct mp_toml_part part, const char *header,
			      struct mp_toml_node **table) MP_MUST;

#endif
