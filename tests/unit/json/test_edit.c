/*
 * test_edit.c - changing one value of a file. A table of texts and the results a careful person
 * would have written by hand; then thousands of random texts, where nothing but the wanted change
 * may be seen.
 */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "json/edit.h"
#include "json/tape.h"
#include "json/value.h"
#include "json/write.h"

enum { MAX_KEYS = 140 };

struct path {
	struct mp_str keys[MAX_KEYS];
	size_t n;
};

/* "a/b/0" in its parts; NULL is the root, "" the key that is empty. */
static struct path split(const char *text)
{
	struct path p = {.n = 0};

	while (text && p.n < MAX_KEYS) {
		const char *slash = strchr(text, '/');

		p.keys[p.n++] =
			(struct mp_str){text, slash ? (size_t)(slash - text) : strlen(text)};
		text = slash ? slash + 1 : NULL;
	}
	return p;
}

static void free_bytes(char **bytes)
{
	free(*bytes);
}

enum op { SET, ADD, REMOVE };

static int edit(enum op op, struct mp_str text, const struct path *p, struct mp_str value,
		struct mp_buf *out, struct mcpool_error *reterr)
{
	switch (op) {
	case SET:
		return mp_edit_set(text, p->keys, p->n, value, out, reterr);
	case ADD:
		return mp_edit_add(text, p->keys, p->n, value, out, reterr);
	case REMOVE:
		return mp_edit_remove(text, p->keys, p->n, out, reterr);
	}
	return 0;
}

static bool parses(struct mp_str text, unsigned accept)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;

	mp_tape_init(&t, accept);
	return mp_tape_parse(&t, text, NULL) == 0;
}

/* --- the table ----------------------------------------------------------------------------- */

struct row {
	enum op op;
	const char *text, *path, *value, *want;
};

