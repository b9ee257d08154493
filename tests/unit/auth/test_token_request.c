/*
 * test_token_request.c - requests to token endpoints as their forms, and answers.
 */
#include "auth/token_request.h"

#include <string.h>

#include "base/limits.h"
#include "test.h"

static const struct mp_credential client = {
	.client_id = "c d",
	.resource = "https://a/mcp",
	.issuer = "https://i",
	.scope = "a b",
	.refresh_token = "r",
};

static int request_write(const struct mp_token_request *q, struct mp_buf *body,
			 struct mp_http_fields *headers)
{
	mp_buf_clear(body);
	mp_http_fields_clear(headers);
	return mp_token_request_write(q, body, headers);
}

static bool has_header(const struct mp_http_fields *f, const char *name, const char *value)
{
	size_t n;
	const struct mp_http_header *h = mp_http_fields_get(f, &n);

	for (size_t i = 0; i < n; i++)
		if (mp_str_eq_nocase(h[i].name, mp_str_of(name)))
			return !value || mp_str_eq(h[i].value, mp_str_of(value));
	return false;
}

static void fields_done(struct mp_http_fields *f)
{
	mp_http_fields_done(f);
}

TEST(each_grant_has_its_form)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf body;
	MP_CLEANUP(fields_done) struct mp_http_fields headers;
	struct mp_token_request q = {.grant = MP_TOKEN_CODE,
				     .endpoint = "https://i/t",
				     .client = &client,
				     .code = "x",
				     .verifier = "v",
				     .redirect_uri = "http://127.0.0.1:1/callback",
				     .assertion = "j",
				     .audience = "https://i"};

	mp_buf_init(&body, MP_KIB(16));
	mp_http_fields_init(&headers);
	CHECK_EQ(request_write(&q, &body, &headers), 0);
	CHECK_STR(mp_buf_get(&body),
		  "grant_type=authorization_code&code=x&code_verifier=v&redirect_uri="
		  "http%3A%2F%2F127.0.0.1%3A1%2Fcallback&resource=https%3A%2F%2Fa%2Fmcp"
		  "&client_id=c%20d");
	CHECK(has_header(&headers, "Content-Type", "application/x-www-form-urlencoded"));
	q.grant = MP_TOKEN_REFRESH;
	CHECK_EQ(request_write(&q, &body, &headers), 0);
	CHECK_STR(mp_buf_get(&body),
		  "grant_type=refresh_token&refresh_token=r&resource=https%3A%2F%2Fa%2Fmcp"
		  "&client_id=c%20d");
	q.grant = MP_TOKEN_CREDENTIALS;
	CHECK_EQ(request_write(&q, &body, &headers), 0);
	CHECK_STR(mp_buf_get(&body),
		  "grant_type=client_credentials&scope=a%20b&resource=https%3A%2F%2Fa%2Fmcp"
		  "&client_id=c%20d");
	q.grant = MP_TOKEN_ASSERTION;
	CHECK_EQ(request_write(&q, &body, &headers), 0);
	CHECK_STR(mp_buf_get(&body),
		  "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&"
		  "assertion=j&scope=a%20b&resource=https%3A%2F%2Fa%2Fmcp&client_id=c%20d");
	CHECK(!has_header(&headers, "DPoP", NULL) && !has_header(&headers, "Authorization", NULL));
}

TEST(a_secret_is_sent_as_its_issuer_wants)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf body;
	MP_CLEANUP(fields_done) struct mp_http_fields headers;
	struct mp_credential c = client;
	struct mp_token_request q = {
		.grant = MP_TOKEN_REFRESH, .endpoint = "https://i/t", .client = &c};

	mp_buf_init(&body, MP_KIB(16));
	mp_http_fields_init(&headers);
	c.client_secret = "s:e";
	c.client_auth = "client_secret_basic";
	CHECK_EQ(request_write(&q, &body, &headers), 0);
	CHECK(has_header(&headers, "Authorization", "Basic YyUyMGQ6cyUzQWU=")); /* "c%20d:s%3Ae" */
	CHECK(mp_str_find(mp_buf_get(&body), MP_STR("client_"), 0) < 0);
	c.client_auth = "client_secret_post";
	CHECK_EQ(request_write(&q, &body, &headers), 0);
	CHECK(mp_str_find(mp_buf_get(&body), MP_STR("client_id=c%20d&client_secret=s%3Ae"), 0) > 0);
	CHECK(!has_header(&headers, "Authorization", NULL));
}

TEST(what_an_endpoint_answers)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mp_token_answer a;

	mp_arena_init(&arena, MP_KIB(64));
	CHECK_EQ(mp_token_answer_read(MP_STR("{\"access_token\":\"t\",\"token_type\":\"dpop\","
					     "\"expires_in\":60}"),
				      &arena, &a, NULL),
		 0);
	CHECK_TEXT(a.access_token, "t");
	CHECK(a.is_dpop && a.expires_in_s == 60 && !a.refresh_token && !a.error);
	CHECK_EQ(mp_token_answer_read(MP_STR("{\"access_token\":\"t\",\"expires_in\":\"60\"}"),
				      &arena, &a, NULL),
		 0);
	CHECK_EQ(a.expires_in_s, -1);
	CHECK_EQ(mp_token_answer_read(
			 MP_STR("{\"error\":\"invalid_grant\",\"error_description\":\"d\"}"),
			 &arena, &a, NULL),
		 0);
	CHECK_TEXT(a.error, "invalid_grant");
	CHECK_EQ(mp_token_answer_read(MP_STR("{}"), &arena, &a, NULL), MCPOOL_EPROTO);
	CHECK_EQ(mp_token_answer_read(MP_STR("access_token=t"), &arena, &a, NULL), MCPOOL_EPROTO);
}

TEST(a_credential_survives_its_text)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_credential c = client, back;

	mp_arena_init(&arena, MP_KIB(64));
	mp_buf_init(&text, MP_KIB(16));
	c.access_token = "t \"\\\n";
	c.expires_ms = 1234567890123;
	CHECK_EQ(mp_credential_write(&c, &text), 0);
	CHECK_EQ(mp_credential_read(mp_buf_get(&text), &arena, &back), 0);
	CHECK_TEXT(back.access_token, "t \"\\\n");
	CHECK_TEXT(back.client_id, "c d");
	CHECK_EQ(back.expires_ms, 1234567890123);
	CHECK(!back.client_secret && !back.dpop_key);
	CHECK_EQ(mp_credential_read(MP_STR("[]"), &arena, &back), MCPOOL_EPARSE);
	CHECK_EQ(mp_credential_read(MP_STR("{\"accessToken\":5}"), &arena, &back), 0);
	CHECK(!back.access_token);
}
