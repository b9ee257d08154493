/*
 * metric_text.c - writes metrics as Prometheus reads them.
 */
#include "base/metric_text.h"

#include <inttypes.h>
#include <stdio.h>

void mp_metric_text_init(struct mp_metric_text *t, struct mp_buf *out)
{
	*t = (struct mp_metric_text){.out = out};
}

static void metric_add(struct mp_metric_text *t, struct mp_str text)
{
	if (t->error == 0)
		t->error = mp_buf_add_str(t->out, text);
}

void mp_metric_family(struct mp_metric_text *t, const char *name, const char *type,
		      const char *help)
{
	t->family = name;
	if (t->error == 0)
		t->error =
			mp_buf_addf(t->out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

void mp_metric_begin(struct mp_metric_text *t, const char *suffix)
{
	t->has_labels = false;
	metric_add(t, mp_str_of(t->family));
	metric_add(t, mp_str_of(suffix));
}

/* A backslash, a quote and a line feed would end the value or the line. */
static void metric_add_escaped(struct mp_metric_text *t, struct mp_str value)
{
	for (size_t i = 0; i < value.len; i++) {
		const char *c = value.p + i;

		if (*c == '\n')
			metric_add(t, MP_STR("\\n"));
		else if (*c == '\\' || *c == '"')
			metric_add(t, (struct mp_str){(char[]){'\\', *c}, 2});
		else
			metric_add(t, (struct mp_str){c, 1});
	}
}

void mp_metric_label(struct mp_metric_text *t, const char *name, struct mp_str value)
{
	metric_add(t, t->has_labels ? MP_STR(",") : MP_STR("{"));
	t->has_labels = true;
	metric_add(t, mp_str_of(name));
	metric_add(t, MP_STR("=\""));
	metric_add_escaped(t, value);
	metric_add(t, MP_STR("\""));
}

static void metric_end(struct mp_metric_text *t, const char *value)
{
	metric_add(t, t->has_labels ? MP_STR("} ") : MP_STR(" "));
	metric_add(t, mp_str_of(value));
	metric_add(t, MP_STR("\n"));
}

void mp_metric_count(struct mp_metric_text *t, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	metric_end(t, text);
}

void mp_metric_write_seconds(int64_t us, char ret_text[MP_METRIC_SECONDS])
{
	size_t n;

	us = us < 0 ? 0 : us;
	n = (size_t)snprintf(ret_text, MP_METRIC_SECONDS, "%" PRId64 ".%06d", us / 1000000,
			     (int)(us % 1000000));
	while (ret_text[n - 1] == '0')
		n--;
	ret_text[ret_text[n - 1] == '.' ? n - 1 : n] = '\0';
}

void mp_metric_seconds(struct mp_metric_text *t, int64_t us)
{
	char text[MP_METRIC_SECONDS];

	mp_metric_write_seconds(us, text);
	metric_end(t, text);
}

int mp_metric_text_finish(const struct mp_metric_text *t)
{
	return t->error;
}
