/*
 * test_results.c - results that are too large to be shown whole.
 */
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
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

/* U22 */
TEST(a_result_is_kept_for_an_hour)
{
	MP_CLEANUP(place_done) struct place p;
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct timeval old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
	char id[MP_RESULT_ID], other[MP_RESULT_ID], uri[100], path[200];
	struct mcpool_error why;
	struct stat st;

	mp_buf_init(&text, MP_MIB(1));
	CHECK(place_init(&p));
	CHECK_EQ(mp_results_keep(MP_STR("{\"a\":1}"), id, &why), 0);
	snprintf(uri, sizeof(uri), MP_RESULT_SCHEME "%s", id);
	snprintf(path, sizeof(path), "%s/mcpool/results/%s", p.root, id);
	CHECK_EQ(stat(path, &st), 0);
	CHECK_EQ(st.st_mode & 0777, 0600);
	CHECK_EQ(mp_results_read(mp_str_of(uri), &text, &why), 0);
	CHECK_STR(mp_buf_get(&text), "{\"a\":1}");
	CHECK_EQ(utimes(path, old), 0);
	CHECK_EQ(mp_results_keep(MP_STR("{}"), other, &why), 0);
	CHECK_EQ(mp_results_read(mp_str_of(uri), &text, &why), MCPOOL_ENOENT);
}

TEST(only_names_that_were_given_out_are_read)
{
	MP_CLEANUP(place_done) struct place p;
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mcpool_error why;

	mp_buf_init(&text, MP_MIB(1));
	CHECK(place_init(&p));
	CHECK_EQ(mp_results_read(MP_STR("mcpool://results/../token"), &text, &why), MCPOOL_ENOENT);
	CHECK_EQ(mp_results_read(MP_STR("mcpool://results/"), &text, &why), MCPOOL_ENOENT);
	CHECK_EQ(mp_results_read(MP_STR("file:///etc/passwd"), &text, &why), MCPOOL_ENOENT);
	CHECK_EQ(mp_results_read(MP_STR("mcpool://results/0123456789abcdef0123456789abcdef"), &text,
				 &why),
		 MCPOOL_ENOENT);
}
