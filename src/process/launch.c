/*
 * launch.c - the hub's end of the launcher: start it, hand it requests, notice its death.
 * The hub may live inside another program, so it never waits for children in general, only for
 * those that are its own: launchers, and what killed launchers and shepherds left to it.
 */
#include "process/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "process/exec.h"
#include "process/shepherd.h"
#include "process/tree.h"
#include "base/paths.h"
#include "base/watch.h"

enum {
	LAUNCHER_FD = 3,
	SWEEP_MS = 100,     /* between two looks for what a dead launcher left */
	FAREWELL_MS = 3000, /* a launcher that was let go needs half of it at most */
	LAST_LOOKS = 50,    /* so many of them, ... */
	LAST_LOOK_MS = 10,  /* ... with such a pause, when all is let go */
	PATIENCE_MS = 2000, /* for a launcher that is busy with earlier requests */
};

struct mp_launcher {
	struct mp_loop *loop;
	char *exe;             /* owned */
	struct mp_watch *line; /* to the launcher; NULL while none runs */
	pid_t pid;             /* 0 while none runs */
	int handle;            /* its pidfd, because a pid may be another's by now; -1: none */
	int mark;              /* oom_score_adj of whatever our servers are; -1: cannot be told */
	struct mp_timer sweep; /* after a launcher's death, until nothing of it is left */
	struct mp_log log;
};

pid_t mp_launcher_get_pid(const struct mp_launcher *l)
{
	return l->pid;
}

struct mp_loop *mp_launcher_get_loop(const struct mp_launcher *l)
{
	return l->loop;
}

/* --- what the dead left --------------------------------------------------------------------- */

struct sweep {
	const struct mp_launcher *launcher;
	pid_t root;
	size_t waiting; /* shepherds and strays that are still there */
};

static bool is_ours(const struct mp_launcher *l, const struct mp_proc *p)
{
	int mark;

	return l->mark >= 0 && mp_exec_get_oom(p->pid, &mark) == 0 && mark == l->mark;
}

/* Strays are taken; shepherds that fell to us go by themselves, and only want to be waited for. */
static bool launch_wants(const struct mp_proc *p, void *u)
{
	struct sweep *s = u;
	bool shepherd = strcmp(p->name, MP_SHEPHERD_NAME) == 0;
	bool mine = s->root == getpid();

	if (!shepherd && !is_ours(s->launcher, p))
		return false;
	if (mine && waitpid(p->pid, NULL, WNOHANG) == p->pid) {
		s->waiting++; /* what it left is ours now, and not in the list we hold */
		return false;
	}
	if (shepherd) {
		s->waiting += mine;
		return false;
	}
	s->waiting += mine || mp_tree_is_alive(p);
	return true;
}

/* Kill the strays that are children of root; how many processes it will still take. */
static size_t sweep_below(const struct mp_launcher *l, pid_t root)
{
	struct sweep s = {l, root, 0};

	(void)!mp_tree_signal(root, SIGKILL, launch_wants,
			      &s); /* without /proc nothing can be found */
	return s.waiting;
}

static void sweep_again(void *u)
{
	struct mp_launcher *l = u;

	if (sweep_below(l, getpid()) > 0)
		mp_timer_start(&l->sweep, SWEEP_MS);
}

/* A pid it had is not enough. */
static bool is_shepherd(pid_t pid, struct mp_proc *ret_proc)
{
	return pid > 0 && mp_tree_read(pid, ret_proc) == 0 && mp_tree_is_alive(ret_proc) &&
	       strcmp(ret_proc->name, MP_SHEPHERD_NAME) == 0;
}

void mp_launcher_kill_shepherd(pid_t shepherd)
{
	struct mp_proc p;

	if (is_shepherd(shepherd, &p))
		mp_tree_signal_one(&p, SIGKILL);
}

/* Its children have a new parent only once it is dead, not yet when its sockets are closed. */
bool mp_launcher_sweep(struct mp_launcher *l, pid_t shepherd)
{
	struct mp_proc p;
	size_t left;

	if (is_shepherd(shepherd, &p))
		return false;
	left = sweep_below(l, getpid());
	if (l->pid > 0)
		left += sweep_below(l, l->pid);
	return left == 0;
}

/* --- its life ------------------------------------------------------------------------------- */

