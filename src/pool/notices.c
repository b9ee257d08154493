/*
 * notices.c - notifications that nobody listens to yet.
 */
#include "pool/notices.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"

struct notice {
	struct mp_link link;
	size_t len;
	char text[];
};

void mp_notices_init(struct mp_notices *n)
{
	*n = (struct mp_notices){.bytes = 0};
	mp_list_init(&n->kept);
}

static struct notice *take_oldest(struct mp_notices *n)
{
	struct mp_link *link = mp_list_pop(&n->kept);
	struct notice *oldest = link ? mp_container_of(link, struct notice, link) : NULL;

	if (oldest)
		n->bytes -= oldest->len;
	return oldest;
}

static void drop_oldest(struct mp_notices *n)
{
	mp_free(take_oldest(n));
	n->dropped++;
}

void mp_notices_done(struct mp_notices *n)
{
	n->fn = NULL;
	while (n->kept.len)
		drop_oldest(n);
}

/* The newest are worth more than the oldest, but one that is too large by itself drives out none.
 */
static void keep(struct mp_notices *n, struct mp_str text)
{
	struct notice *new = NULL;

	if (text.len <= MP_LIMIT_NOTICES_BYTES)
		new = mp_try_alloc(sizeof(*new) + text.len);
	if (!new) {
		n->dropped++;
		return;
	}
	*new = (struct notice){.len = text.len};
	if (text.len)
		memcpy(new->text, text.p, text.len);
	while (n->kept.len == MP_LIMIT_NOTICES || n->bytes > MP_LIMIT_NOTICES_BYTES - text.len)
		drop_oldest(n);
	mp_list_append(&n->kept, &new->link);
	n->bytes += text.len;
}

/* What comes while older ones are being handed over waits behind them. */
void mp_notices_add(struct mp_notices *n, struct mp_str text)
{
	if (n->fn && !n->is_handing_over)
		n->fn(n->u, text);
	else
		keep(n, text);
}

uint64_t mp_notices_listen(struct mp_notices *n, void (*fn)(void *u, struct mp_str text), void *u)
{
	uint64_t dropped = n->dropped;

	mp_check(!n->fn && fn && !n->is_handing_over);
	n->dropped = 0;
	n->fn = fn;
	n->u = u;
	n->is_handing_over = true;
	while (n->fn && n->kept.len) {
		struct notice *oldest = take_oldest(n);

		mp_check(oldest); /* the list says so */
		n->fn(n->u, (struct mp_str){oldest->text, oldest->len});
		mp_free(oldest);
	}
	n->is_handing_over = false;
	return dropped;
}

void mp_notices_stop(struct mp_notices *n)
{
	n->fn = NULL;
}

size_t mp_notices_count(const struct mp_notices *n)
{
	return n->kept.len;
}
