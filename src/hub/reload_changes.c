/*
 * reload_changes.c - what a reload changed, as words and as JSON.
 * Names come from files: each is redacted and cut by itself when it is kept.
 */
#include "hub/reload_changes.h"

#include <string.h>

#include "base/redact.h"
#include "json/write.h"

enum { LONG_TEXT = 4096 };

/* --- collecting ------------------------------------------------------------------------------ */

static void changes_fail(struct mp_reload_changes *c, int error)
{
	if (c->error == 0)
		c->error = error;
}

/* One name, or two with a dot between; long ones are cut. */
static int name_add(struct mp_buf *out, struct mp_str name)
{
	bool is_cut = name.len > MP_LIMIT_RELOAD_NAME;
	int r;

	if (is_cut)
		name.len = mp_utf8_cut(name.p, MP_LIMIT_RELOAD_NAME);
	r = mp_redact(name, is_cut, out);
	if (r == 0 && is_cut)
		r = mp_buf_add_str(out, MP_STR(MP_STR_CUT_MARK));
	return r;
}

struct adding {
	struct mp_reload_changes *c;
	struct mp_reload_keys *keys;
};

static void keys_add(void *u, struct mp_str key, struct mp_str member)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf name;
	struct adding *a = u;
	const char *kept;
	int r;

	if (a->keys->n++ >= MP_LIMIT_RELOAD_KEYS)
		return;
	mp_buf_init(&name, MP_KIB(4));
	r = name_add(&name, key);
	if (r == 0 && member.len)
		r = mp_buf_add_str(&name, MP_STR("."));
	if (r == 0 && member.len)
		r = name_add(&name, member);
	kept = r == 0 ? mp_arena_dup(&a->c->arena, mp_buf_get(&name)) : NULL;
	if (!kept)
		changes_fail(a->c, r < 0 ? r : mp_arena_get_error(&a->c->arena));
	a->keys->names[a->keys->n - 1] = kept ? kept : "";
}

static void server_add(void *u, const struct mp_config_change *change)
{
	struct mp_reload_changes *c = u;
	const struct mp_entry *e = change->after ? change->after : change->before;
	struct mp_reload_kind *kind;
	struct mp_reload_server *s;
	int r = 0;

	if (change->kind == MP_UNCHANGED)
		return;
	kind = &c->kinds[change->kind];
	if (kind->n >= MP_LIMIT_RELOAD_SERVERS) {
		kind->n++;
		return;
	}
	s = mp_arena_alloc_array(&c->arena, 1, sizeof(*s));
	if (!s || !(s->name = mp_arena_dup(&c->arena, mp_str_of(e->name)))) {
		changes_fail(c, mp_arena_get_error(&c->arena));
		return;
	}
	kind->servers[kind->n++] = s;
	if (change->kind != MP_CHANGED)
		return;
	r = mp_diff_each_key(change->before, change->after, keys_add,
			     &(struct adding){c, &s->keys});
	if (r < 0)
		changes_fail(c, r);
	if (change->was != change->is)
		s->state = mp_status_state_get_name(change->is);
}

void mp_reload_changes_read(struct mp_reload_changes *c, const struct mp_config_set *before,
			    const struct mp_config_set *after)
{
	int r;

	*c = (struct mp_reload_changes){.error = 0};
	mp_arena_init(&c->arena, MP_LIMIT_ARENA);
	r = mp_diff(before, after, server_add, c);
	if (r >= 0 && before) /* a folder that was never loaded had no settings */
		r = mp_diff_each_setting(&before->settings, &after->settings, keys_add,
					 &(struct adding){c, &c->settings});
	if (r < 0)
		changes_fail(c, r);
}

void mp_reload_changes_done(struct mp_reload_changes *c)
{
	mp_arena_done(&c->arena);
}

bool mp_reload_changes_is_empty(const struct mp_reload_changes *c)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(c->kinds); i++)
		if (c->kinds[i].n)
			return false;
	return c->settings.n == 0 && c->error == 0;
}

/* --- as words -------------------------------------------------------------------------------- */

/* How much is named; the rest is "and 3 more". keys 0: no keys at all. */
struct amount {
	size_t servers, keys;
};

struct text {
	struct mp_buf *out;
	struct amount amount;
	int error;
};

static void text_add(struct text *t, const char *before, const char *word)
{
	if (t->error == 0)
		t->error = mp_buf_addf(t->out, "%s%s", before, word);
}

/* Of n there are, so many are named. */
static void text_add_more(struct text *t, size_t n, size_t named, const char *before)
{
	if (n <= named || t->error < 0)
		return;
	t->error = mp_buf_addf(t->out, "%s%zu%s", before, n - named, named ? " more" : "");
}

/* ": args, env.TOKEN and 2 more, now needs-approval" */
static void text_add_keys(struct text *t, const struct mp_reload_keys *keys, const char *state)
{
	size_t most = t->amount.keys < MP_LIMIT_RELOAD_KEYS ? t->amount.keys : MP_LIMIT_RELOAD_KEYS;
	size_t n = keys->n < most ? keys->n : most;

	for (size_t i = 0; i < n; i++)
		text_add(t, i ? ", " : ": ", keys->names[i]);
	if (n || !state)
		text_add_more(t, keys->n, n, n ? " and " : ": ");
	if (state)
		text_add(t, n ? ", now " : ": now ", state);
}

