/*
 * curl_easy.h - one transfer of curl: its target, which addresses it may reach, how it failed. Part
 * of its owner, an exchange or a socket.
 */
#ifndef MP_CURL_EASY_H
#define MP_CURL_EASY_H

#include <curl/curl.h>

#include "base/base.h"
#include "net/http_request.h"
#include "net/curl_multi.h"
#include "net/http_failure.h"
#include "net/curl_options.h"

struct mp_curl_easy {
	struct mp_curl_multi *multi; /* NULL: done */
	struct mp_http_job job;
	CURL *handle;               /* owned */
	struct curl_slist *headers; /* owned */
	bool plain;                 /* no TLS, and straight to it */
	bool has_proxy;             /* who dials it */
	bool added;                 /* curl has it */
	bool connected;             /* there was a connection */
	bool answered;              /* and an answer on it */
	enum mp_zone from;          /* where the address came from */
	enum mp_zone zone;          /* and where it leads */
	enum mp_http_end end;       /* ours, where curl only knows that a callback said no */
	struct mcpool_error why;
	char place[MP_HTTP_PLACE]; /* empty until it is needed */
	char words[CURL_ERROR_SIZE];
};

/* over: see mp_http_job. MCPOOL_EINVAL, MCPOOL_EPERM, MCPOOL_ENOMEM; done() is called even then. */
int mp_curl_easy_init(struct mp_curl_easy *d, struct mp_curl_multi *multi,
		      const struct mp_http_request *request,
		      void (*over)(struct mp_http_job *job, CURLcode code),
		      struct mcpool_error *reterr) MP_MUST;
/* Not with curl on the stack. */
void mp_curl_easy_done(struct mp_curl_easy *d);
/* Give it to curl, on the newest multi by now. Not with curl on the stack; to be kicked. */
bool mp_curl_easy_begin(struct mp_curl_easy *d, struct mp_curl_multi *multi);

/* For CURLOPT_PREREQFUNCTION: there is a connection, to this address. */
bool mp_curl_easy_may_use(struct mp_curl_easy *d, const char *ip);

/* For people; only failures need it. */
const char *mp_curl_easy_get_place(struct mp_curl_easy *d);
/* What became of it: end and why. */
void mp_curl_easy_judge(struct mp_curl_easy *d, CURLcode code);
void mp_curl_easy_judge_limit(struct mp_curl_easy *d, enum mp_http_limit limit, int64_t ms);

#endif
