/*
 * login.c - gets a token for one server.
 */
#include "auth/login.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "auth/challenge.h"
#include "auth/discovery.h"
#include "auth/fetch.h"
#include "auth/jwt.h"
#include "auth/login_client.h"
#include "auth/token_request.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/random_id.h"
#include "net/url.h"

enum {
	PERSON_MS = 5 * 60 * 1000, /* a person has so long (B69) */
	ARENA = 1 << 20,
	FORM_MAX = 64 * 1024,
	NONCES = 2, /* requests that are sent again with the server's nonce */
	SECRET_BYTES = 32,
	SECRET_TEXT = 44,
};

#define LOGIN_EVENTS(X)                                                   \
	X(START, "start", "a login is wanted")                            \
	X(REFRESH, "refresh", "a new token for an old one is wanted")     \
	X(NEXT, "next", "not here: look at the next place, or ask again") \
	X(ISSUER_KNOWN, "issuer known", "its endpoints are known")        \
	X(CLIENT_KNOWN, "client known", "we have a name there")           \
	X(VISIT, "visit", "a person must agree")                          \
	X(VOUCH, "vouch", "an identity provider is asked first")          \
	X(CODE, "code", "what the token is asked with is there")          \
	X(DONE, "done", "there is a token")                               \
	X(FAILED, "failed", "there will be none; why is noted")

MP_MACHINE_ENUM(login_event, LOGIN_EVENTS);

struct mp_login {
	enum mp_login_state state;
	struct mp_login_options o; /* texts are the arena's */
	const struct mp_login_hooks *hooks;
	void *u;
	struct mp_arena arena;
	struct mp_oauth oauth;
	struct mp_challenge challenge;
	struct mp_url server; /* whole NULL: a process */
	struct mp_fetch fetch;
	struct mp_discovery d;
	struct mp_credential c; /* grows; texts are the arena's */
	enum mp_token_grant grant;
	struct mp_jwt_key *key, *dpop; /* owned */
	const char *nonce;
	unsigned nonces;
	char verifier[SECRET_TEXT], secret_state[SECRET_TEXT];
	const char *code, *assertion;
	struct mp_login_visit visit;
	struct mp_timer patience;
	struct mcpool_error why;
	enum login_event first; /* of begin */
	struct mp_task begin;
	struct mp_grave grave;
};

MP_MACHINE_TYPES(login, struct mp_login, enum login_event, MP_LOGIN_STATES, LOGIN_EVENTS);
static login_action login_look, look_on, choose_client, login_register, choose_way, ask_person,
	ask_identity, ask_token, begin_refresh, login_finish, login_fail;

#define AT(state)      [MP_LOGIN_##state]
#define TO(state, act) MP_TO(MP_LOGIN_##state, act)

/* Each state has one request under way, but for PERSON, which waits. */
MP_MACHINE_STEPS(login) = {
	AT(NEW) = {[START] = TO(DISCOVERING, login_look),
		   [REFRESH] = TO(TOKEN, begin_refresh),
		   [FAILED] = TO(OVER, login_fail)},
	AT(DISCOVERING) = {[NEXT] = MP_DO(look_on),
			   [ISSUER_KNOWN] = TO(REGISTERING, choose_client),
			   [FAILED] = TO(OVER, login_fail)},
	AT(REGISTERING) = {[NEXT] = MP_DO(login_register),
			   [CLIENT_KNOWN] = MP_DO(choose_way),
			   [VISIT] = TO(PERSON, ask_person),
			   [VOUCH] = TO(IDENTITY, ask_identity),
			   [CODE] = TO(TOKEN, ask_token),
			   [FAILED] = TO(OVER, login_fail)},
	AT(PERSON) = {[CODE] = TO(TOKEN, ask_token), [FAILED] = TO(OVER, login_fail)},
	AT(IDENTITY) = {[CODE] = TO(TOKEN, ask_token), [FAILED] = TO(OVER, login_fail)},
	AT(TOKEN) = {[NEXT] = MP_DO(ask_token),
		     [DONE] = TO(OVER, login_finish),
		     [FAILED] = TO(OVER, login_fail)},
};

