/*
 * holders.h - who holds a valid token of the HTTP face, what a holder may see, and until when.
 * Requests and sessions refer to a holder by its id, which is never used again: when a holder is
 * removed, what it had opened is closed (V19).
 */
#ifndef MP_HOLDERS_H
#define MP_HOLDERS_H

#include "base/base.h"
#include "base/ids.h"
#include "base/list.h"
#include "json/bind.h"

struct mp_holder {
	struct mp_link link;
	mp_id id;
	char *principal;                    /* owned */
	char *texts[2];                     /* owned; what the lists point into */
	struct mp_bind_list servers, tools; /* owned; what it may see; empty: all */
	int64_t until_ms;                   /* wall clock: nothing is told any more; 0: no end */
	int64_t keep_ms; /* then its sessions end, too: it may have come with a newer token */
	bool is_over;    /* until_ms has passed */
};

struct mp_holders {
	struct mp_list list; /* oldest first */
	struct mp_ids ids;
	uint64_t ended;  /* grows whenever one is over or removed */
	int64_t next_ms; /* nothing ends before; INT64_MAX: nothing ends by itself */
};

void mp_holders_init(struct mp_holders *h);
void mp_holders_done(struct mp_holders *h);

/*
 * servers, tools: each name or pattern ends in LF; "": all. NULL: there are MP_LIMIT_HOLDERS, and
 * none is over.
 * The holder is borrowed until the next call of a function below.
 */
struct mp_holder *mp_holders_add(struct mp_holders *h, const char *principal, const char *servers,
				 const char *tools);
/* It came with a token that ends then; 0: never. An earlier end counts for nothing. */
void mp_holders_extend(struct mp_holders *h, struct mp_holder *holder, int64_t until_ms,
		       int64_t keep_ms);
void mp_holders_remove(struct mp_holders *h, mp_id id); /* one that is gone is ignored */
/* NULL: it is gone. */
struct mp_holder *mp_holders_find(const struct mp_holders *h, mp_id id);
struct mp_holder *mp_holders_find_principal(const struct mp_holders *h, const char *principal);
/* End those whose time is over. */
void mp_holders_sweep(struct mp_holders *h, int64_t wall_ms);

#endif
