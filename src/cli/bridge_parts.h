/*
 * bridge_parts.h - what a bridge remembers; for the files of the bridge alone.
 */
#ifndef MP_BRIDGE_PARTS_H
#define MP_BRIDGE_PARTS_H

#include "base/list.h"
#include "base/map.h"
#include "cli/bridge.h"
#include "json/tape.h"

/* A request of the agent that is not answered yet. */
struct mp_pending {
	struct mp_link link;         /* in order */
	struct mp_pending *namesake; /* another with the same id, behind this one */
	char *id;                    /* JSON as written; owned */
	char *text;   /* of one that the next hub is told again, or that is remembered; owned */
	int kind;     /* enum mp_pending_kind */
	uint64_t end; /* where its line ends: in what was sent, or in what is kept */
	bool is_kept;
	bool is_again; /* while places are moved: it stands before all others */
};

enum mp_pending_kind {
	MP_PENDING_CALL,
	MP_PENDING_OPENING,     /* initialize, server/discover: said again to the next hub */
	MP_PENDING_LISTENING,   /* subscriptions/listen: the same */
	MP_PENDING_LEVEL,       /* logging/setLevel */
	MP_PENDING_SUBSCRIBE,   /* resources/subscribe */
	MP_PENDING_UNSUBSCRIBE, /* resources/unsubscribe */
};

/* All of them, and what the next hub has to know. */
struct mp_ledger {
	struct mp_list pending;
	struct mp_map by_id; /* to the first of that id */
	struct mp_map asked; /* ids of the hub's questions to the agent */
	struct mp_map stale; /* of a hub that is gone: their answers are nobody's */
	char *initialize, *initialized, *level; /* lines; owned; NULL: not said */
	bool is_open;                           /* initialize was answered */
	struct mp_map subscriptions;            /* uri, JSON as written, to the line; owned */
	struct mp_tape tape;
};

void mp_ledger_init(struct mp_ledger *l);
void mp_ledger_done(struct mp_ledger *l);
/*
 * A line of the agent: its requests are noted, with the place where it ends. True: it is a message
 * that needs a hub; false: an answer to a question that nobody waits for any more.
 */
bool mp_ledger_note_sent(struct mp_ledger *l, struct mp_str line, uint64_t end, bool is_kept,
			 bool *ret_has_request);
/* A line of the hub: what it answers is settled, what it asks is noted. */
void mp_ledger_note_received(struct mp_ledger *l, struct mp_str line);
/* The first is taken out and freed. */
void mp_ledger_settle(struct mp_ledger *l, struct mp_pending *p);
/* Its line without the id, with another: for the next hub. */
int mp_ledger_respell(struct mp_str line, struct mp_str id, struct mp_buf *out) MP_MUST;

/* What a bridge is; its table is in bridge.c. */
struct mp_bridge {
	struct mp_bridge_options o;
	const struct mp_bridge_hooks *hooks;
	void *u;
	enum mp_bridge_state state;
	struct mp_ledger ledger;
	uint64_t queued;     /* bytes given to this hub */
	struct mp_buf kept;  /* lines for the next one */
	unsigned replaced;   /* how often an older one was asked to leave; not for ever */
	bool asked_to_leave; /* this one was */
	int64_t protocol;    /* of the one that is to leave */
	int64_t heir_ms;     /* until then the next hub is somebody else's to start */
	int64_t give_up_ms;  /* then whoever waits is refused */
	int64_t look_ms;     /* before the next look */
	unsigned replays;    /* answers that are ours */
	uint64_t last_own;   /* ids of our own */
	bool was_open;       /* the agent has seen a hub: its lists may differ in the next one */
	unsigned changed;    /* which lists to tell of; bits of LISTS */
	struct mcpool_error why; /* why there is no hub */
};

/* --- bridge_loss.c: what becomes of whom when there is no hub --- */

/* An error of ours: one of those that its table has. */
void mp_bridge_answer(struct mp_bridge *b, struct mp_str id, int code, const char *words);
/* The hub died: as mp_bridge_lost() has it. */
void mp_bridge_keep_rest(struct mp_bridge *b, uint64_t written, struct mp_str rest,
			 uint64_t rest_at);
/* Questions of that hub which nobody waits for any more. */
void mp_bridge_withdraw_questions(struct mp_bridge *b);
/* Whoever waits is told that it was never sent. */
void mp_bridge_refuse_kept(struct mp_bridge *b);
/* One that there is no room for: it ends there in what is kept. */
void mp_bridge_refuse_one(struct mp_bridge *b, uint64_t end);

#endif
