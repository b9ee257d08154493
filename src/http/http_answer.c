/*
 * http_answer.c - the answer of an exchange: one body, an event stream, or a tunnel.
 * A head is put together on the stack, and head and body leave in one write.
 */
#include <stdio.h>

#include "base/mem.h"
#include "http/http_service.h"
#include "net/sse.h"
#include "rpc/message.h"

enum { HEAD = 2048 }; /* bytes of a head; ours are a quarter of that, and small bodies fit in */

struct head {
	char bytes[HEAD];
	size_t len;
};

static void http_answer_add(struct head *h, struct mp_str s)
{
	mp_check(s.len <= HEAD - h->len);
	memcpy(h->bytes + h->len, s.p, s.len);
	h->len += s.len;
}

static void add_text(struct head *h, const char *text)
{
	http_answer_add(h, mp_str_of(text));
}

static void add_number(struct head *h, uint64_t number)
{
	char digits[MP_STR_DIGITS];

	http_answer_add(h, mp_str_from_u64(number, digits));
}

static const struct {
	int status;
	const char *reason;
} reasons[] = {
	{101, "Switching Protocols"},
	{200, "OK"},
	{202, "Accepted"},
	{204, "No Content"},
	{400, "Bad Request"},
	{401, "Unauthorized"},
	{403, "Forbidden"},
	{404, "Not Found"},
	{405, "Method Not Allowed"},
	{406, "Not Acceptable"},
	{408, "Request Timeout"},
	{409, "Conflict"},
	{413, "Content Too Large"},
	{414, "URI Too Long"},
	{415, "Unsupported Media Type"},
	{417, "Expectation Failed"},
	{426, "Upgrade Required"},
	{429, "Too Many Requests"},
	{431, "Request Header Fields Too Large"},
	{500, "Internal Server Error"},
	{501, "Not Implemented"},
	{503, "Service Unavailable"},
	{505, "HTTP Version Not Supported"},
	{508, "Loop Detected"},
};

/* "Not Found"; "Unknown" for a status that we never say. */
static const char *http_get_reason(int status)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(reasons); i++)
		if (reasons[i].status == status)
			return reasons[i].reason;
	return "Unknown";
}

/* The lines that every answer has. */
static void begin_head(struct mp_exchange *x, struct head *h, int status, const char *headers)
{
	struct mp_http_service *s = mp_http_connection_of(x)->service;

	h->len = 0;
	http_answer_add(h, MP_STR("HTTP/1.1 "));
	add_number(h, (uint64_t)status);
	http_answer_add(h, MP_STR(" "));
	add_text(h, http_get_reason(status));
	http_answer_add(h, MP_STR("\r\nDate: "));
	http_answer_add(h, mp_http_date_get(&s->date, mp_loop_wall_now_ms(s->loop)));
	http_answer_add(h, MP_STR("\r\n"));
	if (headers)
		add_text(h, headers);
	if (!x->keeps_alive && status != 101)
		http_answer_add(h, MP_STR("Connection: close\r\n"));
}

/* The answer is complete. */
static void http_answer_conclude(struct mp_exchange *x)
{
	struct mp_http_connection *c = mp_http_connection_of(x);

	x->hooks = NULL;
	mp_http_connection_advance(c, x->keeps_alive ? MP_HTTP_CONNECTION_ON_ANSWERED
						     : MP_HTTP_CONNECTION_ON_SAID);
}

void mp_exchange_answer(struct mp_exchange *x, const struct mp_http_answer *a)
{
	struct mp_http_connection *c = mp_http_connection_of(x);
	bool has_body = !x->is_head && a->body.len;
	struct mp_str pieces[2];
	MP_UNSET struct head h;

	mp_check(!x->is_stream && !x->is_tunnel);
	begin_head(x, &h, a->status, a->headers);
	if (a->type) {
		http_answer_add(&h, MP_STR("Content-Type: "));
		add_text(&h, a->type);
		http_answer_add(&h, MP_STR("\r\n"));
	}
	if (a->status != 204) {
		http_answer_add(&h, MP_STR("Content-Length: "));
		add_number(&h, a->body.len);
		http_answer_add(&h, MP_STR("\r\n"));
	}
	http_answer_add(&h, MP_STR("Cache-Control: no-store\r\n\r\n"));
	if (has_body && a->body.len <= HEAD - h.len) {
		http_answer_add(&h, a->body);
		has_body = false;
	}
	pieces[0] = (struct mp_str){h.bytes, h.len};
	pieces[1] = a->body;
	if (!mp_http_connection_write(c, pieces, has_body ? 2 : 1))
		x->keeps_alive = false;
	http_answer_conclude(x);
}

