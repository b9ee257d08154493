/*
 * notifications.c - what servers said by themselves.
 */
#include "pool/notifications.h"

#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/redact.h"
#include "rpc/loglevel.h"

enum {
	SECOND_MS = 1000,
	RAW_TEXT = 1024, /* bytes before they are redacted and cut */
};

/* --- the ring -------------------------------------------------------------------------------- */

static void notifications_tell(void *u)
{
	struct mp_notifications *n = u;

	if (n->told == n->last)
		return;
	n->told = n->last;
	MP_LIST_WALK(&n->listeners, link) {
		struct mp_notification_listener *l =
			mp_container_of(link, struct mp_notification_listener, link);

		l->fn(l->u);
	}
}

static void notification_keep(struct mp_notification *one, struct mp_str server, struct mp_str text)
{
	char *room = mp_alloc(server.len + text.len + 2);

	one->texts = room;
	one->server = room;
	one->text = room + server.len + 1;
	memcpy(room, server.p, server.len);
	room[server.len] = '\0';
	if (text.len)
		memcpy(room + server.len + 1, text.p, text.len);
	room[server.len + 1 + text.len] = '\0';
}

static void notifications_put(struct mp_notifications *n, const struct mp_notification *one,
			      const char *server, struct mp_str text)
{
	struct mp_notification *to;

	if (!n->ring)
		n->ring = mp_alloc(MP_LIMIT_NOTIFICATION_RING * sizeof(*n->ring));
	to = &n->ring[n->last % MP_LIMIT_NOTIFICATION_RING];
	mp_free(to->texts);
	*to = *one;
	to->number = ++n->last;
	to->wall_ms = mp_loop_wall_now_ms(n->loop);
	notification_keep(to, mp_str_of(server), text);
	mp_loop_nudge(n->loop);
}

const struct mp_notification *mp_notifications_read(const struct mp_notifications *n,
						    uint64_t *cursor, uint64_t *ret_missed)
{
	uint64_t oldest =
		n->last > MP_LIMIT_NOTIFICATION_RING ? n->last - MP_LIMIT_NOTIFICATION_RING + 1 : 1;

	*ret_missed = *cursor < oldest ? oldest - *cursor : 0;
	*cursor += *ret_missed;
	if (*cursor > n->last)
		return NULL;
	return &n->ring[((*cursor)++ - 1) % MP_LIMIT_NOTIFICATION_RING];
}

/* --- sources --------------------------------------------------------------------------------- */

static void source_tell(struct mp_notifications *n, struct mp_notification_source *s)
{
	struct mp_notification one = {.level = -1, .more = s->more};

	mp_list_remove(&n->silenced, &s->link);
	s->more = 0;
	notifications_put(n, &one, s->server, MP_STR(""));
}

static void tell_silenced(void *u)
{
	struct mp_notifications *n = u;

	MP_LIST_WALK(&n->silenced, link)
		source_tell(n, mp_container_of(link, struct mp_notification_source, link));
}

void mp_notification_source_init(struct mp_notification_source *s)
{
	*s = (struct mp_notification_source){.second_ms = -1};
}

void mp_notification_source_done(struct mp_notifications *n, struct mp_notification_source *s)
{
	if (n && s->more)
		source_tell(n, s);
	s->server = mp_free(s->server);
}

static void source_count(struct mp_notifications *n, struct mp_notification_source *s,
			 const char *server)
{
	if (s->more++ > 0)
		return;
	mp_free(s->server);
	s->server = mp_dup(server);
	if (n->silenced.len == 0)
		mp_timer_start(&n->timer, SECOND_MS);
	mp_list_append(&n->silenced, &s->link);
}

/* May one more of this server be kept in this second? */
static bool source_may_speak(struct mp_notifications *n, struct mp_notification_source *s)
{
	int64_t now = mp_loop_now_ms(n->loop);

	if (s->second_ms < 0 || now - s->second_ms >= SECOND_MS) {
		s->second_ms = now;
		s->kept = 0;
	}
	return s->kept < MP_LIMIT_NOTIFICATION_RATE;
}

/* --- adding ---------------------------------------------------------------------------------- */

static bool is_kept(enum mp_method_id method)
{
	return method == MP_METHOD_MESSAGE || method == MP_METHOD_TOOLS_CHANGED ||
	       method == MP_METHOD_PROMPTS_CHANGED || method == MP_METHOD_RESOURCES_CHANGED ||
	       method == MP_METHOD_RESOURCE_UPDATED;
}

/* A string as text, anything else as it is written. */
static struct mp_str get_words(const struct mp_tape *t, mp_value v, struct mp_arena *arena)
{
	struct mp_str text = mp_value_source(t, v);