/* Kernels before 5.4 have no pidfd to wait for; there the pid must do. */
static void launch_bury(pid_t pid)
{
	kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Until it has ended, or the time is over; then it is made to end. */
static void launch_await(int handle, int ms)
{
	struct pollfd p = {handle, POLLIN, 0};

	while (poll(&p, 1, ms) < 0 && errno == EINTR)
		;
	syscall(SYS_pidfd_send_signal, handle, SIGKILL, NULL, 0);
	/* It fails where the host program waited for it first. */
	while (waitid(P_PIDFD, (id_t)handle, NULL, WEXITED) < 0 && errno == EINTR)
		;
	close(handle);
}

/* It leaves when its line is cut; the wait is not longer than ms. */
static void let_go(struct mp_launcher *l, int ms)
{
	pid_t pid = l->pid;

	l->line = mp_watch_free(l->line);
	l->pid = 0;
	if (pid <= 0)
		return;
	if (l->handle >= 0)
		launch_await(l->handle, ms);
	else
		launch_bury(pid);
	l->handle = -1;
}

static void launch_mourn(struct mp_launcher *l)
{
	mp_log_warn(&l->log, "the launcher (pid %d) died; its servers are taken down", (int)l->pid);
	let_go(l, 0);
	mp_timer_start(&l->sweep, 0);
}

/* It says nothing, so something to read can only be its end. */
static void launch_hear(void *u)
{
	struct mp_launcher *l = u;
	char byte;
	ssize_t n = recv(mp_watch_get_fd(l->line), &byte, 1, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	launch_mourn(l);
}

static int launch_prepare(posix_spawn_file_actions_t *actions, posix_spawnattr_t *attr, int line)
{
	sigset_t all, none;
	int r;

	sigfillset(&all);
	sigemptyset(&none);
	r = posix_spawn_file_actions_adddup2(actions, line, LAUNCHER_FD);
	if (r == 0)
		r = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDONLY, 0);
	if (r == 0)
		r = posix_spawn_file_actions_addopen(actions, 1, "/dev/null", O_WRONLY, 0);
	if (r == 0)
		r = posix_spawnattr_setsigdefault(attr, &all);
	if (r == 0)
		r = posix_spawnattr_setsigmask(attr, &none);
	if (r == 0) /* a session of its own: Ctrl-C at the hub's terminal is for the hub */
		r = posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK |
							   POSIX_SPAWN_SETSID);
	return r;
}

/* What the loader and the sanitizers need; the launcher itself reads no variable. */
static const char *const needed[] = {"LD_LIBRARY_PATH", "ASAN_OPTIONS", "LSAN_OPTIONS",
				     "UBSAN_OPTIONS", "TSAN_OPTIONS"};

static bool is_needed(const char *variable)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(needed); i++) {
		size_t len = strlen(needed[i]);

		if (strncmp(variable, needed[i], len) == 0 && variable[len] == '=')
			return true;
	}
	return false;
}

/*
 * The rest stays here: servers can read the environment of the processes they descend from
 * (attack-S12).
 */
static void fill_environment(char *env[MP_ARRAY_LEN(needed) + 1])
{
	size_t n = 0;

	for (char **e = environ; e && *e && n < MP_ARRAY_LEN(needed); e++)
		if (is_needed(*e))
			env[n++] = *e;
	env[n] = NULL;
}

/*
 * 0 or an errno. Tests find launchers and shepherds by the last word, if there is one: their
 * environment says nothing.
 */
static int launch_spawn(const char *exe, int line, pid_t *ret_pid)
{
	char *argv[] = {(char *)"mcpool", (char *)"launcher", (char *)"3",
			getenv("MCPOOL_TEST_MARK"), NULL};
	char *env[MP_ARRAY_LEN(needed) + 1];
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int r = posix_spawn_file_actions_init(&actions);

	if (r != 0)
		return r;
	fill_environment(env);
	r = posix_spawnattr_init(&attr);
	if (r == 0) {
		r = launch_prepare(&actions, &attr, line);
		if (r == 0)
			r = posix_spawn(ret_pid, exe, &actions, &attr, argv, env);
		posix_spawnattr_destroy(&attr);
	}
	posix_spawn_file_actions_destroy(&actions);
	return r;
}

/* With no room above us, ours could not be told from others, and nothing is swept. */
static int choose_mark(void)
{
	int mine;

	if (mp_exec_get_oom(getpid(), &mine) < 0 || mine + MP_EXEC_OOM_STEP > MP_EXEC_OOM_MAX)
		return -1;
	return mine + MP_EXEC_OOM_STEP;
}

/* --- descriptors ---------------------------------------------------------------------------- */

static struct rlimit usual; /* what this process was started with; of servers, too */

void mp_launcher_raise_files(void)
{
	struct rlimit more;

	if (usual.rlim_cur || getrlimit(RLIMIT_NOFILE, &usual) < 0)
		return;
	more = (struct rlimit){usual.rlim_max, usual.rlim_max};
	(void)setrlimit(RLIMIT_NOFILE, &more); /* then there are as many as before */
}

/* Some servers still use select(), which breaks above 1,024. */
static void restore_files(pid_t launcher)
{
	if (usual.rlim_cur)
		(void)prlimit(launcher, RLIMIT_NOFILE, &usual, NULL); /* better than no server */
}

