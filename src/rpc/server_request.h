/*
 * server_request.h - a request that a server sends to a client: elicitation/create,
 * sampling/createMessage or roots/list. A legacy server sends it as a message of its own, a modern
 * one as part of the answer "input required" to a call of ours.
 */
#ifndef MP_SERVER_REQUEST_H
#define MP_SERVER_REQUEST_H

#include "base/base.h"
#include "base/buf.h"
#include "base/ids.h"
#include "base/list.h"
#include "base/str.h"
#include "json/value.h"
#include "rpc/call.h"

struct mp_server_request {
	mp_id id; /* answer by it; given out once in the conversation */
	enum mp_method_id method;
	struct mp_str
		params; /* an object as the server wrote it, valid during the hook; or empty */
	/* The call on whose stream it came, or whose answer it was in. */
	bool has_origin;
	struct mp_call *origin; /* NULL: that one has ended */
};

/* One that our side has not answered; the peer's, and part of a call's input if the server is
 * modern.
 */
struct mp_server_slot {
	mp_id id;             /* in the peer's server_requests */
	struct mp_call *call; /* modern: the call whose answer it was in; NULL: legacy */
	/* legacy */
	struct mp_link link; /* in the peer's serving */
	char *their_id;      /* as they wrote it; owned */
	/* modern */
	mp_value key;         /* on the input's tape */
	struct mp_buf answer; /* empty: not yet */
};

/* What the server is told where nothing here can answer it. Static. */
struct mp_str mp_server_request_get_refusal(enum mp_method_id method);
bool mp_server_request_is(enum mp_method_id method);

#endif
