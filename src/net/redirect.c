/*
 * redirect.c - where an answer wants us to go instead, and what may come along (V37).
 * curl's own parser of addresses judges, because it is curl that will easy.
 */
#include "net/redirect.h"

#include <curl/curl.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/str.h"

static void url_cleanup(CURLU **url)
{
	curl_url_cleanup(*url);
}

static void text_cleanup(char **text)
{
	curl_free(*text);
}

/* NULL if it has none. Curl's to free. */
static char *part_of(CURLU *url, CURLUPart part)
{
	char *text = NULL;

	return curl_url_get(url, part, &text, CURLU_DEFAULT_PORT) == CURLUE_OK ? text : NULL;
}

static bool is_http(CURLU *url)
{
	MP_CLEANUP(text_cleanup) char *scheme = part_of(url, CURLUPART_SCHEME);

	return scheme && (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0);
}

static bool is_secure(CURLU *url)
{
	MP_CLEANUP(text_cleanup) char *scheme = part_of(url, CURLUPART_SCHEME);

	return scheme && strcmp(scheme, "https") == 0;
}

static bool same_part(CURLU *a, CURLU *b, CURLUPart part)
{
	MP_CLEANUP(text_cleanup) char *in_a = part_of(a, part);
	MP_CLEANUP(text_cleanup) char *in_b = part_of(b, part);

	return in_a && in_b && mp_str_eq_nocase(mp_str_of(in_a), mp_str_of(in_b));
}

static bool same_origin(CURLU *a, CURLU *b)
{
	return same_part(a, b, CURLUPART_SCHEME) && same_part(a, b, CURLUPART_HOST) &&
	       same_part(a, b, CURLUPART_PORT);
}

static bool redirect_parse(CURLU *url, const char *text)
{
	return url && curl_url_set(url, CURLUPART_URL, text, 0) == CURLUE_OK;
}

static bool has_credentials(CURLU *url)
{
	MP_CLEANUP(text_cleanup) char *user = part_of(url, CURLUPART_USER);
	MP_CLEANUP(text_cleanup) char *password = part_of(url, CURLUPART_PASSWORD);

	return user || password;
}

/* A relative address keeps the credentials of its base; those are not new. */
static bool brings_credentials(CURLU *old, CURLU *new)
{
	return has_credentials(new) &&
	       !(same_origin(old, new) && same_part(old, new, CURLUPART_USER) &&
		 same_part(old, new, CURLUPART_PASSWORD));
}

static char *copy_of(CURLU *url)
{
	MP_CLEANUP(text_cleanup) char *text = NULL;
	size_t size;
	char *copy;

	if (curl_url_set(url, CURLUPART_FRAGMENT, NULL, 0) != CURLUE_OK ||
	    curl_url_get(url, CURLUPART_URL, &text, 0) != CURLUE_OK)
		return NULL;
	size = strlen(text) + 1;
	copy = mp_try_alloc(size);
	if (copy)
		memcpy(copy, text, size);
	return copy;
}

int mp_redirect_judge(const char *from, const char *location, int hops, struct mp_redirect *ret,
		      struct mcpool_error *reterr)
{
	MP_CLEANUP(url_cleanup) CURLU *old = curl_url();
	MP_CLEANUP(url_cleanup) CURLU *new = curl_url();

	if (hops >= MP_REDIRECT_HOPS)
		return mp_fail(reterr, MCPOOL_ELIMIT, "more than %d redirects", MP_REDIRECT_HOPS);
	if (!redirect_parse(old, from) || !redirect_parse(new, from) ||
	    !redirect_parse(new, location))
		return mp_fail(reterr, MCPOOL_EINVAL, "a redirect to an invalid address");
	if (!is_http(new))
		return mp_fail(reterr, MCPOOL_EPERM, "a redirect to what is not http");
	if (is_secure(old) && !is_secure(new))
		return mp_fail(reterr, MCPOOL_EPERM, "a redirect from https to plain http");
	if (brings_credentials(old, new))
		return mp_fail(reterr, MCPOOL_EPERM, "a redirect with credentials in its address");
	ret->kind = same_origin(old, new) ? MP_REDIRECT_SAME : MP_REDIRECT_BARE;
	ret->url = copy_of(new);
	return ret->url ? 0 : mp_fail(reterr, MCPOOL_ENOMEM, "no memory for an address");
}
