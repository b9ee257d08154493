/*
 * launcher.c - the helper process that starts servers: a shepherd for each.
 * Small, so that forking is cheap. It is the subreaper of its shepherds: the tree of one that was
 * killed falls to it and is taken down at once. When the hub is gone it sees all shepherds off.
 */
#include "process/launcher.h"
#include "base/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "process/cgroup.h"
#include "process/exec.h"
#include "base/guard.h"
#include "process/shepherd.h"
#include "process/tree.h"

#define LAUNCHER_STATES(X)                                              \
	X(SERVING, "serving", "the hub is there")                       \
	X(LEAVING, "leaving", "the hub is gone; the shepherds know it") \
	X(KILLING, "killing", "they took too long")                     \
	X(GONE, "gone", "no child is left")

#define LAUNCHER_EVENTS(X)                                            \
	X(HUB_GONE, "hub gone", "its end of the socket, or itself")   \
	X(STRAYS, "strays", "a shepherd was killed, or what it left") \
	X(EMPTY, "empty", "there is no child")                        \
	X(TIMER, "timer", "time for another look")                    \
	X(LATE, "late", "enough of that")

MP_MACHINE_ENUM(launcher_state, LAUNCHER_STATES);
MP_MACHINE_ENUM(launcher_event, LAUNCHER_EVENTS);

enum {
	LEAVING_MS = 1500, /* the shepherds need 1 s and some; after 2 s nothing may live */
	KILLING_MS = 5000, /* then whatever is left cannot be killed */
	LOOK_MS = 10,
	SLOW_LOOK_MS = 200, /* for strays that cannot be killed */
	LOOKS = 100,
	REAPED_AT_ONCE = 32, /* strays that fork all the time die all the time, too */
};

struct launcher {
	enum launcher_state state;
	int control;      /* the hub's requests; -1: it is gone */
	int hub;          /* its pidfd: a fork of the hub may keep the socket open. -1: none */
	int signals;      /* SIGCHLD */
	int lifeline[2];  /* the writing end is ours alone; shepherds read its end */
	pid_t *shepherds; /* owned */
	size_t n_shepherds, room;
	bool unreaped; /* there may be more who ended */
	bool childless;
	int looks;        /* for strays, one after another */
	int64_t due_ms;   /* of TIMER; -1: none */
	int64_t until_ms; /* of this state */
};

MP_MACHINE_TYPES(launcher, struct launcher, enum launcher_event, LAUNCHER_STATES, LAUNCHER_EVENTS);
static launcher_action take_strays, launcher_dismiss, wait_on, begin_killing, kill_all;

MP_MACHINE_STEPS(launcher) = {
	[SERVING] = {[HUB_GONE] = MP_TO(LEAVING, launcher_dismiss),
		     [STRAYS] = MP_DO(take_strays),
		     [EMPTY] = MP_STAY,
		     [TIMER] = MP_DO(take_strays)},
	[LEAVING] = {[HUB_GONE] = MP_STAY,
		     [STRAYS] = MP_DO(wait_on),
		     [EMPTY] = MP_TO(GONE, NULL),
		     [TIMER] = MP_DO(wait_on),
		     [LATE] = MP_TO(KILLING, begin_killing)},
	[KILLING] = {[HUB_GONE] = MP_STAY,
		     [STRAYS] = MP_STAY,
		     [EMPTY] = MP_TO(GONE, NULL),
		     [TIMER] = MP_DO(kill_all),
		     [LATE] = MP_TO(GONE, NULL)},
};

MP_MACHINE(launcher, struct launcher, .is_silent = true)

/* --- actions -------------------------------------------------------------------------------- */

static bool is_stray(const struct mp_proc *child, void *u)
{
	const struct launcher *l = u;

	for (size_t i = 0; i < l->n_shepherds; i++)
		if (l->shepherds[i] == child->pid)
			return false;
	return true;
}