static const struct row rows[] = {
	/* A scalar in the place of a scalar: nothing else moves. */
	{SET, "{\"a\": 1}", "a", "2", "{\"a\": 2}"},
	{SET, "{\"a\":1,\"b\":2}", "b", "\"x\"", "{\"a\":1,\"b\":\"x\"}"},
	{SET, "{ \"a\" : 1 , \"b\" : 2 }\n", "a", "null", "{ \"a\" : null , \"b\" : 2 }\n"},
	{SET, "{\n  \"a\": 1, // one\n  \"b\": 2  // two\n}\n", "a", "10",
	 "{\n  \"a\": 10, // one\n  \"b\": 2  // two\n}\n"},
	{SET, "{\n  \"a\": 1, // one\n  \"b\": 2  // two\n}\n", "b", "20",
	 "{\n  \"a\": 1, // one\n  \"b\": 20  // two\n}\n"},
	{SET, "{\"a\": /* was 0 */ 1 /* is 1 */}", "a", "2", "{\"a\": /* was 0 */ 2 /* is 1 */}"},
	{SET, "{\"a\":\n    1\n}", "a", "2", "{\"a\":\n    2\n}"},
	{SET, "[1, 2, 3]", "1", "true", "[1, true, 3]"},
	{SET, "[1,2,3]", "2", "\"\\u00e9\"", "[1,2,\"\\u00e9\"]"},
	{SET, "{\"a\": {\"b\": {\"c\": 1}}}", "a/b/c", "2", "{\"a\": {\"b\": {\"c\": 2}}}"},
	{SET, "{\"a\": [{\"b\": 1}, {\"b\": 2}]}", "a/1/b", "3",
	 "{\"a\": [{\"b\": 1}, {\"b\": 3}]}"},
	{SET, "{\"a\": 1}", "a", "  1.50e+3\n", "{\"a\": 1.50e+3}"},
	{SET, "{\"a\": \"x\"}", "a", "\"// no comment\"", "{\"a\": \"// no comment\"}"},
	{SET, "{\"a\": {\"x\": 1}}", "a", "5", "{\"a\": 5}"},
	{SET, "{\n  \"a\": {\n    \"x\": 1\n  },\n  \"b\": 2\n}", "a", "5",
	 "{\n  \"a\": 5,\n  \"b\": 2\n}"},

	/* Keys that need thought. */
	{SET, "{\"caf\\u00e9\": 1}", "caf\xc3\xa9", "2", "{\"caf\\u00e9\": 2}"},
	{SET, "{\"a\": 1, \"\\u0061\": 2}", "a", "3", "{\"a\": 1, \"\\u0061\": 3}"},
	{SET, "{\"a\": 1, \"a\": 2, \"b\": 3}", "a", "9", "{\"a\": 1, \"a\": 9, \"b\": 3}"},
	{SET, "{\"a\": {\"x\": 1}, \"a\": {\"y\": 2}}", "a/y", "3",
	 "{\"a\": {\"x\": 1}, \"a\": {\"y\": 3}}"},
	{SET, "{\"\": 1}", "", "2", "{\"\": 2}"},
	{SET, "{\"a\": 1}", "", "2", "{\"a\": 1, \"\": 2}"},
	{SET, "{\"a\": 1}", "quo\"te", "2", "{\"a\": 1, \"quo\\\"te\": 2}"},
	{SET, "{\"a\": 1}", "new\nline", "2", "{\"a\": 1, \"new\\nline\": 2}"},
	{SET, "{\"a\": 1}", "caf\xc3\xa9", "2", "{\"a\": 1, \"caf\xc3\xa9\": 2}"},
	{SET, "{\"0\": \"x\"}", "0", "1", "{\"0\": 1}"},
	{SET, "{\"-\": 1}", "-", "2", "{\"-\": 2}"},
	{ADD, "{\"0\": 1}", "-", "2", "{\"0\": 1, \"-\": 2}"},

	/* A new member on one line, spaced as its neighbours. */
	{ADD, "{\"a\": 1}", "b", "2", "{\"a\": 1, \"b\": 2}"},
	{ADD, "{\"a\":1}", "b", "2", "{\"a\":1,\"b\":2}"},
	{ADD, "{ \"a\": 1 }", "b", "2", "{ \"a\": 1, \"b\": 2 }"},
	{ADD, "{\"a\":1, \"b\":2}", "c", "3", "{\"a\":1, \"b\":2, \"c\":3}"},
	{ADD, "{\"a\": 1,\"b\": 2}", "c", "3", "{\"a\": 1,\"b\": 2,\"c\": 3}"},
	{ADD, "{\"a\": 1,  \"b\": 2}", "c", "3", "{\"a\": 1,  \"b\": 2,  \"c\": 3}"},
	{ADD, "{\"a\": 1}\n", "b", "{\"x\": [1, {\"y\": 2}]}",
	 "{\"a\": 1, \"b\": {\"x\": [1, {\"y\": 2}]}}\n"},
	{ADD, "{\"a\":1}\n", "b", "{\"x\": [1, {\"y\": 2}]}",
	 "{\"a\":1,\"b\":{\"x\":[1,{\"y\":2}]}}\n"},
	{ADD, "[1]", "-", "2", "[1, 2]"},
	{ADD, "[1,2]", "-", "3", "[1,2,3]"},
	{ADD, "[1, 2]", "2", "3", "[1, 2, 3]"},
	{SET, "[1, 2]", "-", "3", "[1, 2, 3]"},
	{SET, "[ 1, 2 ]", "2", "3", "[ 1, 2, 3 ]"},
	{ADD, "[[1], [2]]", "-", "[3]", "[[1], [2], [3]]"},
	{ADD, "[[1], [2]]", "1/-", "3", "[[1], [2, 3]]"},
	{ADD, "{\"a\": {\"x\":1}, \"b\": 2}", "a/y", "2", "{\"a\": {\"x\":1,\"y\":2}, \"b\": 2}"},
	{ADD, "{\"a\":[{\"b\":1},{\"c\":[2]}]}", "a/1/c/-", "3",
	 "{\"a\":[{\"b\":1},{\"c\":[2,3]}]}"},

	/* A new member on its own line. */
	{ADD, "{\n  \"a\": 1\n}\n", "b", "2", "{\n  \"a\": 1,\n  \"b\": 2\n}\n"},
	{ADD, "{\n    \"a\": 1\n}\n", "b", "2", "{\n    \"a\": 1,\n    \"b\": 2\n}\n"},
	{ADD, "{\n\t\"a\": 1\n}\n", "b", "{\"x\": 1}",
	 "{\n\t\"a\": 1,\n\t\"b\": {\n\t\t\"x\": 1\n\t}\n}\n"},
	{ADD, "{\r\n  \"a\": 1\r\n}\r\n", "b", "{\"x\": 1}",
	 "{\r\n  \"a\": 1,\r\n  \"b\": {\r\n    \"x\": 1\r\n  }\r\n}\r\n"},
	{ADD, "{\r  \"a\": 1\r}\r", "b", "2", "{\r  \"a\": 1,\r  \"b\": 2\r}\r"},
	{ADD, "{\n  \"a\":1\n}\n", "b", "{\"x\": 1}",
	 "{\n  \"a\":1,\n  \"b\":{\n    \"x\":1\n  }\n}\n"},
	{ADD, "{\n\"a\": 1\n}", "b", "2", "{\n\"a\": 1,\n\"b\": 2\n}"},
	{ADD, "{\n  \"a\": 1 }", "b", "2", "{\n  \"a\": 1,\n  \"b\": 2 }"},
	{ADD, "{\"a\": 1,\n \"b\": 2}", "c", "3", "{\"a\": 1,\n \"b\": 2,\n \"c\": 3}"},
	{ADD, "{ \"a\": 1,\n  \"b\": 2\n}", "c", "3", "{ \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}"},
	{ADD, "[\n  1,\n  2\n]", "-", "3", "[\n  1,\n  2,\n  3\n]"},
	{ADD, "[\n  1, 2,\n  3, 4\n]", "-", "5", "[\n  1, 2,\n  3, 4, 5\n]"},
	{ADD, "{\n  \"a\": 1,\n\n  \"b\": 2\n\n}\n", "c", "3",
	 "{\n  \"a\": 1,\n\n  \"b\": 2,\n  \"c\": 3\n\n}\n"},
	{ADD, "{\n  \"m\": {\n    \"a\": {\n      \"c\": 1\n    }\n  },\n  \"z\": 0\n}\n", "m/b",
	 "{\"c\":2}",
	 "{\n  \"m\": {\n    \"a\": {\n      \"c\": 1\n    },\n    \"b\": {\n      \"c\": 2\n    "
	 "}\n"
	 "  },\n  \"z\": 0\n}\n"},
	{ADD, "{\n  \"a\": {\"x\": 1},\n  \"b\": {\"x\": 2}\n}\n", "c", "{\"x\":3}",
	 "{\n  \"a\": {\"x\": 1},\n  \"b\": {\"x\": 2},\n  \"c\": {\"x\": 3}\n}\n"},
	{ADD, "{\n  \"a\": {\"x\":1},\n  \"b\":  {\"x\":2}\n}\n", "b/y", "3",
	 "{\n  \"a\": {\"x\":1},\n  \"b\":  {\"x\":2,\"y\":3}\n}\n"},
	{ADD, "{\n  \"a\": [\"x\"]\n}\n", "e", "{\"k\":\"v\"}",
	 "{\n  \"a\": [\"x\"],\n  \"e\": {\n    \"k\": \"v\"\n  }\n}\n"},
	{ADD, "[{\n  \"a\": 1\n}, {\n  \"a\": 2\n}]\n", "-", "{\"a\":3}",
	 "[{\n  \"a\": 1\n}, {\n  \"a\": 2\n}, {\n  \"a\": 3\n}]\n"},
	{ADD, "{\n  \"a\": 1\n, \"b\": 2\n}\n", "c", "3",
	 "{\n  \"a\": 1\n, \"b\": 2\n, \"c\": 3\n}\n"},
	{ADD, "{\n    \"a\": 1\n  , \"b\": 2 // two\n}\n", "c", "{\"x\":3}",
	 "{\n    \"a\": 1\n  , \"b\": 2 // two\n  , \"c\": {\n        \"x\": 3\n    }\n}\n"},

	/* Trailing commas are a habit. */
	{ADD, "{\n  \"a\": 1,\n}\n", "b", "2", "{\n  \"a\": 1,\n  \"b\": 2,\n}\n"},
	{ADD, "{\n  \"a\": 1, // one\n}\n", "b", "2", "{\n  \"a\": 1, // one\n  \"b\": 2,\n}\n"},
	{ADD, "[1,]", "-", "2", "[1, 2,]"},
	{ADD, "[1, 2,]", "-", "3", "[1, 2, 3,]"},
	{ADD, "{\"a\": 1, }", "b", "2", "{\"a\": 1, \"b\": 2, }"},
	{ADD, "[\n  1 /* x */,\n]", "-", "2", "[\n  1 /* x */,\n  2,\n]"},
	{ADD, "[\n  1\n  ,\n]", "-", "2", "[\n  1\n  ,\n  2,\n]"},

	/* Comments behind the last one, on its line and below. */
	{ADD, "{\n  \"a\": 1 // one\n}\n", "b", "2", "{\n  \"a\": 1, // one\n  \"b\": 2\n}\n"},
	{ADD, "{\n  \"a\": 1 /* one */ // more\n}\n", "b", "2",
	 "{\n  \"a\": 1, /* one */ // more\n  \"b\": 2\n}\n"},
	{ADD, "{\n  \"a\": 1\n  // below\n}\n", "b", "2",
	 "{\n  \"a\": 1,\n  \"b\": 2\n  // below\n}\n"},
	{ADD, "{\n  \"a\": 1 /* one\n         goes on */\n}\n", "b", "2",
	 "{\n  \"a\": 1, /* one\n         goes on */\n  \"b\": 2\n}\n"},
	{ADD, "{\n  // above\n  \"a\": 1\n}\n", "b", "2",
	 "{\n  // above\n  \"a\": 1,\n  \"b\": 2\n}\n"},
	{ADD, "{\n  /* in front */ \"a\": 1\n}\n", "b", "2",
	 "{\n  /* in front */ \"a\": 1,\n  \"b\": 2\n}\n"},
	{ADD, "{\"a\": 1 /* one */}", "b", "2", "{\"a\": 1 /* one */, \"b\": 2}"},
	{ADD, "[1, /* two */ 2]", "-", "3", "[1, /* two */ 2, 3]"},
	{ADD, "[1, 2, /* end */]", "-", "3", "[1, 2, /* end */ 3,]"},
	{ADD, "{\"a\": 1 // one\n}\n", "b", "2", "{\"a\": 1, // one\n  \"b\": 2\n}\n"},
	{ADD, "{\n  \"x\": [1, 2 // two\n  ]\n}\n", "x/-", "3",
	 "{\n  \"x\": [1, 2, // two\n    3\n  ]\n}\n"},
	{ADD, "// head\n{\n  \"a\": 1\n}\n// foot\n", "b", "2",
	 "// head\n{\n  \"a\": 1,\n  \"b\": 2\n}\n// foot\n"},
	{ADD, "{\n  \"a\": \"//\" // \"b\": 2,\n}", "c", "3",
	 "{\n  \"a\": \"//\", // \"b\": 2,\n  \"c\": 3\n}"},

	/* Into empty brackets. */
	{ADD, "{}", "a", "1", "{\n  \"a\": 1\n}"},
	{ADD, "{}\n", "a", "1", "{\n  \"a\": 1\n}\n"},
	{ADD, "{ }\r\n", "a", "1", "{\r\n  \"a\": 1\r\n}\r\n"},
	{ADD, "{\n}\n", "a", "1", "{\n  \"a\": 1\n}\n"},
	{ADD, "{\n\n}\n", "a", "{}", "{\n  \"a\": {}\n}\n"},
	{ADD, "[]", "-", "1", "[1]"},
	{ADD, "[]", "0", "{\"a\": 1}", "[\n  {\n    \"a\": 1\n  }\n]"},
	{ADD, "[\n]", "0", "1", "[\n  1\n]"},
	{ADD, "{\"a\": {}}", "a/b", "1", "{\"a\": {\"b\": 1}}"},
	{ADD, "{\"a\":{}}", "a/b", "{\"c\": 1}", "{\"a\":{\"b\":{\"c\":1}}}"},
	{ADD, "{\n    \"a\": {},\n    \"b\": 1\n}\n", "a/x", "1",
	 "{\n    \"a\": {\n        \"x\": 1\n    },\n    \"b\": 1\n}\n"},
	{ADD, "{\n  \"args\": []\n}\n", "args/-", "\"-y\"", "{\n  \"args\": [\"-y\"]\n}\n"},
	{ADD, "{\n  \"args\": [\n  ]\n}\n", "args/-", "\"-y\"",
	 "{\n  \"args\": [\n    \"-y\"\n  ]\n}\n"},
	{ADD, "{\n  \"a\": {\"env\": {}, \"x\": 1}\n}\n", "a/env/K", "\"v\"",
	 "{\n  \"a\": {\"env\": {\"K\": \"v\"}, \"x\": 1}\n}\n"},
	{ADD, "{\n  \"a\": {\"x\": 1},\n  \"b\": {}\n}\n", "b/x", "2",
	 "{\n  \"a\": {\"x\": 1},\n  \"b\": {\"x\": 2}\n}\n"},
	{ADD, "[\n  {}\n]\n", "0/a", "1", "[\n  {\n    \"a\": 1\n  }\n]\n"},

	/* Into brackets that hold nothing but comments. */
	{ADD, "{\n  // nothing yet\n}\n", "a", "1", "{\n  // nothing yet\n  \"a\": 1\n}\n"},
	{ADD, "{\n    // nothing yet\n}\n", "a", "{\"x\": 1}",
	 "{\n    // nothing yet\n    \"a\": {\n        \"x\": 1\n    }\n}\n"},
	{ADD, "{\n\n    // nothing yet\n\n}\n", "a", "1",
	 "{\n\n    // nothing yet\n    \"a\": 1\n\n}\n"},
	{ADD, "{ /* none */ }", "a", "1", "{ /* none */ \"a\": 1 }"},
	{ADD, "{/* none */}", "a", "1", "{/* none */ \"a\": 1}"},
	{ADD, "{ // none\n}\n", "a", "1", "{ // none\n  \"a\": 1\n}\n"},
	{ADD, "{ /* none\n     at all */ }\n", "a", "1",
	 "{ /* none\n     at all */\n  \"a\": 1\n}\n"},
	{ADD, "[ /* one */ /* two */ ]", "-", "1", "[ /* one */ /* two */ 1 ]"},
	{ADD, "{\n  \"a\": {\n// \"x\": 1\n  }\n}\n", "a/y", "2",
	 "{\n  \"a\": {\n// \"x\": 1\n    \"y\": 2\n  }\n}\n"},
	{ADD, "{\n  \"a\": [ // the list\n  ],\n}\n", "a/-", "1",
	 "{\n  \"a\": [ // the list\n    1\n  ],\n}\n"},

	/* Objects that are missing on the way. */
	{SET, "{}", "a/b/c", "1", "{\n  \"a\": {\n    \"b\": {\n      \"c\": 1\n    }\n  }\n}"},
	{SET, "{\"x\": 1}", "a/b", "2", "{\"x\": 1, \"a\": {\"b\": 2}}"},
	{SET, "{\"x\":1}", "a/b", "[]", "{\"x\":1,\"a\":{\"b\":[]}}"},
	{SET, "{\n  \"x\": 1\n}\n", "a/b", "{\"c\": [1, 2]}",
	 "{\n  \"x\": 1,\n  \"a\": {\n    \"b\": {\n      \"c\": [1, 2]\n    }\n  }\n}\n"},
	{SET, "[]", "-/a", "1", "[\n  {\n    \"a\": 1\n  }\n]"},
	{SET, "[1]", "1/a/b", "2", "[1, {\"a\": {\"b\": 2}}]"},
	{ADD, "{\n  \"m\": {\n    \"a\": 1\n  }\n}\n", "m/b/c", "2",
	 "{\n  \"m\": {\n    \"a\": 1,\n    \"b\": {\n      \"c\": 2\n    }\n  }\n}\n"},

	/* Objects and arrays in the place of other values. */
	{SET, "{\n  \"a\": 1\n}\n", "a", "{\"x\":{\"y\":2},\"z\":[]}",
	 "{\n  \"a\": {\n    \"x\": {\n      \"y\": 2\n    },\n    \"z\": []\n  }\n}\n"},
	{SET, "{\n  \"a\": {\"x\": 1}\n}\n", "a", "{\"y\":2,\"z\":3}",
	 "{\n  \"a\": {\"y\": 2, \"z\": 3}\n}\n"},
	{SET, "{\n  \"a\": {\n    \"x\": 1\n  }\n}\n", "a", "{\"y\":2}",
	 "{\n  \"a\": {\n    \"y\": 2\n  }\n}\n"},
	{SET, "{\n  \"a\": {}\n}\n", "a", "{\"y\":2}", "{\n  \"a\": {\n    \"y\": 2\n  }\n}\n"},
	{SET, "{\"a\": 1, \"b\": 2}", "a", "{\"x\":[1,2]}", "{\"a\": {\"x\": [1, 2]}, \"b\": 2}"},
	{SET, "{\n\t\"args\": [\"a\"]\n}\n", "args", "[\"-y\",\"b\",\"c\"]",
	 "{\n\t\"args\": [\"-y\", \"b\", \"c\"]\n}\n"},
	{SET, "{\n  \"args\": 0\n}\n", "args",
	 "[\"0123456789012345678901234567890123456789\","
	 "\"0123456789012345678901234567890123456789\"]",
	 "{\n  \"args\": [\n    \"0123456789012345678901234567890123456789\",\n"
	 "    \"0123456789012345678901234567890123456789\"\n  ]\n}\n"},
	{SET, "{\n  \"args\": 0\n}\n", "args", "[[1],{}]",
	 "{\n  \"args\": [\n    [1],\n    {}\n  ]\n}\n"},
	{SET, "[\n  1,\n  2\n]\n", "0", "{\"a\":1}", "[\n  {\n    \"a\": 1\n  },\n  2\n]\n"},
	{SET, "{\r\n\t\"a\": 1,\r\n\t\"b\": 2\r\n}", "a", "{\"x\":1}",
	 "{\r\n\t\"a\": {\r\n\t\t\"x\": 1\r\n\t},\r\n\t\"b\": 2\r\n}"},
	{SET, "{\n  \"a\": { /* goes too */ \"x\": 1 } // stays\n}\n", "a", "{}",
	 "{\n  \"a\": {} // stays\n}\n"},

	/* The root. */
	{SET, "{\"a\": 1}", NULL, "{\"b\":2}", "{\"b\": 2}"},
	{SET, "{\n  \"a\": 1\n}\n", NULL, "{\"b\":2}", "{\n  \"b\": 2\n}\n"},
	{SET, "// head\nnull // tail\n", NULL, "{\"b\":2}", "// head\n{\n  \"b\": 2\n} // tail\n"},
	{SET, "1", NULL, "2", "2"},
	{SET, "[]", NULL, "[1,2]", "[1, 2]"},
	{SET, " {} ", NULL, "null", " null "},

	/* What stands at the ends of a file. */
	{SET, "\xef\xbb\xbf{\n  \"a\": 1\n}\n", "b", "2",
	 "\xef\xbb\xbf{\n  \"a\": 1,\n  \"b\": 2\n}\n"},
	{SET, "\xef\xbb\xbf{}", "b", "2", "\xef\xbb\xbf{\n  \"b\": 2\n}"},
	{REMOVE, "\xef\xbb\xbf{\"a\": 1, \"b\": 2}", "a", NULL, "\xef\xbb\xbf{\"b\": 2}"},
	{SET, "{\n  \"a\": 1\n}", "a", "2", "{\n  \"a\": 2\n}"},
	{ADD, "\n\n{\"a\": 1}\n\n\n", "b", "2", "\n\n{\"a\": 1, \"b\": 2}\n\n\n"},

	/* Removing on one line. */
	{REMOVE, "{\"a\": 1, \"b\": 2, \"c\": 3}", "a", NULL, "{\"b\": 2, \"c\": 3}"},
	{REMOVE, "{\"a\": 1, \"b\": 2, \"c\": 3}", "b", NULL, "{\"a\": 1, \"c\": 3}"},
	{REMOVE, "{\"a\": 1, \"b\": 2, \"c\": 3}", "c", NULL, "{\"a\": 1, \"b\": 2}"},
	{REMOVE, "{\"a\":1,\"b\":2,\"c\":3}", "a", NULL, "{\"b\":2,\"c\":3}"},
	{REMOVE, "{\"a\":1,\"b\":2,\"c\":3}", "b", NULL, "{\"a\":1,\"c\":3}"},
	{REMOVE, "{\"a\":1,\"b\":2,\"c\":3}", "c", NULL, "{\"a\":1,\"b\":2}"},
	{REMOVE, "{ \"a\": 1, \"b\": 2 }", "a", NULL, "{ \"b\": 2 }"},
	{REMOVE, "{ \"a\": 1, \"b\": 2 }", "b", NULL, "{ \"a\": 1 }"},
	{REMOVE, "{ \"a\" : 1 , \"b\" : 2 }", "a", NULL, "{ \"b\" : 2 }"},
	{REMOVE, "{\"a\": 1}", "a", NULL, "{}"},
	{REMOVE, "{ \"a\": 1 }", "a", NULL, "{}"},
	{REMOVE, "{\"a\": 1,}", "a", NULL, "{}"},
	{REMOVE, "[1, 2, 3]", "0", NULL, "[2, 3]"},
	{REMOVE, "[1, 2, 3]", "1", NULL, "[1, 3]"},
	{REMOVE, "[1, 2, 3]", "2", NULL, "[1, 2]"},
	{REMOVE, "[[1, 2], [3]]", "0/1", NULL, "[[1], [3]]"},
	{REMOVE, "[[1, 2], [3]]", "1/0", NULL, "[[1, 2], []]"},
	{REMOVE, "[1, 2,]", "1", NULL, "[1,]"},
	{REMOVE, "[1, 2, ]", "1", NULL, "[1, ]"},
	{REMOVE, "[1, 2,]", "0", NULL, "[2,]"},
	{REMOVE, "{\"caf\\u00e9\": 1, \"b\": 2}", "caf\xc3\xa9", NULL, "{\"b\": 2}"},

	/* Removing on lines. */
	{REMOVE, "{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}\n", "a", NULL,
	 "{\n  \"b\": 2,\n  \"c\": 3\n}\n"},
	{REMOVE, "{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}\n", "b", NULL,
	 "{\n  \"a\": 1,\n  \"c\": 3\n}\n"},
	{REMOVE, "{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}\n", "c", NULL,
	 "{\n  \"a\": 1,\n  \"b\": 2\n}\n"},
	{REMOVE, "{\r\n  \"a\": 1,\r\n  \"b\": 2\r\n}\r\n", "a", NULL, "{\r\n  \"b\": 2\r\n}\r\n"},
	{REMOVE, "{\r\n  \"a\": 1,\r\n  \"b\": 2\r\n}\r\n", "b", NULL, "{\r\n  \"a\": 1\r\n}\r\n"},
	{REMOVE, "{\n  \"a\": 1\n}\n", "a", NULL, "{}\n"},
	{REMOVE, "{\n  \"m\": {\n    \"a\": 1\n  }\n}\n", "m/a", NULL, "{\n  \"m\": {}\n}\n"},
	{REMOVE, "{\n  \"a\": {\n    \"x\": 1\n  },\n  \"b\": 2\n}\n", "a", NULL,
	 "{\n  \"b\": 2\n}\n"},
	{REMOVE, "{\n  \"a\": 2,\n  \"b\": {\n    \"x\": 1\n  }\n}\n", "b", NULL,
	 "{\n  \"a\": 2\n}\n"},
	{REMOVE, "{\n  \"a\": 1,\n\n  \"b\": 2,\n\n  \"c\": 3\n}\n", "c", NULL,
	 "{\n  \"a\": 1,\n\n  \"b\": 2\n\n}\n"},
	{REMOVE, "{\n  \"a\": 1,\n  \"b\": 2,\n}\n", "b", NULL, "{\n  \"a\": 1,\n}\n"},
	{REMOVE, "{\n  \"a\": 1,\n  \"b\": 2,\n}\n", "a", NULL, "{\n  \"b\": 2,\n}\n"},
	{REMOVE, "{\n  \"a\": 1, \"b\": 2,\n  \"c\": 3\n}\n", "b", NULL,
	 "{\n  \"a\": 1,\n  \"c\": 3\n}\n"},
	{REMOVE, "{\n  \"a\": 1, \"b\": 2,\n  \"c\": 3\n}\n", "a", NULL,
	 "{\n  \"b\": 2,\n  \"c\": 3\n}\n"},
	{REMOVE, "{\n  \"a\": 1, \"b\": 2\n}\n", "b", NULL, "{\n  \"a\": 1\n}\n"},
	{REMOVE, "{\"a\": 1,\n \"b\": 2,\n \"c\": 3}", "a", NULL, "{\"b\": 2,\n \"c\": 3}"},
	{REMOVE, "{\"a\": 1,\n \"b\": 2,\n \"c\": 3}", "b", NULL, "{\"a\": 1,\n \"c\": 3}"},
	{REMOVE, "{\"a\": 1,\n \"b\": 2,\n \"c\": 3}", "c", NULL, "{\"a\": 1,\n \"b\": 2}"},
	{REMOVE, "{\n  \"a\": 1\n, \"b\": 2\n, \"c\": 3\n}\n", "a", NULL,
	 "{\n  \"b\": 2\n, \"c\": 3\n}\n"},
	{REMOVE, "{\n  \"a\": 1\n, \"b\": 2\n, \"c\": 3\n}\n", "b", NULL,
	 "{\n  \"a\": 1\n, \"c\": 3\n}\n"},
	{REMOVE, "{\n  \"a\": 1\n, \"b\": 2\n, \"c\": 3\n}\n", "c", NULL,
	 "{\n  \"a\": 1\n, \"b\": 2\n}\n"},
	{REMOVE, "[{\n  \"a\": 1\n}, {\n  \"a\": 2\n}]", "0", NULL, "[{\n  \"a\": 2\n}]"},
	{REMOVE, "[{\n  \"a\": 1\n}, {\n  \"a\": 2\n}]", "1", NULL, "[{\n  \"a\": 1\n}]"},

	/* Comments stay when what they stood beside goes. */
	{REMOVE, "{\n  // about a\n  \"a\": 1,\n  // about b\n  \"b\": 2\n}\n", "a", NULL,
	 "{\n  // about a\n  // about b\n  \"b\": 2\n}\n"},
	{REMOVE, "{\n  // about a\n  \"a\": 1,\n  // about b\n  \"b\": 2\n}\n", "b", NULL,
	 "{\n  // about a\n  \"a\": 1\n  // about b\n}\n"},
	{REMOVE, "{\n  \"a\": 1, // one\n  \"b\": 2 // two\n}\n", "a", NULL,
	 "{\n  // one\n  \"b\": 2 // two\n}\n"},
	{REMOVE, "{\n  \"a\": 1, // one\n  \"b\": 2 // two\n}\n", "b", NULL,
	 "{\n  \"a\": 1 // one\n  // two\n}\n"},
	{REMOVE, "{\n  \"a\": 1, // one\n  \"b\": 2, // two\n}\n", "b", NULL,
	 "{\n  \"a\": 1, // one\n  // two\n}\n"},
	{REMOVE, "{ /* a */ \"a\": 1, /* b */ \"b\": 2 /* end */ }", "a", NULL,
	 "{ /* a */ /* b */ \"b\": 2 /* end */ }"},
	{REMOVE, "{ /* a */ \"a\": 1, /* b */ \"b\": 2 /* end */ }", "b", NULL,
	 "{ /* a */ \"a\": 1 /* b */ /* end */ }"},
	{REMOVE, "{\"a\": 1 /* one */, \"b\": 2}", "a", NULL, "{/* one */ \"b\": 2}"},
	{REMOVE, "{\"a\": 1 /* one */, \"b\": 2}", "b", NULL, "{\"a\": 1 /* one */}"},
	{REMOVE, "{ \"a\": 1 /* one */ }", "a", NULL, "{ /* one */ }"},
	{REMOVE, "{\n  // lonely\n  \"a\": 1\n}\n", "a", NULL, "{\n  // lonely\n}\n"},
	{REMOVE, "{\n  \"a\": 1 // one\n  ,\n  \"b\": 2\n}\n", "a", NULL,
	 "{\n  // one\n  \"b\": 2\n}\n"},
	{REMOVE, "[1, // one\n 2 // two\n]", "1", NULL, "[1 // one\n // two\n]"},
	{REMOVE, "{\n  \"a\": [1, /* goes too */ 2],\n  \"b\": 3\n}\n", "a", NULL,
	 "{\n  \"b\": 3\n}\n"},
	{REMOVE, "[1, 2 /* x */ ,]", "1", NULL, "[1, /* x */ ]"},
};

