/*
 * resources.c - the resources of the demo server: one row each, and a template.
 * What is subscribed to is a bit per row, so no client can make that grow.
 */
#include <inttypes.h>
#include <stdio.h>

#include "demo/demo.h"

static void read_readme(struct mp_writer *w, struct mp_demo *d);
static void read_logo(struct mp_writer *w, struct mp_demo *d);
static void read_counter(struct mp_writer *w, struct mp_demo *d);

static const struct resource {
	const char *uri, *name, *title, *description, *mime_type;
	void (*read)(struct mp_writer *w, struct mp_demo *d); /* writes text or blob */
} resources[] = {
	{"demo://readme", "readme", "Read me", "What this server is for.", "text/plain",
	 read_readme},
	{"demo://logo", "logo", "Logo", "Eight by eight dots.", "image/png", read_logo},
	{"demo://counter", "counter", "Counter", "A number that moves with every read.",
	 "text/plain", read_counter},
};
enum { COUNTER = 1u << 2 };

#define GREETING_PREFIX "demo://greeting/"

/* A ring with a dot in it: one bit per dot, two colours. */
#define LOGO                                                         \
	"iVBORw0KGgoAAAANSUhEUgAAAAgAAAAIAQMAAAD+wSzIAAAABlBMVEX///" \
	"8fb+uXBXurAAAAFUlEQVR42mOwYXBimMm"                          \
	"wFAhnAlk2ABvQA3km5adLAAAAAElFTkSuQmCC"

/* --- lists ----------------------------------------------------------------------------------- */

static void write_about(struct mp_writer *w, const char *name, const char *title,
			const char *description, const char *mime_type)
{
	mp_write_member_text(w, "name", mp_str_of(name));
	mp_write_member_text(w, "title", mp_str_of(title));
	mp_write_member_text(w, "description", mp_str_of(description));
	mp_write_member_text(w, "mimeType", mp_str_of(mime_type));
}

void mp_demo_resources_list(struct mp_demo_call *c)
{
	struct mp_writer *w = mp_demo_begin(c);

	mp_write_key(w, MP_STR("resources"));
	mp_write_begin_array(w);
	for (const struct resource *r = resources; r < resources + MP_ARRAY_LEN(resources); r++) {
		mp_write_begin_object(w);
		mp_write_member_text(w, "uri", mp_str_of(r->uri));
		write_about(w, r->name, r->title, r->description, r->mime_type);
		mp_write_end_object(w);
	}
	mp_write_end_array(w);
	mp_demo_end_cached(c, MP_DEMO_TTL_MS);
}

void mp_demo_templates_list(struct mp_demo_call *c)
{
	struct mp_writer *w = mp_demo_begin(c);

	mp_write_key(w, MP_STR("resourceTemplates"));
	mp_write_begin_array(w);
	mp_write_begin_object(w);
	mp_write_member_text(w, "uriTemplate", MP_STR(MP_DEMO_GREETING));
	write_about(w, "greeting", "Greeting", "A greeting for somebody.", "text/plain");
	mp_write_end_object(w);
	mp_write_end_array(w);
	mp_demo_end_cached(c, MP_DEMO_TTL_MS);
}

/* --- what is in them ------------------------------------------------------------------------- */

static void read_readme(struct mp_writer *w, struct mp_demo *d)
{
	(void)d;
	mp_write_member_text(
		w, "text",
		MP_STR("This is mcpool's demo server.\n\nIt has tools to try, this text, a "
		       "picture, a counter and greetings.\n"));
}

static void read_logo(struct mp_writer *w, struct mp_demo *d)
{
	(void)d;
	mp_write_member_text(w, "blob", MP_STR(LOGO));
}

static void read_counter(struct mp_writer *w, struct mp_demo *d)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, d->counter);
	mp_write_member_text(w, "text", mp_str_of(text));
}

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
		return (c | 0x20) - 'a' + 10;
	return -1;
}

/* The name in the URI, as it was before it was put there. Never longer than it. */
static struct mp_str decode(struct mp_str s, char *out)
{
	size_t n = 0;

	for (size_t i = 0; i < s.len; i++) {
		bool escaped = s.p[i] == '%' && i + 2 < s.len && hex(s.p[i + 1]) >= 0 &&
			       hex(s.p[i + 2]) >= 0;

		out[n++] = escaped ? (char)(hex(s.p[i + 1]) * 16 + hex(s.p[i + 2])) : s.p[i];
		i += escaped ? 2 : 0;
	}
	return (struct mp_str){out, n};
}

/* --- resources/read -------------------------------------------------------------------------- */

