/*
 * child.c - one running server process, as the hub sees it: spawn, stop ladder, reap.
 * The hub never touches the process itself. It hears from the shepherd and gives it orders; who
 * that is and how a tree is killed is shepherd.c's business.
 */
#include "process/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/mem.h"
#include "process/failure.h"
#include "process/shepherd.h"
#include "process/spec.h"
#include "base/watch.h"

#define CHILD_STATES(X)                                                     \
	X(STARTING, "starting", "asked for; exec has not succeeded yet")    \
	X(RUNNING, "running", "the server runs")                            \
	X(CLOSING, "closing", "its stdin is closed; TERM is next")          \
	X(TERMED, "termed", "TERM was sent; KILL is next")                  \
	X(LEAVING, "leaving", "it ended or failed; its tree is taken down") \
	X(KILLING, "killing", "KILL was ordered")                           \
	X(LOST, "lost", "its shepherd was killed; what it left is hunted")  \
	X(GONE, "gone", "nothing is left")

#define CHILD_EVENTS(X)                                      \
	X(RAN, "ran", "exec succeeded")                      \
	X(FAILED, "failed", "it never ran")                  \
	X(EXITED, "exited", "the process itself ended")      \
	X(EMPTY, "empty", "nothing of its tree is left")     \
	X(CUT, "cut", "the shepherd is gone without a word") \
	X(STOP, "stop", "our owner wants it to end")         \
	X(KILL, "kill", "our owner wants it dead")           \
	X(TIMER, "timer", "the time of this state is over")

MP_MACHINE_ENUM(child_state, CHILD_STATES);
MP_MACHINE_ENUM(child_event, CHILD_EVENTS);

enum {
	LEAVING_MS = MP_CHILD_TERM_MS + MP_CHILD_KILL_MS, /* the shepherd's own ladder, and some */
	HUNT_MS = 10,                                     /* between two looks for strays */
	HUNTS = MP_CHILD_KILL_MS / HUNT_MS,
	LAST_HUNTS = 100, /* when orders had their time before */
	WORDS = 256,
};

struct mp_child {
	enum child_state state;
	struct mp_launcher *launcher;
	struct mp_watch *control; /* to the shepherd; NULL once it is gone */
	const struct mp_child_hooks *hooks;
	void *u;
	struct mp_timer timer;
	struct mp_report heard; /* what the shepherd said last */
	pid_t pid;              /* of the server; 0 before running */
	pid_t shepherd;         /* 0: it has not spoken yet */
	bool exited;            /* told */
	int hunts;
	char command[WORDS], folder[WORDS]; /* for the words of a failure; cut */
	struct mp_log log;
	struct mp_grave grave;
};

MP_MACHINE_TYPES(child, struct mp_child, enum child_event, CHILD_STATES, CHILD_EVENTS);
static child_action tell_running, tell_failed, tell_exited, tell_gone, close_stdin, order_term,
	order_kill, lose_start, child_lose, child_hunt, child_depose;

