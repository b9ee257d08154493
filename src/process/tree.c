/*
 * tree.c - find and signal all descendants of a process through /proc.
 * The kernel lists the children of each thread, so a walk costs what the tree is large, however
 * many other processes there are; where it does not, every process is read. A tree that changes
 * under our hands is simply walked again.
 */
#include "process/tree.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"

/* Linux has at most 4 million processes; one with more than this many is not ours to clean. */
enum { MAX_PROCS = 1 << 20, MAX_GENERATIONS = 4096, STAT_SIZE = 1024, STRIKES = 4 };

/* --- one process ---------------------------------------------------------------------------- */

static void copy_name(struct mp_proc *p, const char *from, const char *to)
{
	size_t n = (size_t)(to - from);

	n = n < sizeof(p->name) ? n : sizeof(p->name) - 1;
	memcpy(p->name, from, n);
	p->name[n] = '\0';
}

/* `12 (a (b) c) S 1 ...`: the name ends at the last parenthesis, whatever it holds. */
int mp_tree_parse(struct mp_str text, struct mp_proc *ret_proc)
{
	char copy[STAT_SIZE];
	struct mp_proc p = {.pid = 0};
	uint64_t ticks[4] = {0};
	char *open, *close;
	int n;

	if (text.len >= sizeof(copy) || (text.len && memchr(text.p, '\0', text.len)))
		return MCPOOL_EPARSE;
	if (text.len)
		memcpy(copy, text.p, text.len);
	copy[text.len] = '\0';
	open = strchr(copy, '(');
	close = strrchr(copy, ')');
	if (!open || !close || close < open || !isdigit((unsigned char)copy[0]))
		return MCPOOL_EPARSE;
	p.pid = (pid_t)strtol(copy, NULL, 10);
	copy_name(&p, open + 1, close);
	/* fields 3 to 22 of proc(5): state, parent, ..., utime to cstime, ..., threads, start */
	n = sscanf(close + 1, /* NOLINT(cert-err34-c): the kernel's own numbers */
		   " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNu64 " %*d %*d %" SCNu64 " %*d %" SCNu64,
		   &p.state, &p.parent, &ticks[0], &ticks[1], &ticks[2], &ticks[3], &p.threads,
		   &p.started);
	p.cpu_ticks = ticks[0] + ticks[1] + ticks[2] + ticks[3];
	if (n != 8 || p.pid <= 0)
		return MCPOOL_EPARSE;
	*ret_proc = p;
	return 0;
}

static int read_at(int proc, const char *pid, struct mp_proc *ret_proc)
{
	char path[64], text[STAT_SIZE];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/stat", pid);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return MCPOOL_ENOENT;
	n = read(fd, text, sizeof(text));
	close(fd);
	if (n <= 0)
		return MCPOOL_ENOENT;
	return mp_tree_parse((struct mp_str){text, (size_t)n}, ret_proc);
}

int mp_tree_read(pid_t pid, struct mp_proc *ret_proc)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	return read_at(AT_FDCWD, path, ret_proc);
}

/* Parents may change on the way up: an orphan falls to a process above it. */
bool mp_tree_is_below(pid_t pid, pid_t root)
{
	struct mp_proc p;

	for (int i = 0; i < MAX_GENERATIONS && pid > 1 && pid != root; i++) {
		if (mp_tree_read(pid, &p) < 0)
			return false;
		pid = p.parent;
		if (pid == root)
			return true;
	}
	return false;
}

bool mp_tree_is_alive(const struct mp_proc *p)
{
	return p->state != 'X' && (p->state != 'Z' || p->threads > 1);
}

/*
 * The pid may have got another owner since it was read. A descriptor of the process keeps it from
 * changing hands once more while we look again.
 */
void mp_tree_signal_one(const struct mp_proc *p, int signal)
{
	int fd = (int)syscall(SYS_pidfd_open, p->pid, 0);
	struct mp_proc now;

	if (fd < 0) {
		if (errno != ESRCH)
			kill(p->pid, signal);
		return;
	}
	if (mp_tree_read(p->pid, &now) == 0 && now.started == p->started)
		syscall(SYS_pidfd_send_signal, fd, signal, NULL, 0);
	close(fd);
}

