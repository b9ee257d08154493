/*
 * session.c - helpers for all files of a session: write JSON, keep a text.
 */
#include "session/session.h"

#include <string.h>

#include "base/mem.h"
#include "json/write.h"

char *mp_session_keep(struct mp_str text)
{
	char *kept;

	if (!text.len)
		return NULL;
	kept = mp_alloc(text.len + 1); /* short: ids, tokens, names */
	memcpy(kept, text.p, text.len);
	return kept;
}

int mp_session_keep_message(char **slot, struct mp_str text)
{
	char *kept = mp_try_alloc(text.len + 1);

	if (!kept)
		return MCPOOL_ENOMEM;
	if (text.len)
		memcpy(kept, text.p, text.len);
	kept[text.len] = '\0';
	mp_free(*slot);
	*slot = kept;
	return 0;
}

int mp_session_quote(struct mp_buf *out, struct mp_str text)
{
	struct mp_writer w;

	mp_write_init(&w, out, NULL);
	mp_write_text(&w, text);
	return mp_write_finish(&w);
}

void mp_session_send(struct mp_session *s, mp_id stream, struct mp_str text)
{
	struct mp_delivery d = {stream, text, false, 200};

	s->hooks->deliver(s->u, &d);
}

enum mp_era mp_session_classify(const struct mp_message *m)
{
	return m->version == MP_NONE ? MP_ERA_LEGACY : MP_ERA_MODERN;
}
