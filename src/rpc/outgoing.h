/*
 * outgoing.h - one message on its way out: its text in pieces, and what it says.
 * The encoder knows what it writes, so it notes that here, and no transport parses the text again.
 * All texts are borrowed and valid during the send.
 */
#ifndef MP_OUTGOING_H
#define MP_OUTGOING_H

#include "base/base.h"
#include "base/str.h"
#include "rpc/message.h"

enum { MP_OUTGOING_PIECES = 20 };

struct mp_outgoing {
	enum mp_message_kind kind; /* not BATCH */
	enum mp_method_id method;  /* UNKNOWN: of an answer */
	struct mp_str id;          /* as written; empty: a notification */
	struct mp_str name;    /* the tool, prompt, URI or task it is about, as text; or empty */
	struct mp_str version; /* of the protocol, as _meta has it; empty: not modern */
	struct mp_str params;  /* an object without _meta; empty: none */
	struct mp_str cancelled_id; /* of notifications/cancelled: the request; as written */
	size_t len;                 /* of the text */
	size_t n_pieces;
	struct mp_str pieces[MP_OUTGOING_PIECES]; /* the text */
};

/* As mp_message_request(), without a copy. name and version are the caller's to set. */
void mp_outgoing_request(struct mp_outgoing *o, enum mp_method_id method, struct mp_str params,
			 const struct mp_splice *splice);
void mp_outgoing_notification(struct mp_outgoing *o, enum mp_method_id method,
			      struct mp_str params);
/* With a result or an error that is JSON already. */
void mp_outgoing_answer(struct mp_outgoing *o, struct mp_str id, bool is_error, struct mp_str json);
/* A message that is written already. */
void mp_outgoing_text(struct mp_outgoing *o, enum mp_message_kind kind, enum mp_method_id method,
		      struct mp_str id, struct mp_str text);

#endif