/* --- its children --------------------------------------------------------------------------- */

static bool only_scan; /* tests: as on a kernel without children files */

struct walk {
	struct mp_buf found; /* of struct mp_proc: descendants, parents before their children */
	struct mp_buf all; /* of struct mp_proc: every process; where there are no children files */
	bool by_scan;
};

static size_t tree_count(const struct mp_buf *procs)
{
	return procs->len / sizeof(struct mp_proc);
}

static const struct mp_proc *tree_get(const struct mp_buf *procs, size_t i)
{
	return (const struct mp_proc *)(const void *)procs->data + i;
}

/* Without memory for all, those that were found are dealt with, and the next pass finds more. */
static void tree_add(struct mp_buf *to, const struct mp_proc *p)
{
	(void)!mp_buf_add(to, p, sizeof(*p));
}

static void add_pid(pid_t pid, void *to)
{
	struct mp_proc p;

	if (mp_tree_read(pid, &p) == 0)
		tree_add(to, &p);
}

typedef void (*pid_fn)(pid_t pid, void *u);

/* `12 345 6789 `: the children of one thread. The text may be longer than what one read takes. */
static void read_children(int tasks, const char *thread, pid_fn fn, void *u)
{
	char path[64], text[4096];
	pid_t pid = 0;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/children", thread);
	fd = openat(tasks, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return; /* the thread is gone */
	while ((n = read(fd, text, sizeof(text))) > 0)
		for (ssize_t i = 0; i < n; i++) {
			if (isdigit((unsigned char)text[i])) {
				pid = pid * 10 + (text[i] - '0');
				continue;
			}
			if (pid > 0)
				fn(pid, u);
			pid = 0;
		}
	close(fd);
}

static void list_children(pid_t pid, pid_fn fn, void *u)
{
	char path[64];
	struct dirent *d;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	tasks = opendir(path);
	if (!tasks)
		return;
	while ((d = readdir(tasks)))
		if (isdigit((unsigned char)d->d_name[0]))
			read_children(dirfd(tasks), d->d_name, fn, u);
	closedir(tasks);
}

static void pick_children(const struct mp_buf *all, pid_t pid, struct mp_buf *to)
{
	for (size_t i = 0; i < tree_count(all); i++)
		if (tree_get(all, i)->parent == pid)
			tree_add(to, tree_get(all, i));
}

static void find_children(struct walk *w, pid_t pid, struct mp_buf *to)
{
	if (w->by_scan)
		pick_children(&w->all, pid, to);
	else
		list_children(pid, add_pid, to);
}

/* --- all of them ---------------------------------------------------------------------------- */

static int tree_scan(struct mp_buf *all)
{
	DIR *proc = opendir("/proc");
	struct dirent *d;
	struct mp_proc p;

	if (!proc)
		return MCPOOL_ESYSTEM;
	while ((d = readdir(proc)))
		if (isdigit((unsigned char)d->d_name[0]) &&
		    read_at(dirfd(proc), d->d_name, &p) == 0)
			tree_add(all, &p);
	closedir(proc);
	return 0;
}

static int tree_begin(struct walk *w)
{
	mp_buf_init(&w->found, MAX_PROCS * sizeof(struct mp_proc));
	mp_buf_init(&w->all, MAX_PROCS * sizeof(struct mp_proc));
	w->by_scan = only_scan || access("/proc/thread-self/children", F_OK) < 0;
	return w->by_scan ? tree_scan(&w->all) : 0;
}

static void tree_end(struct walk *w)
{
	mp_buf_done(&w->found);
	mp_buf_done(&w->all);
}

static void find_all(struct walk *w, pid_t root, mp_tree_fn takes, void *u)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf first;

	mp_buf_init(&first, MAX_PROCS * sizeof(struct mp_proc));
	find_children(w, root, &first);
	for (size_t i = 0; i < tree_count(&first); i++)
		if (!takes || takes(tree_get(&first, i), u))
			tree_add(&w->found, tree_get(&first, i));
	for (size_t i = 0; i < tree_count(&w->found); i++) /* it grows meanwhile */
		find_children(w, tree_get(&w->found, i)->pid, &w->found);
}