/* The text in a block of exactly its size, so that ASan sees what is read behind it. */
static bool row_holds(const struct row *row)
{
	struct mp_str text = mp_str_of(row->text);
	MP_CLEANUP(free_bytes) char *exact = malloc(text.len);
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	struct path p = split(row->path);
	struct mcpool_error err = {0};

	mp_buf_init(&out, 10000);
	REQUIRE(exact && parses(text, MP_TAPE_JSONC));
	memcpy(exact, text.p, text.len);
	REQUIRE(mp_buf_add(&out, "> ", 2) == 0);
	REQUIRE(edit(row->op, (struct mp_str){exact, text.len}, &p, mp_str_of(row->value), &out,
		     &err) == 0);
	REQUIRE(mp_str_starts(mp_buf_get(&out), MP_STR("> ")));
	if (!test_same_text((struct mp_str){out.data + 2, out.len - 2}, mp_str_of(row->want),
			    "the text", __FILE__, __LINE__))
		return false;
	REQUIRE(parses(mp_str_of(row->want), MP_TAPE_JSONC));
	REQUIRE(!parses(text, 0) || parses(mp_str_of(row->want), 0));
	return true;
}

TEST(edits_are_what_a_careful_person_writes)
{
	_Static_assert(MP_ARRAY_LEN(rows) >= 120, "the table is the specification");

	bool ok = true;

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++)
		ok &= test_true(row_holds(&rows[i]), rows[i].text, __FILE__, __LINE__);
	CHECK(ok);
}

