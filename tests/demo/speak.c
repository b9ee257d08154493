/*
 * speak.c - saying it in either era.
 * Every result, error and notification of the demo server leaves through here: what modern results
 * carry is added in one place, and answers are held back in one place, as the knobs want it.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "demo/demo.h"
#include "rpc/outgoing.h"

enum { PAIR_WITHIN_MS = 200 };

/* --- onto the wire --------------------------------------------------------------------------- */

static int send_frame(struct mp_demo *d, struct mp_str frame)
{
	struct mp_outgoing o = {.len = frame.len, .pieces = {frame}, .n_pieces = 1};
	uint64_t at;
	int r = d->wire->impl->send(d->wire, &o, &at);

	if (r == 0)
		d->queued = at + frame.len + 1;
	return r;
}

bool mp_demo_is_drained(const struct mp_demo *d)
{
	return d->written >= d->queued;
}

/* This call has its answer. */
static void settle(struct mp_demo_call *c)
{
	struct mp_demo *d = c->demo;
	bool last = c->method == MP_METHOD_TOOLS_CALL && ++d->answered == d->knobs.exit_after;

	mp_demo_mischief_at_end(c, "answered");
	mp_demo_drop(c);
	if (last)
		mp_demo_leave(d, 0);
}

/* An answer that does not fit is replaced by one that says so; a client deaf to that is left. */
static void send_answer(struct mp_demo_call *c, struct mp_str frame)
{
	struct mp_demo *d = c->demo;
	int r = send_frame(d, frame);

	if (r == MCPOOL_ELIMIT || r == MCPOOL_ENOMEM) {
		mp_buf_clear(&d->frame);
		r = mp_message_error(&d->frame, mp_demo_id(c), MP_DEMO_INTERNAL,
				     MP_STR("too much waits for the client to read it"),
				     MP_STR(""));
		if (r == 0)
			r = send_frame(d, mp_buf_get(&d->frame));
		if (r < 0)
			mp_demo_leave(d, 1);
	}
	settle(c);
}

/* --- holding answers back -------------------------------------------------------------------- */

static void release(void *u)
{
	struct mp_demo_call *c = u;

	send_answer(c, mp_buf_get(&c->answer));
}

/* The frame moves into the call, until a release or a cancellation. */
static void hold(struct mp_demo_call *c, int64_t ms)
{
	mp_buf_done(&c->answer);
	c->answer = c->demo->frame;
	mp_buf_init(&c->demo->frame, MP_LIMIT_MESSAGE + MP_KIB(4));
	mp_timer_stop(&c->timer);
	mp_timer_init(&c->timer, c->demo->loop, release, c);
	mp_timer_start(&c->timer, ms);
}

/* Of two answers the second goes first. */
static void pair(struct mp_demo_call *c)
{
	struct mp_demo *d = c->demo;
	struct mp_demo_call *first = d->held;

	if (!first) {
		d->held = c;
		hold(c, PAIR_WITHIN_MS);
		return;
	}
	d->held = NULL;
	send_answer(c, mp_buf_get(&d->frame));
	release(first);
}

/* The answer to c is complete, in d->frame. */
static void answer(struct mp_demo_call *c)
{
	bool known = mp_list_linked(&c->link); /* else it was refused on arrival */
	int64_t delay = known ? mp_demo_mischief_delay(c) : 0;

	c->message = NULL;
	if (delay == MP_DEMO_FOREVER)
		mp_timer_stop(&c->timer); /* it stays in flight, without its answer */
	else if (delay)
		hold(c, delay);
	else if (known && c->demo->knobs.out_of_order && c->method == MP_METHOD_TOOLS_CALL)
		pair(c);
	else
		send_answer(c, mp_buf_get(&c->demo->frame));
}

/* --- results --------------------------------------------------------------------------------- */

struct mp_writer *mp_demo_begin_object(struct mp_demo *d)
{
	mp_buf_clear(&d->body);
	mp_write_init(&d->writer, &d->body, NULL);
	mp_write_begin_object(&d->writer);
	return &d->writer;
}

static int end_object(struct mp_demo *d)
{
	mp_write_end_object(&d->writer);
	return mp_write_finish(&d->writer);
}

struct mp_writer *mp_demo_begin_as(struct mp_demo_call *c, const char *result_type)
{
	struct mp_writer *w = mp_demo_begin_object(c->demo);

	if (c->modern)
		mp_write_member_text(w, "resultType", mp_str_of(result_type));
	return w;
}

struct mp_writer *mp_demo_begin(struct mp_demo_call *c)
{
	return mp_demo_begin_as(c, "complete");
}

/* Modern results say who made them, since no handshake did; a listen's says which one it is too. */
static int end_result(struct mp_demo_call *c)
{
	struct mp_writer *w = &c->demo->writer;

	if (c->modern) {
		mp_write_key(w, MP_STR("_meta"));
		mp_write_begin_object(w);
		mp_write_member_raw(w, "io.modelcontextprotocol/serverInfo",
				    MP_STR(MP_DEMO_SERVER_INFO));
		if (c->method == MP_METHOD_LISTEN)
			mp_write_member_raw(w, "io.modelcontextprotocol/subscriptionId",
					    mp_demo_id(c));
		mp_write_end_object(w);
	}
	return end_object(c->demo);
}

void mp_demo_end(struct mp_demo_call *c)
{
	struct mp_demo *d = c->demo;
	int r = end_result(c);

	mp_buf_clear(&d->frame);
	if (r == 0)
		r = mp_message_result(&d->frame, mp_demo_id(c), mp_buf_get(&d->body));
	if (r < 0)
		mp_demo_fail(c, MP_DEMO_INTERNAL, "the result could not be written: %s",
			     mcpool_error_text(r));
	else
		answer(c);
}

