/*
 * sessions.h - all sessions of a hub, and their shared state.
 */
#ifndef MP_SESSIONS_H
#define MP_SESSIONS_H

#include "base/base.h"
#include "base/buf.h"
#include "base/dirty.h"
#include "base/list.h"
#include "base/loop.h"
#include "base/map.h"
#include "json/tape.h"
#include "pool/pool.h"
#include "rpc/era.h"
#include "session/request_state.h"
#include "session/session.h"

struct mp_account;

struct mp_sessions_options {
	struct mp_pool *pool;         /* borrowed */
	struct mp_board *board;       /* the pool's; borrowed */
	const struct mp_identity *me; /* our identity for agents; borrowed */
	struct mp_db *db;             /* pins; borrowed, may be NULL */
	void (*on_session)(void *u);  /* before each new session; may be NULL */
	/* The account of a server; NULL: it uses no login. May be NULL. */
	struct mp_account *(*find_account)(void *u, const char *server);
	void *u;
};

/* A person who answers servers for agents that cannot be asked (setting dashboard.answers). */
struct mp_pool_server_request;
struct mp_page_answerer {
	/*
	 * True: the request is shown, and answered by mp_pool_client_reply() or
	 * mp_pool_client_decline().
	 */
	bool (*ask)(void *u, const struct mp_pool_server_request *rq);
	/* The server does not want the answer any more; ignored for requests of others. */
	void (*withdraw)(void *u, mp_id request);
	void *u;
};

struct mp_sessions *mp_sessions_new(const struct mp_sessions_options *o);
/* NULL: there is none. Copied. */
void mp_sessions_set_page_answerer(struct mp_sessions *l, const struct mp_page_answerer *pages);
/* Free the sessions first. Accepts NULL, returns NULL. */
struct mp_sessions *mp_sessions_free(struct mp_sessions *l);
size_t mp_sessions_count(const struct mp_sessions *l); /* sessions */
void mp_sessions_walk(struct mp_sessions *l, void (*fn)(void *u, const struct mp_session_info *s),
		      void *u);
/* NULL: there is no such session. */
struct mp_workspace *mp_sessions_get_workspace(const struct mp_sessions *l, mp_id session);
/* Is there this session, and is it of this user? */
bool mp_sessions_has(const struct mp_sessions *l, mp_id session, const char *principal);
/* The oldest session of this agent's process, except that of the bridge but_pid; 0: none. */
mp_id mp_sessions_find_by_client(const struct mp_sessions *l, int client_pid, int but_pid);
/* This workspace was reloaded or switched: its sessions may see other servers. */
void mp_sessions_note_workspace(struct mp_sessions *l, const struct mp_workspace *v);
/*
 * A control peer has an open call, or a bridge has not confirmed yet that the hub shuts down: a
 * draining hub waits for it. False: the hub drains already and accepts no more.
 */
bool mp_sessions_begin_call(struct mp_sessions *l) MP_MUST;
void mp_sessions_end_call(struct mp_sessions *l);
/* The hub stops: later requests are refused; fn runs when no request is open. */
void mp_sessions_drain(struct mp_sessions *l, void (*fn)(void *u), void *u);

/* --- private to session/ --------------------------------------------------------------------- */

/* Of the request that is being forwarded. */
struct mp_request_texts {
	struct mp_buf params, meta;
	struct mp_buf value; /* of the member of params that is replaced */
};

struct mp_sessions {
	struct mp_sessions_options o;
	struct mp_page_answerer pages; /* ask NULL: there is none */
	struct mp_loop *loop;
	struct mp_list list;   /* of sessions; borrowed */
	size_t stdio_sessions; /* part of them; the others use HTTP */
	struct mp_list scopes; /* owned by their sessions */
	struct mp_map noted;   /* see mp_held_note(); values owned */
	struct mp_map told;    /* public names whose collision was logged */
	struct mp_observer observer;
	struct mp_request_state_key state_key;
	uint64_t first_agent_request; /* ids start after it; different in each run */
	mp_id last_request;           /* last request id, of all sessions */
	struct mp_list parked;        /* requests that wait for the agent's retry, oldest first */
	struct mp_timer parked_timer;
	struct mp_tape tape, batch_tape; /* of the current message */
	struct mp_buf out, scratch;      /* the message being written, and a part of it */
	struct mp_request_texts texts;
	struct mp_trace_texts trace; /* headers of the current message */
	struct mp_buf said;          /* the last parsed capabilities, ... */
	unsigned said_can;           /* ... and their value */
	size_t open;                 /* open requests */
	bool told_unstored;          /* a result could not be stored, and that was logged */
	bool is_draining;
	void (*drained)(void *u);
	void *drained_u;
	struct mp_task drained_task;
};

/* Checks whether the last request has ended. */
void mp_sessions_look_if_drained(struct mp_sessions *l);
/* A message was sent: shrink large buffers. */
void mp_sessions_tidy(struct mp_sessions *l);
/* scope.c: servers' lists may have changed, or servers were replaced; u: the sessions. */
void mp_scope_note_changes(const struct mp_change *changes, size_t n, void *u);
/* input_required.c */
void mp_session_expire_parked(struct mp_sessions *l);

#endif
