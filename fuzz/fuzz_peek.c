/* fuzz_peek.c - a peek at a message beside the real look at it. */
#include "fuzz.h"

#include "rpc/peek.h"
#include "rpc/message.h"

static enum mp_peek_kind kind_of(const struct mp_message *m)
{
	switch (m->kind) {
	case MP_MESSAGE_REQUEST:
		return MP_PEEK_REQUEST;
	case MP_MESSAGE_NOTIFICATION:
		return MP_PEEK_NOTIFICATION;
	case MP_MESSAGE_RESULT:
		return MP_PEEK_RESULT;
	case MP_MESSAGE_ERROR:
		return MP_PEEK_ERROR;
	case MP_MESSAGE_BATCH:
		break;
	}
	return MP_PEEK_BATCH;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mp_str text = {(const char *)data, size};
	struct mp_tape t;
	struct mp_message m;
	struct mp_peek g;

	if (size == 0)
		return 0;
	mp_peek(text, &g);
	FUZZ_CHECK(g.id.len == 0 || (g.id.p >= text.p && g.id.p + g.id.len <= text.p + text.len));
	mp_message_tape_init(&t);
	/* Of a good message both say the same, unless the peek has no opinion. */
	if (mp_message_scan(&t, text, &m, NULL) == 0 && g.kind != MP_PEEK_NOTHING) {
		FUZZ_CHECK(g.kind == kind_of(&m));
		if (g.kind != MP_PEEK_BATCH)
			FUZZ_CHECK(mp_str_eq(g.id, m.id));
		if (g.method.len)
			FUZZ_CHECK(mp_value_text_is(&t, m.method_name, g.method));
	}
	mp_tape_done(&t);
	return 0;
}
