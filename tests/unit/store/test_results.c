/*
 * test_results.c - results that are too large to be shown whole.
 */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "store/results.h"

struct place {
	char root[64];
};

static bool place_init(struct place *p)
{
	snprintf(p->root, sizeof(p->root), "/tmp/test-results-XXXXXX");
	REQUIRE(mkdtemp(p->root));
	setenv("XDG_STATE_HOME", p->root, 1);
	return true;
}

static void place_done(struct place *p)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", p->root);
	if (system(command) != 0)
		perror(command);
	unsetenv("XDG_STATE_HOME");
}

static const char *get_id(const char *uri)
{
	return uri + sizeof(MP_RESULT_SCHEME) - 1;
}

/* U22 */
TEST(a_result_is_kept_for_an_hour)
{
	MP_CLEANUP(place_done) struct place p;
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct timeval old[2] = {{0}, {0}};
	char uri[MP_RESULT_URI], other[MP_RESULT_URI], mime[MP_RESULT_MIME], path[200];
	struct mcpool_error why;
	struct stat st;

	mp_buf_init(&text, MP_MIB(1));
	CHECK(place_init(&p));
	CHECK_EQ(mp_results_keep(MP_STR("{\"a\":1}"), MP_STR(""), uri, &why), 0);
	snprintf(path, sizeof(path), "%s/mcpool/results/%s", p.root, get_id(uri));
	CHECK_EQ(stat(path, &st), 0);
	CHECK_EQ(st.st_mode & 0777, 0600);
	CHECK_EQ(mp_results_read(mp_str_of(uri), &text, mime, &why), 0);
	CHECK_STR(mp_buf_get(&text), "{\"a\":1}");
	CHECK_TEXT(mime, "");
	old[0].tv_sec = old[1].tv_sec = time(NULL) - 3600 + 100;
	CHECK_EQ(utimes(path, old), 0);
	CHECK_EQ(mp_results_keep(MP_STR("{}"), MP_STR(""), other, &why), 0);
	CHECK_EQ(mp_results_read(mp_str_of(uri), &text, mime, &why), 0);
	old[0].tv_sec = old[1].tv_sec = time(NULL) - 3600 - 1;
	CHECK_EQ(utimes(path, old), 0);
	CHECK_EQ(mp_results_keep(MP_STR("{}"), MP_STR(""), other, &why), 0);
	CHECK_EQ(mp_results_read(mp_str_of(uri), &text, mime, &why), MCPOOL_ENOENT);
}

/* U22 U21 */
TEST(binary_content_has_its_type)
{
	static const struct {
		const char *mime, *read;
	} cases[] = {
		{"image/png", "image/png"},
		{"a\nb", "application/octet-stream"},
		{" ", "application/octet-stream"},
		{"\xc3\xa4", "application/octet-stream"},
	};
	MP_CLEANUP(place_done) struct place p;
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	char uri[MP_RESULT_URI], mime[MP_RESULT_MIME];
	struct mcpool_error why;

	mp_buf_init(&text, MP_MIB(1));
	CHECK(place_init(&p));
	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++) {
		CHECK_EQ(mp_results_keep(MP_STR("iVBORw0="), mp_str_of(cases[i].mime), uri, &why),
			 0);
		CHECK_EQ(mp_results_read(mp_str_of(uri), &text, mime, &why), 0);
		CHECK_STR(mp_buf_get(&text), "iVBORw0=");
		CHECK_TEXT(mime, cases[i].read);
	}
}

/* U22: a server whose results are all long does not fill the disk. */
HEAVY_TEST(the_oldest_results_make_room)
{
	MP_CLEANUP(place_done) struct place p;
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	char first[MP_RESULT_URI], uri[MP_RESULT_URI], mime[MP_RESULT_MIME], path[200];
	struct timeval old[2] = {{.tv_sec = time(NULL) - 60}, {.tv_sec = time(NULL) - 60}};
	struct mcpool_error why;

	mp_buf_init(&text, MP_MIB(1));
	CHECK(place_init(&p));
	CHECK_EQ(mp_results_keep(MP_STR("{}"), MP_STR(""), first, &why), 0);
	snprintf(path, sizeof(path), "%s/mcpool/results/%s", p.root, get_id(first));
	CHECK_EQ(utimes(path, old), 0);
	for (int i = 1; i < MP_LIMIT_RESULTS; i++)
		CHECK_EQ(mp_results_keep(MP_STR("{}"), MP_STR(""), uri, &why), 0);
	CHECK_EQ(mp_results_read(mp_str_of(first), &text, mime, &why), 0);
	CHECK_EQ(mp_results_keep(MP_STR("{}"), MP_STR(""), uri, &why), 0);
	CHECK_EQ(mp_results_read(mp_str_of(first), &text, mime, &why), MCPOOL_ENOENT);
	CHECK_EQ(mp_results_read(mp_str_of(uri), &text, mime, &why), 0);
	snprintf(path, sizeof(path), "%s/mcpool/results/%s", p.root, get_id(uri));
	CHECK_EQ(truncate(path, (off_t)MP_LIMIT_RESULT_BYTES + 1), 0); /* a hole */
	CHECK_EQ(utimes(path, old), 0);
	CHECK_EQ(mp_results_keep(MP_STR("{}"), MP_STR(""), uri, &why), 0);
	CHECK_EQ(mp_results_read(mp_str_of(uri), &text, mime, &why), 0);
	CHECK(access(path, F_OK) != 0);
}

static bool put_file(const char *path)
{
	FILE *file = fopen(path, "w");

	return file && fputs("secret", file) >= 0 && fclose(file) == 0;
}

TEST(only_names_that_were_given_out_are_read)
{
	MP_CLEANUP(place_done) struct place p;
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	char uri[MP_RESULT_URI], mime[MP_RESULT_MIME], path[200];
	struct mcpool_error why;

	mp_buf_init(&text, MP_MIB(1));
	CHECK(place_init(&p));
	CHECK_EQ(mp_results_keep(MP_STR("{}"), MP_STR(""), uri, &why), 0);
	snprintf(path, sizeof(path), "%s/mcpool/token", p.root);
	CHECK(put_file(path)); /* 32 characters lead to it */
	CHECK_EQ(mp_results_read(MP_STR("mcpool://results/././././././././././././../token"), &text,
				 mime, &why),
		 MCPOOL_ENOENT);
	CHECK_EQ(mp_results_read(MP_STR("mcpool://results/../token"), &text, mime, &why),
		 MCPOOL_ENOENT);
	CHECK_EQ(mp_results_read(MP_STR("mcpool://results/"), &text, mime, &why), MCPOOL_ENOENT);
	CHECK_EQ(mp_results_read(MP_STR("file:///etc/passwd"), &text, mime, &why), MCPOOL_ENOENT);
	CHECK_EQ(mp_results_read(MP_STR("mcpool://results/0123456789abcdef0123456789abcdef"), &text,
				 mime, &why),
		 MCPOOL_ENOENT);
}
