/*
 * account.c - the credential of one server.
 */
#include "auth/account.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "auth/challenge.h"
#include "auth/credential_work.h"
#include "auth/fetch.h"
#include "auth/jwt.h"
#include "auth/token_request.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/random_id.h"
#include "base/secrets.h"
#include "net/url.h"
#include "store/secret_records.h"

enum {
	TEXT_MAX = MP_LIMIT_SECRET_VALUE,
	LOCK_RETRY_MS = 100, /* while another process renews the same token */
	LOCK_MAX_MS = 60000,
	FRESH_MS = 10000,       /* a token that is refused so soon is not renewed once more */
	EARLY_MS = 60000,       /* a token counts as expired so long before it is */
	LOGIN_PAUSE_MS = 30000, /* calls begin no login so soon after one that failed */
	STEPS = 2,              /* logins for more scopes that requests begin by themselves */
};

#define ACCOUNT_EVENTS(X)                                                    \
	X(RENEW, "renew", "a new token is wanted")                           \
	X(TIMER, "timer", "try the lock again, or the token is old")         \
	X(LOCKED, "locked", "we have the lock, and nothing newer was there") \
	X(BUSY, "busy", "another process has the lock")                      \
	X(NEWER, "newer", "another process has renewed it")                  \
	X(GOT, "got", "there is a new credential")                           \
	X(SAVED, "saved", "it is in the store, or will never be")            \
	X(FAILED, "failed", "there is none; why is noted")

MP_MACHINE_ENUM(account_event, ACCOUNT_EVENTS);

struct mp_account {
	struct mp_authorization base;
	enum mp_account_state state;
	struct mp_account_options o; /* texts are owned */
	struct mp_arena oauth_texts;
	struct mp_oauth oauth;
	struct mp_log log;

	struct mp_arena arena; /* of c */
	struct mp_credential c;
	unsigned number; /* of the token; see mp_authorization_refusal */
	int64_t got_ms;  /* when we last got one ourselves, on the loop's clock */
	bool was_used;   /* since then */
	struct mp_jwt_key *dpop;
	char *nonce;   /* of the server; owned */
	char *revoked; /* the refresh token that was refused; owned; NULL: none */

	struct mp_list waiting; /* for the end of a renewal, or of a login */
	struct mp_list soon;    /* for the end of this turn: they may go again */
	struct mp_task tell_soon;
	struct mp_timer timer; /* LOCKING: the lock; IDLE: the token becomes old */
	int64_t locking_since_ms;
	struct mp_credential_work *work; /* NULL: none */
	int lock;                        /* -1: not ours */
	struct mp_login *renewal;        /* ASKING; owned */
	struct mcpool_error *why;        /* why there is no token; owned; NULL: nothing is wrong */

	struct mp_person person; /* logs in, beside all that */
	int64_t login_failed_ms; /* the last one, on the loop's clock; 0: it did not fail */
	struct mp_buf challenge; /* of the last refusal */
	char *more_scope;        /* that was wanted then; owned; NULL: none */
	unsigned steps;

	/* And out. */
	struct mp_fetch *revocation;      /* owned; NULL: none is under way */
	struct mp_person_watcher *leaver; /* NULL: no */
};

MP_MACHINE_TYPES(account, struct mp_account, enum account_event, MP_ACCOUNT_STATES, ACCOUNT_EVENTS);
static account_action take_lock, wait_for_lock, ask_token, account_save, use_newer, renew_old,
	account_settle, account_fail;

#define AT(state)      [MP_ACCOUNT_##state]
#define TO(state, act) MP_TO(MP_ACCOUNT_##state, act)

/* A login of a person ends in SAVING, too, from whatever state: GOT. */
MP_MACHINE_STEPS(account) = {
	AT(IDLE) = {[RENEW] = TO(LOCKING, take_lock),
		    [TIMER] = MP_DO(renew_old),
		    [GOT] = TO(SAVING, account_save)},
	AT(LOCKING) = {[LOCKED] = TO(ASKING, ask_token),
		       [BUSY] = MP_DO(wait_for_lock),
		       [TIMER] = MP_DO(take_lock),
		       [NEWER] = TO(IDLE, use_newer),
		       [FAILED] = TO(IDLE, account_fail),
		       [RENEW] = MP_STAY},
	AT(ASKING) = {[GOT] = TO(SAVING, account_save),
		      [FAILED] = TO(IDLE, account_fail),
		      [RENEW] = MP_STAY},
	AT(SAVING) = {[SAVED] = TO(IDLE, account_settle), [RENEW] = MP_STAY},
};

