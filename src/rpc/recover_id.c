/*
 * recover_id.c - finds the id of a message that cannot be read.
 */
#include "rpc/recover_id.h"

#include <string.h>

#include "base/limits.h"

static const char *skip_space(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n'))
		p++;
	return p;
}

/* Behind the string that begins at p, or NULL where it does not end. */
static const char *skip_string(const char *p, const char *end)
{
	for (p++; p < end; p++) {
		if (*p == '"')
			return p + 1;
		if (*p == '\\' && p + 1 < end)
			p++;
	}
	return NULL;
}

/* Behind the whole number or string at p; NULL where there is none. */
static const char *skip_id(const char *p, const char *end)
{
	const char *start = p;

	if (p < end && *p == '"')
		return skip_string(p, end);
	if (end - p > 4 && memcmp(p, "null", 4) == 0)
		return p + 4; /* an answer without a request */
	while (p < end && (*p == '-' || (*p >= '0' && *p <= '9')))
		p++;
	return p > start && p < end ? p : NULL;
}

/* If `key : value` is at p: the position of the value. The key includes its quotes. */
static const char *read_key(const char *p, const char *end, struct mp_str key)
{
	if ((size_t)(end - p) < key.len || memcmp(p, key.p, key.len) != 0)
		return NULL;
	p = skip_space(p + key.len, end);
	return p < end && *p == ':' ? skip_space(p + 1, end) : NULL;
}

/* If `"id" : value` is at p: the value. */
static struct mp_str read_id(const char *p, const char *end)
{
	const char *value = read_key(p, end, MP_STR("\"id\""));
	const char *behind = value ? skip_id(value, end) : NULL;

	if (!behind || (size_t)(behind - value) > MP_LIMIT_ID)
		return (struct mp_str){NULL, 0};
	return (struct mp_str){value, (size_t)(behind - value)};
}

/* From the front: a key of the outermost object, as far as brackets can be counted. Or NULL. */
static const char *find_key(struct mp_str head, struct mp_str key)
{
	const char *p = head.p;
	const char *end = head.len ? head.p + head.len : head.p;
	size_t depth = 0;

	while (p && p < end) {
		if (*p == '"' && depth == 1 && read_key(p, end, key))
			return p;
		if (*p == '"') {
			p = skip_string(p, end);
			continue;
		}
		if (*p == '{' || *p == '[')
			depth++;
		else if ((*p == '}' || *p == ']') && depth)
			depth--;
		p++;
	}
	return NULL;
}

static struct mp_str find_in_head(struct mp_str head)
{
	const char *p = find_key(head, MP_STR("\"id\""));

	return p ? read_id(p, head.p + head.len) : (struct mp_str){NULL, 0};
}

/* Is this `, "key": "text"` any number of times, then `}` and the end? */
static bool closes_message(const char *p, const char *end)
{
	while ((p = skip_space(p, end)) < end && *p == ',') {
		p = skip_space(p + 1, end);
		if (p == end || *p != '"' || !(p = skip_string(p, end)))
			return false;
		p = skip_space(p, end);
		if (p == end || *p != ':')
			return false;
		p = skip_space(p + 1, end);
		if (p == end || !(p = skip_id(p, end)))
			return false;
	}
	return p < end && *p == '}' && skip_space(p + 1, end) == end;
}

/* Does a member begin here? A quote inside a string has a backslash before it. */
static bool begins_member(struct mp_str s, size_t at)
{
	while (at > 0 && (s.p[at - 1] == ' ' || s.p[at - 1] == '\t'))
		at--;
	return at > 0 && (s.p[at - 1] == ',' || s.p[at - 1] == '{');
}

/* From the back: the last "id" behind which only simple members and the last bracket stand. */
static struct mp_str find_in_tail(struct mp_str tail)
{
	const char *end = tail.len ? tail.p + tail.len : tail.p;
	const struct mp_str key = MP_STR("\"id\"");
	struct mp_str last = {NULL, 0};

	for (ptrdiff_t at = mp_str_find(tail, key, 0); at >= 0;
	     at = mp_str_find(tail, key, (size_t)at + 1)) {
		struct mp_str id = read_id(tail.p + at, end);

		if (id.len && begins_member(tail, (size_t)at) && closes_message(id.p + id.len, end))
			last = id;
	}
	return last;
}

bool mp_recover_id_is_message(struct mp_str head)
{
	struct mp_str text = mp_str_trim(head);

	return text.len && *text.p == '{' &&
	       (mp_str_find(head, MP_STR("\"jsonrpc\""), 0) >= 0 ||
		mp_str_find(head, MP_STR("\"result\""), 0) >= 0);
}

bool mp_recover_id_is_call(struct mp_str head)
{
	return find_key(head, MP_STR("\"method\"")) != NULL;
}

struct mp_str mp_recover_id(struct mp_str head, struct mp_str tail)
{
	struct mp_str id = find_in_head(head);

	return id.len ? id : find_in_tail(tail);
}
