/*
 * shepherd.c - the guardian of one server.
 * Being the subreaper of the server's tree it inherits every orphan in it, so "no child left" means
 * that the whole tree is gone. It tells the hub what happens, does what the hub orders, and when
 * the hub or the launcher is gone takes the tree down by itself: TERM, 1 s, KILL.
 */
#include "process/shepherd.h"
#include "base/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "process/exec.h"
#include "base/guard.h"
#include "process/spec.h"
#include "process/tree.h"

#define SHEPHERD_STATES(X)                                                             \
	X(STARTING, "starting", "forked; exec has not succeeded yet")                  \
	X(RUNNING, "running", "the server runs")                                       \
	X(ENDING, "ending", "asked to end, or ended and left something; KILL is near") \
	X(KILLING, "killing", "KILL, again and again, until nothing is left")          \
	X(GONE, "gone", "no child is left")

#define SHEPHERD_EVENTS(X)                                          \
	X(RAN, "ran", "exec succeeded")                             \
	X(FAILED, "failed", "it did not")                           \
	X(EXITED, "exited", "the server process itself ended")      \
	X(EMPTY, "empty", "we have no child")                       \
	X(TERM, "term", "the hub orders so")                        \
	X(KILL, "kill", "the hub orders so")                        \
	X(ORPHANED, "orphaned", "hub or launcher are gone")         \
	X(TIMER, "timer", "the time set by the last state is over") \
	X(LATE, "late", "it cannot be killed and is not awaited")

MP_MACHINE_ENUM(shepherd_state, SHEPHERD_STATES);
MP_MACHINE_ENUM(shepherd_event, SHEPHERD_EVENTS);

enum {
	ENDING_MS = 1000,    /* from TERM to KILL */
	ROUND_MS = 10,       /* between two rounds of KILL ... */
	SLOW_ROUND_MS = 200, /* ... and when a hundred did not help */
	ROUNDS = 100,
	STOP_ROUNDS = 2,     /* a stopped process neither forks nor restarts what was killed */
	REAPED_AT_ONCE = 32, /* a tree that forks all the time dies all the time, too */
	PATIENCE = 140,      /* rounds until an orphan gives up: about 10 s */
};

struct shepherd {
	enum shepherd_state state;
	int control;   /* the hub's; -1: gone */
	int lifeline;  /* the launcher's; -1: gone */
	int report;    /* exec's; -1: heard */
	int signals;   /* SIGCHLD */
	pid_t server;  /* 0: never forked */
	bool ran;      /* exec succeeded, and the hub knows */
	bool reaped;   /* the server itself */
	bool unreaped; /* there may be more who ended */
	bool childless;
	int status; /* of the server, once reaped */
	struct mp_exec_failure failure;
	int64_t due_ms; /* of TIMER; -1: none */
	int rounds;     /* of KILLING */
};

MP_MACHINE_TYPES(shepherd, struct shepherd, enum shepherd_event, SHEPHERD_STATES, SHEPHERD_EVENTS);
static shepherd_action tell_running, tell_failed, tell_exited, end_leftovers, send_term, end_all,
	kill_all, say_goodbye;

MP_MACHINE_STEPS(shepherd) = {
	[STARTING] = {[RAN] = MP_TO(RUNNING, tell_running),
		      [FAILED] = MP_TO(ENDING, tell_failed),
		      [TERM] = MP_DO(send_term),
		      [KILL] = MP_TO(KILLING, kill_all),
		      [ORPHANED] = MP_TO(ENDING, end_all)},
	[RUNNING] = {[EXITED] = MP_TO(ENDING, end_leftovers),
		     [TERM] = MP_DO(send_term),
		     [KILL] = MP_TO(KILLING, kill_all),
		     [ORPHANED] = MP_TO(ENDING, end_all)},
	[ENDING] = {[RAN] = MP_DO(tell_running),
		    [FAILED] = MP_DO(tell_failed),
		    [EXITED] = MP_DO(end_leftovers),
		    [EMPTY] = MP_TO(GONE, say_goodbye),
		    [TERM] = MP_DO(send_term),
		    [KILL] = MP_TO(KILLING, kill_all),
		    [ORPHANED] = MP_STAY,
		    [TIMER] = MP_TO(KILLING, kill_all)},
	[KILLING] = {[RAN] = MP_DO(tell_running),
		     [FAILED] = MP_DO(tell_failed),
		     [EXITED] = MP_DO(tell_exited),
		     [EMPTY] = MP_TO(GONE, say_goodbye),
		     [TERM] = MP_STAY,
		     [KILL] = MP_STAY,
		     [ORPHANED] = MP_STAY,
		     [TIMER] = MP_DO(kill_all),
		     [LATE] = MP_TO(GONE, NULL)},
};