void mp_demo_end_cached(struct mp_demo_call *c, int64_t ttl_ms)
{
	if (c->modern) {
		mp_write_member_i64(&c->demo->writer, "ttlMs", ttl_ms);
		mp_write_member_text(&c->demo->writer, "cacheScope", MP_STR("public"));
	}
	mp_demo_end(c);
}

void mp_demo_write_content(struct mp_writer *w, struct mp_str text)
{
	mp_write_key(w, MP_STR("content"));
	mp_write_begin_array(w);
	mp_write_begin_object(w);
	mp_write_member_text(w, "type", MP_STR("text"));
	mp_write_member_text(w, "text", text);
	mp_write_end_object(w);
	mp_write_end_array(w);
}

void mp_demo_say(struct mp_demo_call *c, struct mp_str text)
{
	mp_demo_write_content(mp_demo_begin(c), text);
	mp_demo_end(c);
}

void mp_demo_complain(struct mp_demo_call *c, const char *format, ...)
{
	char text[sizeof(((struct mcpool_error *)0)->message)];
	struct mp_writer *w;
	va_list args;

	va_start(args, format);
	(void)mp_str_format(text, sizeof(text), format, args); /* cut where it is too long */
	va_end(args);
	w = mp_demo_begin(c);
	mp_demo_write_content(w, mp_str_of(text));
	mp_write_member_bool(w, "isError", true);
	mp_demo_end(c);
}

/* --- a result that no queue holds ------------------------------------------------------------ */

static int pour_letters(int64_t n)
{
	char letters[26 * 1024];
	int r = 0;

	for (size_t i = 0; i < sizeof(letters); i++)
		letters[i] = (char)('a' + i % 26);
	for (size_t some; n > 0 && r == 0; n -= (int64_t)some) {
		some = n < (int64_t)sizeof(letters) ? (size_t)n : sizeof(letters);
		r = mp_demo_pour(STDOUT_FILENO, (struct mp_str){letters, some});
	}
	return r;
}

/* The frame around the body, cut in two where the letters belong. */
static int pour_around(struct mp_demo *d, size_t at, int64_t letters)
{
	/* The frame contains the body unchanged, followed by two bytes: brace and newline. */
	size_t split = d->frame.len - 2 - d->body.len + at;
	struct mp_str before = {d->frame.data, split};
	struct mp_str behind = {d->frame.data + split, d->frame.len - split};
	int r = mp_demo_pour(STDOUT_FILENO, before);

	if (r == 0)
		r = pour_letters(letters);
	return r < 0 ? r : mp_demo_pour(STDOUT_FILENO, behind);
}

void mp_demo_end_huge(struct mp_demo_call *c, size_t at)
{
	struct mp_demo *d = c->demo;
	int r = end_result(c);

	mp_check(mp_demo_is_drained(d)); /* so the descriptor is ours for the moment */
	mp_buf_clear(&d->frame);
	if (r == 0)
		r = mp_message_result(&d->frame, mp_demo_id(c), mp_buf_get(&d->body));
	if (r == 0)
		r = mp_buf_add_char(&d->frame, '\n');
	if (r == 0)
		r = pour_around(d, at, c->bytes);
	if (r < 0)
		mp_demo_leave(d, 1);
	settle(c);
}

/* --- errors, notifications, requests ---------------------------------------------------------- */

static void fail(struct mp_demo_call *c, int code, struct mp_str words, struct mp_str data)
{
	struct mp_demo *d = c->demo;

	mp_buf_clear(&d->frame);
	if (mp_message_error(&d->frame, mp_demo_id(c), code, words, data) < 0) {
		mp_demo_drop(c);
		mp_demo_leave(d, 1);
		return;
	}
	answer(c);
}

void mp_demo_fail(struct mp_demo_call *c, int code, const char *format, ...)
{
	char text[sizeof(((struct mcpool_error *)0)->message)];
	va_list args;

	va_start(args, format);
	(void)mp_str_format(text, sizeof(text), format, args); /* cut where it is too long */
	va_end(args);
	fail(c, code, mp_str_of(text), MP_STR(""));
}

void mp_demo_fail_with_data(struct mp_demo_call *c, int code, const char *words)
{
	if (end_object(c->demo) < 0)
		mp_demo_fail(c, code, "%s", words);
	else
		fail(c, code, mp_str_of(words), mp_buf_get(&c->demo->body));
}

void mp_demo_fail_unnamed(struct mp_demo *d, int code, const char *words)
{
	mp_buf_clear(&d->frame);
	if (mp_message_error(&d->frame, MP_STR(""), code, mp_str_of(words), MP_STR("")) < 0 ||
	    send_frame(d, mp_buf_get(&d->frame)) < 0)
		mp_demo_leave(d, 1);
}

void mp_demo_notify(struct mp_demo *d, enum mp_method_id method)
{
	if (end_object(d) < 0)
		return;
	mp_buf_clear(&d->frame);
	if (mp_message_notify(&d->frame, method, mp_buf_get(&d->body)) < 0 ||
	    send_frame(d, mp_buf_get(&d->frame)) < 0)
		return; /* notifications may be lost; an answer that cannot be sent is dealt with */
}

int64_t mp_demo_ask(struct mp_demo *d, enum mp_method_id method)
{
	char id[24];
	struct mp_splice splice = {0};

	snprintf(id, sizeof(id), "%lld", (long long)++d->asked);
	splice.id = mp_str_of(id);
	mp_buf_clear(&d->frame);
	if (end_object(d) < 0 ||
	    mp_message_request(&d->frame, method, mp_buf_get(&d->body), &splice) < 0 ||
	    send_frame(d, mp_buf_get(&d->frame)) < 0)
		mp_demo_leave(d, 1);
	return d->asked;
}
