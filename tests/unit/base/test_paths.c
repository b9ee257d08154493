/* test_paths.c - where this user's files are. */
#include "test.h"

#include <stdlib.h>

#include "base/paths.h"

static void set(const char *state, const char *home)
{
	if (state)
		setenv("XDG_STATE_HOME", state, 1);
	else
		unsetenv("XDG_STATE_HOME");
	if (home)
		setenv("HOME", home, 1);
	else
		unsetenv("HOME");
}

TEST(the_state_folder)
{
	static const struct {
		const char *state, *home, *want; /* NULL: nowhere */
	} rows[] = {
		{"/s", "/h", "/s/mcpool/logs/a.log"},
		{NULL, "/h", "/h/.local/state/mcpool/logs/a.log"},
		{"", "/h", "/h/.local/state/mcpool/logs/a.log"},
		{"relative", "/h", "/h/.local/state/mcpool/logs/a.log"},
		{NULL, NULL, NULL},
		{NULL, "relative", NULL},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		MP_CLEANUP(mp_buf_done) struct mp_buf out;

		mp_buf_init(&out, 1000);
		set(rows[i].state, rows[i].home);
		CHECK_EQ(mp_path_state("logs/a.log", &out), rows[i].want ? 0 : MCPOOL_ENOENT);
		if (rows[i].want)
			CHECK_TEXT(out.data, rows[i].want);
	}
}

TEST(a_log_file_per_server)
{
	static const struct {
		const char *server, *want;
	} rows[] = {
		{"a", "/s/mcpool/logs/a.log"},
		{"../a b:c", "/s/mcpool/logs/.._a_b_c.log"},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		MP_CLEANUP(mp_buf_done) struct mp_buf out;

		mp_buf_init(&out, 1000);
		set("/s", NULL);
		CHECK_EQ(mp_path_log(rows[i].server, &out), 0);
		CHECK_TEXT(out.data, rows[i].want);
	}
}