static struct mp_writer *begin_contents(struct mp_demo_call *c, struct mp_str uri, const char *type)
{
	struct mp_writer *w = mp_demo_begin(c);

	mp_write_key(w, MP_STR("contents"));
	mp_write_begin_array(w);
	mp_write_begin_object(w);
	mp_write_member_text(w, "uri", uri);
	mp_write_member_text(w, "mimeType", mp_str_of(type));
	return w;
}

static void end_contents(struct mp_demo_call *c, struct mp_writer *w, int64_t ttl_ms)
{
	mp_write_end_object(w);
	mp_write_end_array(w);
	mp_demo_end_cached(c, ttl_ms);
}

static void greet(struct mp_demo_call *c, struct mp_str uri)
{
	struct mp_str name = {uri.p + strlen(GREETING_PREFIX), uri.len - strlen(GREETING_PREFIX)};
	size_t size = sizeof("Hello, !") + name.len;
	char *text = mp_arena_alloc(&c->demo->arena, size);
	char *decoded = mp_arena_alloc(&c->demo->arena, name.len + 1);
	struct mp_writer *w;

	if (!text || !decoded) {
		mp_demo_fail(c, MP_DEMO_INVALID_PARAMS, "the uri is too long");
		return;
	}
	name = decode(name, decoded);
	memcpy(text, "Hello, ", 7);
	memcpy(text + 7, name.p, name.len);
	text[7 + name.len] = '!';
	w = begin_contents(c, uri, "text/plain");
	mp_write_member_text(w, "text", (struct mp_str){text, name.len + 8});
	end_contents(c, w, MP_DEMO_TTL_MS);
}

static const struct resource *find(const struct mp_demo *d, mp_value uri)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(resources); i++)
		if (mp_value_text_is(&d->tape, uri, mp_str_of(resources[i].uri)))
			return &resources[i];
	return NULL;
}

static void fail_missing(struct mp_demo_call *c, mp_value uri)
{
	mp_write_member_raw(mp_demo_begin_object(c->demo), "uri",
			    mp_value_source(&c->demo->tape, uri));
	mp_demo_fail_with_data(c, c->modern ? MP_DEMO_INVALID_PARAMS : MP_DEMO_NO_RESOURCE,
			       "there is no such resource");
}

void mp_demo_resources_read(struct mp_demo_call *c)
{
	struct mp_demo *d = c->demo;
	mp_value subject = c->message->subject;
	const struct resource *r = find(d, subject);
	struct mp_str uri = {0};
	struct mp_writer *w;
	bool moves;

	if (mp_value_text(&d->tape, subject, &d->arena, &uri) < 0)
		mp_demo_fail(c, MP_DEMO_INVALID_PARAMS, "resources/read needs a uri, a string");
	else if (mp_str_starts(uri, MP_STR(GREETING_PREFIX)) && uri.len > strlen(GREETING_PREFIX))
		greet(c, uri);
	else if (!r)
		fail_missing(c, subject);
	else {
		w = begin_contents(c, uri, r->mime_type);
		r->read(w, d);
		moves = r->read == read_counter;
		end_contents(c, w, moves ? 0 : MP_DEMO_TTL_MS);
		if (moves)
			mp_demo_move_counter(d);
	}
}

void mp_demo_move_counter(struct mp_demo *d)
{
	d->counter++;
	mp_demo_tell_updated(d, COUNTER);
}

/* --- subscriptions --------------------------------------------------------------------------- */

uint32_t mp_demo_resource_bit(const struct mp_demo *d, mp_value uri)
{
	const struct resource *r = find(d, uri);

	return r ? 1u << (r - resources) : 0;
}

const char *mp_demo_resource_uri(uint32_t bit)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(resources); i++)
		if (bit == 1u << i)
			return resources[i].uri;
	return NULL;
}

void mp_demo_subscribe(struct mp_demo_call *c)
{
	uint32_t bit = mp_demo_resource_bit(c->demo, c->message->subject);

	if (!mp_value_is(&c->demo->tape, c->message->subject, MP_TAPE_STRING)) {
		mp_demo_fail(c, MP_DEMO_INVALID_PARAMS, "a uri is needed, a string");
		return;
	}
	if (!bit) {
		fail_missing(c, c->message->subject);
		return;
	}
	c->demo->watched |= bit;
	mp_demo_ping(c); /* an empty result */
}

void mp_demo_unsubscribe(struct mp_demo_call *c)
{
	c->demo->watched &= ~mp_demo_resource_bit(c->demo, c->message->subject);
	mp_demo_ping(c);
}
