/*
 * test_oversize.c - a result above result.maxBytes: head, tail, and where it is stored.
 */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "session/oversize.h"
#include "state_home.h"
#include "store/results.h"

static const struct mp_oversize_options half = {512, "\n"};

/* n times the letter c. */
static const char *many(char c, size_t n)
{
	static char text[2][4000];
	static int turn;
	char *out = text[turn++ % 2];

	memset(out, c, n);
	out[n] = '\0';
	return out;
}

/* The first handle in a text; "" if there is none. */
static const char *handle_in(const char *text)
{
	static char uri[MP_RESULT_URI];
	const char *at = strstr(text, MP_RESULT_SCHEME);

	snprintf(uri, sizeof(uri), "%.*s", (int)sizeof(uri) - 1, at ? at : "");
	return uri;
}

static bool is_stored_as(const char *uri, const char *mime, const char *content)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf stored;
	char type[MP_RESULT_MIME];
	struct mcpool_error why;

	mp_buf_init(&stored, MP_MIB(1));
	REQUIRE(mp_results_read(mp_str_of(uri), &stored, type, &why) == 0);
	REQUIRE(test_same_text(mp_str_of(type), mp_str_of(mime), "mime", __FILE__, __LINE__));
	return test_same_text(mp_buf_get(&stored), mp_str_of(content), "stored", __FILE__,
			      __LINE__);
}

static bool shorten(const char *result, struct mp_buf *out)
{
	struct mcpool_error why;

	REQUIRE(mp_oversize_write_result(mp_str_of(result), &half, out, &why) == 0);
	REQUIRE(why.code == 0);
	return mp_buf_terminate(out) == 0;
}

/* U22 */
TEST(a_long_text_has_head_tail_and_handle)
{
	MP_CLEANUP(state_home_done) struct state_home home;
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	char result[4000], head[300], tail[300];

	mp_buf_init(&out, MP_MIB(1));
	CHECK(state_home_init(&home));
	snprintf(head, sizeof(head), "%s", many('h', 256));
	snprintf(tail, sizeof(tail), "%s", many('t', 256));
	snprintf(result, sizeof(result),
		 "{\"_meta\":{\"k\":1},\"content\":[{\"type\":\"text\",\"text\":\"%s%s\"},"
		 "{\"type\":\"text\",\"text\":\"%s\"}],\"isError\":true}",
		 head, many('x', 1000), tail);
	CHECK(shorten(result, &out));
	CHECK(strstr(out.data,
		     "{\"_meta\":{\"k\":1},\"content\":[{\"type\":\"text\",\"text\":\"hhh"));
	CHECK(strstr(out.data, head) && strstr(out.data, tail));
	CHECK(strstr(out.data, "TRUNCATED 1001 bytes"));
	CHECK(strstr(out.data, "\\n[all of it: mcpool://results/"));
	CHECK(strstr(out.data, "}],\"isError\":true}"));
	CHECK(is_stored_as(handle_in(out.data), "", result));
	CHECK(out.len < 512 + 300);
}

/* U22 U21 */
TEST(a_result_within_the_limit_is_left_alone)
{
	static const char *const cases[] = {
		"{\"content\":[{\"type\":\"text\",\"text\":\"short\"}]}",
		"{\"content\":[]}",
		"{}",
		"{\"content\":5}",
		"[]",
		"{\"resultType\":\"input_required\",\"inputRequests\":{}}",
	};
	MP_CLEANUP(state_home_done) struct state_home home;
	MP_CLEANUP(mp_buf_done) struct mp_buf out;

	mp_buf_init(&out, MP_MIB(1));
	CHECK(state_home_init(&home));
	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++) {
		CHECK(shorten(cases[i], &out));
		CHECK_EQ(out.len, 0);
	}
	for (size_t more = 0; more < 2; more++) { /* to the byte: a block's JSON, or its data */
		/* 25: the rest of a block of text */
		size_t lengths[] = {512 - 25 + more, 512 + 4 * more};

		for (int i = 0; i < 2; i++) {
			char block[700], result[800];

			snprintf(block, sizeof(block),
				 i ? "{\"type\":\"image\",\"data\":\"%s\"}"
				   : "{\"type\":\"text\",\"text\":\"%s\"}",
				 many('A', lengths[i]));
			snprintf(result, sizeof(result), "{\"content\":[%s]}", block);
			mp_buf_clear(&out);
			CHECK(shorten(result, &out));
			CHECK_EQ(out.len > 0, more > 0);
		}
	}
}

