/* test_param_headers.c - x-mcp-header: which annotations are right, and what calls then carry. */
#include "test.h"

#include <stdio.h>

#include "base/limits.h"
#include "base/mem.h"
#include "client/param_headers.h"
#include "outgoing.h"

#define SCHEMA(properties) "{\"type\":\"object\",\"properties\":{" properties "}}"
#define NOTE(type, name)   "{\"type\":\"" type "\",\"x-mcp-header\":\"" name "\"}"

struct desk {
	struct mp_param_headers m;
	struct mp_http_fields f;
};

static void desk_done(struct desk *d)
{
	mp_param_headers_done(&d->m);
	mp_http_fields_done(&d->f);
}

static void desk_init(struct desk *d)
{
	mp_param_headers_init(&d->m);
	mp_http_fields_init(&d->f);
}

static int read_tool(struct desk *d, const char *schema, const char **ret_problem)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf tool;
	int r;

	mp_buf_init(&tool, MP_LIMIT_MESSAGE);
	r = mp_buf_addf(&tool, "{\"name\":\"t\",\"inputSchema\":%s}", schema);
	return r < 0 ? r
		     : mp_param_headers_read(&d->m, MP_STR("t"), mp_buf_get(&tool), ret_problem);
}

/* The headers as lines. */
static int call(struct desk *d, const char *name, const char *arguments, struct mp_buf *ret)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	MP_CLEANUP(outgoing_text_done) struct outgoing_text x = {0};
	const struct mp_http_header *h;
	size_t n;
	int r;

	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	mp_buf_clear(ret);
	mp_http_fields_clear(&d->f);
	r = mp_buf_addf(&text,
			"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
			"\"name\":\"%s\"%s%s}}",
			name, arguments ? ",\"arguments\":" : "", arguments ? arguments : "");
	outgoing_text_init(&x, mp_buf_get(&text));
	if (r == 0)
		r = mp_param_headers_write(&d->m, &x.o, &d->f);
	h = mp_http_fields_get(&d->f, &n);
	for (size_t i = 0; i < n && r == 0; i++)
		r = mp_buf_addf(ret, "%.*s: %.*s\n", MP_STR_ARGS(h[i].name),
				MP_STR_ARGS(h[i].value));
	return r;
}

/* --- annotations ---------------------------------------------------------------------------- */

