/*
 * promises.h - which answers an agent is owed: noted as its messages go out, taken off as answers
 * come in. What the agent took back may be answered or not.
 */
#ifndef TEST_PROMISES_H
#define TEST_PROMISES_H

#include "test.h"

#include <stdlib.h>

#include "base/limits.h"
#include "rpc/message.h"
#include "session/session.h"

struct promise {
	char id[MP_LIMIT_ID + 16]; /* as written; "null": of what could not be read */
	int owed, optional;
	char params[200]; /* of the call, without _meta; "": it was something else */
};

struct promises {
	struct promise *items; /* owned */
	size_t n, room;
};

static inline void promises_done(struct promises *p)
{
	free(p->items);
	*p = (struct promises){0};
}

static inline struct promise *promises_find(struct promises *p, struct mp_str id)
{
	struct mp_str key = id.len ? id : MP_STR("null");

	for (size_t i = 0; i < p->n; i++)
		if (mp_str_eq(mp_str_of(p->items[i].id), key))
			return &p->items[i];
	return NULL;
}

static inline void promises_add(struct promises *p, struct mp_str id)
{
	struct mp_str key = id.len ? id : MP_STR("null");
	struct promise *one = promises_find(p, key);

	if (!one && p->n == p->room) {
		p->room = p->room ? 2 * p->room : 4;
		p->items = realloc(p->items, p->room * sizeof(*p->items));
		mp_check(p->items);
	}
	if (!one) {
		one = &p->items[p->n++];
		*one = (struct promise){.owed = 0};
		mp_check(key.len < sizeof(one->id));
		memcpy(one->id, key.p, key.len);
	}
	one->owed++;
}

/* An answer came. False: it was not owed, or is a second one. */
static inline bool promises_take(struct promises *p, struct mp_str id)
{
	struct promise *one = promises_find(p, id);

	if (!one)
		return false;
	if (one->owed)
		one->owed--;
	else
		one->optional--;
	if (!one->owed && !one->optional)
		*one = p->items[--p->n];
	return true;
}

static inline void promises_release(struct promises *p, struct mp_str id)
{
	struct promise *one = promises_find(p, id);

	if (!one)
		return;
	one->optional += one->owed;
	one->owed = 0;
}

static inline void promises_release_all(struct promises *p)
{
	for (size_t i = 0; i < p->n; i++) {
		p->items[i].optional += p->items[i].owed;
		p->items[i].owed = 0;
	}
}

static inline const char *promises_get_owed(const struct promises *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->items[i].owed)
			return p->items[i].id;
	return NULL;
}

/* What a message cancels, in any of these; empty: nothing. */
static inline struct mp_str promises_get_cancelled(const struct mp_message *m)
{
	if (m->kind != MP_MESSAGE_NOTIFICATION || m->method != MP_METHOD_CANCELLED)
		return MP_STR("");
	return mp_value_source(m->tape, mp_value_get(m->tape, m->params, "requestId"));
}

#endif
