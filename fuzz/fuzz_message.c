/*
 * fuzz_message.c - the envelope: what is taken apart is put together and read again, and says the
 * same; what a tape learns in pieces is what it learns at once; recover_id agrees with the scan.
 */
#include "fuzz.h"

#include "base/buf.h"
#include "rpc/message.h"
#include "rpc/recover_id.h"

static bool same(struct mp_str a, struct mp_str b)
{
	return mp_str_eq(a, b);
}

/* The hub's view beside that of a tape that keeps everything (V43). */
static void check_view(const struct mp_message *m, struct mp_str text)
{
	struct mp_tape whole;
	mp_value params;

	mp_tape_init(&whole, 0);
	FUZZ_CHECK(mp_tape_parse(&whole, text, NULL) == 0);
	params = mp_value_get(&whole, MP_ROOT, "params");
	if (m->id.len)
		FUZZ_CHECK(
			same(m->id, mp_value_source(&whole, mp_value_get(&whole, MP_ROOT, "id"))));
	if (m->method_name != MP_NONE) {
		mp_value name = mp_value_get(&whole, MP_ROOT, "method");

		FUZZ_CHECK(same(mp_value_source(m->tape, m->method_name),
				mp_value_source(&whole, name)));
		if (m->method != MP_METHOD_UNKNOWN)
			FUZZ_CHECK(mp_value_text_is(&whole, name,
						    mp_str_of(mp_method_get(m->method)->name)));
	}
	if (m->subject != MP_NONE)
		FUZZ_CHECK(same(
			mp_value_source(m->tape, m->subject),
			mp_value_source(&whole, mp_value_get(&whole, params,
							     mp_method_get(m->method)->subject))));
	mp_tape_done(&whole);
}

/* Members of params in order, but for the subject and _meta, which comes last. */
static void check_params(const struct mp_message *a, const struct mp_message *b)
{
	mp_value at = mp_value_first(b->tape, b->params);

	MP_VALUE_EACH(a->tape, a->params, key) {
		mp_value v = mp_value_of(key);

		if (v == a->meta)
			continue;
		FUZZ_CHECK(same(mp_value_source(a->tape, key), mp_value_source(b->tape, at)));
		if (v != a->subject && v != a->progress_token)
			FUZZ_CHECK(same(mp_value_source(a->tape, v),
					mp_value_source(b->tape, mp_value_of(at))));
		at = mp_value_next(b->tape, b->params, mp_value_of(at));
	}
	FUZZ_CHECK(at == MP_NONE || mp_value_of(at) == b->meta);
}

static void check_forward(const struct mp_message *m, struct fuzz_input *in)
{
	uint8_t what = fuzz_byte(in);
	struct mp_splice s = {
		.id = what & 1 ? MP_STR("4711") : MP_STR(""),
		.subject = what & 2 ? MP_STR("\"else\\u0000where\"") : MP_STR(""),
		.progress_token = what & 4 ? MP_STR("4711") : MP_STR(""),
		.meta = what & 8 ? MP_STR("{\"io.modelcontextprotocol/hop\":{}}") : MP_STR(""),
	};
	struct mp_message again;
	struct mp_tape tape;
	struct mp_buf out;
	int r;

	mp_message_tape_init(&tape);
	mp_buf_init(&out, what & 16 ? 64 : MP_MIB(1));
	r = mp_message_forward(m, &s, &out);
	FUZZ_CHECK(r == 0 || (r == MCPOOL_ELIMIT && out.len == 0 && what & 16));
	if (r == 0) {
		FUZZ_CHECK(mp_message_scan(&tape, mp_buf_get(&out), &again, NULL) == 0);
		FUZZ_CHECK(again.kind == m->kind && again.method == m->method);
		FUZZ_CHECK(same(again.id, m->id.len && s.id.len ? s.id : m->id));
		if (m->params != MP_NONE)
			check_params(m, &again);
		if (s.subject.len && m->subject != MP_NONE)
			FUZZ_CHECK(same(mp_value_source(&tape, again.subject), s.subject));
		if (m->method != MP_METHOD_PROGRESS)
			FUZZ_CHECK(same(mp_value_source(&tape, again.progress_token),
					s.progress_token));
		MP_VALUE_EACH(&tape, again.meta, key)
			FUZZ_CHECK(!mp_value_text_starts(&tape, key,
							 MP_STR("io.modelcontextprotocol/")) ||
				   mp_value_text_is(&tape, key,
						    MP_STR("io.modelcontextprotocol/hop")));
	}
	mp_buf_done(&out);
	mp_tape_done(&tape);
}

