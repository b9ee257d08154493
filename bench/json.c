/*
 * json.c - our JSON beside jansson, cJSON and json-c, in one run.
 * The machines are noisy, so the candidates take turns and the best round of each counts; what
 * matters is the ratio, not the nanoseconds. Texts are made here: a tools/list of about 1 MB with
 * realistic schemas, and a tools/call of about 350 bytes.
 */
#include <cjson/cJSON.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/jsonc.h"
#include "base/buf.h"
#include "base/mem.h"
#include "json/edit.h"
#include "json/tape.h"
#include "json/write.h"

static const char small[] =
	"{\"jsonrpc\":\"2.0\",\"id\":4711,\"method\":\"tools/call\",\"params\":{\"name\":"
	"\"search_code\",\"arguments\":{\"query\":\"struct mp_tape *t\",\"path\":\"src/json\","
	"\"case\":false,\"limit\":50,\"context\":{\"before\":2,\"after\":2},\"globs\":[\"*.c\",\"*."
	"h\","
	"\"!third_party/**\"],\"note\":\"caf\xc3\xa9 \\\"quoted\\\" and a "
	"line\\nbreak\"},\"_meta\":"
	"{\"progressToken\":17,\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}}}";

static void must(int r)
{
	if (r < 0) {
		fprintf(stderr, "bench: %s\n", mcpool_error_text(r));
		exit(1);
	}
}

static void write_property(struct mp_writer *w, const char *name, const char *type,
			   const char *description)
{
	mp_write_key(w, mp_str_of(name));
	mp_write_begin_object(w);
	mp_write_member_text(w, "type", mp_str_of(type));
	mp_write_member_text(w, "description", mp_str_of(description));
	mp_write_end_object(w);
}

static void write_tool(struct mp_writer *w, int i)
{
	char name[64];

	snprintf(name, sizeof(name), "repository_%d_search_code", i);
	mp_write_begin_object(w);
	mp_write_member_text(w, "name", mp_str_of(name));
	mp_write_member_text(w, "title", MP_STR("Search the code of a repository"));
	mp_write_member_text(
		w, "description",
		MP_STR("Finds \"words\" or a pattern in every file of the repository.\nReturns "
		       "path, "
		       "line and the text around it \xe2\x80\x94 at most `limit` hits, the best "
		       "first. Does not follow links and leaves out what .gitignore names."));
	mp_write_key(w, MP_STR("inputSchema"));
	mp_write_begin_object(w);
	mp_write_member_text(w, "$schema", MP_STR("http://json-schema.org/draft-07/schema#"));
	mp_write_member_text(w, "type", MP_STR("object"));
	mp_write_key(w, MP_STR("properties"));
	mp_write_begin_object(w);
	write_property(w, "query", "string", "What to look for; \\b and \\w work as usual");
	write_property(w, "path", "string", "Folder below which to look, e.g. src/");
	write_property(w, "caseSensitive", "boolean", "Whether upper and lower case differ");
	write_property(w, "limit", "integer", "How many hits to return");
	mp_write_key(w, MP_STR("context"));
	mp_write_begin_object(w);
	mp_write_member_i64(w, "minimum", 0);
	mp_write_member_i64(w, "maximum", 20 + i % 7);
	mp_write_member_i64(w, "default", 3);
	mp_write_end_object(w);
	mp_write_end_object(w);
	mp_write_member_raw(w, "required", MP_STR("[\"query\",\"path\"]"));
	mp_write_member_bool(w, "additionalProperties", false);
	mp_write_end_object(w);
	mp_write_member_raw(w, "annotations",
			    MP_STR("{\"readOnlyHint\":true,\"idempotentHint\":true,"
				   "\"openWorldHint\":false}"));
	mp_write_end_object(w);
}

