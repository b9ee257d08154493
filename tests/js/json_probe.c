/*
 * json_probe.c - our JSON layer for tests in JavaScript.
 * Reads frames `MODE LENGTH\n` and so many bytes; answers each with a line: `refuse`, or `accept`
 * and the document written on one line. MODE is strict or jsonc, or `set` with the frames of a
 * path (a JSON array of strings) and of a value behind it: the text after mp_edit_set(), as a JSON
 * string.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "json/edit.h"
#include "json/tape.h"
#include "json/value.h"
#include "json/write.h"

static char *read_bytes(size_t len)
{
	char *bytes = malloc(len + 1);

	if (!bytes || fread(bytes, 1, len, stdin) != len)
		exit(2);
	bytes[len] = '\0';
	return bytes;
}

static struct mp_str read_frame(char mode[16])
{
	size_t len;

	if (scanf("%15s %zu", mode, &len) != 2 || getchar() != '\n')
		exit(mode[0] ? 2 : 0);
	return (struct mp_str){read_bytes(len), len};
}

static void answer(struct mp_str text, unsigned accept)
{
	struct mp_writer w;
	struct mp_tape t;
	struct mp_buf out;

	mp_tape_init(&t, accept);
	mp_buf_init(&out, MP_LIMIT_MESSAGE);
	if (mp_tape_parse(&t, text, NULL) < 0) {
		puts("refuse");
	} else {
		mp_write_init(&w, &out, NULL);
		mp_write_value(&w, &t, MP_ROOT);
		if (mp_write_finish(&w) < 0)
			exit(2);
		printf("accept %.*s\n", MP_STR_ARGS(mp_buf_get(&out)));
	}
	mp_buf_done(&out);
	mp_tape_done(&t);
}

static void answer_set(struct mp_str text)
{
	char mode[16] = "";
	struct mp_str keys[16], path = read_frame(mode), value = read_frame(mode);
	struct mp_buf out, quoted;
	struct mp_arena arena;
	struct mp_writer w;
	struct mp_tape t;
	size_t n = 0;

	mp_tape_init(&t, 0);
	mp_arena_init(&arena, MP_LIMIT_ARENA);
	mp_buf_init(&out, MP_LIMIT_MESSAGE);
	mp_buf_init(&quoted, MP_LIMIT_MESSAGE);
	if (mp_tape_parse(&t, path, NULL) < 0)
		exit(2);
	MP_VALUE_EACH(&t, MP_ROOT, v) {
		if (n == MP_ARRAY_LEN(keys) || mp_value_text(&t, v, &arena, &keys[n++]) < 0)
			exit(2);
	}
	if (mp_edit_set(text, keys, n, value, &out, NULL) < 0) {
		puts("refuse");
	} else {
		mp_write_init(&w, &quoted, NULL);
		mp_write_text(&w, mp_buf_get(&out));
		if (mp_write_finish(&w) < 0)
			exit(2);
		printf("accept %.*s\n", MP_STR_ARGS(mp_buf_get(&quoted)));
	}
	free((char *)path.p);
	free((char *)value.p);
	mp_buf_done(&quoted);
	mp_buf_done(&out);
	mp_arena_done(&arena);
	mp_tape_done(&t);
}

int main(void)
{
	for (;;) {
		char mode[16] = "";
		struct mp_str text = read_frame(mode);

		if (strcmp(mode, "set") == 0)
			answer_set(text);
		else
			answer(text, strcmp(mode, "jsonc") == 0 ? MP_TAPE_JSONC : 0);
		free((char *)text.p);
	}
}
