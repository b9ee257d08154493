/*
 * login_client.c - who we are at an authorization server.
 */
#include "auth/login_client.h"

#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "json/bind.h"
#include "json/write.h"

enum { SCOPE_MAX = 16 * 1024 };

/* --- scopes ---------------------------------------------------------------------------------- */

static bool scope_has(const struct mp_buf *out, struct mp_str word)
{
	struct mp_str rest = mp_buf_get(out);

	while (rest.len) {
		size_t n = 0;

		while (n < rest.len && rest.p[n] != ' ')
			n++;
		if (mp_str_eq((struct mp_str){rest.p, n}, word))
			return true;
		n += n < rest.len;
		rest = (struct mp_str){rest.p + n, rest.len - n};
	}
	return false;
}

/* Each word of the text once. */
static int scope_add(struct mp_buf *out, const char *text)
{
	int r = 0;

	while (text && *text && r == 0) {
		struct mp_str word = {text, strcspn(text, " ")};

		if (word.len && !scope_has(out, word)) {
			if (out->len)
				r = mp_buf_add_char(out, ' ');
			if (r == 0)
				r = mp_buf_add_str(out, word);
		}
		text += word.len + (text[word.len] == ' ');
	}
	return r;
}

int mp_login_client_choose_scope(const struct mp_login_scope *s, struct mp_arena *arena,
				 const char **ret)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	int r;

	mp_buf_init(&out, SCOPE_MAX);
	*ret = NULL;
	r = scope_add(&out, s->before);
	if (r == 0)
		r = scope_add(&out, s->given ? s->given : s->challenged);
	if (r == 0 && !s->given && !s->challenged && s->supported)
		for (size_t i = 0; i < s->supported->n && r == 0; i++)
			r = scope_add(&out, s->supported->items[i]);
	if (r == 0)
		r = scope_add(&out, s->more);
	if (r == 0 && out.len && s->issuer && mp_metadata_has(s->issuer, "offline_access"))
		r = scope_add(&out, "offline_access");
	if (r == 0 && out.len)
		*ret = mp_arena_dup(arena, mp_buf_get(&out));
	return r < 0 ? r : mp_arena_get_error(arena);
}

/* --- registration ---------------------------------------------------------------------------- */

const char *mp_login_client_choose_auth(const struct mp_issuer_metadata *issuer, const char *secret,
					const char *registered)
{
	if (registered)
		return registered;
	if (!secret)
		return "none";
	/* RFC 8414: without a list it is Basic. */
	if (issuer->auth_methods.n == 0 ||
	    mp_metadata_has(&issuer->auth_methods, "client_secret_basic"))
		return "client_secret_basic";
	return "client_secret_post";
}

/* A program on a desktop keeps no secret; some issuers give one all the same. */
static const char *choose_method(const struct mp_issuer_metadata *issuer)
{
	const struct mp_bind_list *known = &issuer->auth_methods;

	if (known->n == 0 || mp_metadata_has(known, "none"))
		return "none";
	return mp_metadata_has(known, "client_secret_basic") ? "client_secret_basic"
							     : "client_secret_post";
}

static void write_list(struct mp_writer *w, const char *key, const char *const *items, size_t n)
{
	mp_write_key(w, mp_str_of(key));
	mp_write_begin_array(w);
	for (size_t i = 0; i < n; i++)
		mp_write_text(w, mp_str_of(items[i]));
	mp_write_end_array(w);
}

int mp_login_client_write(const struct mp_issuer_metadata *issuer, const char *redirect_uri,
			  const char *scope, struct mp_buf *out)
{
	static const char *const grants[] = {"authorization_code", "refresh_token"};
	static const char *const answers[] = {"code"};
	struct mp_writer w;

	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "client_name", MP_STR("mcpool"));
	mp_write_member_text(&w, "application_type", MP_STR("native"));
	write_list(&w, "redirect_uris", &redirect_uri, redirect_uri ? 1 : 0);
	write_list(&w, "grant_types", grants, MP_ARRAY_LEN(grants));
	write_list(&w, "response_types", answers, MP_ARRAY_LEN(answers));
	mp_write_member_text(&w, "token_endpoint_auth_method", mp_str_of(choose_method(issuer)));
	if (scope)
		mp_write_member_text(&w, "scope", mp_str_of(scope));
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

struct client_document {
	const char *id, *secret, *method, *error, *description;
	uint64_t present;
};

static const struct mp_bind_field client_fields[] = {
	MP_BIND(struct client_document, TEXT, "client_id", id),
	MP_BIND(struct client_document, TEXT, "client_secret", secret),
	MP_BIND(struct client_document, TEXT, "token_endpoint_auth_method", method),
	MP_BIND(struct client_document, TEXT, "error", error),
	MP_BIND(struct client_document, TEXT, "error_description", description),
};
static const struct mp_bind_table client_table = {client_fields, MP_ARRAY_LEN(client_fields),
						  offsetof(struct client_document, present)};

static void client_ignore(const struct mp_bind_problem *problem, void *u)
{
	(void)problem;
	(void)u;
}

int mp_login_client_read(const struct mp_fetch_answer *a, struct mp_arena *arena,
			 const struct mp_issuer_metadata *issuer, struct mp_credential *c,
			 struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct client_document d = {.present = 0};
	int r;

	mp_tape_init(&t, 0);
	r = mp_tape_parse(&t, a->body, NULL);
	if (r == 0)
		r = mp_bind_read(&client_table, &t, MP_ROOT, arena, &d, client_ignore, NULL, NULL);
	if (r == MCPOOL_ENOMEM)
		return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	if (r == 0 && a->status >= 200 && a->status < 300 && d.id && d.id[0]) {
		c->client_id = d.id;
		c->client_secret = d.secret;
		c->client_auth = mp_login_client_choose_auth(issuer, d.secret, d.method);
		return 0;
	}
	if (r == 0 && d.error)
		return mp_fail(reterr, MCPOOL_EPERM, "%s%s%s", d.error, d.description ? ": " : "",
			       d.description ? d.description : "");
	return mp_fail(reterr, MCPOOL_EPROTO, "it answered HTTP %d without a client id", a->status);
}