/* --- refusals ------------------------------------------------------------------------------ */

struct refusal {
	enum op op;
	const char *text, *path, *value;
	int code;
	const char *message;
};

static const struct refusal refusals[] = {
	{ADD, "{\"a\": 1}", "a", "2", MCPOOL_EEXIST, "there is one already"},
	{ADD, "{\"a\": 1, \"a\": 2}", "a", "3", MCPOOL_EEXIST, "there is one already"},
	{ADD, "{\"caf\\u00e9\": null}", "caf\xc3\xa9", "3", MCPOOL_EEXIST, "there is one already"},
	{ADD, "[1]", "0", "3", MCPOOL_EEXIST, "there is one already"},
	{ADD, "{}", NULL, "3", MCPOOL_EEXIST, "there is one already"},
	{REMOVE, "{\"a\": 1}", "b", NULL, MCPOOL_ENOENT, "there is none"},
	{REMOVE, "{\"a\": {}}", "a/b", NULL, MCPOOL_ENOENT, "there is none"},
	{REMOVE, "{}", "a/b/c", NULL, MCPOOL_ENOENT, "there is none"},
	{REMOVE, "[1, 2]", "2", NULL, MCPOOL_ENOENT, "there is none"},
	{REMOVE, "[1, 2]", "-", NULL, MCPOOL_ENOENT, "there is none"},
	{REMOVE, "{\"a\": 1}", NULL, NULL, MCPOOL_EINVAL, "the whole text cannot be removed"},
	{REMOVE, "{\"a\": 1, \"a\": 2}", "a", NULL, MCPOOL_EINVAL,
	 "the key occurs twice; remove one by hand first"},
	{REMOVE, "{\"a\": 1, \"\\u0061\": 2}", "a", NULL, MCPOOL_EINVAL,
	 "the key occurs twice; remove one by hand first"},
	/* An index that leads nowhere. */
	{SET, "[1, 2]", "3", "0", MCPOOL_ENOENT, "an array of 2 has no element '3'"},
	{SET, "[1, 2]", "x", "0", MCPOOL_ENOENT, "an array of 2 has no element 'x'"},
	{SET, "[1, 2]", "", "0", MCPOOL_ENOENT, "an array of 2 has no element ''"},
	{SET, "[1, 2]", "-1", "0", MCPOOL_ENOENT, "an array of 2 has no element '-1'"},
	{SET, "[1, 2]", "1.0", "0", MCPOOL_ENOENT, "an array of 2 has no element '1.0'"},
	{SET, "[1, 2]", "99999999999999999999", "0", MCPOOL_ENOENT,
	 "an array of 2 has no element '99999999999999999999'"},
	{ADD, "{\"a\": []}", "a/1", "0", MCPOOL_ENOENT, "an array of 0 has no element '1'"},
	{REMOVE, "[1, 2]", "7", NULL, MCPOOL_ENOENT, "an array of 2 has no element '7'"},
	/* A path through what holds nothing. */
	{SET, "{\"a\": 1}", "a/b", "0", MCPOOL_ETYPE, "'b' cannot be looked up in a number"},
	{SET, "{\"a\": null}", "a/b", "0", MCPOOL_ETYPE, "'b' cannot be looked up in null"},
	{ADD, "{\"a\": \"x\"}", "a/0", "0", MCPOOL_ETYPE, "'0' cannot be looked up in a string"},
	{REMOVE, "[true]", "0/x", NULL, MCPOOL_ETYPE, "'x' cannot be looked up in true"},
	{SET, "5", "a", "0", MCPOOL_ETYPE, "'a' cannot be looked up in a number"},
	/* Texts that are not valid, with the place. */
	{SET, "{\n  \"a\": 1,\n  \"b\" 2\n}\n", "a", "0", MCPOOL_EPARSE,
	 "line 3, column 7: a ':' is expected here"},
	{ADD, "{\"a\": 1", "b", "0", MCPOOL_EPARSE, "line 1, column 8: the text ends too early"},
	{REMOVE, "{\"a\": 1}}", "a", NULL, MCPOOL_EPARSE,
	 "line 1, column 9: there is something behind the end of the value"},
	{SET, "", "a", "0", MCPOOL_EPARSE, "line 1, column 1: there is no value"},
	{SET, "// only a comment\n", "a", "0", MCPOOL_EPARSE,
	 "line 2, column 1: there is no value"},
	{SET, "{} /* open", "a", "0", MCPOOL_EPARSE,
	 "line 1, column 4: this comment is never closed"},
	{SET, "{\"a\": 'x'}", "a", "0", MCPOOL_EPARSE,
	 "line 1, column 7: a value is expected here"},
	/* New values that are not valid; comments are not for us to write. */
	{SET, "{\"a\": 1}", "a", "", MCPOOL_EPARSE,
	 "the new value: line 1, column 1: there is no value"},
	{SET, "{\"a\": 1}", "a", "[1,]", MCPOOL_EPARSE,
	 "the new value: line 1, column 4: a ',' before a closing bracket is not allowed here"},
	{ADD, "{\"a\": 1}", "b", "1 // x", MCPOOL_EPARSE,
	 "the new value: line 1, column 3: a comment is not allowed here"},
	{ADD, "{\"a\": 1}", "b", "x", MCPOOL_EPARSE,
	 "the new value: line 1, column 1: a value is expected here"},
};

