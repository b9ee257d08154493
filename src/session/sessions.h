/*
 * sessions.h - all sessions of a hub, and what they share.
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

struct mp_sessions_options {
	struct mp_pool *pool;         /* borrowed */
	struct mp_board *board;       /* the pool's; borrowed */
	const struct mp_identity *me; /* who agents are told we are; borrowed */
	struct mp_db *db;             /* pins; borrowed, may be NULL */
	void (*on_session)(void *u);  /* before each new session; may be NULL */
	void *u;
};

struct mp_sessions *mp_sessions_new(const struct mp_sessions_options *o);
/* Sessions must be gone. Accepts NULL, returns NULL. */
struct mp_sessions *mp_sessions_free(struct mp_sessions *l);
size_t mp_sessions_count(const struct mp_sessions *l); /* sessions */
void mp_sessions_walk(struct mp_sessions *l, void (*fn)(void *u, const struct mp_session_info *s),
		      void *u);
/* This workspace was loaded again: its sessions may see something else. */
void mp_sessions_note_workspace(struct mp_sessions *l, const struct mp_workspace *v);
/*
 * A control peer has a call open: a hub that drains waits for it. False: it drains
 * already, and takes no more.
 */
bool mp_sessions_begin_call(struct mp_sessions *l) MP_MUST;
void mp_sessions_end_call(struct mp_sessions *l);
/* The hub stops: requests that come from now on are refused; fn when none is open any more. */
void mp_sessions_drain(struct mp_sessions *l, void (*fn)(void *u), void *u);

/* --- for the files of session/ alone --------------------------------------------------------- */

/* Of the request that is being handed to a server. */
struct mp_request_texts {
	struct mp_buf params, meta;
	struct mp_buf value; /* of the member of params that is said differently */
};

struct mp_sessions {
	struct mp_sessions_options o;
	struct mp_loop *loop;
	struct mp_list list;   /* of sessions; borrowed */
	size_t stdio_sessions; /* of these; the others came over HTTP */
	struct mp_list scopes; /* owned by those who use them */
	struct mp_map noted;   /* see mp_held_note(); values owned */
	struct mp_map told;    /* public names of which it was told that they collide */
	struct mp_observer observer;
	struct mp_request_state_key state_key;
	uint64_t first_agent_request; /* ids of questions begin behind it, elsewhere in each life of
				    a hub */
	mp_id last_request;           /* ids of requests, of all sessions */
	struct mp_list parked; /* requests that wait for the agent to come back, oldest first */
	struct mp_timer parked_timer;
	struct mp_tape tape, batch_tape; /* of the message on hand */
	struct mp_buf out, scratch;      /* the message being written, and a part of it */
	struct mp_request_texts texts;
	struct mp_buf said; /* the capabilities that were read last, ... */
	unsigned said_can;  /* ... and what they are */
	size_t open;        /* requests to be answered */
	bool is_draining;
	void (*drained)(void *u);
	void *drained_u;
	struct mp_task drained_task;
};

/* The last request may be over. */
void mp_sessions_look_if_drained(struct mp_sessions *l);
/* A message is out: one large one does not cost for ever. */
void mp_sessions_tidy(struct mp_sessions *l);
/* scope.c: servers' lists may differ, or they are other servers now; u: the sessions. */
void mp_scope_note_changes(const struct mp_change *changes, size_t n, void *u);
/* input_required.c */
void mp_session_expire_parked(struct mp_sessions *l);

#endif