static void account_describe(const struct mp_account *a, struct mp_log *ret_log)
{
	*ret_log = a->log;
}

MP_MACHINE(account, struct mp_account, .describe = account_describe)

static struct mp_account *account_of(struct mp_authorization *base)
{
	return mp_container_of(base, struct mp_account, base);
}

/* Why there is no token. Most accounts never need these words. */
static void account_explain(struct mp_account *a, int code, const char *format, ...)
	MP_PRINTF(3, 4);
static void account_explain(struct mp_account *a, int code, const char *format, ...)
{
	struct mcpool_error why;
	char words[sizeof(why.message)];
	va_list args;

	va_start(args, format);
	vsnprintf(words, sizeof(words), format, args);
	va_end(args);
	(void)mp_fail(&why, code, "%s", words);
	mp_error_keep(&a->why, &why);
}

/* --- the credential -------------------------------------------------------------------------- */

static void account_hide(const struct mp_credential *c, bool is_on)
{
	const char *texts[] = {c->access_token, c->refresh_token, c->client_secret};

	for (size_t i = 0; i < MP_ARRAY_LEN(texts); i++) {
		if (!texts[i])
			continue;
		if (!is_on)
			mp_secret_remove(mp_str_of(texts[i]));
		else if (mp_secret_add(mp_str_of(texts[i])) < 0)
			continue; /* too many to hide: they are never logged by us */
	}
}

static void account_drop(struct mp_account *a)
{
	account_hide(&a->c, false);
	a->c = (struct mp_credential){.expires_ms = 0};
	mp_arena_wipe(&a->arena);
	a->dpop = mp_jwt_key_free(a->dpop);
}

static int64_t account_now(const struct mp_account *a)
{
	return mp_loop_wall_now_ms(a->o.loop);
}

/* Before it expires, but not at the same moment as all others; only while it is used. */
static void time_renewal(struct mp_account *a)
{
	int64_t left = a->c.expires_ms - account_now(a);
	unsigned char random;

	mp_timer_stop(&a->timer);
	if (!a->c.access_token || a->c.expires_ms == 0 || left <= EARLY_MS)
		return;
	mp_random_fill(&random, 1);
	mp_timer_start(&a->timer, left - EARLY_MS - (left - EARLY_MS) / 10 * random / 255);
}

/* Copies; the one before is forgotten. */
static int account_set(struct mp_account *a, const struct mp_credential *c)
{
	struct mp_arena arena;
	struct mp_credential copy;
	int r;

	mp_arena_init(&arena, MP_MIB(1));
	r = mp_credential_copy(c, &arena, &copy);
	if (r < 0) {
		mp_arena_wipe(&arena);
		return r;
	}
	account_drop(a);
	a->arena = arena;
	a->c = copy;
	account_hide(&a->c, true);
	if (copy.dpop_key && mp_jwt_key_read(mp_str_of(copy.dpop_key), &a->dpop, NULL) < 0)
		a->dpop = NULL;
	a->number++;
	a->was_used = false;
	if (a->c.access_token)
		a->why = mp_free(a->why);
	return 0;
}

static bool is_same(const char *x, const char *y)
{
	return x == y || (x && y && strcmp(x, y) == 0);
}

/* A credential is for one address: the entry's may have changed since (V32). */
static bool account_is_ours(const struct mp_account *a, const struct mp_credential *c)
{
	return is_same(c->server_url, a->o.server_url);
}

