/*
 * fuzz_era.c - the codecs of both eras: what we write can be read, and no answer, however hostile,
 * is read as something it does not say.
 */
#include "fuzz.h"

#include "base/limits.h"
#include "rpc/era.h"

enum { ALL_OFFERS = MP_OFFERS_RESOURCES_CHANGES * 2 - 1 };

/* --- what they say -------------------------------------------------------------------------- */

static void check_hint(struct mp_cache_hint hint)
{
	FUZZ_CHECK(hint.ttl_ms >= 0);
}

static void check_hello(const struct mp_hello *h)
{
	FUZZ_CHECK(mp_utf8_valid(h->name) && mp_utf8_valid(h->title));
	FUZZ_CHECK(mp_utf8_valid(h->server_version) && mp_utf8_valid(h->instructions));
	FUZZ_CHECK((h->offers & ~(unsigned)ALL_OFFERS) == 0);
	FUZZ_CHECK(h->offers == 0 || h->capabilities.len >= 2);
	FUZZ_CHECK(!(h->offers & MP_OFFERS_TOOLS_CHANGES) || h->offers & MP_OFFERS_TOOLS);
	FUZZ_CHECK(!(h->offers & MP_OFFERS_PROMPTS_CHANGES) || h->offers & MP_OFFERS_PROMPTS);
	FUZZ_CHECK(!(h->offers & MP_OFFERS_SUBSCRIBE) || h->offers & MP_OFFERS_RESOURCES);
	check_hint(h->cache);
}

static void read_hellos(const struct mp_message *m, struct mp_arena *arena)
{
	struct mcpool_error error = {0};
	struct mp_hello hello;
	int r = mp_legacy_read_initialize(m, arena, &hello, &error);

	FUZZ_CHECK(r == 0 || (error.code == r && error.message[0]));
	if (r == 0) {
		FUZZ_CHECK(hello.era == MP_ERA_LEGACY && mp_legacy_knows(hello.version));
		check_hello(&hello);
	}
	error = (struct mcpool_error){0};
	r = mp_modern_read_discover(m, arena, &hello, &error);
	FUZZ_CHECK(r == 0 || (error.code == r && error.message[0]));
	if (r == 0) {
		FUZZ_CHECK(hello.era == MP_ERA_MODERN);
		FUZZ_CHECK(mp_str_eq(hello.version, MP_STR(MP_MODERN_VERSION)));
		check_hello(&hello);
	}
}

static void read_result(const struct mp_message *m)
{
	struct mp_result result;

	mp_modern_read_result(m, &result);
	check_hint(result.cache);
	if (result.kind == MP_RESULT_INPUT_REQUIRED) {
		FUZZ_CHECK(result.input_requests.len || result.request_state.len);
		FUZZ_CHECK(!result.input_requests.len || result.input_requests.p[0] == '{');
		FUZZ_CHECK(!result.request_state.len || result.request_state.p[0] == '"');
	}
	if (result.kind == MP_RESULT_COMPLETE)
		FUZZ_CHECK(!result.input_requests.len && !result.request_state.len);
}

static void read_message(const struct mp_message *m)
{
	struct mp_arena arena;
	bool is_refusal;

	mp_arena_init(&arena, MP_KIB(64));
	read_hellos(m, &arena);
	read_result(m);
	if (mp_modern_may_retry(m, &is_refusal))
		FUZZ_CHECK(is_refusal);
	FUZZ_CHECK(is_refusal == (mp_error_read_code(m) == -32022));
	FUZZ_CHECK(mp_utf8_valid(mp_error_read_words(m, &arena)));
	mp_arena_done(&arena);
}

/* The same bytes as a result, as the data of an error, and as params. */
static void read_as(const char *before, struct mp_str json, const char *behind)
{
	struct mp_message m;
	struct mp_tape tape;
	struct mp_buf text;

	mp_buf_init(&text, MP_MIB(1));
	mp_message_tape_init(&tape);
	FUZZ_CHECK(mp_buf_add_str(&text, mp_str_of(before)) == 0);
	FUZZ_CHECK(mp_buf_add_str(&text, json) == 0);
	FUZZ_CHECK(mp_buf_add_str(&text, mp_str_of(behind)) == 0);
	if (mp_message_scan(&tape, mp_buf_get(&text), &m, NULL) == 0)
		read_message(&m);
	mp_tape_done(&tape);
	mp_buf_done(&text);
}

/* --- what we say ---------------------------------------------------------------------------- */

/* As mp_write_text() writes it: bytes that are no UTF-8 become U+FFFD. */
static void check_text(const struct mp_tape *t, mp_value v, const char *text)
{
	struct mp_str s = mp_str_of(text);

	FUZZ_CHECK(mp_value_is(t, v, MP_TAPE_STRING));
	if (mp_utf8_valid(s))
		FUZZ_CHECK(mp_value_text_is(t, v, s));
}

