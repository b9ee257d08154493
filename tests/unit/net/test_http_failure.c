/* test_http_failure.c - what curl says about a failed exchange, in words that help. */
#include "test.h"

#include "base/error.h"
#include "net/http_failure.h"

static const struct {
	CURLcode code;
	const char *words;
	bool answered;
	enum mp_http_end how;
	const char *want;
	enum mcpool_fault fault;
} cases[] = {
	{CURLE_SSL_CONNECT_ERROR, "error:0A00010B:SSL routines::wrong version number", false,
	 MP_HTTP_TLS,
	 "no secure connection to https://h: error:0A00010B:SSL routines::wrong version number; it "
	 "may speak plain http: try http://",
	 MCPOOL_FAULT_CONNECT},
	{CURLE_SSL_CONNECT_ERROR, "self-signed certificate", false, MP_HTTP_TLS,
	 "no secure connection to https://h: self-signed certificate", MCPOOL_FAULT_CONNECT},
	{CURLE_RECV_ERROR, "Recv failure: Connection timed out", true, MP_HTTP_CLOSED,
	 "the connection to https://h timed out in the middle of the answer", MCPOOL_FAULT_TIMEOUT},
	{CURLE_SEND_ERROR, "Send failure: Connection timed out", false, MP_HTTP_CLOSED,
	 "the connection to https://h timed out before an answer", MCPOOL_FAULT_TIMEOUT},
	{CURLE_RECV_ERROR, "Recv failure: Connection reset by peer", true, MP_HTTP_CLOSED,
	 "https://h closed the connection in the middle of its answer", MCPOOL_FAULT_RESET},
	{CURLE_GOT_NOTHING, "", false, MP_HTTP_CLOSED,
	 "https://h closed the connection without an answer", MCPOOL_FAULT_END},
	{CURLE_COULDNT_RESOLVE_HOST, "", false, MP_HTTP_RESOLVE,
	 "no address is known for https://h", MCPOOL_FAULT_CONNECT},
	{CURLE_OPERATION_TIMEDOUT, "", false, MP_HTTP_TIMEOUT, "no connection in time to https://h",
	 MCPOOL_FAULT_TIMEOUT},
	{CURLE_WEIRD_SERVER_REPLY, "", false, MP_HTTP_PROTOCOL, "no HTTP comes from https://h",
	 MCPOOL_FAULT_MALFORMED},
};

TEST(failures_say_what_to_do)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++) {
		struct mp_http_failure f = {.easy = NULL,
					    .code = cases[i].code,
					    .place = "https://h",
					    .words = cases[i].words,
					    .connected = true,
					    .answered = cases[i].answered};
		struct mcpool_error why;

		CHECK_EQ(mp_http_failure_explain(&f, &why), cases[i].how);
		CHECK_TEXT(why.message, cases[i].want);
		CHECK_EQ(mp_error_get_fault(&why), cases[i].fault);
	}
}

/* The address itself may be right: the proxy is what to look at. */
TEST(a_proxy_that_was_not_reached_is_named)
{
	struct mp_http_failure f = {
		.code = CURLE_COULDNT_CONNECT, .place = "https://h", .words = ""};
	struct mcpool_error why;

	CHECK_EQ(mp_http_failure_explain(&f, &why), MP_HTTP_CONNECT);
	CHECK_TEXT(why.message, "could not connect to https://h");
	f.has_proxy = true;
	CHECK_EQ(mp_http_failure_explain(&f, &why), MP_HTTP_CONNECT);
	CHECK_TEXT(why.message, "its proxy was not reached for https://h");
	CHECK_EQ(mp_error_get_fault(&why), MCPOOL_FAULT_CONNECT);
}
