/*
 * test_destination.c - where a remote server is, and what every request to it carries.
 */
#include "transport/destination.h"

#include "base/mem.h"
#include "base/random_id.h"
#include "test.h"

#include "base/random_id.h"
TEST(an_address_is_kept_and_shown_without_secrets)
{
	MP_CLEANUP(mp_destination_done) struct mp_destination d;
	struct mcpool_error why;

	CHECK_EQ(mp_destination_init(&d, "wss://user:pass@a.example:8443/mcp?key=1", &why), 0);
	CHECK_TEXT(d.url, "https://user:pass@a.example:8443/mcp?key=1");
	CHECK_TEXT(d.place, "https://a.example:8443");
	mp_destination_move(&d, "https://a.example:8443/mcp/");
	CHECK_TEXT(d.url, "https://a.example:8443/mcp/");
}

TEST(what_is_no_address_is_refused)
{
	static const char *const wrong[] = {"", "ftp://a/", "nothing", "file:///x", "http://"};

	for (size_t i = 0; i < MP_ARRAY_LEN(wrong); i++) {
		MP_CLEANUP(mp_destination_done) struct mp_destination d;
		struct mcpool_error why;

		CHECK_EQ(mp_destination_init(&d, wrong[i], &why), MCPOOL_EINVAL);
	}
}

TEST(the_protocols_headers_go_before_the_configured)
{
	MP_CLEANUP(mp_destination_done) struct mp_destination d;
	MP_CLEANUP(mp_destination_done) struct mp_destination copy = {0};
	MP_CLEANUP(mp_http_fields_done) struct mp_http_fields f;
	struct mp_http_request rq = {0};

	mp_http_fields_init(&f);
	CHECK_EQ(mp_destination_init(&d, "http://server.test:1/mcp", NULL), 0);
	CHECK_EQ(mp_http_fields_add(&d.headers, MP_STR("accept"), MP_STR("text/html")), 0);
	CHECK_EQ(mp_http_fields_add(&d.headers, MP_STR("host"), MP_STR("elsewhere")), 0);
	CHECK_EQ(mp_http_fields_add(&d.headers, MP_STR("Authorization"), MP_STR("Bearer x")), 0);
	d.ca_file = mp_dup("ca.pem");
	CHECK_EQ(mp_destination_copy(&copy, &d), 0);
	CHECK_EQ(mp_http_fields_add(&f, MP_STR("Accept"), MP_STR("text/event-stream")), 0);
	CHECK_EQ(mp_destination_add_headers(&copy, &f), 0);
	mp_destination_address(&copy, &f, &rq);
	CHECK_EQ(rq.n_headers, 2);
	CHECK(mp_str_eq(rq.headers[0].value, MP_STR("text/event-stream")));
	CHECK(mp_str_eq(rq.headers[1].value, MP_STR("Bearer x")));
	CHECK_TEXT(rq.url, "http://server.test:1/mcp");
	CHECK_TEXT(rq.ca_file, "ca.pem");
	CHECK(!rq.cert_file);
}

/* On this machine the server may be ourselves; other machines do not get the header. */
TEST(who_asks_is_said_on_this_machine_only)
{
	static const struct {
		const char *url;
		size_t n;
	} rows[] = {{"http://127.0.0.1:1/mcp", 1},      {"ws://localhost:1/ws", 1},
		    {"https://[::1]:1/mcp", 1},         {"http://127.0.0.2/", 1},
		    {"https://mcp.example.com/mcp", 0}, {"http://10.0.0.1:127/", 0}};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		MP_CLEANUP(mp_destination_done) struct mp_destination d = {0};
		MP_CLEANUP(mp_http_fields_done) struct mp_http_fields fields;
		struct mp_http_request request = {0};

		mp_http_fields_init(&fields);
		CHECK_EQ(mp_destination_init(&d, rows[i].url, NULL), 0);
		CHECK_EQ(mp_destination_add_headers(&d, &fields), 0);
		mp_destination_address(&d, &fields, &request);
		CHECK_EQ(request.n_headers, rows[i].n);
		if (rows[i].n)
			CHECK(mp_str_eq(request.headers[0].value,
					mp_str_of(mp_random_id_of_process())));
	}
}

/* V37 */
TEST(a_server_names_places_of_its_own_only)
{
	static const struct {
		const char *location, *url, *words;
	} rows[] = {
		{"/post?s=1", "https://u:p@a.example:8443/post?s=1", NULL},
		{"post", "https://u:p@a.example:8443/mcp/post", NULL},
		{"https://a.example:8443/x#y", "https://a.example:8443/x", NULL},
		{"https://A.EXAMPLE:8443/x", "https://A.EXAMPLE:8443/x", NULL},
		{"https://a.example/x", NULL, "on to https://a.example, another place"},
		{"//b.example:8443/k?key=1", NULL, "on to https://b.example:8443, another place"},
		{"http://a.example:8443/x", NULL, "https to plain http"},
		{"https://v:p@a.example:8443/x", NULL, "credentials"},
		{"javascript:1", NULL, "https://a.example:8443 sends us to"},
		{"", NULL, "invalid address"},
	};
	MP_CLEANUP(mp_destination_done) struct mp_destination d;

	CHECK_EQ(mp_destination_init(&d, "https://u:p@a.example:8443/mcp/sse", NULL), 0);
	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		MP_CLEANUP(mp_freep) char *url = NULL;
		struct mcpool_error why = {0};
		int r = mp_destination_resolve(&d, mp_str_of(rows[i].location), 0, &url, &why);

		CHECK_EQ(r, rows[i].url ? 0 : MCPOOL_EPROTO);
		if (rows[i].url)
			CHECK_TEXT(url, rows[i].url);
		else if (!strstr(why.message, rows[i].words))
			CHECK_TEXT(why.message, rows[i].words);
		CHECK(!strstr(why.message, "key="));
	}
	MP_CLEANUP(mp_freep) char *url = NULL;
	CHECK_EQ(mp_destination_resolve(&d, MP_STR("/a\0b"), 0, &url, NULL), MCPOOL_EPROTO);
	CHECK_EQ(mp_destination_resolve(&d, MP_STR("/a"), 5, &url, NULL), MCPOOL_EPROTO);
}
