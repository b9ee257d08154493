/* curl_options.h - a request as curl's options. */
#ifndef MP_CURL_OPTIONS_H
#define MP_CURL_OPTIONS_H

#include <curl/curl.h>

#include "base/base.h"
#include "net/http_request.h"
#include "net/http_target.h"

enum { MP_HTTP_PLACE = 300 };

/*
 * Says the request to easy, its address being the target's; *ret_headers is the caller's once this
 * returned 0. The body is not set here. MCPOOL_EINVAL, MCPOOL_ENOMEM.
 */
int mp_curl_options_set(CURL *easy, const struct mp_http_target *target,
			const struct mp_http_request *request, struct curl_slist **ret_headers,
			struct mcpool_error *reterr) MP_MUST;
/* "https://host:port" for people, from an address that mp_curl_options_set() took. */
void mp_curl_options_place(const char *url, char *place);
/* It may be sent twice. */
bool mp_curl_options_is_safe(const struct mp_http_request *request);

/* A socket with our options: a vanished host is noticed within half a minute. -1: none. */
int mp_curl_options_socket(int family, int type, int protocol);

#endif
