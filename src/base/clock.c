/*
 * clock.c - the time of this turn; tests move it by hand.
 * A clock moved by hand is read like the real one: mp_clock_update() compares with the last reading
 * it gave, so tests walk the same path as a laptop that wakes up.
 */
#include "base/clock.h"

#include <time.h>

/* A smaller difference is measuring noise or NTP slewing and is ignored. */
enum { NOISE_US = 1000 * 1000 };

static int64_t read_us(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static struct mp_clock_reading read_all(void)
{
	return (struct mp_clock_reading){
		.mono_us = read_us(CLOCK_MONOTONIC),
		.boot_us = read_us(CLOCK_BOOTTIME),
		.wall_us = read_us(CLOCK_REALTIME),
	};
}

void mp_clock_init(struct mp_clock *c)
{
	*c = (struct mp_clock){.now = read_all()};
}

void mp_clock_init_by_hand(struct mp_clock *c, int64_t wall_ms)
{
	struct mp_clock_reading start = {.wall_us = wall_ms * 1000};

	*c = (struct mp_clock){.now = start, .hand = start, .by_hand = true};
}

int64_t mp_clock_read_us(const struct mp_clock *c)
{
	return c->by_hand ? c->hand.mono_us : read_us(CLOCK_MONOTONIC);
}

void mp_clock_peek(struct mp_clock *c)
{
	int64_t passed_us = mp_clock_read_us(c) - c->now.mono_us;

	c->now.mono_us += passed_us;
	c->now.boot_us += passed_us;
	c->now.wall_us += passed_us;
}

static int64_t beyond_noise_ms(int64_t us, int64_t elapsed_us)
{
	/* The wall clock may be slewed by 500 parts in a million, so long gaps earn more slack. */
	int64_t noise = NOISE_US + elapsed_us / 1000;

	return us > noise || us < -noise ? us / 1000 : 0;
}

struct mp_clock_jump mp_clock_compare(const struct mp_clock_reading *before,
				      const struct mp_clock_reading *after)
{
	int64_t mono = after->mono_us - before->mono_us;
	int64_t boot = after->boot_us - before->boot_us;
	int64_t wall = after->wall_us - before->wall_us;

	return (struct mp_clock_jump){
		.slept_ms = beyond_noise_ms(boot - mono, mono),
		.shifted_ms = beyond_noise_ms(wall - boot, boot),
	};
}

bool mp_clock_update(struct mp_clock *c, struct mp_clock_jump *ret_jump)
{
	struct mp_clock_reading before = c->now;

	c->now = c->by_hand ? c->hand : read_all();
	*ret_jump = mp_clock_compare(&before, &c->now);
	return ret_jump->slept_ms || ret_jump->shifted_ms;
}

void mp_clock_advance(struct mp_clock *c, int64_t ms)
{
	mp_check(c->by_hand && ms >= 0);
	c->hand.mono_us += ms * 1000;
	c->hand.boot_us += ms * 1000;
	c->hand.wall_us += ms * 1000;
}

void mp_clock_suspend(struct mp_clock *c, int64_t ms)
{
	mp_check(c->by_hand && ms >= 0);
	c->hand.boot_us += ms * 1000;
	c->hand.wall_us += ms * 1000;
}

void mp_clock_shift_wall(struct mp_clock *c, int64_t ms)
{
	mp_check(c->by_hand);
	c->hand.wall_us += ms * 1000;
}
