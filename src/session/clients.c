/*
 * clients.c - known deviations of agents from the protocol.
 */
#include "session/clients.h"

#include "base/base.h"

static const struct mp_client_habit habits[] = {
	{"codex", true, 0},
	{"cursor", false, 80},
	{"gemini-cli", true, 512},
	{"windsurf", true, 100},
	{"Visual Studio Code", false, 128},
	{"mcporter", true, 0},
	{"", false, 0},
};

const struct mp_client_habit *mp_client_find_habit(struct mp_str name)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(habits); i++) {
		struct mp_str known = mp_str_of(habits[i].name);

		if (name.len >= known.len &&
		    mp_str_eq_nocase((struct mp_str){name.p, known.len}, known))
			return &habits[i];
	}
	return &habits[MP_ARRAY_LEN(habits) - 1];
}
