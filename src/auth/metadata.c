/*
 * metadata.c - what servers publish about logins, and the addresses where that is looked for.
 */
#include "auth/metadata.h"

#include <string.h>

#include "base/error.h"

bool mp_metadata_has(const struct mp_bind_list *list, const char *word)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->items[i], word) == 0)
			return true;
	return false;
}

/* --- places --------------------------------------------------------------------------------- */

/* Without the slash that an address may end in. */
static struct mp_str metadata_path(const struct mp_url *url)
{
	struct mp_str path = mp_str_of(url->path);

	while (path.len && path.p[path.len - 1] == '/')
		path.len--;
	return path;
}

static const char *metadata_join(struct mp_arena *arena, const char *origin, struct mp_str middle,
				 struct mp_str end)
{
	size_t n = strlen(origin), size = n + middle.len + end.len + 1;
	char *out = mp_arena_alloc(arena, size);

	if (!out)
		return NULL;
	memcpy(out, origin, n);
	memcpy(out + n, middle.p, middle.len);
	if (end.len)
		memcpy(out + n + middle.len, end.p, end.len);
	out[size - 1] = '\0';
	return out;
}

int mp_metadata_list_resource_places(const struct mp_url *server, struct mp_arena *arena,
				     const char *places[MP_METADATA_PLACES], size_t *ret_n)
{
	struct mp_str known = MP_STR("/.well-known/oauth-protected-resource");
	struct mp_str path = metadata_path(server);
	size_t n = 0;

	if (path.len)
		places[n++] = metadata_join(arena, server->origin, known, path);
	places[n++] = metadata_join(arena, server->origin, known, MP_STR(""));
	*ret_n = n;
	return mp_arena_get_error(arena);
}

int mp_metadata_list_issuer_places(const struct mp_url *issuer, struct mp_arena *arena,
				   const char *places[MP_METADATA_PLACES], size_t *ret_n)
{
	struct mp_str oauth = MP_STR("/.well-known/oauth-authorization-server");
	struct mp_str openid = MP_STR("/.well-known/openid-configuration");
	struct mp_str path = metadata_path(issuer);
	size_t n = 0;

	places[n++] = metadata_join(arena, issuer->origin, oauth, path);
	places[n++] = metadata_join(arena, issuer->origin, openid, path);
	if (path.len)
		places[n++] = metadata_join(arena, issuer->origin, path, openid);
	*ret_n = n;
	return mp_arena_get_error(arena);
}

/* --- documents ------------------------------------------------------------------------------ */

struct resource_document {
	struct mp_resource_metadata it;
	uint64_t present;
};

static const struct mp_bind_field resource_fields[] = {
	MP_BIND(struct resource_document, TEXT, "resource", it.resource),
	MP_BIND(struct resource_document, LIST, "authorization_servers", it.issuers),
	MP_BIND(struct resource_document, LIST, "scopes_supported", it.scopes),
	MP_BIND(struct resource_document, BOOL, "dpop_bound_access_tokens_required", it.is_dpop),
};

static const struct mp_bind_table resource_table = {resource_fields, MP_ARRAY_LEN(resource_fields),
						    offsetof(struct resource_document, present)};

struct issuer_document {
	struct mp_issuer_metadata it;
	uint64_t present;
};

static const struct mp_bind_field issuer_fields[] = {
	MP_BIND(struct issuer_document, TEXT, "issuer", it.issuer),
	MP_BIND(struct issuer_document, TEXT, "authorization_endpoint", it.authorization_endpoint),
	MP_BIND(struct issuer_document, TEXT, "token_endpoint", it.token_endpoint),
	MP_BIND(struct issuer_document, TEXT, "registration_endpoint", it.registration_endpoint),
	MP_BIND(struct issuer_document, TEXT, "revocation_endpoint", it.revocation_endpoint),
	MP_BIND(struct issuer_document, TEXT, "jwks_uri", it.jwks_uri),
	MP_BIND(struct issuer_document, LIST, "scopes_supported", it.scopes),
	MP_BIND(struct issuer_document, LIST, "code_challenge_methods_supported",
		it.challenge_methods),
	MP_BIND(struct issuer_document, LIST, "token_endpoint_auth_methods_supported",
		it.auth_methods),
	MP_BIND(struct issuer_document, LIST, "dpop_signing_alg_values_supported", it.dpop_algs),
	MP_BIND(struct issuer_document, BOOL, "client_id_metadata_document_supported",
		it.takes_client_url),
	MP_BIND(struct issuer_document, BOOL, "authorization_response_iss_parameter_supported",
		it.sends_iss),
};

