/*
 * test_challenge.c - WWW-Authenticate as servers write it.
 */
#include "auth/challenge.h"

#include "base/limits.h"
#include "test.h"

struct fixture {
	struct mp_arena arena;
	struct mp_challenge c;
};

static int challenge_read(struct fixture *f, const char *header)
{
	mp_arena_done(&f->arena);
	mp_arena_init(&f->arena, MP_KIB(64));
	return mp_challenge_read(mp_str_of(header), &f->arena, &f->c);
}

static void fixture_done(struct fixture *f)
{
	mp_arena_done(&f->arena);
}

TEST(a_bearer_challenge_says_what_it_wants)
{
	MP_CLEANUP(fixture_done) struct fixture f = {.c.scope = NULL};

	mp_arena_init(&f.arena, MP_KIB(64));
	CHECK_EQ(challenge_read(
			 &f,
			 "Bearer error=\"insufficient_scope\", scope=\"a b\", "
			 "resource_metadata=\"https://x/y\", error_description=\"a \\\"b\\\"\""),
		 0);
	CHECK(f.c.is_bearer && !f.c.is_dpop);
	CHECK_TEXT(f.c.error, "insufficient_scope");
	CHECK_TEXT(f.c.scope, "a b");
	CHECK_TEXT(f.c.resource_metadata, "https://x/y");
	CHECK_TEXT(f.c.description, "a \"b\"");
}

TEST(other_schemes_are_passed_over)
{
	MP_CLEANUP(fixture_done) struct fixture f = {.c.scope = NULL};

	mp_arena_init(&f.arena, MP_KIB(64));
	CHECK_EQ(challenge_read(&f, "Basic realm=\"a, Bearer scope=b\", dpop scope=c , algs=ES256"),
		 0);
	CHECK(f.c.is_dpop && !f.c.is_bearer);
	CHECK_TEXT(f.c.scope, "c");
	CHECK_EQ(challenge_read(&f, "Negotiate abc=="), 0);
	CHECK(!f.c.is_dpop && !f.c.is_bearer && !f.c.scope);
}

TEST(what_cannot_be_read_is_left_out)
{
	MP_CLEANUP(fixture_done) struct fixture f = {.c.scope = NULL};

	mp_arena_init(&f.arena, MP_KIB(64));
	CHECK_EQ(challenge_read(&f, "Bearer"), 0);
	CHECK(f.c.is_bearer && !f.c.scope);
	CHECK_EQ(challenge_read(&f, "Bearer scope=\"open"), 0);
	CHECK(f.c.is_bearer && !f.c.scope);
	CHECK_EQ(challenge_read(&f, "Bearer scope=\"a\" scope=\"b\", =,"), 0);
	CHECK_TEXT(f.c.scope, "a");
	CHECK_EQ(challenge_read(&f, ""), 0);
	CHECK(!f.c.is_bearer);
}
