/*
 * loop.c - turns on libuv: timers, posted work, end-of-turn hooks, the graveyard.
 * libuv waits and reads; the order of things within a turn is ours. On a clock moved by hand libuv
 * never waits and our timers follow that clock alone.
 */
#include "base/loop.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <uv.h>

#include "base/mem.h"
#include "base/freelist.h"
#include "base/timers.h"

/* A hundred years: practically for ever, and no sum with it overflows. */
#define NEVER_MS ((int64_t)100 * 365 * 24 * 3600 * 1000)
/* All clocks are read this often; in between one of them is enough. */
enum { LOOK_US = 100 * 1000 };

struct mp_loop {
	uv_loop_t uv;
	struct mp_clock clock;
	bool now_is_stale; /* the turn's time is read when first asked for */
	int64_t looked_us; /* when all clocks were read */
	uv_prepare_t nap;  /* before libuv waits: what was read until then is stale */
	bool stopping;
	bool turning; /* within a turn; turns do not nest */
	bool worked;  /* something ran in this turn */
	bool nudged;  /* the hooks have not yet seen all */

	struct mp_timers timers;
	uv_timer_t alarm; /* wakes libuv for the first of them, or for one that was */
	int64_t alarm_ms; /* when it rings; 0: it is not set */

	struct mp_list tasks;      /* posted, in order */
	struct mp_list hooks;      /* at the end of each turn */
	struct mp_list jump_hooks; /* when the clocks jumped */
	struct mp_list graves;     /* to be freed when the turn ends */
	struct mp_freelist freelist;
	struct mp_clock_jump jump; /* seen and not yet told */

	uv_poll_t date_watch; /* readable when the date was set or the machine woke */
	int date_fd;          /* -1 where the system has no such timer */
};

/* --- time ----------------------------------------------------------------------------------- */

/* Between two looks at all clocks the system tells of jumps, where it can. False: look. */
static bool loop_peek(struct mp_loop *loop)
{
	if (loop->date_fd < 0 || loop->looked_us == 0)
		return false;
	mp_clock_peek(&loop->clock);
	return loop->clock.now.mono_us - loop->looked_us < LOOK_US;
}

/* Jumps are reported from run_timers(), not from inside the first call that reads the time. */
static void loop_refresh(struct mp_loop *loop)
{
	struct mp_clock_jump jump;

	loop->now_is_stale = false;
	if (loop_peek(loop))
		return;
	if (mp_clock_update(&loop->clock, &jump)) {
		loop->jump.slept_ms += jump.slept_ms;
		loop->jump.shifted_ms += jump.shifted_ms;
	}
	loop->looked_us = loop->clock.now.mono_us;
}

static void tell_jump(struct mp_loop *loop)
{
	struct mp_clock_jump jump = loop->jump;

	if (!jump.slept_ms && !jump.shifted_ms)
		return;
	loop->jump = (struct mp_clock_jump){0, 0};
	loop->worked = true;
	MP_LIST_WALK(&loop->jump_hooks, link) {
		struct mp_jump_hook *hook = mp_container_of(link, struct mp_jump_hook, link);

		hook->fn(&jump, hook->u);
	}
}

static const struct mp_clock_reading *loop_now(struct mp_loop *loop)
{
	if (loop->now_is_stale)
		loop_refresh(loop);
	return &loop->clock.now;
}

int64_t mp_loop_read_us(const struct mp_loop *loop)
{
	return mp_clock_read_us(&loop->clock);
}

int64_t mp_loop_now_us(struct mp_loop *loop)
{
	return loop_now(loop)->mono_us;
}

int64_t mp_loop_now_ms(struct mp_loop *loop)
{
	return loop_now(loop)->mono_us / 1000;
}

int64_t mp_loop_wall_now_ms(struct mp_loop *loop)
{
	return loop_now(loop)->wall_us / 1000;
}

void mp_timer_init(struct mp_timer *t, struct mp_loop *loop, void (*fn)(void *u), void *u)
{
	*t = (struct mp_timer){.loop = loop, .fn = fn, .u = u};
}

void mp_timer_start(struct mp_timer *t, int64_t delay_ms)
{
	mp_timer_stop(t);
	delay_ms = delay_ms < 0 ? 0 : delay_ms > NEVER_MS ? NEVER_MS : delay_ms;
	mp_timers_put(&t->loop->timers, t, mp_loop_now_ms(t->loop) + delay_ms);
}

