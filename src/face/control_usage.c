/*
 * control_usage.c - mcpool/status {"usage": true}: the status of the hub with new measurements.
 */
#include "face/control_usage.h"

#include "base/limits.h"
#include "base/mem.h"
#include "face/control_status.h"
#include "hub/hub.h"
#include "pool/usage.h"

struct usage_wait {
	struct mp_link link;
	struct mp_control_usages *all;
	struct mp_usage_listener listener;
	char *id; /* owned */
};

void mp_control_usages_init(struct mp_control_usages *us, struct mp_control_peer *peer,
			    void (*describe)(void *u, struct mp_writer *w))
{
	*us = (struct mp_control_usages){.peer = peer, .describe = describe};
	mp_list_init(&us->open);
}

static void usage_wait_free(struct usage_wait *wt)
{
	mp_usage_leave(wt->all->peer->hub->usage, &wt->listener);
	mp_list_remove(&wt->all->open, &wt->link);
	wt->all->peer->open--;
	mp_free(wt->id);
	mp_free(wt);
}

void mp_control_usages_done(struct mp_control_usages *us)
{
	MP_LIST_EACH(&us->open, link)
		usage_wait_free(mp_container_of(link, struct usage_wait, link));
}

static void usage_answer(const struct mp_control_usages *us, struct mp_str id)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf result;
	struct mp_writer w;

	mp_buf_init(&result, us->peer->max_result);
	mp_write_init(&w, &result, NULL);
	mp_write_begin_object(&w);
	mp_control_status_write(&w, us->peer, us->describe);
	mp_write_end_object(&w);
	mp_control_peer_answer(us->peer, id, &result, mp_write_finish(&w));
}

/* The answer may close the connection only later, so the request is freed first. */
static void usage_measured(void *u)
{
	struct usage_wait *wt = u;
	struct mp_control_usages *us = wt->all;
	char *id = MP_TAKE(wt->id);

	usage_wait_free(wt);
	usage_answer(us, mp_str_of(id));
	mp_free(id);
}

int mp_control_usages_ask(struct mp_control_usages *us, struct mp_str id,
			  struct mcpool_error *reterr)
{
	int r = mp_control_peer_check(us->peer, reterr);
	struct usage_wait *wt;

	if (r < 0)
		return r;
	wt = mp_alloc(sizeof(*wt));
	*wt = (struct usage_wait){.all = us};
	if (mp_usage_ask(us->peer->hub->usage, &wt->listener, usage_measured, wt)) {
		mp_free(wt);
		usage_answer(us, id);
		return 0;
	}
	wt->id = mp_alloc(id.len + 1);
	memcpy(wt->id, id.p, id.len);
	mp_list_append(&us->open, &wt->link);
	us->peer->open++;
	return 0;
}
