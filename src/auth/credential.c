/*
 * credential.c - what is kept of a login, as a JSON text.
 */
#include "auth/credential.h"

#include "json/value.h"
#include "json/write.h"

#define CREDENTIAL_TEXTS(X)                          \
	X("serverUrl", server_url)                   \
	X("resource", resource)                      \
	X("issuer", issuer)                          \
	X("tokenEndpoint", token_endpoint)           \
	X("revocationEndpoint", revocation_endpoint) \
	X("clientId", client_id)                     \
	X("clientSecret", client_secret)             \
	X("clientAuth", client_auth)                 \
	X("redirectUri", redirect_uri)               \
	X("accessToken", access_token)               \
	X("refreshToken", refresh_token)             \
	X("scope", scope)                            \
	X("dpopKey", dpop_key)

int mp_credential_write(const struct mp_credential *c, struct mp_buf *out)
{
	struct mp_writer w;

	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
#define X(key, field) \
	if (c->field) \
		mp_write_member_text(&w, key, mp_str_of(c->field));
	CREDENTIAL_TEXTS(X)
#undef X
	mp_write_member_i64(&w, "expiresMs", c->expires_ms);
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

/* *ret stays NULL where there is none. */
static int credential_read_text(const struct mp_tape *t, const char *key, struct mp_arena *arena,
				const char **ret)
{
	mp_value v = mp_value_get(t, MP_ROOT, key);
	struct mp_str text;
	int r;

	if (!mp_value_is(t, v, MP_TAPE_STRING))
		return 0;
	r = mp_value_text(t, v, arena, &text);
	if (r < 0)
		return r;
	*ret = mp_arena_dup(arena, text);
	return *ret ? 0 : mp_arena_get_error(arena);
}

int mp_credential_read(struct mp_str json, struct mp_arena *arena, struct mp_credential *ret)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	int r;

	*ret = (struct mp_credential){.expires_ms = 0};
	mp_tape_init(&t, 0);
	r = mp_tape_parse(&t, json, NULL);
	if (r < 0 || !mp_value_is(&t, MP_ROOT, MP_TAPE_OBJECT))
		return r == MCPOOL_ENOMEM ? r : MCPOOL_EPARSE;
#define X(key, field) \
	if (r == 0)   \
		r = credential_read_text(&t, key, arena, &ret->field);
	CREDENTIAL_TEXTS(X)
#undef X
	if (mp_value_i64(&t, mp_value_get(&t, MP_ROOT, "expiresMs"), &ret->expires_ms) < 0)
		ret->expires_ms = 0;
	return r;
}

int mp_credential_copy(const struct mp_credential *from, struct mp_arena *arena,
		       struct mp_credential *to)
{
	*to = *from;
#define X(key, field)    \
	if (from->field) \
		to->field = mp_arena_dup(arena, mp_str_of(from->field));
	CREDENTIAL_TEXTS(X)
#undef X
	return mp_arena_get_error(arena);
}
