/*
 * list.h - intrusive list that knows its length.
 * The link sits in the object; a list owns nothing. Where objects queue, a state is a list and its
 * length is the number on the dashboard.
 */
#ifndef MP_LIST_H
#define MP_LIST_H

#include "base/base.h"

struct mp_link {
	struct mp_link *prev, *next; /* both NULL while in no list */
};

struct mp_list {
	struct mp_link head;    /* a ring through all links */
	struct mp_link *coming; /* where MP_LIST_WALK goes next; NULL outside of a walk */
	size_t to_walk;         /* links it still visits */
	size_t len;
};

static inline void mp_list_init(struct mp_list *list)
{
	list->head.prev = list->head.next = &list->head;
	list->coming = NULL;
	list->len = 0;
}

static inline bool mp_list_linked(const struct mp_link *link)
{
	return link->next != NULL;
}

static inline void mp_list_insert_before(struct mp_list *list, struct mp_link *where,
					 struct mp_link *link)
{
	mp_check(!mp_list_linked(link));
	link->prev = where->prev;
	link->next = where;
	where->prev->next = link;
	where->prev = link;
	if (where == &list->head && list->coming == where)
		list->coming = link; /* a walk that is at its last goes on with what is appended */
	list->len++;
}

static inline void mp_list_append(struct mp_list *list, struct mp_link *link)
{
	mp_list_insert_before(list, &list->head, link);
}

static inline void mp_list_prepend(struct mp_list *list, struct mp_link *link)
{
	mp_list_insert_before(list, list->head.next, link);
}

static inline void mp_list_remove(struct mp_list *list, struct mp_link *link)
{
	mp_check(mp_list_linked(link) && list->len > 0);
	if (list->coming == link)
		list->coming = link->next;
	link->prev->next = link->next;
	link->next->prev = link->prev;
	link->prev = link->next = NULL;
	list->len--;
}

static inline struct mp_link *mp_list_first(const struct mp_list *list)
{
	return list->len ? list->head.next : NULL;
}

static inline struct mp_link *mp_list_pop(struct mp_list *list)
{
	struct mp_link *link = mp_list_first(list);

	if (link)
		mp_list_remove(list, link);
	return link;
}

/* The body may remove `link` itself, nothing else, and may break. */
#define MP_LIST_EACH(list, link)                                                  \
	for (struct mp_link *link = (list)->head.next, *link##_next = link->next; \
	     link != &(list)->head; link = link##_next, link##_next = link->next)

static inline struct mp_link *mp_list_walk_on(struct mp_list *list)
{
	struct mp_link *at = list->to_walk ? list->coming : &list->head;

	mp_check(at);
	list->coming = at == &list->head ? NULL : at->next;
	list->to_walk--;
	return at;
}

static inline struct mp_link *mp_list_walk_from_start(struct mp_list *list)
{
	mp_check(!list->coming);
	list->coming = list->head.next;
	list->to_walk = list->len;
	return mp_list_walk_on(list);
}

/*
 * For calling strangers: whatever the body calls may remove any link and append new ones. No more
 * are visited than there were at the start, so one that leaves and joins again cannot hold up the
 * walk. No break, and one walk at a time.
 */
#define MP_LIST_WALK(list, link)                                                          \
	for (struct mp_link *link = mp_list_walk_from_start(list); link != &(list)->head; \
	     link = mp_list_walk_on(list))

#endif