void mp_timer_stop(struct mp_timer *t)
{
	if (mp_timer_is_running(t))
		mp_timers_take_out(&t->loop->timers, t);
}

bool mp_timer_is_running(const struct mp_timer *t)
{
	return t->place != 0;
}

/* Those due now; one started meanwhile with no delay waits for the next turn, so a turn ends. */
static void run_timers(struct mp_loop *loop)
{
	int64_t now_ms = mp_loop_now_ms(loop);
	uint64_t newest = loop->timers.started;
	struct mp_timer *t;

	tell_jump(loop);
	while ((t = mp_timers_first(&loop->timers)) && t->due_ms <= now_ms && t->order <= newest) {
		mp_timers_take_out(&loop->timers, t);
		loop->worked = true;
		t->fn(t->u);
	}
}

/* --- posted work ---------------------------------------------------------------------------- */

void mp_task_init(struct mp_task *task, void (*fn)(void *u), void *u)
{
	*task = (struct mp_task){.fn = fn, .u = u};
}

void mp_loop_post(struct mp_loop *loop, struct mp_task *task)
{
	mp_list_append(&loop->tasks, &task->link);
}

void mp_loop_unpost(struct mp_loop *loop, struct mp_task *task)
{
	if (mp_list_linked(&task->link))
		mp_list_remove(&loop->tasks, &task->link);
}

/* What these post comes behind a mark and waits for the next turn. */
static void run_tasks(struct mp_loop *loop)
{
	struct mp_link mark = {NULL, NULL};
	struct mp_link *link;

	mp_list_append(&loop->tasks, &mark);
	while ((link = mp_list_pop(&loop->tasks)) != &mark) {
		struct mp_task *task;

		mp_check(link); /* the mark is still to come */
		task = mp_container_of(link, struct mp_task, link);
		loop->worked = true;
		task->fn(task->u);
	}
}

struct job {
	uv_work_t uv;
	struct mp_work work;
};

static void run_job(uv_work_t *uv)
{
	struct job *job = uv->data;

	job->work.run(job->work.u);
}

static void job_done(uv_work_t *uv, int status)
{
	struct job *job = uv->data;
	struct mp_work work = job->work;

	(void)status; /* only uv_cancel() makes it nonzero, and it is never called */
	mp_container_of(uv->loop, struct mp_loop, uv)->worked = true;
	mp_free(job);
	work.done(work.u);
}

int mp_loop_work(struct mp_loop *loop, const struct mp_work *work)
{
	struct job *job = mp_alloc(sizeof(*job));

	job->uv.data = job;
	job->work = *work;
	if (uv_queue_work(&loop->uv, &job->uv, run_job, job_done) < 0) {
		mp_free(job);
		return MCPOOL_EINVAL;
	}
	return 0;
}

/* --- the end of a turn ---------------------------------------------------------------------- */

void mp_loop_at_turn_end(struct mp_loop *loop, struct mp_hook *hook, void (*fn)(void *u), void *u)
{
	*hook = (struct mp_hook){.fn = fn, .u = u};
	mp_list_append(&loop->hooks, &hook->link);
}

void mp_loop_forget_turn_end(struct mp_loop *loop, struct mp_hook *hook)
{
	mp_list_remove(&loop->hooks, &hook->link);
}

static void run_hooks(struct mp_loop *loop)
{
	MP_LIST_WALK(&loop->hooks, link) {
		struct mp_hook *hook = mp_container_of(link, struct mp_hook, link);

		hook->fn(hook->u);
	}
}

void mp_loop_at_jump(struct mp_loop *loop, struct mp_jump_hook *hook,
		     void (*fn)(const struct mp_clock_jump *jump, void *u), void *u)
{
	*hook = (struct mp_jump_hook){.fn = fn, .u = u};
	mp_list_append(&loop->jump_hooks, &hook->link);
}

void mp_loop_forget_jump(struct mp_loop *loop, struct mp_jump_hook *hook)
{
	mp_list_remove(&loop->jump_hooks, &hook->link);
}

void mp_loop_bury(struct mp_loop *loop, struct mp_grave *grave, void (*fn)(struct mp_grave *grave))
{
	grave->fn = fn;
	mp_list_append(&loop->graves, &grave->link);
}

struct mp_freelist *mp_loop_get_freelist(struct mp_loop *loop)
{
	return &loop->freelist;
}