static void login_describe(const struct mp_login *l, struct mp_log *ret_log)
{
	mp_log_init(ret_log, "login %s", l->server.origin ? l->server.origin : "");
}

MP_MACHINE(login, struct mp_login, .describe = login_describe)

/* --- failures -------------------------------------------------------------------------------- */

static enum login_event login_refuse(struct mp_login *l, int code, const char *format, ...)
	MP_PRINTF(3, 4);
static enum login_event login_refuse(struct mp_login *l, int code, const char *format, ...)
{
	char words[sizeof(l->why.message)];
	va_list args;

	va_start(args, format);
	vsnprintf(words, sizeof(words), format, args);
	va_end(args);
	(void)mp_fail(&l->why, code, "%s", words);
	return FAILED;
}

static enum login_event lack_memory(struct mp_login *l)
{
	return login_refuse(l, MCPOOL_ENOMEM, "no memory for a login");
}

/* --- requests -------------------------------------------------------------------------------- */

static void login_request(struct mp_login *l, const char *url, struct mp_http_request *ret)
{
	bool is_own =
		l->server.origin && mp_str_starts(mp_str_of(url), mp_str_of(l->server.origin));

	*ret = (struct mp_http_request){
		.url = url,
		.ca_file = l->o.ca_file,
		/* The certificate of the client is for the server. */
		.cert_file = is_own ? l->o.cert_file : NULL,
		.key_file = is_own ? l->o.key_file : NULL,
		.from = is_own ? MP_ZONE_ANY : l->d.zone,
	};
}

static void login_get(struct mp_login *l, const char *url)
{
	static const struct mp_http_header headers[] = {
		{{"Accept", 6}, {"application/json", 16}},
		{{"MCP-Protocol-Version", 20}, {"2025-11-25", 10}},
	};
	struct mp_http_request request;

	login_request(l, url, &request);
	request.headers = headers;
	request.n_headers = MP_ARRAY_LEN(headers);
	mp_fetch_start(&l->fetch, &request);
}

static void login_post(struct mp_login *l, const char *url, struct mp_str body,
		       const struct mp_http_fields *headers)
{
	struct mp_http_request request;

	login_request(l, url, &request);
	request.body = body;
	request.headers = mp_http_fields_get(headers, &request.n_headers);
	mp_fetch_start(&l->fetch, &request);
}

/* --- who issues tokens ----------------------------------------------------------------------- */

static enum login_event look_on(struct mp_login *l)
{
	login_get(l, mp_discovery_get_url(&l->d));
	return MP_QUIET;
}

static enum login_event login_follow(struct mp_login *l, enum mp_discovery_next next)
{
	if (next == MP_DISCOVERY_FETCH)
		return NEXT;
	l->c.issuer = l->d.issuer_name;
	return next == MP_DISCOVERY_DONE ? ISSUER_KNOWN : FAILED;
}

static enum login_event login_look(struct mp_login *l)
{
	l->d = (struct mp_discovery){.arena = &l->arena,
				     .server = &l->server,
				     .oauth = &l->oauth,
				     .named = l->challenge.resource_metadata};
	return login_follow(l, mp_discovery_begin(&l->d, &l->why));
}

/* --- who we are ------------------------------------------------------------------------------ */

static int choose_scope(struct mp_login *l)
{
	struct mp_login_scope s = {
		.given = l->oauth.scope,
		.challenged = l->challenge.scope,
		.before = l->o.more_scope && l->o.before ? l->o.before->scope : NULL,
		.more = l->o.more_scope,
		.supported = l->d.has_resource ? &l->d.resource.scopes : NULL,
		.issuer = &l->d.issuer.scopes,
	};

	return mp_login_client_choose_scope(&s, &l->arena, &l->c.scope);
}

static enum login_event choose_client(struct mp_login *l)
{
	const struct mp_credential *before = l->o.before;
	int r = choose_scope(l);

