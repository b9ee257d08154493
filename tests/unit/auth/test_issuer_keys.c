/*
 * test_issuer_keys.c - how the keys of an issuer are found, fetched, kept and fetched again.
 */
#include "test.h"

#include "issuer.h"
#include "loopback_net.h"

#include "auth/issuer_keys.h"
#include "base/log.h"

/* What the issuer answers. */
struct site {
	struct net n;
	struct mp_issuer_keys *keys;
	const char *metadata_at; /* path; NULL: nowhere */
	const char *issuer;      /* that the metadata is about; NULL: the right one */
	const char *jwks_uri;    /* of the metadata; NULL: ours; "": none */
	const char *status;      /* of /jwks; NULL: 200 */
	const char *set;         /* NULL: one key */
	int asked, ended;        /* /jwks; fetches */
};

static void site_ended(void *u)
{
	((struct site *)u)->ended++;
}

static void say(struct conn *c, const char *status, const char *body)
{
	char text[4000];
	int n = snprintf(text, sizeof(text), "HTTP/1.1 %s\r\nContent-Length: %zu\r\n\r\n%s", status,
			 strlen(body), body);

	conn_write(c, text, (size_t)n);
}

static void say_metadata(struct site *s, struct conn *c)
{
	char body[1000], issuer[100], jwks[100];

	snprintf(issuer, sizeof(issuer), "http://127.0.0.1:%d/t", s->n.server.port);
	snprintf(jwks, sizeof(jwks), "http://127.0.0.1:%d/jwks", s->n.server.port);
	snprintf(body, sizeof(body), "{\"issuer\":\"%s\",\"token_endpoint\":\"https://a/t\"%s%s%s}",
		 s->issuer ? s->issuer : issuer,
		 s->jwks_uri && !s->jwks_uri[0] ? "" : ",\"jwks_uri\":\"",
		 s->jwks_uri ? s->jwks_uri : jwks, s->jwks_uri && !s->jwks_uri[0] ? "" : "\"");
	say(c, "200 OK", body);
}

static void on_request(struct server *server, struct conn *c, const char *head, const char *body)
{
	struct site *s = server->u;
	size_t n = s->metadata_at ? strlen(s->metadata_at) : 0;

	(void)body;
	if (n && strncmp(head + 4, s->metadata_at, n) == 0 && head[4 + n] == ' ') {
		say_metadata(s, c);
	} else if (strncmp(head, "GET /jwks ", 10) == 0) {
		s->asked++;
		say(c, s->status ? s->status : "200 OK",
		    s->set ? s->set
			   : "{\"keys\":[{\"kty\":\"OKP\",\"crv\":\"Ed25519\","
			     "\"x\":\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\"}]}");
	} else {
		say(c, "404 Not Found", "");
	}
}

static void site_done(struct site *s)
{
	mp_issuer_keys_free(s->keys);
	net_done(&s->n);
}

static bool site_open(struct site *s, const char *jwks_uri)
{
	struct mp_issuer_keys_options o = {.ended = site_ended, .u = s};
	char issuer[100], uri[100];

	mp_log_set_level(MP_LEVEL_OFF);
	REQUIRE(net_init(&s->n, NULL));
	s->n.server.on_request = on_request;
	s->n.server.u = s;
	snprintf(issuer, sizeof(issuer), "http://127.0.0.1:%d/t", s->n.server.port);
	snprintf(uri, sizeof(uri), "http://127.0.0.1:%d%s", s->n.server.port,
		 jwks_uri ? jwks_uri : "");
	o.loop = s->n.loop;
	o.issuer = issuer;
	o.jwks_uri = jwks_uri ? uri : NULL;
	REQUIRE(mp_issuer_keys_new(&o, &s->keys, NULL) == 0);
	return true;
}

#define SITE(s) MP_CLEANUP(site_done) struct site s = {.asked = 0}

/* A fetch is under way, and ends. */
static bool site_fetch(struct site *s)
{
	int before = s->ended;

	REQUIRE(mp_issuer_keys_fetch(s->keys));
	REQUIRE(s->ended == before);
	REQUIRE(net_wait(&s->n, s->ended > before));
	return true;
}

