/*
 * changes.c - the changes that verbs make to a file of ours.
 * Positions are looked up here, so that messages name the file; edit.c does the rest.
 */
#include "config/read/changes.h"

#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "json/edit.h"
#include "json/tape.h"
#include "json/value.h"
#include "json/write.h"

/* What a new file begins with: laid out on lines, two blanks deep. */
#define NEW_TEXT MP_STR("{\n}\n")

struct lookup {
	struct mp_str text; /* borrowed */
	const char *path;   /* borrowed */
	struct mcpool_error *reterr;
	struct mp_tape tape;
};

static void look_away(struct lookup *l)
{
	mp_tape_done(&l->tape);
}

/* --- finding things ------------------------------------------------------------------------- */

static int fail_type(struct lookup *l, const char *what, mp_value v, const char *wanted)
{
	return mp_fail(l->reterr, MCPOOL_ETYPE, "%s in %s is %s and must be %s; it was not changed",
		       what, l->path, mp_value_describe(&l->tape, v), wanted);
}

/* If a key occurs twice, programs read one and people may mean the other. */
static int changes_find(struct lookup *l, mp_value object, const char *key, mp_value *ret_v)
{
	struct mp_str name = mp_str_of(key);
	struct mp_tape_place at;

	*ret_v = MP_NONE;
	MP_VALUE_EACH(&l->tape, object, k) {
		if (!mp_value_text_is(&l->tape, k, name))
			continue;
		if (*ret_v != MP_NONE) {
			at = mp_tape_locate(l->text,
					    (size_t)(mp_value_source(&l->tape, k).p - l->text.p));
			return mp_fail(l->reterr, MCPOOL_EINVAL,
				       "%s:%u:%u: \"%s\" occurs twice; remove one of them, "
				       "nothing was changed",
				       l->path, at.line, at.column, key);
		}
		*ret_v = mp_value_of(k);
	}
	return 0;
}

/* The object of this name in the root; MP_NONE where there is none. */
static int find_section(struct lookup *l, const char *key, mp_value *ret_v)
{
	char what[40];
	int r;

	if (!mp_value_is(&l->tape, MP_ROOT, MP_TAPE_OBJECT))
		return fail_type(l, "the value", MP_ROOT, "an object");
	r = changes_find(l, MP_ROOT, key, ret_v);
	if (r < 0 || *ret_v == MP_NONE || mp_value_is(&l->tape, *ret_v, MP_TAPE_OBJECT))
		return r;
	snprintf(what, sizeof(what), "\"%s\"", key);
	return fail_type(l, what, *ret_v, "an object");
}

static int changes_begin(struct lookup *l, struct mp_str old, const char *path,
			 struct mcpool_error *reterr)
{
	l->text = old.len ? old : NEW_TEXT;
	l->path = path;
	l->reterr = reterr;
	mp_tape_init(&l->tape, MP_TAPE_JSONC);
	return mp_tape_parse(&l->tape, l->text, reterr);
}

static int find_server(struct lookup *l, const char *name, mp_value *ret_v)
{
	mp_value servers = MP_NONE;
	int r = find_section(l, "mcpServers", &servers);

	*ret_v = MP_NONE;
	return r < 0 ? r : changes_find(l, servers, name, ret_v);
}

static int fail_missing(struct lookup *l, const char *name)
{
	return mp_fail(l->reterr, MCPOOL_ENOENT, "Server \"%s\" not found in %s", name, l->path);
}

static int changes_changed(int r)
{
	return r < 0 ? r : 1;
}

/* --- servers -------------------------------------------------------------------------------- */

static int changes_set(struct lookup *l, const struct mp_server_change *c, struct mp_buf *out)
{
	const struct mp_str path[] = {MP_STR("mcpServers"), mp_str_of(c->name)};

	return changes_changed(
		mp_edit_set(l->text, path, MP_ARRAY_LEN(path), c->json, out, l->reterr));
}