	l->c.token_endpoint = l->d.issuer.token_endpoint;
	l->c.revocation_endpoint = l->d.issuer.revocation_endpoint;
	l->c.resource = l->d.has_resource ? l->d.resource.resource : NULL;
	if (!l->c.resource)
		l->c.resource = l->oauth.resource ? l->oauth.resource : l->server.whole;
	if (r == 0 && l->oauth.grant == MP_OAUTH_CODE) {
		if (!mp_metadata_has(&l->d.issuer.challenge_methods, "S256"))
			return login_refuse(l, MCPOOL_EPERM,
					    "%s does not protect its codes (PKCE with S256), so no "
					    "login is made there",
					    l->c.issuer);
		if (!l->d.issuer.authorization_endpoint)
			return login_follow(
				l,
				mp_discovery_lack(&l->d, "its issuer has no authorization endpoint",
						  &l->why));
		if (!l->hooks->listen)
			return login_refuse(l, MCPOOL_ENEEDS_AUTH, "a person must log in");
		r = l->hooks->listen(l->u, l->oauth.callback_port, &l->c.redirect_uri, &l->why);
		if (r < 0)
			return FAILED;
		if (l->oauth.redirect_uri)
			l->c.redirect_uri = l->oauth.redirect_uri;
	}
	if (r < 0)
		return lack_memory(l);
	if (l->oauth.client_id) {
		l->c.client_id = l->oauth.client_id;
		l->c.client_secret = l->oauth.client_secret;
		l->c.client_auth =
			mp_login_client_choose_auth(&l->d.issuer, l->c.client_secret, NULL);
		return CLIENT_KNOWN;
	}
	/* A registration counts where it was made, and nowhere else (V31). */
	if (before && before->client_id && before->issuer && l->c.redirect_uri &&
	    before->redirect_uri && strcmp(before->issuer, l->c.issuer) == 0 &&
	    strcmp(before->redirect_uri, l->c.redirect_uri) == 0) {
		l->c.client_id = before->client_id;
		l->c.client_secret = before->client_secret;
		l->c.client_auth = before->client_auth;
		return CLIENT_KNOWN;
	}
	if (l->oauth.grant == MP_OAUTH_ASSERTION)
		return CLIENT_KNOWN; /* the assertion says who we are */
	if (l->oauth.client_metadata_url && l->d.issuer.takes_client_url) {
		l->c.client_id = l->oauth.client_metadata_url;
		l->c.client_auth = "none";
		return CLIENT_KNOWN;
	}
	if (!l->d.issuer.registration_endpoint)
		return login_refuse(l, MCPOOL_EINVAL,
				    "%s registers no clients by itself: register one there with "
				    "the redirect address %s and put its id into \"oauth\": "
				    "{\"clientId\": ...}",
				    l->c.issuer, l->c.redirect_uri ? l->c.redirect_uri : "(none)");
	return NEXT;
}

static enum login_event login_register(struct mp_login *l)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf body;
	MP_CLEANUP(mp_http_fields_done) struct mp_http_fields headers;
	int r;

	mp_buf_init(&body, FORM_MAX);
	mp_http_fields_init(&headers);
	r = mp_login_client_write(&l->d.issuer, l->c.redirect_uri, l->c.scope, &body);
	if (r == 0)
		r = mp_http_fields_add(&headers, MP_STR("Content-Type"),
				       MP_STR("application/json"));
	if (r == 0)
		r = mp_http_fields_add(&headers, MP_STR("Accept"), MP_STR("application/json"));
	if (r < 0)
		return lack_memory(l);
	login_post(l, l->d.issuer.registration_endpoint, mp_buf_get(&body), &headers);
	return MP_QUIET;
}

static enum login_event registration_answered(struct mp_login *l, const struct mp_fetch_answer *a)
{
	struct mcpool_error why;
	int r;

	if (a->status == 0)
		return login_refuse(l, MCPOOL_EIO, "%s", a->why.message);
	r = mp_login_client_read(a, &l->arena, &l->d.issuer, &l->c, &why);
	if (r < 0)
		return login_refuse(l, r == MCPOOL_EPROTO ? MCPOOL_EIO : r,
				    "%s does not register us: %s", l->c.issuer, why.message);
	return CLIENT_KNOWN;
}

/* --- what the token is asked with ------------------------------------------------------------- */

