/*
 * test_machines.c - the tables of all state machines: targets are valid, every state can be
 * reached, every event has a use, names are told apart. What actions do is tested with each file.
 */
#include "test.h"

#include "draw_states.h"

#include <stdlib.h>

/* Says of which machine and row a check failed. */
static bool holds(bool ok, const struct mp_machine *m, const char *row, const char *what, int line)
{
	char words[160];

	snprintf(words, sizeof(words), "%s: '%s' %s", m->name, row, what);
	return test_true(ok, words, __FILE__, line);
}

#define HOLDS(ok, m, row, what)                                 \
	do {                                                    \
		if (!holds((ok), (m), (row), (what), __LINE__)) \
			return;                                 \
	} while (0)

TEST(every_target_is_a_state)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(all_machines); i++) {
		const struct mp_machine *m = all_machines[i];

		HOLDS(m->n_states <= 8 * sizeof(*m->starts), m, "starts", "has a bit for each");
		for (unsigned s = 0; s < m->n_states; s++)
			for (unsigned ev = 0; ev < m->n_events; ev++) {
				unsigned to;

				(void)mp_machine_look_up(m, s, ev, &to);
				HOLDS(to < m->n_states, m, m->states[s].word, "leads to a state");
			}
	}
}

/* The states that those in `from` lead to, as bits. */
static unsigned follow(const struct mp_machine *m, unsigned from)
{
	unsigned found = from;

	for (unsigned s = 0; s < m->n_states; s++)
		for (unsigned ev = 0; ev < m->n_events; ev++) {
			unsigned to;

			if ((from >> s & 1) && mp_machine_look_up(m, s, ev, &to))
				found |= 1u << to;
		}
	return found;
}

TEST(every_state_can_be_reached)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(all_machines); i++) {
		const struct mp_machine *m = all_machines[i];
		unsigned reached = *m->starts ? *m->starts : 1;

		for (unsigned s = 0; s < m->n_states; s++)
			reached = follow(m, reached);
		for (unsigned s = 0; s < m->n_states; s++)
			HOLDS(reached >> s & 1, m, m->states[s].word, "can be reached");
	}
}

TEST(every_event_has_a_cell)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(all_machines); i++) {
		const struct mp_machine *m = all_machines[i];

		for (unsigned ev = 0; ev < m->n_events; ev++) {
			bool found = false;

			for (unsigned s = 0; s < m->n_states; s++) {
				unsigned to;

				found = found || mp_machine_look_up(m, s, ev, &to);
			}
			HOLDS(found, m, m->events[ev].word, "has a cell");
		}
	}
}

static bool are_told_apart(const struct mp_machine *m, const struct mp_machine_word *words,
			   size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!holds(words[i].word[0] && words[i].meaning[0], m, words[i].word,
			   "has a name and a meaning", __LINE__))
			return false;
		for (size_t j = 0; j < i; j++)
			if (!holds(strcmp(words[i].word, words[j].word) != 0, m, words[i].word,
				   "is named once", __LINE__))
				return false;
	}
	return true;
}

TEST(names_are_told_apart)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(all_machines); i++) {
		const struct mp_machine *m = all_machines[i];

		CHECK(are_told_apart(m, m->states, m->n_states));
		CHECK(are_told_apart(m, m->events, m->n_events));
		for (size_t j = 0; j < i; j++)
			HOLDS(strcmp(m->name, all_machines[j]->name) != 0, m, m->name, "is one");
	}
}

/* `tools/draw-states` writes it. */
TEST(the_page_of_diagrams_is_current)
{
	char *drawn = NULL, *stored;
	size_t n_drawn = 0, n_stored = 0;
	FILE *out = open_memstream(&drawn, &n_drawn);
	bool same;

	CHECK(out != NULL);
	draw_all(out);
	fclose(out);
	stored = test_read_file("../doc/states.md", &n_stored);
	same = stored && n_stored == n_drawn && memcmp(stored, drawn, n_drawn) == 0;
	free(stored);
	free(drawn);
	CHECK(same);
}