int mp_change_add_server(struct mp_str old, struct mp_buf *out, void *u,
			 struct mcpool_error *reterr)
{
	const struct mp_server_change *c = u;
	MP_CLEANUP(look_away) struct lookup l = {0};
	mp_value server = MP_NONE;
	int r = changes_begin(&l, old, c->path, reterr);

	if (r == 0)
		r = find_server(&l, c->name, &server);
	if (r < 0)
		return r;
	if (server != MP_NONE)
		return mp_fail(reterr, MCPOOL_EEXIST, "Server \"%s\" already exists in %s", c->name,
			       c->path);
	return changes_set(&l, c, out);
}

/* Does it say the same already? Where that cannot be told, edit.c meets what is wrong. */
static bool says(const struct lookup *l, mp_value server, struct mp_str json)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape tape;
	bool same = false;

	mp_tape_init(&tape, 0);
	return mp_tape_parse(&tape, json, NULL) == 0 &&
	       mp_value_equal(&l->tape, server, &tape, MP_ROOT, &same) == 0 && same;
}

int mp_change_set_server(struct mp_str old, struct mp_buf *out, void *u,
			 struct mcpool_error *reterr)
{
	const struct mp_server_change *c = u;
	MP_CLEANUP(look_away) struct lookup l = {0};
	mp_value server = MP_NONE;
	int r = changes_begin(&l, old, c->path, reterr);

	if (r == 0)
		r = find_server(&l, c->name, &server);
	return r < 0 || says(&l, server, c->json) ? r : changes_set(&l, c, out);
}

int mp_change_remove_server(struct mp_str old, struct mp_buf *out, void *u,
			    struct mcpool_error *reterr)
{
	const struct mp_server_change *c = u;
	const struct mp_str path[] = {MP_STR("mcpServers"), mp_str_of(c->name)};
	MP_CLEANUP(look_away) struct lookup l = {0};
	mp_value server = MP_NONE;
	int r = changes_begin(&l, old, c->path, reterr);

	if (r == 0)
		r = find_server(&l, c->name, &server);
	if (r < 0)
		return r;
	if (server == MP_NONE)
		return fail_missing(&l, c->name);
	return changes_changed(mp_edit_remove(l.text, path, MP_ARRAY_LEN(path), out, reterr));
}

/* --- on and off ----------------------------------------------------------------------------- */

/* *ret_off: it says `disabled`, as other tools do, which counts where `enabled` does not stand. */
static int find_switch(struct lookup *l, const char *name, mp_value *ret_v, bool *ret_off)
{
	mp_value off = MP_NONE;
	mp_value server = MP_NONE;
	char what[300];
	int r = find_server(l, name, &server);

	if (r < 0)
		return r;
	if (server == MP_NONE)
		return fail_missing(l, name);
	if (mp_value_is(&l->tape, server, MP_TAPE_OBJECT)) {
		r = changes_find(l, server, "disabled", &off);
		*ret_off = mp_value_is(&l->tape, off, MP_TAPE_TRUE);
		return r < 0 ? r : changes_find(l, server, "enabled", ret_v);
	}
	snprintf(what, sizeof(what), "Server \"%s\"", name);
	return fail_type(l, what, server, "an object");
}

int mp_change_switch_server(struct mp_str old, struct mp_buf *out, void *u,
			    struct mcpool_error *reterr)
{
	const struct mp_switch_change *c = u;
	const struct mp_str path[] = {MP_STR("mcpServers"), mp_str_of(c->name), MP_STR("enabled")};
	MP_CLEANUP(look_away) struct lookup l = {0};
	mp_value v = MP_NONE;
	bool is_false, is_off = false;
	int r = changes_begin(&l, old, c->path, reterr);