static int login_need_keys(struct mp_login *l)
{
	const char *old = l->o.before ? l->o.before->dpop_key : NULL;
	bool is_dpop = l->challenge.is_dpop || (l->d.has_resource && l->d.resource.is_dpop);
	int r = 0;

	if (l->oauth.private_key)
		r = mp_jwt_key_read(mp_str_of(l->oauth.private_key), &l->key, &l->why);
	if (r < 0 || (!is_dpop && !(l->state == MP_LOGIN_TOKEN && old)))
		return r;
	r = old ? mp_jwt_key_read(mp_str_of(old), &l->dpop, &l->why) : mp_jwt_key_make(&l->dpop);
	return r < 0 && !old ? mp_fail(&l->why, r, "no key for DPoP") : r;
}

static enum login_event choose_way(struct mp_login *l)
{
	if (login_need_keys(l) < 0)
		return FAILED;
	switch (l->oauth.grant) {
	case MP_OAUTH_CODE:
		return VISIT;
	case MP_OAUTH_CREDENTIALS:
		l->grant = MP_TOKEN_CREDENTIALS;
		return CODE;
	case MP_OAUTH_ASSERTION:
		l->grant = MP_TOKEN_ASSERTION;
		l->assertion = l->oauth.assertion;
		return CODE;
	case MP_OAUTH_ENTERPRISE:
		return VOUCH;
	}
	return VISIT;
}

static void login_make_secret(char *text)
{
	unsigned char bytes[SECRET_BYTES];
	MP_CLEANUP(mp_buf_done) struct mp_buf out;

	mp_random_fill(bytes, sizeof(bytes));
	mp_buf_init(&out, SECRET_TEXT);
	if (mp_base64url_add(&out, bytes, sizeof(bytes)) < 0)
		mp_random_id_make(text); /* 32 digits are as good */
	else
		snprintf(text, SECRET_TEXT, "%.*s", (int)out.len, out.data);
}

static int login_write_url(struct mp_login *l, struct mp_buf *out)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf challenge;
	const char *end = l->d.issuer.authorization_endpoint;
	int r;

	mp_buf_init(&challenge, SECRET_TEXT);
	login_make_secret(l->verifier);
	login_make_secret(l->secret_state);
	r = mp_jwt_add_hash(l->verifier, &challenge);
	if (r == 0)
		r = mp_buf_addf(out, "%s%s", end, strchr(end, '?') ? "&" : "?");
	if (r == 0)
		r = mp_url_add_member(out, "response_type", MP_STR("code"));
	if (r == 0)
		r = mp_url_add_member(out, "client_id", mp_str_of(l->c.client_id));
	if (r == 0)
		r = mp_url_add_member(out, "redirect_uri", mp_str_of(l->c.redirect_uri));
	if (r == 0)
		r = mp_url_add_member(out, "code_challenge", mp_buf_get(&challenge));
	if (r == 0)
		r = mp_url_add_member(out, "code_challenge_method", MP_STR("S256"));
	if (r == 0)
		r = mp_url_add_member(out, "state", mp_str_of(l->secret_state));
	if (r == 0 && l->c.resource)
		r = mp_url_add_member(out, "resource", mp_str_of(l->c.resource));
	if (r == 0 && l->c.scope)
		r = mp_url_add_member(out, "scope", mp_str_of(l->c.scope));
	/* Some issuers give refresh tokens only when the user is asked again. */
	if (r == 0 && l->c.scope && strstr(l->c.scope, "offline_access"))
		r = mp_url_add_member(out, "prompt", MP_STR("consent"));
	return r;
}

static enum login_event ask_person(struct mp_login *l)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	struct mp_url url;

	mp_buf_init(&out, FORM_MAX);
	if (login_write_url(l, &out) < 0 || mp_buf_terminate(&out) < 0)
		return lack_memory(l);
	if (mp_url_read(out.data, &l->arena, &url) < 0 || !mp_url_is_safe(&url))
		return login_refuse(l, MCPOOL_EPERM,
				    "the address for the login is not an https address");
	l->visit = (struct mp_login_visit){.url = url.whole,
					   .issuer = l->c.issuer,
					   .scope = l->c.scope,
					   .redirect_uri = l->c.redirect_uri};
	mp_timer_start(&l->patience, PERSON_MS);
	l->hooks->visit(l->u, &l->visit);
	return MP_QUIET;
}