int mp_tree_signal(pid_t root, int signal, mp_tree_fn takes, void *u)
{
	MP_CLEANUP(tree_end) struct walk w;
	int alive = 0, r;

	r = tree_begin(&w);
	if (r < 0)
		return r;
	find_all(&w, root, takes, u);
	for (size_t i = 0; i < tree_count(&w.found); i++) {
		if (!mp_tree_is_alive(tree_get(&w.found, i)))
			continue;
		alive++;
		if (signal)
			mp_tree_signal_one(tree_get(&w.found, i), signal);
	}
	return alive;
}

/* --- what they use --------------------------------------------------------------------------- */

int64_t mp_tree_parse_memory(struct mp_str text)
{
	static const char key[] = "\nPss:";
	const char *at = text.len ? memmem(text.p, text.len, key, strlen(key)) : NULL;
	const char *end = text.p + text.len;
	int64_t kib = 0;

	if (!at)
		return -1;
	for (at += strlen(key); at < end && (*at == ' ' || *at == '\t'); at++)
		;
	if (at == end || !isdigit((unsigned char)*at))
		return -1;
	for (; at < end && isdigit((unsigned char)*at) && kib < INT64_MAX / 20480; at++)
		kib = kib * 10 + (*at - '0');
	return kib * 1024;
}

/* "size resident shared ..." in pages: what it shares with files and others does not count. */
static int64_t read_private_pages(pid_t pid)
{
	unsigned long long resident = 0, shared = 0;
	char path[64], text[256];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	if (sscanf(text, "%*u %llu %llu", &resident, &shared) != 2 || /* NOLINT(cert-err34-c) */
	    shared > resident)
		return 0;
	return (int64_t)(resident - shared) * sysconf(_SC_PAGESIZE);
}

/* The kernel shows the shares only of processes that we could also trace. */
static int64_t read_memory(pid_t pid)
{
	char path[64], text[2048];
	int64_t bytes = -1;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, sizeof(text));
		close(fd);
		bytes = mp_tree_parse_memory((struct mp_str){text, n > 0 ? (size_t)n : 0});
	}
	return bytes >= 0 ? bytes : read_private_pages(pid);
}

static void usage_add(struct mp_tree_usage *to, const struct mp_proc *p)
{
	if (!mp_tree_is_alive(p))
		return;
	to->memory += read_memory(p->pid);
	to->cpu_us += (int64_t)(p->cpu_ticks * 1000000 / (uint64_t)sysconf(_SC_CLK_TCK));
	to->processes++;
}

void mp_tree_measure_one(pid_t pid, struct mp_tree_usage *to)
{
	struct mp_proc p;

	if (mp_tree_read(pid, &p) == 0)
		usage_add(to, &p);
}

int mp_tree_measure(pid_t root, struct mp_tree_usage *to)
{
	MP_CLEANUP(tree_end) struct walk w;
	int r = tree_begin(&w);

	if (r < 0)
		return r;
	find_all(&w, root, NULL, NULL);
	for (size_t i = 0; i < tree_count(&w.found); i++)
		usage_add(to, tree_get(&w.found, i));
	return 0;
}

/* --- our own, at once ----------------------------------------------------------------------- */

struct strike {
	int signal;
	mp_tree_fn takes;
	void *u;
};

static void strike_one(pid_t pid, void *u)
{
	const struct strike *s = u;
	const struct mp_proc p = {.pid = pid};

	if (!s->takes || s->takes(&p, s->u))
		kill(pid, s->signal);
}

/* A process that was just about to fork leaves a child that only the next scan finds. */
void mp_tree_strike(int signal, mp_tree_fn takes, void *u)
{
	struct strike s = {signal, takes, u};

	for (int i = 0; i < STRIKES; i++)
		list_children(getpid(), strike_one, &s);
}

void mp_tree_set_only_scan(bool only)
{
	only_scan = only;
}
