/*
 * zone.h - how private an address is, and which step from one to another is allowed.
 * A URL that came from a server may not lead to a more private place than the one the user
 * configured (V33). Judged is the address that is really dialled, after names were resolved.
 */
#ifndef MP_ZONE_H
#define MP_ZONE_H

#include "base/base.h"

struct sockaddr;

enum mp_zone {
	MP_ZONE_ANY,      /* unrestricted: the user gave this address */
	MP_ZONE_PUBLIC,   /* the internet */
	MP_ZONE_PRIVATE,  /* a private network, or a provider's */
	MP_ZONE_LINK,     /* this cable; where clouds keep credentials */
	MP_ZONE_LOOPBACK, /* this machine */
	MP_ZONE_RESERVED, /* no host: multicast, documentation, tunnels that hide an address */
};

enum mp_zone mp_zone_of(const struct sockaddr *address);
/* A numeric address, without brackets or port; MP_ZONE_ANY for anything else, such as a name. */
enum mp_zone mp_zone_of_text(const char *address);
/*
 * May something from that zone lead to this one? Each zone reaches itself and what is more public;
 * this machine does not reach the cable. MP_ZONE_ANY reaches everything.
 */
bool mp_zone_may_reach(enum mp_zone from, enum mp_zone to);
/* "a private network", for people. */
const char *mp_zone_get_words(enum mp_zone zone);

#endif
