/* fake_message.h - a message out of a text, for the tests of what reads messages. */
#ifndef FAKE_MESSAGE_H
#define FAKE_MESSAGE_H

#include "test.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/mem.h"
#include "rpc/era.h"

struct fake_message {
	struct mp_buf text;
	struct mp_tape tape;
	struct mp_message m;
	struct mp_arena arena;
	struct mp_buf out;
	struct mcpool_error error;
};

static inline void fake_message_start(struct fake_message *f)
{
	*f = (struct fake_message){0};
	mp_buf_init(&f->text, MP_LIMIT_MESSAGE);
	mp_buf_init(&f->out, MP_LIMIT_MESSAGE);
	mp_message_tape_init(&f->tape);
	mp_arena_init(&f->arena, MP_LIMIT_ARENA);
}

static inline void fake_message_done(struct fake_message *f)
{
	mp_buf_done(&f->text);
	mp_buf_done(&f->out);
	mp_tape_done(&f->tape);
	mp_arena_done(&f->arena);
}

/* The member of an envelope with id 1, as "result" or "error", or a whole "params" with a method.
 */
static inline bool fake_message_set(struct fake_message *f, const char *member, const char *json)
{
	const char *begin =
		strcmp(member, "params") == 0 ? "\"method\":\"notifications/x\"" : "\"id\":1";

	mp_buf_clear(&f->text);
	REQUIRE(mp_buf_addf(&f->text, "{\"jsonrpc\":\"2.0\",%s,\"%s\":%s}", begin, member, json) ==
		0);
	REQUIRE(mp_message_scan(&f->tape, mp_buf_get(&f->text), &f->m, &f->error) == 0);
	return true;
}

#define WITH_MESSAGE(f)                                      \
	MP_CLEANUP(fake_message_done) struct fake_message f; \
	fake_message_start(&(f))

#endif
