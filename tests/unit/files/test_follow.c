/*
 * test_follow.c - every kind of change to a file causes one call, unrelated changes none.
 * Events are the kernel's; time is moved by hand.
 */
#include "test.h"
#include "folder.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/resource.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/mem.h"
#include "files/follow.h"

enum { FOLLOWERS = 3, MAX_PATHS = 4 };

struct desk {
	struct mp_loop *loop;
	struct mp_config_watch *watch;
	struct client {
		struct desk *desk;
		struct mp_follower *follower;
		const char *next[MAX_PATHS]; /* paths to set from the call */
		int calls;
		bool leave; /* from the call */
		int set;    /* what setting them said */
	} clients[FOLLOWERS];
};

static void tidy(struct desk *d)
{
	for (int i = 0; i < FOLLOWERS; i++)
		mp_follower_leave(d->clients[i].follower);
	mp_config_watch_close(d->watch);
	mp_loop_free(d->loop);
	mp_log_set_sink(NULL, NULL);
}

static void called(void *u)
{
	struct client *p = u;

	p->calls++;
	if (p->next[0])
		p->set = mp_follower_set_paths(p->follower, p->next, 1, NULL);
	if (p->leave)
		p->follower = mp_follower_leave(p->follower);
}

/* With failing allocations some looks fail, and are warned of. */
static void say_nothing(const struct mp_log_line *line, void *u)
{
	(void)line;
	(void)u;
}

static bool sit_down(struct desk *d)
{
	*d = (struct desk){.loop = NULL};
	mp_log_set_sink(say_nothing, NULL);
	REQUIRE(folder_make());
	REQUIRE(mp_loop_new_by_hand(1000000, &d->loop) == 0);
	REQUIRE(mp_config_watch_new(d->loop, &d->watch, NULL) == 0);
	for (int i = 0; i < FOLLOWERS; i++) {
		d->clients[i].desk = d;
		d->clients[i].follower = mp_config_watch_follow(d->watch, called, &d->clients[i]);
	}
	return true;
}

/* --- files ---------------------------------------------------------------------------------- */

/* A path in the folder; a few stay valid at a time. */
static const char *in(const char *name)
{
	static char paths[8][160];
	static unsigned turn;
	char *path = paths[turn++ % MP_ARRAY_LEN(paths)];

	snprintf(path, sizeof(paths[0]), "%s/%s", test_folder, name);
	return path;
}

