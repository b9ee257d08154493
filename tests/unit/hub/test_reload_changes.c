/*
 * test_reload_changes.c - what a reload changed, as words for an event and as JSON.
 */
#include "home.h"

#include "hub/reload_changes.h"

#define FILE_AT "home/.config/mcpool/mcp.json"

struct desk {
	struct mp_config_set *before, *after;
	struct mp_reload_changes changes;
	struct mp_buf text;
	bool is_read;
};

static void tidy(struct desk *d)
{
	if (d->is_read)
		mp_reload_changes_done(&d->changes);
	mp_config_set_unref(d->before);
	mp_config_set_unref(d->after);
	mp_buf_done(&d->text);
}

static bool compare(struct desk *d, const char *before, const char *after)
{
	mp_buf_init(&d->text, MP_LIMIT_RELOAD_CHANGES);
	REQUIRE(home_make() && put(FILE_AT, before));
	d->before = home_load(NULL);
	REQUIRE(put(FILE_AT, after));
	d->after = home_load(NULL);
	mp_reload_changes_read(&d->changes, d->before, d->after);
	d->is_read = true;
	return d->changes.error == 0;
}

static const char *words(struct desk *d, size_t room)
{
	mp_buf_clear(&d->text);
	return mp_reload_changes_write_text(&d->changes, room, &d->text) < 0 ||
			       mp_buf_terminate(&d->text) < 0
		       ? "failed"
		       : d->text.data;
}

static const char *json(struct desk *d, const char *folder)
{
	mp_buf_clear(&d->text);
	return mp_reload_changes_write_json(&d->changes, folder, 7, &d->text) < 0 ||
			       mp_buf_terminate(&d->text) < 0
		       ? "failed"
		       : d->text.data;
}

#define BEFORE                                                                                     \
	"{\"mcpServers\":{\"files\":{\"command\":\"c\",\"args\":[\"1\"],\"env\":{\"TOKEN\":\"x\"}" \
	"},"                                                                                       \
	"\"old\":{\"command\":\"o\"},\"web\":{\"command\":\"w\"}}}"
#define AFTER                                                                                      \
	"{\"mcpServers\":{\"files\":{\"command\":\"c\",\"args\":[\"2\"],\"env\":{\"TOKEN\":\"y\"}" \
	"},"                                                                                       \
	"\"new\":{\"command\":\"n\"},\"web\":{\"command\":\"w\",\"enabled\":false}},"              \
	"\"mcpool\":{\"log\":{\"level\":\"error\"}}}"

TEST(servers_with_their_keys_and_settings)
{
	MP_CLEANUP(tidy) struct desk d = {.is_read = false};

	CHECK(compare(&d, BEFORE, AFTER));
	CHECK_TEXT(words(&d, 1000), "added new; changed files: args, env.TOKEN; "
				    "changed web: enabled, now disabled; gone old; "
				    "settings: log.level");
	CHECK_TEXT(json(&d, "/p"),
		   "{\"time\":7,\"folder\":\"/p\",\"text\":\"added new; changed files: args, "
		   "env.TOKEN; "
		   "changed web: enabled, now disabled; gone old; settings: log.level\","
		   "\"servers\":[{\"name\":\"new\",\"change\":\"added\"},"
		   "{\"name\":\"files\",\"change\":\"changed\",\"keys\":[\"args\",\"env.TOKEN\"]},"
		   "{\"name\":\"web\",\"change\":\"changed\",\"keys\":[\"enabled\"],"
		   "\"state\":\"disabled\"},{\"name\":\"old\",\"change\":\"gone\"}],"
		   "\"settings\":[\"log.level\"]}");
}

HEAVY_TEST(less_room_has_fewer_names)
{
	MP_CLEANUP(tidy) struct desk d = {.is_read = false};

	CHECK(compare(&d, BEFORE, AFTER));
	CHECK_TEXT(words(&d, 90), "added new; changed files, web; gone old; settings: 1");
	CHECK_TEXT(words(&d, 45), "added 1; changed 2; gone 1; settings: 1");
	CHECK_TEXT(words(&d, 0), "added 1; changed 2; gone 1; settings: 1");
}

HEAVY_TEST(nothing_changed)
{
	MP_CLEANUP(tidy) struct desk d = {.is_read = false};

	CHECK(compare(&d, BEFORE, " " BEFORE));
	CHECK(mp_reload_changes_is_empty(&d.changes));
	CHECK_TEXT(words(&d, 119), "nothing changed");
}

/* Any number of servers and keys, with names of any length, fits the ceilings. */
HEAVY_TEST(long_lists_are_cut)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf a, b;
	MP_CLEANUP(tidy) struct desk d = {.is_read = false};
	char key[401];

	memset(key, 'k', 400);
	key[400] = '\0';
	mp_buf_init(&a, 1 << 20);
	mp_buf_init(&b, 1 << 20);
	CHECK(mp_buf_addf(&a, "{\"mcpServers\":{") == 0 &&
	      mp_buf_addf(&b, "{\"mcpServers\":{") == 0);
	for (int i = 0; i < 40; i++) {
		CHECK_EQ(mp_buf_addf(&a, "%s\"s%02d\":{\"command\":\"c%d\"}", i ? "," : "", i, i),
			 0);
		CHECK_EQ(mp_buf_addf(&b, "%s\"s%02d\":{\"command\":\"d%d\",\"env\":{", i ? "," : "",
				     i, i),
			 0);
		for (int k = 0; k < 20; k++)
			CHECK_EQ(mp_buf_addf(&b, "%s\"%02d%s\":\"v\"", k ? "," : "", k, key), 0);
		CHECK_EQ(mp_buf_addf(&b, "}}"), 0);
	}
	CHECK(mp_buf_addf(&a, "}}") == 0 && mp_buf_addf(&b, "}}") == 0);
	CHECK(mp_buf_terminate(&a) == 0 && mp_buf_terminate(&b) == 0);
	CHECK(compare(&d, a.data, b.data));
	CHECK_EQ(d.changes.kinds[MP_CHANGED].n, 40);
	CHECK_TEXT(words(&d, 119), "changed s00, s01, s02, s03, s04, s05, s06, s07 and 32 more");
	CHECK_TEXT(words(&d, 30), "changed s00, s01 and 38 more");
	CHECK_TEXT(words(&d, 27), "changed s00 and 39 more");
	CHECK(strlen(words(&d, 4096)) <= 4096);
	CHECK(strstr(json(&d, ""), "\"more\":8") && strstr(d.text.data, "\"moreKeys\":9"));
	CHECK(!strstr(d.text.data, "\"folder\"") && !strstr(d.text.data, key));
}

/* A folder whose files are read for the first time, during a reload. */
TEST(what_was_never_loaded_is_all_added)
{
	MP_CLEANUP(tidy) struct desk d = {0};

	mp_buf_init(&d.text, MP_LIMIT_RELOAD_CHANGES);
	CHECK(home_make() && put(FILE_AT, BEFORE));
	d.after = home_load(NULL);
	CHECK(d.after);
	mp_reload_changes_read(&d.changes, NULL, d.after);
	d.is_read = true;
	CHECK_EQ(d.changes.error, 0);
	CHECK(strstr(words(&d, 200), "added"));
}
