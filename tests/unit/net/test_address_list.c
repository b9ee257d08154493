/*
 * test_address_list.c - which addresses a text means.
 */
#include "test.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/error.h"
#include "net/address_list.h"

static struct mp_address address_at(const char *text)
{
	struct sockaddr_in four = {.sin_family = AF_INET};
	struct sockaddr_in6 six = {.sin6_family = AF_INET6};

	if (inet_pton(AF_INET, text, &four.sin_addr) == 1)
		return mp_address_of((struct sockaddr *)&four);
	inet_pton(AF_INET6, text, &six.sin6_addr);
	return mp_address_of((struct sockaddr *)&six);
}

static bool is_in(const char *range, const char *text)
{
	struct mp_address_list l = {.n = 0};
	struct mp_address a = address_at(text);

	REQUIRE(mp_address_list_add(&l, range, NULL) == 0);
	return mp_address_list_has(&l, &a);
}

TEST(an_address_is_in_its_range_only)
{
	CHECK(is_in("192.0.2.7", "192.0.2.7") && !is_in("192.0.2.7", "192.0.2.8"));
	CHECK(is_in("192.0.2.7", "::ffff:192.0.2.7"));
	CHECK(is_in("10.0.0.0/8", "10.255.255.255") && !is_in("10.0.0.0/8", "11.0.0.0"));
	CHECK(is_in("10.16.0.0/12", "10.31.0.1") && !is_in("10.16.0.0/12", "10.32.0.0"));
	CHECK(is_in("0.0.0.0/0", "8.8.8.8") && !is_in("0.0.0.0/0", "2001:db8::1"));
	CHECK(is_in("::/0", "8.8.8.8") && is_in("::/0", "::1"));
	CHECK(is_in("fd00::/8", "fdab::1") && !is_in("fd00::/8", "fe80::1"));
	CHECK(is_in("::1", "::1") && !is_in("::1", "127.0.0.1"));
}

TEST(an_unknown_address_is_in_no_range)
{
	CHECK(!is_in("::/0", "::"));
}

TEST(what_is_no_address_is_said)
{
	static const char *const bad[] = {
		"",
		"localhost",
		"10.0.0",
		"10.0.0.0/",
		"10.0.0.0/33",
		"10.0.0.0/-1",
		"10.0.0.0/x",
		"fd00::/129",
		"[::1]",
		"127.0.0.1:80",
		" 10.0.0.1",
		"/8",
		"1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb:cccc",
	};
	struct mp_address_list l = {.n = 0};
	struct mcpool_error why;

	for (size_t i = 0; i < MP_ARRAY_LEN(bad); i++) {
		CHECK_EQ(mp_address_list_add(&l, bad[i], &why), MCPOOL_EINVAL);
		CHECK(strstr(why.message, "is not an address"));
	}
	CHECK_EQ(l.n, 0);
	for (size_t i = 0; i < MP_ADDRESS_LIST; i++)
		CHECK_EQ(mp_address_list_add(&l, "::1", NULL), 0);
	CHECK_EQ(mp_address_list_add(&l, "::1", NULL), MCPOOL_ELIMIT);
}