/* indent NULL: as a server sends it; else: as a person keeps it in a file. */
static void make_list(struct mp_buf *out, const char *indent)
{
	struct mp_writer w;

	mp_write_init(&w, out, indent);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "jsonrpc", MP_STR("2.0"));
	mp_write_member_i64(&w, "id", 1);
	mp_write_key(&w, MP_STR("result"));
	mp_write_begin_object(&w);
	mp_write_key(&w, MP_STR("tools"));
	mp_write_begin_array(&w);
	for (int i = 0; out->len < MP_MIB(1); i++)
		write_tool(&w, i);
	mp_write_end_array(&w);
	mp_write_end_object(&w);
	mp_write_end_object(&w);
	must(mp_write_finish(&w));
	must(mp_buf_terminate(out));
}

/* --- the candidates ------------------------------------------------------------------------- */

static struct mp_tape tape, strict_tokens;
static struct mp_buf out;
static size_t sink; /* so that no work is optimised away */

static void ours_parse(struct mp_str s)
{
	must(mp_tape_parse(&tape, s, NULL));
	sink += tape.n;
}

static void ours_write(struct mp_str s)
{
	struct mp_writer w;

	must(mp_tape_parse(&tape, s, NULL));
	mp_buf_clear(&out);
	mp_write_init(&w, &out, NULL);
	mp_write_value(&w, &tape, MP_ROOT);
	must(mp_write_finish(&w));
	sink += out.len;
}

/* The slower way, token by token, which a text with spaces in it needs. */
static void ours_tokens(struct mp_str s)
{
	struct mp_writer w;

	must(mp_tape_parse(&strict_tokens, s, NULL));
	strict_tokens.loose = true;
	mp_buf_clear(&out);
	mp_write_init(&w, &out, NULL);
	mp_write_value(&w, &strict_tokens, MP_ROOT);
	must(mp_write_finish(&w));
	sink += out.len;
}

/* What a hub does with most messages: the envelope on the tape, the rest only checked. */
static void ours_envelope(struct mp_str s)
{
	static struct mp_tape shallow;

	if (!shallow.room)
		mp_tape_init(&shallow, 0);
	shallow.keep_depth = 2;
	must(mp_tape_parse(&shallow, s, NULL));
	sink += shallow.n;
}

static void jansson_parse(struct mp_str s)
{
	json_t *v = json_loadb(s.p, s.len, 0, NULL);

	sink += (size_t)json_typeof(v);
	json_decref(v);
}

static void jansson_write(struct mp_str s)
{
	json_t *v = json_loadb(s.p, s.len, 0, NULL);
	char *text = json_dumps(v, JSON_COMPACT);

	sink += (size_t)text[0];
	free(text);
	json_decref(v);
}

static void cjson_parse(struct mp_str s)
{
	cJSON *v = cJSON_ParseWithLength(s.p, s.len);

	sink += (size_t)v->type;
	cJSON_Delete(v);
}

static void cjson_write(struct mp_str s)
{
	cJSON *v = cJSON_ParseWithLength(s.p, s.len);
	char *text = cJSON_PrintUnformatted(v);

	sink += (size_t)text[0];
	free(text);
	cJSON_Delete(v);
}

static void jsonc_parse(struct mp_str s)
{
	sink += bench_jsonc_parse(s.p, s.len);
}

static void jsonc_write(struct mp_str s)
{
	sink += bench_jsonc_write(s.p, s.len);
}

static void edit(struct mp_str s)
{
	struct mp_str path[] = {MP_STR("result"), MP_STR("nextCursor")};

	mp_buf_clear(&out);
	must(mp_edit_set(s, path, MP_ARRAY_LEN(path), MP_STR("\"page 2\""), &out, NULL));
	sink += out.len;
}

/* --- measuring ------------------------------------------------------------------------------ */

struct candidate {
	const char *name;
	void (*run)(struct mp_str s);
	double best_ns;
};

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void one_round(struct candidate *c, struct mp_str s, double budget_ns)
{
	double start = now_ns(), spent;
	size_t times = 0, batch = s.len > 10000 ? 1 : 64;

	do {
		for (size_t i = 0; i < batch; i++)
			c->run(s);
		times += batch;
		spent = now_ns() - start;
	} while (spent < budget_ns);
	if (c->best_ns == 0 || spent / (double)times < c->best_ns)
		c->best_ns = spent / (double)times;
}

