/*
 * address_list.c - which addresses are meant.
 */
#include "net/address_list.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"

enum { V4_AT = 12, V4_BITS = 96, V6_BITS = 128 };

static struct mp_address address_map_v4(const void *v4)
{
	struct mp_address a = {{[10] = 0xff, [11] = 0xff}};

	memcpy(a.bytes + V4_AT, v4, 4);
	return a;
}

struct mp_address mp_address_of(const struct sockaddr *address)
{
	struct mp_address a = {{0}};

	if (address->sa_family == AF_INET)
		return address_map_v4(
			&((const struct sockaddr_in *)(const void *)address)->sin_addr);
	if (address->sa_family == AF_INET6)
		memcpy(a.bytes, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr,
		       sizeof(a.bytes));
	return a;
}

/* The address alone, without "/24". */
static bool range_read_address(const char *text, struct mp_address_range *ret, unsigned *ret_most)
{
	unsigned char v4[4];

	*ret_most = V6_BITS;
	if (inet_pton(AF_INET6, text, ret->from.bytes) == 1)
		return true;
	*ret_most = V6_BITS - V4_BITS;
	if (inet_pton(AF_INET, text, v4) != 1)
		return false;
	ret->from = address_map_v4(v4);
	return true;
}

static bool range_read(const char *text, struct mp_address_range *ret)
{
	const char *slash = strchr(text, '/');
	char address[INET6_ADDRSTRLEN];
	uint64_t bits;
	unsigned most;
	int n = snprintf(address, sizeof(address), "%.*s",
			 (int)(slash ? (size_t)(slash - text) : strnlen(text, 100)), text);

	if (n >= (int)sizeof(address) || !range_read_address(address, ret, &most))
		return false;
	bits = most;
	if (slash && (mp_str_to_u64(mp_str_of(slash + 1), &bits) < 0 || bits > most))
		return false;
	ret->bits = V6_BITS - most + (unsigned)bits;
	return true;
}

int mp_address_list_add(struct mp_address_list *l, const char *text, struct mcpool_error *reterr)
{
	if (l->n == MP_ADDRESS_LIST)
		return mp_fail(reterr, MCPOOL_ELIMIT, "there are more than %d addresses",
			       MP_ADDRESS_LIST);
	if (!range_read(text, &l->ranges[l->n]))
		return mp_fail(reterr, MCPOOL_EINVAL,
			       "'%s' is not an address: write 192.0.2.7, 10.0.0.0/8 or fd00::/8",
			       text);
	l->n++;
	return 0;
}

static bool range_has(const struct mp_address_range *r, const struct mp_address *a)
{
	size_t whole = r->bits / 8;
	unsigned rest = r->bits % 8, mask = 0xffu << (8 - rest) & 0xff;

	if (memcmp(r->from.bytes, a->bytes, whole) != 0)
		return false;
	return rest == 0 || ((r->from.bytes[whole] ^ a->bytes[whole]) & mask) == 0;
}

bool mp_address_list_has(const struct mp_address_list *l, const struct mp_address *address)
{
	static const struct mp_address unknown;

	if (memcmp(address, &unknown, sizeof(unknown)) == 0)
		return false;
	for (size_t i = 0; i < l->n; i++)
		if (range_has(&l->ranges[i], address))
			return true;
	return false;
}
