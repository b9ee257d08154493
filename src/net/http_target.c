/*
 * http_target.c - what can be said of a URL before connecting: may it be used, and through which
 * proxy?
 */
#include "net/http_target.h"

#include <curl/curl.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "net/proxy.h"

static void url_cleanup(CURLU **url)
{
	curl_url_cleanup(*url);
}

static void text_cleanup(char **text)
{
	curl_free(*text);
}

void mp_http_target_done(struct mp_http_target *t)
{
	t->url = mp_free(t->url);
}

/* curl has made numbers of all forms of an address by now. */
static void drop_brackets(char *host)
{
	size_t len = strlen(host);

	if (len > 2 && host[0] == '[' && host[len - 1] == ']') {
		host[len - 1] = '\0';
		memmove(host, host + 1, len - 1);
	}
}

int mp_http_target_read(struct mp_http_target *t, const char *text, struct mcpool_error *reterr)
{
	MP_CLEANUP(url_cleanup) CURLU *url = curl_url();
	MP_CLEANUP(text_cleanup) char *scheme = NULL;
	MP_CLEANUP(text_cleanup) char *host = NULL;

	if (!url)
		return mp_fail(reterr, MCPOOL_ENOMEM, "no memory for an address");
	if (!text || curl_url_set(url, CURLUPART_URL, text, 0) != CURLUE_OK ||
	    curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) != CURLUE_OK ||
	    (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0))
		return mp_fail(reterr, MCPOOL_EINVAL, "this is not an http or https address");
	if (curl_url_get(url, CURLUPART_HOST, &host, 0) != CURLUE_OK)
		return mp_fail(reterr, MCPOOL_EINVAL, "the address has no host");
	drop_brackets(host);
	mp_free(t->url);
	*t = (struct mp_http_target){
		.url = mp_dup(text),
		.plain = strcmp(scheme, "http") == 0,
		.zone = mp_zone_of_text(host),
		.proxy = mp_proxy_find(scheme, host),
	};
	return 0;
}

int mp_http_target_judge(const struct mp_http_target *t, enum mp_zone from,
			 struct mcpool_error *reterr)
{
	if (t->zone == MP_ZONE_ANY || mp_zone_may_reach(from, t->zone))
		return 0;
	return mp_fail(reterr, MCPOOL_EPERM,
		       "an address in %s, given by a server in %s, is not used",
		       mp_zone_get_words(t->zone), mp_zone_get_words(from));
}
