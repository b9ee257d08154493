/*
 * admit.c - decides whether an HTTP request is admitted; one function for all routes.
 */
#include "face/admit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>

#include "base/error.h"
#include "base/random_id.h"
#include "net/zone.h"

#define CHALLENGE "WWW-Authenticate: Bearer realm=\"mcpool\"\r\n"
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

static void name_principal(struct mp_admit *a)
{
	char mark[MP_HTTP_TOKEN_MARK + 1];

	snprintf(a->principal, sizeof(a->principal), "local");
	if (!a->needs_token)
		return;
	mp_http_token_get_mark(&a->token, mark);
	snprintf(a->principal, sizeof(a->principal), "token:%s", mark);
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
	if (r == 0)
		r = name_us(a, o, reterr);
	if (r == 0 && a->needs_token)
		r = mp_http_token_open(&a->token, o->token_path, reterr);
	if (r == 0)
		name_principal(a);
	return r;
}

void mp_admit_done(struct mp_admit *a)
{
	mp_http_token_done(&a->token);
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

uint64_t mp_admit_get_season(struct mp_admit *a)
{
	if (a->needs_token && is_due(a) && mp_http_token_look(&a->token))
		name_principal(a);
	return a->token.season;
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

static bool has_token(struct mp_admit *a, struct mp_str header, struct mp_http_refusal *ret_refusal)
{
	struct mp_str scheme = MP_STR("Bearer ");

	if (!header.p)
		return admit_refuse(ret_refusal, 401, "this needs the token of mcpool" SHOWN,
				    CHALLENGE);
	if (header.len < scheme.len ||
	    !mp_str_eq_nocase((struct mp_str){header.p, scheme.len}, scheme))
		return admit_refuse(ret_refusal, 401, "this needs a bearer token" SHOWN, CHALLENGE);
	header = mp_str_trim((struct mp_str){header.p + scheme.len, header.len - scheme.len});
	if (!mp_http_token_matches(&a->token, header))
		return admit_refuse(ret_refusal, 401, "this is not the token of mcpool" SHOWN,
				    WRONG);
	return true;
}

/* The request comes from this hub: a server is configured with our own address. */
static bool is_ourselves(struct mp_str asker)
{
	return asker.p && mp_str_eq(asker, mp_str_of(mp_random_id_of_process()));
}

static bool may_enter(struct mp_admit *a, const struct mp_route *route, const struct mp_inbound *in,
		      struct mp_http_refusal *ret_refusal)
{
	if (route->who == MP_ROUTE_FOR_VISITORS)
		return true;
	if (route->who != MP_ROUTE_FOR_HOLDERS)
		return admit_refuse(ret_refusal, 403, "this route is closed", NULL);
	if (!is_our_page(mp_inbound_get(in, MP_FIELD_SITE)))
		return admit_refuse(ret_refusal, 403, "another site's page asks for this", NULL);
	return !a->needs_token ||
	       has_token(a, mp_inbound_get(in, MP_FIELD_AUTHORIZATION), ret_refusal);
}

bool mp_admit_judge(struct mp_admit *a, const struct mp_route *route, const struct mp_inbound *in,
		    struct mp_http_admission *ret_admission, struct mp_http_refusal *ret_refusal)
{
	struct mp_str host = mp_inbound_get(in, MP_FIELD_HOST);
	struct mp_str origin = mp_inbound_get(in, MP_FIELD_ORIGIN);
	uint64_t season = mp_admit_get_season(a);

	*ret_admission = (struct mp_http_admission){.route = NULL};
	if (!is_our_host(a, host))
		return admit_refuse(ret_refusal, 403, "this Host is not mcpool", NULL);
	if (origin.p && !is_our_origin(a, origin, host))
		return admit_refuse(ret_refusal, 403,
				    "pages of this Origin may not speak to mcpool", NULL);
	if (!may_enter(a, route, in, ret_refusal))
		return false;
	if (is_ourselves(mp_inbound_get(in, MP_FIELD_ASKER)))
		return admit_refuse(ret_refusal, 508, "the hub would serve itself by this address",
				    NULL);
	*ret_admission = (struct mp_http_admission){
		.route = route,
		.principal = route->who == MP_ROUTE_FOR_HOLDERS ? a->principal : NULL,
		.season = season,
	};
	return true;
}