/* True: the text has another token than ours, which is used now. */
static bool account_adopt(struct mp_account *a, struct mp_str text)
{
	struct mp_arena arena;
	struct mp_credential c;
	bool is_other;

	mp_arena_init(&arena, MP_MIB(1));
	is_other = mp_credential_read(text, &arena, &c) == 0 && account_is_ours(a, &c) &&
		   !(a->revoked && is_same(c.refresh_token, a->revoked)) &&
		   (!is_same(c.access_token, a->c.access_token) ||
		    !is_same(c.refresh_token, a->c.refresh_token) || !a->c.client_id);
	if (is_other)
		is_other = account_set(a, &c) == 0;
	mp_arena_wipe(&arena);
	return is_other;
}

static bool is_unattended(const struct mp_account *a)
{
	return a->oauth.grant != MP_OAUTH_CODE;
}

static bool can_renew(const struct mp_account *a)
{
	return !a->oauth.is_off &&
	       ((a->c.refresh_token && a->c.token_endpoint) || is_unattended(a));
}

static bool is_old(const struct mp_account *a)
{
	return a->c.access_token && a->c.expires_ms &&
	       account_now(a) >= a->c.expires_ms - EARLY_MS / 6;
}

/* --- waiters --------------------------------------------------------------------------------- */

static void decide_all(struct mp_account *a, bool again, const struct mcpool_error *why)
{
	struct mp_link *link;

	while ((link = mp_list_pop(&a->waiting))) {
		struct mp_authorization_waiter *w =
			mp_container_of(link, struct mp_authorization_waiter, link);

		w->decided(w->u, again, why);
	}
}

static void tell_soon(void *u)
{
	struct mp_account *a = u;
	struct mp_link *link;

	while ((link = mp_list_pop(&a->soon))) {
		struct mp_authorization_waiter *w =
			mp_container_of(link, struct mp_authorization_waiter, link);

		w->decided(w->u, true, NULL);
	}
}

static bool account_go_soon(struct mp_account *a, struct mp_authorization_waiter *w)
{
	mp_list_append(&a->soon, &w->link);
	if (!mp_list_linked(&a->tell_soon.link))
		mp_loop_post(a->o.loop, &a->tell_soon);
	return true;
}

static bool account_wait(struct mp_account *a, struct mp_authorization_waiter *w)
{
	mp_list_append(&a->waiting, &w->link);
	return true;
}

static void leave_waiting(struct mp_authorization *base, struct mp_authorization_waiter *w)
{
	struct mp_account *a = account_of(base);
	struct mp_list *lists[] = {&a->waiting, &a->soon};

	for (size_t i = 0; i < MP_ARRAY_LEN(lists); i++)
		MP_LIST_EACH(lists[i], link) {
			if (link == &w->link) {
				mp_list_remove(lists[i], link);
				return;
			}
		}
}

/* --- work ------------------------------------------------------------------------------------ */

static void account_unlock(struct mp_account *a)
{
	if (a->lock >= 0)
		close(a->lock);
	a->lock = -1;
}

static void left_store(struct mp_account *a, const struct mcpool_error *error);

static enum account_event take_locked(struct mp_account *a, struct mp_credential_work *w)
{
	bool is_newer;

	a->lock = w->fd;
	w->fd = -1;
	if (w->result == MCPOOL_EAGAIN)
		return BUSY;
	if (w->result < 0) {
		mp_error_keep(&a->why, &w->why);
		return FAILED;
	}
	is_newer = account_adopt(a, mp_buf_get(&w->text)) && a->c.access_token && !is_old(a);
	return is_newer ? NEWER : LOCKED;
}

static void work_done(void *u, struct mp_credential_work *w)
{
	struct mp_account *a = u;

	a->work = NULL;
	switch (w->task) {
	case MP_CREDENTIAL_LOCK:
		account_advance(a, take_locked(a, w));
		break;
	case MP_CREDENTIAL_SAVE:
		if (w->result < 0)
			mp_log_warn(&a->log,
				    "its new token could not be saved and is lost with this "
				    "process: %s",
				    w->why.message);
		account_advance(a, SAVED);
		break;
	case MP_CREDENTIAL_REMOVE:
		left_store(a, w->result == 0 || w->result == MCPOOL_ENOENT ? NULL : &w->why);
		break;
	}
}

