/*
 * machine.c - state machines as values: what a step looks like in the trace, and a missing one.
 */
#include "base/machine.h"

#include <stdio.h>
#include <string.h>

/* Cells have the step as their first member and the machine's own type of action behind it. */
static const struct mp_step *get_step(const struct mp_machine *m, unsigned state, unsigned ev)
{
	size_t place = state * m->n_events + ev;

	return (const void *)((const char *)m->steps + place * m->step_size);
}

bool mp_machine_look_up(const struct mp_machine *m, unsigned state, unsigned ev, unsigned *ret_to)
{
	const struct mp_step *s = get_step(m, state, ev);

	*ret_to = s->how == MP_STEP_TO ? s->to : state;
	return s->how != MP_STEP_NONE;
}

void mp_machine_trace(const struct mp_machine *m, const struct mp_log *object, unsigned from,
		      unsigned to, unsigned ev)
{
	bool is_said = strncmp(object->object, m->name, strlen(m->name)) == 0;

	mp_log_trace(object, "%s%s%s -> %s on %s", is_said ? "" : m->name, is_said ? "" : " ",
		     m->states[from].word, m->states[to].word, m->events[ev].word);
}

void mp_machine_broken(const struct mp_machine *m, unsigned state, unsigned ev)
{
	char promise[128];

	snprintf(promise, sizeof(promise), "%s: no step from '%s' on '%s'", m->name,
		 state < m->n_states ? m->states[state].word : "?",
		 ev < m->n_events ? m->events[ev].word : "?");
	mp_check_failed(promise, __FILE__, __LINE__, __func__);
}
