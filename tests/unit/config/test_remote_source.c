/* test_remote_source.c - the copy of a remote source, and what is known about it. */
#include "config/read/remote_source.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "home.h"
#include "files/private.h"

static bool at_home(void)
{
	REQUIRE(home_make());
	return setenv("XDG_STATE_HOME", in("state"), 1) == 0;
}

TEST(what_is_fetched)
{
	CHECK(mp_remote_source_is_fetched("https://a.example/x"));
	CHECK(mp_remote_source_is_fetched("http://127.0.0.1:80/x"));
	CHECK(mp_remote_source_is_fetched("http://localhost/x"));
	CHECK(mp_remote_source_is_fetched("http://[::1]:8/x"));
	CHECK(!mp_remote_source_is_fetched("http://a.example/x"));
	CHECK(!mp_remote_source_is_fetched("http://localhost.evil.example/x")); /* V12 */
	CHECK(!mp_remote_source_is_fetched("http://127.0.0.1.evil.example/"));
	CHECK(!mp_remote_source_is_fetched("file:///x"));
	CHECK(!mp_remote_source_is_fetched(""));
}

/* V53 */
TEST(a_name_has_no_secrets)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;

	mp_buf_init(&out, 4096);
	CHECK_EQ(mp_remote_source_name("https://me:pw@a.example/x/y?token=1#z", &out), 0);
	CHECK_TEXT(out.data, "https://a.example/x/y");
	mp_buf_clear(&out);
	CHECK_EQ(mp_remote_source_name("https://a.example/x@y", &out), 0);
	CHECK_TEXT(out.data, "https://a.example/x@y");
}

TEST(what_was_noted_is_there_again)
{
	static const char url[] = "https://a.example/x";
	MP_CLEANUP(mp_buf_done) struct mp_buf path;
	struct mp_remote_source_state s, again;
	struct mp_str content = MP_STR("{}");
	struct stat st;

	mp_buf_init(&path, 4096);
	CHECK(at_home());
	mp_remote_source_load(url, &s);
	CHECK_EQ(s.next_ms, 0);
	snprintf(s.etag, sizeof(s.etag), "\"abc\"");
	s.size = 2;
	mp_remote_source_note_fetched(&s, 1000);
	CHECK_EQ(s.next_ms, 1000 + MP_REMOTE_SOURCE_FRESH_MS);
	CHECK_EQ(mp_remote_source_save(url, &s, &content, &why), 0);
	mp_remote_source_load(url, &again);
	CHECK_TEXT(again.etag, "\"abc\"");
	CHECK_EQ(again.fetched_ms, 1000);
	CHECK_EQ(mp_remote_source_get_path(url, &path), 0);
	CHECK_EQ(stat(path.data, &st), 0);
	CHECK_EQ(st.st_mode & 0777, 0600);
	CHECK_EQ(st.st_size, 2);
	mp_remote_source_load("https://a.example/y", &again);
	CHECK_EQ(again.fetched_ms, 0);
}

/* A server that hears of a copy says that there is nothing new. */
TEST(what_was_noted_of_another_copy_does_not_count)
{
	static const char url[] = "https://a.example/x";
	MP_CLEANUP(mp_buf_done) struct mp_buf path;
	struct mp_remote_source_state s = {.etag = "\"abc\"", .size = 2}, again;
	struct mp_str content = MP_STR("{}");

	mp_buf_init(&path, 4096);
	CHECK(at_home());
	mp_remote_source_note_fetched(&s, 1000);
	CHECK_EQ(mp_remote_source_save(url, &s, &content, &why), 0);
	CHECK(mp_remote_source_is_same(url, MP_STR("{}")));
	CHECK(!mp_remote_source_is_same(url, MP_STR("[]")));
	CHECK(!mp_remote_source_is_same("https://a.example/y", MP_STR("{}")));
	CHECK_EQ(mp_remote_source_get_path(url, &path), 0);
	CHECK_EQ(truncate(path.data, 0), 0);
	mp_remote_source_load(url, &again);
	CHECK_TEXT(again.etag, "");
	CHECK_EQ(again.fetched_ms, 0);
	CHECK_EQ(again.next_ms, 0);
	CHECK_EQ(unlink(path.data), 0);
	mp_remote_source_note_failed(&s, 2000, "no");
	CHECK_EQ(mp_remote_source_save(url, &s, NULL, &why), 0);
	mp_remote_source_load(url, &again);
	CHECK_TEXT(again.etag, "");
	CHECK_EQ(again.next_ms, 2000 + MP_REMOTE_SOURCE_FIRST_REST_MS); /* but it is left alone */
}

TEST(failures_are_further_and_further_apart)
{
	struct mp_remote_source_state s = {.fetched_ms = 5};
	static const int64_t minutes[] = {1, 2, 4, 8, 16, 32, 60, 60};

	for (size_t i = 0; i < MP_ARRAY_LEN(minutes); i++) {
		mp_remote_source_note_failed(&s, 1000, "no");
		CHECK_EQ(s.next_ms, 1000 + minutes[i] * 60000);
	}
	CHECK_EQ(s.fetched_ms, 5); /* the copy is still what it was */
	mp_remote_source_note_fetched(&s, 2000);
	CHECK_EQ(s.failures, 0);
	CHECK_TEXT(s.why, "");
}
