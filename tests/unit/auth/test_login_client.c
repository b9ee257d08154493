/*
 * test_login_client.c - scopes, registration, and how we authenticate.
 */
#include "auth/login_client.h"

#include "base/limits.h"
#include "test.h"

static const char *list[] = {"a", "b", "offline_access"};

TEST(which_scopes_are_asked_for)
{
	struct mp_bind_list supported = {list, 2}, issuer = {list, 3}, none = {NULL, 0};
	const struct {
		struct mp_login_scope s;
		const char *want;
	} rows[] = {
		{{.challenged = "x y", .supported = &supported, .issuer = &none}, "x y"},
		{{.supported = &supported, .issuer = &none}, "a b"},
		{{.supported = &supported, .issuer = &issuer}, "a b offline_access"},
		{{.challenged = "offline_access", .issuer = &issuer}, "offline_access"},
		{{.given = "g", .challenged = "x", .supported = &supported, .issuer = &none}, "g"},
		{{.before = "p x", .challenged = "x y", .more = "y z", .issuer = &none}, "p x y z"},
		{{.issuer = &issuer}, NULL},
		{{.challenged = "  x   x ", .issuer = &none}, "x"},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		MP_CLEANUP(mp_arena_done) struct mp_arena arena;
		const char *got;

		mp_arena_init(&arena, MP_KIB(4));
		CHECK_EQ(mp_login_client_choose_scope(&rows[i].s, &arena, &got), 0);
		CHECK(!got == !rows[i].want);
		if (got)
			CHECK_TEXT(got, rows[i].want);
	}
}

TEST(how_we_authenticate)
{
	static const char *post[] = {"client_secret_post"},
			  *both[] = {"client_secret_post", "client_secret_basic"};
	struct mp_issuer_metadata none = {.issuer = "i"};
	struct mp_issuer_metadata only_post = {.auth_methods = {post, 1}},
				  any = {.auth_methods = {both, 2}};

	CHECK_TEXT(mp_login_client_choose_auth(&none, NULL, NULL), "none");
	CHECK_TEXT(mp_login_client_choose_auth(&none, "s", NULL), "client_secret_basic");
	CHECK_TEXT(mp_login_client_choose_auth(&only_post, "s", NULL), "client_secret_post");
	CHECK_TEXT(mp_login_client_choose_auth(&any, "s", NULL), "client_secret_basic");
	CHECK_TEXT(mp_login_client_choose_auth(&any, "s", "client_secret_post"),
		   "client_secret_post");
}

TEST(a_registration_says_who_we_are)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	struct mp_issuer_metadata none = {.issuer = "i"};

	mp_buf_init(&out, MP_KIB(4));
	CHECK_EQ(mp_login_client_write(&none, "http://127.0.0.1:1/callback", "a b", &out), 0);
	CHECK_STR(mp_buf_get(&out),
		  "{\"client_name\":\"mcpool\",\"application_type\":\"native\",\"redirect_uris\":["
		  "\"http://"
		  "127.0.0.1:1/"
		  "callback\"],\"grant_types\":[\"authorization_code\",\"refresh_token\"],"
		  "\"response_types\":[\"code\"],\"token_endpoint_auth_method\":\"none\",\"scope\":"
		  "\"a b\"}");
}

TEST(what_a_registration_answers)
{
	static const struct {
		int status;
		const char *body;
		int r;
	} rows[] = {
		{201, "{\"client_id\":\"c\"}", 0},
		{200, "{\"client_id\":\"c\",\"client_secret\":\"s\"}", 0},
		{201, "{\"client_id\":\"\"}", MCPOOL_EPROTO},
		{201, "{}", MCPOOL_EPROTO},
		{201, "no", MCPOOL_EPROTO},
		{400, "{\"client_id\":\"c\"}", MCPOOL_EPROTO},
		{400, "{\"error\":\"invalid_redirect_uri\"}", MCPOOL_EPERM},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		MP_CLEANUP(mp_arena_done) struct mp_arena arena;
		struct mp_fetch_answer a = {.status = rows[i].status,
					    .body = mp_str_of(rows[i].body)};
		struct mp_issuer_metadata none = {.issuer = "i"};
		struct mp_credential c = {.client_id = NULL};
		struct mcpool_error why;

		mp_arena_init(&arena, MP_KIB(4));
		CHECK(test_equal(mp_login_client_read(&a, &arena, &none, &c, &why), rows[i].r,
				 rows[i].body, __FILE__, __LINE__));
		if (rows[i].r == 0)
			CHECK_TEXT(c.client_id, "c");
	}
}
