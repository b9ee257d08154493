/*
 * issuer_keys.c - fetches the public keys of an issuer, and keeps them.
 * What is found in metadata may not lead to a more private place than the metadata came from (V33),
 * and redirects are not followed (V37).
 */
#include "auth/issuer_keys.h"

#include <string.h>

#include "auth/metadata.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/mem.h"
#include "net/http_client.h"
#include "net/url.h"

static const struct mp_log issuer_keys_log = {"http oauth"};

#define ISSUER_KEYS_STATES(X)                                      \
	X(RESTING, "resting", "nothing is asked for")              \
	X(METADATA, "metadata", "where the keys are is asked for") \
	X(KEYS, "keys", "the keys are asked for")

#define ISSUER_KEYS_EVENTS(X)                                             \
	X(ON_WANTED, "wanted", "newer keys are needed")                   \
	X(ON_DOCUMENT, "document", "a whole document came")               \
	X(ON_FOUND, "found", "the address of the keys is known")          \
	X(ON_MISSED, "missed", "there is nothing of use at this address") \
	X(ON_TAKEN, "taken", "the keys are there")                        \
	X(ON_LATE, "late", "it takes too long")

MP_MACHINE_ENUM(issuer_keys_state, ISSUER_KEYS_STATES);
MP_MACHINE_ENUM(issuer_keys_event, ISSUER_KEYS_EVENTS);

struct mp_issuer_keys {
	struct mp_loop *loop;
	enum issuer_keys_state state;
	char *issuer, *jwks_uri; /* owned; jwks_uri: NULL: not configured */
	void (*ended)(void *u);
	void *u;
	struct mp_http_client *client; /* owned; made with the first fetch */
	mp_id exchange;                /* 0: none */
	struct mp_buf body;
	int status;
	enum mp_zone zone; /* of the address that answered */
	struct mp_arena arena;
	const char *places[MP_METADATA_PLACES]; /* the arena's, as the next */
	const char *found;                      /* jwks_uri of the metadata */
	size_t n_places, place;                 /* place: the next to be asked */
	struct mp_timer timer;
	struct mp_task begin; /* so that ended() never comes from within a function */
	struct mp_jwks *keys; /* owned; NULL: none yet */
	int64_t asked_ms;     /* when a fetch ended last, but for the first keys; -1: never */
	bool had_keys;        /* when it began */
	int64_t fetched_ms;   /* when keys came last */
	struct mcpool_error why;
	bool was_told; /* that they cannot be fetched */
};

MP_MACHINE_TYPES(issuer_keys, struct mp_issuer_keys, enum issuer_keys_event, ISSUER_KEYS_STATES,
		 ISSUER_KEYS_EVENTS);
static issuer_keys_action issuer_keys_begin, issuer_keys_read_metadata, issuer_keys_ask_next,
	issuer_keys_ask, issuer_keys_read, issuer_keys_end, issuer_keys_give_up;

MP_MACHINE_STEPS(issuer_keys) = {
	[RESTING] = {[ON_WANTED] = MP_TO(METADATA, issuer_keys_begin)},
	[METADATA] = {[ON_DOCUMENT] = MP_DO(issuer_keys_read_metadata),
		      [ON_FOUND] = MP_TO(KEYS, issuer_keys_ask),
		      [ON_MISSED] = MP_DO(issuer_keys_ask_next),
		      [ON_LATE] = MP_TO(RESTING, issuer_keys_give_up)},
	[KEYS] = {[ON_DOCUMENT] = MP_DO(issuer_keys_read),
		  [ON_MISSED] = MP_TO(RESTING, issuer_keys_give_up),
		  [ON_TAKEN] = MP_TO(RESTING, issuer_keys_end),
		  [ON_LATE] = MP_TO(RESTING, issuer_keys_give_up)},
};

MP_MACHINE(issuer_keys, struct mp_issuer_keys)

/* --- the request ---------------------------------------------------------------------------- */

static void issuer_keys_stop(struct mp_issuer_keys *k)
{
	if (k->exchange)
		mp_http_cancel(k->client, k->exchange);
	k->exchange = 0;
}

static void issuer_keys_head(void *u, const struct mp_http_head *head)
{
	struct mp_issuer_keys *k = u;

	k->status = head->status;
	k->zone = head->zone;
}

