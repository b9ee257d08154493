/*
 * address_list.h - which addresses are meant: "192.0.2.7", "10.0.0.0/8", "fd00::/8".
 */
#ifndef MP_ADDRESS_LIST_H
#define MP_ADDRESS_LIST_H

#include "base/base.h"

struct sockaddr;

/* As IPv6, where IPv4 is ::ffff:a.b.c.d. All zero: unknown, and in no list. */
struct mp_address {
	unsigned char bytes[16];
};
struct mp_address mp_address_of(const struct sockaddr *address);

struct mp_address_range {
	struct mp_address from;
	unsigned bits; /* that count */
};

enum { MP_ADDRESS_LIST = 64 };
struct mp_address_list {
	struct mp_address_range ranges[MP_ADDRESS_LIST];
	size_t n;
};

/* Add one of these texts. MCPOOL_EINVAL with a sentence; MCPOOL_ELIMIT. */
int mp_address_list_add(struct mp_address_list *l, const char *text,
			struct mcpool_error *reterr) MP_MUST;
bool mp_address_list_has(const struct mp_address_list *l, const struct mp_address *address);

#endif
