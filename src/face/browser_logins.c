/*
 * browser_logins.c - codes, cookies and proofs of browsers that show the dashboard.
 */
#include "face/browser_logins.h"

#include <openssl/crypto.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/paths.h"

#define PRINCIPAL "browser:"

/* --- life ------------------------------------------------------------------------------------ */

int mp_browser_logins_get_path(struct mp_buf *out)
{
	return mp_path_state("dashboard.key", out);
}

int mp_browser_logins_open(struct mp_browser_logins *l, struct mp_loop *loop, const char *path,
			   int port, struct mcpool_error *reterr)
{
	*l = (struct mp_browser_logins){.loop = loop};
	snprintf(l->cookie, sizeof(l->cookie), "mcpool_%d", port);
	return mp_http_token_open(&l->key, path, reterr);
}

void mp_browser_logins_done(struct mp_browser_logins *l)
{
	if (l->key.path)
		mp_http_token_done(&l->key);
	mp_wipe(l->codes, sizeof(l->codes));
}

/* --- codes ----------------------------------------------------------------------------------- */

void mp_browser_logins_make_code(struct mp_browser_logins *l, char ret_code[MP_BROWSER_CODE + 1])
{
	size_t at = l->next_code++ % MP_BROWSER_CODES;

	mp_random_id_make(ret_code);
	memcpy(l->codes[at].text, ret_code, MP_BROWSER_CODE + 1);
	l->codes[at].until_ms = mp_loop_now_ms(l->loop) + MP_BROWSER_CODE_MS;
}

static bool code_use(struct mp_browser_logins *l, struct mp_str code)
{
	for (size_t i = 0; i < MP_BROWSER_CODES; i++) {
		bool is_it = code.len == MP_BROWSER_CODE && l->codes[i].until_ms &&
			     CRYPTO_memcmp(code.p, l->codes[i].text, MP_BROWSER_CODE) == 0;

		if (!is_it)
			continue;
		is_it = mp_loop_now_ms(l->loop) < l->codes[i].until_ms;
		mp_wipe(&l->codes[i], sizeof(l->codes[i]));
		return is_it;
	}
	return false;
}

/* --- MACs ------------------------------------------------------------------------------------ */

/* name: what the login is called in its cookie; what: "cookie" or "proof". */
static void mac_make(const struct mp_browser_logins *l, const char *what, struct mp_str name,
		     char out[MP_BROWSER_PROOF + 1])
{
	struct mp_digest *d = mp_digest_new_keyed((struct mp_str){l->key.text, l->key.len});
	unsigned char bytes[MP_DIGEST_SIZE];

	mp_digest_add(d, mp_str_of(what));
	mp_digest_add(d, mp_str_of(l->cookie));
	mp_digest_add(d, name);
	mp_digest_finish(d, bytes);
	mp_digest_to_hex(bytes, out);
}

static bool mac_is(const struct mp_browser_logins *l, const char *what, struct mp_str name,
		   struct mp_str given)
{
	char right[MP_BROWSER_PROOF + 1];

	if (!l->key.is_valid || given.len != MP_BROWSER_PROOF)
		return false;
	mac_make(l, what, name, right);
	return CRYPTO_memcmp(given.p, right, MP_BROWSER_PROOF) == 0;
}

bool mp_browser_logins_take_code(struct mp_browser_logins *l, struct mp_str code,
				 struct mp_browser_login *ret)
{
	char name[MP_BROWSER_NAME + 1], id[MP_RANDOM_ID + 1], mac[MP_BROWSER_PROOF + 1];

	if (!code_use(l, code) || !l->key.is_valid)
		return false;
	ret->until_ms = mp_loop_wall_now_ms(l->loop) + MP_BROWSER_LOGIN_MS;
	mp_random_id_make(id);
	snprintf(name, sizeof(name), "%lld.%s", (long long)ret->until_ms, id);
	mac_make(l, "cookie", mp_str_of(name), mac);
	mac_make(l, "proof", mp_str_of(name), ret->proof);
	snprintf(ret->cookie, sizeof(ret->cookie), "%s.%s", name, mac);
	return true;
}

