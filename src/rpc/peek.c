/*
 * peek.c - finds kind, id and method of a line without parsing it.
 * Members of the outermost object are stepped over until enough is known; most messages begin with
 * what we look for. Text with escapes, where it matters, is left to the real parser.
 */
#include "rpc/peek.h"

struct walk {
	const char *p, *end;
};

static void skip_space(struct walk *w)
{
	while (w->p < w->end && (*w->p == ' ' || *w->p == '\t' || *w->p == '\r' || *w->p == '\n'))
		w->p++;
}

static bool peek_take(struct walk *w, char c)
{
	skip_space(w);
	if (w->p == w->end || *w->p != c)
		return false;
	w->p++;
	return true;
}

/* From behind the opening quote to behind the closing one. */
static bool skip_string(struct walk *w, bool *ret_escaped)
{
	const char *begun = w->p;

	*ret_escaped = false;
	for (;;) {
		const char *quote = memchr(w->p, '"', (size_t)(w->end - w->p)), *back;

		if (!quote)
			return false;
		for (back = quote; back > begun && back[-1] == '\\'; back--)
			;
		w->p = quote + 1;
		if ((quote - back) % 2 == 0) {
			*ret_escaped = memchr(begun, '\\', (size_t)(quote - begun)) != NULL;
			return true;
		}
	}
}

/* A key or another string that we care for; one with escapes is not for us. */
static bool take_string(struct walk *w, struct mp_str *ret)
{
	bool escaped;

	if (!peek_take(w, '"'))
		return false;
	ret->p = w->p;
	if (!skip_string(w, &escaped) || escaped)
		return false;
	ret->len = (size_t)(w->p - 1 - ret->p);
	return true;
}

static bool skip_nested(struct walk *w)
{
	size_t depth = 0;
	bool escaped;

	while (w->p < w->end) {
		char c = *w->p++;

		if (c == '"') {
			if (!skip_string(w, &escaped))
				return false;
		} else if (c == '{' || c == '[') {
			depth++;
		} else if ((c == '}' || c == ']') && --depth == 0) {
			return true;
		}
	}
	return false;
}

static bool is_plain_end(char c)
{
	return c == ',' || c == '}' || c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static bool skip_value(struct walk *w)
{
	const char *begun;
	bool escaped;

	skip_space(w);
	if (w->p == w->end)
		return false;
	if (*w->p == '"') {
		w->p++;
		return skip_string(w, &escaped);
	}
	if (*w->p == '{' || *w->p == '[')
		return skip_nested(w);
	begun = w->p;
	while (w->p < w->end && !is_plain_end(*w->p))
		w->p++;
	return w->p > begun;
}

static struct mp_str take_value(struct walk *w)
{
	struct mp_str s = {NULL, 0};

	skip_space(w);
	s.p = w->p;
	if (!skip_value(w))
		return (struct mp_str){NULL, 0};
	s.len = (size_t)(w->p - s.p);
	return s;
}

static bool is(struct mp_str a, const char *b, size_t n)
{
	return a.len == n && memcmp(a.p, b, n) == 0;
}
#define IS(a, literal) is(a, literal, sizeof(literal) - 1)

/* What this member says; false: it cannot be understood. */
static bool look_at(struct walk *w, struct mp_str key, struct mp_peek *g, bool *ret_answer)
{
	if (IS(key, "id")) {
		g->id = take_value(w);
		return g->id.len > 0;
	}
	if (IS(key, "method"))
		return take_string(w, &g->method) && g->method.len > 0;
	if (IS(key, "result") || IS(key, "error")) {
		g->kind = key.p[0] == 'r' ? MP_PEEK_RESULT : MP_PEEK_ERROR;
		*ret_answer = true;
		if (g->id.len) /* enough is known */
			return true;
	}
	return skip_value(w);
}

static void peek_finish(struct mp_peek *g, bool is_answer)
{
	if (is_answer && !g->method.len)
		return;
	g->kind = !g->method.len || is_answer ? MP_PEEK_NOTHING
		  : g->id.len                 ? MP_PEEK_REQUEST
					      : MP_PEEK_NOTIFICATION;
}

void mp_peek(struct mp_str text, struct mp_peek *g)
{
	struct walk w = {text.p, text.p + text.len};
	bool is_answer = false, is_whole = false;
	struct mp_str key;

	*g = (struct mp_peek){.kind = MP_PEEK_NOTHING};
	if (peek_take(&w, '[')) {
		g->kind = MP_PEEK_BATCH;
		return;
	}
	if (!peek_take(&w, '{'))
		return;
	do {
		if (!take_string(&w, &key) || !peek_take(&w, ':') ||
		    !look_at(&w, key, g, &is_answer)) {
			g->kind = MP_PEEK_NOTHING;
			return;
		}
		is_whole = g->id.len && (g->method.len || is_answer);
	} while (!is_whole && peek_take(&w, ','));
	if (is_whole || peek_take(&w, '}'))
		peek_finish(g, is_answer);
	else
		g->kind = MP_PEEK_NOTHING;
}
