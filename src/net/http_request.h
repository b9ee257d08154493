/*
 * http_request.h - a request of the HTTP client, and how an exchange can end.
 */
#ifndef MP_HTTP_REQUEST_H
#define MP_HTTP_REQUEST_H

#include "base/base.h"
#include "base/str.h"
#include "net/http_head.h"
#include "net/zone.h"

struct mp_authorization;

enum { MP_HTTP_CONNECT_MS = 30000 };

enum mp_http_end {
	MP_HTTP_OK,       /* the answer is complete, whatever its status */
	MP_HTTP_RESOLVE,  /* no address for the name */
	MP_HTTP_CONNECT,  /* nothing listens there, or it is unreachable */
	MP_HTTP_TLS,      /* no secure connection: certificates, versions */
	MP_HTTP_TIMEOUT,  /* one of the three limits */
	MP_HTTP_CLOSED,   /* the connection ended before the answer did */
	MP_HTTP_PROTOCOL, /* what came is not HTTP */
	MP_HTTP_LIMIT,    /* a header block without end */
	MP_HTTP_ZONE,     /* the address is more private than allowed */
};

/* Borrowed by mp_http_start() until it returns. */
struct mp_http_request {
	const char *method; /* NULL: POST with a body, GET without */
	const char *url;
	const struct mp_http_header *headers;
	size_t n_headers;
	struct mp_str body;
	int64_t connect_ms;               /* until there is a connection, names and TLS included; 0:
					     MP_HTTP_CONNECT_MS */
	int64_t idle_ms;                  /* without a byte in either direction; 0: no limit */
	int64_t total_ms;                 /* for everything; 0: no limit */
	const char *ca_file;              /* trusted beside the system's; NULL: none */
	const char *cert_file, *key_file; /* client certificate; NULL: none */
	bool is_quiet;                    /* little will come at a time: a small buffer will do */
	enum mp_zone from; /* where the URL came from: a server in that zone; ANY: from the user */
	/* Adds a token, and may renew it when the answer is 401 or 403; outlives the exchange. */
	struct mp_authorization *authorization; /* NULL: none */
};

#endif
