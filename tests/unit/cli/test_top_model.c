/* test_top_model.c - the order, the filter and the selection of `top`, and processor time. */
#include "test.h"

#include <stdio.h>

#include "base/error.h"
#include "cli/console/top_model.h"

/* A server of a status: name, state, calls in the last minute, processor time of process 7. */
struct fact {
	const char *name, *state;
	int64_t calls, cpu_us;
};

static bool take(struct mp_top_model *m, int64_t measured_ms, const struct fact *facts, size_t n)
{
	MP_CLEANUP(mp_hub_status_done) struct mp_hub_status next = {.n = 0};
	struct mcpool_error why;
	int r;

	mp_hub_status_init(&next);
	r = mp_buf_addf(&next.text, "{\"hub\":{\"usage\":{\"measuredAt\":%lld}},\"servers\":[",
			(long long)measured_ms);
	for (size_t i = 0; i < n && r == 0; i++)
		r = mp_buf_addf(&next.text,
				"%s{\"name\":\"%s\",\"state\":\"%s\",\"callsLastMinute\":%lld,"
				"\"p99us\":%lld,\"pid\":7,\"cpuUs\":%lld,\"memory\":%lld}",
				i ? "," : "", facts[i].name, facts[i].state,
				(long long)facts[i].calls, (long long)(100 - facts[i].calls),
				(long long)facts[i].cpu_us, (long long)i);
	if (r == 0)
		r = mp_buf_addf(&next.text, "]}");
	if (r == 0)
		r = mp_hub_status_read(&next, &why);
	if (r == 0)
		mp_top_model_take(m, &next);
	return r == 0;
}

/* "a b c": the names in their order */
static bool is_order(const struct mp_top_model *m, const char *wanted)
{
	char got[200] = "";

	for (size_t i = 0; i < m->n; i++) {
		size_t len = strlen(got);

		snprintf(got + len, sizeof(got) - len, "%s%s", i ? " " : "",
			 m->status.servers[m->order[i]].name);
	}
	if (strcmp(got, wanted) == 0)
		return true;
	fprintf(stderr, "%s\n", got);
	return false;
}

#define MODEL(m)                                             \
	MP_CLEANUP(mp_top_model_done) struct mp_top_model m; \
	mp_top_model_init(&m)

static const struct fact some[] = {
	{"alpha", "connected", 0, 1000}, {"beta", "connected", 9, 500}, {"gamma", "failed", 0, 0},
	{"delta", "connected", 3, 0},    {"off", "disabled", 0, 0},
};

TEST(the_busiest_come_first)
{
	static const char *const orders[MP_TOP_SORTS] = {
		[MP_TOP_BY_CALLS] = "beta delta gamma alpha off",
		[MP_TOP_BY_LATENCY] = "gamma alpha off delta beta",
		[MP_TOP_BY_MEMORY] = "off delta gamma beta alpha",
		[MP_TOP_BY_CPU] = "alpha beta gamma delta off",
		[MP_TOP_BY_NAME] = "alpha beta delta gamma off",
	};
	static const struct fact before[] = {{"alpha", "connected", 0, 0},
					     {"beta", "connected", 9, 0}};
	MODEL(m);

	CHECK(take(&m, 1000, before, MP_ARRAY_LEN(before)));
	CHECK(take(&m, 2000, some, MP_ARRAY_LEN(some)));
	for (int sort = 0; sort < MP_TOP_SORTS; sort++) {
		mp_top_model_sort(&m, (enum mp_top_sort)sort);
		CHECK(is_order(&m, orders[sort]));
	}
}

