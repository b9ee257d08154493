/* test_zone.c - every special range at both its ends, in every disguise. */
#include "test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "net/zone.h"

struct row {
	const char *address;
	enum mp_zone zone;
};

#define PUB  MP_ZONE_PUBLIC
#define PRIV MP_ZONE_PRIVATE
#define LINK MP_ZONE_LINK
#define LOOP MP_ZONE_LOOPBACK
#define RES  MP_ZONE_RESERVED

static const struct row rows[] = {
	{"0.0.0.0", RES},
	{"0.255.255.255", RES},
	{"1.0.0.0", PUB},
	{"1.1.1.1", PUB},
	{"9.255.255.255", PUB},
	{"10.0.0.0", PRIV},
	{"10.255.255.255", PRIV},
	{"11.0.0.0", PUB},
	{"100.63.255.255", PUB},
	{"100.64.0.0", PRIV},
	{"100.127.255.255", PRIV},
	{"100.128.0.0", PUB},
	{"126.255.255.255", PUB},
	{"127.0.0.0", LOOP},
	{"127.0.0.1", LOOP},
	{"127.255.255.255", LOOP},
	{"128.0.0.0", PUB},
	{"169.253.255.255", PUB},
	{"169.254.0.0", LINK},
	{"169.254.169.254", LINK},
	{"169.254.255.255", LINK},
	{"169.255.0.0", PUB},
	{"172.15.255.255", PUB},
	{"172.16.0.0", PRIV},
	{"172.31.255.255", PRIV},
	{"172.32.0.0", PUB},
	{"192.0.0.0", RES},
	{"192.0.0.255", RES},
	{"192.0.1.0", PUB},
	{"192.0.2.0", RES},
	{"192.0.2.255", RES},
	{"192.0.3.0", PUB},
	{"192.88.98.255", PUB},
	{"192.88.99.0", RES},
	{"192.88.99.255", RES},
	{"192.88.100.0", PUB},
	{"192.167.255.255", PUB},
	{"192.168.0.0", PRIV},
	{"192.168.255.255", PRIV},
	{"192.169.0.0", PUB},
	{"198.17.255.255", PUB},
	{"198.18.0.0", RES},
	{"198.19.255.255", RES},
	{"198.20.0.0", PUB},
	{"198.51.99.255", PUB},
	{"198.51.100.0", RES},
	{"198.51.100.255", RES},
	{"198.51.101.0", PUB},
	{"203.0.112.255", PUB},
	{"203.0.113.0", RES},
	{"203.0.113.255", RES},
	{"203.0.114.0", PUB},
	{"223.255.255.255", PUB},
	{"224.0.0.0", RES},
	{"239.255.255.255", RES},
	{"240.0.0.0", RES},
	{"255.255.255.255", RES},
	/* IPv6 */
	{"::", RES},
	{"::1", LOOP},
	{"::2", RES},
	{"::127.0.0.1", RES},
	{"::8.8.8.8", RES},
	{"::ffff:127.0.0.1", LOOP},
	{"::ffff:7f00:1", LOOP},
	{"::ffff:10.0.0.1", PRIV},
	{"::ffff:169.254.169.254", LINK},
	{"::ffff:8.8.8.8", PUB},
	{"::ffff:0.0.0.0", RES},
	{"::ffff:0:127.0.0.1", RES},
	{"64:ff9b::8.8.8.8", PUB},
	{"64:ff9b::127.0.0.1", LOOP},
	{"64:ff9b::10.1.2.3", PRIV},
	{"64:ff9b::169.254.169.254", LINK},
	{"64:ff9b::a00:1", PRIV},
	{"64:ff9b:1::8.8.8.8", RES},
	{"64:ff9b:1::10.0.0.1", RES},
	{"64:ff9b:1:ffff::1", RES},
	{"100::", RES},
	{"100::1", RES},
	{"1fff:ffff::1", RES},
	{"2000::1", PUB},
	{"2001::", RES},
	{"2001::1", RES},
	{"2001:0:4136:e378::1", RES},
	{"2001:2::1", RES},
	{"2001:10::1", RES},
	{"2001:20::1", RES},
	{"2001:1ff:ffff::1", RES},
	{"2001:200::1", PUB},
	{"2001:4860:4860::8888", PUB},
	{"2001:db7::1", PUB},
	{"2001:db8::", RES},
	{"2001:db8:ffff::1", RES},
	{"2001:db9::1", PUB},
	{"2002::1", RES},
	{"2002:7f00:1::1", RES},
	{"2002:a00:1::", RES},
	{"2002:808:808::1", RES},
	{"2003::1", PUB},
	{"2606:4700::1111", PUB},
	{"2a00:1450::1", PUB},
	{"3ffe::1", PUB},
	{"3fff::1", RES},
	{"3fff:fff::1", RES},
	{"3fff:1000::1", PUB},
	{"4000::1", RES},
	{"5f00::1", RES},
	{"fbff::1", RES},
	{"fc00::", PRIV},
	{"fd00::1", PRIV},
	{"fdff:ffff::1", PRIV},
	{"fe00::1", RES},
	{"fe7f::1", RES},
	{"fe80::", LINK},
	{"fe80::1%eth0", LINK},
	{"febf:ffff::1", LINK},
	{"fec0::", PRIV},
	{"feff::1", PRIV},
	{"ff00::", RES},
	{"ff02::1", RES},
	{"ffff::1", RES},
	/* names and other spellings are no addresses */
	{"localhost", MP_ZONE_ANY},
	{"0x7f.1", MP_ZONE_ANY},
	{"2130706433", MP_ZONE_ANY},
	{"", MP_ZONE_ANY},
	{"[::1]", MP_ZONE_ANY},
};

/* V33 */
TEST(every_range_is_known)
{
	CHECK(MP_ARRAY_LEN(rows) >= 120);
	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		struct sockaddr_in v4 = {.sin_family = AF_INET};
		struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};

		if (!test_equal(mp_zone_of_text(rows[i].address), rows[i].zone, rows[i].address,
				__FILE__, __LINE__))
			return;
		if (inet_pton(AF_INET, rows[i].address, &v4.sin_addr) == 1)
			CHECK_EQ(mp_zone_of((struct sockaddr *)&v4), rows[i].zone);
		if (inet_pton(AF_INET6, rows[i].address, &v6.sin6_addr) == 1)
			CHECK_EQ(mp_zone_of((struct sockaddr *)&v6), rows[i].zone);
	}
}

TEST(what_is_no_network_address_is_nobodys)
{
	struct sockaddr local = {.sa_family = AF_UNIX};

	CHECK_EQ(mp_zone_of(&local), MP_ZONE_RESERVED);
}

/* V33: no step to a more private zone. */
TEST(no_step_leads_to_a_more_private_zone)
{
	/* from ANY, PUBLIC, PRIVATE, LINK, LOOPBACK, RESERVED; to PUBLIC ... RESERVED */
	static const char *const may[] = {"yyyyy", "ynnnn", "yynnn", "yyynn", "yynyn", "ynnnn"};

	for (int from = MP_ZONE_ANY; from <= MP_ZONE_RESERVED; from++) {
		for (int to = MP_ZONE_PUBLIC; to <= MP_ZONE_RESERVED; to++)
			CHECK_EQ(mp_zone_may_reach((enum mp_zone)from, (enum mp_zone)to),
				 may[from][to - 1] == 'y');
	}
	CHECK_TEXT(mp_zone_get_words(MP_ZONE_LINK), "the local link");
}