/* Ours first; the ratio is against the fastest of the others. */
static double compare(const char *title, struct candidate *c, size_t n, struct mp_str s, int rounds,
		      double budget_ns)
{
	double others = 0;

	for (int round = 0; round < rounds; round++)
		for (size_t i = 0; i < n; i++)
			one_round(&c[i], s, budget_ns);
	printf("\n%s, %zu bytes\n", title, s.len);
	for (size_t i = 0; i < n; i++) {
		printf("  %-28s %12.0f ns %9.0f MB/s", c[i].name, c[i].best_ns,
		       (double)s.len / c[i].best_ns * 1e3);
		printf("   %6.1fx\n", c[i].best_ns / c[0].best_ns);
		if (c[i].name[0] != 'm' && (others == 0 || c[i].best_ns < others))
			others = c[i].best_ns;
	}
	return others / c[0].best_ns;
}

int main(int argc, char **argv)
{
	bool quick = argc > 1 && strcmp(argv[1], "--quick") == 0;
	int rounds = quick ? 3 : 15;
	double budget = quick ? 8e6 : 60e6;
	struct mp_buf list, config;
	struct candidate parse[] = {{"mcpool", ours_parse, 0},
				    {"mcpool, envelope only", ours_envelope, 0},
				    {"cJSON", cjson_parse, 0},
				    {"json-c", jsonc_parse, 0},
				    {"jansson", jansson_parse, 0}};
	struct candidate again[MP_ARRAY_LEN(parse)];
	struct candidate both[] = {{"mcpool", ours_write, 0},
				   {"mcpool, token by token", ours_tokens, 0},
				   {"cJSON", cjson_write, 0},
				   {"json-c", jsonc_write, 0},
				   {"jansson", jansson_write, 0}};
	struct candidate both_again[MP_ARRAY_LEN(both)];
	struct candidate edits[] = {{"mcpool, parse", ours_parse, 0}, {"mcpool, edit", edit, 0}};
	double large_parse, large_both, small_parse, small_both;

	mp_tape_init(&tape, 0);
	mp_tape_init(&strict_tokens, 0);
	mp_buf_init(&out, MP_LIMIT_MESSAGE);
	mp_buf_init(&list, MP_LIMIT_MESSAGE);
	mp_buf_init(&config, MP_LIMIT_MESSAGE);
	make_list(&list, NULL);
	make_list(&config, "  ");
	memcpy(again, parse, sizeof(parse));
	memcpy(both_again, both, sizeof(both));

	printf("JSON, CPU time of the best of %d rounds; Nx: how many times as long as the first\n",
	       rounds);
	large_parse = compare("parse a tools/list", parse, MP_ARRAY_LEN(parse), mp_buf_get(&list),
			      rounds, budget);
	large_both = compare("parse and write a tools/list", both, MP_ARRAY_LEN(both),
			     mp_buf_get(&list), rounds, budget);
	small_parse = compare("parse a tools/call", again, MP_ARRAY_LEN(again),
			      (struct mp_str){small, sizeof(small) - 1}, rounds, budget / 4);
	small_both = compare("parse and write a tools/call", both_again, MP_ARRAY_LEN(both_again),
			     (struct mp_str){small, sizeof(small) - 1}, rounds, budget / 4);
	compare("set one value of a file", edits, MP_ARRAY_LEN(edits), mp_buf_get(&config), rounds,
		budget);
	printf("\nagainst the fastest of the three: 1 MB parse %.1fx, parse and write %.1fx "
	       "(wanted 8x);\n350 bytes parse %.1fx, parse and write %.1fx (wanted 4x); "
	       "an edit costs %.2f parses (wanted < 2)\n",
	       large_parse, large_both, small_parse, small_both,
	       edits[1].best_ns / edits[0].best_ns);
	mp_tape_done(&tape);
	mp_tape_done(&strict_tokens);
	mp_buf_done(&out);
	mp_buf_done(&list);
	mp_buf_done(&config);
	return sink == 0;
}