MP_MACHINE_STEPS(child) = {
	[STARTING] = {[RAN] = MP_TO(RUNNING, tell_running),
		      [FAILED] = MP_TO(LEAVING, tell_failed),
		      [CUT] = MP_TO(LOST, lose_start),
		      [STOP] = MP_TO(CLOSING, close_stdin),
		      [KILL] = MP_TO(KILLING, order_kill)},
	[RUNNING] = {[EXITED] = MP_TO(LEAVING, tell_exited),
		     [CUT] = MP_TO(LOST, child_lose),
		     [STOP] = MP_TO(CLOSING, close_stdin),
		     [KILL] = MP_TO(KILLING, order_kill)},
	[CLOSING] = {[RAN] = MP_DO(tell_running),
		     [FAILED] = MP_TO(LEAVING, tell_failed),
		     [EXITED] = MP_TO(LEAVING, tell_exited),
		     [CUT] = MP_TO(LOST, child_lose),
		     [STOP] = MP_STAY,
		     [KILL] = MP_TO(KILLING, order_kill),
		     [TIMER] = MP_TO(TERMED, order_term)},
	[TERMED] = {[RAN] = MP_DO(tell_running),
		    [FAILED] = MP_TO(LEAVING, tell_failed),
		    [EXITED] = MP_TO(LEAVING, tell_exited),
		    [CUT] = MP_TO(LOST, child_lose),
		    [STOP] = MP_STAY,
		    [KILL] = MP_TO(KILLING, order_kill),
		    [TIMER] = MP_TO(KILLING, order_kill)},
	[LEAVING] = {[EMPTY] = MP_TO(GONE, tell_gone),
		     [CUT] = MP_TO(LOST, child_lose),
		     [STOP] = MP_STAY,
		     [KILL] = MP_TO(KILLING, order_kill),
		     [TIMER] = MP_TO(KILLING, order_kill)},
	[KILLING] = {[RAN] = MP_DO(tell_running),
		     [FAILED] = MP_DO(tell_failed),
		     [EXITED] = MP_DO(tell_exited),
		     [EMPTY] = MP_TO(GONE, tell_gone),
		     [CUT] = MP_TO(LOST, child_lose),
		     [STOP] = MP_STAY,
		     [KILL] = MP_STAY,
		     [TIMER] = MP_TO(LOST, child_depose)},
	[LOST] = {[EMPTY] = MP_TO(GONE, tell_gone),
		  [STOP] = MP_STAY,
		  [KILL] = MP_STAY,
		  [TIMER] = MP_DO(child_hunt)},
	[GONE] = {[STOP] = MP_STAY, [KILL] = MP_STAY},
};

static void child_describe(const struct mp_child *c, struct mp_log *ret_log)
{
	*ret_log = c->log;
}

MP_MACHINE(child, struct mp_child, .describe = child_describe)

/* --- actions: a hook may free the child, so it is called last --------------------------------- */

static void child_order(struct mp_child *c, enum mp_order what)
{
	uint32_t word = what;

	/* A shepherd that cannot be told is dead, which its socket tells us. */
	if (c->control)
		(void)!send(mp_watch_get_fd(c->control), &word, sizeof(word),
			    MSG_NOSIGNAL | MSG_DONTWAIT);
}

static enum child_event tell_running(struct mp_child *c)
{
	c->pid = c->heard.value;
	mp_log_verbose(&c->log, "runs as pid %d", (int)c->pid);
	c->hooks->running(c->u, c->pid);
	return MP_QUIET;
}

static enum child_event tell_failed(struct mp_child *c)
{
	struct mcpool_error why;

	mp_failure_explain(c->heard.stage, c->heard.value, c->command, c->folder, &why);
	if (c->state == LEAVING)
		mp_timer_start(&c->timer, LEAVING_MS);
	c->hooks->failed(c->u, &why);
	return MP_QUIET;
}

static enum child_event tell_exited(struct mp_child *c)
{
	if (c->state == LEAVING)
		mp_timer_start(&c->timer, LEAVING_MS);
	c->exited = true;
	c->hooks->exited(c->u, c->heard.value);
	return MP_QUIET;
}

static enum child_event tell_gone(struct mp_child *c)
{
	mp_timer_stop(&c->timer);
	c->control = mp_watch_free(c->control);
	c->hooks->gone(c->u);
	return MP_QUIET;
}

static enum child_event close_stdin(struct mp_child *c)
{
	mp_timer_start(&c->timer, MP_CHILD_EOF_MS);
	c->hooks->hang_up(c->u);
	return MP_QUIET;
}

static enum child_event order_term(struct mp_child *c)
{
	mp_timer_start(&c->timer, MP_CHILD_TERM_MS);
	child_order(c, MP_ORDER_TERM);
	return MP_QUIET;
}

static enum child_event order_kill(struct mp_child *c)
{
	mp_timer_start(&c->timer, MP_CHILD_KILL_MS);
	child_order(c, MP_ORDER_KILL);
	return MP_QUIET;
}

static void begin_hunt(struct mp_child *c)
{
	c->control = mp_watch_free(c->control);
	mp_timer_start(&c->timer, 0);
}

