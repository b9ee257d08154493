/*
 * consent_diff.c - what changed in something that was approved once.
 */
#include <string.h>

#include "base/limits.h"
#include "cli/consent.h"

struct side {
	struct mp_tape tape;
	struct mp_arena arena;
};

struct comparing {
	struct side before, now;
	struct mp_buf path;
	mp_consent_diff_fn fn;
	void *u;
};

static int compare(struct comparing *c, mp_value before, mp_value now);

static struct mp_str source(const struct side *s, mp_value v)
{
	return v == MP_NONE ? (struct mp_str){"", 0} : mp_value_source(&s->tape, v);
}

/* One member; the path is longer meanwhile. */
static int compare_member(struct comparing *c, struct mp_str key, mp_value before, mp_value now)
{
	size_t len = c->path.len;
	int r = len ? mp_buf_add_char(&c->path, '.') : 0;

	if (r == 0)
		r = mp_buf_add_str(&c->path, key);
	if (r == 0)
		r = compare(c, before, now);
	c->path.len = len;
	return r;
}

/* What `a` has, compared with `b`; or, where gone is wanted, what it has alone. */
static int walk(struct comparing *c, struct side *a, mp_value in_a, struct side *b, mp_value in_b,
		bool gone)
{
	struct mp_str key;
	int r = 0;

	MP_VALUE_EACH(&a->tape, in_a, k) {
		mp_value other;

		r = mp_value_text(&a->tape, k, &a->arena, &key);
		if (r < 0)
			return r;
		other = mp_value_get_str(&b->tape, in_b, key);
		if (!gone)
			r = compare_member(c, key, other, mp_value_of(k));
		else if (other == MP_NONE)
			r = compare_member(c, key, mp_value_of(k), MP_NONE);
		if (r != 0)
			return r;
	}
	return r;
}

static int compare(struct comparing *c, mp_value before, mp_value now)
{
	int r;

	if (mp_value_is(&c->before.tape, before, MP_TAPE_OBJECT) &&
	    mp_value_is(&c->now.tape, now, MP_TAPE_OBJECT)) {
		r = walk(c, &c->now, now, &c->before, before, false);
		return r ? r : walk(c, &c->before, before, &c->now, now, true);
	}
	/* Both are canonical, so what means the same is spelled the same. */
	if (before != MP_NONE && now != MP_NONE &&
	    mp_str_eq(source(&c->before, before), source(&c->now, now)))
		return 0;
	return c->fn(c->u, mp_buf_get(&c->path), source(&c->before, before), source(&c->now, now));
}

static void comparing_done(struct comparing *c)
{
	mp_tape_done(&c->before.tape);
	mp_tape_done(&c->now.tape);
	mp_arena_done(&c->before.arena);
	mp_arena_done(&c->now.arena);
	mp_buf_done(&c->path);
}

int mp_consent_diff(struct mp_str before, struct mp_str now, mp_consent_diff_fn fn, void *u)
{
	MP_CLEANUP(comparing_done) struct comparing c = {.fn = fn, .u = u};
	int r;

	mp_tape_init(&c.before.tape, 0);
	mp_tape_init(&c.now.tape, 0);
	mp_arena_init(&c.before.arena, MP_LIMIT_ARENA);
	mp_arena_init(&c.now.arena, MP_LIMIT_ARENA);
	mp_buf_init(&c.path, MP_LIMIT_USER_FILE);
	r = mp_tape_parse(&c.before.tape, before, NULL);
	if (r == 0)
		r = mp_tape_parse(&c.now.tape, now, NULL);
	return r < 0 ? r : compare(&c, MP_ROOT, MP_ROOT);
}

/* --- scripts --------------------------------------------------------------------------------- */

struct script {
	struct mp_str path, hash;
};

/* The next line of such a list; false at its end. */
static bool next_script(const char **at, struct script *ret)
{
	const char *end = strchr(*at, '\n');
	const char *tab = end ? memchr(*at, '\t', (size_t)(end - *at)) : NULL;

	if (!tab)
		return false;
	ret->path = (struct mp_str){*at, (size_t)(tab - *at)};
	ret->hash = (struct mp_str){tab + 1, (size_t)(end - tab - 1)};
	*at = end + 1;
	return true;
}

static struct mp_str find_script(const char *list, struct mp_str path)
{
	struct script s;

	while (next_script(&list, &s))
		if (mp_str_eq(s.path, path))
			return s.hash;
	return (struct mp_str){"", 0};
}

int mp_consent_diff_scripts(const char *before, const char *now, mp_consent_diff_fn fn, void *u)
{
	const char *at = now;
	struct script s;
	int r = 0;

	while (r == 0 && next_script(&at, &s)) {
		struct mp_str old = find_script(before, s.path);

		if (!mp_str_eq(old, s.hash))
			r = fn(u, s.path, old, s.hash);
	}
	at = before;
	while (r == 0 && next_script(&at, &s))
		if (find_script(now, s.path).len == 0)
			r = fn(u, s.path, s.hash, (struct mp_str){"", 0});
	return r;
}

/* --- with what was approved last ------------------------------------------------------------- */

static const char *get_file(const struct mp_consent *x)
{
	return x->entry ? x->entry->origin.real : x->grant->file;
}

static const char *get_root(const struct mp_consent *x)
{
	return x->entry ? x->entry->origin.root : x->grant->root;
}

struct last {
	struct mp_buf content, scripts;
};

static int take_last(const struct mp_approval *a, void *u)
{
	struct last *last = u;
	int r = mp_buf_addf(&last->content, "%s", a->content);

	if (r == 0)
		r = mp_buf_addf(&last->scripts, "%s", a->scripts);
	if (r == 0)
		r = mp_buf_terminate(&last->scripts);
	return r < 0 ? r : 1;
}

static void last_done(struct last *last)
{
	mp_buf_done(&last->content);
	mp_buf_done(&last->scripts);
}

int mp_consent_compare(const struct mp_configured *c, const struct mp_consent *x,
		       mp_consent_diff_fn on_key, mp_consent_diff_fn on_script, void *u)
{
	MP_CLEANUP(last_done) struct last last;
	struct mp_str now = x->entry ? x->entry->canonical : mp_str_of(x->grant->content);
	int r;

	mp_buf_init(&last.content, MP_LIMIT_DB_VALUE);
	mp_buf_init(&last.scripts, MP_LIMIT_DB_VALUE);
	r = mp_approvals_each(c->db, mp_consent_get_name(x), get_file(x), get_root(x), take_last,
			      &last, NULL);
	if (r <= 0)
		return r;
	r = mp_consent_diff(mp_buf_get(&last.content), now, on_key, u);
	if (r == 0 && x->entry)
		r = mp_consent_diff_scripts(last.scripts.data, x->entry->scripts, on_script, u);
	return r;
}