static void check_implementation(const struct mp_tape *t, mp_value v, const struct mp_identity *me)
{
	check_text(t, mp_value_get(t, v, "name"), me->name);
	check_text(t, mp_value_get(t, v, "version"), me->version);
	FUZZ_CHECK((mp_value_get(t, v, "title") != MP_NONE) == (me->title != NULL));
	if (me->title)
		check_text(t, mp_value_get(t, v, "title"), me->title);
}

static void write_hellos(const struct mp_identity *me)
{
	struct mp_tape tape;
	struct mp_buf out, who;

	mp_buf_init(&out, MP_MIB(1));
	mp_buf_init(&who, MP_MIB(1));
	mp_tape_init(&tape, 0);
	FUZZ_CHECK(mp_legacy_write_initialize(me, &out) == 0);
	FUZZ_CHECK(mp_tape_parse(&tape, mp_buf_get(&out), NULL) == 0);
	check_implementation(&tape, mp_value_get(&tape, MP_ROOT, "clientInfo"), me);
	check_text(&tape, mp_value_get(&tape, MP_ROOT, "protocolVersion"), MP_LEGACY_VERSION);
	mp_buf_clear(&out);
	FUZZ_CHECK(mp_modern_write_who(me, &who) == 0);
	FUZZ_CHECK(mp_modern_write_meta_for(mp_buf_get(&who), me->capabilities, me->log_level,
					    &out) == 0);
	FUZZ_CHECK(mp_tape_parse(&tape, mp_buf_get(&out), NULL) == 0);
	check_implementation(
		&tape, mp_value_get(&tape, MP_ROOT, "io.modelcontextprotocol/clientInfo"), me);
	FUZZ_CHECK(mp_value_count(&tape, MP_ROOT) == 3);
	mp_tape_done(&tape);
	mp_buf_done(&who);
	mp_buf_done(&out);
}

static void write_listen(struct fuzz_input *in)
{
	uint8_t what = fuzz_byte(in);
	struct mp_str uris[3];
	struct mp_listen_filter f = {what & 1, what & 2, what & 4, uris, what / 8u % 4};
	struct mp_tape tape;
	struct mp_buf out;
	mp_value filter, list;
	size_t at = 0;

	for (size_t i = 0; i < f.n_uris; i++)
		uris[i] = fuzz_take(in, fuzz_byte(in) % 32);
	mp_buf_init(&out, MP_MIB(1));
	mp_tape_init(&tape, 0);
	FUZZ_CHECK(mp_modern_write_listen(&f, &out) == 0);
	FUZZ_CHECK(mp_tape_parse(&tape, mp_buf_get(&out), NULL) == 0);
	filter = mp_value_get(&tape, MP_ROOT, "notifications");
	list = mp_value_get(&tape, filter, "resourceSubscriptions");
	FUZZ_CHECK(mp_value_count(&tape, list) == f.n_uris);
	FUZZ_CHECK((mp_value_get(&tape, filter, "toolsListChanged") != MP_NONE) == f.tools);
	FUZZ_CHECK((mp_value_get(&tape, filter, "promptsListChanged") != MP_NONE) == f.prompts);
	FUZZ_CHECK((mp_value_get(&tape, filter, "resourcesListChanged") != MP_NONE) == f.resources);
	MP_VALUE_EACH(&tape, list, v) {
		if (mp_utf8_valid(uris[at]))
			FUZZ_CHECK(mp_value_text_is(&tape, v, uris[at]));
		at++;
	}
	mp_tape_done(&tape);
	mp_buf_done(&out);
}

static void take_word(struct fuzz_input *in, char *out, size_t size)
{
	struct mp_str s = fuzz_take(in, fuzz_byte(in) % size);

	snprintf(out, size, "%.*s", MP_STR_ARGS(s));
}

static void write_ours(struct fuzz_input *in)
{
	char name[32], title[32], version[32];
	struct mp_identity me = {.name = name, .version = version, .capabilities = MP_STR("{}")};

	take_word(in, name, sizeof(name));
	take_word(in, version, sizeof(version));
	take_word(in, title, sizeof(title));
	if (title[0])
		me.title = title;
	write_hellos(&me);
	write_listen(in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};

	if (size == 0)
		return 0;
	if (fuzz_byte(&in) % 4 == 0) {
		write_ours(&in);
		return 0;
	}
	read_as("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":", fuzz_rest(&in), "}");
	in = (struct fuzz_input){data + 1, size - 1};
	read_as("{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32022,\"data\":",
		fuzz_rest(&in), "}}");
	in = (struct fuzz_input){data + 1, size - 1};
	read_as("{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":", fuzz_rest(&in), "}");
	in = (struct fuzz_input){data + 1, size - 1};
	read_as("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"params\":", fuzz_rest(&in),
		"}");
	return 0;
}
