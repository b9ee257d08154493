/*
 * port_process.c - which process listens at a port of this machine, as /proc tells.
 */
#include "cli/doctor/port_process.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"

enum { LISTENS = 0x0A }; /* TCP_LISTEN of the kernel */

/* "  0: 0100007F:1F90 00000000:0000 0A ... uid timeout inode ..." */
static bool line_read(const char *line, unsigned *ret_port, unsigned *ret_state,
		      uint64_t *ret_inode)
{
	return sscanf(line, /* NOLINT(cert-err34-c): the kernel's own numbers */
		      " %*u: %*[0-9A-Fa-f]:%x %*[0-9A-Fa-f]:%*x %x %*s %*s %*s %*u %*u %" SCNu64,
		      ret_port, ret_state, ret_inode) == 3;
}

uint64_t mp_port_process_read(struct mp_str text, uint16_t port)
{
	while (text.len) {
		const char *end = memchr(text.p, '\n', text.len);
		size_t n = end ? (size_t)(end - text.p) : text.len;
		unsigned found, state;
		uint64_t inode;
		char line[512];

		snprintf(line, sizeof(line), "%.*s", (int)(n < sizeof(line) ? n : 0), text.p);
		if (line_read(line, &found, &state, &inode) && found == port && state == LISTENS)
			return inode;
		n += end ? 1 : 0;
		text = (struct mp_str){text.p + n, text.len - n};
	}
	return 0;
}

static uint64_t inode_find(const char *table, uint16_t port)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	char room[4096];
	ssize_t n = -1;
	int fd = open(table, O_RDONLY | O_CLOEXEC), r = 0;

	mp_buf_init(&text, MP_MIB(4));
	while (fd >= 0 && r == 0 && (n = read(fd, room, sizeof(room))) > 0)
		r = mp_buf_add(&text, room, (size_t)n);
	if (fd >= 0)
		close(fd);
	return mp_port_process_read(mp_buf_get(&text), port);
}

static bool process_has(const char *pid, const char *wanted)
{
	char path[288], target[64];
	struct dirent *e;
	bool found = false;
	DIR *fds;

	snprintf(path, sizeof(path), "/proc/%s/fd", pid);
	fds = opendir(path); /* of others only root may look */
	while (fds && !found && (e = readdir(fds))) {
		ssize_t n = readlinkat(dirfd(fds), e->d_name, target, sizeof(target) - 1);

		target[n > 0 ? n : 0] = '\0';
		found = strcmp(target, wanted) == 0;
	}
	if (fds)
		closedir(fds);
	return found;
}

pid_t mp_port_process_find(uint16_t port)
{
	uint64_t inode = inode_find("/proc/net/tcp", port);
	char wanted[64];
	struct dirent *e;
	int64_t pid, found = 0;
	DIR *proc;

	if (inode == 0)
		inode = inode_find("/proc/net/tcp6", port);
	if (inode == 0)
		return 0;
	snprintf(wanted, sizeof(wanted), "socket:[%" PRIu64 "]", inode);
	proc = opendir("/proc");
	while (proc && !found && (e = readdir(proc)))
		if (mp_str_to_i64(mp_str_of(e->d_name), &pid) == 0 &&
		    process_has(e->d_name, wanted))
			found = pid;
	if (proc)
		closedir(proc);
	return found <= INT_MAX ? (pid_t)found : 0;
}