static void issuer_keys_data(void *u, struct mp_str bytes)
{
	struct mp_issuer_keys *k = u;

	if (mp_buf_add_str(&k->body, bytes) == 0)
		return;
	(void)mp_fail(&k->why, MCPOOL_ELIMIT, "the answer is larger than %d KiB",
		      MP_JWKS_SIZE / 1024);
	issuer_keys_stop(k);
	issuer_keys_advance(k, ON_MISSED);
}

static void issuer_keys_done(void *u, enum mp_http_end how, const struct mcpool_error *err)
{
	struct mp_issuer_keys *k = u;

	k->exchange = 0;
	if (how == MP_HTTP_OK && k->status == 200) {
		issuer_keys_advance(k, ON_DOCUMENT);
		return;
	}
	if (how == MP_HTTP_OK)
		(void)mp_fail(&k->why, MCPOOL_EPROTO, "the answer has status %d", k->status);
	else
		k->why = *err;
	issuer_keys_advance(k, ON_MISSED);
}

static const struct mp_http_hooks issuer_keys_hooks = {
	.head = issuer_keys_head, .data = issuer_keys_data, .done = issuer_keys_done};

static enum issuer_keys_event issuer_keys_get_document(struct mp_issuer_keys *k, const char *url,
						       enum mp_zone from)
{
	const struct mp_http_header headers[] = {{MP_STR("Accept"), MP_STR("application/json")}};
	struct mp_http_request request = {
		.url = url,
		.headers = headers,
		.n_headers = MP_ARRAY_LEN(headers),
		.total_ms = MP_ISSUER_KEYS_LIMIT_MS,
		.from = from,
	};
	int r = k->client ? 0 : mp_http_client_new(k->loop, &k->client);

	mp_buf_clear(&k->body);
	if (r < 0)
		r = mp_fail(&k->why, r, "%s", mcpool_error_text(r));
	else
		r = mp_http_start(k->client, &request, &issuer_keys_hooks, k, &k->exchange,
				  &k->why);
	return r < 0 ? ON_MISSED : MP_QUIET;
}

/* --- metadata ------------------------------------------------------------------------------- */

static enum issuer_keys_event issuer_keys_begin(struct mp_issuer_keys *k)
{
	struct mp_url url;
	int r;

	mp_timer_start(&k->timer, MP_ISSUER_KEYS_LIMIT_MS);
	mp_arena_reset(&k->arena);
	k->place = k->n_places = 0;
	k->had_keys = k->keys != NULL;
	k->zone = MP_ZONE_ANY;
	k->found = k->jwks_uri;
	if (k->found)
		return ON_FOUND;
	r = mp_url_read(k->issuer, &k->arena, &url);
	if (r == 0)
		r = mp_metadata_list_issuer_places(&url, &k->arena, k->places, &k->n_places);
	if (r < 0) {
		k->n_places = 0;
		(void)mp_fail(&k->why, r, "%s", mcpool_error_text(r));
	}
	return ON_MISSED;
}

static enum issuer_keys_event issuer_keys_ask_next(struct mp_issuer_keys *k)
{
	if (k->place < k->n_places)
		return issuer_keys_get_document(k, k->places[k->place++], MP_ZONE_ANY);
	return ON_LATE;
}

static enum issuer_keys_event issuer_keys_read_metadata(struct mp_issuer_keys *k)
{
	struct mp_issuer_metadata m = {.issuer = NULL};

	if (mp_issuer_metadata_read(mp_buf_get(&k->body), k->issuer, &k->arena, &m, &k->why) < 0)
		return ON_MISSED;
	if (!m.jwks_uri) {
		(void)mp_fail(&k->why, MCPOOL_EPROTO, "its metadata has no jwks_uri");
		return ON_MISSED;
	}
	k->found = m.jwks_uri;
	return ON_FOUND;
}

/* --- keys ----------------------------------------------------------------------------------- */

static enum issuer_keys_event issuer_keys_ask(struct mp_issuer_keys *k)
{
	return issuer_keys_get_document(k, k->found, k->zone);
}

static enum issuer_keys_event issuer_keys_read(struct mp_issuer_keys *k)
{
	struct mp_jwks *keys = NULL;

	if (mp_jwks_read(mp_buf_get(&k->body), &keys, &k->why) < 0)
		return ON_MISSED;
	mp_jwks_free(k->keys);
	k->keys = keys;
	k->fetched_ms = mp_loop_now_ms(k->loop);
	k->was_told = false;
	return ON_TAKEN;
}

