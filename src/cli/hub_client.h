/*
 * hub_client.h - a conversation with the running hub, for verbs that ask and wait.
 */
#ifndef MP_HUB_CLIENT_H
#define MP_HUB_CLIENT_H

#include <sys/types.h>

#include "base/base.h"
#include "base/buf.h"

struct mp_hub_client;

/*
 * As the command line, about the folder we are in. MCPOOL_ENOENT: no hub runs; MCPOOL_ETIMEDOUT: it
 * does not answer; MCPOOL_EAGAIN: it does not let us in now; MCPOOL_EPROTO: nor ever.
 */
int mp_hub_client_open(struct mp_hub_client **ret_client, struct mcpool_error *reterr) MP_MUST;
struct mp_hub_client *mp_hub_client_free(struct mp_hub_client *c); /* accepts NULL, returns NULL */
static inline void mp_hub_client_freep(struct mp_hub_client **c)
{
	mp_hub_client_free(*c);
}
pid_t mp_hub_client_get_pid(const struct mp_hub_client *c);
/* The connection itself, for whoever goes on in another way; only mp_hub_client_free() is left. */
int mp_hub_client_take_fd(struct mp_hub_client *c);

/* params: an object, or empty. The result is added to out; what the hub refuses is the error. */
int mp_hub_client_ask(struct mp_hub_client *c, const char *method, struct mp_str params,
		      struct mp_buf *out, struct mcpool_error *reterr) MP_MUST;
/* The next notification, whole, behind mcpool/events. MCPOOL_ETIMEDOUT, MCPOOL_ECLOSED. */
int mp_hub_client_listen(struct mp_hub_client *c, int64_t max_ms, struct mp_buf *out) MP_MUST;
/* Until the hub hangs up. */
int mp_hub_client_wait_end(struct mp_hub_client *c, int64_t max_ms) MP_MUST;

#endif