static void text_begin_part(struct text *t, const char *word)
{
	text_add(t, t->out->len ? "; " : "", word);
}

/* A list of names; where keys are shown, each server has a part of its own. */
static void text_add_kind(struct text *t, const struct mp_reload_changes *c,
			  enum mp_change_kind kind)
{
	const struct mp_reload_kind *k = &c->kinds[kind];
	size_t kept = k->n < MP_LIMIT_RELOAD_SERVERS ? k->n : MP_LIMIT_RELOAD_SERVERS;
	size_t n = kept < t->amount.servers ? kept : t->amount.servers;
	bool has_keys = kind == MP_CHANGED && t->amount.keys;
	const char *word = mp_change_kind_get_name(kind);

	for (size_t i = 0; i < n; i++) {
		const struct mp_reload_server *s = k->servers[i];

		if (i == 0 || has_keys)
			text_begin_part(t, word);
		text_add(t, i == 0 || has_keys ? " " : ", ", s->name);
		if (has_keys)
			text_add_keys(t, &s->keys, s->state);
	}
	if (k->n > n && (n == 0 || has_keys))
		text_begin_part(t, word);
	text_add_more(t, k->n, n, n == 0 || has_keys ? " " : " and ");
}

static int changes_write(const struct mp_reload_changes *c, struct amount amount,
			 struct mp_buf *out)
{
	struct text t = {.out = out, .amount = amount};

	for (int kind = MP_ADDED; kind < MP_UNCHANGED; kind++)
		text_add_kind(&t, c, (enum mp_change_kind)kind);
	if (c->settings.n) {
		text_begin_part(&t, "settings");
		text_add_keys(&t, &c->settings, NULL);
	}
	if (c->error)
		text_begin_part(&t, "memory did not suffice to name all");
	if (out->len == 0)
		text_add(&t, "", "nothing changed");
	return t.error;
}

int mp_reload_changes_write_text(const struct mp_reload_changes *c, size_t room, struct mp_buf *out)
{
	static const struct amount amounts[] = {{32, 12}, {8, 6}, {8, 3}, {4, 2}, {8, 0},
						{4, 0},   {2, 0}, {1, 0}, {0, 0}};
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	int r = 0;

	mp_buf_init(&text, MP_LIMIT_RELOAD_CHANGES);
	for (size_t i = 0; i < MP_ARRAY_LEN(amounts); i++) {
		mp_buf_clear(&text);
		r = changes_write(c, amounts[i], &text);
		if (r == MCPOOL_ENOMEM || (r == 0 && text.len <= room))
			break;
	}
	return r < 0 ? r : mp_buf_add_str(out, mp_buf_get(&text));
}

/* --- as JSON --------------------------------------------------------------------------------- */

static void write_more(struct mp_writer *w, const char *key, size_t n, size_t most)
{
	if (n <= most)
		return;
	mp_write_key(w, mp_str_of(key));
	mp_write_u64(w, n - most);
}

static void write_keys(struct mp_writer *w, const char *key, const struct mp_reload_keys *keys)
{
	mp_write_key(w, mp_str_of(key));
	mp_write_begin_array(w);
	for (size_t i = 0; i < keys->n && i < MP_LIMIT_RELOAD_KEYS; i++)
		mp_write_text(w, mp_str_of(keys->names[i]));
	mp_write_end_array(w);
}

static void write_server(struct mp_writer *w, const struct mp_reload_server *s,
			 enum mp_change_kind kind)
{
	mp_write_begin_object(w);
	mp_write_member_text(w, "name", mp_str_of(s->name));
	mp_write_member_text(w, "change", mp_str_of(mp_change_kind_get_name(kind)));
	if (kind == MP_CHANGED) {
		write_keys(w, "keys", &s->keys);
		write_more(w, "moreKeys", s->keys.n, MP_LIMIT_RELOAD_KEYS);
	}
	if (s->state)
		mp_write_member_text(w, "state", mp_str_of(s->state));
	mp_write_end_object(w);
}

static void write_servers(struct mp_writer *w, const struct mp_reload_changes *c)
{
	size_t more = 0;

	mp_write_key(w, MP_STR("servers"));
	mp_write_begin_array(w);
	for (int kind = MP_ADDED; kind < MP_UNCHANGED; kind++) {
		const struct mp_reload_kind *k = &c->kinds[kind];
		size_t n = k->n < MP_LIMIT_RELOAD_SERVERS ? k->n : MP_LIMIT_RELOAD_SERVERS;

		for (size_t i = 0; i < n; i++)
			write_server(w, k->servers[i], (enum mp_change_kind)kind);
		more += k->n - n;
	}
	mp_write_end_array(w);
	write_more(w, "more", more, 0);
}

int mp_reload_changes_write_json(const struct mp_reload_changes *c, const char *folder,
				 int64_t wall_ms, struct mp_buf *out)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;
	int r;

	mp_buf_init(&text, LONG_TEXT);
	r = mp_reload_changes_write_text(c, LONG_TEXT, &text);
	if (r < 0)
		return r;
	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	mp_write_member_i64(&w, "time", wall_ms);
	if (folder[0])
		mp_write_member_text(&w, "folder", mp_str_of(folder));
	mp_write_member_text(&w, "text", mp_buf_get(&text));
	write_servers(&w, c);
	write_keys(&w, "settings", &c->settings);
	write_more(&w, "moreSettings", c->settings.n, MP_LIMIT_RELOAD_KEYS);
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}
