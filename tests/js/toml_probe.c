/*
 * toml_probe.c - our TOML reader for tests in JavaScript.
 * Reads frames `toml LENGTH\n` and so many bytes; answers each with a line: `accept` and the JSON,
 * or `refuse LINE:COLUMN: SENTENCE`.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "toml/toml.h"

static bool read_frame(struct mp_str *ret_text)
{
	char *bytes;
	size_t len;

	if (scanf("toml %zu", &len) != 1)
		return false;
	if (getchar() != '\n' || len > MP_LIMIT_MESSAGE)
		exit(2);
	bytes = malloc(len ? len : 1); /* exactly, so that ASan sees what is read behind them */
	if (!bytes || fread(bytes, 1, len, stdin) != len)
		exit(2);
	*ret_text = (struct mp_str){bytes, len};
	return true;
}

static void answer(struct mp_str text)
{
	struct mcpool_error error;
	struct mp_toml t;
	unsigned line, column;
	int behind = 0;

	mp_toml_init(&t);
	if (mp_toml_read(&t, text, &error) == 0)
		printf("accept %.*s\n", MP_STR_ARGS(mp_buf_get(&t.json)));
	else if (sscanf(error.message, "line %u, column %u: %n", &line, &column, &behind) == 2)
		printf("refuse %u:%u: %s\n", line, column, error.message + behind);
	else
		exit(2);
	mp_toml_done(&t);
}

int main(void)
{
	struct mp_str text;

	while (read_frame(&text)) {
		answer(text);
		free((char *)text.p);
	}
	return 0;
}