static void free_the_buried(struct mp_loop *loop)
{
	struct mp_link *link;

	while ((link = mp_list_pop(&loop->graves))) {
		struct mp_grave *grave = mp_container_of(link, struct mp_grave, link);

		grave->fn(grave);
	}
}

/* --- turns ---------------------------------------------------------------------------------- */

/*
 * It only ends the wait; run_timers() follows. libuv looks at its timers before it waits, and an
 * alarm that rang by then would not end anything: so the wait is called off, too.
 */
static void alarm_rang(uv_timer_t *alarm)
{
	mp_container_of(alarm, struct mp_loop, alarm)->alarm_ms = 0;
	uv_stop(alarm->loop); /* lasts until uv_run() returns */
}

static void about_to_wait(uv_prepare_t *nap)
{
	struct mp_loop *loop = nap->data;

	loop->now_is_stale = true;
}

/*
 * Deadlines change with every call: an early wake-up is cheaper than setting libuv's timer again.
 */
static void set_alarm(struct mp_loop *loop)
{
	struct mp_timer *first = mp_timers_first(&loop->timers);
	int64_t delay_ms;

	if (!first || loop->clock.by_hand || (loop->alarm_ms && loop->alarm_ms <= first->due_ms))
		return;
	/* The wait starts now, not when the turn's time was read. */
	loop->now_is_stale = true;
	delay_ms = first->due_ms - mp_loop_now_ms(loop);
	uv_update_time(&loop->uv);
	uv_timer_start(&loop->alarm, alarm_rang, delay_ms > 0 ? (uint64_t)delay_ms : 0, 0);
	loop->alarm_ms = first->due_ms;
}

void mp_loop_nudge(struct mp_loop *loop)
{
	loop->nudged = true;
}

static bool has_work(const struct mp_loop *loop)
{
	return loop->tasks.len || loop->graves.len || loop->nudged || loop->jump.slept_ms ||
	       loop->jump.shifted_ms;
}

/* What the next turn would find; the set of descriptors that libuv watches can be watched itself.
 */
static bool is_ready(struct mp_loop *loop)
{
	struct pollfd io = {.fd = uv_backend_fd(&loop->uv), .events = POLLIN};
	struct mp_timer *first = mp_timers_first(&loop->timers);

	return has_work(loop) || (first && first->due_ms <= mp_loop_now_ms(loop)) ||
	       poll(&io, 1, 0) > 0;
}

static void loop_turn(struct mp_loop *loop, bool wait)
{
	mp_check(!loop->turning);
	loop->turning = true;
	loop->worked = false;
	set_alarm(loop);
	wait = wait && !has_work(loop) && !loop->clock.by_hand;
	uv_run(&loop->uv, wait ? UV_RUN_ONCE : UV_RUN_NOWAIT);
	run_timers(loop);
	run_tasks(loop);
	loop->nudged = false; /* what the hooks themselves change is for the next turn */
	run_hooks(loop);
	free_the_buried(loop);
	loop->now_is_stale = true;
	loop->turning = false;
}

bool mp_loop_turn(struct mp_loop *loop, bool wait)
{
	loop_turn(loop, wait);
	return loop->worked || is_ready(loop);
}

void mp_loop_run(struct mp_loop *loop)
{
	while (!loop->stopping)
		loop_turn(loop, true);
	loop->stopping = false;
}

void mp_loop_stop(struct mp_loop *loop)
{
	loop->stopping = true;
}

int mp_loop_get_fd(struct mp_loop *loop)
{
	return uv_backend_fd(&loop->uv);
}

int mp_loop_get_timeout(struct mp_loop *loop)
{
	set_alarm(loop); /* reads the clocks, so a jump may be seen here */
	return has_work(loop) ? 0 : uv_backend_timeout(&loop->uv);
}

struct uv_loop_s *mp_loop_get_uv(struct mp_loop *loop)
{
	return &loop->uv;
}

static void loop_settle(struct mp_loop *loop)
{
	while (mp_loop_turn(loop, false))
		;
}

void mp_loop_advance(struct mp_loop *loop, int64_t ms)
{
	int64_t end_ms = loop->clock.hand.mono_us / 1000 + ms;

	loop_settle(loop);
	for (;;) {
		struct mp_timer *first = mp_timers_first(&loop->timers);
		int64_t at_ms = loop->clock.hand.mono_us / 1000;
		int64_t next_ms = first && first->due_ms < end_ms ? first->due_ms : end_ms;

		if (next_ms > at_ms)
			mp_clock_advance(&loop->clock, next_ms - at_ms);
		loop_settle(loop);
		if (next_ms >= end_ms)
			return;
	}
}

