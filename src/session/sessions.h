/*
 * sessions.h - all sessions of a hub, and what they share: lists, stored results, seals.
 */
#ifndef MP_SESSIONS_H
#define MP_SESSIONS_H

#include "base/base.h"
#include "pool/pool.h"
#include "rpc/era.h"
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
/* This workspace was loaded anew: whoever looks through it may see something else. */
void mp_sessions_note_workspace(struct mp_sessions *l, const struct mp_workspace *v);
/*
 * Somebody beside the sessions has a call open: a hub that drains waits for it. False: it does so
 * already, and takes no more.
 */
bool mp_sessions_begin_call(struct mp_sessions *l) MP_MUST;
void mp_sessions_end_call(struct mp_sessions *l);
/* The hub stops: requests that come from now on are refused; fn when none is open any more. */
void mp_sessions_drain(struct mp_sessions *l, void (*fn)(void *u), void *u);

#endif
