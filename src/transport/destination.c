/*
 * destination.c - where a remote server is, and what every request to it carries.
 */
#include "transport/destination.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/random_id.h"
#include "net/curl_options.h"
#include "net/redirect.h"

enum { MAX_LOCATION = 8192 }; /* bytes of an address that a server names */

/* Of the connection, which is curl's; or of the protocol's, which only it may say. */
static bool is_reserved(struct mp_str name)
{
	static const char *const names[] = {
		"Connection",
		"Content-Length",
		"Host",
		"Keep-Alive",
		"Last-Event-ID",
		"Mcp-Session-Id",
		"TE",
		"Trailer",
		"Transfer-Encoding",
		"Upgrade",
		MP_DESTINATION_ASKER,
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(names); i++)
		if (mp_str_eq_nocase(name, mp_str_of(names[i])))
			return true;
	return false;
}

/* WebSockets begin as HTTP. */
static char *read_url(const char *url)
{
	size_t len = strlen(url);
	bool is_ws = strncmp(url, "ws://", 5) == 0, is_wss = strncmp(url, "wss://", 6) == 0;
	char *copy = mp_alloc(len + 3);

	if (is_ws || is_wss) {
		memcpy(copy, "http", 4);
		memcpy(copy + 4, url + 2, len - 1);
	} else {
		memcpy(copy, url, len + 1);
	}
	return copy;
}

int mp_destination_init(struct mp_destination *d, const char *url, struct mcpool_error *reterr)
{
	char place[MP_HTTP_PLACE];

	*d = (struct mp_destination){.url = read_url(url)};
	mp_http_fields_init(&d->headers);
	mp_curl_options_place(d->url, place);
	d->place = mp_dup(place);
	if (strncmp(place, "http://", 7) != 0 && strncmp(place, "https://", 8) != 0)
		return mp_fail(reterr, MCPOOL_EINVAL, "the url is not an http or https address");
	return 0;
}

void mp_destination_done(struct mp_destination *d)
{
	d->url = mp_free(d->url);
	d->place = mp_free(d->place);
	mp_http_fields_done(&d->headers);
	d->ca_file = mp_free(d->ca_file);
	d->cert_file = mp_free(d->cert_file);
	d->key_file = mp_free(d->key_file);
}

static char *dup_or_null(const char *text)
{
	return text ? mp_dup(text) : NULL;
}

static int copy_headers(struct mp_http_fields *to, const struct mp_http_fields *from)
{
	size_t n;
	const struct mp_http_header *h = mp_http_fields_get(from, &n);
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++)
		r = mp_http_fields_add(to, h[i].name, h[i].value);
	return r;
}

int mp_destination_copy(struct mp_destination *to, const struct mp_destination *from)
{
	*to = (struct mp_destination){
		.url = mp_dup(from->url),
		.place = mp_dup(from->place),
		.ca_file = dup_or_null(from->ca_file),
		.cert_file = dup_or_null(from->cert_file),
		.key_file = dup_or_null(from->key_file),
		.authorization = from->authorization,
	};
	mp_http_fields_init(&to->headers);
	return copy_headers(&to->headers, &from->headers);
}

static int destination_judge(const struct mp_destination *d, const char *location, int hops,
			     char **ret_url, struct mcpool_error *reterr)
{
	struct mp_redirect to = {.url = NULL};
	char place[MP_HTTP_PLACE];
	struct mcpool_error why;
	int r = mp_redirect_judge(d->url, location, hops, &to, &why);

	if (r == MCPOOL_ENOMEM)
		return mp_fail(reterr, r, "%s", why.message);
	if (r < 0)
		return mp_fail(reterr, MCPOOL_EPROTO, "%s sends us to where we do not go: %s",
			       d->place, why.message);
	if (to.kind != MP_REDIRECT_SAME) {
		mp_curl_options_place(to.url, place);
		mp_free(to.url);
		return mp_fail(reterr, MCPOOL_EPROTO,
			       "%s sends us on to %s, another place; configure that address if it "
			       "is the right one",
			       d->place, place);
	}
	*ret_url = to.url;
	return 0;
}

/* A view has no NUL at its end. */
int mp_destination_resolve(const struct mp_destination *d, struct mp_str location, int hops,
			   char **ret_url, struct mcpool_error *reterr)
{
	char text[MAX_LOCATION];

	if (location.len == 0 || location.len >= sizeof(text) ||
	    memchr(location.p, '\0', location.len))
		return mp_fail(reterr, MCPOOL_EPROTO, "%s redirects to an invalid address",
			       d->place);
	memcpy(text, location.p, location.len);
	text[location.len] = '\0';
	return destination_judge(d, text, hops, ret_url, reterr);
}

void mp_destination_move(struct mp_destination *d, const char *url)
{
	char *copy = read_url(url); /* which may be part of the old one */

	mp_free(d->url);
	d->url = copy;
}

/* Among the first n. */
static bool destination_has(const struct mp_http_fields *fields, size_t n, struct mp_str name)
{
	size_t all;
	const struct mp_http_header *h = mp_http_fields_get(fields, &all);

	for (size_t i = 0; i < n; i++)
		if (mp_str_eq_nocase(h[i].name, name))
			return true;
	return false;
}

/* Other hosts must not learn which requests come from one process. */
static bool is_on_this_machine(const struct mp_destination *d)
{
	static const char *const hosts[] = {"127.", "localhost", "[::1]", "0.0.0.0", "[::]"};
	const char *host = strstr(d->place, "://") + 3;

	for (size_t i = 0; i < MP_ARRAY_LEN(hosts); i++)
		if (mp_str_starts(mp_str_of(host), mp_str_of(hosts[i])))
			return true;
	return false;
}

int mp_destination_add_headers(const struct mp_destination *d, struct mp_http_fields *fields)
{
	size_t n, own = fields->n;
	const struct mp_http_header *h = mp_http_fields_get(&d->headers, &n);
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++)
		if (!is_reserved(h[i].name) && !destination_has(fields, own, h[i].name))
			r = mp_http_fields_add(fields, h[i].name, h[i].value);
	if (r == 0 && is_on_this_machine(d))
		r = mp_http_fields_add(fields, MP_STR(MP_DESTINATION_ASKER),
				       mp_str_of(mp_random_id_of_process()));
	return r;
}

void mp_destination_address(const struct mp_destination *d, const struct mp_http_fields *fields,
			    struct mp_http_request *ret)
{
	ret->url = d->url;
	ret->ca_file = d->ca_file;
	ret->cert_file = d->cert_file;
	ret->key_file = d->key_file;
	ret->authorization = d->authorization;
	ret->headers = mp_http_fields_get(fields, &ret->n_headers);
}