static int account_work(struct mp_account *a, enum mp_credential_task task, struct mp_str text)
{
	return mp_credential_work_start(a->o.loop, task, a->o.secrets, a->o.secret, text, work_done,
					a, &a->work);
}

/* --- renewing -------------------------------------------------------------------------------- */

static enum account_event take_lock(struct mp_account *a)
{
	int r;

	if (a->locking_since_ms == 0)
		a->locking_since_ms = mp_loop_now_ms(a->o.loop);
	mp_timer_stop(&a->timer);
	if (!a->o.secrets)
		return LOCKED;
	r = account_work(a, MP_CREDENTIAL_LOCK, (struct mp_str){NULL, 0});
	if (r == 0)
		return MP_QUIET;
	account_explain(a, r, "%s", mcpool_error_text(r));
	return FAILED;
}

static enum account_event wait_for_lock(struct mp_account *a)
{
	if (mp_loop_now_ms(a->o.loop) - a->locking_since_ms > LOCK_MAX_MS) {
		account_explain(a, MCPOOL_EAGAIN,
				"another process has been renewing its token for a minute");
		return FAILED;
	}
	mp_timer_start(&a->timer, LOCK_RETRY_MS);
	return MP_QUIET;
}

static void renewal_done(void *u, const struct mp_credential *c, const struct mcpool_error *error)
{
	struct mp_account *a = u;

	bool is_failed = error != NULL;

	if (error) {
		mp_error_keep(&a->why, error);
	} else if (account_set(a, c) < 0) {
		account_explain(a, MCPOOL_ENOMEM, "no memory for a token");
		is_failed = true;
	}
	a->got_ms = mp_loop_now_ms(a->o.loop);
	a->renewal = mp_login_free(a->renewal);
	account_advance(a, is_failed ? FAILED : GOT);
}

static const struct mp_login_hooks renewal_hooks = {.done = renewal_done};

static struct mp_login_options describe_login(const struct mp_account *a)
{
	return (struct mp_login_options){
		.loop = a->o.loop,
		.http = a->o.http,
		.server_url = a->o.server_url,
		.ca_file = a->o.ca_file,
		.cert_file = a->o.cert_file,
		.key_file = a->o.key_file,
		.challenge = mp_buf_get(&a->challenge),
		.oauth = &a->oauth,
		.before = a->c.client_id || a->c.refresh_token ? &a->c : NULL,
		.more_scope = a->more_scope,
	};
}

static enum account_event ask_token(struct mp_account *a)
{
	struct mp_login_options o = describe_login(a);

	a->renewal = mp_login_new(&o, &renewal_hooks, a);
	if (is_unattended(a) && !a->c.refresh_token)
		mp_login_start(a->renewal);
	else
		mp_login_refresh(a->renewal);
	return MP_QUIET;
}

/* Saves it, if it can be; the lock is ours, or is not needed for a login that a person made. */
static enum account_event account_save(struct mp_account *a)
{
	MP_CLEANUP(mp_secret_buf_done) struct mp_buf text;
	int r;

	mp_buf_init(&text, TEXT_MAX);
	if (!a->o.secrets)
		return SAVED;
	r = mp_credential_write(&a->c, &text);
	if (r == 0)
		r = account_work(a, MP_CREDENTIAL_SAVE, mp_buf_get(&text));
	if (r == 0)
		return MP_QUIET;
	mp_log_warn(&a->log, "its new token could not be saved: %s", mcpool_error_text(r));
	return SAVED;
}

/* All that waited go on. Any of them may free the account's users, never the account. */
static enum account_event account_settle(struct mp_account *a)
{
	account_unlock(a);
	a->locking_since_ms = 0;
	time_renewal(a);
	mp_log_write(&a->log, MP_LEVEL_VRB, "has a %s token", a->c.access_token ? "new" : "no");
	mp_person_end(&a->person, NULL);
	decide_all(a, a->c.access_token != NULL, NULL);
	return MP_QUIET;
}

static enum account_event use_newer(struct mp_account *a)
{
	return account_settle(a);
}

/*
 * What was granted is no longer valid: a person must log in. The token goes, the registration
 * stays; the store keeps both, for what another process may know. Anything else may pass, and the
 * token is tried again then.
 */
