/*
 * nearest_session.c - the session of the agent that a process was started by.
 */
#include "face/nearest_session.h"

#include "process/tree.h"
#include "session/sessions.h"

enum { MAX_GENERATIONS = 64 };

mp_id mp_nearest_session_find(const struct mp_sessions *sessions, int pid)
{
	struct mp_proc p = {.parent = pid};
	mp_id found = 0;

	for (int i = 0; i < MAX_GENERATIONS && !found; i++) {
		if (p.parent <= 1 || mp_tree_read(p.parent, &p) < 0)
			return 0;
		found = mp_sessions_find_by_client(sessions, p.parent, pid);
	}
	return found;
}
