/*
 * streamable.h - Streamable HTTP in both eras: each message is a POST, answers come on its way
 * back. Legacy servers may have a session and a standing stream (GET) beside it; modern ones have
 * neither, and want headers that repeat what a request says.
 */
#ifndef MP_STREAMABLE_H
#define MP_STREAMABLE_H

#include "base/list.h"
#include "base/loop.h"
#include "base/machine.h"
#include "json/tape.h"
#include "rpc/message.h"
#include "transport/destination.h"
#include "transport/http_post.h"
#include "transport/transport.h"

/* The destination is copied; the client is borrowed and outlives the transport. */
int mp_streamable_new(struct mp_loop *loop, struct mp_http_client *client,
		      const struct mp_destination *to, struct mp_transport **ret_transport,
		      struct mcpool_error *reterr) MP_MUST;

/* --- for the files of this transport alone: streamable*.c ------------------------------------- */

#define MP_STREAMABLE_STATES(X)                                                                    \
	X(MP_STREAMABLE_FRESH, "fresh", "not started")                                             \
	X(MP_STREAMABLE_OPEN, "open", "messages flow")                                             \
	X(MP_STREAMABLE_SETTLING, "settling",                                                      \
	  "initialized is on its way, the rest waits behind it")                                   \
	X(MP_STREAMABLE_JOINING, "joining", "the standing stream is being opened, the rest waits") \
	X(MP_STREAMABLE_WINDING, "winding down",                                                   \
	  "it is over, but answers may still be on their way")                                     \
	X(MP_STREAMABLE_ENDED, "ended", "not closed by its user yet")                              \
	X(MP_STREAMABLE_LEAVING, "leaving", "we hung up, and tell the server so")                  \
	X(MP_STREAMABLE_CLOSED, "closed", "the last state")

#define MP_STREAMABLE_EVENTS(X)                                                       \
	X(MP_STREAMABLE_ON_START, "start", "begin")                                   \
	X(MP_STREAMABLE_ON_SETTLE, "settle", "initialized is sent")                   \
	X(MP_STREAMABLE_ON_SETTLED, "settled", "and the server has it, or is silent") \
	X(MP_STREAMABLE_ON_JOINED, "joined", "the standing stream is there, or none") \
	X(MP_STREAMABLE_ON_FAIL, "fail", "it cannot go on; why is noted")             \
	X(MP_STREAMABLE_ON_DRAINED, "drained", "no answer is on its way any more")    \
	X(MP_STREAMABLE_ON_CLOSE, "close", "hang up")                                 \
	X(MP_STREAMABLE_ON_LEFT, "left", "the server knows, or does not want to")

MP_MACHINE_ENUM(mp_streamable_state, MP_STREAMABLE_STATES);

MP_MACHINE_ENUM(mp_streamable_event, MP_STREAMABLE_EVENTS);

struct mp_streamable {
	struct mp_transport base;
	struct mp_loop *loop;
	struct mp_http_client *client; /* borrowed */
	struct mp_destination to;
	enum mp_streamable_state state;
	struct mp_list posts;          /* of messages, owned */
	struct mp_http_post *standing; /* what the server says by itself; owned; NULL: none */
	mp_id farewell;                /* the DELETE under way; 0: none */
	char *session, *version;       /* of a legacy server; owned; NULL: none */
	bool is_established;           /* something was answered as the protocol has it */
	bool is_gone;                  /* there is no session to leave any more */
	struct mp_buf challenge;       /* of the last 401 or 403 */
	struct mp_tape tape;           /* of the message that came */
	struct mp_buf text;            /* an answer in other words */
	struct mp_timer grace;
	struct mcpool_error *why; /* of its end; owned */
	struct mp_task opened_task, ended_task, closed_task;
	struct mp_grave grave;
};

/* streamable.c: the conversation. */
void mp_streamable_advance(struct mp_streamable *s, enum mp_streamable_event ev);
/* It cannot go on; why is told when everything on its way has arrived. */
void mp_streamable_fail(struct mp_streamable *s, const struct mcpool_error *why);
/* A post of a message is over; then what follows from that, when its request was told. */
void mp_streamable_forget(struct mp_streamable *s, struct mp_http_post *t);
void mp_streamable_note_over(struct mp_streamable *s, const struct mp_http_post *t);
void mp_streamable_note_settled(struct mp_streamable *s);  /* the server has initialized */
bool mp_streamable_is_live(const struct mp_streamable *s); /* messages are taken */
void mp_streamable_doubt(struct mp_streamable *s, const char *why);

/* streamable_request.c: what requests carry, and what the answer to initialize says. */
int mp_streamable_read(struct mp_streamable *s, struct mp_str text, struct mp_message *m) MP_MUST;
/* All that the POST of a message carries, made once for each. */
int mp_streamable_write_headers(struct mp_streamable *s, const struct mp_outgoing *o,
				struct mp_http_fields *fields) MP_MUST;
void mp_streamable_write_post(struct mp_streamable *s, struct mp_http_post *t,
			      struct mp_http_request *ret);
int mp_streamable_write_get(struct mp_streamable *s, struct mp_http_post *t,
			    struct mp_http_request *ret) MP_MUST;
/* fields: empty; the request borrows them. */
int mp_streamable_write_delete(struct mp_streamable *s, struct mp_http_fields *fields,
			       struct mp_http_request *ret) MP_MUST;
/* The version that an answer to initialize names is said in every header from now on. */
void mp_streamable_learn_version(struct mp_streamable *s, struct mp_str text);

/* streamable_endings.c: what the end of a post means. */
extern const struct mp_http_post_hooks mp_streamable_message_hooks;
extern const struct mp_http_post_hooks mp_streamable_standing_hooks;

#endif
