/*
 * top_hub.h - the hub as `top` sees it: its status once a second and soon after events, the last
 * calls. Waits for a hub that has ended. Nothing here blocks longer than a connection takes.
 */
#ifndef MP_TOP_HUB_H
#define MP_TOP_HUB_H

#include <poll.h>

#include "base/base.h"
#include "cli/console/feed.h"
#include "cli/console/top_model.h"

enum { MP_TOP_CALLS = 512, MP_TOP_POLLS = 3 };

/* A call that ended, as a line. */
struct mp_top_call {
	char *server, *line; /* owned */
};

struct mp_top_hub {
	struct mp_hub_client *status; /* NULL: no hub */
	struct mp_feed events, calls;
	bool is_asked;           /* for its status, and it has not answered yet */
	bool has_news;           /* events since it was asked */
	int64_t asked_ms;        /* when */
	int64_t next_ms;         /* when to ask, or to connect again */
	int64_t soon_ms;         /* when to ask after events */
	int64_t listen_ms;       /* when to listen to events and calls again */
	int64_t lost_ms;         /* since when there is none; 0: there is */
	struct mcpool_error why; /* why there is none */
	struct mp_top_call ring[MP_TOP_CALLS];
	size_t n_calls; /* ever */
};

int64_t mp_top_now_ms(void);

void mp_top_hub_init(struct mp_top_hub *h);
void mp_top_hub_done(struct mp_top_hub *h);
/* Connect for the first time. */
int mp_top_hub_open(struct mp_top_hub *h, struct mcpool_error *reterr) MP_MUST;
/* What to wait for, and until when; returns how many descriptors. */
size_t mp_top_hub_get_polls(const struct mp_top_hub *h, struct pollfd polls[MP_TOP_POLLS],
			    int64_t *ret_until_ms);
/* Do what is due. True: there is something new to show. */
bool mp_top_hub_step(struct mp_top_hub *h, struct mp_top_model *model);
/* Ask at once. */
void mp_top_hub_hurry(struct mp_top_hub *h);
/* The calls of this server, newest first, at most `most` lines; returns how many. */
size_t mp_top_hub_get_calls(const struct mp_top_hub *h, const char *server, const char **ret_lines,
			    size_t most);

#endif
