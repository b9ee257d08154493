/*
 * holders.c - who holds a valid token of the HTTP face.
 */
#include "face/holders.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"

/* --- lists ---------------------------------------------------------------------------------- */

/* Cuts the text at each LF; the items point into it. */
static struct mp_bind_list list_split(char *text)
{
	struct mp_bind_list list = {NULL, 0};
	size_t n = 0;

	for (const char *p = text; *p; p++)
		n += *p == '\n';
	list.items = mp_alloc((n + 1) * sizeof(char *));
	for (char *end; (end = strchr(text, '\n')); text = end + 1) {
		*end = '\0';
		list.items[list.n++] = text;
	}
	return list;
}

/* --- life ----------------------------------------------------------------------------------- */

static struct mp_holder *holder_of(struct mp_link *link)
{
	return mp_container_of(link, struct mp_holder, link);
}

static void holder_free(struct mp_holder *holder)
{
	mp_free(holder->servers.items);
	mp_free(holder->tools.items);
	mp_free(holder->texts[0]);
	mp_free(holder->texts[1]);
	mp_free(holder->principal);
	mp_free(holder);
}

void mp_holders_init(struct mp_holders *h)
{
	*h = (struct mp_holders){.next_ms = INT64_MAX};
	mp_list_init(&h->list);
	mp_ids_init(&h->ids);
}

void mp_holders_done(struct mp_holders *h)
{
	struct mp_link *link;

	while ((link = mp_list_pop(&h->list)))
		holder_free(holder_of(link));
	mp_ids_done(&h->ids);
}

static void holder_remove(struct mp_holders *h, struct mp_holder *holder)
{
	mp_ids_remove(&h->ids, holder->id);
	mp_list_remove(&h->list, &holder->link);
	holder_free(holder);
	h->ended++;
}

/* One that is over keeps its sessions for a newer token; a new holder is worth more. */
static bool holders_make_room(struct mp_holders *h)
{
	if (h->list.len < MP_LIMIT_HOLDERS)
		return true;
	MP_LIST_EACH(&h->list, link)
		if (holder_of(link)->is_over) {
			holder_remove(h, holder_of(link));
			return true;
		}
	return false;
}

struct mp_holder *mp_holders_add(struct mp_holders *h, const char *principal, const char *servers,
				 const char *tools)
{
	struct mp_holder *holder;

	if (!holders_make_room(h))
		return NULL;
	holder = mp_alloc(sizeof(*holder));
	holder->id = mp_ids_add(&h->ids, holder);
	holder->principal = mp_dup(principal);
	holder->texts[0] = mp_dup(servers);
	holder->texts[1] = mp_dup(tools);
	holder->servers = list_split(holder->texts[0]);
	holder->tools = list_split(holder->texts[1]);
	mp_list_append(&h->list, &holder->link);
	return holder;
}

void mp_holders_remove(struct mp_holders *h, mp_id id)
{
	struct mp_holder *holder = mp_holders_find(h, id);

	if (holder)
		holder_remove(h, holder);
}

struct mp_holder *mp_holders_find(const struct mp_holders *h, mp_id id)
{
	return mp_ids_get(&h->ids, id);
}

struct mp_holder *mp_holders_find_principal(const struct mp_holders *h, const char *principal)
{
	MP_LIST_EACH(&h->list, link)
		if (strcmp(holder_of(link)->principal, principal) == 0)
			return holder_of(link);
	return NULL;
}

/* --- time ----------------------------------------------------------------------------------- */

void mp_holders_extend(struct mp_holders *h, struct mp_holder *holder, int64_t until_ms,
		       int64_t keep_ms)
{
	if (until_ms <= holder->until_ms)
		return;
	holder->until_ms = until_ms;
	holder->keep_ms = keep_ms;
	holder->is_over = false;
	if (h->next_ms > until_ms)
		h->next_ms = until_ms;
}

static int64_t holder_get_next(const struct mp_holder *holder)
{
	if (!holder->until_ms)
		return INT64_MAX;
	return holder->is_over ? holder->keep_ms : holder->until_ms;
}

void mp_holders_sweep(struct mp_holders *h, int64_t wall_ms)
{
	if (wall_ms < h->next_ms)
		return;
	h->next_ms = INT64_MAX;
	MP_LIST_EACH(&h->list, link) {
		struct mp_holder *holder = holder_of(link);
		int64_t next;

		if (holder->until_ms && !holder->is_over && holder->until_ms <= wall_ms) {
			holder->is_over = true;
			h->ended++;
		}
		if (holder->until_ms && holder->keep_ms <= wall_ms) {
			holder_remove(h, holder);
			continue;
		}
		next = holder_get_next(holder);
		h->next_ms = next < h->next_ms ? next : h->next_ms;
	}
}
