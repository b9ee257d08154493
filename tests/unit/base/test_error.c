/* test_error.c - every code has its own words, and messages are cut where characters end. */
#include "base/str.h"
#include "test.h"

#include <errno.h>
#include <stdio.h>

#include "base/error.h"

static const int codes[] = {
#define CODE(name, number, rpc, word, sentence) MCPOOL_E##name,
	MCPOOL_ERRORS(CODE)
#undef CODE
};

TEST(every_code_has_words_of_its_own)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(codes); i++) {
		CHECK(codes[i] < 0);
		CHECK(strncmp(mcpool_error_name(codes[i]), "MCPOOL_E", 8) == 0);
		CHECK(strlen(mcpool_error_name(codes[i])) > 8);
		CHECK(mcpool_error_word(codes[i])[0]);
		CHECK(mcpool_error_text(codes[i])[0]);
		for (size_t j = 0; j < i; j++) {
			CHECK(codes[i] != codes[j]);
			CHECK(strcmp(mcpool_error_name(codes[i]), mcpool_error_name(codes[j])) !=
			      0);
			CHECK(strcmp(mcpool_error_word(codes[i]), mcpool_error_word(codes[j])) !=
			      0);
			CHECK(strcmp(mcpool_error_text(codes[i]), mcpool_error_text(codes[j])) !=
			      0);
		}
	}
}

TEST(words_are_lower_case_and_sentences_have_no_full_stop)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(codes); i++) {
		const char *word = mcpool_error_word(codes[i]);
		const char *text = mcpool_error_text(codes[i]);

		CHECK_EQ(strspn(word, "abcdefghijklmnopqrstuvwxyz_"), strlen(word));
		CHECK(text[strlen(text) - 1] != '.');
	}
}

TEST(names_are_the_constants_names)
{
	CHECK_TEXT(mcpool_error_name(MCPOOL_EINVAL), "MCPOOL_EINVAL");
	CHECK_TEXT(mcpool_error_name(MCPOOL_EQUEUE_FULL), "MCPOOL_EQUEUE_FULL");
	CHECK_TEXT(mcpool_error_name(MCPOOL_OK), "MCPOOL_OK");
	CHECK_TEXT(mcpool_error_word(MCPOOL_OK), "ok");
	CHECK_EQ(mp_error_get_rpc_code(MCPOOL_OK), 0);
}

TEST(a_number_that_is_no_code)
{
	static const int others[] = {1, -16, -1000, -1012, 1001, -32603, INT32_MIN, INT32_MAX};

	for (size_t i = 0; i < MP_ARRAY_LEN(others); i++) {
		CHECK_TEXT(mcpool_error_name(others[i]), "MCPOOL_E?");
		CHECK(mcpool_error_text(others[i])[0]);
		CHECK(mcpool_error_word(others[i])[0]);
		CHECK_EQ(mp_error_get_rpc_code(others[i]), -32603);
	}
}

/* Copied from doc/protocol.md, "Errors", not computed: clients rely on these. */
TEST(hub_made_errors_are_as_promised)
{
	static const struct {
		int code, number;
		const char *word;
	} rows[] = {
		{MCPOOL_ERESTARTING, 1001, "mcp_restart_in_progress"},
		{MCPOOL_ERESTART_FAILED, 1002, "mcp_restart_failed"},
		{MCPOOL_EOUTCOME_UNKNOWN, 1003, "mcp_outcome_unknown"},
		{MCPOOL_ECALL_TIMEOUT, 1004, "mcp_timeout"},
		{MCPOOL_EUNAVAILABLE, 1005, "mcp_unavailable"},
		{MCPOOL_EQUEUE_FULL, 1006, "mcp_queue_full"},
		{MCPOOL_ENEEDS_APPROVAL, 1007, "mcp_needs_approval"},
		{MCPOOL_ENEEDS_AUTH, 1008, "mcp_needs_auth"},
		{MCPOOL_EDISABLED, 1009, "mcp_disabled"},
		{MCPOOL_ETOO_LARGE, 1010, "mcp_too_large"},
		{MCPOOL_ENO_OWNER, 1011, "mcp_no_owner"},
	};
	size_t promised = 0;

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		CHECK_EQ(rows[i].code, -rows[i].number);
		CHECK_EQ(mp_error_get_rpc_code(rows[i].code), rows[i].number);
		CHECK_TEXT(mcpool_error_word(rows[i].code), rows[i].word);
	}
	for (size_t i = 0; i < MP_ARRAY_LEN(codes); i++) {
		promised += codes[i] <= -1001;
		CHECK(codes[i] <= -1001 || mp_error_get_rpc_code(codes[i]) <= -32600);
	}
	CHECK_EQ(promised, MP_ARRAY_LEN(rows));
}

