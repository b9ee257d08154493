/*
 * ws_frames.c - a WebSocket behind its upgrade, either end: bytes in, messages out, and back.
 * Of wslay only the frames are used: what it has for whole messages keeps a block of memory for
 * each frame, so that a peer that sends a message byte by byte takes a hundred times its size.
 */
#include "net/ws_frames.h"

#include <string.h>
#include <wslay/wslay.h>

#include "base/limits.h"
#include "base/random_id.h"

/* A message's buffer that is larger is given back when the message was handed out. */
#define KEEP_CAP MP_KIB(16)

static struct mp_ws_frames *frames_of(void *u)
{
	return u;
}

/* --- what wslay calls ----------------------------------------------------------------------- */

static ssize_t take_bytes(uint8_t *room, size_t size, int flags, void *u)
{
	struct mp_ws_frames *f = frames_of(u);
	size_t n = f->in.len < size ? f->in.len : size;

	(void)flags;
	if (n == 0)
		return -1; /* it asks again when there is more */
	memcpy(room, f->in.p, n);
	f->in = (struct mp_str){f->in.p + n, f->in.len - n};
	return (ssize_t)n;
}

static ssize_t give_bytes(const uint8_t *bytes, size_t n, int flags, void *u)
{
	(void)flags;
	mp_check(mp_buf_add(frames_of(u)->out, bytes, n) == 0); /* there is room for all */
	return (ssize_t)n;
}

/* Unpredictable, as RFC 6455, 5.3 wants it, without asking the kernel for each frame. */
static int make_mask(uint8_t *mask, size_t n, void *u)
{
	static _Thread_local struct {
		uint8_t bytes[256];
		size_t left;
	} block;

	(void)u;
	if (block.left < n) {
		mp_random_fill(block.bytes, sizeof(block.bytes));
		block.left = sizeof(block.bytes);
	}
	block.left -= n;
	memcpy(mask, block.bytes + block.left, n);
	memset(block.bytes + block.left, 0, n);
	return 0;
}

int mp_ws_frames_init(struct mp_ws_frames *f, size_t max, enum mp_ws_role role)
{
	static const struct wslay_frame_callbacks callbacks = {give_bytes, take_bytes, make_mask};

	*f = (struct mp_ws_frames){.role = role, .max = max};
	mp_buf_init(&f->message, max);
	return wslay_frame_context_init(&f->ctx, &callbacks, f) == 0 ? 0 : MCPOOL_ENOMEM;
}

void mp_ws_frames_done(struct mp_ws_frames *f)
{
	wslay_frame_context_free(f->ctx);
	f->ctx = NULL;
	mp_buf_done(&f->message);
}

/* --- reading -------------------------------------------------------------------------------- */

static int ws_frames_blame(struct mp_ws_frames *f, enum mp_ws_code code, int error,
			   const char *words)
{
	f->fault = (struct mp_ws_fault){code, error, words};
	return error;
}

static int ws_frames_complain(struct mp_ws_frames *f, const char *words)
{
	return ws_frames_blame(f, MP_WS_PROTOCOL, MCPOOL_EPROTO, words);
}

static bool is_control(const struct wslay_frame_iocb *frame)
{
	return frame->opcode & 8;
}

static int check_control(struct mp_ws_frames *f, const struct wslay_frame_iocb *frame)
{
	if (frame->opcode > MP_WS_PONG)
		return ws_frames_complain(f, "a frame of a kind that does not exist");
	if (frame->opcode == MP_WS_CLOSE && frame->payload_length == 1)
		return ws_frames_complain(f, "a close frame with an incomplete code");
	f->control_len = 0;
	return 0;
}

static int check_data(struct mp_ws_frames *f, const struct wslay_frame_iocb *frame)
{
	bool continues = frame->opcode == WSLAY_CONTINUATION_FRAME;

	if (frame->opcode == WSLAY_BINARY_FRAME)
		return ws_frames_blame(f, MP_WS_UNSUPPORTED, MCPOOL_EPROTO, "a binary message");
	if (!continues && frame->opcode != WSLAY_TEXT_FRAME)
		return ws_frames_complain(f, "a frame of a kind that does not exist");
	if (continues && !f->in_message)
		return ws_frames_complain(f, "the rest of a message that never began");
	if (!continues && f->in_message)
		return ws_frames_complain(f, "a message in the middle of another one");
	if (frame->payload_length > f->max - f->message.len)
		return ws_frames_blame(f, MP_WS_TOO_LARGE, MCPOOL_ELIMIT,
				       "a message that is too large");
	f->in_message = true;
	return 0;
}

/* Its first bytes are here. */
static int check_frame(struct mp_ws_frames *f, const struct wslay_frame_iocb *frame)
{
	if (frame->mask != (f->role == MP_WS_SERVER))
		return ws_frames_complain(f, frame->mask ? "a masked frame"
							 : "a frame that is not masked");
	if (frame->rsv)
		return ws_frames_complain(f, "a frame with reserved bits");
	return is_control(frame) ? check_control(f, frame) : check_data(f, frame);
}

