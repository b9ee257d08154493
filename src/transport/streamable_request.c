/*
 * streamable_request.c - what requests carry.
 * Headers repeat what the body says: the encoder notes that while it writes the body.
 */
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "rpc/era.h"
#include "rpc/outgoing.h"
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

static int streamable_request_add(struct mp_http_fields *fields, const char *name,
				  struct mp_str value)
{
	return mp_http_fields_add(fields, mp_str_of(name), value);
}

/* A legacy server's: said once it has told what they are. */
static int add_session(const struct mp_streamable *s, struct mp_http_fields *fields)
{
	int r = 0;

	if (s->session)
		r = streamable_request_add(fields, "Mcp-Session-Id", mp_str_of(s->session));
	if (r == 0 && s->version)
		r = streamable_request_add(fields, "MCP-Protocol-Version", mp_str_of(s->version));
	return r;
}

static int add_modern(const struct mp_streamable *s, const struct mp_outgoing *o,
		      struct mp_http_fields *fields)
{
	int r = streamable_request_add(fields, "MCP-Protocol-Version", o->version);

	if (r == 0)
		r = streamable_request_add(fields, "Mcp-Method",
					   mp_str_of(mp_method_get(o->method)->name));
	if (r == 0 && o->name.len)
		r = mp_http_fields_add_text(fields, MP_STR("Mcp-Name"), o->name);
	if (r == 0 && s->base.hooks->param_headers)
		r = s->base.hooks->param_headers(s->base.u, o, fields);
	return r;
}

int mp_streamable_write_headers(struct mp_streamable *s, const struct mp_outgoing *o,
				struct mp_http_fields *fields)
{
	int r = streamable_request_add(fields, "Content-Type", MP_STR("application/json"));

	if (r == 0)
		r = streamable_request_add(fields, "Accept",
					   MP_STR("application/json, text/event-stream"));
	if (r == 0)
		r = o->version.len ? add_modern(s, o, fields) : add_session(s, fields);
	return r < 0 ? r : mp_destination_add_headers(&s->to, fields);
}

static void streamable_request_address(const struct mp_streamable *s,
				       const struct mp_http_fields *fields,
				       struct mp_http_request *ret)
{
	ret->connect_ms = CONNECT_MS;
	mp_destination_address(&s->to, fields, ret);
}

void mp_streamable_write_post(struct mp_streamable *s, struct mp_http_post *t,
			      struct mp_http_request *ret)
{
	ret->idle_ms = t->id ? 0 : TAKEN_MS;
	streamable_request_address(s, &t->headers, ret);
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
	struct mp_http_fields *fields = &t->headers;
	struct mp_str last = mp_http_post_get_last_id(t);
	int r;

	mp_http_fields_clear(fields);
	ret->is_quiet = true;
	r = streamable_request_add(fields, "Accept", MP_STR("text/event-stream"));
	if (r == 0)
		r = add_session(s, fields);
	if (r == 0 && is_sendable(last))
		r = streamable_request_add(fields, "Last-Event-ID", last);
	if (r == 0)
		r = mp_destination_add_headers(&s->to, fields);
	streamable_request_address(s, fields, ret);
	return r;
}

int mp_streamable_write_delete(struct mp_streamable *s, struct mp_http_fields *fields,
			       struct mp_http_request *ret)
{
	int r = add_session(s, fields);

	ret->method = "DELETE";
	if (r == 0)
		r = mp_destination_add_headers(&s->to, fields);
	streamable_request_address(s, fields, ret);
	return r;
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
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mp_message m;
	struct mp_str version;

	mp_tape_init(&result, 0);
	mp_arena_init(&arena, MP_LIMIT_ARENA);
	if (mp_streamable_read(s, text, &m) < 0 || m.kind != MP_MESSAGE_RESULT ||
	    mp_era_open(&m, m.result, &result) < 0 ||
	    mp_era_read_text(&result, MP_ROOT, "protocolVersion", &arena, &version) < 0)
		return;
	if (!is_plain(version) || version.len > VERSION_MAX)
		return;
	mp_free(s->version);
	s->version = mp_alloc(version.len + 1);
	memcpy(s->version, version.p, version.len);
}