TEST(json_rpc_has_its_own_numbers)
{
	CHECK_EQ(mp_error_get_rpc_code(MCPOOL_EPARSE), -32700);
	CHECK_EQ(mp_error_get_rpc_code(MCPOOL_EPROTO), -32600);
	CHECK_EQ(mp_error_get_rpc_code(MCPOOL_EINVAL), -32602);
	CHECK_EQ(mp_error_get_rpc_code(MCPOOL_ENOMEM), -32603);
}

/* --- filling one in ------------------------------------------------------------------------- */

TEST(failing_fills_in_all_three)
{
	struct mcpool_error e = {0};

	CHECK_EQ(mp_fail(&e, MCPOOL_EQUEUE_FULL, "%d calls wait for '%s'", 65, "files"),
		 MCPOOL_EQUEUE_FULL);
	CHECK_EQ(e.code, MCPOOL_EQUEUE_FULL);
	CHECK_EQ(e.rpc_code, 1006);
	CHECK_TEXT(e.message, "65 calls wait for 'files'");
	CHECK_EQ(mp_fail(&e, MCPOOL_EINVAL, "%s", ""), MCPOOL_EINVAL);
	CHECK_EQ(e.rpc_code, -32602);
	CHECK_TEXT(e.message, "");
}

TEST(nobody_may_care_for_the_words)
{
	CHECK_EQ(mp_fail(NULL, MCPOOL_ELIMIT, "%s", "unheard"), MCPOOL_ELIMIT);
	CHECK_EQ(mp_fail_errno(NULL, ENOENT, "%s", "unheard"), MCPOOL_ESYSTEM);
}

TEST(messages_are_cut_between_characters)
{
	enum { ROOM = sizeof(((struct mcpool_error *)0)->message) };
	struct mcpool_error e;
	char before[ROOM + 8];

	for (size_t n = ROOM - 6; n < ROOM + 4; n++) {
		size_t len;

		memset(before, 'x', n);
		before[n] = '\0';
		mp_fail(&e, MCPOOL_EINVAL, "%s\xf0\x9f\x98\x80", before);
		len = strnlen(e.message, ROOM);
		CHECK(len < ROOM);
		CHECK_EQ(len, n + 4 < ROOM ? n + 4 : ROOM - 1);
		if (n + 4 >= ROOM)
			CHECK_TEXT(e.message + len - 3, MP_STR_CUT_MARK);
		CHECK(mp_utf8_valid((struct mp_str){e.message, len}));
	}
}

TEST(a_failed_system_call)
{
	struct mcpool_error e;

	CHECK_EQ(mp_fail_errno(&e, ENOENT, "cannot open %s", "/x"), MCPOOL_ESYSTEM);
	CHECK_EQ(e.code, MCPOOL_ESYSTEM);
	CHECK_EQ(e.rpc_code, -32603);
	CHECK_TEXT(e.message, "cannot open /x: No such file or directory");
	mp_fail_errno(&e, 12345, "so");
	CHECK_TEXT(e.message, "so: error 12345");
}

TEST(the_words_of_errno_behind_a_message_that_fills_the_room)
{
	enum { ROOM = sizeof(((struct mcpool_error *)0)->message) };
	struct {
		struct mcpool_error e;
		char behind[16];
	} box;
	char before[ROOM + 10];

	for (size_t n = ROOM - 40; n < sizeof(before); n++) {
		size_t len;

		memset(&box, '#', sizeof(box));
		memset(before, 'x', n);
		before[n] = '\0';
		mp_fail_errno(&box.e, ENOENT, "%s", before);
		len = strnlen(box.e.message, ROOM);
		CHECK(len < ROOM);
		CHECK_TEXT(box.e.message + len - 30, MP_STR_CUT_MARK ": No such file or directory");
		CHECK_EQ(box.behind[0], '#');
	}
}

