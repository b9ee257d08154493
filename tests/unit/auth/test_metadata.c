/*
 * test_metadata.c - where documents are looked for, and which are refused (V31).
 */
#include "auth/metadata.h"

#include <string.h>

#include "base/limits.h"
#include "test.h"

static bool read_url(const char *text, struct mp_arena *arena, struct mp_url *ret)
{
	REQUIRE(mp_url_read(text, arena, ret) == 0);
	return true;
}

TEST(places_of_a_resource)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	const char *places[MP_METADATA_PLACES];
	struct mp_url u;
	size_t n;

	mp_arena_init(&arena, MP_KIB(64));
	CHECK(read_url("https://a.example/team/mcp/", &arena, &u));
	CHECK_EQ(mp_metadata_list_resource_places(&u, &arena, places, &n), 0);
	CHECK_EQ(n, 2);
	CHECK_TEXT(places[0], "https://a.example/.well-known/oauth-protected-resource/team/mcp");
	CHECK_TEXT(places[1], "https://a.example/.well-known/oauth-protected-resource");
	CHECK(read_url("https://a.example", &arena, &u));
	CHECK_EQ(mp_metadata_list_resource_places(&u, &arena, places, &n), 0);
	CHECK_EQ(n, 1);
}

TEST(places_of_an_issuer)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	const char *places[MP_METADATA_PLACES];
	struct mp_url u;
	size_t n;

	mp_arena_init(&arena, MP_KIB(64));
	CHECK(read_url("https://a.example/t", &arena, &u));
	CHECK_EQ(mp_metadata_list_issuer_places(&u, &arena, places, &n), 0);
	CHECK_EQ(n, 3);
	CHECK_TEXT(places[0], "https://a.example/.well-known/oauth-authorization-server/t");
	CHECK_TEXT(places[1], "https://a.example/.well-known/openid-configuration/t");
	CHECK_TEXT(places[2], "https://a.example/t/.well-known/openid-configuration");
	CHECK(read_url("https://a.example", &arena, &u));
	CHECK_EQ(mp_metadata_list_issuer_places(&u, &arena, places, &n), 0);
	CHECK_EQ(n, 2);
}

/* Each resource against the server https://a.example/mcp/x. */
TEST(a_document_about_another_resource_is_refused)
{
	static const struct {
		const char *resource;
		int r;
	} rows[] = {
		{"https://a.example/mcp/x", 0},
		{"https://a.example/mcp/x/", 0},
		{"https://a.example/mcp", 0},
		{"https://a.example", 0},
		{"https://a.example:443/", 0},
		{"https://a.example/mcp/xy", MCPOOL_EPERM},
		{"https://a.example/mc", MCPOOL_EPERM},
		{"https://a.example/other", MCPOOL_EPERM},
		{"http://a.example/mcp/x", MCPOOL_EPERM},
		{"https://a.example:8443/mcp/x", MCPOOL_EPERM},
		{"https://b.example/mcp/x", MCPOOL_EPERM},
		{"https://a.example.evil.example/mcp/x", MCPOOL_EPERM},
		{"https://u@a.example/mcp/x", MCPOOL_EPERM},
		{"a.example", MCPOOL_EPERM},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		MP_CLEANUP(mp_arena_done) struct mp_arena arena;
		MP_CLEANUP(mp_buf_done) struct mp_buf text;
		struct mp_resource_metadata m;
		struct mcpool_error why;
		struct mp_url u;

		mp_arena_init(&arena, MP_KIB(64));
		mp_buf_init(&text, MP_KIB(4));
		CHECK(read_url("https://a.example/mcp/x", &arena, &u));
		CHECK_EQ(mp_buf_addf(
				 &text,
				 "{\"resource\":\"%s\",\"authorization_servers\":[\"https://i\"]}",
				 rows[i].resource),
			 0);
		CHECK(test_equal(mp_resource_metadata_read(mp_buf_get(&text), &u, &arena, &m, &why),
				 rows[i].r, rows[i].resource, __FILE__, __LINE__));
	}
}

#define ENDS "\"authorization_endpoint\":\"https://i/a\",\"token_endpoint\":\"https://i/t\""

/* Each document as the answer of the issuer https://i. */
TEST(a_document_of_another_issuer_is_refused)
{
	static const struct {
		const char *text;
		int r;
	} rows[] = {
		{"{\"issuer\":\"https://i\"," ENDS "}", 0},
		{"{\"issuer\":\"https://i/\"," ENDS "}", MCPOOL_EPERM},
		{"{\"issuer\":\"https://I\"," ENDS "}", MCPOOL_EPERM},
		{"{\"issuer\":\"https://i:443\"," ENDS "}", MCPOOL_EPERM},
		{"{\"issuer\":\"https://j\"," ENDS "}", MCPOOL_EPERM},
		{"{" ENDS "}", MCPOOL_EPERM},
		{"{\"issuer\":\"https://i\"}", MCPOOL_EPROTO},
		{"{\"issuer\":\"https://i\",\"token_endpoint\":\"http://i/t\"}", MCPOOL_EPROTO},
		{"{\"issuer\":\"https://i\",\"token_endpoint\":\"https://i/"
		 "t\",\"authorization_endpoint\":"
		 "\"javascript:alert(1)\"}",
		 MCPOOL_EPROTO},
		{"{\"issuer\":\"https://i\",\"token_endpoint\":\"https://i/"
		 "t\",\"registration_endpoint\":"
		 "\"file:///etc/passwd\"}",
		 MCPOOL_EPROTO},
		{"[]", MCPOOL_EPROTO},
		{"<html>", MCPOOL_EPROTO},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		MP_CLEANUP(mp_arena_done) struct mp_arena arena;
		struct mp_issuer_metadata m;
		struct mcpool_error why;

		mp_arena_init(&arena, MP_KIB(64));
		CHECK(test_equal(mp_issuer_metadata_read(mp_str_of(rows[i].text), "https://i",
							 &arena, &m, &why),
				 rows[i].r, rows[i].text, __FILE__, __LINE__));
	}
}

TEST(what_an_issuer_offers)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mp_issuer_metadata m;

	mp_arena_init(&arena, MP_KIB(64));
	CHECK_EQ(mp_issuer_metadata_read(
			 MP_STR("{\"issuer\":\"https://i\"," ENDS
				",\"code_challenge_methods_supported\":[\"plain\",\"S256\"],"
				"\"client_id_metadata_document_supported\":true,\"scopes_"
				"supported\":5}"),
			 "https://i", &arena, &m, NULL),
		 0);
	CHECK(mp_metadata_has(&m.challenge_methods, "S256") &&
	      !mp_metadata_has(&m.challenge_methods, "s256"));
	CHECK(m.takes_client_url && !m.sends_iss);
	CHECK_EQ(m.scopes.n, 0); /* of another type: as if it were missing */
}
