/*
 * test_typed_set.c - the set of the one server that was typed behind `--`.
 */
#include "test.h"

#include <string.h>

#include "config/values/resolve.h"
#include "config/read/load.h"

struct typed {
	struct mp_config_set *set;
	struct mp_resolved out;
	bool is_resolved;
};

static void typed_done(struct typed *t)
{
	if (t->is_resolved)
		mp_resolved_done(&t->out);
	mp_config_set_unref(t->set);
}

static bool typed_resolve(struct typed *t, char *const *command)
{
	static char *env[] = {"HOME=/nowhere", "X=value", NULL};
	struct mp_resolve_request req = {.env = env, .only_key = false};
	struct mcpool_error why;

	t->set = mp_config_make_typed("name", command);
	REQUIRE(t->set && t->set->n == 1);
	req.set = t->set;
	req.entry = t->set->entries[0];
	t->is_resolved = true;
	return mp_resolve(&req, &t->out, &why) == 0;
}

TEST(a_command_is_an_entry_that_may_run)
{
	static char *command[] = {"server", "--flag", NULL};
	MP_CLEANUP(typed_done) struct typed t = {0};
	const struct mp_entry *e;

	CHECK(typed_resolve(&t, command));
	e = t.set->entries[0];
	CHECK_TEXT(e->name, "name");
	CHECK_EQ(e->kind, MP_KIND_STDIO);
	CHECK_EQ(e->origin.level, MP_CONFIG_COMMAND_LINE);
	CHECK_EQ(mp_config_get_state(t.set, e, MP_TOGGLE_NONE), MP_STATUS_READY);
	CHECK_EQ(t.set->n_problems, 0);
	for (size_t i = 0; i < sizeof(t.out.launch_key); i++)
		CHECK_EQ(t.out.launch_key[i], 0); /* there is nothing to tell it from */
}

/* The shell has expanded what the user wanted expanded. */
TEST(a_command_is_not_expanded)
{
	static char *command[] = {"~/bin/server", "${X}", "$X", "{env:X}", "!true", NULL};
	MP_CLEANUP(typed_done) struct typed t = {0};

	CHECK(typed_resolve(&t, command));
	for (size_t i = 0; command[i]; i++)
		CHECK_TEXT(t.out.argv[i], command[i]);
	CHECK(!t.out.argv[5]);
	CHECK_TEXT(t.out.cwd, "."); /* as it is, also one that was removed */
	CHECK(!t.out.env[0]);
}

TEST(an_address_that_stands_alone_is_a_remote_server)
{
	static char *http[] = {"https://user:${X}@host.test/mcp", NULL};
	static char *websocket[] = {"wss://host.test/mcp", NULL};
	static char *both[] = {"http://host.test/mcp", "more", NULL};
	MP_CLEANUP(typed_done) struct typed a = {0}, b = {0}, c = {0};

	CHECK(typed_resolve(&a, http));
	CHECK_EQ(a.out.kind, MP_KIND_HTTP);
	CHECK_TEXT(a.out.url, http[0]);
	CHECK(typed_resolve(&b, websocket));
	CHECK_EQ(b.out.kind, MP_KIND_WEBSOCKET);
	CHECK(typed_resolve(&c, both)); /* a command with a strange name */
	CHECK_EQ(c.out.kind, MP_KIND_STDIO);
	CHECK_TEXT(c.out.argv[0], both[0]);
}
