/*
 * hub_client.h - a blocking control connection to the running hub.
 */
#ifndef MP_HUB_CLIENT_H
#define MP_HUB_CLIENT_H

#include <sys/types.h>

#include "base/base.h"
#include "base/buf.h"

struct mp_hub_client;

/*
 * Connect for the current folder. MCPOOL_ENOENT: no hub runs; MCPOOL_ETIMEDOUT: it does not answer;
 * MCPOOL_EAGAIN: it refuses for now; MCPOOL_EPROTO: it refuses for good.
 */
int mp_hub_client_open(struct mp_hub_client **ret_client, struct mcpool_error *reterr) MP_MUST;
struct mp_hub_client *mp_hub_client_free(struct mp_hub_client *c); /* accepts NULL, returns NULL */
static inline void mp_hub_client_freep(struct mp_hub_client **c)
{
	mp_hub_client_free(*c);
}
pid_t mp_hub_client_get_pid(const struct mp_hub_client *c);
/* To wait for what it says; still the client's. */
int mp_hub_client_get_fd(const struct mp_hub_client *c);
/* Take the connection itself; only mp_hub_client_free() may follow. */
int mp_hub_client_take_fd(struct mp_hub_client *c);

/* params: an object, or empty. The result is added to out; a refusal of the hub is the error. */
int mp_hub_client_ask(struct mp_hub_client *c, const char *method, struct mp_str params,
		      struct mp_buf *out, struct mcpool_error *reterr) MP_MUST;
/* The same in two steps, for a caller with other things to do; the second may be repeated while it
 * returns MCPOOL_ETIMEDOUT. */
int mp_hub_client_begin(struct mp_hub_client *c, const char *method, struct mp_str params,
			struct mcpool_error *reterr) MP_MUST;
int mp_hub_client_finish(struct mp_hub_client *c, int64_t max_ms, struct mp_buf *out,
			 struct mcpool_error *reterr) MP_MUST;
/* The next notification, whole, after mcpool/events. MCPOOL_ETIMEDOUT, MCPOOL_ECLOSED. */
int mp_hub_client_listen(struct mp_hub_client *c, int64_t max_ms, struct mp_buf *out) MP_MUST;
/* Wait until the hub disconnects. */
int mp_hub_client_wait_end(struct mp_hub_client *c, int64_t max_ms) MP_MUST;

#endif
