/* test_runtime.c - versions of Node.js and Python as they print them, and the Date of an answer. */
#include "test.h"

#include "cli/doctor/dialling.h"
#include "cli/doctor/runtime.h"

static const struct mp_runtime *runtime_of(const char *command)
{
	for (size_t i = 0; i < mp_runtimes_n; i++)
		if (mp_runtime_is_for(&mp_runtimes[i], command))
			return &mp_runtimes[i];
	return NULL;
}

TEST(old_versions_are_told)
{
	static const struct {
		const char *command, *version;
		bool is_old;
	} rows[] = {
		{"npx", "v18.19.1", true},
		{"/opt/node", "v20.0.0", false},
		{"node", "v24.21.0", false},
		{"python", "Python 3.9.18", true},
		{"python3", "Python 3.10.0", false},
		{"uvx", "uv 0.4.30 (x)", true},
		{"uv", "uv 0.10.1", false},
		{"npx", "nonsense", false},
		{"npx", "", false},
		{"npx", "v99999999999.1", false},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		const struct mp_runtime *rt = runtime_of(rows[i].command);

		CHECK(rt);
		CHECK_EQ(mp_runtime_is_old(rt, rows[i].version), rows[i].is_old);
		CHECK(mp_runtime_get_advice(rows[i].command));
	}
	CHECK(!runtime_of("my-server"));
	CHECK(!runtime_of("pynpx"));
	CHECK(!mp_runtime_get_advice("my-server"));
}

TEST(a_date_is_read_as_servers_write_it)
{
	CHECK_EQ(mp_dialling_read_date(MP_STR("Sun, 06 Nov 1994 08:49:37 GMT")), 784111777000);
	CHECK_EQ(mp_dialling_read_date(MP_STR("Sun, 06 Nov 1994 08:49:37 GMT+1")), 0);
	CHECK_EQ(mp_dialling_read_date(MP_STR("yesterday")), 0);
	CHECK_EQ(mp_dialling_read_date(MP_STR("")), 0);
}