MP_MACHINE(shepherd, struct shepherd, .is_silent = true)

/* --- actions -------------------------------------------------------------------------------- */

void mp_shepherd_tell(int control, enum mp_news news, int stage, int value)
{
	struct mp_report report = {news, stage, value, getpid()};

	(void)!send(control, &report, sizeof(report), MSG_NOSIGNAL | MSG_DONTWAIT);
}

static enum shepherd_event tell_running(struct shepherd *s)
{
	s->ran = true;
	mp_shepherd_tell(s->control, MP_NEWS_RUNNING, 0, s->server);
	return MP_QUIET;
}

/* The process that failed is about to end; EMPTY follows. */
static enum shepherd_event tell_failed(struct shepherd *s)
{
	mp_shepherd_tell(s->control, MP_NEWS_FAILED, s->failure.stage, s->failure.cause);
	if (s->due_ms < 0)
		s->due_ms = mp_guard_now_ms() + ENDING_MS;
	return s->childless ? EMPTY : MP_QUIET;
}

static enum shepherd_event tell_exited(struct shepherd *s)
{
	if (s->ran)
		mp_shepherd_tell(s->control, MP_NEWS_EXITED, 0, s->status);
	return s->childless ? EMPTY : MP_QUIET;
}

/* Those who left the server's group get the same warning, once. */
static enum shepherd_event end_leftovers(struct shepherd *s)
{
	enum shepherd_event next = tell_exited(s);

	if (next == MP_QUIET) {
		(void)!mp_tree_signal(getpid(), SIGTERM, NULL,
				      NULL); /* KILL counts, this does not */
		if (s->due_ms < 0)
			s->due_ms = mp_guard_now_ms() + ENDING_MS;
	}
	return next;
}

/* The group is the server's pid; before its setsid() there is only the process. */
static enum shepherd_event send_term(struct shepherd *s)
{
	if (!s->reaped && kill(-s->server, SIGTERM) < 0)
		kill(s->server, SIGTERM);
	return MP_QUIET;
}

static enum shepherd_event end_all(struct shepherd *s)
{
	s->due_ms = mp_guard_now_ms() + ENDING_MS;
	return send_term(s);
}

/* A group needs no /proc, and its processes cannot escape by forking. */
static enum shepherd_event kill_all(struct shepherd *s)
{
	int signal = s->rounds < STOP_ROUNDS ? SIGSTOP : SIGKILL;

	mp_tree_strike(signal, NULL, NULL);
	if (!s->reaped)
		kill(-s->server, signal);
	(void)!mp_tree_signal(getpid(), signal, NULL, NULL); /* how many is told by EMPTY */
	s->due_ms = mp_guard_now_ms();
	if (s->rounds++ >= STOP_ROUNDS)
		s->due_ms += s->rounds < ROUNDS ? ROUND_MS : SLOW_ROUND_MS;
	return s->rounds > PATIENCE && s->control < 0 ? LATE : MP_QUIET;
}

static enum shepherd_event say_goodbye(struct shepherd *s)
{
	mp_shepherd_tell(s->control, MP_NEWS_GONE, 0, 0);
	return MP_QUIET;
}

/* --- what is heard -------------------------------------------------------------------------- */

/* An end without words is a successful exec, or a process killed before it, which EXITED tells. */
static void hear_exec(struct shepherd *s)
{
	ssize_t n = read(s->report, &s->failure, sizeof(s->failure));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	mp_guard_close(&s->report);
	shepherd_advance(s, n == (ssize_t)sizeof(s->failure) ? FAILED : RAN);
}

static void shepherd_orphan(struct shepherd *s, int *gone)
{
	mp_guard_close(gone);
	shepherd_advance(s, ORPHANED);
}

static void hear_hub(struct shepherd *s)
{
	uint32_t order;
	ssize_t n = recv(s->control, &order, sizeof(order), MSG_DONTWAIT);

	/* News it never read are reported first, as an error; its last order comes after that. */
	if (n < 0 && (errno == EAGAIN || errno == EINTR || errno == ECONNRESET))
		return;
	if (n == (ssize_t)sizeof(order) && (order == MP_ORDER_TERM || order == MP_ORDER_KILL))
		shepherd_advance(s, order == MP_ORDER_TERM ? TERM : KILL);
	else
		shepherd_orphan(s, &s->control); /* gone, or out of its mind */
}

