/* test_typed.c - key=value words become arguments, typed by the schema. */
#include "test.h"

#include "cli/display/cli.h"

#define SCHEMA                                                                                 \
	"{\"type\":\"object\",\"properties\":{\"s\":{\"type\":\"string\"},\"i\":{\"type\":"    \
	"\"integer\"},"                                                                        \
	"\"n\":{\"type\":\"number\"},\"b\":{\"type\":\"boolean\"},\"a\":{\"type\":\"array\"}," \
	"\"o\":{\"type\":\"object\"},\"z\":{\"type\":\"null\"},\"sn\":{\"type\":[\"string\","  \
	"\"null\"]},"                                                                          \
	"\"in\":{\"type\":[\"integer\",\"null\"]},\"u\":{\"anyOf\":[{\"type\":\"number\"},"    \
	"{\"type\":\"boolean\"}]},\"e\":{\"enum\":[\"x\",1]},\"x\":true}}"

static const struct {
	const char *words[3];
	const char *given;
	const char *want; /* NULL: refused */
} rows[] = {
	{{NULL}, "", "{}"},
	{{"s=hi"}, "", "{\"s\":\"hi\"}"},
	{{"s=7"}, "", "{\"s\":\"7\"}"},
	{{"s=true"}, "", "{\"s\":\"true\"}"},
	{{"s="}, "", "{\"s\":\"\"}"},
	{{"s=a=b"}, "", "{\"s\":\"a=b\"}"},
	{{"s=\"quoted\""}, "", "{\"s\":\"\\\"quoted\\\"\"}"},
	{{"s=line\nbreak"}, "", "{\"s\":\"line\\nbreak\"}"},
	{{"i=7"}, "", "{\"i\":7}"},
	{{"i=-12345678901234567890"}, "", "{\"i\":-12345678901234567890}"},
	{{"i=7.5"}, "", NULL},
	{{"i=seven"}, "", NULL},
	{{"i="}, "", NULL},
	{{"n=7.5"}, "", "{\"n\":7.5}"},
	{{"n=7"}, "", "{\"n\":7}"},
	{{"n=1e3"}, "", "{\"n\":1e3}"},
	{{"n=0x10"}, "", NULL},
	{{"b=true"}, "", "{\"b\":true}"},
	{{"b=yes"}, "", NULL},
	{{"a=[1,2]"}, "", "{\"a\":[1,2]}"},
	{{"a=1"}, "", NULL},
	{{"o={\"k\":1}"}, "", "{\"o\":{\"k\":1}}"},
	{{"o={"}, "", NULL},
	{{"z=null"}, "", "{\"z\":null}"},
	{{"sn=null"}, "", "{\"sn\":\"null\"}"},
	{{"sn:=null"}, "", "{\"sn\":null}"},
	{{"in=null"}, "", "{\"in\":null}"},
	{{"u=2"}, "", "{\"u\":2}"},
	{{"u=true"}, "", "{\"u\":true}"},
	{{"u=text"}, "", NULL},
	/* where the schema says nothing, by what it looks like */
	{{"x=3"}, "", "{\"x\":3}"},
	{{"x=three"}, "", "{\"x\":\"three\"}"},
	{{"other={\"a\":[]}"}, "", "{\"other\":{\"a\":[]}}"},
	{{"s:=7"}, "", "{\"s\":7}"},
	{{"s:=\"x\""}, "", "{\"s\":\"x\"}"},
	{{"s:=x"}, "", NULL},
	{{"s:=\"x"}, "", NULL},
	/* with --args */
	{{"s=new"}, "{\"s\":\"old\",\"k\":1.0}", "{\"k\":1.0,\"s\":\"new\"}"},
	{{NULL}, "{\"big\":12345678901234567890.0}", "{\"big\":12345678901234567890.0}"},
	{{NULL}, "[1]", NULL},
	{{NULL}, "{", NULL},
	/* no words at all */
	{{"word"}, "", NULL},
	{{"=x"}, "", NULL},
	{{"s=1", "s=2"}, "", NULL},
	{{"s=1", "i=2"}, "", "{\"s\":\"1\",\"i\":2}"},
	{{"s=\xff"}, "", NULL},
};

TEST(words_become_arguments)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		MP_CLEANUP(mp_buf_done) struct mp_buf out;
		struct mcpool_error why;
		int n = 0, r;

		mp_buf_init(&out, 1000);
		while (rows[i].words[n])
			n++;
		r = mp_typed_build(MP_STR(SCHEMA), mp_str_of(rows[i].given),
				   (char *const *)rows[i].words, n, &out, &why);
		if (!rows[i].want) {
			CHECK_EQ(r, MCPOOL_EINVAL);
			CHECK(why.message[0]);
			continue;
		}
		CHECK_EQ(r, 0);
		CHECK_EQ(mp_buf_terminate(&out), 0);
		CHECK_TEXT(out.data, rows[i].want);
	}
}

TEST(a_refusal_says_what_is_wanted)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	struct mcpool_error why;
	char *words[] = {"i=seven"};

	mp_buf_init(&out, 1000);
	CHECK_EQ(mp_typed_build(MP_STR(SCHEMA), MP_STR(""), words, 1, &out, &why), MCPOOL_EINVAL);
	CHECK_TEXT(why.message, "'i' takes a whole number, not 'seven'");
}

TEST(prompts_take_texts_only)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	char *words[] = {"age=7"};

	mp_buf_init(&out, 1000);
	CHECK_EQ(mp_typed_build(MP_STR("{\"additionalProperties\":{\"type\":\"string\"}}"),
				MP_STR(""), words, 1, &out, NULL),
		 0);
	CHECK_STR(mp_buf_get(&out), "{\"age\":\"7\"}");
}

static struct mcpool_error why;

static int checked(const char *schema, const char *arguments)
{
	return mp_typed_check(mp_str_of(schema), mp_str_of(arguments), &why);
}

/* use-A19: refused is what the schema refuses for sure; what is in doubt goes to the server. */
TEST(arguments_are_checked_against_the_schema)
{
	static const char two[] = "{\"type\":\"object\",\"properties\":{\"a\":{},\"b\":{}},"
				  "\"required\":[\"a\",\"b\"]}";
	static const char closed[] =
		"{\"properties\":{\"path\":{}},\"additionalProperties\":false}";

	CHECK_EQ(checked(two, "{\"a\":1,\"b\":null}"), 0);
	CHECK_EQ(checked(two, "{\"a\":1,\"b\":2,\"c\":3}"), 0);
	CHECK_EQ(checked(two, "{\"a\":1,\"c\":2}"), MCPOOL_EINVAL);
	CHECK(strstr(why.message, "needs 'b'; 'c' is not one of its arguments (a, b)"));
	CHECK_EQ(checked(closed, "{\"paht\":1}"), MCPOOL_EINVAL);
	CHECK_EQ(checked(closed, "{}"), 0);
	CHECK_EQ(checked("{\"properties\":{\"a\":{}},\"additionalProperties\":false,\"anyOf\":[]}",
			 "{\"b\":1}"),
		 0);
	CHECK_EQ(checked("{\"properties\":{\"a\":{\"default\":1}},\"required\":[\"a\"]}", "{}"), 0);
	CHECK_EQ(checked("true", "{\"b\":1}"), 0);
	CHECK_EQ(checked("", "{}"), 0);
}
