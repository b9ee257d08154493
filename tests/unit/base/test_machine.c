/* test_machine.c - the driver of all state machines, with a lamp as the machine. */
#include "test.h"

#include <stdio.h>

#include "base/machine.h"

#define LAMP_STATES(X)              \
	X(OFF, "off", "it is dark") \
	X(ON, "on", "it is light")  \
	X(BROKEN, "broken", "it stays dark")

#define LAMP_EVENTS(X)                              \
	X(PRESS, "press", "the switch is pressed")  \
	X(HOLD, "hold", "the switch is held")       \
	X(BLOW, "blow", "the bulb burns out")       \
	X(REPLACE, "replace", "there is a new one") \
	X(DROP, "drop", "the lamp is freed by its action")

MP_MACHINE_ENUM(lamp_state, LAMP_STATES);
MP_MACHINE_ENUM(lamp_event, LAMP_EVENTS);

struct lamp {
	enum lamp_state state;
	bool is_weak; /* burns out when it is switched on */
	char said[128];
};

MP_MACHINE_TYPES(lamp, struct lamp, enum lamp_event, LAMP_STATES, LAMP_EVENTS);
static lamp_action shine, darken, count, give_up;

MP_MACHINE_STEPS(lamp) = {
	[OFF] = {[PRESS] = MP_TO(ON, shine), [HOLD] = MP_DO(count)},
	[ON] = {[PRESS] = MP_TO(OFF, darken),
		[HOLD] = MP_STAY,
		[BLOW] = MP_TO(BROKEN, NULL),
		[DROP] = MP_DO(give_up)},
	[BROKEN] = {[PRESS] = MP_STAY, [REPLACE] = MP_TO(OFF, NULL)},
};

static void say(struct lamp *l, const char *word)
{
	size_t len = strlen(l->said);

	snprintf(l->said + len, sizeof(l->said) - len, "%s%s", len ? " " : "", word);
}

static void lamp_entered(struct lamp *l, enum lamp_state from)
{
	say(l, lamp_states[from].word);
	say(l, "->");
	say(l, lamp_states[l->state].word);
}

static unsigned described;

static void lamp_describe(const struct lamp *l, struct mp_log *ret_log)
{
	described++;
	mp_log_init(ret_log, "desk#%d", l->is_weak ? 1 : 2);
}

MP_MACHINE(lamp, struct lamp, .entered = lamp_entered, .describe = lamp_describe)

static enum lamp_event shine(struct lamp *l)
{
	say(l, "shine");
	return l->is_weak ? BLOW : MP_QUIET;
}

static enum lamp_event darken(struct lamp *l)
{
	say(l, "darken");
	return MP_QUIET;
}

static enum lamp_event count(struct lamp *l)
{
	say(l, "count");
	return MP_QUIET;
}

/* As if it were freed: whatever is written to it now would be seen. */
static enum lamp_event give_up(struct lamp *l)
{
	memset(l, 0x5a, sizeof(*l));
	return MP_QUIET;
}

/* --- steps ----------------------------------------------------------------------------------- */

TEST(a_state_is_entered_before_its_action_runs)
{
	struct lamp l = {.state = OFF};

	lamp_advance(&l, PRESS);
	CHECK_EQ(l.state, ON);
	CHECK_TEXT(l.said, "off -> on shine");
	lamp_advance(&l, PRESS);
	CHECK_TEXT(l.said, "off -> on shine on -> off darken");
}

TEST(an_action_may_stay_and_a_cell_may_be_for_nothing)
{
	struct lamp l = {.state = OFF};

	lamp_advance(&l, HOLD);
	CHECK_EQ(l.state, OFF);
	CHECK_TEXT(l.said, "count");
	l.state = ON;
	lamp_advance(&l, HOLD);
	CHECK_EQ(l.state, ON);
	CHECK_TEXT(l.said, "count");
	lamp_advance(&l, MP_QUIET);
	CHECK_TEXT(l.said, "count");
}

TEST(the_event_that_an_action_returns_is_followed)
{
	struct lamp l = {.state = OFF, .is_weak = true};

	lamp_advance(&l, PRESS);
	CHECK_EQ(l.state, BROKEN);
	CHECK_TEXT(l.said, "off -> on shine on -> broken");
}

