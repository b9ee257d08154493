/*
 * oauth_resource.c - the HTTP face as a protected resource of OAuth.
 * The resource is our endpoint under the name by which a client came, which is one of ours (V12).
 */
#include "face/oauth_resource.h"

#include <stdio.h>
#include <string.h>

#include "auth/issuer_keys.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "json/bind.h"
#include "json/write.h"
#include "store/digest.h"

#define ENDPOINT "/mcp"
#define PLACE    "/.well-known/oauth-protected-resource" ENDPOINT

static const struct mp_log oauth_log = {"http oauth"};

struct oauth_settings {
	const char *issuer, *audience, *jwks_uri;
	struct mp_bind_list scopes, required;
	uint64_t present;
};

static const struct mp_bind_field oauth_fields[] = {
	MP_BIND(struct oauth_settings, TEXT, "issuer", issuer, .required = true),
	MP_BIND(struct oauth_settings, TEXT, "audience", audience),
	MP_BIND(struct oauth_settings, TEXT, "jwksUri", jwks_uri),
	MP_BIND(struct oauth_settings, LIST, "scopes", scopes),
	MP_BIND(struct oauth_settings, LIST, "requiredScopes", required),
};
static const struct mp_bind_table oauth_table = {oauth_fields, MP_ARRAY_LEN(oauth_fields),
						 offsetof(struct oauth_settings, present)};

/* One name by which clients come; the arena's. */
struct oauth_host {
	const char *name, *resource;
	const char *challenges[MP_OAUTH_CHALLENGES];
};

struct mp_oauth_resource {
	struct mp_loop *loop;
	struct mp_arena arena;
	struct oauth_settings s; /* the arena's */
	struct oauth_host *hosts;
	size_t n_hosts;
	const char **audiences;
	size_t n_audiences;
	struct mp_issuer_keys *keys; /* owned */
};

/* --- settings ------------------------------------------------------------------------------- */

static void oauth_note_problem(const struct mp_bind_problem *problem, void *u)
{
	struct mcpool_error *why = u;

	if (!why->code)
		(void)mp_fail(why, MCPOOL_EINVAL, "http.oauth: %s", problem->message);
}

/* RFC 6749, 3.3; they stand in a header. */
static bool oauth_is_scope(const char *word)
{
	for (const char *p = word; *p; p++)
		if (*p <= ' ' || *p >= 0x7f || *p == '"' || *p == '\\')
			return false;
	return word[0] != '\0';
}

static int oauth_check_scopes(const struct mp_bind_list *list, struct mcpool_error *reterr)
{
	for (size_t i = 0; i < list->n; i++)
		if (!oauth_is_scope(list->items[i]))
			return mp_fail(reterr, MCPOOL_EINVAL,
				       "http.oauth: a scope is a word without blanks, quotes and "
				       "backslashes");
	return 0;
}

static int oauth_read_settings(struct mp_oauth_resource *r, struct mp_str json,
			       struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct mcpool_error why = {0};
	int e;

	mp_tape_init(&t, 0);
	e = mp_tape_parse(&t, json, NULL);
	if (e == 0)
		e = mp_bind_read(&oauth_table, &t, MP_ROOT, &r->arena, &r->s, oauth_note_problem,
				 &why, NULL);
	if (e < 0)
		return mp_fail(reterr, e == MCPOOL_ENOMEM ? e : MCPOOL_EINVAL,
			       "http.oauth must be an object with \"issuer\"");
	if (why.code) {
		if (reterr)
			*reterr = why;
		return why.code;
	}
	e = oauth_check_scopes(&r->s.scopes, reterr);
	return e < 0 ? e : oauth_check_scopes(&r->s.required, reterr);
}

/* --- challenges ----------------------------------------------------------------------------- */

static int oauth_add_words(struct mp_buf *out, const struct mp_bind_list *words)
{
	int r = 0;

	for (size_t i = 0; i < words->n && r == 0; i++)
		r = mp_buf_addf(out, "%s%s", i ? " " : "", words->items[i]);
	return r;
}

