/*
 * message.h - the JSON-RPC envelope: classify, check, splice, encode.
 * A scan, not a tree: the tape keeps the envelope, the members of params and of _meta; everything
 * below is checked and passes byte for byte. What leaves us has an envelope of our own making, so a
 * peer sees only what was judged here (V43).
 */
#ifndef MP_MESSAGE_H
#define MP_MESSAGE_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"
#include "json/tape.h"
#include "json/value.h"
#include "json/write.h"

enum mp_method_id {
	MP_METHOD_UNKNOWN,
#define METHOD(name, text, from, kind, eras, capability, subject, answerer) MP_METHOD_##name,
#include "rpc/methods.def"
#undef METHOD
	MP_METHODS
};

enum mp_side { MP_SIDE_CLIENT = 1, MP_SIDE_SERVER = 2, MP_SIDE_BOTH = 3 };
enum mp_era { MP_ERA_LEGACY = 1, MP_ERA_MODERN = 2, MP_ERA_BOTH = 3 };

struct mp_method {
	const char *name;
	const char *json; /* the same in quotes */
	enum mp_side from;
	bool is_request;
	enum mp_era eras;
	const char *capability; /* "tools"; NULL: needs none */
	const char *subject;    /* "name", "uri", "taskId"; NULL: none */
	bool reaches_server;    /* a client's request goes on to a server */
};
const struct mp_method *mp_method_get(enum mp_method_id id); /* UNKNOWN: a row with name "" */
enum mp_method_id mp_method_find(struct mp_str name);

enum mp_message_kind {
	MP_MESSAGE_REQUEST,
	MP_MESSAGE_NOTIFICATION,
	MP_MESSAGE_RESULT,
	MP_MESSAGE_ERROR,
	MP_MESSAGE_BATCH, /* an array of messages; only 2025-03-26 has them */
};

/* The parts of one message. Values are on the tape; MP_NONE where there is none. */
struct mp_message {
	enum mp_message_kind kind;
	const struct mp_tape *tape; /* borrowed */
	enum mp_method_id method;
	mp_value method_name;
	struct mp_str id; /* as written, quotes included; empty for a notification */
	mp_value params;
	mp_value meta;           /* params._meta */
	mp_value progress_token; /* params._meta.progressToken; of a notification
				    params.progressToken */
	mp_value version;        /* params._meta's protocolVersion: it is modern */
	mp_value subject;        /* params.name, .uri or .taskId, as the method has it */
	mp_value result;
	mp_value error;
};

/* One with nothing in it yet. */
void mp_message_clear(struct mp_message *m, const struct mp_tape *t);

/* Levels the tape must keep for this: set by mp_message_tape_init(). */
void mp_message_tape_init(struct mp_tape *t);

/*
 * Parse and classify. The message borrows tape and text. Failures carry the JSON-RPC code to answer
 * with in reterr (-32700 not JSON, -32600 no message of ours, -32603 over a limit) and, in
 * ret_message->id, the id if one was recognised, so that the peer can be told.
 */
int mp_message_scan(struct mp_tape *t, struct mp_str text, struct mp_message *ret_message,
		    struct mcpool_error *reterr) MP_MUST;
/* The same for a tape that is parsed already, as one that was fed in pieces. */
int mp_message_classify(const struct mp_tape *t, struct mp_message *ret_message,
			struct mcpool_error *reterr) MP_MUST;

/* Does the result announce a task instead of an outcome? */
bool mp_message_is_task(const struct mp_message *m);

/* What to change on the way; empty strings: leave as it is. All are JSON as written. */
struct mp_splice {
	struct mp_str id;      /* instead of the message's own */
	struct mp_str subject; /* instead of params.name, .uri or .taskId */
	struct mp_str
		progress_token; /* instead of the caller's, or added; empty: a request has none */
	struct mp_str meta;     /* an object whose members go into _meta */
	struct mp_str more;     /* another one, for what is not about this hop; or empty */
};

/*
 * A request or notification with its params byte for byte, but for the above. Members of _meta that
 * speak of this hop only (io.modelcontextprotocol/...) are left out (mcp-spec 4.1).
 */
int mp_message_forward(const struct mp_message *m, const struct mp_splice *splice,
		       struct mp_buf *out) MP_MUST;
/*
 * A request's content, for building another envelope: its params byte for byte without _meta, with
 * one member's value replaced (key NULL: none); and the members of _meta that are not about one
 * hop, as an object, or nothing.
 */
int mp_message_write_params(const struct mp_message *m, const char *key, struct mp_str value,
			    struct mp_buf *out) MP_MUST;
int mp_message_write_meta(const struct mp_message *m, struct mp_buf *out) MP_MUST;
/* The members of an object as they are written, without its brackets. */
struct mp_str mp_message_get_members(struct mp_str object);
/* The answer in m, a result or error, for the caller who knows it by this id. */
int mp_message_forward_answer(const struct mp_message *m, struct mp_str id,
			      struct mp_buf *out) MP_MUST;

/*
 * A request of our own. params: an object without _meta, or empty: none; splice->subject has no
 * meaning.
 */
int mp_message_request(struct mp_buf *out, enum mp_method_id method, struct mp_str params,
		       const struct mp_splice *splice) MP_MUST;
int mp_message_notify(struct mp_buf *out, enum mp_method_id method, struct mp_str params) MP_MUST;
int mp_message_result(struct mp_buf *out, struct mp_str id, struct mp_str result) MP_MUST;
/* With a result or an error that is JSON already. */
int mp_message_answer(struct mp_buf *out, struct mp_str id, bool is_error,
		      struct mp_str json) MP_MUST;
/* id empty: null. data empty: none. */
int mp_message_error(struct mp_buf *out, struct mp_str id, int code, struct mp_str words,
		     struct mp_str data) MP_MUST;

#endif
