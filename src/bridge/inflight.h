/*
 * inflight.h - requests of the agent that are not answered yet, and the session state that a new
 * hub needs: initialize, log level, subscriptions.
 */
#ifndef MP_INFLIGHT_H
#define MP_INFLIGHT_H

#include "base/base.h"
#include "base/buf.h"
#include "base/list.h"
#include "base/map.h"
#include "base/str.h"
#include "json/tape.h"

enum mp_inflight_kind {
	MP_INFLIGHT_CALL,
	MP_INFLIGHT_OPENING,     /* initialize, server/discover: sent again to the next hub */
	MP_INFLIGHT_LISTENING,   /* subscriptions/listen: the same */
	MP_INFLIGHT_LEVEL,       /* logging/setLevel */
	MP_INFLIGHT_SUBSCRIBE,   /* resources/subscribe */
	MP_INFLIGHT_UNSUBSCRIBE, /* resources/unsubscribe */
};

struct mp_inflight_request {
	struct mp_link link;                 /* in the order of arrival */
	struct mp_inflight_request *same_id; /* the next with the same id, or NULL */
	char *id;                            /* JSON as written; owned */
	char *text;                          /* its line; NULL for MP_INFLIGHT_CALL; owned */
	enum mp_inflight_kind kind;
	uint64_t end;   /* offset of the line's end: in what was sent, or in what is kept */
	bool is_kept;   /* waits for a hub */
	bool is_resent; /* while offsets are moved: it goes before all others */
};

struct mp_inflight {
	struct mp_list requests;
	struct mp_map by_id; /* id to the first request with it */
	struct mp_map
		server_requests; /* ids of requests from the hub that the agent has not answered */
	struct mp_map stale;     /* such ids of a lost hub: their answers are dropped */
	char *initialize, *initialized, *level; /* lines to send to the next hub; owned; or NULL */
	bool is_open;                           /* initialize was answered */
	struct mp_map subscriptions;            /* uri, JSON as written, to the line; owned */
	struct mp_tape tape;
};

void mp_inflight_init(struct mp_inflight *f);
void mp_inflight_done(struct mp_inflight *f);
/*
 * Note the requests of an agent's line, with the offset where it ends. False: the line answers a
 * request of a lost hub and must be dropped.
 */
bool mp_inflight_note_sent(struct mp_inflight *f, struct mp_str line, uint64_t end, bool is_kept,
			   bool *ret_has_request);
/* Note a line of the hub: requests it answers are removed, its own requests are added. */
void mp_inflight_note_received(struct mp_inflight *f, struct mp_str line);
/* Take the request out of all lists and free it. */
void mp_inflight_remove(struct mp_inflight *f, struct mp_inflight_request *r);
/* Append the line with another id. */
int mp_inflight_replace_id(struct mp_str line, struct mp_str id, struct mp_buf *out) MP_MUST;

#endif
