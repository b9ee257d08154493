/*
 * uris.c - resource URIs: wrap, unwrap, match with templates.
 */
#include "session/uris.h"

#include <ctype.h>

static const struct mp_str scheme = {"mcpool://", 9};

/* --- wrapping -------------------------------------------------------------------------------- */

static bool is_plain(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("-._~", c));
}

static int uris_escape(struct mp_str text, bool is_template, struct mp_buf *out)
{
	bool in_braces = false;
	int r = 0;

	for (size_t i = 0; i < text.len && r == 0; i++) {
		char c = text.p[i];

		in_braces = in_braces || (is_template && c == '{');
		if (in_braces || is_plain(c))
			r = mp_buf_add_char(out, c);
		else
			r = mp_buf_addf(out, "%%%02X", (unsigned char)c);
		in_braces = in_braces && c != '}';
	}
	return r;
}

int mp_uri_wrap(struct mp_str server, struct mp_str uri, bool is_template, struct mp_buf *out)
{
	int r = mp_buf_add_str(out, scheme);

	if (r == 0)
		r = uris_escape(server, false, out);
	if (r == 0)
		r = mp_buf_add_char(out, '/');
	if (r == 0)
		r = uris_escape(uri, is_template, out);
	return r;
}

/* Schemes are case-insensitive (RFC 3986, 3.1), so a client may have written it in lower case. */
bool mp_uri_is_wrapped(struct mp_str uri)
{
	return uri.len >= scheme.len &&
	       mp_str_eq_nocase((struct mp_str){uri.p, scheme.len}, scheme);
}

static int get_hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 32;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int uris_unescape(struct mp_str text, struct mp_buf *out)
{
	int r = 0;

	for (size_t i = 0; i < text.len && r == 0; i++) {
		int high = i + 2 < text.len ? get_hex(text.p[i + 1]) : -1;
		int low = i + 2 < text.len ? get_hex(text.p[i + 2]) : -1;

		if (text.p[i] != '%') {
			r = mp_buf_add_char(out, text.p[i]);
		} else if (high < 0 || low < 0) {
			r = MCPOOL_EINVAL;
		} else {
			r = mp_buf_add_char(out, (char)(high << 4 | low));
			i += 2;
		}
	}
	return r;
}

int mp_uri_unwrap(struct mp_str uri, struct mp_buf *out, struct mp_str *ret_server,
		  struct mp_str *ret_uri)
{
	struct mp_str rest = {uri.p + scheme.len, uri.len - scheme.len};
	const char *slash;
	size_t middle;
	int r;

	if (!mp_uri_is_wrapped(uri))
		return MCPOOL_EINVAL;
	slash = memchr(rest.p, '/', rest.len);
	if (!slash)
		return MCPOOL_EINVAL;
	mp_buf_clear(out);
	r = uris_unescape((struct mp_str){rest.p, (size_t)(slash - rest.p)}, out);
	middle = out->len;
	if (r == 0)
		r = mp_buf_add_char(out, '\0');
	if (r == 0)
		r = uris_unescape(
			(struct mp_str){slash + 1, (size_t)(rest.p + rest.len - slash - 1)}, out);
	if (r < 0)
		return r;
	*ret_server = (struct mp_str){out->data, middle};
	*ret_uri = (struct mp_str){out->data + middle + 1, out->len - middle - 1};
	return 0;
}

/* --- templates ------------------------------------------------------------------------------- */

/* The literal at the template's start; an expression or nothing follows. */
static struct mp_str take_literal(struct mp_str *template)
{
	const char *brace = template->len ? memchr(template->p, '{', template->len) : NULL;
	struct mp_str literal = {template->p,
				 brace ? (size_t)(brace - template->p) : template->len};

	template->p += literal.len;
	template->len -= literal.len;
	return literal;
}

/* An expression; true if it may match slashes and the empty string. */
static bool take_expression(struct mp_str *template)
{
	const char *end = memchr(template->p, '}', template->len);
	size_t len = end ? (size_t)(end - template->p) + 1 : template->len;
	bool is_wide = len > 2 && strchr("+#/?&.;", template->p[1]);

	template->p += len;
	template->len -= len;
	return is_wide;
}

static bool may_stand_for(struct mp_str value, bool is_wide)
{
	return is_wide || (value.len > 0 && !memchr(value.p, '/', value.len));
}

bool mp_uri_matches(struct mp_str template, struct mp_str uri)
{
	struct mp_str literal = take_literal(&template);

	if (!mp_str_starts(uri, literal))
		return false;
	uri = (struct mp_str){uri.p + literal.len, uri.len - literal.len};
	while (template.len) {
		bool is_wide = take_expression(&template);
		ptrdiff_t at;

		literal = take_literal(&template);
		if (template.len == 0) /* the last literal must match the end */
			at = uri.len >= literal.len && memcmp(uri.p + uri.len - literal.len,
							      literal.p, literal.len) == 0
				     ? (ptrdiff_t)(uri.len - literal.len)
				     : -1;
		else
			at = mp_str_find(uri, literal, is_wide ? 0 : 1);
		if (at < 0 || !may_stand_for((struct mp_str){uri.p, (size_t)at}, is_wide))
			return false;
		uri = (struct mp_str){uri.p + at + literal.len, uri.len - (size_t)at - literal.len};
	}
	return uri.len == 0;
}