static const char *oauth_make_challenge(struct mp_oauth_resource *r, const char *scheme,
					const char *host, const char *error)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf b;
	int e;

	mp_buf_init(&b, MP_KIB(8));
	e = mp_buf_addf(&b, "WWW-Authenticate: Bearer resource_metadata=\"%s%s" PLACE "\"", scheme,
			host);
	if (e == 0 && error)
		e = mp_buf_addf(&b, ", error=\"%s\"", error);
	if (e == 0 && r->s.required.n) {
		e = mp_buf_addf(&b, ", scope=\"");
		if (e == 0)
			e = oauth_add_words(&b, &r->s.required);
		if (e == 0)
			e = mp_buf_add_char(&b, '"');
	}
	if (e == 0)
		e = mp_buf_addf(&b, "\r\n");
	return e < 0 ? NULL : mp_arena_dup(&r->arena, mp_buf_get(&b));
}

static const char *oauth_make_address(struct mp_oauth_resource *r, const char *scheme,
				      const char *host)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf b;

	mp_buf_init(&b, MP_KIB(1));
	if (mp_buf_addf(&b, "%s%s" ENDPOINT, scheme, host) < 0)
		return NULL;
	return mp_arena_dup(&r->arena, mp_buf_get(&b));
}

static bool oauth_add_host(struct mp_oauth_resource *r, const char *scheme, const char *name)
{
	static const char *const errors[MP_OAUTH_CHALLENGES] = {NULL, "invalid_token",
								"insufficient_scope"};
	struct oauth_host *h = &r->hosts[r->n_hosts++];

	h->name = mp_arena_dup(&r->arena, mp_str_of(name));
	h->resource = oauth_make_address(r, scheme, name);
	for (size_t i = 0; i < MP_OAUTH_CHALLENGES; i++) {
		h->challenges[i] = oauth_make_challenge(r, scheme, name, errors[i]);
		if (!h->challenges[i])
			return false;
	}
	return h->name && h->resource;
}

/* A configured audience is the only one. */
static int oauth_name_us(struct mp_oauth_resource *r, const struct mp_oauth_resource_options *o,
			 struct mcpool_error *reterr)
{
	const char *scheme = o->is_secure ? "https://" : "http://";
	bool ok;

	r->hosts = mp_arena_alloc_array(&r->arena, o->n_hosts + 1, sizeof(*r->hosts));
	r->audiences = mp_arena_alloc_array(&r->arena, o->n_hosts + 1, sizeof(char *));
	ok = r->hosts && r->audiences;
	for (size_t i = 0; ok && i < o->n_hosts; i++)
		ok = oauth_add_host(r, scheme, o->hosts[i]);
	if (!ok)
		return mp_fail(reterr, MCPOOL_ENOMEM, "%s", mcpool_error_text(MCPOOL_ENOMEM));
	for (size_t i = 0; !r->s.audience && i < r->n_hosts; i++)
		r->audiences[r->n_audiences++] = r->hosts[i].resource;
	if (r->s.audience)
		r->audiences[r->n_audiences++] = r->s.audience;
	return 0;
}

static const struct oauth_host *oauth_find_host(const struct mp_oauth_resource *r,
						struct mp_str name)
{
	size_t i = 0;

	while (i < r->n_hosts && !mp_str_eq(name, mp_str_of(r->hosts[i].name)))
		i++;
	mp_check(i < r->n_hosts); /* admit.c compared it with the same list */
	return &r->hosts[i];
}

const char *mp_oauth_resource_get_challenge(const struct mp_oauth_resource *r, struct mp_str host,
					    enum mp_oauth_challenge which)
{
	return oauth_find_host(r, host)->challenges[which];
}

/* --- metadata ------------------------------------------------------------------------------- */

static void oauth_write_list(struct mp_writer *w, const char *key, const struct mp_bind_list *list)
{
	mp_write_key(w, mp_str_of(key));
	mp_write_begin_array(w);
	for (size_t i = 0; i < list->n; i++)
		mp_write_text(w, mp_str_of(list->items[i]));
	mp_write_end_array(w);
}