/* V36 S35 */
TEST(annotations_of_every_kind)
{
	static const struct {
		const char *schema, *problem; /* a part of it; NULL: it is fine */
	} rows[] = {
		{SCHEMA("\"a\":{\"type\":\"string\"}"), NULL},
		{SCHEMA("\"a\":" NOTE("string", "A")), NULL},
		{SCHEMA("\"a\":" NOTE("integer", "A")), NULL},
		{SCHEMA("\"a\":" NOTE("boolean", "A")), NULL},
		{SCHEMA("\"a\":" NOTE("string", "!#$%&'*+-.^_`|~09azAZ")), NULL},
		{SCHEMA("\"a\":" NOTE("string", "A") ",\"b\":" NOTE("string", "B")), NULL},
		{SCHEMA("\"o\":" SCHEMA("\"p\":" SCHEMA("\"a\":" NOTE("string", "A")))), NULL},
		{"true", NULL},
		{"{}", NULL},
		/* The word alone does not annotate. */
		{SCHEMA("\"x-mcp-header\":{\"type\":\"number\"}"), NULL},
		{SCHEMA("\"a\":{\"enum\":[{\"x-mcp-header\":1}],\"default\":{\"x-mcp-header\":"
			"1},\"const\":{\"x-mcp-header\":1},\"examples\":[{\"x-mcp-header\":1}]}"),
		 NULL},
		{SCHEMA("\"a\":{\"description\":\"x-mcp-header\"}"), NULL},
		/* On what cannot be written into a header. */
		{SCHEMA("\"a\":" NOTE("number", "A")), "string, integer or boolean"},
		{SCHEMA("\"a\":" NOTE("object", "A")), "string, integer or boolean"},
		{SCHEMA("\"a\":" NOTE("array", "A")), "string, integer or boolean"},
		{SCHEMA("\"a\":" NOTE("null", "A")), "string, integer or boolean"},
		{SCHEMA("\"a\":{\"x-mcp-header\":\"A\"}"), "string, integer or boolean"},
		{SCHEMA("\"a\":{\"type\":[\"string\",\"null\"],\"x-mcp-header\":\"A\"}"),
		 "string, integer or boolean"},
		/* Names that are none. */
		{SCHEMA("\"a\":" NOTE("string", "")), "not a header name"},
		{SCHEMA("\"a\":" NOTE("string", "A B")), "not a header name"},
		{SCHEMA("\"a\":" NOTE("string", "A:")), "not a header name"},
		{SCHEMA("\"a\":" NOTE("string", "A\\r\\nHost")), "not a header name"},
		{SCHEMA("\"a\":" NOTE("string", "A\\u0000")), "not a header name"},
		{SCHEMA("\"a\":" NOTE("string", "\\u00c4")), "not a header name"},
		{SCHEMA("\"a\":" NOTE("string", "A\\\"")), "not a header name"},
		{SCHEMA("\"a\":" NOTE("string", "A/B")), "not a header name"},
		{SCHEMA("\"a\":" NOTE("string", "(A)")), "not a header name"},
		{SCHEMA("\"a\":" NOTE("string", "A\\u007f")), "not a header name"},
		{SCHEMA("\"a\":{\"type\":\"string\",\"x-mcp-header\":null}"), "not a text"},
		{SCHEMA("\"a\":{\"type\":\"string\",\"x-mcp-header\":true}"), "not a text"},
		{SCHEMA("\"a\":{\"type\":\"string\",\"x-mcp-header\":{}}"), "not a text"},
		/* Two of a name. */
		{SCHEMA("\"a\":" NOTE("string", "A") ",\"b\":" NOTE("string", "A")), "the same"},
		{SCHEMA("\"a\":" NOTE("string", "Ab") ",\"b\":" NOTE("string", "aB")), "the same"},
		{SCHEMA("\"a\":" NOTE("string",
				      "A") ",\"o\":" SCHEMA("\"a\":" NOTE("string", "a"))),
		 "the same"},
		/* Where no argument always is. */
		{"{\"type\":\"string\",\"x-mcp-header\":\"A\"}", "fixed argument"},
		{SCHEMA("\"a\":{\"items\":" NOTE("string", "A") "}"), "fixed argument"},
		{SCHEMA("\"a\":{\"items\":[" NOTE("string", "A") "]}"), "fixed argument"},
		{SCHEMA("\"a\":{\"prefixItems\":[" NOTE("string", "A") "]}"), "fixed argument"},
		{SCHEMA("\"a\":{\"contains\":" NOTE("string", "A") "}"), "fixed argument"},
		{SCHEMA("\"a\":{\"additionalProperties\":" NOTE("string", "A") "}"),
		 "fixed argument"},
		{SCHEMA("\"a\":{\"patternProperties\":{\"x\":" NOTE("string", "A") "}}"),
		 "fixed argument"},
		{SCHEMA("\"a\":{\"dependentSchemas\":{\"x\":" NOTE("string", "A") "}}"),
		 "fixed argument"},
		{SCHEMA("\"a\":{\"oneOf\":[{}," NOTE("string", "A") "]}"), "fixed argument"},
		{SCHEMA("\"a\":{\"anyOf\":[" SCHEMA("\"b\":" NOTE("string", "A")) "]}"),
		 "fixed argument"},
		{SCHEMA("\"a\":{\"allOf\":[" NOTE("string", "A") "]}"), "fixed argument"},
		{SCHEMA("\"a\":{\"not\":" NOTE("string", "A") "}"), "fixed argument"},
		{SCHEMA("\"a\":{\"if\":" NOTE("string", "A") "}"), "fixed argument"},
		{SCHEMA("\"a\":{\"then\":" NOTE("string", "A") "}"), "fixed argument"},
		{SCHEMA("\"a\":{\"else\":" NOTE("string", "A") "}"), "fixed argument"},
		{"{\"$defs\":{\"x\":" NOTE("string", "A") "}}", "fixed argument"},
		{"{\"definitions\":{\"x\":" NOTE("string", "A") "}}", "fixed argument"},
		{"{\"x-mcp\\u002dheader\":\"A\"}", "fixed argument"}, /* however it is spelled */
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		MP_CLEANUP(desk_done) struct desk d;
		const char *problem = NULL;

		desk_init(&d);
		CHECK_EQ(read_tool(&d, rows[i].schema, &problem), 0);
		if (!problem != !rows[i].problem)
			CHECK_TEXT(rows[i].schema, problem ? problem : "a problem");
		if (problem && !strstr(problem, rows[i].problem))
			CHECK_TEXT(problem, rows[i].problem);
		CHECK(!problem || d.m.tools.len == 0);
	}
}