/* U22 U21: a small image stays beside its text, a large one is stored and described. */
TEST(binary_content_is_stored_and_described)
{
	MP_CLEANUP(state_home_done) struct state_home home;
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	char result[4000], large[1000];

	mp_buf_init(&out, MP_MIB(1));
	CHECK(state_home_init(&home));
	snprintf(large, sizeof(large), "%s", many('A', 800));
	snprintf(result, sizeof(result),
		 "{\"content\":[{\"type\":\"image\",\"data\":\"%s\",\"mimeType\":\"image/png\"},"
		 "{\"type\":\"text\",\"text\":\"see\"},"
		 "{\"type\":\"audio\",\"data\":\"QUJD\",\"mimeType\":\"audio/wav\"}]}",
		 large);
	CHECK(shorten(result, &out));
	CHECK(strstr(out.data, "see"));
	CHECK(strstr(out.data, "\\n[image image/png, 600 bytes, stored: mcpool://results/"));
	CHECK(!strstr(out.data, large));
	CHECK(strstr(out.data,
		     "{\"type\":\"audio\",\"data\":\"QUJD\",\"mimeType\":\"audio/wav\"}]}"));
	CHECK(is_stored_as(handle_in(out.data), "image/png", large));
	snprintf(result, sizeof(result),
		 "{\"content\":[{\"type\":\"resource\",\"resource\":{\"uri\":\"x:y\",\"blob\":"
		 "\"%s\"}}]}",
		 large);
	mp_buf_clear(&out);
	CHECK(shorten(result, &out));
	CHECK(strstr(out.data, "[resource x:y, 600 bytes]"));
	CHECK(is_stored_as(handle_in(out.data), "application/octet-stream", large));
	/* each of the two would fit alone */
	snprintf(result, sizeof(result),
		 "{\"content\":[{\"type\":\"image\",\"data\":\"%s\",\"mimeType\":\"image/png\"},"
		 "{\"type\":\"audio\",\"data\":\"%s\",\"mimeType\":\"audio/wav\"}]}",
		 many('A', 300), many('B', 300));
	mp_buf_clear(&out);
	CHECK(shorten(result, &out));
	CHECK(strstr(out.data, "{\"type\":\"image\",\"data\":\"AAAA"));
	CHECK(!strstr(out.data, "BBBB"));
	CHECK(strstr(out.data, "\\n[audio audio/wav, 225 bytes, stored: mcpool://results/"));
	CHECK(is_stored_as(handle_in(out.data), "audio/wav", many('B', 300)));
}

/* U22: structured content counts, and is shown as text. */
TEST(structured_content_is_shortened)
{
	MP_CLEANUP(state_home_done) struct state_home home;
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	char result[4000];

	mp_buf_init(&out, MP_MIB(1));
	CHECK(state_home_init(&home));
	snprintf(result, sizeof(result),
		 "{\"content\":[{\"type\":\"text\",\"text\":\"one\"}],\"structuredContent\":{\"a\":"
		 "\"%s\"}}",
		 many('s', 900));
	CHECK(shorten(result, &out));
	CHECK(!strstr(out.data, "structuredContent"));
	CHECK(strstr(out.data, "one") && strstr(out.data, "sss") && strstr(out.data, "TRUNCATED"));
}

/* U22: where nothing can be stored there is no handle, but head and tail. */
TEST(without_a_folder_it_is_cut_all_the_same)
{
	MP_CLEANUP(state_home_done) struct state_home home;
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	struct mcpool_error why;
	char result[4000], file[200];
	bool is_error;

	mp_buf_init(&out, MP_MIB(1));
	CHECK(state_home_init(&home));
	snprintf(file, sizeof(file), "%s/mcpool", home.root);
	CHECK(symlink("/dev/null", file) == 0);
	snprintf(result, sizeof(result), "{\"content\":[{\"type\":\"text\",\"text\":\"%s\"}]}",
		 many('x', 1000));
	CHECK_EQ(mp_oversize_write_result(mp_str_of(result), &half, &out, &why), 0);
	CHECK(why.code < 0 && why.message[0]);
	CHECK(mp_buf_terminate(&out) == 0 && strstr(out.data, "TRUNCATED 488 bytes"));
	CHECK(!strstr(out.data, MP_RESULT_SCHEME));
	mp_buf_clear(&out);
	CHECK_EQ(mp_oversize_write_text(mp_str_of(result), &half, &out, &is_error, &why), 0);
	CHECK(why.code < 0 && !is_error);
}
