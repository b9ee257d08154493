/*
 * scope.h - state shared by sessions with the same workspace and filters: the gate, the index, and
 * the sessions to notify of changes.
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
	mp_id session;                      /* its only session, if private; 0: shared */
	struct mp_bind_list servers, tools; /* the sessions' filters; owned */
	int naming;                         /* enum mp_naming; -1: as configured */
	struct mp_gate *gate;               /* NULL: it is open */
	bool *only;                         /* servers the gate may start; owned; NULL: all */
	struct mp_index *index;             /* NULL: not made yet */
	struct mp_list users;               /* sessions */
	size_t n_servers;                   /* that they see; mp_scopes_count_users() */
	struct mp_list waiting;             /* requests, by wait_link */
	struct mp_timer timer;              /* for requests that wait longer than for the gate */
	struct mp_task task;                /* checks again */
};

/* For a session of this workspace: an existing one, or a new one. */
struct mp_scope *mp_scope_get(struct mp_sessions *l, struct mp_workspace *v,
			      const struct mp_narrowing *n, mp_id session);
struct mp_scope *mp_scope_unref(struct mp_scope *s); /* accepts NULL, returns NULL */
/*
 * The workspace got private servers or lost its last, or a session switched servers for itself:
 * moves sessions to their scopes.
 */
void mp_scope_divide(struct mp_scope *s);
/* Something changed: check soon, and notify sessions. */
void mp_scope_touch(struct mp_scope *s);
/* The current index; borrowed. NULL: no memory. */
struct mp_index *mp_scope_get_index(struct mp_scope *s);
/* Have all required servers answered? patiently: also those without a stored catalog. */
bool mp_scope_is_ready(struct mp_scope *s, bool patiently);
/* Is a server of which the lists are unknown being started, and is its name part of this one? */
bool mp_scope_is_starting(struct mp_scope *s, struct mp_str name);
/* How long a request waits for lists that are unknown, at most (startup.maxWaitMs). */
int64_t mp_scope_get_max_wait(const struct mp_scope *s);
enum mp_naming mp_scope_get_naming(const struct mp_scope *s);
/* Does the session's filter include this server? */
bool mp_scope_shows(const struct mp_scope *s, const char *server);

/* Counts the sessions of each server (pool/usage.h), and the servers of each session. */
void mp_scopes_count_users(struct mp_sessions *l);

/* subscriptions.c: notifies the session of changed lists of these kinds. */
void mp_session_tell_changed(struct mp_session *s, unsigned kinds);
/* subscriptions.c: restarted servers have no subscriptions; subscribes again. */
void mp_session_renew_subscriptions(struct mp_session *s);

#endif
