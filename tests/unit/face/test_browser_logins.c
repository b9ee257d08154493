/*
 * test_browser_logins.c - codes, cookies and proofs of browsers, and everything that is none.
 */
#include "test.h"

#include "folder.h"

#include <stdio.h>
#include <string.h>

#include "face/browser_logins.h"

struct logins {
	struct mp_loop *loop;
	struct mp_browser_logins all;
	struct mp_holders holders;
	char path[200], header[400];
	struct mcpool_error why;
};

static void logins_done(struct logins *s)
{
	mp_browser_logins_done(&s->all);
	mp_holders_done(&s->holders);
	s->loop = mp_loop_free(s->loop);
}

static bool logins_open(struct logins *s, int port)
{
	REQUIRE(s->loop || (folder_make() && mp_loop_new_by_hand(1700000000000, &s->loop) == 0));
	snprintf(s->path, sizeof(s->path), "%s/dashboard.key", test_folder);
	mp_holders_init(&s->holders);
	REQUIRE(mp_browser_logins_open(&s->all, s->loop, s->path, port, &s->why) == 0);
	return true;
}

#define LOGINS(s)                                      \
	MP_CLEANUP(logins_done) struct logins s = {0}; \
	CHECK(logins_open(&s, 7717))

static bool log_in(struct logins *s, struct mp_browser_login *ret)
{
	char code[MP_BROWSER_CODE + 1];

	mp_browser_logins_make_code(&s->all, code);
	REQUIRE(mp_browser_logins_take_code(&s->all, mp_str_of(code), ret));
	return true;
}

static const struct mp_holder *find(struct logins *s, const char *name, const char *cookie)
{
	snprintf(s->header, sizeof(s->header), "a=b; %s=%s; other_7717=x", name, cookie);
	return mp_browser_logins_find(&s->all, &s->holders, mp_str_of(s->header));
}

TEST(a_code_works_once)
{
	char code[MP_BROWSER_CODE + 1], other[MP_BROWSER_CODE + 1];
	struct mp_browser_login login;
	LOGINS(s);

	CHECK(!mp_browser_logins_take_code(&s.all, MP_STR(""), &login));
	mp_browser_logins_make_code(&s.all, code);
	mp_browser_logins_make_code(&s.all, other);
	CHECK(!mp_browser_logins_take_code(&s.all, (struct mp_str){code, MP_BROWSER_CODE - 1},
					   &login));
	CHECK(mp_browser_logins_take_code(&s.all, mp_str_of(code), &login));
	CHECK(!mp_browser_logins_take_code(&s.all, mp_str_of(code), &login));
	CHECK(mp_browser_logins_take_code(&s.all, mp_str_of(other), &login));
	memset(code, '\0', sizeof(code)); /* a place where there is no code */
	CHECK(!mp_browser_logins_take_code(&s.all, (struct mp_str){code, MP_BROWSER_CODE}, &login));
}

TEST(a_code_is_void_after_a_minute)
{
	char code[MP_BROWSER_CODE + 1];
	struct mp_browser_login login;
	LOGINS(s);

	mp_browser_logins_make_code(&s.all, code);
	mp_loop_advance(s.loop, MP_BROWSER_CODE_MS);
	CHECK(!mp_browser_logins_take_code(&s.all, mp_str_of(code), &login));
	mp_browser_logins_make_code(&s.all, code);
	mp_loop_advance(s.loop, MP_BROWSER_CODE_MS - 1);
	CHECK(mp_browser_logins_take_code(&s.all, mp_str_of(code), &login));
}

TEST(the_oldest_code_makes_room)
{
	char codes[MP_BROWSER_CODES + 1][MP_BROWSER_CODE + 1];
	struct mp_browser_login login;
	LOGINS(s);

	for (size_t i = 0; i <= MP_BROWSER_CODES; i++)
		mp_browser_logins_make_code(&s.all, codes[i]);
	CHECK(!mp_browser_logins_take_code(&s.all, mp_str_of(codes[0]), &login));
	for (size_t i = 1; i <= MP_BROWSER_CODES; i++)
		CHECK(mp_browser_logins_take_code(&s.all, mp_str_of(codes[i]), &login));
}

