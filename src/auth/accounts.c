/*
 * accounts.c - the accounts of all servers.
 */
#include "auth/accounts.h"

#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/list.h"
#include "base/mem.h"
#include "net/http_client.h"
#include "store/digest.h"

enum { ACCOUNTS = MP_LIMIT_ERAS };

struct member {
	struct mp_link link; /* the last one that was asked for is the first */
	struct mp_accounts *accounts;
	char *server;
	char *secret; /* two servers never share one, unless the user says so */
	char *url;    /* NULL: a process */
	struct mp_account *account;
};

struct mp_accounts {
	struct mp_loop *loop;
	struct mp_secret_values *secrets;
	struct mp_http_client *http; /* made with the first account */
	struct mp_list members;
	mp_accounts_changed changed;
	void *u;
};

bool mp_accounts_has_use(const struct mp_resolved *r)
{
	if (r->oauth.is_off)
		return false;
	return r->kind == MP_KIND_STDIO ? r->oauth.is_wanted : !mp_resolved_has_authorization(r);
}

/* WebSockets begin as HTTP. The caller frees it; NULL: a process. */
static char *accounts_copy_url(const struct mp_resolved *r)
{
	char *url;

	if (r->kind == MP_KIND_STDIO)
		return NULL;
	url = mp_alloc(strlen(r->url) + 3);
	if (strncmp(r->url, "ws", 2) == 0) {
		memcpy(url, "http", 4);
		memcpy(url + 4, r->url + 2, strlen(r->url) - 1);
	} else {
		memcpy(url, r->url, strlen(r->url) + 1);
	}
	return url;
}

int mp_accounts_write_secret(const char *server, const struct mp_resolved *r, struct mp_buf *out)
{
	unsigned char digest[MP_DIGEST_SIZE];
	char hex[2 * MP_DIGEST_SIZE + 1];
	const char *name = r->oauth.credential ? r->oauth.credential : server;
	struct mp_digest *d = mp_digest_new();
	int e = mp_buf_addf(out, MP_ACCOUNT_SECRETS);

	mp_digest_add(d, mp_str_of(name));
	if (!r->oauth.credential && r->kind != MP_KIND_STDIO)
		mp_digest_add(d, mp_str_of(r->url));
	mp_digest_finish(d, digest);
	mp_digest_to_hex(digest, hex);
	for (size_t i = 0; i < MP_LIMIT_NAME && name[i] && e == 0; i++) {
		bool is_plain = name[i] > ' ' && name[i] < 0x7f && name[i] != '/';

		e = mp_buf_add_char(out, is_plain ? name[i] : '_');
	}
	if (e == 0)
		e = mp_buf_addf(out, "/%.16s", hex);
	return e < 0 ? e : mp_buf_terminate(out);
}

static void account_changed(void *u, struct mp_account *a)
{
	struct member *m = u;

	if (m->accounts->changed)
		m->accounts->changed(m->accounts->u, m->server, mp_account_has_token(a));
}

static struct member *accounts_make(struct mp_accounts *as, const char *server, const char *secret,
				    const struct mp_resolved *r)
{
	static const struct mp_account_hooks hooks = {.changed = account_changed};
	struct member *m = mp_alloc(sizeof(*m));
	struct mp_account_options o = {
		.loop = as->loop,
		.http = as->http,
		.secrets = as->secrets,
		.server = server,
		.secret = secret,
		.ca_file = r->ca_file,
		.cert_file = r->cert_file,
		.key_file = r->key_file,
		.oauth = &r->oauth,
		.hooks = &hooks,
		.u = m,
	};

	m->accounts = as;
	m->server = mp_dup(server);
	m->secret = mp_dup(secret);
	o.server_url = m->url = accounts_copy_url(r);
	m->account = mp_account_new(&o);
	return m;
}

static struct member *member_at(struct mp_link *link)
{
	return mp_container_of(link, struct member, link);
}

static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static struct member *accounts_look(struct mp_accounts *as, const char *secret, const char *url)
{
	MP_LIST_EACH(&as->members, link) {
		struct member *m = member_at(link);

		if (strcmp(m->secret, secret) == 0 && is_same(m->url, url))
			return m;
	}
	return NULL;
}

static void accounts_put_first(struct mp_accounts *as, struct member *m)
{
	if (mp_list_first(&as->members) == &m->link)
		return;
	if (mp_list_linked(&m->link))
		mp_list_remove(&as->members, &m->link);
	mp_list_prepend(&as->members, &m->link);
}

struct mp_account *mp_accounts_get(struct mp_accounts *as, const char *server,
				   const struct mp_resolved *r, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf secret;
	struct member *m;
	char *url;
	int e;

	mp_buf_init(&secret, MP_LIMIT_SECRET_NAME);
	e = mp_accounts_write_secret(server, r, &secret);
	if (e == 0 && !as->http)
		e = mp_http_client_new(as->loop, &as->http);
	if (e < 0) {
		(void)mp_fail(reterr, e, "no account: %s", mcpool_error_text(e));
		return NULL;
	}
	url = accounts_copy_url(r);
	m = accounts_look(as, secret.data, url);
	mp_free(url);
	if (!m && as->members.len >= ACCOUNTS) {
		(void)mp_fail(reterr, MCPOOL_ELIMIT, "more than %d servers with logins", ACCOUNTS);
		return NULL;
	}
	if (m)
		mp_account_set_oauth(m->account, &r->oauth);
	else
		m = accounts_make(as, server, secret.data, r);
	accounts_put_first(as, m);
	return m->account;
}

struct mp_account *mp_accounts_find(struct mp_accounts *as, const char *server)
{
	MP_LIST_EACH(&as->members, link) {
		if (strcmp(member_at(link)->server, server) == 0)
			return member_at(link)->account;
	}
	return NULL;
}

void mp_accounts_set_hook(struct mp_accounts *as, mp_accounts_changed changed, void *u)
{
	as->changed = changed;
	as->u = u;
}

struct mp_accounts *mp_accounts_new(struct mp_loop *loop, struct mp_secret_values *secrets)
{
	struct mp_accounts *as = mp_alloc(sizeof(*as));

	as->loop = loop;
	as->secrets = mp_secret_values_ref(secrets);
	mp_list_init(&as->members);
	return as;
}

bool mp_accounts_are_at_rest(const struct mp_accounts *as)
{
	MP_LIST_EACH(&as->members, link) {
		if (!mp_account_is_at_rest(member_at(link)->account))
			return false;
	}
	return true;
}

struct mp_accounts *mp_accounts_free(struct mp_accounts *as)
{
	struct mp_link *link;

	if (!as)
		return NULL;
	while ((link = mp_list_pop(&as->members))) {
		struct member *m = member_at(link);

		mp_account_free(m->account);
		mp_free(m->server);
		mp_free(m->secret);
		mp_free(m->url);
		mp_free(m);
	}
	mp_http_client_free(as->http);
	mp_secret_values_unref(as->secrets);
	return mp_free(as);
}