void mp_exchange_refuse(struct mp_exchange *x, const struct mp_http_refusal *why)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf body;
	struct mp_http_answer a = {.status = why->status, .headers = why->headers};

	mp_buf_init(&body, MP_KIB(4));
	if (mp_message_error(&body, (struct mp_str){NULL, 0}, -32600, mp_str_of(why->words),
			     (struct mp_str){NULL, 0}) == 0) {
		a.type = "application/json";
		a.body = mp_buf_get(&body);
	}
	mp_exchange_answer(x, &a);
}

void mp_exchange_cut(struct mp_exchange *x)
{
	x->hooks = NULL;
	mp_http_connection_advance(mp_http_connection_of(x), MP_HTTP_CONNECTION_ON_DROP);
}

/* --- streams -------------------------------------------------------------------------------- */

void mp_exchange_begin_stream(struct mp_exchange *x, const char *headers)
{
	struct mp_str piece;
	MP_UNSET struct head h;

	mp_check(!x->is_stream && !x->is_tunnel);
	x->is_stream = true;
	if (x->is_old)
		x->keeps_alive = false; /* it ends with the connection */
	begin_head(x, &h, 200, headers);
	if (!x->is_old)
		http_answer_add(&h, MP_STR("Transfer-Encoding: chunked\r\n"));
	http_answer_add(&h, MP_STR("Content-Type: text/event-stream\r\nX-Accel-Buffering: no\r\n"
				   "Cache-Control: no-store\r\n\r\n"));
	piece = (struct mp_str){h.bytes, h.len};
	(void)mp_http_connection_write(mp_http_connection_of(x), &piece, 1); /* told later */
}

/* What was put together in scratch, as a chunk. */
static void send_scratch(struct mp_exchange *x, int r)
{
	struct mp_http_connection *c = mp_http_connection_of(x);
	struct mp_buf *b = &c->service->scratch;
	char size[20];
	struct mp_str pieces[3] = {{size, 0}, mp_buf_get(b), MP_STR("\r\n")};

	mp_check(x->is_stream);
	if (r < 0) { /* no memory: the client sees a stream that breaks */
		mp_http_connection_lose(c);
		return;
	}
	pieces[0].len = (size_t)snprintf(size, sizeof(size), "%zx\r\n", b->len);
	(void)mp_http_connection_write(c, x->is_old ? pieces + 1 : pieces, x->is_old ? 1 : 3);
	mp_buf_shrink(b, MP_KIB(64));
}

static struct mp_buf *get_scratch(struct mp_exchange *x)
{
	struct mp_buf *b = &mp_http_connection_of(x)->service->scratch;

	mp_buf_clear(b);
	return b;
}

void mp_exchange_event(struct mp_exchange *x, struct mp_str type, struct mp_str id,
		       struct mp_str data)
{
	send_scratch(x, mp_sse_write(get_scratch(x), type, id, data));
}

void mp_exchange_retry(struct mp_exchange *x, int64_t ms)
{
	send_scratch(x, mp_sse_write_retry(get_scratch(x), ms));
}

void mp_exchange_comment(struct mp_exchange *x)
{
	send_scratch(x, mp_sse_write_comment(get_scratch(x)));
}

void mp_exchange_end(struct mp_exchange *x)
{
	static const struct mp_str last = MP_STR("0\r\n\r\n");

	mp_check(x->is_stream || x->is_tunnel);
	if (x->is_tunnel ||
	    (!x->is_old && !mp_http_connection_write(mp_http_connection_of(x), &last, 1)))
		x->keeps_alive = false;
	http_answer_conclude(x);
}

/* --- tunnels -------------------------------------------------------------------------------- */

void mp_exchange_begin_tunnel(struct mp_exchange *x, const char *headers)
{
	struct mp_str piece;
	MP_UNSET struct head h;

	mp_check(!x->is_stream && !x->is_tunnel && x->hooks);
	x->is_tunnel = true;
	begin_head(x, &h, 101, headers);
	http_answer_add(&h, MP_STR("\r\n"));
	piece = (struct mp_str){h.bytes, h.len};
	(void)mp_http_connection_write(mp_http_connection_of(x), &piece, 1); /* told later */
	mp_http_connection_advance(mp_http_connection_of(x), MP_HTTP_CONNECTION_ON_UPGRADED);
}

void mp_exchange_write(struct mp_exchange *x, struct mp_str bytes)
{
	mp_check(x->is_tunnel);
	(void)mp_http_connection_write(mp_http_connection_of(x), &bytes, 1); /* told later */
}

size_t mp_exchange_get_unsent(struct mp_exchange *x)
{
	struct mp_http_connection *c = mp_http_connection_of(x);

	return c->conn ? mp_conn_get_waiting(c->conn) : 0;
}