static void fail_with_success(void)
{
	mp_fail(NULL, MCPOOL_OK, "all is well");
}

TEST(success_is_no_failure)
{
	CHECK(test_stops(fail_with_success));
}

/* --- what broke ------------------------------------------------------------------------------ */

TEST(a_code_says_what_broke_unless_more_is_known)
{
	static const struct {
		int code;
		const char *word;
	} cases[] = {
		{MCPOOL_ETIMEDOUT, "timeout"},
		{MCPOOL_ECALL_TIMEOUT, "timeout"},
		{MCPOOL_ECLOSED, "eof"},
		{MCPOOL_EPARSE, "malformed_response"},
		{MCPOOL_EPROTO, "malformed_response"},
		{MCPOOL_ETYPE, "malformed_response"},
		{MCPOOL_ETOO_LARGE, "malformed_response"},
		{MCPOOL_ENEEDS_AUTH, "http_status"},
		{MCPOOL_EQUEUE_FULL, "closed"},
		{MCPOOL_EDISABLED, "closed"},
		{MCPOOL_ENEEDS_APPROVAL, "closed"},
		{MCPOOL_ECANCELED, "closed"},
		{MCPOOL_ENO_OWNER, "closed"},
		{MCPOOL_EIO, "unknown"},
		{MCPOOL_EUNAVAILABLE, "unknown"},
		{MCPOOL_EOUTCOME_UNKNOWN, "unknown"},
	};
	struct mcpool_error why;

	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++) {
		why.fault = MCPOOL_FAULT_RESET;
		mp_fail(&why, cases[i].code, "x");
		CHECK_TEXT(mp_fault_get_name(mp_error_get_fault(&why)), cases[i].word);
		why.fault = MCPOOL_FAULT_JSON_RPC;
		CHECK_TEXT(mp_fault_get_name(mp_error_get_fault(&why)), "json_rpc");
	}
}

TEST(a_system_call_says_what_broke)
{
	struct mcpool_error why;

	mp_fail_errno(&why, ECONNRESET, "reading");
	CHECK_EQ(mp_error_get_fault(&why), MCPOOL_FAULT_RESET);
	mp_fail_errno(&why, EPIPE, "writing");
	CHECK_EQ(mp_error_get_fault(&why), MCPOOL_FAULT_RESET);
	mp_fail_errno(&why, ECONNREFUSED, "dialling");
	CHECK_EQ(mp_error_get_fault(&why), MCPOOL_FAULT_CONNECT);
	mp_fail_errno(&why, ETIMEDOUT, "dialling");
	CHECK_EQ(mp_error_get_fault(&why), MCPOOL_FAULT_TIMEOUT);
	mp_fail_errno(&why, EIO, "reading");
	CHECK_EQ(mp_error_get_fault(&why), MCPOOL_FAULT_UNKNOWN);
}

/* The cause is known under any other name. */
TEST(a_failure_because_of_another_one)
{
	struct mcpool_error why;

	mp_fail(&why, MCPOOL_ETIMEDOUT, "nothing came");
	why.retry_ms = 70;
	CHECK_EQ(mp_fail_because(&why, MCPOOL_EOUTCOME_UNKNOWN, &why, "lost: %s", why.message),
		 MCPOOL_EOUTCOME_UNKNOWN);
	CHECK_TEXT(why.message, "lost: nothing came");
	CHECK_EQ(why.rpc_code, 1003);
	CHECK_EQ(why.retry_ms, 70);
	CHECK_EQ(mp_error_get_fault(&why), MCPOOL_FAULT_TIMEOUT);
	CHECK_EQ(mp_fail_because(NULL, MCPOOL_EIO, &why, "nobody listens"), MCPOOL_EIO);
}
