/* test_reach.c - what where a server stands means for a command that needs it. */
#include "test.h"

#include "cli/cli.h"
#include "cli/reach.h"

/* B65 B66 */
TEST(a_state_is_a_fate)
{
	static const struct {
		int state, code;
		int64_t tools;
		bool has_instance;
		const char *error;
		int exit_code;
		const char *flags; /* listed, waiting, off */
		const char *message;
	} rows[] = {
		{MP_STATUS_CONNECTED, 0, 3, true, "", MP_EXIT_DONE, "l", ""},
		{MP_STATUS_READY, 0, 3, false, "", MP_EXIT_DONE, "l", ""},
		{MP_STATUS_READY, 0, -1, false, "", MP_EXIT_DONE, "", ""},
		{MP_STATUS_PENDING, 0, 3, true, "", MP_EXIT_TIMEOUT, "",
		 "not ready within 1.5 s (listing)"},
		{MP_STATUS_FAILED, MCPOOL_EPROTO, -1, true, "odd", MP_EXIT_PROTOCOL, "", "odd"},
		{MP_STATUS_FAILED, MCPOOL_ETIMEDOUT, -1, true, "slow", MP_EXIT_TIMEOUT, "", "slow"},
		{MP_STATUS_FAILED, MCPOOL_ENOENT, -1, true, "gone", MP_EXIT_START, "", "gone"},
		{MP_STATUS_FAILED, MCPOOL_EINVAL, -1, true, "odd", MP_EXIT_START, "", "odd"},
		{MP_STATUS_FAILED, MCPOOL_EINVAL, -1, false, "unset", MP_EXIT_CONFIG, "", "unset"},
		{MP_STATUS_DISABLED, 0, -1, false, "", MP_EXIT_CONFIG, "o", ""},
		{MP_STATUS_NEEDS_APPROVAL, 0, -1, false, "", MP_EXIT_NEEDS_APPROVAL, "w",
		 "it waits for your approval: mcpool trust a"},
		{MP_STATUS_NEEDS_APPROVAL, 0, -1, false, "changed", MP_EXIT_NEEDS_APPROVAL, "w",
		 "changed"},
		{MP_STATUS_NEEDS_AUTH, MCPOOL_ENEEDS_AUTH, -1, true, "401", MP_EXIT_NEEDS_AUTH, "",
		 "401"},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		struct mp_roster_row row = {.name = "a",
					    .state = rows[i].state,
					    .code = rows[i].code,
					    .tools = rows[i].tools,
					    .has_instance = rows[i].has_instance,
					    .detail = "listing",
					    .error = rows[i].error,
					    .tail = "last words\n"};
		struct mp_fate f;
		char flags[4] = "";

		mp_fate_read(&row, 1500, &f);
		strcat(flags, f.is_listed ? "l" : "");
		strcat(flags, f.is_waiting ? "w" : "");
		strcat(flags, f.is_off ? "o" : "");
		CHECK_EQ(f.exit_code, rows[i].exit_code);
		CHECK_TEXT(flags, rows[i].flags);
		CHECK_TEXT(f.message, rows[i].message);
		CHECK(f.row == &row && mp_str_eq(f.tail, MP_STR("last words\n")));
	}
}
