/*
 * admit.c - decides whether an HTTP request is admitted; one function for all routes.
 */
#include "face/admit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/random_id.h"
#include "net/zone.h"

#define CHALLENGE "WWW-Authenticate: Bearer realm=\"mcpool\"\r\n"
#define RETRY     "Retry-After: 5\r\n"
#define SHOWN     "; `mcpool token` shows it"
#define WRONG     "WWW-Authenticate: Bearer realm=\"mcpool\", error=\"invalid_token\"\r\n"

/* --- our names ------------------------------------------------------------------------------ */

static int get_port(const struct sockaddr *address)
{
	return address->sa_family == AF_INET6
		       ? ntohs(((const struct sockaddr_in6 *)(const void *)address)->sin6_port)
		       : ntohs(((const struct sockaddr_in *)(const void *)address)->sin_port);
}

static void add_host(struct mp_admit *a, const char *name, int port)
{
	mp_check(a->n_hosts + 1 < MP_ADMIT_HOSTS);
	snprintf(a->hosts[a->n_hosts++], MP_ADMIT_HOST, "%s:%d", name, port);
	/* Clients omit the default port. */
	if (port == (a->is_secure ? 443 : 80))
		snprintf(a->hosts[a->n_hosts - 1], MP_ADMIT_HOST, "%s", name);
}

