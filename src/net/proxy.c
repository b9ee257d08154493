/*
 * proxy.c - which proxy the environment names for an address.
 * curl would find out by itself, but does not say what it found, and whether an address may be used
 * depends on who dials it.
 */
#include "net/proxy.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "net/zone.h"

static struct mp_str drop_dots(struct mp_str name)
{
	if (name.len && name.p[0] == '.')
		name = (struct mp_str){name.p + 1, name.len - 1};
	if (name.len && name.p[name.len - 1] == '.')
		name.len--;
	return name;
}

/* "example.com" is that and "www.example.com", not "badexample.com". */
static bool is_below(struct mp_str host, struct mp_str domain)
{
	host = drop_dots(host);
	domain = drop_dots(domain);
	if (!domain.len || host.len < domain.len)
		return false;
	if (host.len > domain.len && host.p[host.len - domain.len - 1] != '.')
		return false;
	return mp_str_eq_nocase((struct mp_str){host.p + host.len - domain.len, domain.len},
				domain);
}

/* Bytes of the address, 0 if it is none. */
static size_t read_address(const char *text, unsigned char *bytes)
{
	if (inet_pton(AF_INET, text, bytes) == 1)
		return 4;
	return inet_pton(AF_INET6, text, bytes) == 1 ? 16 : 0;
}

/* "10.0.0.0/8", "::1", "[::1]" */
static bool is_in_network(const unsigned char *address, size_t size, struct mp_str network)
{
	char text[INET6_ADDRSTRLEN + 8];
	unsigned char bytes[16];
	ptrdiff_t slash = mp_str_find(network, MP_STR("/"), 0);
	struct mp_str base = {network.p, slash < 0 ? network.len : (size_t)slash};
	int64_t bits = (int64_t)size * 8;

	if (slash >= 0 &&
	    (mp_str_to_i64((struct mp_str){network.p + slash + 1, network.len - (size_t)slash - 1},
			   &bits) < 0 ||
	     bits < 0 || bits > (int64_t)size * 8))
		return false;
	if (base.len > 2 && base.p[0] == '[' && base.p[base.len - 1] == ']')
		base = (struct mp_str){base.p + 1, base.len - 2};
	(void)snprintf(text, sizeof(text), "%.*s", MP_STR_ARGS(base));
	if (read_address(text, bytes) != size)
		return false;
	for (int64_t i = 0; i < bits; i++)
		if ((address[i / 8] ^ bytes[i / 8]) & 0x80 >> i % 8)
			return false;
	return true;
}

bool mp_proxy_is_exempt(const char *no_proxy, const char *host)
{
	unsigned char address[16];
	size_t size = read_address(host, address);

	for (const char *p = no_proxy; *p;) {
		size_t n = strcspn(p, ", \t");
		struct mp_str word = {p, n};

		if (mp_str_eq(word, MP_STR("*")))
			return true;
		if (size ? is_in_network(address, size, word) : is_below(mp_str_of(host), word))
			return true;
		p += n;
		p += strspn(p, ", \t");
	}
	return false;
}

/* "localhost" and what is below it never mean another one (RFC 6761). */
static bool is_this_machine(const char *host)
{
	return is_below(mp_str_of(host), MP_STR("localhost")) ||
	       mp_zone_of_text(host) == MP_ZONE_LOOPBACK;
}

static const char *get_detect(const char *small, const char *large)
{
	const char *value = getenv(small);

	if (!value || !value[0])
		value = getenv(large);
	return value && value[0] ? value : NULL;
}

const char *mp_proxy_find(const char *scheme, const char *host)
{
	const char *proxy = strcasecmp(scheme, "https") == 0
				    ? get_detect("https_proxy", "HTTPS_PROXY")
				    : get_detect("http_proxy", "HTTP_PROXY");
	const char *no_proxy;

	if (!proxy)
		proxy = get_detect("all_proxy", "ALL_PROXY");
	if (!proxy || is_this_machine(host))
		return NULL;
	no_proxy = get_detect("no_proxy", "NO_PROXY");
	return no_proxy && mp_proxy_is_exempt(no_proxy, host) ? NULL : proxy;
}
