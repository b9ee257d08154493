/*
 * destination.h - where a remote server is, and what every request to it carries.
 */
#ifndef MP_DESTINATION_H
#define MP_DESTINATION_H

#include "base/base.h"
#include "net/http_client.h"
#include "net/http_fields.h"

/* On this machine: who asks, so that a hub whose own address is configured hears itself. */
#define MP_DESTINATION_ASKER "Mcpool-Hub"

struct mp_destination {
	char *url;                            /* http or https, also of WebSockets */
	char *place;                          /* "https://host:port": all of it that may be shown */
	struct mp_http_fields headers;        /* as configured; values are secrets */
	char *ca_file, *cert_file, *key_file; /* NULL: none */
	struct mp_authorization *authorization; /* of every request; borrowed; NULL: none */
};

/* url may begin with ws:// or wss://. Headers and files are added by the caller. MCPOOL_EINVAL. */
int mp_destination_init(struct mp_destination *d, const char *url,
			struct mcpool_error *reterr) MP_MUST;
void mp_destination_done(struct mp_destination *d); /* also after init failed */
int mp_destination_copy(struct mp_destination *to, const struct mp_destination *from) MP_MUST;
/*
 * Resolve a redirect: `location`, maybe relative, after hops redirects. Only within the same
 * origin: the server there sees our credentials (V37). *ret_url is the caller's. MCPOOL_EPROTO,
 * MCPOOL_ENOMEM.
 */
int mp_destination_resolve(const struct mp_destination *d, struct mp_str location, int hops,
			   char **ret_url, struct mcpool_error *reterr) MP_MUST;
/* It moved, within the same origin. */
void mp_destination_move(struct mp_destination *d, const char *url);

/*
 * Add to the fields, which are the protocol's, what is configured under other names, for no
 * configuration may break the protocol. Once for each request.
 */
int mp_destination_add_headers(const struct mp_destination *d,
			       struct mp_http_fields *fields) MP_MUST;
/* Fill in where the request goes, and these fields. *ret borrows from d and fields. */
void mp_destination_address(const struct mp_destination *d, const struct mp_http_fields *fields,
			    struct mp_http_request *ret);

#endif