HEAVY_TEST(annotations_are_limited)
{
	MP_CLEANUP(desk_done) struct desk d;
	MP_CLEANUP(mp_buf_done) struct mp_buf schema;
	const char *problem = NULL;

	desk_init(&d);
	mp_buf_init(&schema, MP_LIMIT_MESSAGE);
	CHECK_EQ(mp_buf_add_str(&schema, MP_STR("{\"properties\":{")), 0);
	for (int i = 0; i <= MP_PARAM_HEADERS_MAX; i++)
		CHECK_EQ(mp_buf_addf(&schema,
				     "%s\"p%d\":{\"type\":\"string\",\"x-mcp-header\":\"H%d\"}",
				     i ? "," : "", i, i),
			 0);
	CHECK_EQ(mp_buf_add(&schema, "}}", 3), 0);
	CHECK_EQ(read_tool(&d, schema.data, &problem), 0);
	CHECK(problem && strstr(problem, "too many"));
	/* The names of all tools together. */
	for (int i = 0; i < 100000; i++) {
		char name[40];

		snprintf(name, sizeof(name), "tool-%d", i);
		CHECK_EQ(mp_param_headers_read(&d.m, mp_str_of(name),
					       MP_STR("{\"inputSchema\":" SCHEMA(
						       "\"a\":" NOTE("string", "A")) "}"),
					       &problem),
			 0);
		if (problem)
			break;
	}
	CHECK(problem && strstr(problem, "no room"));
	CHECK(d.m.tools.len <= MP_LIMIT_TOOLS);
}

/* --- values --------------------------------------------------------------------------------- */

/* V36 */
/* A value in the body, and the same in the header. */
TEST(values_of_every_kind)
{
	static const struct {
		const char *value, *header; /* NULL: there is none */
	} rows[] = {
		{"\"us-west1\"", "us-west1"},
		{"\"us west 1\"", "us west 1"},
		{"\"!~ }{\\\"\\\\\"", "!~ }{\"\\"},
		{"\"\\u0041\"", "A"},
		{"\"a,b;c=d:e\"", "a,b;c=d:e"},
		{"\"true\"", "true"},
		{"\"42\"", "42"},
		{"\"=?\"", "=?"},
		{"\"x=?base64?eA==?=\"", "x=?base64?eA==?="},
		/* Texts that would not arrive. */
		{"\"\"", "=?base64?"
			 "?="},
		{"\" a\"", "=?base64?IGE=?="},
		{"\"a \"", "=?base64?YSA=?="},
		{"\"\\ta\"", "=?base64?CWE=?="},
		{"\"a\\tb\"", "=?base64?YQli?="},
		{"\"a\\nb\"", "=?base64?YQpi?="},
		{"\"a\\r\\nHost: b\"", "=?base64?YQ0KSG9zdDogYg==?="},
		{"\"\\u0000\"", "=?base64?AA==?="},
		{"\"\\u007f\"", "=?base64?fw==?="},
		{"\"\\u00e9\"", "=?base64?w6k=?="},
		{"\"\xc3\xa9\"", "=?base64?w6k=?="},
		{"\"Hello, \\u4e16\\u754c\"", "=?base64?SGVsbG8sIOS4lueVjA==?="},
		{"\"\\ud83d\\ude00\"", "=?base64?8J+YgA==?="},
		{"\"\\ud83d\"", "=?base64?77+9?="},
		/* Those that would be taken for what they are not. */
		{"\"=?base64?eA==?=\"", "=?base64?PT9iYXNlNjQ/ZUE9PT89?="},
		{"\"=?base64?\"", "=?base64?PT9iYXNlNjQ/?="},
		/* Numbers in plain digits. */
		{"0", "0"},
		{"-0", "0"},
		{"0.0", "0"},
		{"-0.0e5", "0"},
		{"0e-999999999", "0"},
		{"42", "42"},
		{"-42", "-42"},
		{"42.0", "42"},
		{"1e2", "100"},
		{"1E+2", "100"},
		{"100e-2", "1"},
		{"1200e-1", "120"},
		{"1.5e1", "15"},
		{"-1.20e3", "-1200"},
		{"0.001e3", "1"},
		{"9007199254740991", "9007199254740991"},
		{"-9007199254740991", "-9007199254740991"},
		{"9007199254740991.000", "9007199254740991"},
		{"90071992547409.91e2", "9007199254740991"},
		{"9007199254740992", NULL},
		{"-9007199254740992", NULL},
		{"1e16", NULL},
		{"99999999999999999999", NULL},
		{"1e999999999", NULL},
		{"1e99999999999999999999", NULL},
		/* No integers, but what is in the body is in the header. */
		{"3.5", "3.5"},
		{"-3.50", "-3.5"},
		{"0.1", "0.1"},
		{"1.5e-7", "0.00000015"},
		{"12345.678e1", "123456.78"},
		{"1e-400", NULL},
		{"true", "true"},
		{"false", "false"},
		{"null", NULL},
		{"{}", NULL},
		{"[]", NULL},
		{"[\"a\"]", NULL},
		{"{\"a\":\"b\"}", NULL},
	};
	MP_CLEANUP(desk_done) struct desk d;
	MP_CLEANUP(mp_buf_done) struct mp_buf got;
	const char *problem;

	desk_init(&d);
	mp_buf_init(&got, MP_LIMIT_MESSAGE);
	CHECK_EQ(read_tool(&d, SCHEMA("\"a\":" NOTE("string", "X")), &problem), 0);
	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		char arguments[200], want[200] = "";

		snprintf(arguments, sizeof(arguments), "{\"b\":1,\"a\":%s}", rows[i].value);
		if (rows[i].header)
			snprintf(want, sizeof(want), "Mcp-Param-X: %s\n", rows[i].header);
		CHECK_EQ(call(&d, "t", arguments, &got), 0);
		if (!mp_str_eq(mp_buf_get(&got), mp_str_of(want)))
			CHECK_TEXT(rows[i].value, rows[i].header ? rows[i].header : "nothing");
	}
}

