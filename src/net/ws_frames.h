/*
 * ws_frames.h - a WebSocket behind its upgrade, either end: bytes in, messages out, and back.
 * Nothing is read or written here. wslay knows frames; the rules for what may follow what, for
 * sizes and for texts (RFC 6455, V52) are ours, so that each fault has its close code and its words
 * and no peer chooses how much memory a message takes.
 */
#ifndef MP_WS_FRAMES_H
#define MP_WS_FRAMES_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"

struct wslay_frame_context;

enum {
	MP_WS_CONTROL = 125, /* bytes that a ping, pong or close frame may carry */
	MP_WS_HEADER = 14,   /* bytes of a frame before its payload, at most */
};

enum mp_ws_kind { MP_WS_TEXT = 1, MP_WS_CLOSE = 8, MP_WS_PING = 9, MP_WS_PONG = 10 };

/* Close codes that we send; RFC 6455, 7.4.1. */
enum mp_ws_code {
	MP_WS_NORMAL = 1000,
	MP_WS_GOING_AWAY = 1001,
	MP_WS_PROTOCOL = 1002,
	MP_WS_UNSUPPORTED = 1003,
	MP_WS_NO_CODE = 1005, /* never sent: a close frame came without one */
	MP_WS_NOT_UTF8 = 1007,
	MP_WS_TOO_LARGE = 1009,
	MP_WS_INTERNAL = 1011,
};

/* Which end is ours: clients mask what they send, servers do not (RFC 6455, 5.1). */
enum mp_ws_role { MP_WS_CLIENT, MP_WS_SERVER };

struct mp_ws_event {
	enum mp_ws_kind kind;
	struct mp_str payload; /* of a close frame: its reason, valid UTF-8 */
	int code;              /* of a close frame */
};

/* What the peer did that it must not do. */
struct mp_ws_fault {
	enum mp_ws_code code;
	int error;         /* MCPOOL_EPROTO, MCPOOL_ELIMIT, MCPOOL_ENOMEM */
	const char *words; /* "a masked frame" */
};

struct mp_ws_frames {
	struct wslay_frame_context *ctx; /* owned */
	enum mp_ws_role role;            /* ours */
	size_t max;                      /* bytes of a message */
	struct mp_str in;                /* what is left of the piece that was fed; borrowed */
	struct mp_buf *out;              /* while a frame is written */
	struct mp_buf message;           /* as far as it came */
	bool in_message;                 /* more of it is to come */
	bool told;                       /* message was handed out */
	uint64_t seen;                   /* bytes of the frame that is coming */
	char control[MP_WS_CONTROL];
	size_t control_len;
	struct mp_ws_fault fault; /* code 0: none so far */
};

int mp_ws_frames_init(struct mp_ws_frames *f, size_t max, enum mp_ws_role role) MP_MUST;
void mp_ws_frames_done(struct mp_ws_frames *f);

/* The next piece, which must stay until mp_ws_frames_next() has returned 0. */
void mp_ws_frames_feed(struct mp_ws_frames *f, struct mp_str bytes);
/*
 * 1: something whole, valid until the next call. 0: the piece is used up. Negative: the peer broke
 * the rules, see fault; the same ever after.
 */
int mp_ws_frames_next(struct mp_ws_frames *f, struct mp_ws_event *ret_event) MP_MUST;

/* One frame added to out. MCPOOL_ENOMEM, MCPOOL_ELIMIT; out is then what it was. */
int mp_ws_frames_write(struct mp_ws_frames *f, enum mp_ws_kind kind, struct mp_str payload,
		       struct mp_buf *out) MP_MUST;
int mp_ws_frames_write_pieces(struct mp_ws_frames *f, enum mp_ws_kind kind,
			      const struct mp_str *pieces, size_t n, struct mp_buf *out) MP_MUST;
/* A close frame; code MP_WS_NO_CODE: without one. */
int mp_ws_frames_write_close(struct mp_ws_frames *f, int code, struct mp_buf *out) MP_MUST;

#endif