static enum launcher_event take_strays(struct launcher *l)
{
	mp_tree_strike(SIGKILL, is_stray, l);
	if (mp_tree_signal(getpid(), SIGKILL, is_stray, l) <= 0)
		l->looks = 0;
	else
		l->due_ms = mp_guard_now_ms() + (l->looks++ < LOOKS ? LOOK_MS : SLOW_LOOK_MS);
	return MP_QUIET;
}

/* Forks of the hub may hold its sockets, so the shepherds are told by the lifeline. */
static enum launcher_event launcher_dismiss(struct launcher *l)
{
	mp_guard_close(&l->control);
	mp_guard_close(&l->hub);
	mp_guard_close(&l->lifeline[1]);
	l->until_ms = l->due_ms = mp_guard_now_ms() + LEAVING_MS;
	return l->childless ? EMPTY : MP_QUIET;
}

static enum launcher_event wait_on(struct launcher *l)
{
	l->due_ms = l->until_ms;
	return mp_guard_now_ms() >= l->until_ms ? LATE : take_strays(l);
}

static enum launcher_event begin_killing(struct launcher *l)
{
	l->until_ms = mp_guard_now_ms() + KILLING_MS;
	return kill_all(l);
}

static enum launcher_event kill_all(struct launcher *l)
{
	mp_tree_strike(SIGKILL, NULL, NULL);
	(void)!mp_tree_signal(getpid(), SIGKILL, NULL, NULL); /* EMPTY tells when it is done */
	l->due_ms = mp_guard_now_ms() + LOOK_MS;
	return mp_guard_now_ms() >= l->until_ms ? LATE : MP_QUIET;
}

/* --- shepherds ------------------------------------------------------------------------------ */

static bool make_room(struct launcher *l)
{
	size_t room = l->room ? 2 * l->room : 16;
	pid_t *more;

	if (l->n_shepherds < l->room)
		return true;
	more = mp_try_realloc(l->shepherds, room * sizeof(*more));
	if (!more)
		return false;
	l->shepherds = more;
	l->room = room;
	return true;
}

static void fork_shepherd(struct launcher *l, const int fds[MP_FDS])
{
	pid_t pid = make_room(l) ? fork() : -1;

	if (pid == 0)
		_exit(mp_shepherd_main(fds, l->lifeline[0]));
	if (pid > 0) {
		l->shepherds[l->n_shepherds++] = pid;
		l->childless = false;
		return;
	}
	mp_shepherd_tell(fds[MP_FD_CONTROL], MP_NEWS_FAILED, MP_STAGE_LAUNCH, errno);
	mp_shepherd_tell(fds[MP_FD_CONTROL], MP_NEWS_GONE, 0, 0);
}

/* True where it was one. */
static bool launcher_forget(struct launcher *l, pid_t pid)
{
	for (size_t i = 0; i < l->n_shepherds; i++) {
		if (l->shepherds[i] != pid)
			continue;
		l->shepherds[i] = l->shepherds[--l->n_shepherds];
		return true;
	}
	return false;
}

/* A shepherd that ended in order left nothing behind. */
static void launcher_reap(struct launcher *l)
{
	struct signalfd_siginfo one;
	bool strays = false;
	int status;
	pid_t pid = 1;

	(void)!read(l->signals, &one, sizeof(one)); /* it may stand for several */
	for (int i = 0; i < REAPED_AT_ONCE && pid > 0; i++) {
		pid = waitpid(-1, &status, WNOHANG);
		if (pid > 0)
			strays = !launcher_forget(l, pid) || status != 0 || strays;
	}
	l->unreaped = pid > 0;
	l->childless = pid < 0 && errno == ECHILD;
	if (l->childless)
		launcher_advance(l, EMPTY);
	else if (strays)
		launcher_advance(l, STRAYS);
}

/* --- requests ------------------------------------------------------------------------------- */

union rights {
	char bytes[CMSG_SPACE(MP_FDS * sizeof(int))];
	struct cmsghdr align;
};

