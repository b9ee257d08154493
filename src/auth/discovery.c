/*
 * discovery.c - finds out who issues tokens for a server, and where.
 */
#include "auth/discovery.h"

#include <string.h>

#include "base/error.h"

static enum mp_discovery_next discovery_fail(struct mcpool_error *reterr, int code,
					     const char *words)
{
	(void)mp_fail(reterr, code, "%s", words);
	return MP_DISCOVERY_FAILED;
}

static enum mp_discovery_next lack_memory(struct mcpool_error *reterr)
{
	return discovery_fail(reterr, MCPOOL_ENOMEM, "no memory for a login");
}

static const char *get_place(const struct mp_discovery *d)
{
	return d->server->origin ? d->server->origin : "its issuer";
}

enum mp_discovery_next mp_discovery_lack(const struct mp_discovery *d, const char *why,
					 struct mcpool_error *reterr)
{
	(void)mp_fail(reterr, MCPOOL_EPROTO,
		      "Authentication required by %s, but its OAuth endpoints could not be "
		      "discovered: %s. Put a token into its \"headers\", or the endpoints into "
		      "\"oauth\"",
		      get_place(d), why);
	return MP_DISCOVERY_FAILED;
}

const char *mp_discovery_get_url(const struct mp_discovery *d)
{
	return d->places[d->place];
}

/* Not found is an answer; a server that is not there now is none. */
static bool is_missing(const struct mp_fetch_answer *a)
{
	return a->status >= 300 && a->status < 500;
}

static bool has_more(struct mp_discovery *d)
{
	return ++d->place < d->n_places;
}

/* --- the issuer ------------------------------------------------------------------------------ */

static enum mp_discovery_next use_given_endpoints(struct mp_discovery *d,
						  struct mcpool_error *reterr)
{
	static const char *s256 = "S256";
	struct mp_url a, t;

	if (mp_url_read(d->oauth->authorization_url, d->arena, &a) < 0 || !mp_url_is_safe(&a) ||
	    mp_url_read(d->oauth->token_url, d->arena, &t) < 0 || !mp_url_is_safe(&t))
		return discovery_fail(
			reterr, MCPOOL_EINVAL,
			"\"authorizationUrl\" and \"tokenUrl\" must be https addresses");
	d->issuer = (struct mp_issuer_metadata){
		.issuer = d->oauth->issuer ? d->oauth->issuer : t.origin,
		.authorization_endpoint = a.whole,
		.token_endpoint = t.whole,
		.challenge_methods = {&s256, 1},
	};
	d->issuer_name = d->issuer.issuer;
	return MP_DISCOVERY_DONE;
}

static enum mp_discovery_next look_for_issuer(struct mp_discovery *d, struct mcpool_error *reterr)
{
	struct mp_url url;

	d->is_issuer = true;
	d->place = 0;
	d->is_given = d->oauth->metadata_url != NULL;
	if (d->oauth->token_url && d->oauth->authorization_url)
		return use_given_endpoints(d, reterr);
	if (d->is_given) {
		d->places[0] = d->oauth->metadata_url;
		d->n_places = 1;
		return MP_DISCOVERY_FETCH;
	}
	if (mp_url_read(d->issuer_name, d->arena, &url) < 0 || !mp_url_is_safe(&url)) {
		(void)mp_fail(reterr, MCPOOL_EPERM,
			      "%s names an issuer of tokens that is not an https address",
			      get_place(d));
		return MP_DISCOVERY_FAILED;
	}
	if (mp_metadata_list_issuer_places(&url, d->arena, d->places, &d->n_places) < 0)
		return lack_memory(reterr);
	return MP_DISCOVERY_FETCH;
}

static enum mp_discovery_next assume_issuer(struct mp_discovery *d, struct mcpool_error *reterr)
{
	if (!d->is_legacy)
		return mp_discovery_lack(d, "its issuer publishes none", reterr);
	if (mp_issuer_metadata_assume(d->server, d->arena, &d->issuer) < 0)
		return lack_memory(reterr);
	return MP_DISCOVERY_DONE;
}

static enum mp_discovery_next take_issuer(struct mp_discovery *d, const struct mp_fetch_answer *a,
					  struct mcpool_error *reterr)
{
	struct mcpool_error why;
	int r = a->status != 200
			? MCPOOL_EPROTO
			: mp_issuer_metadata_read(a->body, d->is_given ? NULL : d->issuer_name,
						  d->arena, &d->issuer, &why);

