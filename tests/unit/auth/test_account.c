/*
 * test_account.c - tokens of one server: given, renewed once for all, refused for each reason. The
 * issuer is a server on this loop; what needs a person or several processes is in
 * tests/hub/test_login.sh.
 */
#include "auth/account.h"

#include <signal.h>
#include <time.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/secrets.h"
#include "loopback_http.h"
#include "test.h"

struct fixture {
	struct mp_loop *loop;
	struct server issuer;
	struct mp_http_client *http;
	struct mp_account *account;
	struct mp_timer tick;
	const char *answer; /* of the token endpoint */
	unsigned changes;
};

struct waiting {
	struct mp_authorization_waiter base;
	unsigned told;
	bool again;
	struct mcpool_error why;
};

static void tick(void *u)
{
	struct fixture *f = u;

	mp_timer_start(&f->tick, 5);
}

static void answer_token(struct server *s, struct conn *c, const char *head, const char *body)
{
	struct fixture *f = s->u;

	(void)head;
	(void)body;
	conn_write(c, f->answer, strlen(f->answer));
}

static void changed(void *u, struct mp_account *a)
{
	struct fixture *f = u;

	(void)a;
	f->changes++;
}

static void fixture_done(struct fixture *f)
{
	mp_account_free(f->account);
	mp_http_client_free(f->http);
	server_stop(&f->issuer);
	if (f->loop)
		mp_timer_stop(&f->tick);
	mp_loop_free(f->loop);
	mp_secret_remove_all();
}

#define NEW                                                                                \
	"HTTP/1.1 200 OK\r\nContent-Length: 82\r\n\r\n{\"access_token\":\"second-token\"," \
	"\"refresh_token\":\"second-refresh\",\"expires_in\":3600}"

/* With a stored credential whose token lives so long. */
static bool fixture_init(struct fixture *f, int64_t left_ms)
{
	static const struct mp_account_hooks hooks = {.changed = changed};
	static const struct mp_oauth oauth = {.is_off = false};
	struct mp_account_options o = {.server = "a",
				       .secret = "oauth/a",
				       .server_url = "https://s/mcp",
				       .oauth = &oauth,
				       .hooks = &hooks,
				       .u = f};
	char text[600];

	*f = (struct fixture){.answer = NEW};
	signal(SIGPIPE, SIG_IGN);
	REQUIRE(mp_loop_new(&f->loop) == 0);
	mp_timer_init(&f->tick, f->loop, tick, f);
	tick(f);
	REQUIRE(server_start(&f->issuer, f->loop, NULL));
	f->issuer.on_request = answer_token;
	f->issuer.u = f;
	REQUIRE(mp_http_client_new(f->loop, &f->http) == 0);
	o.loop = f->loop;
	o.http = f->http;
	f->account = mp_account_new(&o);
	snprintf(text, sizeof(text),
		 "{\"serverUrl\":\"https://s/mcp\",\"issuer\":\"https://i\",\"clientId\":\"me\","
		 "\"tokenEndpoint\":\"http://127.0.0.1:%d/token\",\"accessToken\":\"first-token\","
		 "\"refreshToken\":\"first-refresh\",\"expiresMs\":%lld}",
		 f->issuer.port, (long long)(mp_loop_wall_now_ms(f->loop) + left_ms));
	mp_account_take_stored(f->account, mp_str_of(text));
	REQUIRE(mp_account_has_token(f->account));
	return true;
}

static void decided(void *u, bool again, const struct mcpool_error *why)
{
	struct waiting *w = u;

	w->told++;
	w->again = again;
	if (why)
		w->why = *why;
}

/* A request with the token of that number was refused. */
static bool refuse(struct fixture *f, struct waiting *w, unsigned token, const char *challenge)
{
	struct mp_authorization *a = mp_account_get_authorization(f->account);
	struct mp_authorization_refusal no = {
		.status = 401, .token = token, .challenge = mp_str_of(challenge)};

	*w = (struct waiting){.base = {.decided = decided, .u = w}};
	return a->ops->refused(a, &no, &w->base);
}

static unsigned add(struct fixture *f)
{
	struct mp_authorization *a = mp_account_get_authorization(f->account);
	struct mp_http_fields fields;
	unsigned token = 0;

	mp_http_fields_init(&fields);
	if (a->ops->add(a, "POST", "https://s/mcp", &fields, &token) < 0)
		token = 0;
	mp_http_fields_done(&fields);
	return token;
}

static void turn_until(struct fixture *f, const unsigned *told, int ms)
{
	int64_t until = mp_loop_now_ms(f->loop) + ms;

	while (!*told && mp_loop_now_ms(f->loop) < until)
		mp_loop_turn(f->loop, true);
}

HEAVY_TEST(all_that_were_refused_share_one_renewal)
{
	MP_CLEANUP(fixture_done) struct fixture f;
	struct waiting w[5], late;
	unsigned first;

	CHECK(fixture_init(&f, 3600000));
	first = add(&f);
	for (size_t i = 0; i < MP_ARRAY_LEN(w); i++)
		CHECK(refuse(&f, &w[i], first, "Bearer"));
	turn_until(&f, &w[4].told, 5000);
	for (size_t i = 0; i < MP_ARRAY_LEN(w); i++)
		CHECK(w[i].told == 1 && w[i].again && !w[i].why.code);
	CHECK_EQ(f.issuer.n_requests, 1);
	CHECK_TEXT(mp_account_get_token(f.account), "second-token");
	CHECK(refuse(&f, &late, first, "Bearer")); /* it was under way with the old one */
	turn_until(&f, &late.told, 5000);
	CHECK(late.again && f.issuer.n_requests == 1);
	CHECK(!refuse(&f, &late, add(&f), "Bearer")); /* a new one that is refused at once */
	CHECK_EQ(f.issuer.n_requests, 1);
}