	if (mp_value_is(t, v, MP_TAPE_STRING) && text.len <= MP_KIB(16) &&
	    mp_value_text(t, v, arena, &text) < 0)
		text = mp_value_source(t, v);
	return text;
}

/* Redacted before it is cut, because displays get it as it is. */
static int text_add(struct mp_buf *out, struct mp_str raw)
{
	bool is_cut = raw.len > RAW_TEXT;
	int r;

	if (is_cut)
		raw.len = mp_utf8_cut(raw.p, RAW_TEXT);
	r = mp_redact(raw, is_cut, out);
	if (r == 0 && out->len > MP_LIMIT_NOTIFICATION_TEXT)
		out->len = mp_utf8_cut(out->data, MP_LIMIT_NOTIFICATION_TEXT);
	return r;
}

static int log_level_of(const struct mp_message *m)
{
	mp_value level = mp_value_get(m->tape, m->params, "level");

	for (int i = 0; i < MP_LOGLEVELS; i++)
		if (mp_value_text_is(m->tape, level,
				     mp_str_of(mp_loglevel_get_name((enum mp_loglevel)i))))
			return i;
	return -1;
}

static int add_words(const struct mp_message *m, struct mp_buf *out)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	const char *key = m->method == MP_METHOD_MESSAGE ? "data" : "uri";

	mp_arena_init(&arena, MP_KIB(64));
	return text_add(out, get_words(m->tape, mp_value_get(m->tape, m->params, key), &arena));
}

static void notifications_keep(struct mp_notifications *n, const char *server,
			       const struct mp_message *m)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_notification one = {.method = m->method, .level = -1};

	mp_buf_init(&text, (size_t)8 * RAW_TEXT); /* an escaped byte takes four */
	if (add_words(m, &text) < 0)
		mp_buf_clear(&text);
	if (m->method == MP_METHOD_MESSAGE)
		one.level = log_level_of(m);
	notifications_put(n, &one, server, mp_buf_get(&text));
}

void mp_notifications_add(struct mp_notifications *n, struct mp_notification_source *s,
			  const char *server, const struct mp_message *m)
{
	if (!is_kept(m->method))
		return;
	if (!source_may_speak(n, s)) {
		source_count(n, s, server);
		return;
	}
	if (s->more)
		source_tell(n, s);
	s->kept++;
	notifications_keep(n, server, m);
}

/* --- writing --------------------------------------------------------------------------------- */

static void write_count(struct mp_writer *w, struct mp_str key, uint64_t count)
{
	if (count == 0)
		return;
	mp_write_key(w, key);
	mp_write_u64(w, count);
}

void mp_notification_write(struct mp_writer *w, const struct mp_notification *one, uint64_t missed)
{
	mp_write_begin_object(w);
	mp_write_key(w, MP_STR("number"));
	mp_write_u64(w, one->number);
	mp_write_member_i64(w, "time", one->wall_ms);
	mp_write_member_text(w, "server", mp_str_of(one->server));
	if (one->method != MP_METHOD_UNKNOWN) {
		mp_write_member_text(w, "method", mp_str_of(mp_method_get(one->method)->name));
		mp_write_member_text(w, "text", mp_str_of(one->text));
	}
	if (one->level >= 0)
		mp_write_member_text(w, "level",
				     mp_str_of(mp_loglevel_get_name((enum mp_loglevel)one->level)));
	write_count(w, MP_STR("more"), one->more);
	write_count(w, MP_STR("missed"), missed);
	mp_write_end_object(w);
}

/* --- life ------------------------------------------------------------------------------------ */

void mp_notifications_init(struct mp_notifications *n, struct mp_loop *loop)
{
	*n = (struct mp_notifications){.loop = loop};
	mp_list_init(&n->silenced);
	mp_list_init(&n->listeners);
	mp_timer_init(&n->timer, loop, tell_silenced, n);
	mp_loop_at_turn_end(loop, &n->hook, notifications_tell, n);
}

void mp_notifications_done(struct mp_notifications *n)
{
	mp_check(n->listeners.len == 0 && n->silenced.len == 0);
	mp_timer_stop(&n->timer);
	mp_loop_forget_turn_end(n->loop, &n->hook);
	for (size_t i = 0; n->ring && i < MP_LIMIT_NOTIFICATION_RING; i++)
		mp_free(n->ring[i].texts);
	n->ring = mp_free(n->ring);
}

void mp_notification_listener_join(struct mp_notifications *n, struct mp_notification_listener *l,
				   void (*fn)(void *u), void *u)
{
	*l = (struct mp_notification_listener){.fn = fn, .u = u};
	mp_list_append(&n->listeners, &l->link);
}

void mp_notification_listener_leave(struct mp_notifications *n, struct mp_notification_listener *l)
{
	mp_list_remove(&n->listeners, &l->link);
}