TEST(an_object_is_not_touched_after_its_last_action)
{
	struct lamp l = {.state = ON}, gone;

	memset(&gone, 0x5a, sizeof(gone));
	lamp_advance(&l, DROP);
	CHECK(memcmp(&l, &gone, sizeof(l)) == 0);
}

static void press_a_broken_one(void)
{
	struct lamp l = {.state = BROKEN};

	lamp_advance(&l, BLOW);
}

static void press_a_broken_one_twice(void)
{
	struct lamp l = {.state = BROKEN};

	lamp_advance(&l, PRESS);
	lamp_advance(&l, PRESS);
}

TEST(an_empty_cell_stops_the_process)
{
	CHECK(test_stops(press_a_broken_one));
	CHECK(!test_stops(press_a_broken_one_twice));
}

/* --- a machine that settles and does not trace ----------------------------------------------- */

struct door {
	enum lamp_state state;
	unsigned settled;
	enum lamp_state from;
};

static void door_settled(struct door *d, enum lamp_state from)
{
	d->settled++;
	d->from = from;
}

MP_MACHINE_TYPES(door, struct door, enum lamp_event, LAMP_STATES, LAMP_EVENTS);
static door_action slam;
MP_MACHINE_STEPS(door) = {
	[OFF] = {[PRESS] = MP_TO(ON, slam), [HOLD] = MP_STAY},
	[ON] = {[BLOW] = MP_TO(BROKEN, NULL)},
};
MP_MACHINE(door, struct door, .settled = door_settled, .is_silent = true)

static enum lamp_event slam(struct door *d)
{
	return d->settled ? MP_QUIET : BLOW;
}

TEST(settled_runs_once_after_all_steps)
{
	struct door d = {.state = OFF};

	door_advance(&d, PRESS);
	CHECK_EQ(d.state, BROKEN);
	CHECK_EQ(d.settled, 1);
	CHECK_EQ(d.from, OFF);
	d.state = OFF;
	door_advance(&d, HOLD);
	CHECK_EQ(d.settled, 2);
}

/* --- the trace ------------------------------------------------------------------------------- */

static char lines[256];

static void keep_line(const struct mp_log_line *line, void *u)
{
	size_t len = strlen(lines);

	(void)u;
	snprintf(lines + len, sizeof(lines) - len, "%s: %s\n", line->object, line->text);
}

static void stop_tracing(int *unused)
{
	(void)unused;
	mp_log_set_sink(NULL, NULL);
	mp_log_set_level(MP_LEVEL_INF);
}

TEST(steps_are_traced_with_the_name_of_their_object)
{
	MP_CLEANUP(stop_tracing) int scope = 0;
	struct lamp weak = {.state = OFF, .is_weak = true};
	struct door silent = {.state = OFF};

	(void)scope;
	lines[0] = '\0';
	described = 0;
	mp_log_set_sink(keep_line, NULL);
	mp_log_set_level(MP_LEVEL_VRB);
	lamp_advance(&(struct lamp){.state = OFF}, PRESS);
	CHECK_EQ(described, 0);
	mp_log_set_level(MP_LEVEL_TRC);
	lamp_advance(&weak, PRESS);
	door_advance(&silent, PRESS);
	CHECK_EQ(described, 2);
	CHECK(test_is_faulty() || strcmp(lines, "desk#1: lamp off -> on on press\n"
						"desk#1: lamp on -> broken on blow\n") == 0);
}

/* --- as a value ------------------------------------------------------------------------------ */

TEST(a_machine_can_be_looked_up)
{
	unsigned to = 99;

	CHECK(mp_machine_look_up(&mp_lamp_machine, OFF, PRESS, &to));
	CHECK_EQ(to, ON);
	CHECK(mp_machine_look_up(&mp_lamp_machine, OFF, HOLD, &to));
	CHECK_EQ(to, OFF);
	CHECK(!mp_machine_look_up(&mp_lamp_machine, BROKEN, BLOW, &to));
	CHECK_EQ(mp_lamp_machine.n_states, 3);
	CHECK_EQ(mp_lamp_machine.n_events, 5);
	CHECK_TEXT(mp_lamp_machine.states[BROKEN].meaning, "it stays dark");
	CHECK_TEXT(mp_lamp_machine.events[BLOW].word, "blow");
	CHECK(!mp_machine_look_up(&mp_door_machine, BROKEN, PRESS, &to)); /* a row with no cell */
}
