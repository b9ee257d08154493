/*
 * http_failure.c - what curl says about a failed exchange, in our words.
 * curl's own words are repeated for TLS alone: there they name the certificate's fault, and nothing
 * of the request.
 */
#include "net/http_failure.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

static enum mcpool_fault fault_of(enum mp_http_end how)
{
	switch (how) {
	case MP_HTTP_RESOLVE:
	case MP_HTTP_CONNECT:
	case MP_HTTP_TLS:
	case MP_HTTP_ZONE:
		return MCPOOL_FAULT_CONNECT;
	case MP_HTTP_PROTOCOL:
	case MP_HTTP_LIMIT:
		return MCPOOL_FAULT_MALFORMED;
	case MP_HTTP_OK:
	case MP_HTTP_TIMEOUT:
	case MP_HTTP_CLOSED:
		break; /* their codes say it */
	}
	return MCPOOL_FAULT_UNKNOWN;
}

static enum mp_http_end http_failure_fail(struct mcpool_error *err, enum mp_http_end how, int code,
					  const char *what, const char *place, const char *more)
{
	mp_fail(err, code, "%s %s%s%s", what, place, more[0] ? ": " : "", more);
	err->fault = (int)fault_of(how);
	return how;
}

static enum mp_http_end explain_connect(const struct mp_http_failure *f, struct mcpool_error *err)
{
	const char *what = f->has_proxy ? "its proxy was not reached for" : "could not connect to";
	char room[128];
	long number = 0;

	(void)curl_easy_getinfo(f->easy, CURLINFO_OS_ERRNO, &number); /* stays 0 */
	return http_failure_fail(err, MP_HTTP_CONNECT, MCPOOL_EIO, what, f->place,
				 number ? strerror_r((int)number, room, sizeof(room)) : "");
}

/* What OpenSSL reports for an answer that is not TLS. */
static const char *advise(const char *words)
{
	return strstr(words, "wrong version number") ? "; it may speak plain http: try http://"
						     : "";
}

/* The peer chose some of these words. */
static enum mp_http_end explain_tls(const struct mp_http_failure *f, struct mcpool_error *err)
{
	char words[240];
	const char *from = f->words[0] ? f->words : curl_easy_strerror(f->code);

	(void)snprintf(words, sizeof(words), "%.180s%s", from, advise(from));
	for (char *p = words; *p; p++)
		if (!isprint((unsigned char)*p))
			*p = '?';
	return http_failure_fail(err, MP_HTTP_TLS, MCPOOL_EIO, "no secure connection to", f->place,
				 words);
}

/* curl has no code of its own for a proxy that says no. */
static bool explain_proxy(const struct mp_http_failure *f, struct mcpool_error *err)
{
	long status = 0;

	if (f->connected ||
	    curl_easy_getinfo(f->easy, CURLINFO_HTTP_CONNECTCODE, &status) != CURLE_OK ||
	    status < 300)
		return false;
	mp_fail(err, MCPOOL_EIO, "the proxy does not connect us to %s: HTTP %ld", f->place, status);
	err->fault = MCPOOL_FAULT_HTTP_STATUS;
	return true;
}

/* curl has the number at times, and at others only its words. */
static bool is_errno(const struct mp_http_failure *f, int errnum)
{
	long number = 0;

	(void)curl_easy_getinfo(f->easy, CURLINFO_OS_ERRNO, &number); /* stays 0 */
	return number == errnum || strstr(f->words, strerror(errnum));
}

static enum mp_http_end explain_closed(const struct mp_http_failure *f, struct mcpool_error *err)
{
	if (explain_proxy(f, err))
		return MP_HTTP_CONNECT;
	if (!f->connected)
		return http_failure_fail(err, MP_HTTP_CONNECT, MCPOOL_EIO,
					 "the connection broke while dialling", f->place, "");
	if (is_errno(f, ETIMEDOUT)) { /* its machine, or the way there, vanished without a word */
		mp_fail(err, MCPOOL_ECLOSED, "the connection to %s timed out %s", f->place,
			f->answered ? "in the middle of the answer" : "before an answer");
		err->fault = MCPOOL_FAULT_TIMEOUT;
	} else {
		mp_fail(err, MCPOOL_ECLOSED, "%s closed the connection %s", f->place,
			f->answered ? "in the middle of its answer" : "without an answer");
		err->fault = is_errno(f, ECONNRESET) ? MCPOOL_FAULT_RESET : MCPOOL_FAULT_END;
	}
	return MP_HTTP_CLOSED;
}

enum mp_http_end mp_http_failure_explain(const struct mp_http_failure *f, struct mcpool_error *err)
{
	switch ((int)f->code) { /* the other codes are for what we never do */
	case CURLE_OK:
		return MP_HTTP_OK;
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_RESOLVE_PROXY:
		return http_failure_fail(
			err, MP_HTTP_RESOLVE, MCPOOL_ENOENT, "no address is known for", f->place,
			f->code == CURLE_COULDNT_RESOLVE_PROXY ? "not for its proxy" : "");
	case CURLE_COULDNT_CONNECT:
		return explain_connect(f, err);
	case CURLE_OPERATION_TIMEDOUT:
		return http_failure_fail(err, MP_HTTP_TIMEOUT, MCPOOL_ETIMEDOUT,
					 "no connection in time to", f->place, "");
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CIPHER:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_ISSUER_ERROR:
	case CURLE_SSL_CLIENTCERT:
	case CURLE_USE_SSL_FAILED:
		return explain_tls(f, err);
	case CURLE_GOT_NOTHING:
	case CURLE_PARTIAL_FILE:
	case CURLE_RECV_ERROR:
	case CURLE_SEND_ERROR:
	case CURLE_HTTP2:
	case CURLE_HTTP2_STREAM:
		return explain_closed(f, err);
	case CURLE_OUT_OF_MEMORY: /* also for a header line of more than 100 KB */
		return http_failure_fail(err, MP_HTTP_LIMIT, MCPOOL_ELIMIT,
					 "too large are the headers of", f->place, "");
	case CURLE_WEIRD_SERVER_REPLY:
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_BAD_CONTENT_ENCODING:
		return http_failure_fail(err, MP_HTTP_PROTOCOL, MCPOOL_EPROTO, "no HTTP comes from",
					 f->place, "");
	default:
		return http_failure_fail(err, MP_HTTP_PROTOCOL, MCPOOL_EIO,
					 "the exchange failed with", f->place,
					 curl_easy_strerror(f->code));
	}
}

static bool is_resolved(const struct mp_http_failure *f)
{
	curl_off_t us = 0;

	return curl_easy_getinfo(f->easy, CURLINFO_NAMELOOKUP_TIME_T, &us) == CURLE_OK && us > 0;
}

enum mp_http_end mp_http_failure_timeout(const struct mp_http_failure *f, enum mp_http_limit limit,
					 int64_t ms, struct mcpool_error *err)
{
	const char *what = f->answered ? "the answer was not complete" : "no answer";

	if (limit == MP_HTTP_LIMIT_IDLE)
		what = f->answered ? "nothing more came" : "no answer";
	if (!f->connected)
		what = is_resolved(f) ? "no connection" : "no address for the name";
	mp_fail(err, MCPOOL_ETIMEDOUT, "%s from %s within %.*f s", what, f->place,
		ms % 1000 ? 1 : 0, (double)ms / 1000);
	return MP_HTTP_TIMEOUT;
}