int mp_oauth_resource_write(const struct mp_oauth_resource *r, struct mp_str host,
			    struct mp_buf *out)
{
	const char *header = "header";
	const char *issuer = r->s.issuer;
	const struct mp_bind_list *scopes = r->s.scopes.n ? &r->s.scopes : &r->s.required;
	struct mp_writer w;

	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "resource", mp_str_of(oauth_find_host(r, host)->resource));
	oauth_write_list(&w, "authorization_servers", &(struct mp_bind_list){&issuer, 1});
	if (scopes->n)
		oauth_write_list(&w, "scopes_supported", scopes);
	oauth_write_list(&w, "bearer_methods_supported", &(struct mp_bind_list){&header, 1});
	mp_write_member_text(&w, "resource_name", MP_STR("mcpool"));
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

/* --- tokens --------------------------------------------------------------------------------- */

static bool oauth_has_scopes(const struct mp_oauth_resource *r, const char *scope)
{
	for (size_t i = 0; i < r->s.required.n; i++)
		if (!mp_jwt_has_scope(scope, r->s.required.items[i]))
			return false;
	return true;
}

enum mp_oauth_verdict mp_oauth_resource_judge(struct mp_oauth_resource *r, struct mp_str token,
					      struct mp_arena *arena, struct mp_jwt_claims *ret)
{
	const struct mp_jwks *keys = mp_issuer_keys_get(r->keys);
	struct mp_jwt_rules rules = {
		.issuer = r->s.issuer,
		.audiences = r->audiences,
		.n_audiences = r->n_audiences,
		.wall_ms = mp_loop_wall_now_ms(r->loop),
	};
	struct mcpool_error why;
	int e;

	if (!keys)
		return mp_issuer_keys_fetch(r->keys) ? MP_OAUTH_LATER : MP_OAUTH_NO_KEYS;
	e = mp_jwt_verify(token, keys, &rules, arena, ret, &why);
	if (e == MCPOOL_ENOENT && mp_issuer_keys_fetch(r->keys))
		return MP_OAUTH_LATER;
	if (e < 0) {
		mp_log_verbose(&oauth_log, "a token is refused: %s", why.message);
		return MP_OAUTH_INVALID;
	}
	return oauth_has_scopes(r, ret->scope) ? MP_OAUTH_VALID : MP_OAUTH_UNSCOPED;
}

void mp_oauth_resource_name(const struct mp_jwt_claims *claims, char out[MP_OAUTH_PRINCIPAL])
{
	unsigned char digest[MP_DIGEST_SIZE];
	char hex[2 * MP_DIGEST_SIZE + 1];
	struct mp_digest *d = mp_digest_new();
	size_t shown = mp_utf8_cut(claims->subject, strnlen(claims->subject, 64));

	mp_digest_add(d, mp_str_of(claims->subject));
	mp_digest_add(d, mp_str_of(claims->client));
	mp_digest_finish(d, digest);
	mp_digest_to_hex(digest, hex);
	snprintf(out, MP_OAUTH_PRINCIPAL, "oauth:%.*s#%.32s", (int)shown, claims->subject, hex);
}

/* --- life ----------------------------------------------------------------------------------- */

int mp_oauth_resource_new(const struct mp_oauth_resource_options *o, struct mp_oauth_resource **ret,
			  struct mcpool_error *reterr)
{
	struct mp_oauth_resource *r = mp_alloc(sizeof(*r));
	struct mp_issuer_keys_options k = {.loop = o->loop, .ended = o->judge_again, .u = o->u};
	int e;

	r->loop = o->loop;
	mp_arena_init(&r->arena, MP_LIMIT_ARENA);
	e = oauth_read_settings(r, o->settings, reterr);
	if (e == 0)
		e = oauth_name_us(r, o, reterr);
	if (e == 0) {
		k.issuer = r->s.issuer;
		k.jwks_uri = r->s.jwks_uri;
		e = mp_issuer_keys_new(&k, &r->keys, reterr);
	}
	if (e < 0) {
		mp_oauth_resource_free(r);
		return e;
	}
	(void)mp_issuer_keys_fetch(r->keys); /* before the first client comes */
	*ret = r;
	return 0;
}

struct mp_oauth_resource *mp_oauth_resource_free(struct mp_oauth_resource *r)
{
	if (!r)
		return NULL;
	mp_issuer_keys_free(r->keys);
	mp_arena_done(&r->arena);
	return mp_free(r);
}