static bool is_refused(const struct refusal *row)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	struct path p = split(row->path);
	struct mcpool_error err = {0};

	mp_buf_init(&out, 10000);
	REQUIRE(mp_buf_add(&out, "kept", 4) == 0);
	REQUIRE(edit(row->op, mp_str_of(row->text), &p, mp_str_of(row->value), &out, &err) ==
		row->code);
	REQUIRE(err.code == row->code);
	REQUIRE(mp_str_eq(mp_buf_get(&out), MP_STR("kept")));
	/* The words are for people, and optional. */
	REQUIRE(edit(row->op, mp_str_of(row->text), &p, mp_str_of(row->value), &out, NULL) ==
		row->code);
	return test_same_text(mp_str_of(err.message), mp_str_of(row->message), "the message",
			      __FILE__, __LINE__);
}

TEST(what_cannot_be_done_is_refused_in_words)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(refusals); i++)
		CHECK(test_true(is_refused(&refusals[i]), refusals[i].text, __FILE__, __LINE__));
}

/* n arrays in each other. */
static int nest(struct mp_buf *b, int n)
{
	int r = 0;

	mp_buf_clear(b);
	for (int i = 0; i < n && r == 0; i++)
		r = mp_buf_add_char(b, '[');
	for (int i = 0; i < n && r == 0; i++)
		r = mp_buf_add_char(b, ']');
	return r;
}

TEST(a_value_may_make_the_text_as_deep_as_is_allowed)
{
	static const struct {
		const char *text, *path;
		int levels; /* the value may have */
	} depths[] = {
		{"1", NULL, 128},
		{"{\"a\": 1}", "a", 127},
		{"{\"a\": 1}", "b", 127},
		{"{}", "b", 127},
		{"{}", "b/c", 126},
		{"{\"a\": {\"b\": [1]}}", "a/b/-", 125},
		{"{\"a\": {\"b\": [1]}}", "a/b/0", 125},
		{"{\"a\": {\"b\": [1]}}", "a/x/y/z", 124},
	};
	MP_CLEANUP(mp_buf_done) struct mp_buf value, out;

	mp_buf_init(&value, 10000);
	mp_buf_init(&out, 100000);
	for (size_t i = 0; i < MP_ARRAY_LEN(depths); i++) {
		struct path p = split(depths[i].path);
		struct mp_str text = mp_str_of(depths[i].text);

		mp_buf_clear(&out);
		CHECK_EQ(nest(&value, depths[i].levels), 0);
		CHECK_EQ(edit(SET, text, &p, mp_buf_get(&value), &out, NULL), 0);
		CHECK(parses(mp_buf_get(&out), 0));
		mp_buf_clear(&out);
		CHECK_EQ(nest(&value, depths[i].levels + 1), 0);
		CHECK_EQ(edit(SET, text, &p, mp_buf_get(&value), &out, NULL), MCPOOL_ELIMIT);
		CHECK_EQ(out.len, 0);
	}
}

