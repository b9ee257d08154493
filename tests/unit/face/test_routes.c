/*
 * test_routes.c - the denial matrix: every route, every way not to be let in, and nothing happens.
 */
#include "front.h"

#include "face/routes.h"

static const char one[] = "{\"mcpServers\":{\"git\":{\"command\":\"y\"}}}";
static const char *const verbs[] = {"GET", "HEAD", "POST", "DELETE", "OPTIONS", "PUT", "PATCH"};

/* One question by somebody new; its status. */
static int ask(struct front *s, struct visitor *who, const char *verb, const char *path,
	       const char *headers)
{
	MP_CLEANUP(visitor_done) struct visitor v = {0};
	char what[100];

	memory_conn_init(&v.conn);
	v.host = who->host;
	v.token = who->token;
	v.no_token = who->no_token;
	snprintf(what, sizeof(what), "%s %s", verb, path);
	if (!visitor_ask(s, &v, what, headers, strcmp(verb, "POST") == 0 ? "{}" : NULL))
		return -1;
	return visitor_status(&v);
}

/* All verbs of all routes, and of some that are not there; false: one was not denied. */
static bool is_denied(struct front *s, struct visitor *who, const char *headers, int want,
		      bool visitors_too)
{
	static const char *const nowhere[] = {"/register", "/authorize", "/token", "/mcp/", "//mcp",
					      "/MCP",      "/%6dcp",     "/x",     "/mcp;a"};
	size_t n;
	const struct mp_route *routes = mp_routes_list(&n);

	for (size_t i = 0; i < n - 1 + MP_ARRAY_LEN(nowhere); i++) {
		const char *path = i < n - 1 ? routes[i].path : nowhere[i - (n - 1)];
		bool is_open = i >= n - 1 || routes[i].who == MP_ROUTE_FOR_VISITORS;
		bool is_for_pages = i < n - 1 && (routes[i].who == MP_ROUTE_FOR_PAGES ||
						  routes[i].who == MP_ROUTE_FOR_BROWSERS);

		for (size_t k = 0; k < MP_ARRAY_LEN(verbs); k++) {
			int status = ask(s, who, verbs[k], path, headers);
			bool ok = is_open && !visitors_too ? status != 401 && status != 403
							   : status == (is_for_pages ? 403 : want);

			if (!ok)
				fprintf(stderr, "%s %s: %d\n", verbs[k], path, status);
			REQUIRE(ok);
		}
	}
	return true;
}

static bool nothing_happened(struct front *s)
{
	REQUIRE(mp_sessions_count(s->sessions) == 0);
	REQUIRE(fleet_get(&s->f, "git")->calls == 0);
	return true;
}

/* V11 V12 V13 V18 V29 */
HEAVY_TEST(the_denial_matrix)
{
	FRONT(s);
	struct visitor right = {0}, bare = {.no_token = true}, wrong = {.token = "x"};
	struct visitor foreign = {.host = "evil.example"};
	char almost[MP_HTTP_TOKEN_MOST + 1];

	CHECK(front_open(&s, one, false));
	snprintf(almost, sizeof(almost), "%s", s.face->admit.token.text);
	almost[0] = almost[0] == '0' ? '1' : '0';
	CHECK(is_denied(&s, &bare, NULL, 401, false));
	CHECK(is_denied(&s, &bare, "Authorization: Basic eDp5\r\n", 401, false));
	CHECK(is_denied(&s, &wrong, NULL, 401, false));
	wrong.token = "";
	CHECK(is_denied(&s, &wrong, NULL, 401, false));
	wrong.token = almost;
	CHECK(is_denied(&s, &wrong, NULL, 401, false));
	almost[strlen(almost) - 1] = '\0';
	CHECK(is_denied(&s, &wrong, NULL, 401, false));
	CHECK(is_denied(&s, &foreign, NULL, 403, true));
	CHECK(is_denied(&s, &right, "Origin: http://evil.example\r\n", 403, true));
	CHECK(is_denied(&s, &right, "Origin: null\r\n", 403, true));
	CHECK(is_denied(&s, &right, "Sec-Fetch-Site: same-site\r\n", 403, false));
	CHECK(nothing_happened(&s));
	/* And the counter-test. */
	CHECK_EQ(ask(&s, &right, "GET", "/health", NULL), 200);
	CHECK_EQ(ask(&s, &right, "HEAD", "/health", NULL), 200);
	CHECK_EQ(ask(&s, &bare, "GET", "/", NULL), 200);
	CHECK_EQ(ask(&s, &bare, "GET", "/register", NULL), 404);
	CHECK_EQ(ask(&s, &right, "PUT", "/mcp", NULL), 405);
	CHECK_EQ(ask(&s, &right, "GET", "/health?token=x", NULL), 200);
	/* A token in the address is none. */
	char path[MP_HTTP_TOKEN_MOST + 40];
	snprintf(path, sizeof(path), "/health?token=%.80s", s.face->admit.token.text);
	CHECK_EQ(ask(&s, &bare, "GET", path, NULL), 401);
}

