/*
 * oauth.c - what an entry says about its login.
 */
#include "config/values/oauth.h"

#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "json/bind.h"

/* As it is written. */
struct oauth_document {
	struct mp_oauth it;
	int grant; /* enum mp_oauth_grant */
	struct mp_bind_list scopes;
	struct oauth_idp {
		const char *token_url, *client_id, *client_secret, *id_token;
		uint64_t present;
	} idp;
	uint64_t present;
};

#define ROW(kind, key, field, ...) MP_BIND(struct oauth_document, kind, key, field, __VA_ARGS__)
#define IDP(key, field)            MP_BIND(struct oauth_idp, TEXT, key, field)

static const struct mp_bind_field idp_fields[] = {
	IDP("tokenUrl", token_url),
	IDP("clientId", client_id),
	IDP("clientSecret", client_secret),
	IDP("idToken", id_token),
};
static const struct mp_bind_table idp_table = {idp_fields, MP_ARRAY_LEN(idp_fields),
					       offsetof(struct oauth_idp, present)};

static const char *const grants[] = {"authorization_code", "client_credentials", "jwt-bearer",
				     "enterprise", NULL};

/* Ours are camelCase; beside them those of Claude Code, Gemini, OpenCode and Cursor. */
static const struct mp_bind_field oauth_fields[] = {
	ROW(TEXT, "clientId", it.client_id),
	ROW(TEXT, "client_id", it.client_id, .alias = true),
	ROW(TEXT, "CLIENT_ID", it.client_id, .alias = true),
	ROW(TEXT, "clientSecret", it.client_secret),
	ROW(TEXT, "client_secret", it.client_secret, .alias = true),
	ROW(TEXT, "CLIENT_SECRET", it.client_secret, .alias = true),
	ROW(TEXT, "clientMetadataUrl", it.client_metadata_url),
	ROW(TEXT, "privateKey", it.private_key),
	ROW(TEXT, "scope", it.scope),
	ROW(LIST, "scopes", scopes),
	ROW(TEXT, "resource", it.resource),
	ROW(TEXT, "redirectUri", it.redirect_uri),
	ROW(TEXT, "redirect_uri", it.redirect_uri, .alias = true),
	ROW(I64, "callbackPort", it.callback_port, .min = 0, .max = 65535),
	ROW(TEXT, "issuer", it.issuer),
	ROW(TEXT, "authServerMetadataUrl", it.metadata_url),
	ROW(TEXT, "authorizationUrl", it.authorization_url),
	ROW(TEXT, "tokenUrl", it.token_url),
	ROW(CHOICE, "grant", grant, .choices = grants),
	ROW(TEXT, "assertion", it.assertion),
	ROW(OBJECT, "idp", idp, .table = &idp_table),
	ROW(BOOL, "enabled", it.is_wanted),
	ROW(TEXT, "credentialId", it.credential),
};
static const struct mp_bind_table oauth_table = {oauth_fields, MP_ARRAY_LEN(oauth_fields),
						 offsetof(struct oauth_document, present)};

struct oauth_problem {
	struct mp_arena *arena;
	const char *words; /* of the first; NULL: none */
};

/* Keys of other tools that mean nothing here are no problem. */
static void oauth_note(const struct mp_bind_problem *problem, void *u)
{
	struct oauth_problem *p = u;

	if (problem->kind != MP_BIND_UNKNOWN && !p->words)
		p->words = mp_arena_dup(p->arena, mp_str_of(problem->message));
}

static int oauth_bind(struct mp_str json, const char *key, struct mp_arena *arena,
		      struct oauth_document *d, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct oauth_problem problem = {.arena = arena};
	bool is_on = true;
	int r;

	mp_tape_init(&t, 0);
	if (json.len == 0)
		return 0;
	r = mp_tape_parse(&t, json, reterr);
	if (r < 0)
		return r;
	if (mp_value_bool(&t, MP_ROOT, &is_on) == 0) {
		d->it.is_off = !is_on;
		return 0;
	}
	if (mp_value_text_is(&t, mp_value_get(&t, MP_ROOT, "type"), MP_STR("oauth")))
		d->it.is_wanted = true;
	r = mp_bind_read(&oauth_table, &t, MP_ROOT, arena, d, oauth_note, &problem, reterr);
	if (r == MCPOOL_ETYPE)
		return mp_fail(reterr, MCPOOL_EINVAL, "\"%s\" must be an object or false", key);
	if (r == 0 && problem.words)
		return mp_fail(reterr, MCPOOL_EINVAL, "\"%s\": %s", key, problem.words);
	return r;
}