static enum account_event account_fail(struct mp_account *a)
{
	struct mcpool_error why = *a->why;
	bool is_revoked = why.code == MCPOOL_EPERM || why.code == MCPOOL_ENOENT ||
			  why.code == MCPOOL_EINVAL || why.code == MCPOOL_ENEEDS_AUTH;

	a->locking_since_ms = 0;
	if (is_revoked) {
		account_hide(&a->c, false);
		mp_free(a->revoked);
		a->revoked = a->c.refresh_token ? mp_dup(a->c.refresh_token) : NULL;
		a->c.access_token = a->c.refresh_token = NULL;
		if (why.code == MCPOOL_ENOENT)
			a->c.client_id = a->c.client_secret = NULL;
		account_hide(&a->c, true);
		a->number++;
	}
	account_unlock(a);
	if (is_revoked) {
		account_explain(a, MCPOOL_ENEEDS_AUTH, "OAuth authentication failed: %s",
				why.message);
		decide_all(a, false, NULL);
	} else {
		account_explain(a, MCPOOL_EIO, "its token could not be renewed: %s", why.message);
		why = *a->why;
		decide_all(a, false, &why);
	}
	if (is_revoked && a->o.hooks && a->o.hooks->changed)
		a->o.hooks->changed(a->o.u, a);
	return MP_QUIET;
}

static enum account_event renew_old(struct mp_account *a)
{
	return a->was_used && can_renew(a) ? RENEW : MP_QUIET;
}

static void timer_rang(void *u)
{
	account_advance(u, TIMER);
}

static void account_renew(struct mp_account *a)
{
	account_advance(a, RENEW);
}

/* --- requests -------------------------------------------------------------------------------- */

static int add_proof(struct mp_account *a, const char *method, const char *url,
		     struct mp_http_fields *fields)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf proof;
	struct mp_jwt_proof p = {.method = method,
				 .url = url,
				 .nonce = a->nonce,
				 .token = a->c.access_token,
				 .wall_ms = account_now(a)};
	int r;

	mp_buf_init(&proof, MP_KIB(16));
	r = mp_jwt_write_proof(a->dpop, &p, &proof);
	return r < 0 ? r : mp_http_fields_add(fields, MP_STR("DPoP"), mp_buf_get(&proof));
}

static int account_add(struct mp_authorization *base, const char *method, const char *url,
		       struct mp_http_fields *fields, unsigned *ret_token)
{
	MP_CLEANUP(mp_secret_buf_done) struct mp_buf value;
	struct mp_account *a = account_of(base);
	int r;

	*ret_token = a->number;
	mp_buf_init(&value, MP_KIB(128));
	if (!a->c.access_token || a->oauth.is_off)
		return 0;
	a->was_used = true;
	r = mp_buf_addf(&value, "%s %s", a->dpop ? "DPoP" : "Bearer", a->c.access_token);
	if (r == 0)
		r = mp_http_fields_add(fields, MP_STR("Authorization"), mp_buf_get(&value));
	return r == 0 && a->dpop ? add_proof(a, method, url, fields) : r;
}

static void keep_challenge(struct mp_account *a, struct mp_str text)
{
	mp_buf_clear(&a->challenge);
	if (mp_buf_add_str(&a->challenge, text) < 0)
		mp_buf_clear(&a->challenge);
}

static void begin_login(struct mp_account *a);

static bool account_ask_person(struct mp_account *a, struct mp_authorization_waiter *w)
{
	if (!a->o.asks_at_once || a->oauth.is_off)
		return false;
	if (!a->person.login)
		begin_login(a);
	return account_wait(a, w);
}

/* More scopes than were granted; a person must agree to them. */
static bool account_step_up(struct mp_account *a, const struct mp_challenge *c,
			    struct mp_authorization_waiter *w)
{
	mp_free(a->more_scope);
	a->more_scope = c->scope ? mp_dup(c->scope) : NULL;
	if (a->o.asks_at_once && (a->person.login || a->steps++ < STEPS))
		return account_ask_person(a, w);
	account_explain(a, MCPOOL_ENEEDS_AUTH, "it wants more rights than were granted%s%s",
			c->scope ? ": " : "", c->scope ? c->scope : "");
	return false;
}