static enum child_event lose_start(struct mp_child *c)
{
	struct mcpool_error why;

	(void)mp_fail(&why, MCPOOL_ECLOSED, "the launcher died before it could start '%s'",
		      c->command);
	begin_hunt(c);
	c->hooks->failed(c->u, &why);
	return MP_QUIET;
}

/* Whatever becomes of the process is our doing now. */
static enum child_event child_lose(struct mp_child *c)
{
	begin_hunt(c);
	if (c->pid > 0 && !c->exited) {
		c->exited = true;
		c->hooks->exited(c->u, SIGKILL);
	}
	return MP_QUIET;
}

static enum child_event child_hunt(struct mp_child *c)
{
	if (mp_launcher_sweep(c->launcher, c->shepherd))
		return EMPTY;
	if (c->hunts++ >= HUNTS) {
		mp_log_warn(&c->log, "some of its processes cannot be killed; they are left alone");
		return EMPTY;
	}
	mp_timer_start(&c->timer, HUNT_MS);
	return MP_QUIET;
}

/* The shepherd was stopped, or its tree cannot be killed: find out which. */
static enum child_event child_depose(struct mp_child *c)
{
	mp_log_warn(&c->log, "pid %d or what it started does not end; its shepherd is killed",
		    (int)c->pid);
	mp_launcher_kill_shepherd(c->shepherd);
	c->hunts = HUNTS - LAST_HUNTS;
	return child_lose(c);
}

/* --- what is heard -------------------------------------------------------------------------- */

static const enum child_event events[] = {
	[MP_NEWS_RUNNING] = RAN,
	[MP_NEWS_FAILED] = FAILED,
	[MP_NEWS_EXITED] = EXITED,
	[MP_NEWS_GONE] = EMPTY,
};

/* One word. False when there is none now. */
static bool hear_one(struct mp_child *c)
{
	ssize_t n = recv(mp_watch_get_fd(c->control), &c->heard, sizeof(c->heard), MSG_DONTWAIT);

	if (n < 0 && errno == EAGAIN)
		return false;
	/* Orders it never read are reported first, as an error; what it said comes after that. */
	if (n < 0 && (errno == EINTR || errno == ECONNRESET))
		return true;
	if (n != (ssize_t)sizeof(c->heard) || c->heard.news < MP_NEWS_RUNNING ||
	    c->heard.news > MP_NEWS_GONE) {
		child_advance(c, CUT);
		return true;
	}
	c->shepherd = c->heard.shepherd;
	child_advance(c, events[c->heard.news]);
	return true;
}

/* A hook may free the child; it is buried then, and has no control any more. */
static void child_hear(void *u)
{
	struct mp_child *c = u;

	while (c->control && hear_one(c))
		;
}

static void child_ring(void *u)
{
	child_advance(u, TIMER);
}

/* --- life ----------------------------------------------------------------------------------- */

static void keep_words(char out[WORDS], const char *text)
{
	size_t n = text ? strlen(text) : 0;

	n = n < WORDS ? n : mp_utf8_cut(text, WORDS - 1);
	if (n)
		memcpy(out, text, n);
	out[n] = '\0';
}

int mp_child_adopt(struct mp_launcher *l, int control, const struct mp_launch *launch,
		   const struct mp_child_hooks *hooks, void *u, struct mp_child **ret_child,
		   struct mcpool_error *reterr)
{
	struct mp_child *c = mp_alloc(sizeof(*c));
	int r;

	c->state = STARTING;
	c->launcher = l;
	c->hooks = hooks;
	c->u = u;
	keep_words(c->command, launch->argv[0]);
	keep_words(c->folder, launch->cwd);
	mp_timer_init(&c->timer, mp_launcher_get_loop(l), child_ring, c);
	mp_log_init(&c->log, "child '%s'", c->command);
	r = mp_watch_new(mp_launcher_get_loop(l), control, child_hear, c, &c->control);
	if (r < 0) {
		mp_free(c);
		return mp_fail(reterr, r, "the process of '%s' cannot be watched", launch->argv[0]);
	}
	*ret_child = c;
	return 0;
}

