/*
 * scope.h - state shared by sessions with the same workspace and filters: the gate, the index, and
 * the sessions that are told when it changes.
 */
#ifndef MP_SCOPE_H
#define MP_SCOPE_H

#include "base/base.h"
#include "base/list.h"
#include "pool/gate.h"
#include "session/index.h"
#include "session/session.h"

struct mp_scope {
	struct mp_link link; /* in the scopes of all sessions */
	unsigned refs;
	struct mp_sessions *sessions;
	struct mp_workspace *workspace;
	mp_id session;                      /* whose it is alone; 0: everybody's */
	struct mp_bind_list servers, tools; /* of the narrowing; owned */
	int naming;                         /* enum mp_naming; -1: as configured */
	struct mp_gate *gate;               /* NULL: it is open */
	bool *only;                         /* whom the gate may start; owned; NULL: all */
	struct mp_index *index;             /* NULL: not looked yet */
	struct mp_list users;               /* sessions */
	struct mp_list waiting;             /* requests, by wait_link */
	struct mp_timer timer;              /* of those that wait longer than for the gate */
	struct mp_task task;                /* look again */
};

/* For a session of this workspace: an existing one, or a new one. */
struct mp_scope *mp_scope_get(struct mp_sessions *l, struct mp_workspace *v,
			      const struct mp_narrowing *n, mp_id session);
struct mp_scope *mp_scope_unref(struct mp_scope *s); /* accepts NULL, returns NULL */
/* The workspace has private servers now, or none any more: its sessions get the scopes they need.
 */
void mp_scope_divide(struct mp_scope *s);
/* Something is different: look, soon, and tell those who care. */
void mp_scope_touch(struct mp_scope *s);
/* What there is now; borrowed. NULL: there is no memory for it. */
struct mp_index *mp_scope_get_index(struct mp_scope *s);
/* Have all answered that are to be waited for? patiently: also those that nobody remembers. */
bool mp_scope_is_ready(struct mp_scope *s, bool patiently);
enum mp_naming mp_scope_get_naming(const struct mp_scope *s);
/* Does this server belong to what the session wants to see? */
bool mp_scope_shows(const struct mp_scope *s, const char *server);

/* subscriptions.c: the session hears that lists of these kinds changed. */
void mp_session_tell_changed(struct mp_session *s, unsigned kinds);
/* subscriptions.c: servers that were gone meanwhile know nothing of them. */
void mp_session_renew_subscriptions(struct mp_session *s);

#endif