static void patience_ended(void *u)
{
	struct mp_login *l = u;

	login_advance(l,
		      login_refuse(l, MCPOOL_ETIMEDOUT, "OAuth flow timed out. Please try again."));
}

/* RFC 9207: exactly the issuer that we asked; and it must be there if it was announced. */
static bool login_is_from_issuer(const struct mp_login *l, const char *iss)
{
	return iss ? strcmp(iss, l->c.issuer) == 0 : !l->d.issuer.sends_iss;
}

int mp_login_take_redirect(struct mp_login *l, const char *url, struct mcpool_error *reterr)
{
	const char *state = mp_url_get_member(url, "state", &l->arena);
	const char *error = mp_url_get_member(url, "error", &l->arena);
	const char *words = mp_url_get_member(url, "error_description", &l->arena);

	if (l->state != MP_LOGIN_PERSON)
		return mp_fail(reterr, MCPOOL_EINVAL, "no login is waiting for an answer");
	if (!state || strcmp(state, l->secret_state) != 0)
		return mp_fail(reterr, MCPOOL_EINVAL,
			       "this address is not the answer to this login; paste the whole "
			       "address that the browser shows at the end");
	mp_timer_stop(&l->patience);
	l->code = mp_url_get_member(url, "code", &l->arena);
	l->grant = MP_TOKEN_CODE;
	if (!login_is_from_issuer(l, mp_url_get_member(url, "iss", &l->arena)))
		login_advance(l, login_refuse(l, MCPOOL_EPERM,
					      "the answer of the browser is from another issuer "
					      "than %s, so it is not used",
					      l->c.issuer));
	else if (error)
		login_advance(l, login_refuse(l, MCPOOL_EPERM, "%s%s%s", error, words ? ": " : "",
					      words ? words : ""));
	else if (!l->code || !l->code[0])
		login_advance(l,
			      login_refuse(l, MCPOOL_EIO, "the answer of the browser has no code"));
	else
		login_advance(l, CODE);
	return 0;
}

const struct mp_login_visit *mp_login_get_visit(const struct mp_login *l)
{
	return l->state == MP_LOGIN_PERSON ? &l->visit : NULL;
}

/* --- the token ------------------------------------------------------------------------------- */

static enum login_event login_send(struct mp_login *l, struct mp_token_request *q)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf body;
	MP_CLEANUP(mp_http_fields_done) struct mp_http_fields headers;
	int r;

	mp_buf_init(&body, FORM_MAX);
	mp_http_fields_init(&headers);
	q->wall_ms = mp_loop_wall_now_ms(l->o.loop);
	r = mp_token_request_write(q, &body, &headers);
	if (r == 0)
		login_post(l, q->endpoint, mp_buf_get(&body), &headers);
	if (body.data)
		mp_wipe(body.data, body.cap);
	if (headers.text.data)
		mp_wipe(headers.text.data, headers.text.cap);
	return r < 0 ? login_refuse(l, r, "the request for a token cannot be made: %s",
				    mcpool_error_text(r))
		     : MP_QUIET;
}

/* Enterprise-managed: the ID token becomes a grant for the issuer of the server. */
static enum login_event ask_identity(struct mp_login *l)
{
	struct mp_credential idp = {
		.client_id = l->oauth.idp_client_id ? l->oauth.idp_client_id : l->c.client_id,
		.client_secret = l->oauth.idp_client_secret,
		.client_auth = "client_secret_post",
		.resource = l->c.resource,
		.scope = l->c.scope,
	};
	struct mp_token_request q = {
		.grant = MP_TOKEN_EXCHANGE,
		.endpoint = l->oauth.idp_token_url,
		.client = &idp,
		.assertion = l->oauth.idp_id_token,
		.audience = l->c.issuer,
	};

	return login_send(l, &q);
}

static enum login_event begin_refresh(struct mp_login *l)
{
	l->c = *l->o.before; /* its texts are in the arena */
	l->grant = MP_TOKEN_REFRESH;
	if (login_need_keys(l) < 0)
		return FAILED;
	return ask_token(l);
}

