/* fuzz_greeting.c - the first message on the hub's socket, and the answer to it. */
#include "fuzz.h"

#include "base/limits.h"
#include "face/greeting.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mp_str text = {(const char *)data, size};
	struct mp_greeting_answer answer;
	struct mcpool_error why;
	struct mp_greeting h;
	struct mp_arena arena;
	struct mp_buf out;

	mp_arena_init(&arena, MP_LIMIT_ARENA);
	mp_buf_init(&out, MP_MIB(32));
	if (mp_greeting_read(text, &arena, &h, &why) < 0) {
		FUZZ_CHECK(why.message[0]);
		FUZZ_CHECK(mp_greeting_write_refusal(&out, h.id, &why) == 0);
	} else if (h.protocol == MP_GREETING_PROTOCOL) {
		FUZZ_CHECK(h.env && (!h.cwd || h.cwd[0] == '/'));
		for (size_t i = 0; h.env[i]; i++)
			FUZZ_CHECK(strchr(h.env[i], '=') > h.env[i]);
		/* What was understood can be said again. */
		FUZZ_CHECK(mp_greeting_write(&out, &h, h.env) == 0);
		FUZZ_CHECK(mp_greeting_read(mp_buf_get(&out), &arena, &h, &why) == 0);
	}
	if (mp_greeting_read_answer(text, &answer, &why) == 0)
		FUZZ_CHECK(!answer.is_refused || answer.why.message[0] || size > 0);
	mp_buf_done(&out);
	mp_arena_done(&arena);
	return 0;
}