TEST(a_path_may_be_as_long_as_is_allowed)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	struct mcpool_error err = {0};
	struct path p;

	mp_buf_init(&out, MP_MIB(1));
	for (p.n = 0; p.n < MAX_KEYS; p.n++)
		p.keys[p.n] = MP_STR("k");
	p.n = 128;
	CHECK_EQ(edit(SET, MP_STR("{}"), &p, MP_STR("1"), &out, NULL), 0);
	CHECK(parses(mp_buf_get(&out), 0));
	p.n = 129;
	CHECK_EQ(edit(SET, MP_STR("{}"), &p, MP_STR("1"), &out, &err), MCPOOL_ELIMIT);
	CHECK_TEXT(err.message, "the value would be nested too deeply");
}

TEST(out_has_a_ceiling)
{
	static const struct row tried[] = {
		{SET, "{\n  \"a\": 1,\n  \"b\": 2\n}\n", "a", "{\"x\":[1,2,{}]}", NULL},
		{ADD, "{\n  \"a\": 1, // one\n}\n", "c/d", "{\"x\":[1,2,{}]}", NULL},
		{ADD, "{ /* none */ }", "c", "1", NULL},
		{ADD, "{}", "c", "1", NULL},
		{REMOVE, "{\"a\": 1, \"b\": 2}", "a", NULL, NULL},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(tried); i++) {
		MP_CLEANUP(mp_buf_done) struct mp_buf whole;
		struct path p = split(tried[i].path);

		mp_buf_init(&whole, 1000);
		CHECK_EQ(edit(tried[i].op, mp_str_of(tried[i].text), &p, mp_str_of(tried[i].value),
			      &whole, NULL),
			 0);
		for (size_t ceiling = 1; ceiling <= whole.len + 1; ceiling++) {
			MP_CLEANUP(mp_buf_done) struct mp_buf out;
			struct mcpool_error err = {0};
			int r;

			mp_buf_init(&out, ceiling);
			CHECK_EQ(mp_buf_add_char(&out, '!'), 0);
			r = edit(tried[i].op, mp_str_of(tried[i].text), &p,
				 mp_str_of(tried[i].value), &out, &err);
			CHECK_EQ(r, ceiling > whole.len ? 0 : MCPOOL_ELIMIT);
			CHECK_EQ(err.code, r);
			CHECK_EQ(out.len, r == 0 ? whole.len + 1 : 1);
		}
	}
}

/* The runner lets every allocation fail too, but cannot look at what is left behind. */
TEST(refused_memory_leaves_out_as_it_was)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	struct path p = split("m/new");
	struct mcpool_error err = {0};
	int r = MCPOOL_ENOMEM;
	uint64_t nth = 0;

	mp_buf_init(&out, 1000);
	if (!mp_fault_is_built_in())
		return;
	CHECK_EQ(mp_buf_add(&out, "kept", 4), 0);
	while (r == MCPOOL_ENOMEM) {
		mp_fault_arm(MP_FAULT_TRY, ++nth);
		r = edit(SET, MP_STR("{\"m\":{\"a\":[1,2,3]}}"), &p, MP_STR("{\"x\":[1]}"), &out,
			 &err);
		mp_fault_arm(MP_FAULT_TRY, 0);
		CHECK(r == 0 || (r == MCPOOL_ENOMEM && err.code == MCPOOL_ENOMEM));
		if (r < 0)
			CHECK_STR(mp_buf_get(&out), "kept");
	}
	CHECK_STR(mp_buf_get(&out), "kept{\"m\":{\"a\":[1,2,3],\"new\":{\"x\":[1]}}}");
	CHECK(nth >= 4);
}

/* Processor time of adding to a text of this many bytes, all on one line; negative: it failed. */
static double time_adding(size_t size)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text, out;
	struct path p = split("new/er");
	clock_t start;
	int r;

	mp_buf_init(&text, MP_MIB(4));
	mp_buf_init(&out, MP_MIB(4));
	r = mp_buf_add(&text, "{\"a\":[", 6);
	while (r == 0 && text.len < size)
		r = mp_buf_add_str(&text, MP_STR("{},[],{\"b\":1}, /* c */ "));
	if (r == 0)
		r = mp_buf_add_str(&text, MP_STR("0]}"));
	start = clock();
	if (r == 0)
		r = edit(SET, mp_buf_get(&text), &p, MP_STR("[1]"), &out, NULL);
	return r < 0 ? -1 : (double)(clock() - start) / CLOCKS_PER_SEC;
}

HEAVY_TEST(a_long_line_takes_linear_time)
{
	double small = time_adding(MP_KIB(128)), large = time_adding(MP_MIB(1));

	CHECK(small >= 0 && large >= 0);
	CHECK(large <= 8 * 4 * small + 0.2); /* eight times the text */
}

/* --- random texts -------------------------------------------------------------------------- */

struct gen {
	uint64_t seed;
	struct mp_buf *out;
	bool jsonc;   /* with comments and trailing commas */
	unsigned odd; /* how often white space is odd: 1 in so many; 0: never */
	const char *eol;
	unsigned count; /* of comments and keys, to tell them apart */
};

static uint64_t dice(struct gen *g, uint64_t sides)
{
	return test_random(&g->seed) % sides;
}

/* A line's end is written as this text has it. */
static int put(struct gen *g, const char *text)
{
	int r = 0;

	for (; *text && r == 0; text++)
		r = *text == '\n' ? mp_buf_add_str(g->out, mp_str_of(g->eol))
				  : mp_buf_add_char(g->out, *text);
	return r;
}

/* What stands before and behind a number that no other comment or key has. */
struct shape {
	const char *before, *behind;
};

static int put_shape(struct gen *g, const struct shape *shape)
{
	char number[16];
	int r = put(g, shape->before);

	snprintf(number, sizeof(number), "%u", g->count++);
	if (r == 0)
		r = put(g, number);
	return r < 0 ? r : put(g, shape->behind);
}

static int put_comment(struct gen *g)
{
	static const struct shape shapes[] = {
		{"/* c", " */"},     {"/*c", "*/"},       {"/* \"x", "\": [1, */"},
		{"/** c", " **/"},   {"/*/ c", " } */"},  {"// c", "\n"},
		{"//c", " { \" \n"}, {"// c", ", /* \n"}, {"/* c", "\n  */"},
		{"/*\n c", "\n*/"},
	};

	return put_shape(g, &shapes[dice(g, MP_ARRAY_LEN(shapes))]);
}

/* Whatever may stand between two tokens. */
static int put_gap(struct gen *g)
{
	int r = 0;

	if (!g->odd || dice(g, g->odd))
		return 0;
	for (uint64_t n = dice(g, 4); n > 0 && r == 0; n--) {
		switch (dice(g, g->jsonc ? 8 : 5)) {
		case 0:
		case 1:
			r = put(g, " ");
			break;
		case 2:
			r = put(g, dice(g, 2) ? "\t" : "   ");
			break;
		case 3:
		case 4:
			r = put(g, "\n");
			break;
		default:
			r = put_comment(g);
		}
	}
	return r;
}

static int put_random_key(struct gen *g)
{
	static const struct shape shapes[] = {
		{"\"k", "\""},    {"\"k", "\""},   {"\"k", "\""},      {"\"\\u006b", "\""},
		{"\"k", "\\n\""}, {"\"// ", "\""}, {"\"", "\\\" :\""}, {"\"\xc3\xa9", "\""},
	};

	return put_shape(g, &shapes[dice(g, MP_ARRAY_LEN(shapes))]);
}

static int put_random_scalar(struct gen *g)
{
	static const char *const scalars[] = {
		"null", "true",     "false",           "0",           "-1.50e+2",
		"\"\"", "\"text\"", "\"a \\\" // b\"", "\"/* \\\\\"", "12345678901234567890"};

	return put(g, scalars[dice(g, MP_ARRAY_LEN(scalars))]);
}

static int put_random_value(struct gen *g, unsigned depth);

static int put_random_inside(struct gen *g, unsigned depth, bool object)
{
	uint64_t n = dice(g, 5);
	int r = 0;

	for (uint64_t i = 0; i < n && r == 0; i++) {
		if (i)
			r = put(g, ",");
		if (r == 0)
			r = put_gap(g);
		if (r == 0 && object)
			r = put_random_key(g);
		if (r == 0 && object)
			r = put_gap(g);
		if (r == 0 && object)
			r = put(g, ":");
		if (r == 0 && object)
			r = put_gap(g);
		if (r == 0)
			r = put_random_value(g, depth + 1);
		if (r == 0)
			r = put_gap(g);
	}
	if (r == 0 && n && g->jsonc && dice(g, 4) == 0)
		r = put(g, ",");
	return r < 0 ? r : put_gap(g);
}