/* --- cookies --------------------------------------------------------------------------------- */

/* The value of our cookie in the header; empty: it is not there. */
static struct mp_str cookie_find(const struct mp_browser_logins *l, struct mp_str cookies)
{
	size_t name = strlen(l->cookie);

	while (cookies.len) {
		const char *end = memchr(cookies.p, ';', cookies.len);
		size_t n = end ? (size_t)(end - cookies.p) : cookies.len;
		struct mp_str one = mp_str_trim((struct mp_str){cookies.p, n});

		if (one.len > name && one.p[name] == '=' && memcmp(one.p, l->cookie, name) == 0)
			return (struct mp_str){one.p + name + 1, one.len - name - 1};
		n += end != NULL;
		cookies = (struct mp_str){cookies.p + n, cookies.len - n};
	}
	return MP_STR("");
}

/* The name in a valid cookie; false: it is not one, or its time is over. */
static bool cookie_read(const struct mp_browser_logins *l, struct mp_str cookie,
			char ret_name[MP_BROWSER_NAME + 1], int64_t *ret_until_ms)
{
	struct mp_str name, mac;

	if (cookie.len <= MP_BROWSER_PROOF + 1 || cookie.len > MP_BROWSER_COOKIE)
		return false;
	name = (struct mp_str){cookie.p, cookie.len - MP_BROWSER_PROOF - 1};
	mac = (struct mp_str){name.p + name.len + 1, MP_BROWSER_PROOF};
	if (name.p[name.len] != '.' || !mac_is(l, "cookie", name, mac))
		return false;
	memcpy(ret_name, name.p, name.len);
	ret_name[name.len] = '\0';
	*ret_until_ms = strtoll(ret_name, NULL, 10);
	return *ret_until_ms > mp_loop_wall_now_ms(l->loop);
}

const struct mp_holder *mp_browser_logins_find(struct mp_browser_logins *l,
					       struct mp_holders *holders, struct mp_str cookies)
{
	char name[MP_BROWSER_NAME + 1], principal[sizeof(PRINCIPAL) + MP_BROWSER_NAME];
	struct mp_holder *holder;
	int64_t until_ms;

	if (!cookie_read(l, cookie_find(l, cookies), name, &until_ms))
		return NULL;
	snprintf(principal, sizeof(principal), PRINCIPAL "%s", name);
	holder = mp_holders_find_principal(holders, principal);
	if (!holder)
		holder = mp_holders_add(holders, principal, "", "");
	if (holder)
		mp_holders_extend(holders, holder, until_ms, until_ms);
	return holder;
}

bool mp_browser_logins_is_proven(const struct mp_browser_logins *l, const struct mp_holder *holder,
				 struct mp_str proof)
{
	struct mp_str principal = mp_str_of(holder->principal);
	size_t n = sizeof(PRINCIPAL) - 1;

	return mp_str_starts(principal, MP_STR(PRINCIPAL)) &&
	       mac_is(l, "proof", (struct mp_str){principal.p + n, principal.len - n}, proof);
}

/* --- the end --------------------------------------------------------------------------------- */

static void holders_drop(struct mp_holders *holders)
{
	MP_LIST_WALK(&holders->list, link) {
		struct mp_holder *h = mp_container_of(link, struct mp_holder, link);

		if (mp_str_starts(mp_str_of(h->principal), MP_STR(PRINCIPAL)))
			mp_holders_remove(holders, h->id);
	}
}

void mp_browser_logins_look(struct mp_browser_logins *l, struct mp_holders *holders)
{
	if (mp_http_token_look(&l->key))
		holders_drop(holders);
}

int mp_browser_logins_end_all(struct mp_browser_logins *l, struct mp_holders *holders,
			      struct mcpool_error *reterr)
{
	int r = mp_http_token_rotate(l->key.path, reterr);

	if (r == 0)
		mp_browser_logins_look(l, holders);
	return r;
}
