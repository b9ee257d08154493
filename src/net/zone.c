/*
 * zone.c - how private an address is, and which step from one to another is allowed.
 * The tables are IANA's special-purpose registries; what hides another address is judged by that.
 */
#include "net/zone.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

struct range {
	uint8_t prefix[16];
	uint8_t bits;
	enum mp_zone zone;
};

static const struct range v4_ranges[] = {
	{{0}, 8, MP_ZONE_RESERVED}, /* 0.0.0.0 reaches this machine */
	{{10}, 8, MP_ZONE_PRIVATE},
	{{100, 64}, 10, MP_ZONE_PRIVATE}, /* behind a provider's translation */
	{{127}, 8, MP_ZONE_LOOPBACK},
	{{169, 254}, 16, MP_ZONE_LINK},
	{{172, 16}, 12, MP_ZONE_PRIVATE},
	{{192, 0, 0}, 24, MP_ZONE_RESERVED},
	{{192, 0, 2}, 24, MP_ZONE_RESERVED},
	{{192, 88, 99}, 24, MP_ZONE_RESERVED},
	{{192, 168}, 16, MP_ZONE_PRIVATE},
	{{198, 18}, 15, MP_ZONE_RESERVED}, /* benchmarks */
	{{198, 51, 100}, 24, MP_ZONE_RESERVED},
	{{203, 0, 113}, 24, MP_ZONE_RESERVED},
	{{224}, 4, MP_ZONE_RESERVED},
	{{240}, 4, MP_ZONE_RESERVED},
};

/* The first that fits counts. */
static const struct range v6_ranges[] = {
	{{[15] = 1}, 128, MP_ZONE_LOOPBACK},
	{{0x20, 0x01}, 23, MP_ZONE_RESERVED}, /* Teredo among them */
	{{0x20, 0x01, 0x0d, 0xb8}, 32, MP_ZONE_RESERVED},
	{{0x20, 0x02}, 16, MP_ZONE_RESERVED}, /* 6to4 */
	{{0x3f, 0xff}, 20, MP_ZONE_RESERVED},
	{{0x20}, 3, MP_ZONE_PUBLIC},
	{{0xfc}, 7, MP_ZONE_PRIVATE},
	{{0xfe, 0x80}, 10, MP_ZONE_LINK},
	{{0xfe, 0xc0}, 10, MP_ZONE_PRIVATE}, /* site-local, as it once was */
	{{0}, 0, MP_ZONE_RESERVED},
};

/* These carry an IPv4 address in their last four bytes. */
static const struct range mapped = {{[10] = 0xff, [11] = 0xff}, 96, MP_ZONE_ANY};
static const struct range nat64 = {{0x00, 0x64, 0xff, 0x9b}, 96, MP_ZONE_ANY};

static bool is_in(const uint8_t *address, const struct range *r)
{
	size_t whole = r->bits / 8;
	unsigned rest = r->bits % 8;
	unsigned mask = 0xffu << (8 - rest) & 0xff;

	if (memcmp(address, r->prefix, whole) != 0)
		return false;
	return rest == 0 || (address[whole] & mask) == (r->prefix[whole] & mask);
}

static enum mp_zone look_up(const uint8_t *address, const struct range *ranges, size_t n,
			    enum mp_zone otherwise)
{
	for (size_t i = 0; i < n; i++)
		if (is_in(address, &ranges[i]))
			return ranges[i].zone;
	return otherwise;
}

static enum mp_zone zone_of_v4(const uint8_t *address)
{
	return look_up(address, v4_ranges, MP_ARRAY_LEN(v4_ranges), MP_ZONE_PUBLIC);
}

static enum mp_zone zone_of_v6(const uint8_t *address)
{
	if (is_in(address, &mapped) || is_in(address, &nat64))
		return zone_of_v4(address + 12);
	return look_up(address, v6_ranges, MP_ARRAY_LEN(v6_ranges), MP_ZONE_RESERVED);
}

enum mp_zone mp_zone_of(const struct sockaddr *address)
{
	const struct sockaddr_in *v4 = (const void *)address;
	const struct sockaddr_in6 *v6 = (const void *)address;

	if (address->sa_family == AF_INET)
		return zone_of_v4((const uint8_t *)&v4->sin_addr);
	if (address->sa_family == AF_INET6)
		return zone_of_v6(v6->sin6_addr.s6_addr);
	return MP_ZONE_RESERVED;
}

enum mp_zone mp_zone_of_text(const char *address)
{
	char bare[INET6_ADDRSTRLEN];
	size_t len = strcspn(address, "%"); /* without the name of an interface */
	uint8_t bytes[16];

	if (len >= sizeof(bare))
		return MP_ZONE_ANY;
	memcpy(bare, address, len);
	bare[len] = '\0';
	if (inet_pton(AF_INET, bare, bytes) == 1)
		return zone_of_v4(bytes);
	if (inet_pton(AF_INET6, bare, bytes) == 1)
		return zone_of_v6(bytes);
	return MP_ZONE_ANY;
}

bool mp_zone_may_reach(enum mp_zone from, enum mp_zone to)
{
	if (from == MP_ZONE_ANY || to == MP_ZONE_PUBLIC)
		return true;
	if (from == MP_ZONE_RESERVED || to == MP_ZONE_RESERVED || to == MP_ZONE_ANY)
		return false;
	return from == to || (to == MP_ZONE_PRIVATE && from > MP_ZONE_PRIVATE);
}

const char *mp_zone_get_words(enum mp_zone zone)
{
	static const char *const words[] = {
		[MP_ZONE_ANY] = "anywhere",
		[MP_ZONE_PUBLIC] = "the internet",
		[MP_ZONE_PRIVATE] = "a private network",
		[MP_ZONE_LINK] = "the local link",
		[MP_ZONE_LOOPBACK] = "this machine",
		[MP_ZONE_RESERVED] = "a reserved range",
	};

	return words[zone];
}