static int put_random_value(struct gen *g, unsigned depth)
{
	bool object = dice(g, 2);
	int r;

	if (depth >= 5 || (depth && dice(g, 2)))
		return put_random_scalar(g);
	r = put(g, object ? "{" : "[");
	if (r == 0)
		r = put_random_inside(g, depth, object);
	return r < 0 ? r : put(g, object ? "}" : "]");
}

static int put_random_text(struct gen *g)
{
	int r = g->jsonc && dice(g, 20) == 0 ? put(g, "\xef\xbb\xbf") : 0;

	if (r == 0)
		r = put_gap(g);
	if (r == 0)
		r = put_random_value(g, 0);
	return r < 0 ? r : put_gap(g);
}

/* --- what an edit must not change ---------------------------------------------------------- */

struct span {
	size_t start, end;
};

/* All comments of a valid text outside the span, with a NUL behind each. */
static int collect_comments(struct mp_str s, struct span without, struct mp_buf *out)
{
	size_t at = 0, start;
	int r = 0;

	while (at < s.len && r == 0) {
		if (at == without.start && without.end > at) {
			at = without.end;
		} else if (s.p[at] == '"') {
			for (at++; s.p[at] != '"'; at++)
				at += s.p[at] == '\\';
			at++;
		} else if (s.p[at] == '/') {
			bool line = s.p[at + 1] == '/';

			start = at;
			for (at += 2; at < s.len; at++) {
				if (line && (s.p[at] == '\n' || s.p[at] == '\r'))
					break;
				if (!line && s.p[at - 1] == '*' && s.p[at] == '/' && at - start > 2)
					break;
			}
			at += !line;
			r = mp_buf_add(out, s.p + start, at - start);
			if (r == 0)
				r = mp_buf_add_char(out, '\0');
		} else {
			at++;
		}
	}
	return r;
}

static bool same_comments(struct mp_str before, struct span gone, struct mp_str after)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf a, b;

	mp_buf_init(&a, MP_MIB(1));
	mp_buf_init(&b, MP_MIB(1));
	REQUIRE(collect_comments(before, gone, &a) == 0);
	REQUIRE(collect_comments(after, (struct span){0, 0}, &b) == 0);
	REQUIRE(mp_str_eq(mp_buf_get(&a), mp_buf_get(&b)));
	return true;
}

/* The edit that is tried on one text. */
struct trial {
	enum op op;
	struct mp_tape before, after;
	struct mp_tape value;
	struct mp_buf text, result;
	struct mp_arena arena; /* of the keys */
	struct path path;
	mp_value parent; /* that is edited; MP_NONE: the root is replaced */
	mp_value target; /* that is replaced or removed; MP_NONE: one is added */
};

static void trial_init(struct trial *t)
{
	*t = (struct trial){.parent = MP_NONE, .target = MP_NONE};
	mp_tape_init(&t->before, MP_TAPE_JSONC);
	mp_tape_init(&t->after, MP_TAPE_JSONC);
	mp_tape_init(&t->value, 0);
	mp_buf_init(&t->text, MP_MIB(1));
	mp_buf_init(&t->result, MP_MIB(1));
	mp_arena_init(&t->arena, MP_MIB(1));
}

static void trial_done(struct trial *t)
{
	mp_tape_done(&t->before);
	mp_tape_done(&t->after);
	mp_tape_done(&t->value);
	mp_buf_done(&t->text);
	mp_buf_done(&t->result);
	mp_arena_done(&t->arena);
}

static bool is_object(const struct mp_tape *t, mp_value v)
{
	return mp_value_is(t, v, MP_TAPE_OBJECT);
}

/* The value that belongs to what MP_VALUE_EACH gives. */
static mp_value member(const struct mp_tape *t, mp_value parent, mp_value child)
{
	return is_object(t, parent) ? mp_value_of(child) : child;
}

/* The path to node `to`, which is not a key; parent is set to its container. */
static bool find_path(struct trial *t, mp_value to)
{
	mp_value at = MP_ROOT;

	t->path.n = 0;
	t->parent = MP_NONE;
	while (at != to) {
		mp_value down = MP_NONE;
		unsigned index = 0;

		MP_VALUE_EACH(&t->before, at, child) {
			mp_value v = member(&t->before, at, child);

			if (v <= to && to < t->before.nodes[v].next) {
				struct mp_str *key = &t->path.keys[t->path.n++];
				char number[16];

				snprintf(number, sizeof(number), "%u", index);
				if (is_object(&t->before, at))
					REQUIRE(mp_value_text(&t->before, child, &t->arena, key) ==
						0);
				else
					*key = mp_str_of(
						mp_arena_dup(&t->arena, mp_str_of(number)));
				REQUIRE(key->p);
				down = v;
				break;
			}
			index++;
		}
		REQUIRE(down != MP_NONE);
		t->parent = at;
		at = down;
	}
	return true;
}

static bool is_key(const struct mp_tape *t, mp_value to)
{
	for (mp_value v = 0; v < t->n; v++)
		if (is_object(t, v))
			MP_VALUE_EACH(t, v, key) {
				if (key == to)
					return true;
			}
	return false;
}

/* Choose what to do, and where. */
static bool choose(struct trial *t, struct gen *g)
{
	static const char *const values[] = {
		"1",
		"\"new\"",
		"null",
		"[]",
		"{}",
		"[1,[2,{\"x\":\"\\u00e9\"}]]",
		"{\"command\":\"npx\",\"args\":[\"-y\",\"p\"],\"env\":{},\"o\":{\"a\":1}}",
	};
	mp_value v;

	do
		v = (mp_value)dice(g, t->before.n);
	while (is_key(&t->before, v));
	t->op = (enum op)dice(g, 3);
	t->target = MP_NONE;
	REQUIRE(mp_tape_parse(&t->value, mp_str_of(values[dice(g, MP_ARRAY_LEN(values))]), NULL) ==
		0);
	REQUIRE(find_path(t, v));
	if (t->op == ADD || (t->op == SET && dice(g, 3) == 0)) {
		/* Into this one, or into what holds it. */
		if (t->before.nodes[v].type < MP_TAPE_ARRAY) {
			if (t->parent == MP_NONE)
				return false;
			v = t->parent;
			REQUIRE(find_path(t, v));
		}
		t->parent = v;
		t->path.keys[t->path.n++] =
			is_object(&t->before, v) ? MP_STR("added") : MP_STR("-");
		return true;
	}
	t->target = v;
	return t->op == SET || v != MP_ROOT;
}

/* Where the member or element stands that is edited; empty for one that is new. */
static struct span member_span(const struct trial *t, bool with_key)
{
	mp_value from = t->target;

	if (t->target == MP_NONE)
		return (struct span){0, 0};
	if (with_key && is_object(&t->before, t->parent))
		from--;
	return (struct span){t->before.nodes[from].start, t->before.nodes[t->target].end};
}

static struct mp_str source(const struct mp_tape *t, mp_value v)
{
	return mp_value_source(t, v);
}

/* Is the value that was set what stands there now? */
static bool is_wanted(const struct trial *t, mp_value v)
{
	bool equal = false;

	REQUIRE(v != MP_NONE);
	REQUIRE(mp_value_equal(&t->after, v, &t->value, MP_ROOT, &equal) == 0);
	REQUIRE(equal);
	return true;
}

/* The edited container, child by child: all others are there, in order and byte for byte. */
static bool same_siblings(const struct trial *t, mp_value x, mp_value y)
{
	mp_value other = mp_value_first(&t->after, y);

	MP_VALUE_EACH(&t->before, x, child) {
		mp_value v = member(&t->before, x, child);

		if (v == t->target && t->op == REMOVE)
			continue;
		REQUIRE(other != MP_NONE);
		if (is_object(&t->before, x))
			REQUIRE(mp_str_eq(source(&t->before, child), source(&t->after, other)));
		if (v == t->target)
			REQUIRE(is_wanted(t, member(&t->after, y, other)));
		else
			REQUIRE(mp_str_eq(source(&t->before, v),
					  source(&t->after, member(&t->after, y, other))));
		other = mp_value_next(&t->after, y, member(&t->after, y, other));
	}
	if (t->target == MP_NONE) {
		REQUIRE(other != MP_NONE);
		REQUIRE(is_wanted(t, member(&t->after, y, other)));
		other = mp_value_next(&t->after, y, member(&t->after, y, other));
	}
	REQUIRE(other == MP_NONE);
	return true;
}

/* Bytes outside the container are the same, which also says where the container is afterwards. */
static bool same_outside(const struct trial *t, struct span inside)
{
	struct mp_str a = mp_buf_get(&t->text), b = mp_buf_get(&t->result);
	size_t behind = a.len - inside.end;

	REQUIRE(b.len >= inside.start + behind);
	REQUIRE(memcmp(a.p, b.p, inside.start) == 0);
	REQUIRE(memcmp(a.p + inside.end, b.p + b.len - behind, behind) == 0);
	return true;
}