	if (r == MCPOOL_EPROTO)
		return has_more(d) ? MP_DISCOVERY_FETCH : assume_issuer(d, reterr);
	if (r < 0) {
		(void)mp_fail(reterr, r, "the metadata of the issuer is refused: %s", why.message);
		return MP_DISCOVERY_FAILED;
	}
	d->issuer_name = d->issuer.issuer;
	return MP_DISCOVERY_DONE;
}

/* --- the resource ---------------------------------------------------------------------------- */

/* The issuer as the user names it; or, for servers of 2025-03-26, the server itself. */
static enum mp_discovery_next assume_resource(struct mp_discovery *d, struct mcpool_error *reterr)
{
	const struct mp_oauth *o = d->oauth;

	d->is_legacy = !o->issuer && !o->metadata_url && !o->token_url;
	if (d->is_legacy && !d->server->whole)
		return discovery_fail(
			reterr, MCPOOL_EINVAL,
			"a login of a server that is a process needs the address of its "
			"issuer: set \"oauth\": {\"issuer\": \"https://...\"}");
	d->issuer_name = o->issuer ? o->issuer : d->is_legacy ? d->server->origin : NULL;
	return look_for_issuer(d, reterr);
}

static enum mp_discovery_next take_resource(struct mp_discovery *d, const struct mp_fetch_answer *a,
					    struct mcpool_error *reterr)
{
	struct mcpool_error why;
	int r = a->status != 200 ? MCPOOL_EPROTO
				 : mp_resource_metadata_read(a->body, d->server, d->arena,
							     &d->resource, &why);

	if (r == MCPOOL_EPROTO) /* none here; or a page of the server's own for every path */
		return has_more(d) ? MP_DISCOVERY_FETCH : assume_resource(d, reterr);
	if (r < 0) {
		(void)mp_fail(reterr, r, "%s publishes metadata that is not its own: %s",
			      get_place(d), why.message);
		return MP_DISCOVERY_FAILED;
	}
	d->has_resource = true;
	d->issuer_name = d->resource.issuers.items[0];
	return look_for_issuer(d, reterr);
}

/* --- interface ------------------------------------------------------------------------------- */

/*
 * What the challenge names is looked at only on the server's own host: an address elsewhere would
 * let a server choose where we go.
 */
enum mp_discovery_next mp_discovery_begin(struct mp_discovery *d, struct mcpool_error *reterr)
{
	const char *known[MP_METADATA_PLACES];
	struct mp_url url;
	size_t n;

	if (!d->server->whole || d->oauth->issuer || d->oauth->metadata_url || d->oauth->token_url)
		return assume_resource(d, reterr);
	if (d->named && mp_url_read(d->named, d->arena, &url) == 0 &&
	    strcmp(url.origin, d->server->origin) == 0)
		d->places[d->n_places++] = url.whole;
	if (mp_metadata_list_resource_places(d->server, d->arena, known, &n) < 0)
		return lack_memory(reterr);
	for (size_t i = 0; i < n && d->n_places < MP_ARRAY_LEN(d->places); i++)
		if (d->n_places == 0 || strcmp(d->places[0], known[i]) != 0)
			d->places[d->n_places++] = known[i];
	return MP_DISCOVERY_FETCH;
}

enum mp_discovery_next mp_discovery_take(struct mp_discovery *d, const struct mp_fetch_answer *a,
					 struct mcpool_error *reterr)
{
	if (a->zone != MP_ZONE_ANY && d->zone == MP_ZONE_ANY && (!d->is_issuer || d->is_legacy))
		d->zone = a->zone; /* the server's own host has answered */
	if (a->status == 0)
		return discovery_fail(reterr, MCPOOL_EIO, a->why.message);
	if (a->status != 200 && !is_missing(a)) {
		(void)mp_fail(reterr, MCPOOL_EIO,
			      "%s answered HTTP %d when asked who issues its tokens",
			      d->is_issuer ? "its issuer" : get_place(d), a->status);
		return MP_DISCOVERY_FAILED;
	}
	return d->is_issuer ? take_issuer(d, a, reterr) : take_resource(d, a, reterr);
}