static int oauth_join_scopes(struct oauth_document *d, struct mp_arena *arena)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	int r = 0;

	mp_buf_init(&text, MP_KIB(16));
	if (d->scopes.n == 0)
		return 0;
	for (size_t i = 0; i < d->scopes.n && r == 0; i++)
		r = mp_buf_addf(&text, "%s%s", i ? " " : "", d->scopes.items[i]);
	if (r == 0)
		d->it.scope = mp_arena_dup(arena, mp_buf_get(&text));
	return r < 0 ? r : mp_arena_get_error(arena);
}

static int oauth_expand_all(struct mp_oauth *o, mp_oauth_expand expand, void *u)
{
	const struct {
		const char *name, **text;
	} rows[] = {
		{"client_id", &o->client_id},
		{"client_secret", &o->client_secret},
		{"clientMetadataUrl", &o->client_metadata_url},
		{"private_key", &o->private_key},
		{"scope", &o->scope},
		{"resource", &o->resource},
		{"redirectUri", &o->redirect_uri},
		{"issuer", &o->issuer},
		{"authServerMetadataUrl", &o->metadata_url},
		{"authorizationUrl", &o->authorization_url},
		{"tokenUrl", &o->token_url},
		{"assertion_token", &o->assertion},
		{"idp.tokenUrl", &o->idp_token_url},
		{"idp.clientId", &o->idp_client_id},
		{"client_secret", &o->idp_client_secret},
		{"id_token", &o->idp_id_token},
	};
	int r = 0;

	for (size_t i = 0; i < MP_ARRAY_LEN(rows) && r == 0; i++)
		if (*rows[i].text)
			r = expand(u, rows[i].name, *rows[i].text, rows[i].text);
	return r;
}

int mp_oauth_check(const struct mp_oauth *o, struct mcpool_error *reterr)
{
	const char *missing = NULL;

	if (o->grant == MP_OAUTH_CREDENTIALS)
		missing = !o->client_id                          ? "clientId"
			  : !o->client_secret && !o->private_key ? "clientSecret or privateKey"
								 : NULL;
	else if (o->grant == MP_OAUTH_ASSERTION)
		missing = !o->assertion ? "assertion" : NULL;
	else if (o->grant == MP_OAUTH_ENTERPRISE)
		missing = !o->idp_token_url  ? "idp.tokenUrl"
			  : !o->idp_id_token ? "idp.idToken"
			  : !o->client_id    ? "clientId"
					     : NULL;
	else if (!o->authorization_url != !o->token_url)
		missing = o->token_url ? "authorizationUrl" : "tokenUrl";
	if (missing)
		return mp_fail(reterr, MCPOOL_EINVAL, "\"oauth\": %s is missing", missing);
	return 0;
}

int mp_oauth_read(struct mp_str auth_json, struct mp_str oauth_json, struct mp_arena *arena,
		  mp_oauth_expand expand, void *u, struct mp_oauth *ret,
		  struct mcpool_error *reterr)
{
	struct oauth_document d = {.present = 0};
	int r = oauth_bind(auth_json, "auth", arena, &d, reterr);

	if (r == 0)
		r = oauth_bind(oauth_json, "oauth", arena, &d, reterr);
	if (r == 0 && (r = oauth_join_scopes(&d, arena)) < 0)
		(void)mp_fail(reterr, r, "%s", mcpool_error_text(r));
	if (r < 0)
		return r;
	d.it.grant = (enum mp_oauth_grant)d.grant;
	d.it.idp_token_url = d.idp.token_url;
	d.it.idp_client_id = d.idp.client_id;
	d.it.idp_client_secret = d.idp.client_secret;
	d.it.idp_id_token = d.idp.id_token;
	r = oauth_expand_all(&d.it, expand, u);
	*ret = d.it;
	return r;
}

void mp_oauth_copy(const struct mp_oauth *from, struct mp_arena *arena, struct mp_oauth *to)
{
	const char **texts[] = {
		&to->credential,
		&to->client_id,
		&to->client_secret,
		&to->client_metadata_url,
		&to->private_key,
		&to->scope,
		&to->resource,
		&to->redirect_uri,
		&to->issuer,
		&to->metadata_url,
		&to->authorization_url,
		&to->token_url,
		&to->assertion,
		&to->idp_token_url,
		&to->idp_client_id,
		&to->idp_client_secret,
		&to->idp_id_token,
	};

	*to = *from;
	for (size_t i = 0; i < MP_ARRAY_LEN(texts); i++)
		if (*texts[i])
			*texts[i] = mp_arena_dup(arena, mp_str_of(*texts[i]));
}
