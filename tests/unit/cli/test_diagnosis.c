/* test_diagnosis.c - what the status of a server means for a command that needs it. */
#include "test.h"

#include "cli/display/cli.h"
#include "cli/servers/diagnosis.h"

/* B65 B66 */
TEST(each_state_has_its_exit_code)
{
	static const struct {
		enum mp_status_state state;
		int code;
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
		struct mp_status status = {.name = "a",
					   .state = rows[i].state,
					   .code = rows[i].code,
					   .tools = rows[i].tools,
					   .instance = rows[i].has_instance,
					   .detail = "listing",
					   .message = rows[i].error,
					   .tail = "last words\n"};
		struct mp_diagnosis f;
		char flags[4] = "";

		mp_diagnosis_read(&status, 1500, &f);
		strcat(flags, f.is_listed ? "l" : "");
		strcat(flags, f.is_waiting ? "w" : "");
		strcat(flags, f.is_off ? "o" : "");
		CHECK_EQ(f.exit_code, rows[i].exit_code);
		CHECK_TEXT(flags, rows[i].flags);
		CHECK_TEXT(f.message, rows[i].message);
		CHECK(f.status == &status);
	}
}
