/* test_list.c - order and length, and walks during which the list changes. */
#include "test.h"

#include "base/list.h"

struct item {
	struct mp_link link;
	char name;
};

enum { ITEMS = 6 };

static struct mp_list list, other;
static struct item items[ITEMS];

static void start(size_t n)
{
	mp_list_init(&list);
	mp_list_init(&other);
	memset(items, 0, sizeof(items));
	for (size_t i = 0; i < ITEMS; i++)
		items[i].name = (char)('a' + i);
	for (size_t i = 0; i < n; i++)
		mp_list_append(&list, &items[i].link);
}

static char name_of(const struct mp_link *link)
{
	return mp_container_of(link, const struct item, link)->name;
}

/* Forward and backward, and the length. */
static bool is(const struct mp_list *l, const char *names)
{
	const struct mp_link *link = l->head.next;
	size_t n = strlen(names);

	REQUIRE(l->len == n);
	for (size_t i = 0; i < n; i++, link = link->next)
		REQUIRE(link != &l->head && name_of(link) == names[i]);
	REQUIRE(link == &l->head);
	for (size_t i = n; i-- > 0;) {
		link = link->prev;
		REQUIRE(name_of(link) == names[i]);
	}
	REQUIRE(link->prev == &l->head);
	return true;
}

TEST(an_empty_list)
{
	start(0);
	CHECK(is(&list, ""));
	CHECK(!mp_list_first(&list));
	CHECK(!mp_list_pop(&list));
	CHECK(!mp_list_linked(&items[0].link));
}

TEST(order_and_length)
{
	start(0);
	mp_list_append(&list, &items[1].link);
	mp_list_append(&list, &items[2].link);
	mp_list_prepend(&list, &items[0].link);
	CHECK(is(&list, "abc"));
	mp_list_insert_before(&list, &items[2].link, &items[5].link);
	CHECK(is(&list, "abfc"));
	CHECK(mp_list_linked(&items[5].link));
	CHECK(mp_list_first(&list) == &items[0].link);
}

TEST(removing_anywhere)
{
	start(5);
	mp_list_remove(&list, &items[2].link);
	CHECK(is(&list, "abde"));
	CHECK(!mp_list_linked(&items[2].link));
	mp_list_remove(&list, &items[0].link);
	CHECK(is(&list, "bde"));
	mp_list_remove(&list, &items[4].link);
	CHECK(is(&list, "bd"));
	mp_list_append(&list, &items[2].link); /* a removed one may come again */
	CHECK(is(&list, "bdc"));
	CHECK(mp_list_pop(&list) == &items[1].link);
	CHECK(mp_list_pop(&list) == &items[3].link);
	CHECK(mp_list_pop(&list) == &items[2].link);
	CHECK(is(&list, ""));
}

/* --- each ----------------------------------------------------------------------------------- */

/* Visits all and removes those whose names are in gone; what was visited. */
static const char *each_removing(const char *gone)
{
	static char seen[ITEMS + 1];
	size_t n = 0;

	MP_LIST_EACH(&list, link) {
		if (n == ITEMS)
			return "too many";
		seen[n++] = name_of(link);
		if (strchr(gone, name_of(link)))
			mp_list_remove(&list, link);
	}
	seen[n] = '\0';
	return seen;
}

TEST(each_may_remove_the_link_it_is_at)
{
	start(0);
	CHECK_TEXT(each_removing("abc"), "");
	start(5);
	CHECK_TEXT(each_removing(""), "abcde");
	CHECK_TEXT(each_removing("ace"), "abcde");
	CHECK(is(&list, "bd"));
	CHECK_TEXT(each_removing("bd"), "bd");
	CHECK(is(&list, ""));
}

TEST(each_may_break)
{
	char seen = 0;

	start(3);
	MP_LIST_EACH(&list, link) {
		seen = name_of(link);
		if (seen == 'b')
			break;
	}
	CHECK_EQ(seen, 'b');
	CHECK_TEXT(each_removing(""), "abc");
}

/* --- walk ----------------------------------------------------------------------------------- */

/* One row per meeting: at `at`, remove the items of gone and append those of came. */
struct deed {
	char at;
	const char *gone, *came;
};

static void do_it(const struct deed *deed)
{
	for (const char *p = deed->gone; *p; p++)
		mp_list_remove(&list, &items[*p - 'a'].link);
	for (const char *p = deed->came; *p; p++)
		mp_list_append(&list, &items[*p - 'a'].link);
}

