/*
 * test_metric_text.c - metrics as text: escapes, values, what does not fit.
 */
#include "test.h"

#include "base/error.h"
#include "base/metric_text.h"

TEST(a_series_is_one_line)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	struct mp_metric_text m;

	mp_buf_init(&out, 10000);
	mp_metric_text_init(&m, &out);
	mp_metric_family(&m, "a_total", "counter", "What a is.");
	mp_metric_begin(&m, "");
	mp_metric_count(&m, UINT64_MAX);
	mp_metric_begin(&m, "");
	mp_metric_label(&m, "x", MP_STR("1"));
	mp_metric_label(&m, "y", MP_STR(""));
	mp_metric_seconds(&m, 1500000);
	CHECK_EQ(mp_metric_text_finish(&m), 0);
	CHECK_STR(mp_buf_get(&out), "# HELP a_total What a is.\n"
				    "# TYPE a_total counter\n"
				    "a_total 18446744073709551615\n"
				    "a_total{x=\"1\",y=\"\"} 1.5\n");
}

TEST(values_of_labels_are_escaped)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	struct mp_metric_text m;

	mp_buf_init(&out, 10000);
	mp_metric_text_init(&m, &out);
	mp_metric_family(&m, "a", "gauge", "A.");
	mp_metric_begin(&m, "");
	mp_metric_label(&m, "x", MP_STR("C:\\a \"b\"\nc\xc3\xa4"));
	mp_metric_count(&m, 0);
	CHECK_EQ(mp_metric_text_finish(&m), 0);
	CHECK_STR(mp_buf_get(&out), "# HELP a A.\n# TYPE a gauge\n"
				    "a{x=\"C:\\\\a \\\"b\\\"\\nc\xc3\xa4\"} 0\n");
}

TEST(seconds_have_no_zeros_at_their_end)
{
	static const struct {
		int64_t us;
		const char *text;
	} cases[] = {
		{0, "0"},         {-5, "0"},
		{1, "0.000001"},  {256, "0.000256"},
		{1000000, "1"},   {67108864, "67.108864"},
		{20000000, "20"}, {INT64_MAX, "9223372036854.775807"},
	};
	char text[MP_METRIC_SECONDS];

	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++) {
		mp_metric_write_seconds(cases[i].us, text);
		CHECK_TEXT(text, cases[i].text);
	}
}

TEST(what_does_not_fit_is_an_error)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	struct mp_metric_text m;

	mp_buf_init(&out, 20);
	mp_metric_text_init(&m, &out);
	mp_metric_family(&m, "a_long_name_for_a_metric", "gauge", "Help.");
	mp_metric_begin(&m, "");
	mp_metric_label(&m, "x", MP_STR("1"));
	mp_metric_count(&m, 1);
	CHECK_EQ(mp_metric_text_finish(&m), MCPOOL_ELIMIT);
}
