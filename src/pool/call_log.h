/*
 * call_log.h - the last calls that ended: who called what, with which outcome.
 * A ring, read by displays and by the audit. A reader holds the number it wants next; one that is
 * too late learns how many it missed.
 */
#ifndef MP_CALL_LOG_H
#define MP_CALL_LOG_H

#include "base/base.h"
#include "base/history.h"
#include "base/list.h"
#include "base/loop.h"
#include "json/write.h"
#include "rpc/call.h"
#include "rpc/trace.h"
#include "store/calls.h"

/* Who calls: what records say of a session. Counted, because records outlive sessions. */
struct mp_call_client {
	unsigned refs;
	const char *name;           /* "Claude Code"; "" before it said so */
	const char *principal;      /* "uid:1000" */
	const char *project;        /* the folder of its project; "" */
	char *texts;                /* owned */
	uint64_t calls;             /* that have ended */
	struct mp_history *history; /* of these; owned; NULL before the first */
};
struct mp_call_client *mp_call_client_new(void);
struct mp_call_client *mp_call_client_ref(struct mp_call_client *c); /* accepts NULL */
struct mp_call_client *mp_call_client_unref(
	struct mp_call_client *c); /* accepts NULL, returns NULL */
/* Texts are copied. */
void mp_call_client_name(struct mp_call_client *c, const char *name, const char *principal,
			 const char *project);
int64_t mp_call_client_count_minute(const struct mp_call_client *c, int64_t now_ms);

struct mp_call_record {
	uint64_t number; /* 1, 2, 3, ... without gaps */
	int64_t wall_ms; /* when it ended */
	mp_id session;
	struct mp_call_client *client; /* a reference; NULL: none */
	const char *server;            /* these three in texts */
	const char *subject;           /* the tool, prompt or resource; "" */
	const char *args;              /* params; NULL: not to be kept */
	char *texts;                   /* owned */
	struct mp_trace trace;
	enum mp_method_id method;
	enum mp_outcome outcome;
	bool is_error, is_tool_error; /* of an answer */
	int code;                     /* without an answer: MCPOOL_E* */
	int64_t queue_us, took_us;    /* before it was sent; at the server */
	int64_t hub_us;               /* of our own work: until it was sent, and with its answer */
	size_t bytes_in, bytes_out;   /* of params and result */
	uint64_t args_hash;           /* of params, with a key of this user */
};

struct mp_call_log {
	struct mp_loop *loop;
	struct mp_call_record *ring; /* owned; MP_LIMIT_CALL_RING of them; NULL before the first */
	uint64_t last;               /* number of the newest, 0 before the first */
	uint64_t told;               /* listeners know up to here */
	uint64_t key[2];             /* of args_hash */
	struct mp_list listeners;
	struct mp_hook hook;
};

void mp_call_log_init(struct mp_call_log *l, struct mp_loop *loop, const uint64_t key[2]);
void mp_call_log_done(struct mp_call_log *l);

/* A call ended. texts, number, time and hash are set here; texts of r and params are copied. */
void mp_call_log_add(struct mp_call_log *l, const struct mp_call_record *r, struct mp_str subject,
		     struct mp_str params, bool keeps_args);
/* As mp_events_read(). */
const struct mp_call_record *mp_call_log_read(const struct mp_call_log *l, uint64_t *cursor,
					      uint64_t *ret_missed);
/* "answered", "error", "tool_error", or the outcome (doc/protocol.md, "Calls") */
const char *mp_call_record_get_outcome(const struct mp_call_record *r);
/* As it is shown and kept; borrows from the record. */
void mp_call_record_describe(const struct mp_call_record *r, struct mp_call_row *ret);
/* One object; missed: records that a late reader did not get. */
void mp_call_record_write(struct mp_writer *w, const struct mp_call_record *r, uint64_t missed);

/* Called at the end of a turn in which a call ended. May unsubscribe during the call. */
struct mp_call_listener {
	struct mp_link link;
	void (*fn)(void *u);
	void *u;
};
void mp_call_listener_join(struct mp_call_log *l, struct mp_call_listener *listener,
			   void (*fn)(void *u), void *u);
void mp_call_listener_leave(struct mp_call_log *l, struct mp_call_listener *listener);

#endif
