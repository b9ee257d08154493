/*
 * streamable_request.c - what a message is, and what its request carries.
 * Headers repeat what the body says, so they are made from the body and cannot disagree with it.
 */
#include "base/error.h"
#include "base/mem.h"
#include "rpc/era.h"
#include "transport/streamable.h"

enum {
	CONNECT_MS = 15000,
	TAKEN_MS = 60000, /* for a word about what has no answer, and no deadline of its own */
	VERSION_MAX = 64,
};

int mp_streamable_read(struct mp_streamable *s, struct mp_str text, struct mp_message *m)
{
	return mp_message_scan(&s->tape, text, m, NULL);
}

static int add(struct mp_streamable *s, const char *name, struct mp_str value)
{
	return mp_http_fields_add(&s->fields, mp_str_of(name), value);
}

/* A legacy server's: said once it has told what they are. */
static int add_session(struct mp_streamable *s)
{
	int r = 0;

	if (s->session)
		r = add(s, "Mcp-Session-Id", mp_str_of(s->session));
	if (r == 0 && s->version)
		r = add(s, "MCP-Protocol-Version", mp_str_of(s->version));
	return r;
}

static int add_text(struct mp_streamable *s, const char *name, const struct mp_message *m,
		    mp_value v)
{
	struct mp_str text;
	int r = mp_value_text(m->tape, v, &s->arena, &text);

	return r < 0 ? r : mp_http_fields_add_text(&s->fields, mp_str_of(name), text);
}

static int add_modern(struct mp_streamable *s, const struct mp_message *m)
{
	int r = add_text(s, "MCP-Protocol-Version", m, m->version);

	if (r == 0)
		r = add_text(s, "Mcp-Method", m, m->method_name);
	if (r == 0 && mp_value_is(m->tape, m->subject, MP_TAPE_STRING))
		r = add_text(s, "Mcp-Name", m, m->subject);
	if (r == 0 && s->base.hooks->param_headers)
		r = s->base.hooks->param_headers(s->base.u, m, &s->fields);
	return r;
}

static int address(struct mp_streamable *s, struct mp_http_request *ret)
{
	ret->connect_ms = CONNECT_MS;
	return mp_destination_address(&s->to, &s->fields, ret);
}

int mp_streamable_write_post(struct mp_streamable *s, struct mp_http_post *t,
			     struct mp_http_request *ret)
{
	struct mp_message m;
	int r = 0;

	mp_http_fields_clear(&s->fields);
	mp_arena_reset(&s->arena);
	ret->idle_ms = t->id ? 0 : TAKEN_MS;
	if (t->is_modern)
		r = mp_streamable_read(s, mp_buf_get(&t->body), &m);
	if (r == 0)
		r = add(s, "Content-Type", MP_STR("application/json"));
	if (r == 0)
		r = add(s, "Accept", MP_STR("application/json, text/event-stream"));
	if (r == 0)
		r = t->is_modern ? add_modern(s, &m) : add_session(s);
	return r < 0 ? r : address(s, ret);
}

/* An event id may be invalid as a header; resuming from the beginning is better than never. */
static bool is_sendable(struct mp_str id)
{
	for (size_t i = 0; i < id.len; i++)
		if ((unsigned char)id.p[i] < ' ' || id.p[i] == 0x7f)
			return false;
	return id.len > 0;
}

int mp_streamable_write_get(struct mp_streamable *s, struct mp_http_post *t,
			    struct mp_http_request *ret)
{
	struct mp_str last = mp_http_post_get_last_id(t);
	int r;

	mp_http_fields_clear(&s->fields);
	ret->is_quiet = true;
	r = add(s, "Accept", MP_STR("text/event-stream"));
	if (r == 0)
		r = add_session(s);
	if (r == 0 && is_sendable(last))
		r = add(s, "Last-Event-ID", last);
	return r < 0 ? r : address(s, ret);
}

int mp_streamable_write_delete(struct mp_streamable *s, struct mp_http_request *ret)
{
	int r;

	ret->method = "DELETE";
	mp_http_fields_clear(&s->fields);
	r = add_session(s);
	return r < 0 ? r : address(s, ret);
}

static bool is_plain(struct mp_str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] <= ' ' || s.p[i] > '~')
			return false;
	return s.len > 0;
}

void mp_streamable_learn_version(struct mp_streamable *s, struct mp_str text)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape result;
	struct mp_message m;
	struct mp_str version;

	mp_tape_init(&result, 0);
	mp_arena_reset(&s->arena);
	if (mp_streamable_read(s, text, &m) < 0 || m.kind != MP_MESSAGE_RESULT ||
	    mp_era_open(&m, m.result, &result) < 0 ||
	    mp_era_read_text(&result, MP_ROOT, "protocolVersion", &s->arena, &version) < 0)
		return;
	if (!is_plain(version) || version.len > VERSION_MAX)
		return;
	mp_free(s->version);
	s->version = mp_alloc(version.len + 1);
	memcpy(s->version, version.p, version.len);
	mp_arena_done(&s->arena); /* a legacy server's requests need none */
}