static const struct mp_bind_table issuer_table = {issuer_fields, MP_ARRAY_LEN(issuer_fields),
						  offsetof(struct issuer_document, present)};

/* A member of another type counts as missing: what is needed is checked below. */
static void metadata_ignore(const struct mp_bind_problem *problem, void *u)
{
	(void)problem;
	(void)u;
}

static int metadata_read(const struct mp_bind_table *table, struct mp_str text,
			 struct mp_arena *arena, void *into, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	int r;

	mp_tape_init(&t, 0);
	r = mp_tape_parse(&t, text, NULL);
	if (r == 0)
		r = mp_bind_read(table, &t, MP_ROOT, arena, into, metadata_ignore, NULL, NULL);
	if (r == MCPOOL_ENOMEM)
		return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	return r < 0 ? mp_fail(reterr, MCPOOL_EPROTO, "it is not a JSON object") : 0;
}

/*
 * The resource is the server, or a path above it: a document of another one would give its token
 * to this server.
 */
static bool metadata_covers(const char *resource, const struct mp_url *server,
			    struct mp_arena *arena)
{
	struct mp_url named;
	struct mp_str outer, inner;

	if (mp_url_read(resource, arena, &named) < 0 || strcmp(named.origin, server->origin) != 0)
		return false;
	outer = metadata_path(&named);
	inner = metadata_path(server);
	return mp_str_starts(inner, outer) && (inner.len == outer.len || inner.p[outer.len] == '/');
}

int mp_resource_metadata_read(struct mp_str text, const struct mp_url *server,
			      struct mp_arena *arena, struct mp_resource_metadata *ret,
			      struct mcpool_error *reterr)
{
	struct resource_document d = {.present = 0};
	int r = metadata_read(&resource_table, text, arena, &d, reterr);

	if (r < 0)
		return r;
	if (!d.it.resource || !metadata_covers(d.it.resource, server, arena))
		return mp_fail(reterr, MCPOOL_EPERM, "it is about another resource than %s%s: %s",
			       server->origin, server->path,
			       d.it.resource ? d.it.resource : "none is named");
	if (d.it.issuers.n == 0)
		return mp_fail(reterr, MCPOOL_EPROTO, "it names no authorization server");
	*ret = d.it;
	return 0;
}

static bool metadata_is_endpoint(const char *url, bool is_required, struct mp_arena *arena)
{
	struct mp_url u;

	if (!url)
		return !is_required;
	return mp_url_read(url, arena, &u) == 0 && mp_url_is_safe(&u);
}

int mp_issuer_metadata_read(struct mp_str text, const char *issuer, struct mp_arena *arena,
			    struct mp_issuer_metadata *ret, struct mcpool_error *reterr)
{
	struct issuer_document d = {.present = 0};
	int r = metadata_read(&issuer_table, text, arena, &d, reterr);

	if (r < 0)
		return r;
	if (!d.it.issuer || (issuer && strcmp(d.it.issuer, issuer) != 0))
		return mp_fail(reterr, MCPOOL_EPERM, "it is about the issuer %s, not about %s",
			       d.it.issuer ? d.it.issuer : "(none)", issuer ? issuer : "any");
	if (!metadata_is_endpoint(d.it.authorization_endpoint, false, arena) ||
	    !metadata_is_endpoint(d.it.token_endpoint, true, arena) ||
	    !metadata_is_endpoint(d.it.registration_endpoint, false, arena) ||
	    !metadata_is_endpoint(d.it.revocation_endpoint, false, arena) ||
	    !metadata_is_endpoint(d.it.jwks_uri, false, arena))
		return mp_fail(reterr, MCPOOL_EPROTO,
			       "an endpoint is missing or is not an https address");
	*ret = d.it;
	return 0;
}

int mp_issuer_metadata_assume(const struct mp_url *server, struct mp_arena *arena,
			      struct mp_issuer_metadata *ret)
{
	static const char *s256 = "S256";

	*ret = (struct mp_issuer_metadata){
		.issuer = server->origin,
		.authorization_endpoint =
			metadata_join(arena, server->origin, MP_STR("/authorize"), MP_STR("")),
		.token_endpoint =
			metadata_join(arena, server->origin, MP_STR("/token"), MP_STR("")),
		.registration_endpoint =
			metadata_join(arena, server->origin, MP_STR("/register"), MP_STR("")),
		.challenge_methods = {&s256, 1},
	};
	return mp_arena_get_error(arena);
}
