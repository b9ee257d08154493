/* test_inotify.c - folders watched as long as somebody holds them. */
#include "test.h"
#include "folder.h"

#include <sys/inotify.h>

#include "base/loop.h"
#include "base/mem.h"
#include "files/inotify.h"

struct desk {
	struct mp_loop *loop;
	struct mp_inotify *folders;
	struct mp_watched_folder *held[2];
	char names[200]; /* of events, with the folder's number */
	uint32_t mask;   /* of all */
};

static void tidy(struct desk *d)
{
	for (int i = 0; i < 2; i++)
		if (d->held[i])
			mp_inotify_release(d->folders, d->held[i]);
	mp_inotify_close(d->folders);
	mp_loop_free(d->loop);
}

static void happened(void *u, const struct mp_watched_folder *folder, uint32_t mask,
		     const char *name)
{
	struct desk *d = u;
	size_t len = strlen(d->names);

	d->mask |= mask;
	snprintf(d->names + len, sizeof(d->names) - len, "%s%s ", folder ? "" : "lost ", name);
}

static bool sit_down(struct desk *d)
{
	*d = (struct desk){NULL, NULL, {NULL, NULL}, "", 0};
	REQUIRE(folder_make());
	REQUIRE(mp_loop_new_by_hand(1000000, &d->loop) == 0);
	REQUIRE(mp_inotify_new(d->loop, happened, d, &d->folders, NULL) == 0);
	return true;
}

static bool make(const char *name)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", test_folder, name);
	return mkdir(path, 0700) == 0;
}

static const char *hear(struct desk *d)
{
	static char names[200];

	while (mp_loop_turn(d->loop, false))
		continue;
	memcpy(names, d->names, sizeof(names));
	d->names[0] = '\0';
	return names;
}

TEST(a_folder_is_watched_while_it_is_held)
{
	MP_CLEANUP(tidy) struct desk d;

	CHECK(sit_down(&d));
	CHECK_EQ(mp_inotify_hold(d.folders, test_folder, IN_CREATE, &d.held[0], NULL), 0);
	CHECK_EQ(mp_inotify_hold(d.folders, test_folder, IN_DELETE, &d.held[1], NULL), 0);
	CHECK(d.held[0] == d.held[1]);
	CHECK_EQ(d.held[0]->holds, 2);
	CHECK_EQ(d.held[0]->mask, IN_CREATE | IN_DELETE);
	CHECK(make("one"));
	CHECK_TEXT(hear(&d), "one ");
	mp_inotify_release(d.folders, MP_TAKE(d.held[0]));
	CHECK(make("two"));
	CHECK_TEXT(hear(&d), "two ");
	CHECK(make("three"));
	mp_inotify_release(d.folders, MP_TAKE(d.held[1]));
	CHECK_TEXT(hear(&d), ""); /* unread events are dropped */
	CHECK(make("four"));
	CHECK_TEXT(hear(&d), "");
}

TEST(a_folder_that_vanishes_says_so_and_is_another_when_it_comes_again)
{
	MP_CLEANUP(tidy) struct desk d;
	char path[160];

	CHECK(sit_down(&d));
	snprintf(path, sizeof(path), "%s/a", test_folder);
	CHECK(make("a"));
	CHECK_EQ(mp_inotify_hold(d.folders, path, IN_CREATE, &d.held[0], NULL), 0);
	CHECK(rmdir(path) == 0);
	hear(&d);
	CHECK(d.held[0]->gone);
	CHECK_EQ(d.mask & (IN_DELETE_SELF | IN_IGNORED), IN_DELETE_SELF | IN_IGNORED);
	CHECK(make("a"));
	CHECK_EQ(mp_inotify_hold(d.folders, path, IN_CREATE, &d.held[1], NULL), 0);
	CHECK(d.held[0] != d.held[1]);
	CHECK(make("a/b"));
	CHECK_TEXT(hear(&d), "b ");
}

TEST(what_is_no_folder_is_not_held)
{
	MP_CLEANUP(tidy) struct desk d;
	struct mcpool_error error;
	char path[160];

	CHECK(sit_down(&d));
	snprintf(path, sizeof(path), "%s/link", test_folder);
	CHECK_EQ(mp_inotify_hold(d.folders, path, IN_CREATE, &d.held[0], &error), MCPOOL_ENOENT);
	CHECK(strstr(error.message, path));
	CHECK(symlink(".", path) == 0);
	CHECK_EQ(mp_inotify_hold(d.folders, path, IN_CREATE, &d.held[0], NULL), MCPOOL_ENOENT);
	CHECK_EQ(mp_inotify_hold(d.folders, "/dev/null", IN_CREATE, &d.held[0], NULL),
		 MCPOOL_ENOENT);
	CHECK(!mp_inotify_close(NULL));
}