HEAVY_TEST(without_a_token_names_still_count)
{
	FRONT(s);
	struct visitor bare = {.no_token = true},
		       foreign = {.host = "evil.example", .no_token = true};

	CHECK(front_open(&s, one, true));
	CHECK(is_denied(&s, &foreign, NULL, 403, true));
	CHECK(is_denied(&s, &bare, "Origin: http://evil.example\r\n", 403, true));
	CHECK(is_denied(&s, &bare, "Sec-Fetch-Site: cross-site\r\n", 403, false));
	CHECK(nothing_happened(&s));
	CHECK_EQ(ask(&s, &bare, "GET", "/health", NULL), 200);
}

/* V20 */
/* use-P14 */
TEST(who_comes_without_the_token_is_told_how_to_get_it)
{
	FRONT(s);
	VISITOR(none);
	VISITOR(wrong);
	VISITOR(page);

	CHECK(front_open(&s, one, false));
	none.no_token = page.no_token = true;
	wrong.token = "0123456789abcdef";
	CHECK(visitor_ask(&s, &none, "GET /health", NULL, NULL));
	CHECK_EQ(visitor_status(&none), 401);
	CHECK(visitor_has(&none, "; `mcpool token` shows it\""));
	CHECK(visitor_ask(&s, &wrong, "GET /health", NULL, NULL));
	CHECK(visitor_has(&wrong, "this is not a token of mcpool; `mcpool token` shows it\""));
	CHECK(visitor_ask(&s, &page, "GET /", NULL, NULL));
	CHECK_EQ(visitor_status(&page), 200);
	CHECK(visitor_has(&page, "mcpool connect AGENT") && visitor_has(&page, "/mcp"));
}

TEST(a_row_that_says_nothing_is_for_nobody)
{
	static const struct mp_route forgotten = {.path = "/x", .verbs = MP_HTTP_METHOD_GET};
	FRONT(s);
	MP_CLEANUP(visitor_done) struct visitor v = {0};
	struct mp_http_admission admission;
	struct mp_http_refusal refusal;
	struct mp_inbound *in = mp_inbound_new();
	char text[1000];
	size_t used;
	bool admitted;

	memory_conn_init(&v.conn);
	CHECK(front_open(&s, one, false) || !(in = mp_inbound_free(in)));
	snprintf(text, sizeof(text),
		 "GET /x HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", s.host,
		 s.face ? s.face->admit.token.text : "");
	admitted = s.face && mp_inbound_feed(in, mp_str_of(text), &used) == MP_INBOUND_HEAD &&
		   mp_admit_judge(&s.face->admit, &forgotten, in, &v.conn.base.peer, &admission,
				  &refusal);
	mp_inbound_free(in);
	CHECK(!admitted);
}