static mp_value node_at(const struct mp_tape *t, size_t start)
{
	for (mp_value v = 0; v < t->n; v++)
		if (t->nodes[v].start == start)
			return v;
	return MP_NONE;
}

static bool nothing_else_changed(const struct trial *t)
{
	struct span outside = {t->before.nodes[0].start, t->before.nodes[0].end};
	struct span gone = member_span(t, t->op == REMOVE);

	if (t->parent != MP_NONE)
		outside = (struct span){t->before.nodes[t->parent].start,
					t->before.nodes[t->parent].end};
	REQUIRE(same_outside(t, outside));
	if (t->op == SET && t->target != MP_NONE)
		REQUIRE(same_outside(t, gone));
	if (t->parent == MP_NONE)
		REQUIRE(is_wanted(t, MP_ROOT));
	else
		REQUIRE(same_siblings(t, t->parent, node_at(&t->after, outside.start)));
	REQUIRE(same_comments(mp_buf_get(&t->text), gone, mp_buf_get(&t->result)));
	return true;
}

static bool trial_holds(struct trial *t)
{
	struct mp_str text = mp_buf_get(&t->text), value = source(&t->value, MP_ROOT);
	MP_CLEANUP(free_bytes) char *exact = malloc(text.len);

	REQUIRE(exact);
	memcpy(exact, text.p, text.len);
	mp_buf_clear(&t->result);
	REQUIRE(edit(t->op, (struct mp_str){exact, text.len}, &t->path, value, &t->result, NULL) ==
		0);
	REQUIRE(mp_tape_parse(&t->after, mp_buf_get(&t->result), NULL) == 0);
	REQUIRE(!parses(text, 0) || parses(mp_buf_get(&t->result), 0));
	return nothing_else_changed(t);
}

/* How many were tried: by operation, and whether there was one before. */
struct tally {
	size_t n[3][2];
};

static void count(struct tally *sum, const struct trial *t)
{
	sum->n[t->op][t->target != MP_NONE]++;
}

/* What was found wrong is shown whole: it becomes a row of the table. */
static bool try_random(uint64_t seed, bool jsonc, unsigned odd, struct tally *sum)
{
	MP_CLEANUP(trial_done) struct trial t;
	struct gen g = {.seed = seed * 0x9e3779b97f4a7c15u | 1,
			.out = &t.text,
			.jsonc = jsonc,
			.odd = odd,
			.eol = seed % 3 ? "\n" : "\r\n"};

	trial_init(&t);
	REQUIRE(put_random_text(&g) == 0);
	REQUIRE(mp_tape_parse(&t.before, mp_buf_get(&t.text), NULL) == 0);
	if (!choose(&t, &g))
		return true;
	count(sum, &t);
	if (trial_holds(&t))
		return true;
	fprintf(stderr, "operation %d on\n[%.*s]\ngives\n[%.*s]\n", t.op,
		MP_STR_ARGS(mp_buf_get(&t.text)), MP_STR_ARGS(mp_buf_get(&t.result)));
	return false;
}

HEAVY_TEST(nothing_but_the_wanted_change_is_seen)
{
	struct tally sum = {{{0}}};

	for (uint64_t seed = 1; seed <= 30000; seed++)
		CHECK(try_random(seed, seed % 4 != 0, (unsigned)(seed % 3 + 1), &sum));
	CHECK(sum.n[SET][0] > 2000 && sum.n[SET][1] > 4000);
	CHECK(sum.n[ADD][0] > 8000 && sum.n[REMOVE][1] > 4000);
}

/* --- texts in one style stay in it --------------------------------------------------------- */

struct style {
	const char *indent, *eol;
	bool spaces;
};

static int put_random_object(struct gen *g, struct mp_writer *w, unsigned depth)
{
	uint64_t n = dice(g, 5) + (depth ? 0 : 1);

	mp_write_begin_object(w);
	for (uint64_t i = 0; i < n; i++) {
		char key[16];

		snprintf(key, sizeof(key), "k%u", g->count++);
		mp_write_key(w, mp_str_of(key));
		if (depth < 4 && dice(g, 2))
			(void)put_random_object(g, w, depth + 1); /* finish() tells */
		else
			mp_write_i64(w, (int64_t)dice(g, 1000));
	}
	mp_write_end_object(w);
	return depth ? 0 : mp_write_finish(w);
}

static void init_writer(struct mp_writer *w, struct mp_buf *out, const struct style *style)
{
	mp_write_init(w, out, style->indent);
	w->eol = style->eol;
	w->spaces = style->spaces;
}

/* A text of objects as our own writer has it, edited, is as our own writer has it. */
static bool stays_in_style(uint64_t seed, const struct style *style, struct tally *sum)
{
	MP_CLEANUP(trial_done) struct trial t;
	MP_CLEANUP(mp_buf_done) struct mp_buf again;
	struct gen g = {.seed = seed * 0x9e3779b97f4a7c15u | 1};
	struct mp_writer w;

	trial_init(&t);
	mp_buf_init(&again, MP_MIB(1));
	init_writer(&w, &t.text, style);
	REQUIRE(put_random_object(&g, &w, 0) == 0);
	REQUIRE(mp_tape_parse(&t.before, mp_buf_get(&t.text), NULL) == 0);
	/* Where the root goes, nothing is left to tell the style. */
	if (!choose(&t, &g) || t.parent == MP_NONE)
		return true;
	count(sum, &t);
	REQUIRE(trial_holds(&t));
	init_writer(&w, &again, style);
	mp_write_value(&w, &t.after, MP_ROOT);
	REQUIRE(mp_write_finish(&w) == 0);
	return test_same_text(mp_buf_get(&t.result), mp_buf_get(&again), "the edited text",
			      __FILE__, __LINE__);
}

HEAVY_TEST(a_text_in_one_style_stays_in_it)
{
	static const struct style styles[] = {
		{"  ", "\n", true}, {"    ", "\n", true}, {"\t", "\n", true}, {"  ", "\r\n", true},
		{"\t", "\r", true}, {"  ", "\n", false},  {NULL, "\n", true}, {NULL, "\n", false},
	};
	struct tally sum = {{{0}}};

	for (uint64_t seed = 1; seed <= 8000; seed++)
		CHECK(stays_in_style(seed, &styles[seed % MP_ARRAY_LEN(styles)], &sum));
	CHECK(sum.n[SET][0] > 500 && sum.n[SET][1] > 1000);
	CHECK(sum.n[ADD][0] > 2000 && sum.n[REMOVE][1] > 2000);
}

/* --- there and back ------------------------------------------------------------------------ */

/* Set to what it is already: not one byte differs. Added and removed: only white space may. */
static bool comes_back(uint64_t seed)
{
	MP_CLEANUP(trial_done) struct trial t;
	struct gen g = {.seed = seed * 0x9e3779b97f4a7c15u | 1,
			.out = &t.text,
			.jsonc = true,
			.odd = 2,
			.eol = "\n"};
	MP_CLEANUP(mp_buf_done) struct mp_buf back;
	bool equal = false;

	trial_init(&t);
	mp_buf_init(&back, MP_MIB(1));
	REQUIRE(put_random_text(&g) == 0);
	REQUIRE(mp_tape_parse(&t.before, mp_buf_get(&t.text), NULL) == 0);
	if (!choose(&t, &g))
		return true;
	if (t.target != MP_NONE && t.before.nodes[t.target].type < MP_TAPE_ARRAY) {
		REQUIRE(edit(SET, mp_buf_get(&t.text), &t.path, source(&t.before, t.target), &back,
			     NULL) == 0);
		REQUIRE(mp_str_eq(mp_buf_get(&back), mp_buf_get(&t.text)));
		return true;
	}
	if (t.target != MP_NONE || !is_object(&t.before, t.parent))
		return true;
	REQUIRE(edit(ADD, mp_buf_get(&t.text), &t.path, MP_STR("[1]"), &t.result, NULL) == 0);
	REQUIRE(edit(REMOVE, mp_buf_get(&t.result), &t.path, MP_STR(""), &back, NULL) == 0);
	REQUIRE(mp_tape_parse(&t.after, mp_buf_get(&back), NULL) == 0);
	REQUIRE(mp_value_equal(&t.before, MP_ROOT, &t.after, MP_ROOT, &equal) == 0 && equal);
	REQUIRE(same_comments(mp_buf_get(&t.text), (struct span){0, 0}, mp_buf_get(&back)));
	return true;
}

HEAVY_TEST(what_is_undone_is_as_before)
{
	for (uint64_t seed = 1; seed <= 8000; seed++)
		CHECK(comes_back(seed));
}
