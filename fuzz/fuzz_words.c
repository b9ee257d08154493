/*
 * fuzz_words.c - what people type and what servers say, on its way to JSON and to a terminal:
 * arguments are valid JSON or refused with words; safe text has nothing a terminal obeys.
 */
#include "fuzz.h"

#include "cli/display/cli.h"
#include "cli/display/safe.h"

static void check_safe(struct mp_str text, enum mp_safe_kind kind)
{
	struct mp_buf out;

	mp_buf_init(&out, 1 << 20);
	FUZZ_CHECK(mp_safe_add(&out, text, kind) == 0);
	FUZZ_CHECK(mp_utf8_valid(mp_buf_get(&out)));
	for (size_t i = 0; i < out.len; i++) {
		unsigned char c = (unsigned char)out.data[i];

		FUZZ_CHECK(c != 0x7f &&
			   (c >= 0x20 || (kind == MP_SAFE_TEXT && (c == '\n' || c == '\t'))));
		/* C1 controls, as UTF-8 has them */
		FUZZ_CHECK(!(c == 0xc2 && (unsigned char)out.data[i + 1] < 0xa0));
	}
	FUZZ_CHECK(mp_safe_cut(mp_buf_get(&out), 10) <= out.len);
	mp_buf_done(&out);
}

static void check_typed(struct mp_str schema, struct mp_str given, char *words[], int n)
{
	struct mp_buf out;
	struct mp_tape t;
	struct mcpool_error why = {0};

	mp_buf_init(&out, 1 << 20);
	mp_tape_init(&t, 0);
	if (mp_typed_build(schema, given, words, n, &out, &why) < 0)
		FUZZ_CHECK(why.message[0]);
	else
		FUZZ_CHECK(mp_tape_parse(&t, mp_buf_get(&out), NULL) == 0 &&
			   mp_value_is(&t, MP_ROOT, MP_TAPE_OBJECT));
	mp_tape_done(&t);
	mp_buf_done(&out);
}

/* Lines of the input: a schema, --args, then up to four words. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text, *line, *next, *lines[6] = {NULL};
	int n = 0;

	if (size > 4000)
		return 0;
	check_safe((struct mp_str){(const char *)data, size}, MP_SAFE_LINE);
	check_safe((struct mp_str){(const char *)data, size}, MP_SAFE_TEXT);
	text = malloc(size + 1);
	memcpy(text, data, size);
	text[size] = '\0';
	for (line = text; line && n < 6; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		lines[n++] = line;
	}
	if (n > 2)
		check_typed(mp_str_of(lines[0]), mp_str_of(lines[1]), lines + 2, n - 2);
	if (n)
		mp_cli_name_command((char *const[]){lines[0], n > 1 ? lines[1] : NULL, NULL},
				    (char[64]){0}, 64);
	free(text);
	return 0;
}
