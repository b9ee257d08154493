/*
 * metadata.h - what servers publish about logins: protected resources (RFC 9728) and authorization
 * servers (RFC 8414, OpenID Connect Discovery), and the addresses where that is looked for.
 */
#ifndef MP_METADATA_H
#define MP_METADATA_H

#include "base/arena.h"
#include "base/base.h"
#include "base/str.h"
#include "json/bind.h"
#include "net/url.h"

/* Which servers issue tokens for a resource. */
struct mp_resource_metadata {
	const char *resource;
	struct mp_bind_list issuers; /* authorization_servers */
	struct mp_bind_list scopes;  /* scopes_supported */
	bool is_dpop;                /* dpop_bound_access_tokens_required */
};

/* How an authorization server is used. */
struct mp_issuer_metadata {
	const char *issuer, *authorization_endpoint, *token_endpoint, *registration_endpoint,
		*revocation_endpoint, *jwks_uri;
	struct mp_bind_list scopes, challenge_methods, auth_methods, dpop_algs;
	bool takes_client_url; /* client_id_metadata_document_supported */
	bool sends_iss;        /* authorization_response_iss_parameter_supported */
};

enum { MP_METADATA_PLACES = 3 };

/* Where to look, in this order; *ret_n of them. The arena's. */
int mp_metadata_list_resource_places(const struct mp_url *server, struct mp_arena *arena,
				     const char *places[MP_METADATA_PLACES], size_t *ret_n) MP_MUST;
int mp_metadata_list_issuer_places(const struct mp_url *issuer, struct mp_arena *arena,
				   const char *places[MP_METADATA_PLACES], size_t *ret_n) MP_MUST;

/*
 * A document as it came. With a sentence: MCPOOL_EPROTO if it is not one or names no issuer,
 * MCPOOL_EPERM if it is about another resource than the server (V31).
 */
int mp_resource_metadata_read(struct mp_str text, const struct mp_url *server,
			      struct mp_arena *arena, struct mp_resource_metadata *ret,
			      struct mcpool_error *reterr) MP_MUST;
/*
 * issuer: as the resource names it; the document must name the same, byte for byte (RFC 8414, 3.3;
 * MCPOOL_EPERM). NULL: the user named the document, and it may name any. Endpoints must be https,
 * or on this machine.
 */
int mp_issuer_metadata_read(struct mp_str text, const char *issuer, struct mp_arena *arena,
			    struct mp_issuer_metadata *ret, struct mcpool_error *reterr) MP_MUST;
/* Servers of 2025-03-26 without any document: fixed paths at the root. */
int mp_issuer_metadata_assume(const struct mp_url *server, struct mp_arena *arena,
			      struct mp_issuer_metadata *ret) MP_MUST;

bool mp_metadata_has(const struct mp_bind_list *list, const char *word);

#endif