HEAVY_TEST(keys_are_found_by_metadata_or_by_their_address)
{
	static const char *const places[] = {"/.well-known/oauth-authorization-server/t",
					     "/.well-known/openid-configuration/t",
					     "/t/.well-known/openid-configuration"};
	SITE(direct);

	for (size_t i = 0; i < MP_ARRAY_LEN(places); i++) {
		SITE(s);

		s.metadata_at = places[i];
		CHECK(site_open(&s, NULL));
		CHECK(!mp_issuer_keys_get(s.keys));
		CHECK(site_fetch(&s));
		CHECK(mp_issuer_keys_get(s.keys));
	}
	CHECK(site_open(&direct, "/jwks"));
	CHECK(site_fetch(&direct));
	CHECK(mp_issuer_keys_get(direct.keys));
	CHECK_EQ(direct.n.server.n_requests, 1);
}

/* V31 V37 */
HEAVY_TEST(what_is_wrong_gives_no_keys)
{
	static const struct site cases[] = {
		{.metadata_at = NULL},
		{.metadata_at = "/.well-known/openid-configuration/t",
		 .issuer = "http://127.0.0.1/t"},
		{.metadata_at = "/.well-known/openid-configuration/t", .jwks_uri = ""},
		{.metadata_at = "/.well-known/openid-configuration/t",
		 .jwks_uri = "http://a.example/jwks"},
		{.metadata_at = "/.well-known/openid-configuration/t",
		 .status = "302 Found\r\nLocation: /jwks"},
		{.metadata_at = "/.well-known/openid-configuration/t", .status = "500 X"},
		{.metadata_at = "/.well-known/openid-configuration/t", .set = "{\"keys\":[]}"},
		{.metadata_at = "/.well-known/openid-configuration/t", .set = "<html>"},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++) {
		SITE(s);

		s = cases[i];
		CHECK(site_open(&s, NULL));
		CHECK(site_fetch(&s));
		CHECK(!mp_issuer_keys_get(s.keys));
		CHECK(s.asked <= 1);
		CHECK(!mp_issuer_keys_fetch(s.keys)); /* not again at once */
	}
}

HEAVY_TEST(a_key_that_is_not_known_is_fetched_once_a_minute)
{
	SITE(s);

	CHECK(site_open(&s, "/jwks"));
	CHECK(site_fetch(&s));
	CHECK(site_fetch(&s)); /* the first keys may just have been replaced */
	CHECK(!mp_issuer_keys_fetch(s.keys));
	CHECK_EQ(s.asked, 2);
}

/* A failed fetch takes no keys away. */
HEAVY_TEST(keys_from_before_stay)
{
	SITE(s);

	CHECK(site_open(&s, "/jwks"));
	CHECK(site_fetch(&s));
	s.status = "503 X";
	CHECK(site_fetch(&s));
	CHECK(mp_issuer_keys_get(s.keys));
}

HEAVY_TEST(it_may_end_while_it_is_fetched)
{
	SITE(s);

	CHECK(site_open(&s, "/jwks"));
	CHECK(mp_issuer_keys_fetch(s.keys));
	CHECK(mp_issuer_keys_fetch(s.keys)); /* the same one */
	mp_loop_turn(s.n.loop, false);
	s.keys = mp_issuer_keys_free(s.keys);
	net_turn(&s.n);
	CHECK_EQ(s.ended, 0);
}

TEST(an_issuer_is_https_or_on_this_machine)
{
	static const struct {
		const char *issuer, *jwks_uri;
		int want;
	} cases[] = {
		{"https://a.example", NULL, 0},
		{"http://127.0.0.1:1", NULL, 0},
		{"http://a.example", NULL, MCPOOL_EINVAL},
		{"ftp://a.example", NULL, MCPOOL_EINVAL},
		{"a.example", NULL, MCPOOL_EINVAL},
		{"https://a.example", "http://a.example/keys", MCPOOL_EINVAL},
		{"https://a.example", "file:///etc/passwd", MCPOOL_EINVAL},
	};
	struct mp_loop *loop = NULL;

	CHECK_EQ(mp_loop_new_by_hand(1, &loop), 0);
	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++) {
		struct mp_issuer_keys_options o = {.loop = loop,
						   .issuer = cases[i].issuer,
						   .jwks_uri = cases[i].jwks_uri,
						   .ended = site_ended};
		struct mp_issuer_keys *k = NULL;
		int r = mp_issuer_keys_new(&o, &k, NULL);

		mp_issuer_keys_free(k);
		if (r != cases[i].want)
			mp_loop_free(loop);
		CHECK_EQ(r, cases[i].want);
	}
	mp_loop_free(loop);
}