	if (r == 0)
		r = find_switch(&l, c->name, &v, &is_off);
	if (r < 0)
		return r;
	is_false = mp_value_is(&l.tape, v, MP_TAPE_FALSE);
	if (c->on ? (v == MP_NONE && !is_off) || mp_value_is(&l.tape, v, MP_TAPE_TRUE) : is_false)
		return 0;
	if (c->on && is_false && !is_off)
		return changes_changed(
			mp_edit_remove(l.text, path, MP_ARRAY_LEN(path), out, reterr));
	return changes_changed(mp_edit_set(l.text, path, MP_ARRAY_LEN(path),
					   c->on ? MP_STR("true") : MP_STR("false"), out, reterr));
}

/* --- keys of a server ----------------------------------------------------------------------- */

/* The value that is to be changed; *ret_v is MP_NONE where there is none. */
static int find_key(struct lookup *l, const struct mp_edit_change *c, const struct mp_key_change *k,
		    mp_value *ret_v)
{
	mp_value server = MP_NONE, outer = MP_NONE;
	int r = find_server(l, c->name, &server);

	*ret_v = MP_NONE;
	if (r < 0 || server == MP_NONE)
		return r < 0 ? r : fail_missing(l, c->name);
	if (!k->outer.len)
		return changes_find(l, server, k->key.p, ret_v);
	r = changes_find(l, server, k->outer.p, &outer);
	return r < 0 || outer == MP_NONE ? r : changes_find(l, outer, k->key.p, ret_v);
}

/* 1: changed, in out; 0: nothing to do. */
static int key_change(struct mp_str text, const struct mp_edit_change *c,
		      const struct mp_key_change *k, struct mp_buf *out,
		      struct mcpool_error *reterr)
{
	struct mp_str path[] = {MP_STR("mcpServers"), mp_str_of(c->name), k->outer, k->key};
	size_t n = MP_ARRAY_LEN(path);
	MP_CLEANUP(look_away) struct lookup l = {0};
	mp_value v = MP_NONE;
	int r = changes_begin(&l, text, c->path, reterr);

	if (r == 0)
		r = find_key(&l, c, k, &v);
	if (r < 0)
		return r;
	if (!k->outer.len)
		path[2] = path[--n];
	if (k->json.len)
		return v != MP_NONE && says(&l, v, k->json)
			       ? 0
			       : changes_changed(mp_edit_set(text, path, n, k->json, out, reterr));
	if (v != MP_NONE)
		return changes_changed(mp_edit_remove(text, path, n, out, reterr));
	return k->may_lack
		       ? 0
		       : mp_fail(reterr, MCPOOL_ENOENT, "Server \"%s\" has no \"%s%s%s\" in %s",
				 c->name, k->outer.p, k->outer.len ? "." : "", k->key.p, c->path);
}

static int check_after(struct mp_str text, const struct mp_edit_change *c,
		       struct mcpool_error *reterr)
{
	MP_CLEANUP(look_away) struct lookup l = {0};
	MP_CLEANUP(mp_buf_done) struct mp_buf json;
	mp_value server = MP_NONE;
	struct mp_writer w;
	int r = changes_begin(&l, text, c->path, reterr);

	mp_buf_init(&json, MP_LIMIT_OWN_FILE);
	if (r == 0)
		r = find_server(&l, c->name, &server);
	if (r < 0)
		return r;
	mp_write_init(&w, &json, NULL);
	mp_write_value(&w, &l.tape, server);
	r = mp_write_finish(&w);
	if (r == 0)
		r = c->check(c->u, c->name, mp_buf_get(&json));
	return r < 0 ? mp_fail(reterr, r, "%s", mcpool_error_text(r)) : 0;
}

int mp_change_edit_server(struct mp_str old, struct mp_buf *out, void *u,
			  struct mcpool_error *reterr)
{
	const struct mp_edit_change *c = u;
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	int r = 0, changed = 0;

