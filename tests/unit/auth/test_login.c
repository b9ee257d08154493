/*
 * test_login.c - a login whose endpoints are given, up to what the browser brings back. What needs
 * a server is in tests/remote/test_conformance.sh and tests/hub/test_login.sh.
 */
#include "auth/login.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "net/url.h"
#include "test.h"

struct fixture {
	struct mp_loop *loop;
	struct mp_http_client *http;
	struct mp_login *login;
	char url[4000];
	unsigned visits, ends;
	struct mcpool_error why;
};

static int give_uri(void *u, int64_t port, const char **ret_uri, struct mcpool_error *reterr)
{
	(void)u;
	(void)port;
	(void)reterr;
	*ret_uri = "http://127.0.0.1:7/callback";
	return 0;
}

static void visit(void *u, const struct mp_login_visit *v)
{
	struct fixture *f = u;

	f->visits++;
	snprintf(f->url, sizeof(f->url), "%s", v->url);
}

static void done(void *u, const struct mp_credential *c, const struct mcpool_error *error)
{
	struct fixture *f = u;

	f->ends++;
	f->why = error ? *error : (struct mcpool_error){0};
	(void)c;
}

static const struct mp_login_hooks hooks = {give_uri, visit, done};

static bool login_begin(struct fixture *f)
{
	struct mp_oauth oauth = {.client_id = "me",
				 .scope = "a b",
				 .issuer = "https://i.example",
				 .authorization_url = "https://i.example/authorize?tenant=1",
				 .token_url = "https://i.example/token"};
	struct mp_login_options o = {.server_url = "https://s.example/mcp", .oauth = &oauth};

	REQUIRE(mp_loop_new_by_hand(1000, &f->loop) == 0);
	REQUIRE(mp_http_client_new(f->loop, &f->http) == 0);
	o.loop = f->loop;
	o.http = f->http;
	f->login = mp_login_new(&o, &hooks, f);
	mp_login_start(f->login);
	mp_loop_turn(f->loop, false);
	return f->visits == 1 && f->ends == 0;
}

static void fixture_done(struct fixture *f)
{
	mp_login_free(f->login);
	mp_http_client_free(f->http);
	mp_loop_free(f->loop);
}

#define FIXTURE                  \
	MP_CLEANUP(fixture_done) \
	struct fixture f = {.visits = 0}

/* The address with this state and what follows it. */
static const char *make_answer(struct fixture *f, const char *more, char *out, size_t size)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;

	mp_arena_init(&arena, MP_KIB(64));
	snprintf(out, size, "http://127.0.0.1:7/callback?state=%s%s",
		 mp_url_get_member(f->url, "state", &arena), more);
	return out;
}

TEST(the_address_says_all_that_is_needed)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	FIXTURE;

	mp_arena_init(&arena, MP_KIB(64));
	CHECK(login_begin(&f));
	CHECK(mp_str_starts(mp_str_of(f.url),
			    MP_STR("https://i.example/authorize?tenant=1&response_type=code&")));
	CHECK_TEXT(mp_url_get_member(f.url, "client_id", &arena), "me");
	CHECK_TEXT(mp_url_get_member(f.url, "redirect_uri", &arena), "http://127.0.0.1:7/callback");
	CHECK_TEXT(mp_url_get_member(f.url, "code_challenge_method", &arena), "S256");
	CHECK_TEXT(mp_url_get_member(f.url, "resource", &arena), "https://s.example/mcp");
	CHECK_TEXT(mp_url_get_member(f.url, "scope", &arena), "a b");
	CHECK_EQ(strlen(mp_url_get_member(f.url, "code_challenge", &arena)), 43);
	CHECK_EQ(strlen(mp_url_get_member(f.url, "state", &arena)), 43);
}

/* B69 */
TEST(a_person_has_five_minutes)
{
	FIXTURE;

	CHECK(login_begin(&f));
	mp_loop_advance(f.loop, MP_SECONDS(5 * 60) - 1);
	mp_loop_turn(f.loop, false);
	CHECK_EQ(f.ends, 0);
	mp_loop_advance(f.loop, 1);
	mp_loop_turn(f.loop, false);
	CHECK_EQ(f.ends, 1);
	CHECK_EQ(f.why.code, MCPOOL_ETIMEDOUT);
	CHECK_TEXT(f.why.message, "OAuth flow timed out. Please try again.");
}

TEST(an_answer_to_something_else_ends_nothing)
{
	static const char *const others[] = {
		"http://127.0.0.1:7/callback?code=x&state=another",
		"http://127.0.0.1:7/callback?code=x",
		"http://127.0.0.1:7/callback?error=access_denied",
		"x",
		"",
	};
	struct mcpool_error why;
	FIXTURE;

	CHECK(login_begin(&f));
	for (size_t i = 0; i < MP_ARRAY_LEN(others); i++)
		CHECK_EQ(mp_login_take_redirect(f.login, others[i], &why), MCPOOL_EINVAL);
	CHECK(f.ends == 0 && mp_login_get_visit(f.login));
}

/* V31: what comes from another issuer, or is an error, never becomes a request for a token. */
TEST(an_answer_of_another_issuer_is_not_used)
{
	static const struct {
		const char *more, *words;
	} rows[] = {
		{"&code=x&iss=https%3A%2F%2Fj.example", "from another issuer"},
		{"&code=x&iss=https%3A%2F%2Fi.example%2F", "from another issuer"},
		{"&code=x&iss=HTTPS%3A%2F%2Fi.example", "from another issuer"},
		{"&error=access_denied&iss=https%3A%2F%2Fj.example", "from another issuer"},
		{"&error=access_denied&error_description=no%20way", "access_denied: no way"},
		{"&code=", "has no code"},
		{"", "has no code"},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		char url[400];
		FIXTURE;

		CHECK(login_begin(&f));
		CHECK_EQ(mp_login_take_redirect(
				 f.login, make_answer(&f, rows[i].more, url, sizeof(url)), NULL),
			 0);
		CHECK_EQ(f.ends, 1);
		CHECK(test_true(strstr(f.why.message, rows[i].words), rows[i].more, __FILE__,
				__LINE__));
		CHECK(!mp_login_get_visit(f.login));
	}
}