TEST(rows_do_not_move_while_one_is_selected)
{
	static const struct fact later[] = {
		{"new", "connected", 99, 0}, {"alpha", "connected", 50, 0},
		{"beta", "connected", 0, 0}, {"delta", "connected", 3, 0},
		{"off", "disabled", 0, 0},
	};
	MODEL(m);

	CHECK(take(&m, 0, some, MP_ARRAY_LEN(some)));
	mp_top_model_move(&m, 1);
	CHECK_TEXT(m.selected, "beta");
	CHECK(take(&m, 0, later, MP_ARRAY_LEN(later)));
	CHECK(is_order(&m, "beta delta alpha off new")); /* gamma is gone, new comes behind */
	CHECK_TEXT(m.selected, "beta");
	mp_top_model_move(&m, 2);
	CHECK_TEXT(m.selected, "alpha");
	mp_top_model_deselect(&m);
	CHECK(is_order(&m, "new alpha delta beta off"));
	mp_top_model_move(&m, 1);
	CHECK(take(&m, 0, some, MP_ARRAY_LEN(some))); /* the selected one is gone */
	CHECK_TEXT(m.selected, "");
	CHECK(!mp_top_model_get_selected(&m));
}

TEST(a_filter_is_about_names_and_states)
{
	MODEL(m);

	CHECK(take(&m, 0, some, MP_ARRAY_LEN(some)));
	mp_top_model_filter(&m, "LTA");
	CHECK(is_order(&m, "delta"));
	mp_top_model_move(&m, 1);
	mp_top_model_filter(&m, "fail");
	CHECK(is_order(&m, "gamma"));
	CHECK_TEXT(m.selected, ""); /* it is not shown any more */
	mp_top_model_filter(&m, "nothing has this");
	CHECK_EQ(m.n, 0);
	mp_top_model_move(&m, 1);
	CHECK_TEXT(m.selected, "");
	CHECK_EQ(mp_top_model_get_rows(&m, 10).n, 0);
	mp_top_model_filter(&m, "");
	CHECK_EQ(m.n, 5);
}

TEST(the_selected_row_is_on_the_screen)
{
	MODEL(m);

	CHECK(take(&m, 0, some, MP_ARRAY_LEN(some)));
	mp_top_model_sort(&m, MP_TOP_BY_NAME);
	mp_top_model_move(&m, 100);
	CHECK_TEXT(m.selected, "off");
	CHECK_EQ(mp_top_model_get_rows(&m, 2).n, 2);
	CHECK_EQ(m.first, 3);
	mp_top_model_move(&m, -3);
	CHECK_EQ(mp_top_model_get_rows(&m, 2).n, 2);
	CHECK_EQ(m.first, 1);
	CHECK_EQ(mp_top_model_find_selected(&m), 1);
	mp_top_model_move(&m, -100);
	CHECK_EQ(mp_top_model_get_rows(&m, 10).n, 5); /* all fit now */
	CHECK_EQ(m.first, 0);
	CHECK_TEXT(m.selected, "alpha");
}

TEST(processor_time_is_a_difference)
{
	static const struct fact before[] = {{"a", "connected", 0, 1000000},
					     {"b", "connected", 0, 5}};
	static const struct fact after[] = {
		{"b", "connected", 0, 5}, {"a", "connected", 0, 1500000}, {"c", "connected", 0, 9}};
	MODEL(m);

	CHECK_EQ(mp_top_get_cpu(0, 1000000, 1000), 1000); /* one processor */
	CHECK_EQ(mp_top_get_cpu(0, 3000000, 1000), 3000);
	CHECK_EQ(mp_top_get_cpu(500, 400, 1000), 0); /* children that have ended */
	CHECK_EQ(mp_top_get_cpu(-1, 400, 1000), -1);
	CHECK_EQ(mp_top_get_cpu(0, 400, 0), -1);
	CHECK(take(&m, 10000, before, MP_ARRAY_LEN(before)));
	CHECK_EQ(m.cpu[0], -1);
	CHECK(take(&m, 12000, after, MP_ARRAY_LEN(after)));
	CHECK_EQ(m.cpu[0], 0);
	CHECK_EQ(m.cpu[1], 250);
	CHECK_EQ(m.cpu[2], -1);
	CHECK(take(&m, 12000, after, MP_ARRAY_LEN(after))); /* not measured again */
	CHECK_EQ(m.cpu[1], 250);
}