void mp_loop_suspend(struct mp_loop *loop, int64_t ms)
{
	mp_clock_suspend(&loop->clock, ms);
	loop_settle(loop);
}

void mp_loop_shift_wall(struct mp_loop *loop, int64_t ms)
{
	mp_clock_shift_wall(&loop->clock, ms);
	loop_settle(loop);
}

/* --- life ----------------------------------------------------------------------------------- */

static void date_changed(uv_poll_t *watch, int status, int events)
{
	struct mp_loop *loop = watch->data;
	uint64_t expirations;

	(void)status;
	(void)events;
	/* ECANCELED is the news; the next reading of the clocks tells what happened. */
	if (read(loop->date_fd, &expirations, sizeof(expirations)) < 0 && errno == ECANCELED) {
		loop->now_is_stale = true;
		loop->looked_us = 0;
	}
}

/*
 * Without this an idle hub would learn of a wake-up only with its next event. A timer on the wall
 * clock that is cancelled when the date is set is also cancelled when the machine wakes.
 */
static void watch_date(struct mp_loop *loop)
{
	struct itimerspec never = {.it_value = {.tv_sec = INT_MAX}};

	loop->date_fd = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
	if (loop->date_fd < 0)
		return;
	if (timerfd_settime(loop->date_fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never,
			    NULL) < 0 ||
	    uv_poll_init(&loop->uv, &loop->date_watch, loop->date_fd) < 0) {
		close(loop->date_fd);
		loop->date_fd = -1;
		return;
	}
	loop->date_watch.data = loop;
	(void)uv_poll_start(&loop->date_watch, UV_READABLE, date_changed); /* fails when closing */
	uv_unref((uv_handle_t *)&loop->date_watch);
}

static int open_handles(struct mp_loop *loop)
{
	if (uv_loop_init(&loop->uv) < 0)
		return MCPOOL_ENOMEM;
	mp_check(uv_timer_init(&loop->uv, &loop->alarm) == 0);
	mp_check(uv_prepare_init(&loop->uv, &loop->nap) == 0);
	loop->nap.data = loop;
	/* It is always referenced: libuv does not wait where nothing is. */
	mp_check(uv_prepare_start(&loop->nap, about_to_wait) == 0);
	loop->date_fd = -1;
	if (!loop->clock.by_hand)
		watch_date(loop);
	return 0;
}

static int loop_make(struct mp_loop *loop, struct mp_loop **ret_loop)
{
	int r = open_handles(loop);

	if (r < 0) {
		mp_free(loop);
		return r;
	}
	loop->now_is_stale = true;
	mp_timers_init(&loop->timers);
	mp_list_init(&loop->tasks);
	mp_list_init(&loop->hooks);
	mp_list_init(&loop->jump_hooks);
	mp_list_init(&loop->graves);
	*ret_loop = loop;
	return 0;
}

int mp_loop_new(struct mp_loop **ret_loop)
{
	struct mp_loop *loop = mp_alloc(sizeof(*loop));

	mp_clock_init(&loop->clock);
	return loop_make(loop, ret_loop);
}

int mp_loop_new_by_hand(int64_t wall_ms, struct mp_loop **ret_loop)
{
	struct mp_loop *loop = mp_alloc(sizeof(*loop));

	mp_clock_init_by_hand(&loop->clock, wall_ms);
	return loop_make(loop, ret_loop);
}

static void must_be_closing(uv_handle_t *handle, void *u)
{
	(void)u;
	mp_check(uv_is_closing(handle)); /* or the loop would never end */
}

struct mp_loop *mp_loop_free(struct mp_loop *loop)
{
	if (!loop)
		return NULL;
	uv_close((uv_handle_t *)&loop->alarm, NULL);
	uv_close((uv_handle_t *)&loop->nap, NULL);
	if (loop->date_fd >= 0)
		uv_close((uv_handle_t *)&loop->date_watch, NULL);
	do {
		free_the_buried(loop);
		uv_walk(&loop->uv, must_be_closing, NULL);
	} while (uv_run(&loop->uv, UV_RUN_ONCE) || loop->graves.len);
	mp_check(uv_loop_close(&loop->uv) == 0);
	if (loop->date_fd >= 0)
		close(loop->date_fd);
	mp_timers_done(&loop->timers);
	mp_freelist_done(&loop->freelist);
	return mp_free(loop);
}
