/* test_cgroup.c - where our own cgroup is, from what /proc says. */
#include "test.h"

#include <limits.h>

#include "process/cgroup.h"

TEST(the_own_group_is_the_line_of_version_2)
{
	char path[64];

	CHECK(mp_cgroup_parse_self("9:name=systemd:/\n0::/user.slice/x\n", path, sizeof(path)));
	CHECK_TEXT(path, "/user.slice/x");
	CHECK(mp_cgroup_parse_self("0::/", path, sizeof(path)));
	CHECK_TEXT(path, "/");
	CHECK(!mp_cgroup_parse_self("1:cpu:/\n", path, sizeof(path)));
	CHECK(!mp_cgroup_parse_self("", path, sizeof(path)));
	CHECK(!mp_cgroup_parse_self("0::/much/too/long", path, 5));
}

TEST(the_mount_that_lies_on_top_counts)
{
	static const char text[] =
		"31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
		"41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"
		"42 31 0:38 /box /elsewhere rw,relatime shared:3 - cgroup2 none rw\n"
		"43 31 0:39 / /proc rw - proc proc rw\n";
	char point[PATH_MAX], root[PATH_MAX];

	CHECK(mp_cgroup_parse_mounts(text, point, root, sizeof(point)));
	CHECK_TEXT(point, "/elsewhere");
	CHECK_TEXT(root, "/box");
	CHECK(!mp_cgroup_parse_mounts("", point, root, sizeof(point)));
	CHECK(!mp_cgroup_parse_mounts("1 2 - cgroup2 \n", point, root, sizeof(point)));
	CHECK(!mp_cgroup_parse_mounts("1 2 3 4 5", point, root, sizeof(point)));
}