static const char *walk_doing(const struct deed *deeds, size_t n_deeds)
{
	static char seen[32];
	size_t n = 0;

	MP_LIST_WALK(&list, link) {
		char name = name_of(link);

		if (n < sizeof(seen) - 1)
			seen[n++] = name;
		for (size_t i = 0; i < n_deeds && n < sizeof(seen) - 1; i++)
			if (deeds[i].at == name)
				do_it(&deeds[i]);
	}
	seen[n] = '\0';
	return seen;
}

TEST(walks_during_which_the_list_changes)
{
	static const struct {
		size_t n;
		struct deed deeds[2];
		const char *seen, *left;
	} rows[] = {
		{0, {{0, "", ""}}, "", ""},
		{1, {{0, "", ""}}, "a", "a"},
		{4, {{0, "", ""}}, "abcd", "abcd"},
		{4, {{'b', "b", ""}}, "abcd", "acd"},              /* itself */
		{4, {{'b', "c", ""}}, "abd", "abd"},               /* the next */
		{4, {{'b', "a", ""}}, "abcd", "bcd"},              /* one behind */
		{4, {{'b', "bc", ""}}, "abd", "ad"},               /* itself and the next */
		{4, {{'b', "cb", ""}}, "abd", "ad"},               /* in the other order */
		{4, {{'b', "cd", ""}}, "ab", "ab"},                /* all that is to come */
		{4, {{'a', "abcd", ""}}, "a", ""},                 /* everything */
		{4, {{'d', "d", ""}}, "abcd", "abc"},              /* the last, itself */
		{4, {{'d', "abcd", ""}}, "abcd", ""},              /* everything, at the end */
		{4, {{'a', "", "e"}}, "abcd", "abcde"},            /* a new one */
		{4, {{'d', "", "e"}}, "abcd", "abcde"},            /* a new one, from the last */
		{4, {{'d', "", "ef"}}, "abcd", "abcdef"},          /* two of them */
		{4, {{'d', "d", "e"}}, "abcd", "abce"},            /* in its own place */
		{1, {{'a', "a", "b"}, {'b', "b", "c"}}, "a", "b"}, /* the only one, in turn */
		{4, {{'c', "d", "e"}}, "abce", "abce"},            /* in the place of the next */
		{4, {{'b', "cd", "d"}}, "abd", "abd"},             /* away and back */
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		start(rows[i].n);
		CHECK_TEXT(walk_doing(rows[i].deeds, 2), rows[i].seen);
		CHECK(is(&list, rows[i].left));
		CHECK(!list.coming); /* so that the next walk may begin */
	}
}

TEST(what_is_put_in_front_is_not_walked)
{
	size_t n = 0;

	start(2);
	MP_LIST_WALK(&list, link) {
		if (n++ == 0)
			mp_list_prepend(&list, &items[4].link);
	}
	CHECK_EQ(n, 2);
	CHECK(is(&list, "eab"));
}

TEST(two_lists_may_be_walked_at_once)
{
	size_t n = 0;

	start(3);
	mp_list_append(&other, &items[3].link);
	mp_list_append(&other, &items[4].link);
	MP_LIST_WALK(&list, outer) {
		MP_LIST_WALK(&other, inner)
			n += name_of(inner) != name_of(outer);
	}
	CHECK_EQ(n, 6);
}

/* --- broken promises ------------------------------------------------------------------------ */

static void insert_twice(void)
{
	start(1);
	mp_list_append(&list, &items[0].link);
}

static void insert_into_another(void)
{
	start(1);
	mp_list_append(&other, &items[0].link);
}

static void remove_what_is_in_no_list(void)
{
	start(1);
	mp_list_remove(&list, &items[1].link);
}

static void remove_from_an_empty_list(void)
{
	start(1);
	mp_list_remove(&other, &items[0].link);
}

static void walk_twice_at_once(size_t n)
{
	start(n);
	MP_LIST_WALK(&list, outer) {
		MP_LIST_WALK(&list, inner)
			(void)inner;
		(void)outer;
	}
}

static void walk_in_a_walk(void)
{
	walk_twice_at_once(2);
}

static void walk_in_a_walk_at_its_last(void)
{
	walk_twice_at_once(1);
}

TEST(broken_promises_stop)
{
	CHECK(test_stops(insert_twice));
	CHECK(test_stops(insert_into_another));
	CHECK(test_stops(remove_what_is_in_no_list));
	CHECK(test_stops(remove_from_an_empty_list));
	CHECK(test_stops(walk_in_a_walk));
	CHECK(test_stops(walk_in_a_walk_at_its_last));
}
