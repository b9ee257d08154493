/* draw_states.h - all state machines as a Markdown page; doc/states.md is the result. */
#ifndef DRAW_STATES_H
#define DRAW_STATES_H

#include <stdio.h>

#include "base/machine.h"

#define M(name) extern const struct mp_machine mp_##name##_machine;
#include "machines.def"
#undef M

static const struct mp_machine *const all_machines[] = {
#define M(name) &mp_##name##_machine,
#include "machines.def"
#undef M
};

/* Names with blanks cannot be ids in a diagram. */
static inline void draw_id(FILE *out, const char *word)
{
	for (; *word; word++)
		fputc(*word == ' ' ? '_' : *word, out);
}

static inline bool draw_is_start(const struct mp_machine *m, unsigned state)
{
	return *m->starts ? (*m->starts >> state & 1) != 0 : state == 0;
}

/* One arrow for all events that lead from one state to another. */
static inline void draw_arrow(FILE *out, const struct mp_machine *m, unsigned from, unsigned to)
{
	const char *before = ": ";

	for (unsigned ev = 0; ev < m->n_events; ev++) {
		unsigned target;

		if (!mp_machine_look_up(m, from, ev, &target) || target != to)
			continue;
		if (before[0] == ':') {
			fputs("    ", out);
			draw_id(out, m->states[from].word);
			fputs(" --> ", out);
			draw_id(out, m->states[to].word);
		}
		fprintf(out, "%s%s", before, m->events[ev].word);
		before = ", ";
	}
	if (before[0] == ',')
		fputc('\n', out);
}

static inline void draw_diagram(FILE *out, const struct mp_machine *m)
{
	fprintf(out, "```mermaid\nstateDiagram-v2\n");
	for (unsigned s = 0; s < m->n_states; s++) {
		if (!draw_is_start(m, s))
			continue;
		fputs("    [*] --> ", out);
		draw_id(out, m->states[s].word);
		fputc('\n', out);
	}
	for (unsigned from = 0; from < m->n_states; from++)
		for (unsigned to = 0; to < m->n_states; to++)
			if (from != to)
				draw_arrow(out, m, from, to);
	fprintf(out, "```\n\n");
}

/* What an event does where it does not lead elsewhere: it is handled, or cannot come. */
static inline void draw_stays(FILE *out, const struct mp_machine *m, unsigned state)
{
	const char *before = "";

	for (unsigned ev = 0; ev < m->n_events; ev++) {
		unsigned to;

		if (!mp_machine_look_up(m, state, ev, &to) || to != state)
			continue;
		fprintf(out, "%s%s", before, m->events[ev].word);
		before = ", ";
	}
}

static inline void draw_machine(FILE *out, const struct mp_machine *m)
{
	fprintf(out, "## %s\n\n", m->name);
	draw_diagram(out, m);
	fprintf(out, "| state | meaning | stays on |\n| --- | --- | --- |\n");
	for (unsigned s = 0; s < m->n_states; s++) {
		fprintf(out, "| %s | %s | ", m->states[s].word, m->states[s].meaning);
		draw_stays(out, m, s);
		fprintf(out, " |\n");
	}
	fprintf(out, "\n| event | meaning |\n| --- | --- |\n");
	for (unsigned ev = 0; ev < m->n_events; ev++)
		fprintf(out, "| %s | %s |\n", m->events[ev].word, m->events[ev].meaning);
}

static inline void draw_all(FILE *out)
{
	fprintf(out, "# State machines\n\n"
		     "Drawn by `tools/draw-states` from the tables in `src/`; do not edit.\n"
		     "An event that a state does not name cannot happen there.\n");
	for (size_t i = 0; i < MP_ARRAY_LEN(all_machines); i++) {
		fputc('\n', out);
		draw_machine(out, all_machines[i]);
	}
}

#endif
