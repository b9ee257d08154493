/*
 * messages_http.h - agents over HTTP: legacy ones in a session, modern ones without. Each request
 * has a connection until it is answered.
 */
#ifndef TEST_MESSAGES_HTTP_H
#define TEST_MESSAGES_HTTP_H

#include "messages_stage.h"

enum { OUT_LIMIT = 100000 }; /* of what one connection writes */

static void finish(struct client *c, struct conn *k, int status, size_t len)
{
	const char *id = promises_get_owed(&k->owed);

	c->stage->refused += status >= 400;
	if (status < 400 && id && !k->is_get)
		complain(c->stage, "an HTTP answer without that of this id", mp_str_of(id));
	k->owed.n = 0;
	k->is_busy = false;
	k->at += len;
	if (k->conn.out.len > OUT_LIMIT)
		memory_conn_end(&k->conn);
}

static void hear_events(struct client *c, struct conn *k, struct mp_str chunk)
{
	ptrdiff_t at = -1, end;

	while ((at = mp_str_find(chunk, MP_STR("data: "), (size_t)(at + 1))) >= 0) {
		end = mp_str_find(chunk, MP_STR("\n"), (size_t)at);
		if (end < 0)
			complain(c->stage, "an event without an end", chunk);
		else if (end > at + 6)
			hear(c, k, (struct mp_str){chunk.p + at + 6, (size_t)(end - at - 6)});
		at = end < 0 ? at : end;
	}
}

/* True when the stream has ended. */
static bool read_chunks(struct client *c, struct conn *k, struct mp_str all)
{
	for (;;) {
		struct mp_str rest = {all.p + k->chunk, all.len - k->chunk};
		ptrdiff_t head = mp_str_find(rest, MP_STR("\r\n"), 0);
		size_t n = head < 0 ? 0 : strtoul(rest.p, NULL, 16);

		if (head < 0 || (size_t)head + 2 + n + 2 > rest.len)
			return false;
		k->chunk += (size_t)head + 2 + n + 2;
		if (n == 0)
			return true;
		hear_events(c, k, (struct mp_str){rest.p + head + 2, n});
	}
}

static void note_session(struct client *c, struct mp_str head)
{
	ptrdiff_t at = mp_str_find(head, MP_STR("Mcp-Session-Id: "), 0);

	if (at >= 0)
		snprintf(c->id, sizeof(c->id), "%s", head.p + at + 16);
}

/* An error of one request, or of all that was posted. */
static void hear_refusal(struct client *c, struct conn *k, struct mp_str text)
{
	struct mp_message m;

	check_marks(c, text);
	if (mp_str_find(text, MP_STR("no such session"), 0) >= 0 ||
	    mp_str_find(text, MP_STR("session has ended"), 0) >= 0)
		c->id[0] = '\0'; /* the next message begins another */
	else if (mp_message_scan(&c->stage->tape, text, &m, NULL) < 0)
		complain(c->stage, "a refusal that is not a message", text);
	else if (m.id.len && !mp_str_eq(m.id, MP_STR("null")) && !promises_take(&k->owed, m.id))
		complain(c->stage, "a refusal of nothing", text);
}

static void read_answer(struct client *c, struct conn *k)
{
	struct mp_str all, head;
	ptrdiff_t end, length;
	size_t len;
	int status = 0;

	if (mp_buf_terminate(&k->conn.out) < 0 || k->conn.out.len <= k->at)
		return;
	all = (struct mp_str){k->conn.out.data + k->at, k->conn.out.len - k->at};
	end = mp_str_find(all, MP_STR("\r\n\r\n"), 0);
	if (end < 0)
		return;
	head = (struct mp_str){all.p, (size_t)end + 2};
	mp_check(sscanf(all.p, "HTTP/1.1 %d", &status) == 1);
	length = mp_str_find(head, MP_STR("Content-Length: "), 0);
	if (status < 400)
		note_session(c, head);
	if (length < 0 && status != 204) {
		k->chunk = k->chunk ? k->chunk : (size_t)end + 4;
		if (read_chunks(c, k, all))
			finish(c, k, status, k->chunk);
		return;
	}
	len = length < 0 ? 0 : strtoul(head.p + length + 16, NULL, 10);
	if ((size_t)end + 4 + len > all.len)
		return;
	if (len && status < 400)
		hear(c, k, (struct mp_str){all.p + end + 4, len});
	else if (len)
		hear_refusal(c, k, (struct mp_str){all.p + end + 4, len});
	finish(c, k, status, (size_t)end + 4 + len);
}

static void read_answers(struct client *c)
{
	for (int i = 0; i < CONNS; i++) {
		struct conn *k = &c->conns[i];

		if (k->is_busy)
			read_answer(c, k);
		if (k->is_busy && k->conn.closed)
			complain(c->stage, "a connection ended without an answer", MP_STR(""));
	}
}

