/*
 * error_content.c - an error of a tool's call as a result.
 * Some agents show their model only results; an error of the protocol ends their turn (A47, B53).
 */
#include "session/error_content.h"

#include "base/arena.h"
#include "base/limits.h"
#include "json/tape.h"
#include "json/value.h"
#include "json/write.h"

#define PREFIX "MCP error: "

/* The hub's own messages have the prefix already. */
static int text_add(struct mp_buf *text, struct mp_str message)
{
	int r = mp_str_starts(message, MP_STR(PREFIX)) ? 0 : mp_buf_addf(text, "%s", PREFIX);

	return r < 0 ? r : mp_buf_add_str(text, message);
}

static int text_read(struct mp_str error, struct mp_buf *text)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mp_str message;
	int r;

	mp_tape_init(&t, 0);
	mp_arena_init(&arena, MP_LIMIT_MESSAGE);
	r = mp_tape_parse(&t, error, NULL);
	if (r < 0)
		return r;
	if (mp_value_text(&t, mp_value_get(&t, MP_ROOT, "message"), &arena, &message) < 0)
		message = MP_STR("the server gave no reason");
	return text_add(text, message);
}

static int content_write(enum mp_era era, struct mp_str text, struct mp_str error,
			 struct mp_buf *out)
{
	struct mp_writer w;

	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	if (era == MP_ERA_MODERN)
		mp_write_member_text(&w, "resultType", MP_STR("complete"));
	mp_write_key(&w, MP_STR("content"));
	mp_write_begin_array(&w);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "type", MP_STR("text"));
	mp_write_member_text(&w, "text", text);
	mp_write_end_object(&w);
	mp_write_end_array(&w);
	mp_write_member_bool(&w, "isError", true);
	mp_write_key(&w, MP_STR("_meta"));
	mp_write_begin_object(&w);
	mp_write_member_raw(&w, "mcpool/error", error);
	mp_write_end_object(&w);
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

int mp_error_content_write(enum mp_era era, struct mp_str error, struct mp_buf *out)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	int r;

	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	r = text_read(error, &text);
	return r < 0 ? r : content_write(era, mp_buf_get(&text), error, out);
}
