/*
 * cgroup.c - a cgroup (version 2) for all servers of one hub, where the system delegates one.
 * Its name says which hub: mcpool.PID.START, with the start time that tells a pid from its next
 * owner. No controller is used, so processes may stay in the group above.
 */
#include "process/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "process/tree.h"

enum { MAX_TEXT = 1 << 18, ROUNDS = 50, ROUND_MS = 10 };

static char group[PATH_MAX]; /* of our hub; "": none */

/* --- where we are ---------------------------------------------------------------------------- */

static char *read_file(const char *path)
{
	char *text = mp_try_alloc(MAX_TEXT);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t len = 0;
	ssize_t n = 0;

	while (text && fd >= 0 && len < MAX_TEXT - 1 &&
	       (n = read(fd, text + len, MAX_TEXT - 1 - len)) > 0)
		len += (size_t)n;
	if (fd >= 0)
		close(fd);
	return text;
}

bool mp_cgroup_parse_self(const char *text, char *out, size_t size)
{
	for (const char *line = text; line && *line;) {
		size_t len = strcspn(line, "\n");

		if (strncmp(line, "0::/", 4) == 0 && len - 3 < size) {
			memcpy(out, line + 3, len - 3);
			out[len - 3] = '\0';
			return true;
		}
		line += len + (line[len] == '\n');
	}
	return false;
}

/* ID PARENT MAJOR:MINOR ROOT POINT OPTIONS... - TYPE SOURCE OPTIONS */
static bool parse_mount(const char *line, size_t len, char *ret_point, char *ret_root, size_t size)
{
	char copy[2 * PATH_MAX], *word[5], *rest = copy, *kind;

	if (len >= sizeof(copy) || size < PATH_MAX)
		return false;
	memcpy(copy, line, len);
	copy[len] = '\0';
	kind = strstr(copy, " - cgroup2 ");
	for (int i = 0; i < 5; i++)
		word[i] = strsep(&rest, " ");
	if (!kind || !rest || strlen(word[3]) >= PATH_MAX || strlen(word[4]) >= PATH_MAX)
		return false;
	memcpy(ret_root, word[3], strlen(word[3]) + 1);
	memcpy(ret_point, word[4], strlen(word[4]) + 1);
	return true;
}

bool mp_cgroup_parse_mounts(const char *text, char *ret_point, char *ret_root, size_t size)
{
	bool found = false;

	for (const char *line = text; line && *line;) { /* the last one lies on top */
		size_t len = strcspn(line, "\n");

		if (parse_mount(line, len, ret_point, ret_root, size))
			found = true;
		line += len + (line[len] == '\n');
	}
	return found;
}

static bool find_own(char *out, size_t size)
{
	char path[PATH_MAX], point[PATH_MAX], root[PATH_MAX];
	char *self = read_file("/proc/self/cgroup"), *mounts = read_file("/proc/self/mountinfo");
	bool ok = self && mounts && mp_cgroup_parse_self(self, path, sizeof(path)) &&
		  mp_cgroup_parse_mounts(mounts, point, root, sizeof(point));
	size_t skip = ok && strcmp(root, "/") != 0 ? strlen(root) : 0;

	mp_free(self);
	mp_free(mounts);
	if (!ok || (skip && strncmp(path, root, skip) != 0))
		return false;
	return snprintf(out, size, "%s%s", point,
			strcmp(path + skip, "/") == 0 ? "" : path + skip) < (int)size;
}

/*
 * May we make groups here? An ordinary user may write only to what was delegated; for root, who
 * may write everywhere, the mark decides that systemd sets on units with Delegate=yes.
 */
static bool is_delegated(const char *own)
{
	static const char *const marks[] = {"trusted.delegate", "user.delegate"};
	char value[8] = "";

	if (access(own, W_OK) < 0)
		return false;
	if (geteuid() != 0)
		return true;
	for (size_t i = 0; i < MP_ARRAY_LEN(marks); i++)
		if (getxattr(own, marks[i], value, sizeof(value)) == 1 && value[0] == '1')
			return true;
	return false;
}

/* --- groups ---------------------------------------------------------------------------------- */

static void write_word(const char *folder, const char *file, const char *word)
{
	char path[PATH_MAX + 32];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (write(fd, word, strlen(word)) < 0) /* the kernel is too old: nothing to be done */
		errno = 0;
	close(fd);
}

/* The kernel kills all of it, also what forks meanwhile; then it can be removed. */
static void end_group(const char *path)
{
	const struct timespec moment = {0, ROUND_MS * 1000000L};

	for (int i = 0; i < ROUNDS && rmdir(path) < 0 && errno == EBUSY; i++) {
		write_word(path, "cgroup.kill", "1");
		nanosleep(&moment, NULL);
	}
}

/* Is the hub that made it alive? What has another form of name is not ours. */
static bool is_stale(const char *name)
{
	struct mp_proc hub;
	unsigned long long started;
	int pid, end = 0;

	/* A number that does not fit is of another process. NOLINTNEXTLINE(cert-err34-c) */
	if (sscanf(name, "mcpool.%d.%llu%n", &pid, &started, &end) != 2 || name[end] || pid <= 0)
		return false;
	return mp_tree_read(pid, &hub) < 0 || hub.started != started || !mp_tree_is_alive(&hub);
}

static void cgroup_sweep(const char *own)
{
	char path[PATH_MAX + 300];
	DIR *folder = opendir(own);
	struct dirent *d;

	while (folder && (d = readdir(folder))) {
		if (!is_stale(d->d_name))
			continue;
		snprintf(path, sizeof(path), "%s/%s", own, d->d_name);
		end_group(path);
	}
	if (folder)
		closedir(folder);
}

void mp_cgroup_open(void)
{
	char own[PATH_MAX - 64];
	struct mp_proc hub;

	if (!find_own(own, sizeof(own)) || !is_delegated(own) || mp_tree_read(getppid(), &hub) < 0)
		return;
	cgroup_sweep(own);
	snprintf(group, sizeof(group), "%s/mcpool.%d.%llu", own, (int)hub.pid,
		 (unsigned long long)hub.started);
	if (mkdir(group, 0755) < 0 && errno != EEXIST)
		group[0] = '\0';
}

void mp_cgroup_enter(void)
{
	if (group[0])
		write_word(group, "cgroup.procs", "0");
}

void mp_cgroup_close(void)
{
	if (group[0])
		end_group(group);
	group[0] = '\0';
}