static bool put(const char *name, const char *text)
{
	int fd = open(in(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return ok;
}

static bool make(const char *name)
{
	return mkdir(in(name), 0700) == 0;
}

static bool move(const char *from, const char *to)
{
	return rename(in(from), in(to)) == 0;
}

static bool drop(const char *name)
{
	return remove(in(name)) == 0;
}

static bool link_to(const char *target, const char *name)
{
	return symlink(target, in(name)) == 0;
}

/* --- following ------------------------------------------------------------------------------ */

static bool follow(struct desk *d, int who, const char *name)
{
	const char *path = in(name);

	return mp_follower_set_paths(d->clients[who].follower, &path, 1, NULL) == 0;
}

/* All that has happened is read; no time passes. */
static void notice(struct desk *d)
{
	while (mp_loop_turn(d->loop, false))
		continue;
}

/* How many calls there were since last asked, after a quiet time. */
static int count(struct desk *d, int who)
{
	int calls;

	notice(d);
	mp_loop_advance(d->loop, MP_WATCH_QUIET_MS);
	calls = d->clients[who].calls;
	d->clients[who].calls = 0;
	return calls;
}

TEST(an_edit_in_place_is_told_once)
{
	MP_CLEANUP(tidy) struct desk d;

	CHECK(sit_down(&d));
	CHECK(put("mcp.json", "{}") && follow(&d, 0, "mcp.json"));
	CHECK_EQ(count(&d, 0), 0); /* what was before is not news */
	CHECK(put("mcp.json", "{ }"));
	notice(&d);
	CHECK_EQ(d.clients[0].calls, 0); /* not yet */
	mp_loop_advance(d.loop, MP_WATCH_QUIET_MS - 1);
	CHECK_EQ(d.clients[0].calls, 0);
	mp_loop_advance(d.loop, 1);
	CHECK_EQ(d.clients[0].calls, 1);
	mp_loop_advance(d.loop, 10 * MP_WATCH_LATEST_MS);
	CHECK_EQ(count(&d, 0), 1);
	CHECK(chmod(in("mcp.json"), 0400) == 0);
	CHECK_EQ(count(&d, 0), 1);
}

/* Somebody is about to look: what happened before is told at once, and not again. */
TEST(who_catches_up_does_not_wait)
{
	MP_CLEANUP(tidy) struct desk d;

	CHECK(sit_down(&d));
	CHECK(put("mcp.json", "{}") && follow(&d, 0, "mcp.json") && follow(&d, 1, "other.json"));
	mp_config_watch_catch_up(d.watch);
	CHECK_EQ(d.clients[0].calls, 0);
	CHECK(put("mcp.json", "{ }")); /* the event is not read yet */
	mp_config_watch_catch_up(d.watch);
	CHECK_EQ(d.clients[0].calls, 1);
	CHECK_EQ(d.clients[1].calls, 0);
	CHECK_EQ(count(&d, 0), 1); /* that one */
	CHECK(put("mcp.json", "{}"));
	notice(&d); /* it is read, and told in a moment */
	d.clients[0].leave = true;
	mp_config_watch_catch_up(d.watch);
	CHECK_EQ(d.clients[0].calls, 1);
	CHECK_EQ(count(&d, 0), 1);
}

HEAVY_TEST(a_rename_over_it_is_told)
{
	MP_CLEANUP(tidy) struct desk d;

	CHECK(sit_down(&d));
	CHECK(put("mcp.json", "{}") && follow(&d, 0, "mcp.json"));
	for (int i = 0; i < 3; i++) { /* each time it is another inode */
		CHECK(put("mcp.json.tmp", "{ }"));
		CHECK_EQ(count(&d, 0), 0);
		CHECK(move("mcp.json.tmp", "mcp.json"));
		CHECK_EQ(count(&d, 0), 1);
	}
	CHECK(put("mcp.json", "[]"));
	CHECK_EQ(count(&d, 0), 1);
}

HEAVY_TEST(a_file_that_vanishes_and_comes_again_is_told)
{
	MP_CLEANUP(tidy) struct desk d;

	CHECK(sit_down(&d));
	CHECK(put("mcp.json", "{}") && follow(&d, 0, "mcp.json"));
	CHECK(drop("mcp.json"));
	CHECK_EQ(count(&d, 0), 1);
	CHECK(put("mcp.json", "{}"));
	CHECK_EQ(count(&d, 0), 1);
	CHECK(move("mcp.json", "elsewhere"));
	CHECK_EQ(count(&d, 0), 1);
	CHECK(put("elsewhere", "x"));
	CHECK_EQ(count(&d, 0), 0);
}

HEAVY_TEST(folders_that_appear_later_are_entered)
{
	MP_CLEANUP(tidy) struct desk d;

	CHECK(sit_down(&d));
	CHECK(follow(&d, 0, "a/b/c/mcp.json"));
	CHECK(make("a"));
	CHECK_EQ(count(&d, 0), 1);
	CHECK(make("a/other") && put("a/file", "x"));
	CHECK_EQ(count(&d, 0), 0);
	CHECK(make("a/b"));
	CHECK_EQ(count(&d, 0), 1);
	CHECK(make("a/b/c"));
	CHECK_EQ(count(&d, 0), 1);
	CHECK(put("a/b/c/mcp.json", "{}"));
	CHECK_EQ(count(&d, 0), 1);
	CHECK(put("a/b/c/mcp.json", "{ }"));
	CHECK_EQ(count(&d, 0), 1);
}

HEAVY_TEST(folders_that_appear_at_once_are_one_change)
{
	MP_CLEANUP(tidy) struct desk d;

	CHECK(sit_down(&d));
	CHECK(follow(&d, 0, "a/b/mcp.json"));
	CHECK(make("a") && make("a/b") && put("a/b/mcp.json", "{}"));
	CHECK_EQ(count(&d, 0), 1);
	CHECK(put("a/b/mcp.json", "{ }"));
	CHECK_EQ(count(&d, 0), 1);
	/* Moved in from elsewhere, complete. */
	CHECK(move("a", "z"));
	CHECK_EQ(count(&d, 0), 1);
	CHECK(put("z/b/mcp.json", "[]"));
	CHECK_EQ(count(&d, 0), 0);
	CHECK(move("z", "a"));
	CHECK_EQ(count(&d, 0), 1);
	CHECK(put("a/b/mcp.json", "{}"));
	CHECK_EQ(count(&d, 0), 1);
}

TEST(a_folder_that_fills_while_it_is_noticed_is_not_lost)
{
	MP_CLEANUP(tidy) struct desk d;

	CHECK(sit_down(&d));
	CHECK(follow(&d, 0, "a/b/mcp.json"));
	CHECK(make("a"));
	notice(&d); /* a is watched now, b is not there */
	CHECK(make("a/b"));
	notice(&d);
	CHECK(put("a/b/mcp.json", "{}"));
	CHECK_EQ(count(&d, 0), 1); /* told after the file was there, so its reader sees it */
	CHECK(put("a/b/mcp.json", "{ }"));
	CHECK_EQ(count(&d, 0), 1);
}

HEAVY_TEST(a_folder_that_is_removed_and_made_again_is_found)
{
	MP_CLEANUP(tidy) struct desk d;

	CHECK(sit_down(&d));
	CHECK(make("a") && make("a/b") && put("a/b/mcp.json", "{}"));
	CHECK(follow(&d, 0, "a/b/mcp.json"));
	for (int i = 0; i < 2; i++) {
		CHECK(drop("a/b/mcp.json") && drop("a/b") && drop("a"));
		CHECK_EQ(count(&d, 0), 1);
		CHECK(make("a") && make("a/b"));
		CHECK_EQ(count(&d, 0), 1);
		CHECK(put("a/b/mcp.json", "{}"));
		CHECK_EQ(count(&d, 0), 1);
	}
	/* All of it between two looks. */
	CHECK(drop("a/b/mcp.json") && drop("a/b") && make("a/b") && put("a/b/mcp.json", "{ }"));
	CHECK_EQ(count(&d, 0), 1);
	CHECK(put("a/b/mcp.json", "[]"));
	CHECK_EQ(count(&d, 0), 1);
}

TEST(a_folder_above_that_is_renamed_is_noticed)
{
	MP_CLEANUP(tidy) struct desk d;

	CHECK(sit_down(&d));
	CHECK(make("a") && make("a/b") && make("a/b/c") && put("a/b/c/mcp.json", "{}"));
	CHECK(make("z") && make("z/b") && make("z/b/c") && put("z/b/c/mcp.json", "{ }"));
	CHECK(follow(&d, 0, "a/b/c/mcp.json"));
	CHECK(move("a", "y") && move("z", "a"));
	CHECK_EQ(count(&d, 0), 1);
	CHECK(put("y/b/c/mcp.json", "[]"));
	CHECK_EQ(count(&d, 0), 0);
	CHECK(put("a/b/c/mcp.json", "[]"));
	CHECK_EQ(count(&d, 0), 1);
}

/* --- symbolic links ------------------------------------------------------------------------- */

TEST(a_link_that_changes_its_target_is_told)
{
	MP_CLEANUP(tidy) struct desk d;

	CHECK(sit_down(&d));
	CHECK(make("one") && make("two") && put("one/f", "1") && put("two/f", "2"));
	CHECK(link_to("one/f", "mcp.json") && follow(&d, 0, "mcp.json"));
	CHECK(put("one/f", "11")); /* through the link, and at its target */
	CHECK_EQ(count(&d, 0), 1);
	CHECK(put("two/f", "22"));
	CHECK_EQ(count(&d, 0), 0);
	CHECK(link_to("two/f", "new") && move("new", "mcp.json"));
	CHECK_EQ(count(&d, 0), 1);
	CHECK(put("one/f", "111"));
	CHECK_EQ(count(&d, 0), 0);
	CHECK(put("two/f", "222"));
	CHECK_EQ(count(&d, 0), 1);
	CHECK(drop("mcp.json"));
	CHECK_EQ(count(&d, 0), 1);
}

TEST(a_folder_that_is_a_link_is_followed)
{
	MP_CLEANUP(tidy) struct desk d;
	char absolute[160];

	CHECK(sit_down(&d));
	CHECK(make("one") && make("two") && put("one/mcp.json", "1") && put("two/mcp.json", "2"));
	CHECK(link_to("one", "now") && follow(&d, 0, "now/mcp.json"));
	CHECK(put("one/mcp.json", "11"));
	CHECK_EQ(count(&d, 0), 1);
	snprintf(absolute, sizeof(absolute), "%s", in("two"));
	CHECK(link_to(absolute, "new") && move("new", "now"));
	CHECK_EQ(count(&d, 0), 1);
	CHECK(put("one/mcp.json", "111"));
	CHECK_EQ(count(&d, 0), 0);
	CHECK(put("two/mcp.json", "22"));
	CHECK_EQ(count(&d, 0), 1);
}

/* mcp.json -> ..data/mcp.json, ..data -> ..1: all files are swapped by one rename. */
TEST(a_mounted_config_map_is_followed)
{
	MP_CLEANUP(tidy) struct desk d;

	CHECK(sit_down(&d));
	CHECK(make("..1") && put("..1/mcp.json", "1") && link_to("..1", "..data"));
	CHECK(link_to("..data/mcp.json", "mcp.json") && follow(&d, 0, "mcp.json"));
	for (int i = 2; i < 4; i++) {
		char folder[16], file[32], old[16], old_file[32];

		snprintf(folder, sizeof(folder), "..%d", i);
		snprintf(file, sizeof(file), "%s/mcp.json", folder);
		snprintf(old, sizeof(old), "..%d", i - 1);
		snprintf(old_file, sizeof(old_file), "%s/mcp.json", old);
		CHECK(make(folder) && put(file, "2") && link_to(folder, "..tmp"));
		CHECK_EQ(count(&d, 0), 0);
		CHECK(move("..tmp", "..data") && drop(old_file) && drop(old));
		CHECK_EQ(count(&d, 0), 1);
		CHECK(put(file, "3"));
		CHECK_EQ(count(&d, 0), 1);
	}
}

TEST(links_to_nowhere_and_in_circles_are_waited_for)
{
	MP_CLEANUP(tidy) struct desk d;

	CHECK(sit_down(&d));
	CHECK(link_to("later/f", "mcp.json") && follow(&d, 0, "mcp.json"));
	CHECK(make("later") && put("later/f", "1"));
	CHECK_EQ(count(&d, 0), 1);
	CHECK(link_to("b", "a") && link_to("a", "b"));
	CHECK_EQ(count(&d, 0), 0);
	CHECK(follow(&d, 0, "a/mcp.json"));
	CHECK_EQ(count(&d, 0), 0);
	CHECK(drop("b") && make("b") && put("b/mcp.json", "1"));
	CHECK_EQ(count(&d, 0), 1);
	CHECK(put("b/mcp.json", "2"));
	CHECK_EQ(count(&d, 0), 1);
	CHECK(make("up") && follow(&d, 0, "up/.././/b/mcp.json"));
	CHECK(put("b/mcp.json", "3"));
	CHECK_EQ(count(&d, 0), 1);
}

/* --- unrelated changes ---------------------------------------------------------------------- */

TEST(other_files_of_the_folder_are_no_news)
{
	MP_CLEANUP(tidy) struct desk d;

	CHECK(sit_down(&d));
	CHECK(make("a") && put("a/mcp.json", "{}") && follow(&d, 0, "a/mcp.json"));
	CHECK(put("a/mcp.json5", "x") && put("a/mcp.jso", "x") && put("mcp.json", "x"));
	CHECK(make("a/sub") && put("a/sub/mcp.json", "x") && move("a/mcp.json5", "a/y"));
	CHECK(drop("a/y") && make("b") && move("b", "c") && link_to("a", "d"));
	CHECK_EQ(count(&d, 0), 0);
	CHECK_EQ(open(in("a/mcp.json"), O_RDONLY | O_DIRECTORY), -1);
	{
		int fd = open(in("a/mcp.json"), O_RDONLY | O_CLOEXEC); /* reading is none either */
		char c;

		CHECK(fd >= 0);
		CHECK_EQ(read(fd, &c, 1), 1);
		close(fd);
	}
	CHECK_EQ(count(&d, 0), 0);
}

TEST(two_followers_hear_of_their_own_files)
{
	MP_CLEANUP(tidy) struct desk d;
	const char *both[2];

	CHECK(sit_down(&d));
	CHECK(make("a") && put("a/one", "1") && put("a/two", "2"));
	CHECK(follow(&d, 0, "a/one") && follow(&d, 1, "a/two"));
	both[0] = in("a/one");
	both[1] = in("a/two");
	CHECK_EQ(mp_follower_set_paths(d.clients[2].follower, both, 2, NULL), 0);
	CHECK(put("a/one", "11"));
	CHECK_EQ(count(&d, 0), 1);
	CHECK_EQ(count(&d, 1), 0);
	CHECK_EQ(count(&d, 2), 1);
	CHECK(put("a/two", "22"));
	CHECK_EQ(count(&d, 0), 0);
	CHECK_EQ(count(&d, 1), 1);
	CHECK_EQ(count(&d, 2), 1);
	d.clients[0].follower = mp_follower_leave(d.clients[0].follower);
	CHECK(put("a/two", "2") && put("a/one", "1")); /* the folder is still watched for others */
	CHECK_EQ(count(&d, 0), 0);
	CHECK_EQ(count(&d, 1), 1);
	CHECK_EQ(count(&d, 2), 1);
}

/* --- many at once --------------------------------------------------------------------------- */

TEST(a_burst_is_one_call)
{
	MP_CLEANUP(tidy) struct desk d;

	CHECK(sit_down(&d));
	CHECK(put("mcp.json", "{}") && follow(&d, 0, "mcp.json"));
	for (int i = 0; i < 200; i++)
		CHECK(put("mcp.json", "{ }"));
	CHECK_EQ(count(&d, 0), 1);
}

HEAVY_TEST(what_never_rests_is_told_now_and_then)
{
	MP_CLEANUP(tidy) struct desk d;
	int quiet = 0;

	CHECK(sit_down(&d));
	CHECK(put("mcp.json", "{}") && follow(&d, 0, "mcp.json"));
	for (int i = 0; i < 200; i++) { /* every 20 ms, for 4 s; each third time another inode */
		int before = d.clients[0].calls;

		CHECK(i % 3 ? put("mcp.json", "x") : put("t", "y") && move("t", "mcp.json"));
		notice(&d);
		mp_loop_advance(d.loop, 20);
		quiet = d.clients[0].calls == before ? quiet + 20 : 0;
		CHECK(quiet <= MP_WATCH_LATEST_MS);
	}
	CHECK(d.clients[0].calls >= 3 && d.clients[0].calls <= 5);
	mp_loop_advance(d.loop, MP_WATCH_LATEST_MS);
	CHECK(d.clients[0].calls <= 6);
}

/* How many events the kernel keeps for one inotify. */
static int get_most_queued(void)
{
	FILE *f = fopen("/proc/sys/fs/inotify/max_queued_events", "re");
	int most = 0;

	if (!f)
		return 0;
	if (fscanf(f, "%d", &most) != 1)
		most = 0;
	fclose(f);
	return most;
}

HEAVY_TEST(lost_events_are_everybodys)
{
	MP_CLEANUP(tidy) struct desk d;
	int most = get_most_queued();
	char name[32];

	CHECK(sit_down(&d));
	CHECK(make("a") && put("mcp.json", "{}") && put("a/f", ""));
	CHECK(follow(&d, 0, "mcp.json") && follow(&d, 1, "a/f"));
	CHECK_EQ(count(&d, 0), 0);
	CHECK(most > 0 && most < 1000000); /* or this test must think of something else */
	for (int i = 0; i < most; i++) {   /* in a, unused names; two events each */
		snprintf(name, sizeof(name), "a/%d", i & 1);
		CHECK(put(name, ""));
	}
	CHECK_EQ(count(&d, 0), 1);
	CHECK_EQ(d.clients[1].calls, 1);
	CHECK(put("mcp.json", "{ }"));
	CHECK_EQ(count(&d, 0), 1);
}

/* --- from the call -------------------------------------------------------------------------- */

TEST(a_follower_may_leave_from_its_call)
{
	MP_CLEANUP(tidy) struct desk d;

	CHECK(sit_down(&d));
	CHECK(put("mcp.json", "{}") && follow(&d, 0, "mcp.json") && follow(&d, 1, "mcp.json"));
	d.clients[0].leave = true;
	CHECK(put("mcp.json", "{ }"));
	CHECK_EQ(count(&d, 0), 1);
	CHECK_EQ(count(&d, 1), 1);
	CHECK(!d.clients[0].follower);
	CHECK(put("mcp.json", "{  }"));
	CHECK_EQ(count(&d, 0), 0);
	CHECK_EQ(count(&d, 1), 1);
}

TEST(a_follower_may_leave_with_news_under_way)
{
	MP_CLEANUP(tidy) struct desk d;

	CHECK(sit_down(&d));
	CHECK(put("mcp.json", "{}") && follow(&d, 0, "mcp.json"));
	CHECK(drop("mcp.json"));
	d.clients[0].follower = mp_follower_leave(d.clients[0].follower); /* unread */
	CHECK_EQ(count(&d, 0), 0);
	CHECK(follow(&d, 1, "mcp.json") && put("mcp.json", "{}"));
	notice(&d);
	d.clients[1].follower = mp_follower_leave(d.clients[1].follower); /* read, not told */
	CHECK_EQ(count(&d, 1), 0);
	CHECK(!mp_follower_leave(NULL) && !mp_config_watch_close(NULL));
}

TEST(paths_may_be_set_from_the_call)
{
	MP_CLEANUP(tidy) struct desk d;

	CHECK(sit_down(&d));
	CHECK(make("a") && put("a/one", "1") && put("two", "2") && follow(&d, 0, "a/one"));
	d.clients[0].next[0] = in("two");
	CHECK(put("a/one", "11"));
	CHECK_EQ(count(&d, 0), 1);
	CHECK_EQ(d.clients[0].set, 0);
	d.clients[0].next[0] = NULL;
	CHECK(put("a/one", "111"));
	CHECK_EQ(count(&d, 0), 0);
	CHECK(put("two", "22"));
	CHECK_EQ(count(&d, 0), 1);
	CHECK_EQ(mp_follower_set_paths(d.clients[0].follower, NULL, 0, NULL), 0);
	CHECK(put("two", "222"));
	CHECK_EQ(count(&d, 0), 0);
}

/* --- limits --------------------------------------------------------------------------------- */

HEAVY_TEST(many_paths_are_followed_and_too_many_refused)
{
	MP_CLEANUP(tidy) struct desk d;
	static char names[MP_LIMIT_FOLLOWED][96];
	static const char *paths[MP_LIMIT_FOLLOWED + 1];
	struct mcpool_error error;

	CHECK(sit_down(&d));
	for (int i = 0; i < MP_LIMIT_FOLLOWED; i++) {
		snprintf(names[i], sizeof(names[0]), "%s/p%d/f%d", test_folder, i % 7, i);
		paths[i] = names[i];
	}
	paths[MP_LIMIT_FOLLOWED] = names[0];
	CHECK_EQ(mp_follower_set_paths(d.clients[0].follower, paths, MP_LIMIT_FOLLOWED, NULL), 0);
	CHECK(make("p3") && put("p3/f3", "x"));
	CHECK_EQ(count(&d, 0), 1);
	CHECK_EQ(mp_follower_set_paths(d.clients[0].follower, paths, MP_LIMIT_FOLLOWED + 1, &error),
		 MCPOOL_ELIMIT);
	CHECK(strstr(error.message, "4097") && strstr(error.message, "4096"));
	CHECK(put("p3/f10", "x")); /* followed as before */
	CHECK_EQ(count(&d, 0), 1);
}

TEST(paths_that_are_none_are_refused_and_the_old_ones_stay)
{
	MP_CLEANUP(tidy) struct desk d;
	static char longest[PATH_MAX + 1], name[PATH_MAX];
	const char *bad[] = {"mcp.json"};
	struct mcpool_error error;

	CHECK(sit_down(&d));
	CHECK(put("mcp.json", "{}") && follow(&d, 0, "mcp.json"));
	CHECK_EQ(mp_follower_set_paths(d.clients[0].follower, bad, 1, &error), MCPOOL_EINVAL);
	CHECK_TEXT(error.message, "mcp.json is not an absolute path");
	memset(longest, '/', PATH_MAX);
	bad[0] = longest;
	CHECK_EQ(mp_follower_set_paths(d.clients[0].follower, bad, 1, &error), MCPOOL_EINVAL);
	CHECK(put("mcp.json", "{ }"));
	CHECK_EQ(count(&d, 0), 1);
	/* These can never be there, and are followed nevertheless. */
	memset(name, 'x', sizeof(name) - 1);
	name[0] = '/';
	bad[0] = name;
	CHECK_EQ(mp_follower_set_paths(d.clients[0].follower, bad, 1, &error), 0);
	bad[0] = "/";
	CHECK_EQ(mp_follower_set_paths(d.clients[0].follower, bad, 1, &error), 0);
}

static void lift_limit(const struct rlimit *before)
{
	setrlimit(RLIMIT_NOFILE, before);
}

TEST(without_an_inotify_there_is_a_sentence)
{
	MP_CLEANUP(lift_limit) struct rlimit before = {RLIM_INFINITY, RLIM_INFINITY};
	MP_CLEANUP(tidy) struct desk d;
	struct mp_config_watch *another = NULL;
	struct mcpool_error error = {0};
	struct rlimit none;

	CHECK(sit_down(&d));
	CHECK_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){3, before.rlim_max};
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
	CHECK_EQ(mp_config_watch_new(d.loop, &another, &error), MCPOOL_ESYSTEM);
	CHECK(!another && error.message[0]);
}