/* The descriptors of a packet; how many there were. */
static size_t launcher_unpack(struct msghdr *m, int fds[MP_FDS])
{
	struct cmsghdr *c = CMSG_FIRSTHDR(m);
	size_t n;

	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
		return 0;
	n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	n = n < MP_FDS ? n : MP_FDS;
	memcpy(fds, CMSG_DATA(c), n * sizeof(int));
	return n;
}

/* A request is its descriptors; the byte they ride on says nothing. */
static void hear_hub(struct launcher *l)
{
	int fds[MP_FDS];
	union rights rights;
	char byte;
	struct iovec v = {&byte, 1};
	struct msghdr m = {.msg_iov = &v,
			   .msg_iovlen = 1,
			   .msg_control = rights.bytes,
			   .msg_controllen = sizeof(rights.bytes)};
	ssize_t got = recvmsg(l->control, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	size_t n;

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		launcher_advance(l, HUB_GONE);
		return;
	}
	n = launcher_unpack(&m, fds);
	if (n == MP_FDS)
		fork_shepherd(l, fds);
	for (size_t i = 0; i < n; i++)
		close(fds[i]); /* without an answer the hub sees the end of its control socket */
}

static int wait_ms(const struct launcher *l)
{
	int64_t left = l->due_ms - mp_guard_now_ms();

	if (l->unreaped)
		return 0;
	return l->due_ms < 0 ? -1 : left < 0 ? 0 : (int)left;
}

static void launcher_serve(struct launcher *l)
{
	while (l->state != GONE) {
		struct pollfd p[] = {
			{l->control, POLLIN, 0}, {l->hub, POLLIN, 0}, {l->signals, POLLIN, 0}};

		if (poll(p, MP_ARRAY_LEN(p), wait_ms(l)) < 0)
			continue; /* interrupted; no other failure is possible */
		if (p[0].revents)
			hear_hub(l);
		if (p[1].revents && l->state != GONE)
			launcher_advance(l, HUB_GONE);
		if ((p[2].revents || l->unreaped) && l->state != GONE)
			launcher_reap(l);
		if (l->state != GONE && l->due_ms >= 0 && mp_guard_now_ms() >= l->due_ms) {
			l->due_ms = -1;
			launcher_advance(l, TIMER);
		}
	}
}

/* --- birth ---------------------------------------------------------------------------------- */

/* Nothing that ends the hub by name or by terminal ends us: we leave when it has left. */
static void block_signals(void)
{
	static const int of_our_own_making[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};
	sigset_t all;

	mp_exec_reset_signals();
	sigfillset(&all);
	for (size_t i = 0; i < MP_ARRAY_LEN(of_our_own_making); i++)
		sigdelset(&all, of_our_own_making[i]);
	sigprocmask(SIG_SETMASK, &all, NULL);
}

/* A received descriptor must never be 0, 1 or 2. */
static void fill_standard_fds(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (fd >= 0 && fd < 3);
	if (fd >= 3)
		close(fd);
}

static bool open_all(struct launcher *l)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	l->signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	l->hub = (int)syscall(SYS_pidfd_open, getppid(), 0);
	return l->signals >= 0 && pipe2(l->lifeline, O_CLOEXEC) == 0;
}

int mp_launcher_main(int control)
{
	struct launcher l = {.state = SERVING,
			     .control = control,
			     .lifeline = {-1, -1},
			     .childless = true,
			     .due_ms = -1};

	mp_exec_hide(); /* shepherds inherit it */
	prctl(PR_SET_NAME, "mcpool launcher");
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	prctl(PR_SET_PDEATHSIG,
	      SIGCONT); /* also when stopped by a signal: the hub's end must be seen */
	block_signals();
	setsid(); /* fails where the hub has seen to it */
	fill_standard_fds();
	mp_exec_close_all_but(&control, 1);
	if (fcntl(control, F_SETFD, FD_CLOEXEC) < 0 || !open_all(&l))
		return 1;
	mp_cgroup_open();
	launcher_serve(&l);
	mp_cgroup_close();
	prctl(PR_SET_PDEATHSIG, 0); /* a leak checker stops us now, and CONT would undo that */
	mp_free(l.shepherds);
	return 0;
}