static bool account_refused(struct mp_authorization *base,
			    const struct mp_authorization_refusal *no,
			    struct mp_authorization_waiter *w)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mp_account *a = account_of(base);
	struct mp_challenge c;
	bool is_fresh = a->got_ms && mp_loop_now_ms(a->o.loop) - a->got_ms < FRESH_MS &&
			!(a->c.expires_ms && account_now(a) >= a->c.expires_ms - 1000);

	mp_arena_init(&arena, MP_KIB(64));
	if (a->oauth.is_off || mp_challenge_read(no->challenge, &arena, &c) < 0)
		return false;
	if (no->nonce.len && a->dpop) {
		mp_free(a->nonce);
		a->nonce = mp_alloc(no->nonce.len + 1);
		memcpy(a->nonce, no->nonce.p, no->nonce.len);
		if (c.error && strcmp(c.error, "use_dpop_nonce") == 0 && no->before < 2)
			return account_go_soon(a, w);
	}
	if (no->token != a->number && a->c.access_token)
		return account_go_soon(a, w); /* another request had it renewed */
	if (no->status == 403 && !(c.error && strcmp(c.error, "insufficient_scope") == 0))
		return false;
	keep_challenge(a, no->challenge);
	if (a->person.login && a->o.asks_at_once)
		return account_wait(a, w);
	if (no->status == 403)
		return account_step_up(a, &c, w);
	if (a->state != MP_ACCOUNT_IDLE)
		return account_wait(a, w);
	if (can_renew(a) && !(is_fresh && a->c.access_token)) {
		account_renew(a);
		return account_wait(a, w);
	}
	return account_ask_person(a, w);
}

static bool account_is_used(const struct mp_authorization *base)
{
	const struct mp_account *a = mp_container_of(base, const struct mp_account, base);

	return !a->oauth.is_off && (a->c.access_token || can_renew(a) || a->o.asks_at_once);
}

static const struct mp_authorization_ops account_ops = {account_is_used, account_add,
							account_refused, leave_waiting};

bool mp_account_prepare(struct mp_account *a, struct mp_authorization_waiter *waiter)
{
	if (a->oauth.is_off || !can_renew(a))
		return false;
	if (a->state == MP_ACCOUNT_IDLE && a->c.access_token && !is_old(a))
		return false;
	if (a->state == MP_ACCOUNT_IDLE)
		account_renew(a);
	return account_wait(a, waiter);
}

/* --- a person logs in ------------------------------------------------------------------------ */

static void login_visit(void *u, const struct mp_login_visit *visit)
{
	struct mp_account *a = u;

	if (a->o.hooks && a->o.hooks->visit)
		a->o.hooks->visit(a->o.u, a, visit);
}

static void login_failed(struct mp_account *a, const struct mcpool_error *error)
{
	struct mcpool_error why = *error;

	if (why.code == MCPOOL_ENOENT) { /* the next login registers us again */
		account_hide(&a->c, false);
		a->c.client_id = a->c.client_secret = NULL;
		account_hide(&a->c, true);
	}
	a->login_failed_ms = mp_loop_now_ms(a->o.loop);
	mp_error_keep(&a->why, &why);
	mp_person_end(&a->person, &why);
	decide_all(a, false, NULL);
}

/* A renewal that is under way is of no use any more. */
static void give_up_renewal(struct mp_account *a)
{
	a->renewal = mp_login_free(a->renewal);
	if (a->work)
		mp_credential_work_cancel(a->work);
	a->work = NULL;
	mp_timer_stop(&a->timer);
	a->state = MP_ACCOUNT_IDLE;
}

static void login_done(void *u, const struct mp_credential *c, const struct mcpool_error *error)
{
	struct mp_account *a = u;

	if (error) {
		login_failed(a, error);
		return;
	}
	give_up_renewal(a);
	a->login_failed_ms = 0;
	a->more_scope = mp_free(a->more_scope);
	if (account_set(a, c) < 0)
		account_explain(a, MCPOOL_ENOMEM, "no memory for a token");
	a->got_ms = mp_loop_now_ms(a->o.loop);
	account_advance(a, GOT);
	if (a->o.hooks && a->o.hooks->changed)
		a->o.hooks->changed(a->o.u, a);
}

