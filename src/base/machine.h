/*
 * machine.h - state machines: one driver, typed, for all of them.
 *
 *	#define KEEPER_STATES(X)                 \
 *		X(DOWN, "down", "nothing runs")  \
 *		X(UP, "up", "calls may flow")
 *	#define KEEPER_EVENTS(X)                  \
 *		X(START, "start", "it is wanted") \
 *		X(EXITED, "exited", "the process ended")
 *	MP_MACHINE_ENUM(keeper_state, KEEPER_STATES);
 *	MP_MACHINE_ENUM(keeper_event, KEEPER_EVENTS);
 *
 *	MP_MACHINE_TYPES(keeper, struct keeper, enum keeper_event, KEEPER_STATES, KEEPER_EVENTS);
 *	static keeper_action spawn;
 *	MP_MACHINE_STEPS(keeper) = {
 *		[DOWN] = {[START] = MP_TO(UP, spawn), [EXITED] = MP_STAY},
 *		[UP] = {[EXITED] = MP_TO(DOWN, NULL)},
 *	};
 *	MP_MACHINE(keeper, struct keeper, .describe = keeper_describe)
 *
 * The object has a member `state`. keeper_advance(k, ev) looks up the cell of its state and the
 * event, traces and enters the next state, calls the action and follows the event that it returns.
 * After an action that returns MP_QUIET the object is not touched: the action may have freed it. An
 * empty cell is a bug and ends the process by name; events that may come late have cells that stay.
 */
#ifndef MP_MACHINE_H
#define MP_MACHINE_H

#include "base/base.h"
#include "base/log.h"

enum { MP_STEP_NONE, MP_STEP_TO, MP_STEP_STAY };

/* What a cell says besides its action, the same for all machines. */
struct mp_step {
	unsigned char how; /* MP_STEP_NONE: this cannot happen */
	unsigned char to;  /* of MP_STEP_TO */
};

/* A row of a list of states or events. */
struct mp_machine_word {
	const char *word, *meaning;
};

/* A machine as a value, for the table test and for tools/draw-states. */
struct mp_machine {
	const char *name;
	const struct mp_machine_word *states, *events;
	size_t n_states, n_events;
	const struct mp_step *steps; /* of the first cell */
	size_t step_size;            /* from one cell to the next */
	const unsigned *starts;      /* bits of the states it may start in; 0: the first one */
};

/* What an action returns when nothing follows from it. */
#define MP_QUIET 0xff

/* Cells: enter a state and act, act and stay, stay. The action of MP_TO may be NULL. */
#define MP_TO(state, action)                    \
	{                                       \
		{MP_STEP_TO, (state)}, (action) \
	}
#define MP_DO(action)                       \
	{                                   \
		{MP_STEP_STAY, 0}, (action) \
	}
#define MP_STAY MP_DO(NULL)

#define MP_MACHINE_NAME(name, word, meaning) name,
#define MP_MACHINE_WORD(name, word, meaning) {word, meaning},

/* The enum of a list of states or events; the name of their count may follow. */
#define MP_MACHINE_ENUM(tag, list, ...) enum tag { list(MP_MACHINE_NAME) __VA_ARGS__ }

/* The type of actions, NAME_action, and that of cells. */
#define MP_MACHINE_TYPES(name, type, event, states, events)                              \
	static const struct mp_machine_word name##_states[] = {states(MP_MACHINE_WORD)}; \
	static const struct mp_machine_word name##_events[] = {events(MP_MACHINE_WORD)}; \
	_Static_assert(MP_ARRAY_LEN(name##_events) < MP_QUIET, "too many events");       \
	typedef event name##_event;                                                      \
	typedef name##_event name##_action(type *);                                      \
	struct name##_step {                                                             \
		struct mp_step step;                                                     \
		name##_action *act;                                                      \
	}

#define MP_MACHINE_STEPS(name)                                                    \
	static const struct name##_step name##_steps[MP_ARRAY_LEN(name##_states)] \
						    [MP_ARRAY_LEN(name##_events)]

/*
 * The driver and the descriptor, mp_NAME_machine. All options may be left out:
 * .entered, fn(object, from): runs in the new state, before the action.
 * .settled, fn(object, from): runs when no event follows; only where no action frees the object.
 * .describe, fn(object, log): writes the object's name to log; runs only while tracing is on.
 * .is_silent: never traces, for processes that must not log.
 * .starts: bits of the states it may start in, where that is not the first state alone.
 */
#define MP_MACHINE(name, type, ...) MP_MACHINE_AS(static, name##_advance, name, type, __VA_ARGS__)
/* The same with a driver for other files, mp_NAME_advance(), which its header declares. */
#define MP_SHARED_MACHINE(name, type, ...) \
	MP_MACHINE_AS(, mp_##name##_advance, name, type, __VA_ARGS__)

#define MP_MACHINE_AS(linkage, advance, id, type, ...)                               \
	static const struct {                                                        \
		void (*entered)(type *, typeof(((type *)0)->state));                 \
		void (*settled)(type *, typeof(((type *)0)->state));                 \
		void (*describe)(const type *, struct mp_log *);                     \
		unsigned starts;                                                     \
		bool is_silent;                                                      \
	} id##_options = {__VA_ARGS__};                                              \
	extern const struct mp_machine mp_##id##_machine;                            \
	const struct mp_machine mp_##id##_machine = {                                \
		.name = #id,                                                         \
		.states = id##_states,                                               \
		.events = id##_events,                                               \
		.n_states = MP_ARRAY_LEN(id##_states),                               \
		.n_events = MP_ARRAY_LEN(id##_events),                               \
		.steps = &id##_steps[0][0].step,                                     \
		.step_size = sizeof(id##_steps[0][0]),                               \
		.starts = &id##_options.starts,                                      \
	};                                                                           \
	static MP_COLD void id##_trace(const type *object, unsigned to, unsigned ev) \
	{                                                                            \
		struct mp_log log = {#id};                                           \
                                                                                     \
		if (id##_options.describe)                                           \
			id##_options.describe(object, &log);                         \
		mp_machine_trace(&mp_##id##_machine, &log, object->state, to, ev);   \
	}                                                                            \
	linkage void advance(type *object, id##_event ev)                            \
	{                                                                            \
		typeof(object->state) first = object->state;                         \
                                                                                     \
		while (ev != MP_QUIET) {                                             \
			typeof(object->state) from = object->state;                  \
			const struct id##_step *s = &id##_steps[from][ev];           \
                                                                                     \
			if (MP_UNLIKELY(s->step.how == MP_STEP_NONE))                \
				mp_machine_broken(&mp_##id##_machine, from, ev);     \
			if (s->step.how == MP_STEP_TO) {                             \
				if (!id##_options.is_silent &&                       \
				    MP_UNLIKELY(mp_log_wants(MP_LEVEL_TRC)))         \
					id##_trace(object, s->step.to, ev);          \
				object->state = s->step.to;                          \
				if (id##_options.entered)                            \
					id##_options.entered(object, from);          \
			}                                                            \
			ev = s->act ? s->act(object) : MP_QUIET;                     \
		}                                                                    \
		if (id##_options.settled)                                            \
			id##_options.settled(object, first);                         \
	}

/* Where the event leads from the state; false: that cannot happen. */
bool mp_machine_look_up(const struct mp_machine *m, unsigned state, unsigned ev, unsigned *ret_to);
void mp_machine_trace(const struct mp_machine *m, const struct mp_log *object, unsigned from,
		      unsigned to, unsigned ev);
_Noreturn void mp_machine_broken(const struct mp_machine *m, unsigned state, unsigned ev) MP_COLD;

#endif