bool mp_admit_is_everywhere(const struct sockaddr *address)
{
	if (address->sa_family == AF_INET6)
		return IN6_IS_ADDR_UNSPECIFIED(
			&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
	return ((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr ==
	       htonl(INADDR_ANY);
}

/* Add the address itself, unless it is a wildcard or already in the list. */
static void add_address(struct mp_admit *a, const struct sockaddr *address, int port)
{
	char text[INET6_ADDRSTRLEN] = "", name[INET6_ADDRSTRLEN + 2];
	const struct sockaddr_in6 *six = (const void *)address;
	const struct sockaddr_in *four = (const void *)address;
	bool is_six = address->sa_family == AF_INET6;

	if (mp_admit_is_everywhere(address))
		return;
	if (!inet_ntop(address->sa_family, is_six ? (const void *)&six->sin6_addr : &four->sin_addr,
		       text, sizeof(text)))
		return;
	snprintf(name, sizeof(name), is_six ? "[%s]" : "%s", text);
	if (strcmp(name, "127.0.0.1") != 0 && strcmp(name, "[::1]") != 0)
		add_host(a, name, port);
}

static int check_name(const char *name, struct mcpool_error *reterr)
{
	size_t n = strlen(name);

	if (n && n < 254 && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-.") == n)
		return 0;
	return mp_fail(reterr, MCPOOL_EINVAL,
		       "'%s' is not a host name: small letters, digits, '-' and '.', no port",
		       name);
}

static int name_us(struct mp_admit *a, const struct mp_admit_options *o,
		   struct mcpool_error *reterr)
{
	int port = get_port(o->address), r = o->name ? check_name(o->name, reterr) : 0;

	if (r < 0)
		return r;
	add_host(a, "127.0.0.1", port);
	add_host(a, "localhost", port);
	add_host(a, "[::1]", port);
	add_address(a, o->address, port);
	if (o->name)
		add_host(a, o->name, port);
	return 0;
}

/* --- life ----------------------------------------------------------------------------------- */

/* An issuer is of use where tokens are needed, and not with --no-token. */
static int admit_open_oauth(struct mp_admit *a, const struct mp_admit_options *o,
			    struct mcpool_error *reterr)
{
	const char *hosts[MP_ADMIT_HOSTS];
	struct mp_oauth_resource_options r = {
		.loop = o->loop,
		.settings = o->oauth,
		.is_secure = o->is_secure,
		.hosts = hosts,
		.n_hosts = a->n_hosts,
		.judge_again = o->judge_again,
		.u = o->u,
	};

	if (!o->oauth.len)
		return 0;
	if (o->no_token)
		return mp_fail(reterr, MCPOOL_EINVAL,
			       "http.oauth is for tokens: leave out --no-token");
	for (size_t i = 0; i < a->n_hosts; i++)
		hosts[i] = a->hosts[i];
	return mp_oauth_resource_new(&r, &a->oauth, reterr);
}

static int check_place(const struct mp_admit_options *o, struct mcpool_error *reterr)
{
	if (mp_zone_of(o->address) == MP_ZONE_LOOPBACK)
		return 0;
	if (o->no_token)
		return mp_fail(reterr, MCPOOL_EPERM,
			       "without a token mcpool listens on this machine only: use 127.0.0.1 "
			       "or leave out --no-token");
	if (!o->is_secure)
		return mp_fail(
			reterr, MCPOOL_EPERM,
			"where other machines can come, the token needs TLS: set http.tls, or "
			"listen on 127.0.0.1");
	return 0;
}

/* Another token of the file has another holder. */
static void admit_name_owner(struct mp_admit *a)
{
	char mark[MP_HTTP_TOKEN_MARK + 1], principal[8 + MP_HTTP_TOKEN_MARK];
	const struct mp_holder *owner;

	mp_holders_remove(&a->holders, a->owner);
	snprintf(principal, sizeof(principal), "local");
	if (a->needs_token) {
		mp_http_token_get_mark(&a->token, mark);
		snprintf(principal, sizeof(principal), "token:%s", mark);
	}
	owner = mp_holders_add(&a->holders, principal, "", "");
	a->owner = owner ? owner->id : 0;
}

static int admit_read_addresses(struct mp_admit *a, const struct mp_admit_options *o,
				struct mcpool_error *reterr)
{
	struct mcpool_error why;
	int r = 0;

	for (size_t i = 0; i < o->n_metrics_from && r == 0; i++)
		r = mp_address_list_add(&a->metrics_from, o->metrics_from[i], &why);
	return r < 0 ? mp_fail(reterr, r, "http.metricsFrom: %s", why.message) : 0;
}

int mp_admit_init(struct mp_admit *a, const struct mp_admit_options *o, struct mcpool_error *reterr)
{
	int r = check_place(o, reterr);

	*a = (struct mp_admit){
		.loop = o->loop,
		.needs_token = !o->no_token,
		.is_secure = o->is_secure,
		.looked_us = -1,
	};
	mp_holders_init(&a->holders);
	mp_named_tokens_init(&a->named, a->needs_token ? o->db : NULL);
	if (r == 0)
		r = name_us(a, o, reterr);
	if (r == 0)
		r = admit_read_addresses(a, o, reterr);
	if (r == 0 && a->needs_token)
		r = mp_http_token_open(&a->token, o->token_path, reterr);
	if (r == 0 && o->logins_path)
		r = mp_browser_logins_open(&a->logins, o->loop, o->logins_path,
					   get_port(o->address), reterr);
	if (r == 0)
		r = admit_open_oauth(a, o, reterr);
	if (r == 0)
		admit_name_owner(a);
	return r;
}

void mp_admit_done(struct mp_admit *a)
{
	mp_http_token_done(&a->token);
	mp_named_tokens_done(&a->named);
	mp_browser_logins_done(&a->logins);
	a->oauth = mp_oauth_resource_free(a->oauth);
	mp_holders_done(&a->holders);
}

/* Once per turn: many requests arrive in one turn, and a finer check would change nothing. */
static bool is_due(struct mp_admit *a)
{
	int64_t now = a->loop ? mp_loop_now_us(a->loop) : -1;

	if (now >= 0 && now == a->looked_us)
		return false;
	a->looked_us = now;
	return true;
}

static int64_t admit_get_wall_ms(const struct mp_admit *a)
{
	return a->loop ? mp_loop_wall_now_ms(a->loop) : 0;
}

uint64_t mp_admit_look(struct mp_admit *a)
{
	bool has_logins = a->logins.key.path;

	if ((a->needs_token || has_logins) && is_due(a)) {
		if (a->needs_token && mp_http_token_look(&a->token))
			admit_name_owner(a);
		mp_named_tokens_look(&a->named, &a->holders);
		if (has_logins)
			mp_browser_logins_look(&a->logins, &a->holders);
		mp_holders_sweep(&a->holders, admit_get_wall_ms(a));
	}
	return a->holders.ended;
}

const struct mp_holder *mp_admit_find_holder(const struct mp_admit *a,
					     const struct mp_http_admission *admission)
{
	const struct mp_holder *holder = mp_holders_find(&a->holders, admission->holder);

	return holder && !holder->is_over ? holder : NULL;
}

/* --- judging -------------------------------------------------------------------------------- */

static bool admit_refuse(struct mp_http_refusal *ret, int status, const char *words,
			 const char *headers)
{
	*ret = (struct mp_http_refusal){status, words, headers};
	return false;
}

/* Compare byte for byte: no case folding, no trailing dot, no other spelling of an address
 * (V12). */
static bool is_our_host(const struct mp_admit *a, struct mp_str host)
{
	for (size_t i = 0; i < a->n_hosts; i++)
		if (mp_str_eq(host, mp_str_of(a->hosts[i])))
			return true;
	return false;
}

/* The origin must be a page served under the Host name of this request (V13). */
static bool is_our_origin(const struct mp_admit *a, struct mp_str origin, struct mp_str host)
{
	struct mp_str scheme = mp_str_of(a->is_secure ? "https://" : "http://");

	return mp_str_starts(origin, scheme) &&
	       mp_str_eq((struct mp_str){origin.p + scheme.len, origin.len - scheme.len}, host);
}

/* Browsers send Sec-Fetch-Site also where they send no Origin, for example for images. */
static bool is_our_page(struct mp_str site)
{
	return !site.p || mp_str_eq(site, MP_STR("same-origin")) || mp_str_eq(site, MP_STR("none"));
}

/* Says where to log in, if there is an issuer, else what can be done here. */
static bool admit_challenge(const struct mp_admit *a, const struct mp_inbound *in,
			    enum mp_oauth_challenge which, const char *words,
			    struct mp_http_refusal *ret)
{
	static const char *const plain[] = {CHALLENGE, WRONG, WRONG};
	struct mp_str host = mp_inbound_get(in, MP_FIELD_HOST);

	return admit_refuse(ret, which == MP_OAUTH_NEEDS_SCOPE ? 403 : 401, words,
			    a->oauth ? mp_oauth_resource_get_challenge(a->oauth, host, which)
				     : plain[which]);
}

void mp_admit_refuse_late(struct mp_admit *a, const struct mp_inbound *in,
			  struct mp_http_refusal *ret_refusal)
{
	(void)admit_challenge(a, in, MP_OAUTH_WRONG_TOKEN, "this token is not valid any more",
			      ret_refusal);
}

/* One holder for each user: tokens are renewed during a session. NULL: there are too many. */
static struct mp_holder *admit_find_user(struct mp_admit *a, const struct mp_jwt_claims *claims)
{
	char principal[MP_OAUTH_PRINCIPAL];
	struct mp_holder *holder;

	mp_oauth_resource_name(claims, principal);
	holder = mp_holders_find_principal(&a->holders, principal);
	if (!holder)
		holder = mp_holders_add(&a->holders, principal, "", "");
	if (holder)
		mp_holders_extend(&a->holders, holder, claims->until_ms,
				  claims->until_ms + MP_LIMIT_SESSION_IDLE_MS);
	return holder;
}

/* False with status 0: its key is being fetched. */
static bool admit_judge_oauth(struct mp_admit *a, const struct mp_inbound *in, struct mp_str token,
			      const struct mp_holder **ret_holder, struct mp_http_refusal *ret)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mp_jwt_claims claims;

	mp_arena_init(&arena, MP_KIB(256));
	switch (mp_oauth_resource_judge(a->oauth, token, &arena, &claims)) {
	case MP_OAUTH_VALID:
		*ret_holder = admit_find_user(a, &claims);
		return *ret_holder ? true
				   : admit_refuse(ret, 503, "too many users are here", RETRY);
	case MP_OAUTH_UNSCOPED:
		return admit_challenge(a, in, MP_OAUTH_NEEDS_SCOPE, "this token lacks a scope",
				       ret);
	case MP_OAUTH_LATER:
		return admit_refuse(ret, 0, NULL, NULL);
	case MP_OAUTH_NO_KEYS:
		return admit_refuse(ret, 503, "the issuer of this token does not answer", RETRY);
	default:
		return admit_challenge(a, in, MP_OAUTH_WRONG_TOKEN, "this token is not valid", ret);
	}
}

static bool admit_judge_token(struct mp_admit *a, const struct mp_inbound *in, struct mp_str token,
			      const struct mp_holder **ret_holder, struct mp_http_refusal *ret)
{
	if (mp_http_token_matches(&a->token, token))
		*ret_holder = mp_holders_find(&a->holders, a->owner);
	else
		*ret_holder =
			mp_named_tokens_find(&a->named, &a->holders, token, admit_get_wall_ms(a));
	if (*ret_holder)
		return true;
	if (a->oauth && mp_jwt_is_one(token))
		return admit_judge_oauth(a, in, token, ret_holder, ret);
	return admit_challenge(a, in, MP_OAUTH_WRONG_TOKEN, "this is not a token of mcpool" SHOWN,
			       ret);
}

static bool admit_judge_header(struct mp_admit *a, const struct mp_inbound *in,
			       const struct mp_holder **ret_holder,
			       struct mp_http_refusal *ret_refusal)
{
	struct mp_str header = mp_inbound_get(in, MP_FIELD_AUTHORIZATION);
	struct mp_str scheme = MP_STR("Bearer ");

	if (!header.p)
		return admit_challenge(a, in, MP_OAUTH_NEEDS_TOKEN,
				       "this needs the token of mcpool" SHOWN, ret_refusal);
	if (header.len < scheme.len ||
	    !mp_str_eq_nocase((struct mp_str){header.p, scheme.len}, scheme))
		return admit_challenge(a, in, MP_OAUTH_NEEDS_TOKEN,
				       "this needs a bearer token" SHOWN, ret_refusal);
	header = mp_str_trim((struct mp_str){header.p + scheme.len, header.len - scheme.len});
	return admit_judge_token(a, in, header, ret_holder, ret_refusal);
}

/* A browser names the page that asks: WebSockets and POST by Origin, all by Sec-Fetch-Site. */
static bool admit_judge_page(const struct mp_inbound *in, struct mp_http_refusal *ret_refusal)
{
	struct mp_str site = mp_inbound_get(in, MP_FIELD_SITE);
	bool is_same = mp_str_eq(site, MP_STR("same-origin"));

	if (is_same || (!site.p && mp_inbound_get(in, MP_FIELD_ORIGIN).p))
		return true;
	return admit_refuse(ret_refusal, 403, "only the hub's own page may ask for this", NULL);
}

static bool admit_judge_browser(struct mp_admit *a, const struct mp_inbound *in,
				const struct mp_holder **ret_holder,
				struct mp_http_refusal *ret_refusal)
{
	if (!admit_judge_page(in, ret_refusal))
		return false;
	if (a->logins.key.path)
		*ret_holder = mp_browser_logins_find(&a->logins, &a->holders,
						     mp_inbound_get(in, MP_FIELD_COOKIE));
	if (*ret_holder && !(*ret_holder)->is_over)
		return true;
	return admit_refuse(ret_refusal, 401,
			    "this browser is not logged in; run `mcpool dashboard`", NULL);
}

/* The request comes from this hub: a server is configured with our own address. */
static bool is_ourselves(struct mp_str asker)
{
	return asker.p && mp_str_eq(asker, mp_str_of(mp_random_id_of_process()));
}

static bool may_enter(struct mp_admit *a, const struct mp_route *route, const struct mp_inbound *in,
		      bool is_by_address, const struct mp_holder **ret_holder,
		      struct mp_http_refusal *ret_refusal)
{
	if (route->who == MP_ROUTE_FOR_VISITORS)
		return true;
	if (route->who == MP_ROUTE_FOR_PAGES)
		return admit_judge_page(in, ret_refusal);
	if (route->who == MP_ROUTE_FOR_BROWSERS)
		return admit_judge_browser(a, in, ret_holder, ret_refusal);
	if (route->who != MP_ROUTE_FOR_HOLDERS && route->who != MP_ROUTE_FOR_METRICS)
		return admit_refuse(ret_refusal, 403, "this route is closed", NULL);
	if (!is_our_page(mp_inbound_get(in, MP_FIELD_SITE)))
		return admit_refuse(ret_refusal, 403, "another site's page asks for this", NULL);
	if (is_by_address)
		return true;
	if (a->needs_token)
		return admit_judge_header(a, in, ret_holder, ret_refusal);
	*ret_holder = mp_holders_find(&a->holders, a->owner);
	return true;
}

bool mp_admit_judge(struct mp_admit *a, const struct mp_route *route, const struct mp_inbound *in,
		    const struct mp_address *peer, struct mp_http_admission *ret_admission,
		    struct mp_http_refusal *ret_refusal)
{
	bool is_by_address =
		route->who == MP_ROUTE_FOR_METRICS && mp_address_list_has(&a->metrics_from, peer);
	struct mp_str host = mp_inbound_get(in, MP_FIELD_HOST);
	struct mp_str origin = mp_inbound_get(in, MP_FIELD_ORIGIN);
	const struct mp_holder *holder = NULL;

	(void)mp_admit_look(a);
	*ret_admission = (struct mp_http_admission){.route = NULL};
	if (!is_our_host(a, host))
		return admit_refuse(ret_refusal, 403, "this Host is not mcpool", NULL);
	if (origin.p && !is_our_origin(a, origin, host))
		return admit_refuse(ret_refusal, 403,
				    "pages of this Origin may not speak to mcpool", NULL);
	if (!may_enter(a, route, in, is_by_address, &holder, ret_refusal))
		return false;
	if (is_ourselves(mp_inbound_get(in, MP_FIELD_ASKER)))
		return admit_refuse(ret_refusal, 508, "the hub would serve itself by this address",
				    NULL);
	*ret_admission = (struct mp_http_admission){
		.route = route,
		.principal = holder ? holder->principal : NULL,
		.holder = holder ? holder->id : 0,
		.is_by_address = is_by_address,
	};
	return true;
}
