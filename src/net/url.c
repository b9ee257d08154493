/*
 * url.c - the parts of an http or https address, read by curl's own parser.
 */
#include "net/url.h"

#include <curl/curl.h>
#include <stdio.h>
#include <string.h>

#include "net/zone.h"

static void url_cleanup(CURLU **url)
{
	curl_url_cleanup(*url);
}

static void text_cleanup(char **text)
{
	curl_free(*text);
}

/* NULL if it has none. Curl's to free. */
static char *url_part(CURLU *url, CURLUPart part, unsigned flags)
{
	char *text = NULL;

	return curl_url_get(url, part, &text, flags) == CURLUE_OK ? text : NULL;
}

/* curl has made numbers of all forms of an address by now. */
static bool url_is_loopback(const char *host)
{
	char bare[64];
	size_t len = strlen(host);

	if (mp_str_eq_nocase(mp_str_of(host), MP_STR("localhost")))
		return true;
	if (len > 2 && len < sizeof(bare) && host[0] == '[') {
		snprintf(bare, sizeof(bare), "%.*s", (int)len - 2, host + 1);
		host = bare;
	}
	return mp_zone_of_text(host) == MP_ZONE_LOOPBACK;
}

static void url_drop_default_port(CURLU *url, bool is_https)
{
	MP_CLEANUP(text_cleanup) char *port = url_part(url, CURLUPART_PORT, 0);

	if (port && strcmp(port, is_https ? "443" : "80") == 0)
		(void)curl_url_set(url, CURLUPART_PORT, NULL, 0);
}

/* Everything before the path of the address that curl wrote. */
static struct mp_str url_cut_origin(const char *whole)
{
	const char *host = strstr(whole, "://") + 3;

	return (struct mp_str){whole, (size_t)(host - whole) + strcspn(host, "/?#")};
}

int mp_url_read(const char *text, struct mp_arena *arena, struct mp_url *ret)
{
	MP_CLEANUP(url_cleanup) CURLU *url = curl_url();
	MP_CLEANUP(text_cleanup) char *scheme = NULL;
	MP_CLEANUP(text_cleanup) char *host = NULL;
	MP_CLEANUP(text_cleanup) char *user = NULL;
	MP_CLEANUP(text_cleanup) char *path = NULL;
	MP_CLEANUP(text_cleanup) char *whole = NULL;

	*ret = (struct mp_url){.origin = NULL};
	if (!url)
		return MCPOOL_ENOMEM;
	if (!text || curl_url_set(url, CURLUPART_URL, text, 0) != CURLUE_OK)
		return MCPOOL_EINVAL;
	scheme = url_part(url, CURLUPART_SCHEME, 0);
	host = url_part(url, CURLUPART_HOST, 0);
	user = url_part(url, CURLUPART_USER, 0);
	if (!scheme || !host || user ||
	    (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0))
		return MCPOOL_EINVAL;
	ret->is_https = strcmp(scheme, "https") == 0;
	ret->is_loopback = url_is_loopback(host);
	url_drop_default_port(url, ret->is_https);
	(void)curl_url_set(url, CURLUPART_FRAGMENT, NULL, 0);
	path = url_part(url, CURLUPART_PATH, 0);
	whole = url_part(url, CURLUPART_URL, 0);
	if (!path || !whole)
		return MCPOOL_EINVAL;
	ret->path = mp_arena_dup(arena, mp_str_of(path));
	ret->whole = mp_arena_dup(arena, mp_str_of(whole));
	ret->origin = mp_arena_dup(arena, url_cut_origin(whole));
	return ret->path && ret->whole && ret->origin ? 0 : mp_arena_get_error(arena);
}

static bool url_is_unreserved(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '-' || c == '.' || c == '_' || c == '~';
}

int mp_url_escape(struct mp_str text, struct mp_buf *out)
{
	int r = 0;

	for (size_t i = 0; i < text.len && r == 0; i++)
		r = url_is_unreserved(text.p[i])
			    ? mp_buf_add_char(out, text.p[i])
			    : mp_buf_addf(out, "%%%02X", (unsigned char)text.p[i]);
	return r;
}

int mp_url_add_member(struct mp_buf *out, const char *name, struct mp_str value)
{
	char last = out->len ? out->data[out->len - 1] : '?';
	int r = last == '?' || last == '&' ? 0 : mp_buf_add_char(out, '&');

	if (r == 0)
		r = mp_buf_addf(out, "%s=", name);
	return r < 0 ? r : mp_url_escape(value, out);
}

static int url_digit(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

/* NULL: a broken escape, a NUL byte, or no memory. */
static const char *url_decode(struct mp_str text, struct mp_arena *arena)
{
	char *out = mp_arena_alloc(arena, text.len + 1);
	size_t n = 0;

	for (size_t i = 0; out && i < text.len; i++) {
		char c = text.p[i];

		if (c == '%') {
			int high = i + 2 < text.len ? url_digit(text.p[i + 1]) : -1;
			int low = high >= 0 ? url_digit(text.p[i + 2]) : -1;

			if (low < 0)
				return NULL;
			c = (char)(high * 16 + low);
			i += 2;
		}
		if (c == '\0')
			return NULL;
		out[n++] = text.p[i] == '+' && c == '+' ? ' ' : c;
	}
	if (out)
		out[n] = '\0';
	return out;
}

const char *mp_url_get_member(const char *url, const char *name, struct mp_arena *arena)
{
	const char *at = strchr(url, '?');
	struct mp_str found = {NULL, 0};
	size_t name_len = strlen(name);

	while (at && *at && *at != '#') {
		size_t len = strcspn(++at, "&#");

		if (len > name_len && strncmp(at, name, name_len) == 0 && at[name_len] == '=') {
			if (found.p)
				return NULL;
			found = (struct mp_str){at + name_len + 1, len - name_len - 1};
		}
		at += len;
	}
	return found.p ? url_decode(found, arena) : NULL;
}
