/*
 * token_request.c - a request to a token endpoint, and what its answer says.
 */
#include "auth/token_request.h"

#include <openssl/evp.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "json/bind.h"
#include "net/url.h"

enum { SECRET_MAX = 8192 };

#define TYPE "urn:ietf:params:oauth:token-type:"

/* --- the form ------------------------------------------------------------------------------- */

/* r: of what was added before. */
static int token_add(int r, struct mp_buf *body, const char *name, const char *value)
{
	return r < 0 || !value ? r : mp_url_add_member(body, name, mp_str_of(value));
}

static int token_write_grant(const struct mp_token_request *q, struct mp_buf *body)
{
	static const char *const names[] = {
		[MP_TOKEN_CODE] = "authorization_code",
		[MP_TOKEN_REFRESH] = "refresh_token",
		[MP_TOKEN_CREDENTIALS] = "client_credentials",
		[MP_TOKEN_ASSERTION] = "urn:ietf:params:oauth:grant-type:jwt-bearer",
		[MP_TOKEN_EXCHANGE] = "urn:ietf:params:oauth:grant-type:token-exchange",
	};
	int r = token_add(0, body, "grant_type", names[q->grant]);

	switch (q->grant) {
	case MP_TOKEN_CODE:
		r = token_add(r, body, "code", q->code);
		r = token_add(r, body, "code_verifier", q->verifier);
		return token_add(r, body, "redirect_uri", q->redirect_uri);
	case MP_TOKEN_REFRESH:
		return token_add(r, body, "refresh_token", q->client->refresh_token);
	case MP_TOKEN_CREDENTIALS:
		return token_add(r, body, "scope", q->client->scope);
	case MP_TOKEN_ASSERTION:
		r = token_add(r, body, "assertion", q->assertion);
		return token_add(r, body, "scope", q->client->scope);
	case MP_TOKEN_EXCHANGE:
		r = token_add(r, body, "requested_token_type", TYPE "id-jag");
		r = token_add(r, body, "audience", q->audience);
		r = token_add(r, body, "subject_token", q->assertion);
		return token_add(r, body, "subject_token_type", TYPE "id_token");
	}
	return r;
}

/* --- which client --------------------------------------------------------------------------- */

/* RFC 6749, 2.3.1: both are escaped before they are joined. */
static int token_add_basic(const struct mp_credential *c, struct mp_http_fields *headers)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf pair, value;
	int r;

	mp_buf_init(&pair, SECRET_MAX);
	mp_buf_init(&value, (size_t)2 * SECRET_MAX);
	r = mp_url_escape(mp_str_of(c->client_id), &pair);
	if (r == 0)
		r = mp_buf_add_char(&pair, ':');
	if (r == 0)
		r = mp_url_escape(mp_str_of(c->client_secret), &pair);
	if (r == 0)
		r = mp_buf_addf(&value, "Basic ");
	if (r == 0)
		r = mp_buf_reserve(&value, pair.len / 3 * 4 + 8);
	if (r < 0)
		return r;
	value.len += (size_t)EVP_EncodeBlock((unsigned char *)value.data + value.len,
					     (const unsigned char *)pair.data, (int)pair.len);
	r = mp_http_fields_add(headers, MP_STR("Authorization"), mp_buf_get(&value));
	mp_wipe(value.data, value.len);
	mp_wipe(pair.data, pair.len);
	return r;
}

static int token_add_assertion(const struct mp_token_request *q, struct mp_buf *body)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	int r;

	mp_buf_init(&text, MP_KIB(16));
	r = mp_jwt_write_assertion(q->key, q->client->client_id, q->client->issuer, q->wall_ms,
				   &text);
	r = token_add(r, body, "client_assertion_type",
		      "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
	return r < 0 ? r : mp_url_add_member(body, "client_assertion", mp_buf_get(&text));
}

int mp_token_request_add_client(const struct mp_credential *c, struct mp_buf *body,
				struct mp_http_fields *headers)
{
	int r;

	if (c->client_secret && c->client_auth &&
	    strcmp(c->client_auth, "client_secret_basic") == 0)
		return token_add_basic(c, headers);
	r = token_add(0, body, "client_id", c->client_id);
	return token_add(r, body, "client_secret", c->client_secret);
}

static int token_write_client(const struct mp_token_request *q, struct mp_buf *body,
			      struct mp_http_fields *headers)
{
	if (q->key)
		return token_add(token_add_assertion(q, body), body, "client_id",
				 q->client->client_id);
	return mp_token_request_add_client(q->client, body, headers);
}

static int token_add_proof(const struct mp_token_request *q, struct mp_http_fields *headers)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_jwt_proof proof = {
		.method = "POST", .url = q->endpoint, .nonce = q->nonce, .wall_ms = q->wall_ms};
	int r;

	mp_buf_init(&text, MP_KIB(16));
	r = mp_jwt_write_proof(q->dpop, &proof, &text);
	return r < 0 ? r : mp_http_fields_add(headers, MP_STR("DPoP"), mp_buf_get(&text));
}

int mp_token_request_write(const struct mp_token_request *q, struct mp_buf *body,
			   struct mp_http_fields *headers)
{
	int r = mp_http_fields_add(headers, MP_STR("Content-Type"),
				   MP_STR("application/x-www-form-urlencoded"));

	if (r == 0)
		r = mp_http_fields_add(headers, MP_STR("Accept"), MP_STR("application/json"));
	if (r == 0)
		r = token_write_grant(q, body);
	r = token_add(r, body, "resource", q->client->resource);
	if (r == 0)
		r = token_write_client(q, body, headers);
	return r == 0 && q->dpop ? token_add_proof(q, headers) : r;
}

/* --- the answer ----------------------------------------------------------------------------- */

struct token_document {
	struct mp_token_answer it;
	const char *type;
	int64_t expires_in;
	uint64_t present;
};

static const struct mp_bind_field token_fields[] = {
	MP_BIND(struct token_document, TEXT, "access_token", it.access_token),
	MP_BIND(struct token_document, TEXT, "refresh_token", it.refresh_token),
	MP_BIND(struct token_document, TEXT, "scope", it.scope),
	MP_BIND(struct token_document, TEXT, "token_type", type),
	MP_BIND(struct token_document, I64, "expires_in", expires_in),
	MP_BIND(struct token_document, TEXT, "error", it.error),
	MP_BIND(struct token_document, TEXT, "error_description", it.description),
};

static const struct mp_bind_table token_table = {token_fields, MP_ARRAY_LEN(token_fields),
						 offsetof(struct token_document, present)};

static void token_ignore(const struct mp_bind_problem *problem, void *u)
{
	(void)problem;
	(void)u;
}

int mp_token_answer_read(struct mp_str text, struct mp_arena *arena, struct mp_token_answer *ret,
			 struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct token_document d = {.expires_in = -1};
	int r;

	mp_tape_init(&t, 0);
	r = mp_tape_parse(&t, text, NULL);
	if (r == 0)
		r = mp_bind_read(&token_table, &t, MP_ROOT, arena, &d, token_ignore, NULL, NULL);
	if (r == MCPOOL_ENOMEM)
		return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	if (r < 0 || (!d.it.access_token && !d.it.error))
		return mp_fail(reterr, MCPOOL_EPROTO,
			       "the answer has neither a token nor an error");
	*ret = d.it;
	ret->expires_in_s = d.expires_in;
	ret->is_dpop = d.type && mp_str_eq_nocase(mp_str_of(d.type), MP_STR("DPoP"));
	return 0;
}
