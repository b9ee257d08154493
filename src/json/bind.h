/*
 * bind.h - tables that map objects to structs, both ways.
 * A table names the keys of an object, the types of their values and the fields they fill. What
 * does not fit is told as a problem with its place, and the field keeps the value it had, so
 * defaults are simply what the struct holds before.
 */
#ifndef MP_BIND_H
#define MP_BIND_H

#include "base/arena.h"
#include "base/base.h"
#include "base/str.h"
#include "json/tape.h"
#include "json/value.h"
#include "json/write.h"

/* JSON value, type of the field */
enum mp_bind_type {
	MP_BIND_BOOL,   /* true or false: bool */
	MP_BIND_I64,    /* a whole number from min to max: int64_t */
	MP_BIND_MS,     /* milliseconds from min to max, or a text with a unit, "30s": int64_t */
	MP_BIND_F64,    /* a number: double */
	MP_BIND_TEXT,   /* a string without NUL: const char * */
	MP_BIND_CHOICE, /* one of the strings in choices: int, its index */
	MP_BIND_LIST,   /* an array of strings: struct mp_bind_list */
	MP_BIND_MAP,    /* an object of strings: struct mp_bind_map */
	MP_BIND_OBJECT, /* an object with a table of its own: that struct, embedded */
	MP_BIND_RAW, /* anything, as it is spelled but for white space and comments: struct mp_str
		      */
};

struct mp_bind_list {
	const char **items;
	size_t n;
};

struct mp_bind_pair {
	const char *key, *value;
};

struct mp_bind_map {
	struct mp_bind_pair
		*items; /* in the order of the source; of a key that comes twice the last */
	size_t n;
};

struct mp_bind_field {
	const char *key;
	enum mp_bind_type type;
	size_t offset; /* of the field in the struct */
	bool required;
	bool null;                  /* TEXT, I64: null is "" or -1, and the other way round */
	bool alias;                 /* another spelling of the row above; never written */
	int64_t min, max;           /* I64, MS; both 0: any */
	const char *const *choices; /* CHOICE; ends in NULL */
	const struct mp_bind_table *table; /* OBJECT */
};

struct mp_bind_table {
	const struct mp_bind_field *fields;
	size_t n;       /* at most 64 */
	size_t present; /* offset of an uint64_t: bit i is set when row i (or its alias) was there
			 */
};

/* Rows: MP_BIND(struct server, BOOL, "enabled", enabled), with more initialisers behind. */
#define MP_BIND(type_, kind, key_, field, ...)                                           \
	{                                                                                \
		.key = (key_), .type = MP_BIND_##kind, .offset = offsetof(type_, field), \
		__VA_ARGS__                                                              \
	}

enum mp_bind_problem_kind {
	MP_BIND_UNKNOWN,   /* no row has this key */
	MP_BIND_TYPE,      /* the value has another type */
	MP_BIND_RANGE,     /* the number is too small or too large */
	MP_BIND_NO_CHOICE, /* the string is none of the choices */
	MP_BIND_TWICE,     /* the key occurs twice, or in another spelling; the last one counts */
	MP_BIND_MISSING,   /* a required key is not there; `at` is the object */
};

struct mp_bind_problem {
	enum mp_bind_problem_kind kind;
	mp_value at;         /* the key, or the object that lacks it */
	const char *message; /* a sentence without its place */
};
typedef void (*mp_bind_problem_fn)(const struct mp_bind_problem *problem, void *u);

/*
 * Fill *into from the object. Texts, lists, maps and raw values come from the arena. fn gets every
 * problem and binding goes on; without fn (NULL) the first problem that is not MP_BIND_UNKNOWN is
 * an error. MCPOOL_ETYPE if it is not an object, MCPOOL_EINVAL, MCPOOL_ELIMIT (the arena's),
 * MCPOOL_ENOMEM.
 */
int mp_bind_read(const struct mp_bind_table *table, const struct mp_tape *t, mp_value object,
		 struct mp_arena *arena, void *into, mp_bind_problem_fn fn, void *u,
		 struct mcpool_error *reterr) MP_MUST;

/* Write an object with the fields whose present bits are set. */
void mp_bind_write(const struct mp_bind_table *table, const void *from, struct mp_writer *w);

/* What MS takes, where it is not a field of a table. MCPOOL_ETYPE, MCPOOL_ELIMIT. */
int mp_bind_read_ms(const struct mp_tape *t, mp_value v, int64_t *ret_ms) MP_MUST;

/* Was this key there? key must be one of the table's. */
bool mp_bind_is_present(const struct mp_bind_table *table, const void *from, const char *key);
/* For values that were found in another way, or turned out to be wrong. */
void mp_bind_set_present(const struct mp_bind_table *table, void *into, const char *key,
			 bool present);

#endif