	mp_buf_init(&text, MP_LIMIT_OWN_FILE);
	if (mp_buf_add_str(&text, old) < 0)
		return mp_fail(reterr, MCPOOL_ELIMIT, "%s", mcpool_error_text(MCPOOL_ELIMIT));
	for (size_t i = 0; i < c->n && r >= 0; i++) {
		MP_CLEANUP(mp_buf_done) struct mp_buf next;
		struct mp_buf before = text;

		mp_buf_init(&next, MP_LIMIT_OWN_FILE);
		r = key_change(mp_buf_get(&text), c, &c->items[i], &next, reterr);
		if (r == 1) {
			text = next;
			next = before;
			changed = 1;
		}
	}
	if (r >= 0 && changed)
		r = check_after(mp_buf_get(&text), c, reterr);
	if (r < 0 || !changed)
		return r < 0 ? r : 0;
	return changes_changed(mp_buf_add_str(out, mp_buf_get(&text)));
}

/* --- lists of names ------------------------------------------------------------------------- */

static int find_list(struct lookup *l, const char *list, mp_value *ret_v)
{
	mp_value section = MP_NONE;
	char what[60];
	int r = find_section(l, "mcpool", &section);

	*ret_v = MP_NONE;
	if (r == 0)
		r = changes_find(l, section, list, ret_v);
	if (r < 0 || *ret_v == MP_NONE || mp_value_is(&l->tape, *ret_v, MP_TAPE_ARRAY))
		return r;
	snprintf(what, sizeof(what), "\"mcpool\".\"%s\"", list);
	return fail_type(l, what, *ret_v, "a list of names");
}

/* The place of the last such name among the first n of the list; -1: it is not there. */
static int find_name(const struct lookup *l, mp_value list, const char *name, int n)
{
	struct mp_str wanted = mp_str_of(name);
	int i = 0, found = -1;

	MP_VALUE_EACH(&l->tape, list, v) {
		if (i == n)
			break;
		if (mp_value_text_is(&l->tape, v, wanted))
			found = i;
		i++;
	}
	return found;
}

/* A text for the file; out holds nothing but it. */
static int quote(const char *name, struct mp_buf *out)
{
	struct mp_writer w;

	mp_write_init(&w, out, NULL);
	mp_write_text(&w, mp_str_of(name));
	return mp_write_finish(&w);
}

static int add_name(struct lookup *l, const struct mp_names_change *c, bool has_list,
		    struct mp_buf *out)
{
	const struct mp_str path[] = {MP_STR("mcpool"), mp_str_of(c->list), MP_STR("-")};
	MP_CLEANUP(mp_buf_done) struct mp_buf value;
	int r;

	mp_buf_init(&value, MP_LIMIT_OWN_FILE);
	r = has_list ? 0 : mp_buf_add_char(&value, '[');
	if (r == 0)
		r = quote(c->name, &value);
	if (r == 0 && !has_list)
		r = mp_buf_add_char(&value, ']');
	if (r < 0)
		return mp_fail(l->reterr, r, "%s was not changed: %s", c->path,
			       mcpool_error_text(r));
	return mp_edit_add(l->text, path, has_list ? 3 : 2, mp_buf_get(&value), out, l->reterr);
}

static int remove_at(struct mp_str text, const char *list, int at, struct mp_buf *out,
		     struct mcpool_error *reterr)
{
	char digits[16];

	snprintf(digits, sizeof(digits), "%d", at);
	{
		const struct mp_str path[] = {MP_STR("mcpool"), mp_str_of(list), mp_str_of(digits)};

		return mp_edit_remove(text, path, MP_ARRAY_LEN(path), out, reterr);
	}
}

/* Nothing but blanks between its brackets: what a comment explains stays. */
static bool is_bare(const struct mp_tape *t, mp_value v)
{
	struct mp_str source = mp_value_source(t, v);

	return v != MP_NONE && source.len >= 2 && mp_value_count(t, v) == 0 &&
	       mp_str_trim((struct mp_str){source.p + 1, source.len - 2}).len == 0;
}