TEST(a_cookie_is_good_until_its_end)
{
	struct mp_browser_login login;
	const struct mp_holder *holder;
	LOGINS(s);

	CHECK(log_in(&s, &login));
	holder = find(&s, "mcpool_7717", login.cookie);
	CHECK(holder && strncmp(holder->principal, "browser:", 8) == 0);
	CHECK(find(&s, "mcpool_7717", login.cookie) == holder); /* two tabs are one */
	mp_loop_advance(s.loop, MP_BROWSER_LOGIN_MS - 1);
	CHECK(find(&s, "mcpool_7717", login.cookie) == holder);
	mp_loop_advance(s.loop, 1);
	CHECK(!find(&s, "mcpool_7717", login.cookie));
	mp_holders_sweep(&s.holders, mp_loop_wall_now_ms(s.loop));
	CHECK_EQ(s.holders.list.len, 0);
}

/* The next hub has the same key, and another port is another hub. */
TEST(a_login_outlives_the_hub_and_is_for_one_port)
{
	struct mp_browser_login login;
	LOGINS(s);

	CHECK(log_in(&s, &login));
	mp_browser_logins_done(&s.all);
	mp_holders_done(&s.holders);
	CHECK(logins_open(&s, 7717));
	CHECK(find(&s, "mcpool_7717", login.cookie));
	CHECK(!find(&s, "mcpool_7718", login.cookie));
	CHECK(!find(&s, "xmcpool_7717", login.cookie));
	mp_browser_logins_done(&s.all);
	mp_holders_done(&s.holders);
	CHECK(logins_open(&s, 7718));
	CHECK(!find(&s, "mcpool_7718", login.cookie)); /* renamed by a page of that port */
}

TEST(a_changed_cookie_is_not_valid)
{
	struct mp_browser_login login;
	char cookie[MP_BROWSER_COOKIE + 2];
	LOGINS(s);

	CHECK(log_in(&s, &login));
	for (size_t i = 0; login.cookie[i]; i++) {
		memcpy(cookie, login.cookie, sizeof(login.cookie));
		cookie[i] = cookie[i] == '0' ? '1' : '0';
		CHECK(!find(&s, "mcpool_7717", cookie));
		cookie[i] = '\0';
		CHECK(!find(&s, "mcpool_7717", cookie));
	}
	snprintf(cookie, sizeof(cookie), "%s0", login.cookie);
	CHECK(!find(&s, "mcpool_7717", cookie));
	CHECK(!mp_browser_logins_find(&s.all, &s.holders, MP_STR("")));
	CHECK(!mp_browser_logins_find(&s.all, &s.holders, MP_STR(";;=;mcpool_7717;mcpool_7717=")));
	CHECK_EQ(s.holders.list.len, 0);
}

TEST(the_proof_is_of_that_login)
{
	struct mp_browser_login one, two;
	const struct mp_holder *holder, *token;
	LOGINS(s);

	CHECK(log_in(&s, &one) && log_in(&s, &two));
	holder = find(&s, "mcpool_7717", one.cookie);
	token = mp_holders_add(&s.holders, "local", "", "");
	CHECK(holder && token);
	CHECK(mp_browser_logins_is_proven(&s.all, holder, mp_str_of(one.proof)));
	CHECK(!mp_browser_logins_is_proven(&s.all, holder, mp_str_of(two.proof)));
	CHECK(!mp_browser_logins_is_proven(&s.all, holder, MP_STR("")));
	CHECK(!mp_browser_logins_is_proven(&s.all, token, mp_str_of(one.proof)));
	one.proof[0] = one.proof[0] == '0' ? '1' : '0';
	CHECK(!mp_browser_logins_is_proven(&s.all, holder, mp_str_of(one.proof)));
	/* The MAC of the cookie does not count: a page of another port may have seen it. */
	CHECK(!mp_browser_logins_is_proven(
		&s.all, holder, mp_str_of(one.cookie + strlen(one.cookie) - MP_BROWSER_PROOF)));
}

TEST(a_new_key_ends_all_logins)
{
	struct mp_browser_login login;
	uint64_t ended;
	LOGINS(s);

	CHECK(log_in(&s, &login));
	CHECK(find(&s, "mcpool_7717", login.cookie));
	CHECK(mp_holders_add(&s.holders, "local", "", ""));
	ended = s.holders.ended;
	CHECK(mp_browser_logins_end_all(&s.all, &s.holders, &s.why) == 0);
	CHECK_EQ(s.holders.list.len, 1); /* holders of tokens stay */
	CHECK(s.holders.ended > ended);
	CHECK(!find(&s, "mcpool_7717", login.cookie));
	CHECK(log_in(&s, &login));
	CHECK(find(&s, "mcpool_7717", login.cookie));
	/* By hand, or by `mcpool dashboard --log-out`. */
	CHECK(mp_http_token_rotate(s.path, &s.why) == 0);
	mp_browser_logins_look(&s.all, &s.holders);
	CHECK(!find(&s, "mcpool_7717", login.cookie));
}