static const struct mp_person_hooks person_hooks = {login_visit, login_done};

static void begin_login(struct mp_account *a)
{
	struct mp_login_options o = describe_login(a);

	mp_person_begin(&a->person, &o, a->c.redirect_uri);
}

void mp_account_login(struct mp_account *a, struct mp_person_watcher *watcher)
{
	mp_person_watch(&a->person, watcher);
	if (!a->person.login)
		begin_login(a);
}

bool mp_account_is_login_paused(const struct mp_account *a)
{
	return a->login_failed_ms && !a->person.login &&
	       mp_loop_now_ms(a->o.loop) - a->login_failed_ms < LOGIN_PAUSE_MS;
}

void mp_account_leave(struct mp_account *a, struct mp_person_watcher *watcher)
{
	if (a->leaver == watcher)
		a->leaver = NULL;
	mp_person_leave(&a->person, watcher);
}

int mp_account_take_redirect(struct mp_account *a, const char *url, struct mcpool_error *reterr)
{
	return mp_person_take_redirect(&a->person, url, reterr);
}

/* --- and out --------------------------------------------------------------------------------- */

static void left_store(struct mp_account *a, const struct mcpool_error *error)
{
	struct mp_person_watcher *w = a->leaver;

	a->leaver = NULL;
	if (w)
		w->over(w->u, error);
}

static void account_forget(struct mp_account *a)
{
	give_up_renewal(a);
	account_unlock(a);
	account_drop(a);
	a->number++;
	mp_timer_stop(&a->timer);
	if (!a->o.secrets || account_work(a, MP_CREDENTIAL_REMOVE, (struct mp_str){NULL, 0}) < 0)
		left_store(a, NULL);
	decide_all(a, false, NULL);
	if (a->o.hooks && a->o.hooks->changed)
		a->o.hooks->changed(a->o.u, a);
}

/* Whatever the issuer says of it, the credential is forgotten here. */
static void revoked(void *u, const struct mp_fetch_answer *answer)
{
	struct mp_account *a = u;

	bool is_revoked = answer->status == 200;

	mp_fetch_done(a->revocation);
	a->revocation = mp_free(a->revocation);
	if (!is_revoked)
		mp_log_warn(&a->log, "its token was forgotten, but not revoked by its issuer");
	account_forget(a);
}

static int write_revocation(const struct mp_account *a, struct mp_buf *body,
			    struct mp_http_fields *headers)
{
	const struct mp_credential *c = &a->c;
	const char *token = c->refresh_token ? c->refresh_token : c->access_token;
	int r = mp_http_fields_add(headers, MP_STR("Content-Type"),
				   MP_STR("application/x-www-form-urlencoded"));

	if (r == 0)
		r = mp_url_add_member(body, "token", mp_str_of(token));
	if (r == 0)
		r = mp_url_add_member(body, "token_type_hint",
				      c->refresh_token ? MP_STR("refresh_token")
						       : MP_STR("access_token"));
	return r < 0 ? r : mp_token_request_add_client(c, body, headers);
}

void mp_account_logout(struct mp_account *a, struct mp_person_watcher *watcher)
{
	MP_CLEANUP(mp_secret_buf_done) struct mp_buf body;
	MP_CLEANUP(mp_http_fields_done) struct mp_http_fields headers;
	struct mp_http_request request = {.url = a->c.revocation_endpoint, .ca_file = a->o.ca_file};

	mp_buf_init(&body, MP_KIB(64));
	mp_http_fields_init(&headers);
	a->leaver = watcher;
	if (!a->c.revocation_endpoint || !mp_account_has_token(a) || a->revocation ||
	    write_revocation(a, &body, &headers) < 0) {
		account_forget(a);
		return;
	}
	request.body = mp_buf_get(&body);
	request.headers = mp_http_fields_get(&headers, &request.n_headers);
	a->revocation = mp_alloc(sizeof(*a->revocation));
	mp_fetch_init(a->revocation, a->o.http, revoked, a);
	mp_fetch_start(a->revocation, &request);
}