/* The ends of all that connects hub and server; -1: not open, or not ours any more. */
struct ends {
	int ours[4]; /* stdin, stdout, stderr, control */
	int theirs[MP_FDS];
};

static void close_ends(struct ends *e)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(e->ours); i++)
		if (e->ours[i] >= 0)
			close(e->ours[i]);
	for (size_t i = 0; i < MP_ARRAY_LEN(e->theirs); i++)
		if (e->theirs[i] >= 0)
			close(e->theirs[i]);
}

/* Only our ends are non-blocking: a server is entitled to the ordinary kind. */
static int open_pipe(int *ret_read, int *ret_write, int *ours)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -1;
	*ret_read = fds[0];
	*ret_write = fds[1];
	return fcntl(*ours, F_SETFL, O_NONBLOCK);
}

static int open_ends(struct ends *e, struct mcpool_error *reterr)
{
	int control[2];

	if (open_pipe(&e->theirs[MP_FD_STDIN], &e->ours[0], &e->ours[0]) < 0 ||
	    open_pipe(&e->ours[1], &e->theirs[MP_FD_STDOUT], &e->ours[1]) < 0 ||
	    open_pipe(&e->ours[2], &e->theirs[MP_FD_STDERR], &e->ours[2]) < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) < 0)
		return mp_fail_errno(reterr, errno, "cannot make the pipes of a new process");
	e->ours[3] = control[0];
	e->theirs[MP_FD_CONTROL] = control[1];
	return 0;
}

int mp_child_spawn(struct mp_launcher *l, const struct mp_launch *launch,
		   const struct mp_child_hooks *hooks, void *u, struct mp_child **ret_child,
		   int ret_fds[3], struct mcpool_error *reterr)
{
	MP_CLEANUP(close_ends) struct ends e = {{-1, -1, -1, -1}, {-1, -1, -1, -1, -1}};
	int control, r;

	r = mp_spec_write(launch, &e.theirs[MP_FD_SPEC], reterr);
	if (r == 0)
		r = open_ends(&e, reterr);
	if (r == 0)
		r = mp_launcher_send(l, e.theirs, MP_FDS, reterr);
	if (r < 0)
		return r;
	control = e.ours[3];
	e.ours[3] = -1;
	r = mp_child_adopt(l, control, launch, hooks, u, ret_child, reterr);
	for (int i = 0; i < 3 && r == 0; i++) {
		ret_fds[i] = e.ours[i];
		e.ours[i] = -1;
	}
	return r;
}

void mp_child_stop(struct mp_child *c)
{
	child_advance(c, STOP);
}

void mp_child_kill(struct mp_child *c)
{
	child_advance(c, KILL);
}

static void free_child(struct mp_grave *grave)
{
	mp_free(mp_container_of(grave, struct mp_child, grave));
}

struct mp_child *mp_child_free(struct mp_child *c)
{
	if (!c)
		return NULL;
	child_order(c, MP_ORDER_KILL); /* kept until it is killed, without hooks */
	c->control = mp_watch_free(c->control);
	mp_timer_stop(&c->timer);
	mp_loop_bury(mp_launcher_get_loop(c->launcher), &c->grave, free_child);
	return NULL;
}

pid_t mp_child_get_pid(const struct mp_child *c)
{
	return c->pid;
}

const char *mp_child_describe_exit(int wait_status, char *out, size_t size)
{
	const char *name = WIFSIGNALED(wait_status) ? sigabbrev_np(WTERMSIG(wait_status)) : NULL;

	if (WIFEXITED(wait_status))
		snprintf(out, size, "exited with code %d", WEXITSTATUS(wait_status));
	else if (name)
		snprintf(out, size, "was killed by SIG%s", name);
	else if (WIFSIGNALED(wait_status))
		snprintf(out, size, "was killed by signal %d", WTERMSIG(wait_status));
	else
		snprintf(out, size, "ended with wait status %d", wait_status);
	return out;
}