static int ws_frames_keep(struct mp_ws_frames *f, const struct wslay_frame_iocb *frame)
{
	if (!is_control(frame))
		return mp_buf_add(&f->message, frame->data, frame->data_length) < 0
			       ? ws_frames_blame(f, MP_WS_INTERNAL, MCPOOL_ENOMEM,
						 "a message without memory for it")
			       : 0;
	memcpy(f->control + f->control_len, frame->data, frame->data_length);
	f->control_len += frame->data_length;
	return 0;
}

/* RFC 6455, 7.4, and those that IANA has registered since. */
static bool may_be_sent(int code)
{
	return (code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006) ||
	       (code >= 3000 && code <= 4999);
}

static int read_close(struct mp_ws_frames *f, struct mp_ws_event *event)
{
	const unsigned char *p = (const unsigned char *)f->control;

	event->code = MP_WS_NO_CODE;
	if (f->control_len == 0)
		return 1;
	event->code = p[0] << 8 | p[1];
	event->payload = (struct mp_str){f->control + 2, f->control_len - 2};
	if (!may_be_sent(event->code))
		return ws_frames_complain(f, "a close frame with an invalid code");
	if (!mp_utf8_valid(event->payload))
		return ws_frames_blame(f, MP_WS_NOT_UTF8, MCPOOL_EPROTO,
				       "a close frame that is not UTF-8");
	return 1;
}

/* A frame is complete. 1: so is what it belongs to. */
static int ws_frames_finish(struct mp_ws_frames *f, const struct wslay_frame_iocb *frame,
			    struct mp_ws_event *event)
{
	f->seen = 0;
	if (is_control(frame)) {
		*event = (struct mp_ws_event){.kind = (enum mp_ws_kind)frame->opcode,
					      .payload = {f->control, f->control_len}};
		return event->kind == MP_WS_CLOSE ? read_close(f, event) : 1;
	}
	if (!frame->fin)
		return 0;
	f->in_message = false;
	f->told = true;
	*event = (struct mp_ws_event){.kind = MP_WS_TEXT, .payload = mp_buf_get(&f->message)};
	if (!mp_utf8_valid(event->payload))
		return ws_frames_blame(f, MP_WS_NOT_UTF8, MCPOOL_EPROTO,
				       "a message that is not UTF-8");
	return 1;
}

static void forget_message(struct mp_ws_frames *f)
{
	if (!f->told)
		return;
	f->told = false;
	mp_buf_shrink(&f->message, KEEP_CAP);
}

void mp_ws_frames_feed(struct mp_ws_frames *f, struct mp_str bytes)
{
	f->in = bytes;
}

int mp_ws_frames_next(struct mp_ws_frames *f, struct mp_ws_event *ret_event)
{
	struct wslay_frame_iocb frame;
	int r = 0;

	forget_message(f);
	if (f->fault.code)
		return f->fault.error;
	while (r == 0) {
		ssize_t n = wslay_frame_recv(f->ctx, &frame);

		if (n == WSLAY_ERR_WANT_READ)
			return 0;
		if (n < 0) /* a control frame in parts or too long, a length written too long */
			return ws_frames_complain(f, "a frame that cannot be");
		if (f->seen == 0)
			r = check_frame(f, &frame);
		if (r == 0)
			r = ws_frames_keep(f, &frame);
		f->seen += frame.data_length;
		if (r == 0 && f->seen == frame.payload_length)
			r = ws_frames_finish(f, &frame, ret_event);
	}
	return r;
}

/* --- writing -------------------------------------------------------------------------------- */

int mp_ws_frames_write_pieces(struct mp_ws_frames *f, enum mp_ws_kind kind,
			      const struct mp_str *pieces, size_t n, struct mp_buf *out)
{
	struct wslay_frame_iocb frame = {
		.fin = 1,
		.opcode = (uint8_t)kind,
		.mask = f->role == MP_WS_CLIENT,
	};
	int r;

	for (size_t i = 0; i < n; i++)
		frame.payload_length += pieces[i].len;
	r = mp_buf_reserve(out, frame.payload_length + MP_WS_HEADER);
	if (r < 0)
		return r;
	f->out = out;
	for (size_t i = 0; i < n; i++) {
		if (pieces[i].len == 0 && frame.payload_length > 0)
			continue;
		frame.data = (const uint8_t *)pieces[i].p;
		frame.data_length = pieces[i].len;
		mp_check(wslay_frame_send(f->ctx, &frame) == (ssize_t)pieces[i].len);
	}
	f->out = NULL;
	return 0;
}

int mp_ws_frames_write(struct mp_ws_frames *f, enum mp_ws_kind kind, struct mp_str payload,
		       struct mp_buf *out)
{
	return mp_ws_frames_write_pieces(f, kind, &payload, 1, out);
}

int mp_ws_frames_write_close(struct mp_ws_frames *f, int code, struct mp_buf *out)
{
	char bytes[2] = {(char)(code >> 8), (char)code};
	struct mp_str payload = {bytes, code == MP_WS_NO_CODE ? 0 : sizeof(bytes)};

	return mp_ws_frames_write(f, MP_WS_CLOSE, payload, out);
}