static int launch_start(struct mp_launcher *l, struct mcpool_error *reterr)
{
	int ends[2], r;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		return mp_fail_errno(reterr, errno, "cannot make a socket for the launcher");
	l->mark = choose_mark();
	r = launch_spawn(l->exe, ends[1], &l->pid);
	close(ends[1]);
	if (r != 0) {
		close(ends[0]);
		l->pid = 0;
		return mp_fail_errno(reterr, r, "the launcher '%s' could not be started", l->exe);
	}
	restore_files(l->pid);
	l->handle = (int)syscall(SYS_pidfd_open, l->pid, 0);
	r = mp_watch_new(l->loop, ends[0], launch_hear, l, &l->line);
	if (r < 0) {
		let_go(l, 0); /* it has no server yet */
		return mp_fail(reterr, r, "the launcher cannot be watched");
	}
	mp_log_verbose(&l->log, "launcher started, pid %d", (int)l->pid);
	return 0;
}

int mp_launcher_new(struct mp_loop *loop, const char *exe, struct mp_launcher **ret_launcher,
		    struct mcpool_error *reterr)
{
	struct mp_launcher *l = mp_alloc(sizeof(*l));
	int r;

	l->loop = loop;
	l->handle = -1;
	exe = exe ? exe : MP_PATH_SELF;
	l->exe = mp_alloc(strlen(exe) + 1);
	memcpy(l->exe, exe, strlen(exe) + 1);
	mp_timer_init(&l->sweep, loop, sweep_again, l);
	mp_log_init(&l->log, "launcher");
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	r = launch_start(l, reterr);
	if (r < 0)
		mp_launcher_free(l);
	else
		*ret_launcher = l;
	return r;
}

/* On a worker: it takes up to FAREWELL_MS, and half a second if an earlier launcher died. */
static void launcher_await_end(void *u)
{
	struct mp_launcher *l = u;

	let_go(l, FAREWELL_MS);
	/* What an earlier launcher left, if it died just now: the last of it may still be dying. */
	for (int i = 0; i < LAST_LOOKS && sweep_below(l, getpid()) > 0; i++)
		poll(NULL, 0, LAST_LOOK_MS);
}

static void launcher_ended(void *u)
{
	struct mp_launcher *l = u;

	mp_free(l->exe);
	mp_free(l);
}

struct mp_launcher *mp_launcher_free(struct mp_launcher *l)
{
	struct mp_work work = {launcher_await_end, launcher_ended, l};

	if (!l)
		return NULL;
	mp_timer_stop(&l->sweep);
	l->line = mp_watch_free(l->line);
	if (mp_loop_work(l->loop, &work) < 0) {
		launcher_await_end(l);
		launcher_ended(l);
	}
	return NULL;
}

/* --- requests ------------------------------------------------------------------------------- */

static ssize_t launch_pass(int line, const int *fds, size_t n)
{
	union {
		char bytes[CMSG_SPACE(MP_FDS * sizeof(int))];
		struct cmsghdr align;
	} rights = {{0}};
	struct iovec v = {(char *)"+", 1};
	struct msghdr m = {.msg_iov = &v,
			   .msg_iovlen = 1,
			   .msg_control = rights.bytes,
			   .msg_controllen = CMSG_SPACE(n * sizeof(int))};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	mp_check(c); /* there is room for one */
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(n * sizeof(int));
	memcpy(CMSG_DATA(c), fds, n * sizeof(int));
	return sendmsg(line, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* A few hundred servers at once fill the socket, and then fight the launcher for processors. */
static bool make_room(int line)
{
	struct pollfd p = {line, POLLOUT, 0};

	return poll(&p, 1, PATIENCE_MS) > 0 && (p.revents & POLLOUT);
}

static ssize_t hand_over(struct mp_launcher *l, const int *fds, size_t n)
{
	int line = mp_watch_get_fd(l->line);
	ssize_t r = launch_pass(line, fds, n);

	return r < 0 && errno == EAGAIN && make_room(line) ? launch_pass(line, fds, n) : r;
}

int mp_launcher_send(struct mp_launcher *l, const int *fds, size_t n_fds,
		     struct mcpool_error *reterr)
{
	ssize_t n = -1;
	int r = 0;

	mp_check(n_fds == MP_FDS);
	if (l->line) {
		n = hand_over(l, fds, n_fds);
		if (n < 0 && (errno == EPIPE || errno == ECONNRESET))
			launch_mourn(l); /* it died, and we had not been told yet */
	}
	if (!l->line) {
		r = launch_start(l, reterr);
		if (r < 0)
			return r;
		n = hand_over(l, fds, n_fds);
	}
	if (n < 0)
		return mp_fail_errno(reterr, errno, "the launcher takes no request");
	return 0;
}