static void shepherd_reap(struct shepherd *s)
{
	bool exited = false;
	pid_t pid = 1;
	int status;

	for (int i = 0; i < REAPED_AT_ONCE && pid > 0; i++) {
		pid = waitpid(-1, &status, WNOHANG);
		if (pid != s->server)
			continue;
		exited = s->reaped = true;
		s->status = status;
	}
	s->unreaped = pid > 0;
	s->childless = pid < 0 && errno == ECHILD;
	if (exited && s->report >= 0)
		hear_exec(s); /* its end is there by now, and comes first */
	if (s->state == GONE)
		return;
	if (exited)
		shepherd_advance(s, EXITED);
	else if (s->childless)
		shepherd_advance(s, EMPTY);
}

static void hear_signals(struct shepherd *s)
{
	struct signalfd_siginfo one;

	(void)!read(s->signals, &one, sizeof(one)); /* it may stand for several */
	shepherd_reap(s);
	if (s->state == KILLING) /* whose parent just died is our child now */
		mp_tree_strike(SIGKILL, NULL, NULL);
}

static int wait_ms(const struct shepherd *s)
{
	int64_t left = s->due_ms - mp_guard_now_ms();

	if (s->unreaped)
		return 0;
	return s->due_ms < 0 ? -1 : left < 0 ? 0 : (int)left;
}

static void shepherd_live(struct shepherd *s)
{
	while (s->state != GONE) {
		struct pollfd p[] = {{s->report, POLLIN, 0},
				     {s->control, POLLIN, 0},
				     {s->lifeline, POLLIN, 0},
				     {s->signals, POLLIN, 0}};

		if (poll(p, MP_ARRAY_LEN(p), wait_ms(s)) < 0)
			continue; /* interrupted; no other failure is possible */
		if (p[0].revents)
			hear_exec(s);
		if (p[1].revents && s->state != GONE)
			hear_hub(s);
		if (p[2].revents && s->state != GONE)
			shepherd_orphan(s, &s->lifeline);
		if ((p[3].revents || s->unreaped) && s->state != GONE)
			hear_signals(s);
		if (s->state != GONE && s->due_ms >= 0 && mp_guard_now_ms() >= s->due_ms) {
			s->due_ms = -1;
			shepherd_advance(s, TIMER);
		}
	}
}

/* --- birth ---------------------------------------------------------------------------------- */

static int watch_children(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD); /* blocked by the launcher, like all others */
	return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

/* The launcher's descriptors are not ours, above all the writing end of the lifeline. */
static void keep_only(const int fds[MP_FDS], int lifeline)
{
	int keep[MP_FDS + 1] = {0}, n = 0;

	for (int i = 0; i < MP_FDS + 1; i++) {
		int fd = i < MP_FDS ? fds[i] : lifeline, at = n++;

		for (; at > 0 && keep[at - 1] > fd; at--)
			keep[at] = keep[at - 1];
		keep[at] = fd;
	}
	mp_exec_close_all_but(keep, (size_t)n);
}

/* 0, or the errno of what could not be had. */
static int fork_server(struct shepherd *s, const int fds[MP_FDS])
{
	MP_CLEANUP(mp_spec_done) struct mp_spec spec = {.bytes = NULL};
	int ends[2];
	pid_t self = getpid();
	int r = mp_spec_read(fds[MP_FD_SPEC], &spec);

	if (r < 0)
		return r == MCPOOL_ENOMEM ? ENOMEM : EPROTO;
	s->signals = watch_children();
	if (s->signals < 0 || pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
		return errno;
	s->server = fork();
	if (s->server == 0)
		mp_exec_server(&spec.launch, &fds[MP_FD_STDIN], ends[1], self);
	r = s->server < 0 ? errno : 0;
	close(ends[1]);
	s->report = ends[0];
	return r;
}

int mp_shepherd_main(const int fds[MP_FDS], int lifeline)
{
	struct shepherd s = {.state = STARTING,
			     .control = fds[MP_FD_CONTROL],
			     .lifeline = lifeline,
			     .report = -1,
			     .signals = -1,
			     .due_ms = -1};
	int cause;

	prctl(PR_SET_NAME, MP_SHEPHERD_NAME);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	prctl(PR_SET_PDEATHSIG, SIGCONT); /* stopped or not, the launcher's death is seen */
	keep_only(fds, lifeline);
	cause = fork_server(&s, fds);
	for (int i = MP_FD_SPEC; i <= MP_FD_STDERR; i++)
		close(fds[i]); /* the server has them; their ends must come when it ends */
	if (cause == 0) {
		shepherd_live(&s);
		return 0;
	}
	mp_shepherd_tell(s.control, MP_NEWS_FAILED, MP_STAGE_LAUNCH, cause);
	mp_shepherd_tell(s.control, MP_NEWS_GONE, 0, 0);
	return 0;
}
