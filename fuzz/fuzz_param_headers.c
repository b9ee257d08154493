/*
 * fuzz_param_headers.c - any tool and any arguments: what is made of them are headers, ours, one
 * line each, and numbers keep their value. The input: lines; the first is a tool, the second its
 * arguments.
 */
#include "fuzz.h"

#include "base/limits.h"
#include "client/param_headers.h"

static struct mp_str take_line(struct fuzz_input *in)
{
	const uint8_t *end = in->size ? memchr(in->data, '\n', in->size) : NULL;
	struct mp_str line = fuzz_take(in, end ? (size_t)(end - in->data) : in->size);

	if (end)
		(void)fuzz_byte(in);
	return line;
}

static void check_headers(const struct mp_http_fields *f)
{
	size_t n;
	const struct mp_http_header *h = mp_http_fields_get(f, &n);

	for (size_t i = 0; i < n; i++) {
		FUZZ_CHECK(mp_str_starts(h[i].name, MP_STR("Mcp-Param-")) && h[i].name.len > 10);
		for (size_t k = 0; k < h[i].name.len; k++)
			FUZZ_CHECK(h[i].name.p[k] > ' ' && h[i].name.p[k] < 127 &&
				   !strchr(":;,()<>@\\\"/[]?={}", h[i].name.p[k]));
		for (size_t k = 0; k < h[i].value.len; k++)
			FUZZ_CHECK(h[i].value.p[k] >= ' ' && h[i].value.p[k] < 127);
		FUZZ_CHECK(h[i].value.len && mp_str_trim(h[i].value).len == h[i].value.len);
		for (size_t k = 0; k < i; k++)
			FUZZ_CHECK(!mp_str_eq_nocase(h[i].name, h[k].name));
	}
}

static void check_numbers(struct mp_str text)
{
	struct mp_tape t;

	mp_tape_init(&t, 0);
	if (mp_tape_parse(&t, text, NULL) == 0)
		for (mp_value v = 0; v < t.n; v++) {
			char room[MP_PARAM_HEADER_NUMBER];
			struct mp_str is = mp_value_source(&t, v);
			struct mp_str plain;
			double a, b;

			if (!mp_value_is(&t, v, MP_TAPE_NUMBER))
				continue;
			plain = mp_param_header_write_number(is, room);
			if (plain.len == 0)
				continue;
			FUZZ_CHECK(plain.len <= MP_PARAM_HEADER_NUMBER);
			FUZZ_CHECK(mp_str_to_f64(is, &a) == 0 && mp_str_to_f64(plain, &b) == 0);
			FUZZ_CHECK(a == b);
		}
	mp_tape_done(&t);
}

static void call(const struct mp_param_headers *m, struct mp_str arguments)
{
	struct mp_http_fields f;
	struct mp_outgoing o = {.method = MP_METHOD_TOOLS_CALL, .name = MP_STR("t")};
	struct mp_buf text;

	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	mp_http_fields_init(&f);
	FUZZ_CHECK(mp_buf_add_str(&text, MP_STR("{\"name\":\"t\",\"arguments\":")) == 0);
	FUZZ_CHECK(mp_buf_add_str(&text, arguments) == 0);
	FUZZ_CHECK(mp_buf_add_str(&text, MP_STR("}")) == 0);
	o.params = mp_buf_get(&text);
	if (mp_param_headers_write(m, &o, &f) == 0)
		check_headers(&f);
	mp_http_fields_done(&f);
	mp_buf_done(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	struct mp_str tool = take_line(&in), arguments = take_line(&in);
	struct mp_param_headers m;
	const char *problem = NULL;

	if (size > 1 << 16)
		return 0;
	mp_param_headers_init(&m);
	if (mp_param_headers_read(&m, MP_STR("t"), tool, &problem) == 0) {
		FUZZ_CHECK(!problem || m.tools.len == 0);
		call(&m, arguments);
	}
	check_numbers(arguments);
	mp_param_headers_done(&m);
	return 0;
}
