/*
 * consent_diff.c - compares an entry with its last approval.
 */
#include <string.h>

#include "base/limits.h"
#include "cli/verbs/consent.h"
#include "store/sealed.h"

struct side {
	struct mp_tape tape;
	struct mp_arena arena;
};

struct comparing {
	struct side before, now;
	struct side shown; /* the masked form of `now`; the same keys */
	struct mp_buf path;
	mp_consent_diff_fn fn;
	void *u;
};

static int consent_diff_compare(struct comparing *c, mp_value before, mp_value now, mp_value shown);

static struct mp_str consent_diff_source(const struct side *s, mp_value v)
{
	return v == MP_NONE ? (struct mp_str){"", 0} : mp_value_source(&s->tape, v);
}

/* Compare one member; the path is extended meanwhile. */
static int compare_member(struct comparing *c, struct mp_str key, mp_value before, mp_value now,
			  mp_value shown)
{
	size_t len = c->path.len;
	int r = len ? mp_buf_add_char(&c->path, '.') : 0;

	if (r == 0)
		r = mp_buf_add_str(&c->path, key);
	if (r == 0)
		r = consent_diff_compare(c, before, now, shown);
	c->path.len = len;
	return r;
}

/* Compare what exists now with what was approved. */
static int walk_now(struct comparing *c, mp_value before, mp_value now, mp_value shown)
{
	struct mp_str key;
	int r = 0;

	MP_VALUE_EACH(&c->now.tape, now, k) {
		r = mp_value_text(&c->now.tape, k, &c->now.arena, &key);
		if (r == 0)
			r = compare_member(c, key, mp_value_get_str(&c->before.tape, before, key),
					   mp_value_of(k),
					   mp_value_get_str(&c->shown.tape, shown, key));
		if (r != 0)
			return r;
	}
	return r;
}

/* Report what was removed. */
static int walk_gone(struct comparing *c, mp_value before, mp_value now)
{
	struct mp_str key;
	int r = 0;

	MP_VALUE_EACH(&c->before.tape, before, k) {
		r = mp_value_text(&c->before.tape, k, &c->before.arena, &key);
		if (r == 0 && mp_value_get_str(&c->now.tape, now, key) == MP_NONE)
			r = compare_member(c, key, mp_value_of(k), MP_NONE, MP_NONE);
		if (r != 0)
			return r;
	}
	return r;
}

static int consent_diff_compare(struct comparing *c, mp_value before, mp_value now, mp_value shown)
{
	int r;

	if (mp_value_is(&c->before.tape, before, MP_TAPE_OBJECT) &&
	    mp_value_is(&c->now.tape, now, MP_TAPE_OBJECT)) {
		r = walk_now(c, before, now, shown);
		return r ? r : walk_gone(c, before, now);
	}
	/* Both are canonical, so equal values have equal text. */
	if (before != MP_NONE && now != MP_NONE &&
	    mp_str_eq(consent_diff_source(&c->before, before), consent_diff_source(&c->now, now)))
		return 0;
	return c->fn(c->u, mp_buf_get(&c->path), consent_diff_source(&c->before, before),
		     consent_diff_source(&c->shown, shown));
}

static void side_init(struct side *s)
{
	mp_tape_init(&s->tape, 0);
	mp_arena_init(&s->arena, MP_LIMIT_ARENA);
}

static void side_done(struct side *s)
{
	mp_tape_done(&s->tape);
	mp_arena_done(&s->arena);
}

static void comparing_done(struct comparing *c)
{
	side_done(&c->before);
	side_done(&c->now);
	side_done(&c->shown);
	mp_buf_done(&c->path);
}

/*
 * Call fn for each key that differs between two canonical objects, with the texts of `before` and
 * of `shown`, the masked form of `now`. The first result that is not 0 ends it.
 */
static int consent_diff(struct mp_str before, struct mp_str now, struct mp_str shown,
			mp_consent_diff_fn fn, void *u)
{
	MP_CLEANUP(comparing_done) struct comparing c = {.fn = fn, .u = u};
	int r;

	side_init(&c.before);
	side_init(&c.now);
	side_init(&c.shown);
	mp_buf_init(&c.path, MP_LIMIT_USER_FILE);
	r = mp_tape_parse(&c.before.tape, before, NULL);
	if (r == 0)
		r = mp_tape_parse(&c.now.tape, now, NULL);
	if (r == 0)
		r = mp_tape_parse(&c.shown.tape, shown, NULL);
	return r < 0 ? r : consent_diff_compare(&c, MP_ROOT, MP_ROOT, MP_ROOT);
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

/* The same for two lists of scripts, by path. */
static int consent_diff_scripts(const char *before, const char *now, mp_consent_diff_fn fn, void *u)
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

/* --- comparing with the last approval -------------------------------------------------------- */

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
	MP_CLEANUP(mp_buf_done) struct mp_buf sealed;
	MP_CLEANUP(mp_buf_done) struct mp_buf shown;
	struct mp_str now = x->entry ? x->entry->canonical : mp_str_of(x->grant->content);
	int r;

	mp_buf_init(&last.content, MP_LIMIT_DB_VALUE);
	mp_buf_init(&last.scripts, MP_LIMIT_DB_VALUE);
	mp_buf_init(&sealed, MP_LIMIT_DB_VALUE);
	mp_buf_init(&shown, MP_LIMIT_DB_VALUE);
	r = mp_approvals_each(c->db, mp_consent_get_name(x), get_file(x), get_root(x), take_last,
			      &last, NULL);
	if (r <= 0)
		return r;
	r = mp_approvals_seal(c->db, now, &sealed, NULL);
	if (r == 0)
		r = mp_sealed_add(now, NULL, &shown);
	if (r == 0)
		r = consent_diff(mp_buf_get(&last.content), mp_buf_get(&sealed), mp_buf_get(&shown),
				 on_key, u);
	if (r == 0 && x->entry)
		r = consent_diff_scripts(last.scripts.data, x->entry->scripts, on_script, u);
	return r;
}

static int take_time(const struct mp_approval *a, void *u)
{
	int64_t *last_ms = u;

	if (a->approved_ms > *last_ms)
		*last_ms = a->approved_ms;
	return 0;
}

int64_t mp_consent_get_last_ms(const struct mp_configured *c, const struct mp_consent *x)
{
	int64_t last_ms = 0;

	(void)!mp_approvals_each(c->db, mp_consent_get_name(x), get_file(x), get_root(x), take_time,
				 &last_ms, NULL);
	return last_ms;
}
