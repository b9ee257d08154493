/*
 * named_tokens.c - tokens of `mcpool token add`, as the store has them at this moment.
 */
#include "face/named_tokens.h"

#include <openssl/crypto.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/random_id.h"
#include "store/tokens.h"

static const struct mp_log named_token_log = {"http"};

struct mp_named_token {
	int64_t n;
	unsigned char digest[MP_DIGEST_SIZE];
	char *name, *servers, *tools; /* owned */
	int64_t expires_ms, used_ms;
	mp_id holder; /* its id; 0: it was not used yet */
};

/* --- tokens --------------------------------------------------------------------------------- */

void mp_named_token_make(char text[MP_NAMED_TOKEN + 1])
{
	unsigned char bytes[MP_NAMED_TOKEN_BYTES];
	size_t at = sizeof(MP_NAMED_TOKEN_PREFIX) - 1;

	mp_random_fill(bytes, sizeof(bytes));
	memcpy(text, MP_NAMED_TOKEN_PREFIX, at);
	for (size_t i = 0; i < sizeof(bytes); i++)
		snprintf(text + at + 2 * i, 3, "%02x", bytes[i]);
	mp_wipe(bytes, sizeof(bytes));
}

void mp_named_token_hash(struct mp_str token, unsigned char digest[MP_DIGEST_SIZE])
{
	struct mp_digest *d = mp_digest_new();

	mp_digest_add_bytes(d, token.p, token.len);
	mp_digest_finish(d, digest);
}

/* --- what the store has --------------------------------------------------------------------- */

static void named_tokens_free(struct mp_named_token *items, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		mp_free(items[i].name);
		mp_free(items[i].servers);
		mp_free(items[i].tools);
	}
	mp_free(items);
}

void mp_named_tokens_init(struct mp_named_tokens *t, struct mp_db *db)
{
	*t = (struct mp_named_tokens){.db = db};
}

void mp_named_tokens_done(struct mp_named_tokens *t)
{
	named_tokens_free(MP_TAKE(t->items), t->n);
	t->n = 0;
}

struct named_tokens_reading {
	struct mp_named_token *items;
	size_t n;
};

static int named_tokens_take(const struct mp_token_record *r, void *u)
{
	struct named_tokens_reading *reading = u;
	struct mp_named_token *item = &reading->items[reading->n];

	if (reading->n == MP_LIMIT_NAMED_TOKENS)
		return 0;
	reading->n++;
	*item = (struct mp_named_token){
		.n = r->n,
		.name = mp_dup(r->name),
		.servers = mp_dup(r->servers),
		.tools = mp_dup(r->tools),
		.expires_ms = r->expires_ms,
		.used_ms = r->used_ms,
	};
	memcpy(item->digest, r->digest, sizeof(item->digest));
	return 0;
}

/* The same token has the same holder; the others end. */
static void named_tokens_hand_over(struct mp_named_tokens *t,
				   const struct named_tokens_reading *now,
				   struct mp_holders *holders)
{
	for (size_t i = 0; i < t->n; i++) {
		size_t k = 0;

		while (k < now->n && now->items[k].n != t->items[i].n)
			k++;
		if (k == now->n) {
			mp_holders_remove(holders, t->items[i].holder);
			continue;
		}
		now->items[k].holder = t->items[i].holder;
		if (now->items[k].used_ms < t->items[i].used_ms)
			now->items[k].used_ms = t->items[i].used_ms;
	}
}

/* A store that cannot tell which tokens are valid has none. */
static int named_tokens_read(struct mp_named_tokens *t, struct named_tokens_reading *ret,
			     struct mcpool_error *reterr)
{
	int64_t mark = 0;
	int r = mp_db_get_mark(t->db, &mark, reterr);

	if (r == 0 && mark == t->mark)
		return 0;
	ret->items = mp_alloc((MP_LIMIT_NAMED_TOKENS + 1) * sizeof(*ret->items));
	if (r == 0)
		r = mp_tokens_each(t->db, named_tokens_take, ret, reterr);
	t->mark = r < 0 ? 0 : mark;
	return r < 0 ? r : 1;
}

void mp_named_tokens_look(struct mp_named_tokens *t, struct mp_holders *holders)
{
	struct named_tokens_reading now = {NULL, 0};
	struct mcpool_error why = {0};
	int r;

	if (!t->db)
		return;
	r = named_tokens_read(t, &now, &why);
	if (r == 0)
		return;
	if (r < 0 && !t->was_told)
		mp_log_warn(&named_token_log, "tokens with names are not accepted: %s",
			    why.message);
	t->was_told = r < 0;
	if (r < 0) {
		named_tokens_free(now.items, now.n);
		now = (struct named_tokens_reading){NULL, 0};
	}
	named_tokens_hand_over(t, &now, holders);
	named_tokens_free(t->items, t->n);
	t->items = now.items;
	t->n = now.n;
}

/* --- asking --------------------------------------------------------------------------------- */

static void named_token_note_use(struct mp_named_tokens *t, struct mp_named_token *item,
				 int64_t wall_ms)
{
	if (wall_ms - item->used_ms < MP_NAMED_TOKEN_USE_MS && wall_ms >= item->used_ms)
		return;
	item->used_ms = wall_ms;
	mp_tokens_note_use(t->db, item->n, wall_ms);
}

static struct mp_holder *named_token_get_holder(struct mp_named_token *item,
						struct mp_holders *holders)
{
	struct mp_holder *holder = mp_holders_find(holders, item->holder);
	char principal[400];

	if (holder)
		return holder;
	snprintf(principal, sizeof(principal), "named:%s#%lld", item->name, (long long)item->n);
	holder = mp_holders_add(holders, principal, item->servers, item->tools);
	if (!holder)
		return NULL;
	item->holder = holder->id;
	if (item->expires_ms)
		mp_holders_extend(holders, holder, item->expires_ms, item->expires_ms);
	return holder;
}

struct mp_holder *mp_named_tokens_find(struct mp_named_tokens *t, struct mp_holders *holders,
				       struct mp_str presented, int64_t wall_ms)
{
	unsigned char digest[MP_DIGEST_SIZE];
	struct mp_named_token *found = NULL;

	if (presented.len != MP_NAMED_TOKEN || t->n == 0)
		return NULL;
	mp_named_token_hash(presented, digest);
	for (size_t i = 0; i < t->n; i++)
		if (CRYPTO_memcmp(t->items[i].digest, digest, sizeof(digest)) == 0)
			found = &t->items[i];
	if (!found || (found->expires_ms && found->expires_ms <= wall_ms))
		return NULL;
	named_token_note_use(t, found, wall_ms);
	return named_token_get_holder(found, holders);
}
