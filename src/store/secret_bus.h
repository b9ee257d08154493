/*
 * secret_bus.h - a connection to the Secret Service: the session bus, calls with a time limit, and
 * the session in which values travel encrypted.
 */
#ifndef MP_SECRET_BUS_H
#define MP_SECRET_BUS_H

#include "base/base.h"
#include "base/mem.h"
#include "store/sd_bus.h"
#include "store/secret_session.h"

#define MP_SECRET_ROOT      "/org/freedesktop/secrets"
#define MP_SECRET_INTERFACE "org.freedesktop.Secret."

struct mp_secret_bus {
	const struct mp_sd_bus *f;
	struct sd_bus *bus; /* owned */
	char *session;      /* owned: path of our session */
	bool encrypted;     /* else the session is plain */
	bool is_stuck;      /* a call was not answered in time */
	struct mp_secret_session keys;
};

/* A message and what releases it. */
struct mp_secret_message {
	const struct mp_sd_bus *f;
	struct sd_bus_message *m; /* NULL: none yet */
};
static inline void mp_secret_message_done(struct mp_secret_message *m)
{
	if (m->m)
		m->f->bus_message_unref(m->m);
}

/*
 * Connect, or use the connection that rest left, and open a session. MCPOOL_ENOENT: there is no bus
 * for us. MCPOOL_EIO: no service has the name, or it refuses. MCPOOL_ETIMEDOUT, MCPOOL_EPROTO,
 * MCPOOL_ENOMEM. done is due also on failure.
 */
int mp_secret_bus_open(struct mp_secret_bus *b, struct mcpool_error *reterr) MP_MUST;
/* Close the session and forget its keys, but stay connected. */
void mp_secret_bus_rest(struct mp_secret_bus *b);
void mp_secret_bus_done(struct mp_secret_bus *b);

/* Begin a call of this method of an object, send it with what was appended, get the reply. */
int mp_secret_bus_begin(struct mp_secret_bus *b, const char *path, const char *interface,
			const char *method, struct mp_secret_message *ret,
			struct mcpool_error *reterr) MP_MUST;
int mp_secret_bus_send(struct mp_secret_bus *b, const struct mp_secret_message *m,
		       struct mp_secret_message *ret, struct mcpool_error *reterr) MP_MUST;
/* A property of an object: the reply is to be read from inside its variant. */
int mp_secret_bus_get_property(struct mp_secret_bus *b, const char *path, const char *interface,
			       const char *name, const char *type, struct mp_secret_message *ret,
			       struct mcpool_error *reterr) MP_MUST;
/* What libsystemd said of writing or reading a message: MCPOOL_ENOMEM or MCPOOL_EPROTO. */
int mp_secret_bus_refuse(int r, struct mcpool_error *reterr);

#endif