static enum login_event ask_token(struct mp_login *l)
{
	struct mp_token_request q = {
		.grant = l->grant,
		.endpoint = l->c.token_endpoint,
		.client = &l->c,
		.code = l->code,
		.verifier = l->verifier,
		.redirect_uri = l->c.redirect_uri,
		.assertion = l->assertion,
		.key = l->key,
		.dpop = l->dpop,
		.nonce = l->nonce,
	};

	return login_send(l, &q);
}

/* RFC 6749, 5.2: what will not become better by asking again. */
static bool login_is_final(const char *error)
{
	return strcmp(error, "temporarily_unavailable") != 0 &&
	       strcmp(error, "server_error") != 0 && strcmp(error, "slow_down") != 0;
}

static enum login_event explain_token(struct mp_login *l, const struct mp_token_answer *t,
				      int status)
{
	bool is_refusal =
		(status == 400 || status == 401 || status == 403) && login_is_final(t->error);
	int code = !is_refusal                               ? MCPOOL_EIO
		   : strcmp(t->error, "invalid_client") == 0 ? MCPOOL_ENOENT
							     : MCPOOL_EPERM;

	return login_refuse(l, code, "%s%s%s", t->error, t->description ? ": " : "",
			    t->description ? t->description : "");
}

/* Shared by token endpoint and identity provider. */
static enum login_event read_token(struct mp_login *l, const struct mp_fetch_answer *a,
				   struct mp_token_answer *t)
{
	struct mcpool_error why;
	int r;

	if (a->status == 0)
		return login_refuse(l, MCPOOL_EIO, "%s", a->why.message);
	r = mp_token_answer_read(a->body, &l->arena, t, &why);
	if (r == 0 && a->status != 200 && !t->error)
		r = MCPOOL_EPROTO;
	if (r < 0)
		return login_refuse(l, MCPOOL_EIO,
				    "the token endpoint answered HTTP %d without a token",
				    a->status);
	if (t->error)
		return explain_token(l, t, a->status);
	return DONE;
}

static enum login_event identity_answered(struct mp_login *l, const struct mp_fetch_answer *a)
{
	struct mp_token_answer t = {.access_token = NULL};
	enum login_event ev = read_token(l, a, &t);

	if (ev != DONE)
		return ev;
	l->assertion = t.access_token;
	l->grant = MP_TOKEN_ASSERTION;
	return CODE;
}

static enum login_event token_answered(struct mp_login *l, const struct mp_fetch_answer *a)
{
	struct mp_token_answer t = {.error = NULL};
	enum login_event ev = read_token(l, a, &t);

	if (a->nonce.len)
		l->nonce = mp_arena_dup(&l->arena, a->nonce);
	if (ev != DONE && t.error && strcmp(t.error, "use_dpop_nonce") == 0 && l->dpop &&
	    a->nonce.len && l->nonces++ < NONCES)
		return NEXT;
	if (ev != DONE)
		return ev;
	if (l->dpop && !t.is_dpop)
		return login_refuse(l, MCPOOL_EPERM, "the token is not bound to our key");
	l->c.access_token = t.access_token;
	if (t.refresh_token)
		l->c.refresh_token = t.refresh_token;
	l->c.expires_ms =
		t.expires_in_s < 0 ? 0 : mp_loop_wall_now_ms(l->o.loop) + t.expires_in_s * 1000;
	return DONE;
}

/* --- ends ------------------------------------------------------------------------------------ */

static int login_keep_dpop(struct mp_login *l)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf pem;
	int r;

	mp_buf_init(&pem, FORM_MAX);
	if (!l->dpop)
		return 0;
	r = mp_jwt_key_write(l->dpop, &pem);
	if (r == 0)
		l->c.dpop_key = mp_arena_dup(&l->arena, mp_buf_get(&pem));
	if (pem.data)
		mp_wipe(pem.data, pem.cap);
	return r < 0 ? r : mp_arena_get_error(&l->arena);
}

static enum login_event login_finish(struct mp_login *l)
{
	l->c.server_url = l->o.server_url;
	if (login_keep_dpop(l) < 0) {
		(void)lack_memory(l);
		return login_fail(l);
	}
	l->hooks->done(l->u, &l->c, NULL);
	return MP_QUIET;
}