/* --- life ------------------------------------------------------------------------------------ */

static char *dup_or_null(const char *text)
{
	return text ? mp_dup(text) : NULL;
}

static void free_texts(struct mp_account *a)
{
	const char *texts[] = {a->o.server,    a->o.secret,   a->o.server_url,  a->o.ca_file,
			       a->o.cert_file, a->o.key_file, a->o.redirect_uri};

	for (size_t i = 0; i < MP_ARRAY_LEN(texts); i++)
		mp_free((void *)(uintptr_t)texts[i]);
}

struct mp_account *mp_account_new(const struct mp_account_options *options)
{
	struct mp_account *a = mp_alloc(sizeof(*a));

	a->base.ops = &account_ops;
	a->o = *options;
	a->lock = -1;
	mp_arena_init(&a->oauth_texts, MP_MIB(1));
	mp_arena_init(&a->arena, MP_MIB(1));
	a->o.server = dup_or_null(options->server);
	a->o.secret = dup_or_null(options->secret);
	a->o.server_url = dup_or_null(options->server_url);
	a->o.ca_file = dup_or_null(options->ca_file);
	a->o.cert_file = dup_or_null(options->cert_file);
	a->o.key_file = dup_or_null(options->key_file);
	a->o.redirect_uri = dup_or_null(options->redirect_uri);
	if (options->secrets)
		a->o.secrets = mp_secret_values_ref(options->secrets);
	mp_log_init(&a->log, "%s", options->server);
	mp_account_set_oauth(a, options->oauth);
	mp_list_init(&a->waiting);
	mp_list_init(&a->soon);
	mp_person_init(&a->person, options->loop, &person_hooks, a);
	a->person.redirect_uri = a->o.redirect_uri;
	mp_buf_init(&a->challenge, MP_KIB(8));
	mp_task_init(&a->tell_soon, tell_soon, a);
	mp_timer_init(&a->timer, options->loop, timer_rang, a);
	return a;
}

struct mp_account *mp_account_free(struct mp_account *a)
{
	if (!a)
		return NULL;
	if (a->work)
		mp_credential_work_cancel(a->work);
	mp_login_free(a->renewal);
	mp_person_done(&a->person);
	if (a->revocation)
		mp_fetch_done(a->revocation);
	mp_free(a->revocation);
	mp_free(a->why);
	mp_timer_stop(&a->timer);
	mp_loop_unpost(a->o.loop, &a->tell_soon);
	account_unlock(a);
	account_drop(a);
	free_texts(a);
	mp_arena_wipe(&a->oauth_texts);
	mp_secret_values_unref(a->o.secrets);
	mp_buf_done(&a->challenge);
	mp_free(a->more_scope);
	mp_free(a->nonce);
	mp_free(a->revoked);
	return mp_free(a);
}

bool mp_account_is_at_rest(const struct mp_account *a)
{
	return a->state == MP_ACCOUNT_IDLE;
}

struct mp_authorization *mp_account_get_authorization(struct mp_account *a)
{
	return &a->base;
}

void mp_account_set_oauth(struct mp_account *a, const struct mp_oauth *oauth)
{
	mp_arena_wipe(&a->oauth_texts);
	mp_oauth_copy(oauth, &a->oauth_texts, &a->oauth);
}

void mp_account_note_challenge(struct mp_account *a, struct mp_str text)
{
	keep_challenge(a, text);
}

void mp_account_take_stored(struct mp_account *a, struct mp_str text)
{
	if (a->state != MP_ACCOUNT_IDLE || a->work)
		return; /* what is under way is newer */
	if (account_adopt(a, text))
		time_renewal(a);
}

const char *mp_account_get_token(const struct mp_account *a)
{
	return a->oauth.is_off ? NULL : a->c.access_token;
}

bool mp_account_has_token(const struct mp_account *a)
{
	return mp_account_get_token(a) != NULL;
}

const struct mcpool_error *mp_account_get_problem(const struct mp_account *a)
{
	static const struct mcpool_error none = {0};

	return a->why ? a->why : &none;
}