static enum issuer_keys_event issuer_keys_end(struct mp_issuer_keys *k)
{
	mp_timer_stop(&k->timer);
	issuer_keys_stop(k);
	mp_buf_shrink(&k->body, 0);
	if (k->had_keys || !k->keys)
		k->asked_ms = mp_loop_now_ms(k->loop);
	k->ended(k->u);
	return MP_QUIET;
}

static enum issuer_keys_event issuer_keys_give_up(struct mp_issuer_keys *k)
{
	if (!k->was_told)
		mp_log_warn(&issuer_keys_log, "the keys of %s cannot be fetched: %s%s", k->issuer,
			    k->why.message, k->keys ? "; those from before are used" : "");
	k->was_told = true;
	return issuer_keys_end(k);
}

static void issuer_keys_late(void *u)
{
	struct mp_issuer_keys *k = u;

	(void)mp_fail(&k->why, MCPOOL_ETIMEDOUT, "there was no answer within %d s",
		      MP_ISSUER_KEYS_LIMIT_MS / 1000);
	issuer_keys_advance(k, ON_LATE);
}

/* --- asking --------------------------------------------------------------------------------- */

static void issuer_keys_want(void *u)
{
	struct mp_issuer_keys *k = u;

	if (k->state == RESTING)
		issuer_keys_advance(k, ON_WANTED);
}

bool mp_issuer_keys_fetch(struct mp_issuer_keys *k)
{
	int64_t rest = k->keys ? MP_ISSUER_KEYS_REST_MS : MP_ISSUER_KEYS_RETRY_MS;
	int64_t now = mp_loop_now_ms(k->loop);

	if (k->state != RESTING || mp_list_linked(&k->begin.link))
		return true;
	if (k->asked_ms >= 0 && now - k->asked_ms < rest)
		return false;
	mp_loop_post(k->loop, &k->begin);
	return true;
}

const struct mp_jwks *mp_issuer_keys_get(struct mp_issuer_keys *k)
{
	int64_t age = mp_loop_now_ms(k->loop) - k->fetched_ms;

	if (!k->keys || age > MP_ISSUER_KEYS_USABLE_MS)
		return NULL;
	if (age > MP_ISSUER_KEYS_FRESH_MS)
		(void)mp_issuer_keys_fetch(k);
	return k->keys;
}

/* --- life ----------------------------------------------------------------------------------- */

static int issuer_keys_check(struct mp_issuer_keys *k, const char *url, const char *what,
			     struct mcpool_error *reterr)
{
	struct mp_url parts;

	if (mp_url_read(url, &k->arena, &parts) == 0 && mp_url_is_safe(&parts))
		return 0;
	return mp_fail(reterr, MCPOOL_EINVAL,
		       "%s must be an https address, or an http address of this machine", what);
}

int mp_issuer_keys_new(const struct mp_issuer_keys_options *o, struct mp_issuer_keys **ret,
		       struct mcpool_error *reterr)
{
	struct mp_issuer_keys *k = mp_alloc(sizeof(*k));
	int r;

	k->loop = o->loop;
	k->issuer = mp_dup(o->issuer);
	k->jwks_uri = o->jwks_uri ? mp_dup(o->jwks_uri) : NULL;
	k->ended = o->ended;
	k->u = o->u;
	k->asked_ms = -1;
	mp_buf_init(&k->body, MP_JWKS_SIZE);
	mp_arena_init(&k->arena, MP_LIMIT_ARENA);
	mp_timer_init(&k->timer, k->loop, issuer_keys_late, k);
	mp_task_init(&k->begin, issuer_keys_want, k);
	r = issuer_keys_check(k, k->issuer, "http.oauth.issuer", reterr);
	if (r == 0 && k->jwks_uri)
		r = issuer_keys_check(k, k->jwks_uri, "http.oauth.jwksUri", reterr);
	if (r < 0)
		mp_issuer_keys_free(k);
	else
		*ret = k;
	return r;
}

struct mp_issuer_keys *mp_issuer_keys_free(struct mp_issuer_keys *k)
{
	if (!k)
		return NULL;
	issuer_keys_stop(k);
	mp_loop_unpost(k->loop, &k->begin);
	mp_timer_stop(&k->timer);
	if (k->client)
		mp_http_client_free(k->client);
	mp_jwks_free(k->keys);
	mp_buf_done(&k->body);
	mp_arena_done(&k->arena);
	mp_free(k->issuer);
	mp_free(k->jwks_uri);
	return mp_free(k);
}