static void check_answer(const struct mp_message *m)
{
	struct mp_message again;
	struct mp_tape tape;
	struct mp_buf out;

	mp_message_tape_init(&tape);
	mp_buf_init(&out, MP_MIB(1));
	FUZZ_CHECK(mp_message_forward_answer(m, MP_STR("\"x\""), &out) == 0);
	FUZZ_CHECK(mp_message_scan(&tape, mp_buf_get(&out), &again, NULL) == 0);
	FUZZ_CHECK(again.kind == m->kind && same(again.id, MP_STR("\"x\"")));
	FUZZ_CHECK(same(mp_value_source(&tape, again.result), mp_value_source(m->tape, m->result)));
	FUZZ_CHECK(same(mp_value_source(&tape, again.error), mp_value_source(m->tape, m->error)));
	mp_buf_done(&out);
	mp_tape_done(&tape);
}

static void check_pieces(const struct mp_message *m, struct mp_str text, size_t step)
{
	struct mp_message again;
	struct mp_tape tape;
	size_t n = 0;
	int r = 0;

	mp_message_tape_init(&tape);
	mp_tape_begin(&tape);
	while (r == 0 && n < text.len) {
		n = n + step < text.len ? n + step : text.len;
		r = mp_tape_feed(&tape, text.p, n, n == text.len);
	}
	FUZZ_CHECK(r == 1);
	FUZZ_CHECK(mp_message_classify(&tape, &again, NULL) == 0);
	FUZZ_CHECK(again.kind == m->kind && again.method == m->method && same(again.id, m->id));
	FUZZ_CHECK(again.params == m->params && again.meta == m->meta && again.result == m->result);
	mp_tape_done(&tape);
}

/* Of a message that can be read, nothing but its own id is ever recovered. */
static void check_recover_id(const struct mp_message *m, struct mp_str text)
{
	struct mp_str id = mp_recover_id(text, text);

	if (m->kind == MP_MESSAGE_BATCH)
		return;
	FUZZ_CHECK(id.len == 0 || same(id, m->id) || (m->id.len == 0 && same(id, MP_STR("null"))));
	if (mp_recover_id_is_call(text))
		FUZZ_CHECK(m->method_name != MP_NONE);
}

/* Whatever is cut out of it. */
static void recover_parts(struct mp_str text, struct fuzz_input *in)
{
	for (int i = 0; i < 4; i++) {
		size_t from = fuzz_below(in, (uint32_t)text.len + 1);
		struct mp_str head = {text.p, text.len - from};
		struct mp_str tail = {text.p + from, text.len - from};
		struct mp_str id = mp_recover_id(head, tail);

		FUZZ_CHECK(id.len == 0 || (id.p >= text.p && id.p + id.len <= text.p + text.len));
		FUZZ_CHECK(id.len <= MP_LIMIT_ID);
		(void)mp_recover_id_is_message(head);
		(void)mp_recover_id_is_call(tail);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	struct mcpool_error error = {0};
	struct mp_message m;
	struct mp_tape tape;
	struct mp_str text;
	size_t step;

	if (size < 8)
		return 0;
	in.size = 6; /* decisions first, then the message */
	text = (struct mp_str){(const char *)data + 6, size - 6};
	step = 1u + fuzz_byte(&in);
	mp_message_tape_init(&tape);
	if (mp_message_scan(&tape, text, &m, &error) == 0) {
		check_view(&m, text);
		check_pieces(&m, text, step);
		check_recover_id(&m, text);
		if (m.kind == MP_MESSAGE_REQUEST || m.kind == MP_MESSAGE_NOTIFICATION)
			check_forward(&m, &in);
		else if (m.kind != MP_MESSAGE_BATCH)
			check_answer(&m);
	} else {
		FUZZ_CHECK(error.message[0] && error.code < 0);
		FUZZ_CHECK(error.rpc_code == -32700 || error.rpc_code == -32600 ||
			   error.rpc_code == -32603);
		FUZZ_CHECK(m.id.len <= MP_LIMIT_ID);
	}
	recover_parts(text, &in);
	mp_tape_done(&tape);
	return 0;
}