static enum login_event login_fail(struct mp_login *l)
{
	mp_timer_stop(&l->patience);
	l->hooks->done(l->u, NULL, &l->why);
	return MP_QUIET;
}

static void login_answered(void *u, const struct mp_fetch_answer *a)
{
	struct mp_login *l = u;

	switch (l->state) {
	case MP_LOGIN_DISCOVERING:
		login_advance(l, login_follow(l, mp_discovery_take(&l->d, a, &l->why)));
		break;
	case MP_LOGIN_REGISTERING:
		login_advance(l, registration_answered(l, a));
		break;
	case MP_LOGIN_IDENTITY:
		login_advance(l, identity_answered(l, a));
		break;
	case MP_LOGIN_TOKEN:
		login_advance(l, token_answered(l, a));
		break;
	case MP_LOGIN_NEW:
	case MP_LOGIN_PERSON:
	case MP_LOGIN_OVER:
		break;
	}
}

/* --- life ------------------------------------------------------------------------------------ */

static const char *login_copy(struct mp_login *l, const char *text)
{
	return text ? mp_arena_dup(&l->arena, mp_str_of(text)) : NULL;
}

static int login_copy_options(struct mp_login *l, const struct mp_login_options *o)
{
	struct mp_credential *before;
	int r = 0;

	l->o = *o;
	l->o.server_url = login_copy(l, o->server_url);
	l->o.ca_file = login_copy(l, o->ca_file);
	l->o.cert_file = login_copy(l, o->cert_file);
	l->o.key_file = login_copy(l, o->key_file);
	l->o.more_scope = login_copy(l, o->more_scope);
	mp_oauth_copy(o->oauth, &l->arena, &l->oauth);
	if (o->before) {
		before = mp_arena_alloc(&l->arena, sizeof(*before));
		r = before ? mp_credential_copy(o->before, &l->arena, before) : MCPOOL_ENOMEM;
		l->o.before = before;
	}
	if (r == 0)
		r = mp_challenge_read(o->challenge, &l->arena, &l->challenge);
	if (r == 0 && l->o.server_url)
		r = mp_url_read(l->o.server_url, &l->arena, &l->server);
	return r < 0 ? r : mp_arena_get_error(&l->arena);
}

/* From the loop, because it may be over at once. */
static void login_begin(void *u)
{
	struct mp_login *l = u;

	login_advance(l, l->why.code ? FAILED : l->first);
}

struct mp_login *mp_login_new(const struct mp_login_options *options,
			      const struct mp_login_hooks *hooks, void *u)
{
	struct mp_login *l = mp_alloc(sizeof(*l));
	int r;

	l->hooks = hooks;
	l->u = u;
	mp_arena_init(&l->arena, ARENA);
	r = login_copy_options(l, options);
	if (r < 0)
		(void)mp_fail(&l->why, r, "%s",
			      r == MCPOOL_EINVAL ? "the url of the server is not an http address"
						 : mcpool_error_text(r));
	mp_fetch_init(&l->fetch, options->http, login_answered, l);
	mp_timer_init(&l->patience, options->loop, patience_ended, l);
	mp_task_init(&l->begin, login_begin, l);
	return l;
}

static void login_gone(struct mp_grave *grave)
{
	struct mp_login *l = mp_container_of(grave, struct mp_login, grave);

	mp_arena_wipe(&l->arena);
	mp_free(l);
}

struct mp_login *mp_login_free(struct mp_login *l)
{
	if (!l)
		return NULL;
	mp_timer_stop(&l->patience);
	mp_loop_unpost(l->o.loop, &l->begin);
	mp_fetch_done(&l->fetch);
	mp_jwt_key_free(l->key);
	mp_jwt_key_free(l->dpop);
	l->key = l->dpop = NULL;
	mp_wipe(l->verifier, sizeof(l->verifier));
	mp_loop_bury(l->o.loop, &l->grave, login_gone); /* its hook may be on the stack */
	return NULL;
}

void mp_login_start(struct mp_login *l)
{
	l->first = START;
	mp_loop_post(l->o.loop, &l->begin);
}

void mp_login_refresh(struct mp_login *l)
{
	l->first = REFRESH;
	mp_loop_post(l->o.loop, &l->begin);
}
