/*
 * http_dial.h - a curl handle on its way: where it goes, whom it may reach, how it failed. Part of
 * whoever has the handle, an exchange or a wire.
 */
#ifndef MP_HTTP_DIAL_H
#define MP_HTTP_DIAL_H

#include <curl/curl.h>

#include "base/base.h"
#include "net/http_request.h"
#include "net/http_drive.h"
#include "net/http_failure.h"
#include "net/http_setup.h"

struct mp_http_dial {
	struct mp_http_drive *drive; /* NULL: done */
	struct mp_http_job job;
	CURL *easy;                 /* owned */
	struct curl_slist *headers; /* owned */
	bool plain;                 /* no TLS, and straight to it */
	bool has_proxy;             /* who dials it */
	bool added;                 /* curl has it */
	bool connected;             /* there was a connection */
	bool answered;              /* and an answer on it */
	enum mp_zone from;          /* where the address came from */
	enum mp_zone zone;          /* and where it leads */
	enum mp_http_end verdict;   /* ours, where curl only knows that a callback said no */
	struct mcpool_error why;
	char place[MP_HTTP_PLACE]; /* empty until somebody asks */
	char words[CURL_ERROR_SIZE];
};

/* over: see mp_http_job. MCPOOL_EINVAL, MCPOOL_EPERM, MCPOOL_ENOMEM; done() is called even then. */
int mp_http_dial_init(struct mp_http_dial *d, struct mp_http_drive *drive,
		      const struct mp_http_request *request,
		      void (*over)(struct mp_http_job *job, CURLcode code),
		      struct mcpool_error *reterr) MP_MUST;
/* Not with curl on the stack. */
void mp_http_dial_done(struct mp_http_dial *d);
/* Give it to curl, on the newest drive by now. Not with curl on the stack; to be kicked. */
bool mp_http_dial_begin(struct mp_http_dial *d, struct mp_http_drive *drive);

/* For CURLOPT_PREREQFUNCTION: there is a connection, to this address. */
bool mp_http_dial_may_use(struct mp_http_dial *d, const char *ip);

/* For people; only failures need it. */
const char *mp_http_dial_get_place(struct mp_http_dial *d);
/* What became of it: verdict and why. */
void mp_http_dial_judge(struct mp_http_dial *d, CURLcode code);
void mp_http_dial_judge_limit(struct mp_http_dial *d, enum mp_http_limit limit, int64_t ms);

#endif
