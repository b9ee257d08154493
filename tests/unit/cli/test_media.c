/* test_media.c - what is binary in a result: decoded into files, never obeyed by a terminal. */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/display/cli.h"
#include "cli/display/media.h"

TEST(base64_is_decoded)
{
	static const struct {
		const char *base64, *bytes; /* NULL: not valid */
	} rows[] = {
		{"", ""},           {"aGVsbG8=", "hello"}, {"aGVs\r\nbG8", "hello"},
		{"aGVsbG8!", NULL}, {"\033]0;x\a", NULL},  {"_-", NULL},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		char bytes[64] = "";
		FILE *to = fmemopen(bytes, sizeof(bytes), "w");

		CHECK(to != NULL);
		CHECK_EQ(mp_media_decode(mp_str_of(rows[i].base64), to), rows[i].bytes != NULL);
		fclose(to);
		if (rows[i].bytes)
			CHECK_TEXT(bytes, rows[i].bytes);
	}
}

static bool file_is(const char *name, const char *text)
{
	char bytes[64] = "";
	FILE *from = fopen(name, "r");
	size_t n = from ? fread(bytes, 1, sizeof(bytes) - 1, from) : 0;

	if (from)
		fclose(from);
	return from && n == strlen(text) && memcmp(bytes, text, n) == 0;
}

TEST(blocks_are_saved_side_by_side)
{
	static const char result[] =
		"{\"content\":[{\"type\":\"text\",\"text\":\"x\"},"
		"{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"aGVsbG8=\"},"
		"{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"\\u001b[31m\"},"
		"{\"type\":\"resource\",\"resource\":{\"uri\":\"a:b\",\"blob\":\"d29ybGQ=\"}}]}";
	char folder[] = "/tmp/mcpool-media-XXXXXX", first[64], second[64];
	int r;

	CHECK(mkdtemp(folder) != NULL);
	snprintf(first, sizeof(first), "%s/a.png", folder);
	snprintf(second, sizeof(second), "%s/a-2.png", folder);
	r = mp_media_save(mp_str_of(result), MP_STR("text"), first);
	if (file_is(first, "hello")) { /* else there was no memory */
		CHECK_EQ(r, MP_EXIT_DONE);
		CHECK(file_is(second, "world"));
	}
	unlink(second);
	CHECK_EQ(mp_media_save(MP_STR("{\"content\":[]}"), MP_STR("only text"), first),
		 MP_EXIT_DONE);
	CHECK(file_is(first, "only text"));
	unlink(first);
	CHECK_EQ(mp_media_save(MP_STR("{\"content\":[]}"), MP_STR("x"), "/nonexistent/a"),
		 MP_EXIT_CONFIG);
	rmdir(folder);
}