TEST(long_numbers_are_not_cut)
{
	char number[600], room[MP_PARAM_HEADER_NUMBER];

	memset(number, '1', sizeof(number));
	number[1] = '.';
	CHECK_EQ(mp_param_header_write_number((struct mp_str){number, 600}, room).len, 0);
	CHECK_EQ(mp_param_header_write_number((struct mp_str){number, 300}, room).len, 300);
	memset(number, '0', sizeof(number));
	number[1] = '.';
	number[349] = '5';
	CHECK_EQ(mp_param_header_write_number((struct mp_str){number, 350}, room).len, 350);
	number[349] = '0';
	number[370] = '5';
	CHECK_EQ(mp_param_header_write_number((struct mp_str){number, 371}, room).len, 0);
}

/* --- calls ---------------------------------------------------------------------------------- */

/* V36 */
TEST(arguments_are_found_where_the_schema_says)
{
	static const struct {
		const char *arguments, *headers;
	} rows[] = {
		{NULL, ""},
		{"{}", ""},
		{"[]", ""},
		{"7", ""},
		{"{\"a\":1}", "Mcp-Param-A: 1\n"},
		{"{\"b\":1,\"Host\":\"x\",\"Authorization\":\"y\"}", ""},
		{"{\"o\":{\"a\":\"x\"}}", "Mcp-Param-Deep: x\n"},
		{"{\"o\":{\"a\":\"x\",\"p\":{\"a\":\"y\"}},\"a\":\"z\"}",
		 "Mcp-Param-A: z\nMcp-Param-Deep: x\n"},
		{"{\"o\":[{\"a\":\"x\"}]}", ""},
		{"{\"o\":\"a\"}", ""},
		{"{\"\\u0061\":1}", "Mcp-Param-A: 1\n"},
		{"{\"o\":{\"Content-Length\":\"7\"}}", "Mcp-Param-Content-Length: 7\n"},
	};
	MP_CLEANUP(desk_done) struct desk d;
	MP_CLEANUP(mp_buf_done) struct mp_buf got;
	const char *problem;

	desk_init(&d);
	mp_buf_init(&got, MP_LIMIT_MESSAGE);
	CHECK_EQ(read_tool(&d,
			   SCHEMA("\"a\":" NOTE("string", "A") ",\"o\":" SCHEMA(
				   "\"a\":" NOTE("string", "Deep") ",\"Content-Length\":" NOTE(
					   "string", "Content-Length"))),
			   &problem),
		 0);
	CHECK(!problem);
	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		CHECK_EQ(call(&d, "t", rows[i].arguments, &got), 0);
		if (!mp_str_eq(mp_buf_get(&got), mp_str_of(rows[i].headers)))
			CHECK_TEXT(rows[i].arguments, rows[i].headers);
	}
	CHECK_EQ(call(&d, "u", "{\"a\":1}", &got), 0); /* an unknown tool */
	CHECK_EQ(got.len, 0);
	CHECK_EQ(call(&d, "\\u0074", "{\"a\":1}", &got), 0);
	CHECK_STR(mp_buf_get(&got), "Mcp-Param-A: 1\n");
}

HEAVY_TEST(arguments_too_large_for_headers)
{
	MP_CLEANUP(desk_done) struct desk d;
	MP_CLEANUP(mp_buf_done) struct mp_buf got;
	MP_CLEANUP(mp_buf_done) struct mp_buf large;
	const char *problem;

	desk_init(&d);
	mp_buf_init(&got, MP_LIMIT_MESSAGE);
	mp_buf_init(&large, MP_LIMIT_MESSAGE);
	CHECK_EQ(read_tool(&d, SCHEMA("\"a\":" NOTE("string", "A")), &problem), 0);
	CHECK_EQ(mp_buf_addf(&large, "{\"a\":\"%0100000d\"}", 1), 0);
	CHECK_EQ(mp_buf_terminate(&large), 0);
	CHECK_EQ(call(&d, "t", large.data, &got), MCPOOL_ETOO_LARGE);
}
