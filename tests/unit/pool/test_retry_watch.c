/* test_retry_watch.c - a start that failed for good is tried when its files appear. */
#include "test.h"

#include <fcntl.h>
#include <limits.h>

#include "fleet.h"
#include "folder.h"

#include "base/error.h"
#include "base/log.h"
#include "files/follow.h"
#include "pool/retry_watch.h"

struct bench {
	struct fleet f;
	struct mp_config_watch *files;
	struct mp_follower *follower;
	int changes;
};

static void bench_done(struct bench *b)
{
	mp_follower_leave(b->follower);
	if (b->f.pool)
		mp_pool_set_files(b->f.pool, NULL);
	mp_workspace_close(b->f.workspace);
	b->f.workspace = NULL;
	mp_pool_free(b->f.pool);
	b->f.pool = NULL;
	mp_config_watch_close(b->files);
	fleet_done(&b->f);
	mp_log_set_sink(NULL, NULL);
}

static void say_nothing(const struct mp_log_line *line, void *u)
{
	(void)line;
	(void)u;
}

static bool bench_init(struct bench *b)
{
	*b = (struct bench){.changes = 0};
	mp_log_set_sink(say_nothing, NULL); /* with failing allocations some looks fail */
	REQUIRE(folder_make());
	REQUIRE(fleet_init(&b->f));
	REQUIRE(mp_config_watch_new(b->f.loop, &b->files, NULL) == 0);
	return true;
}

static const char *in(const char *name)
{
	static char paths[4][160];
	static unsigned turn;
	char *path = paths[turn++ % MP_ARRAY_LEN(paths)];

	snprintf(path, sizeof(paths[0]), "%s/%s", test_folder, name);
	return path;
}

static bool put(const char *name, const char *text)
{
	int fd = open(in(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return ok;
}

static void look(struct bench *b)
{
	for (int i = 0; i < 12; i++)
		fleet_advance(&b->f, 100);
}

static void count_change(void *u)
{
	struct bench *b = u;

	b->changes++;
}

static bool follow(struct bench *b, const char *name, const char *cwd, const char *path)
{
	char text[400];
	char *env[] = {text, NULL};
	struct mp_launch_command command = {name, cwd, env};

	snprintf(text, sizeof(text), "PATH=%s", path);
	b->follower = mp_follower_leave(b->follower);
	b->follower = mp_retry_watch_follow(b->files, &command, count_change, b);
	REQUIRE(b->follower);
	b->changes = 0;
	look(b);
	return b->changes == 0;
}

/* U12 */
/* In any folder of PATH, also one that is made later; other files of that folder do not count. */
TEST(a_command_may_appear_in_any_folder_of_path)
{
	MP_CLEANUP(bench_done) struct bench b;
	char path[400];

	CHECK(bench_init(&b));
	CHECK(mkdir(in("one"), 0700) == 0);
	snprintf(path, sizeof(path), "%s:%s:/nowhere::", in("one"), in("two"));
	CHECK(follow(&b, "tool", test_folder, path));
	CHECK(put("one/other", ""));
	look(&b);
	CHECK_EQ(b.changes, 0);
	CHECK(put("one/tool", ""));
	look(&b);
	CHECK(b.changes > 0);
	CHECK(unlink(in("one/tool")) == 0);
	CHECK(follow(&b, "tool", test_folder, path));
	CHECK(mkdir(in("two"), 0700) == 0);
	CHECK(put("two/tool", ""));
	look(&b);
	CHECK(b.changes > 0);
}

/* U12 */
/* The interpreter of a script, the working folder, a path of its own. */
TEST(what_a_command_needs_is_followed_too)
{
	MP_CLEANUP(bench_done) struct bench b;
	char line[400];

	CHECK(bench_init(&b));
	snprintf(line, sizeof(line), "#! %s -u\n", in("python"));
	CHECK(put("script", line));
	CHECK(follow(&b, "./script", test_folder, "/bin"));
	CHECK(put("python", ""));
	look(&b);
	CHECK(b.changes > 0);
	CHECK(follow(&b, in("bin/absolute"), in("cwd"), "/bin"));
	CHECK(mkdir(in("cwd"), 0700) == 0);
	look(&b);
	CHECK(b.changes > 0);
	CHECK(follow(&b, in("bin/absolute"), in("cwd"), "/bin"));
	CHECK(mkdir(in("bin"), 0700) == 0);
	CHECK(put("bin/absolute", ""));
	look(&b);
	CHECK(b.changes > 0);
}

/* U12 */
/* The server comes up when its command is installed, and its file is not followed any more. */
TEST(an_installed_command_is_started)
{
	MP_CLEANUP(bench_done) struct bench b;
	struct fleet_server *a;
	struct fleet_result r;

	CHECK(bench_init(&b));
	CHECK(fleet_open(&b.f, "{\"mcpServers\":{\"a\":{\"command\":\"a\"}}}"));
	mp_pool_set_files(b.f.pool, b.files);
	a = fleet_get(&b.f, "a");
	a->command = in("late");
	a->dial_code = MCPOOL_ENOENT;
	CHECK(fleet_start(&b.f, "a"));
	look(&b);
	CHECK_EQ(a->prepares, 1);
	a->prepare_ms = 5000;
	a->dial_code = 0;
	CHECK(put("late", ""));
	look(&b);
	CHECK_TEXT(fleet_state(&b.f, "a"), "pending");
	CHECK(fleet_call(&b.f, "a", 1, 0, &r)); /* waits for it, and is not told of the failure */
	fleet_advance(&b.f, 5000);
	CHECK_EQ(r.outcome, MP_OUTCOME_ANSWERED);
	CHECK_TEXT(fleet_state(&b.f, "a"), "connected");
	CHECK_EQ(a->prepares, 2);
	CHECK(put("late", "again"));
	look(&b);
	CHECK_EQ(a->prepares, 2);
}