HEAVY_TEST(a_token_is_renewed_before_it_expires_if_it_is_used)
{
	for (int is_used = 0; is_used < 2; is_used++) {
		MP_CLEANUP(fixture_done) struct fixture f;
		unsigned renewed = 0;

		CHECK(fixture_init(&f, 60400)); /* in 360 to 400 ms */
		if (is_used)
			CHECK(add(&f) > 0);
		for (int k = 0; k < 50 && !renewed; k++) {
			turn_until(&f, &renewed, is_used ? 200 : 20);
			renewed = strcmp(mp_account_get_token(f.account), "first-token") != 0;
		}
		CHECK_EQ(f.issuer.n_requests, is_used);
		CHECK_TEXT(mp_account_get_token(f.account),
			   is_used ? "second-token" : "first-token");
	}
}

HEAVY_TEST(a_refresh_token_that_is_refused_needs_a_person)
{
	MP_CLEANUP(fixture_done) struct fixture f;
	struct waiting w;

	CHECK(fixture_init(&f, 3600000));
	f.answer = "HTTP/1.1 400 No\r\nContent-Length: 25\r\n\r\n{\"error\":\"invalid_grant\"}";
	CHECK(refuse(&f, &w, add(&f), "Bearer"));
	turn_until(&f, &w.told, 5000);
	CHECK(w.told == 1 && !w.again && !w.why.code);
	CHECK(!mp_account_has_token(f.account) && f.changes == 1);
	CHECK_EQ(mp_account_get_problem(f.account)->code, MCPOOL_ENEEDS_AUTH);
	CHECK_TEXT(mp_account_get_problem(f.account)->message,
		   "OAuth authentication failed: invalid_grant");
	CHECK(!refuse(&f, &w, 0, "Bearer")); /* it is not asked again */
	CHECK_EQ(f.issuer.n_requests, 1);
}

HEAVY_TEST(an_issuer_that_is_away_costs_no_token)
{
	static const char *const answers[] = {
		"HTTP/1.1 503 No\r\nContent-Length: 4\r\n\r\nbusy",
		"HTTP/1.1 400 No\r\nContent-Length: "
		"35\r\n\r\n{\"error\":\"temporarily_unavailable\"}",
		"HTTP/1.1 302 No\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 17\r\n\r\n"
		"{\"error\":\"moved\"}",
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(answers); i++) {
		MP_CLEANUP(fixture_done) struct fixture f;
		struct waiting w;

		CHECK(fixture_init(&f, 3600000));
		f.answer = answers[i];
		CHECK(refuse(&f, &w, add(&f), "Bearer"));
		turn_until(&f, &w.told, 5000);
		CHECK(w.told == 1 && !w.again);
		CHECK_EQ(w.why.code, MCPOOL_EIO);
		CHECK(strstr(w.why.message, "its token could not be renewed: "));
		CHECK(mp_account_has_token(f.account) && f.changes == 0);
		CHECK_EQ(f.issuer.n_requests, 1); /* a redirect of it is not followed (V37) */
	}
}

static void left(void *u, const struct mcpool_error *error)
{
	unsigned *told = u;

	*told += error ? 100 : 1;
}

HEAVY_TEST(a_logout_ends_a_renewal)
{
	MP_CLEANUP(fixture_done) struct fixture f;
	unsigned told = 0;
	struct mp_person_watcher watcher = {.over = left, .u = &told};
	struct waiting w;
	unsigned never = 0;

	CHECK(fixture_init(&f, 3600000));
	CHECK(refuse(&f, &w, add(&f), "Bearer"));
	mp_account_logout(f.account, &watcher);
	CHECK(w.told == 1 && !w.again && told == 1);
	turn_until(&f, &never, 200);
	CHECK(!mp_account_has_token(f.account) && w.told == 1);
}

/* V32: a credential is for the address that it was made for. */
TEST(a_credential_of_another_address_is_not_used)
{
	static const struct mp_oauth oauth = {.is_off = false};
	struct mp_account_options o = {
		.server = "a", .secret = "oauth/a", .server_url = "https://s/mcp", .oauth = &oauth};
	struct mp_loop *loop;
	struct mp_http_client *http;

	CHECK_EQ(mp_loop_new_by_hand(1000, &loop), 0);
	if (mp_http_client_new(loop, &http) < 0) {
		mp_loop_free(loop);
		return;
	}
	o.loop = loop;
	o.http = http;
	struct mp_account *a = mp_account_new(&o);

	mp_account_take_stored(
		a, MP_STR("{\"serverUrl\":\"https://t/mcp\",\"accessToken\":\"other-token\"}"));
	test_true(!mp_account_has_token(a), "another address", __FILE__, __LINE__);
	mp_account_take_stored(a, MP_STR("{\"accessToken\":\"other-token\"}"));
	test_true(!mp_account_has_token(a), "no address", __FILE__, __LINE__);
	mp_account_free(a);
	mp_http_client_free(http);
	mp_loop_free(loop);
	mp_secret_remove_all();
}
