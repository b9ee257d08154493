/* http_failure.h - what curl says about a failed exchange, in our words; http_client.c uses it. */
#ifndef MP_HTTP_FAILURE_H
#define MP_HTTP_FAILURE_H

#include <curl/curl.h>

#include "base/base.h"
#include "net/http_request.h"

/* What is known of an exchange when it fails. */
struct mp_http_failure {
	CURL *easy;
	CURLcode code;
	const char *place; /* "https://host" */
	const char *words; /* curl's own, maybe empty */
	bool connected, answered;
	bool has_proxy;
};

enum mp_http_end mp_http_failure_explain(const struct mp_http_failure *f,
					 struct mcpool_error *ret_err);
/* The same for one of our three limits: connect, idle or total. */
enum mp_http_limit { MP_HTTP_LIMIT_CONNECT, MP_HTTP_LIMIT_IDLE, MP_HTTP_LIMIT_TOTAL };
enum mp_http_end mp_http_failure_timeout(const struct mp_http_failure *f, enum mp_http_limit limit,
					 int64_t ms, struct mcpool_error *ret_err);

#endif