/* text without what `enable` would leave behind: an empty "deny", then an empty "mcpool". */
static int drop_bare(struct mp_buf *text, struct mcpool_error *reterr)
{
	const struct mp_str path[] = {MP_STR("mcpool"), MP_STR("deny")};

	for (size_t n = MP_ARRAY_LEN(path); n > 0; n--) {
		MP_CLEANUP(mp_buf_done) struct mp_buf less;
		MP_CLEANUP(mp_tape_done) struct mp_tape t;
		mp_value v;
		int r;

		mp_buf_init(&less, text->ceiling);
		mp_tape_init(&t, MP_TAPE_JSONC);
		r = mp_tape_parse(&t, mp_buf_get(text), reterr);
		if (r < 0)
			return r;
		v = mp_value_get(&t, MP_ROOT, "mcpool");
		if (!is_bare(&t, n == 2 ? mp_value_get(&t, v, "deny") : v))
			return 0;
		r = mp_edit_remove(mp_buf_get(text), path, n, &less, reterr);
		if (r < 0)
			return r;
		mp_buf_clear(text);
		r = mp_buf_add_str(text, mp_buf_get(&less));
		if (r < 0)
			return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	}
	return 0;
}

/* It may be written twice: remove all, the last one first, so that offsets stay valid. */
static int remove_name(struct lookup *l, const struct mp_names_change *c, mp_value list, int at,
		       struct mp_buf *out)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf before, behind;
	struct mp_buf taken;
	int r;

	mp_buf_init(&before, out->ceiling);
	mp_buf_init(&behind, out->ceiling);
	r = mp_buf_add_str(&before, l->text);
	if (r < 0)
		return mp_fail(l->reterr, r, "%s was not changed: %s", c->path,
			       mcpool_error_text(r));
	for (; at >= 0; at = find_name(l, list, c->name, at)) {
		mp_buf_clear(&behind);
		r = remove_at(mp_buf_get(&before), c->list, at, &behind, l->reterr);
		if (r < 0)
			return r;
		taken = before;
		before = behind;
		behind = taken;
	}
	/* An empty "allow" means something: none is allowed. */
	r = strcmp(c->list, "deny") == 0 ? drop_bare(&before, l->reterr) : 0;
	return r < 0 ? r : mp_buf_add_str(out, mp_buf_get(&before));
}

int mp_change_names(struct mp_str old, struct mp_buf *out, void *u, struct mcpool_error *reterr)
{
	const struct mp_names_change *c = u;
	MP_CLEANUP(look_away) struct lookup l = {0};
	mp_value list = MP_NONE;
	int r = changes_begin(&l, old, c->path, reterr), at;

	if (r == 0)
		r = find_list(&l, c->list, &list);
	if (r < 0)
		return r;
	at = find_name(&l, list, c->name, INT32_MAX);
	if (c->present == (at >= 0))
		return 0;
	if (c->present)
		return changes_changed(add_name(&l, c, list != MP_NONE, out));
	return changes_changed(remove_name(&l, c, list, at, out));
}

int mp_change_setting(struct mp_str old, struct mp_buf *out, void *u, struct mcpool_error *reterr)
{
	const struct mp_setting_change *c = u;
	const struct mp_str path[] = {MP_STR("mcpool"), mp_str_of(c->outer), mp_str_of(c->key)};
	MP_CLEANUP(look_away) struct lookup l = {0};
	mp_value settings = MP_NONE, outer = MP_NONE;
	char what[64];
	int r = changes_begin(&l, old, c->path, reterr);

	if (r == 0)
		r = find_section(&l, "mcpool", &settings);
	if (r == 0)
		r = changes_find(&l, settings, c->outer, &outer);
	if (r < 0)
		return r;
	snprintf(what, sizeof(what), "\"mcpool.%s\"", c->outer);
	if (outer != MP_NONE && !mp_value_is(&l.tape, outer, MP_TAPE_OBJECT))
		return fail_type(&l, what, outer, "an object");
	if (mp_str_eq(mp_value_source(&l.tape, mp_value_get(&l.tape, outer, c->key)), c->json))
		return 0;
	return changes_changed(mp_edit_set(l.text, path, 3, c->json, out, reterr));
}