static void hang_up(struct conn *k)
{
	if (k->conn.base.hooks && !k->conn.closed)
		memory_conn_break(&k->conn);
	k->is_busy = false;
	k->owed.n = 0;
}

static struct conn *take_conn(struct client *c)
{
	struct stage *s = c->stage;
	struct conn *k = NULL;

	for (int i = 0; i < CONNS && !k; i++)
		if (!c->conns[i].is_busy)
			k = &c->conns[i];
	if (!k) {
		k = &c->conns[pick(&s->g, CONNS)]; /* one that waits leaves */
		hang_up(k);
		fleet_settle(&s->front.f);
	}
	if (!k->conn.base.hooks || k->conn.closed || k->conn.shut) {
		fleet_settle(&s->front.f);
		hang_up(k);
		memory_conn_done(&k->conn);
		memory_conn_init(&k->conn);
		mp_http_service_take(&s->front.face->service, &k->conn.base);
	}
	k->at = k->conn.out.len;
	k->chunk = 0;
	k->is_busy = true;
	k->is_get = false;
	k->owed.n = 0;
	return k;
}

static void ask(struct client *c, struct conn *k, const char *verb, const char *headers,
		struct mp_str body)
{
	struct front *f = &c->stage->front;
	struct mp_buf *b = &c->stage->request;

	mp_buf_clear(b);
	mp_check(mp_buf_addf(b,
			     "%s /mcp HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n"
			     "Content-Length: %zu\r\n" JSON_HEADERS "%s\r\n",
			     verb, f->host, f->face->admit.token.text, body.len, headers) == 0);
	mp_check(mp_buf_add_str(b, body) == 0);
	memory_conn_say(&k->conn, mp_buf_get(b));
}

static void begin_http(struct client *c)
{
	struct conn *k = take_conn(c);

	for (int i = 0; i < CONNS; i++)
		promises_release_all(&c->conns[i].owed);
	promises_add(&k->owed, MP_STR("\"i\""));
	ask(c, k, "POST", "", mp_str_of(initialize));
	fleet_settle(&c->stage->front.f);
	read_answers(c);
	if (!c->id[0])
		complain(c->stage, "no session", MP_STR(""));
}

static void say_legacy(struct client *c, struct mp_str text)
{
	struct messages *g = &c->stage->g;
	char headers[300];
	struct mp_message m;
	struct conn *k;

	if (!c->id[0])
		begin_http(c);
	k = take_conn(c);
	snprintf(headers, sizeof(headers), "%sMcp-Session-Id: %s\r\n",
		 pick(g, 3) ? "MCP-Protocol-Version: 2025-11-25\r\n" : "", c->id);
	switch (pick(g, 60)) {
	case 0:
		for (int i = 0; i < CONNS; i++)
			promises_release_all(&c->conns[i].owed);
		ask(c, k, "DELETE", headers, MP_STR(""));
		c->id[0] = '\0';
		return;
	case 1:
		k->is_get = true;
		ask(c, k, "GET", headers, MP_STR(""));
		return;
	default:
		expect(c, &k->owed, text, &m);
		ask(c, k, "POST", headers, text);
	}
}

/* Headers that say the same, as far as they can. */
static void say_modern(struct client *c, struct mp_str text)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct messages *g = &c->stage->g;
	struct mp_str method = {0}, name = {0};
	struct mp_message m;
	struct conn *k = take_conn(c);
	char headers[1500];
	int n;

	mp_arena_init(&arena, MP_MIB(1));
	expect(c, &k->owed, text, &m);
	if (m.kind != MP_MESSAGE_BATCH) {
		(void)!mp_value_text(m.tape, m.method_name, &arena, &method);
		(void)!mp_value_text(m.tape, m.subject, &arena, &name);
	}
	n = snprintf(headers, sizeof(headers), "MCP-Protocol-Version: 2026-07-28\r\n");
	if (method.len && pick(g, 40))
		n += snprintf(headers + n, sizeof(headers) - (size_t)n, "Mcp-Method: %.*s\r\n",
			      MP_STR_ARGS(method));
	if (name.len && name.len < 800 && !memchr(name.p, '\0', name.len))
		snprintf(headers + n, sizeof(headers) - (size_t)n, "Mcp-Name: %.*s\r\n",
			 MP_STR_ARGS(name));
	ask(c, k, "POST", headers, text);
}

static void leave_http(struct client *c)
{
	for (int i = 0; i < CONNS; i++) {
		hang_up(&c->conns[i]);
		fleet_settle(&c->stage->front.f);
		memory_conn_done(&c->conns[i].conn);
		promises_done(&c->conns[i].owed);
		c->conns[i] = (struct conn){.is_busy = false};
	}
	c->id[0] = '\0';
}

#endif
