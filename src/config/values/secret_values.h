/*
 * secret_values.h - values of ${secret:NAME}, for workers that resolve entries.
 */
#ifndef MP_SECRET_VALUES_H
#define MP_SECRET_VALUES_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"
#include "config/values/settings.h"

/* The store is opened when the first secret is asked for, and again when its settings change. */
struct mp_secret_values;
struct mp_secret_values *mp_secret_values_new(void);
/* Counted; from one thread, while workers may use it. */
struct mp_secret_values *mp_secret_values_ref(struct mp_secret_values *v);
struct mp_secret_values *mp_secret_values_unref(struct mp_secret_values *v); /* accepts NULL */

/* What is before the names of secrets that configurations may use: `mcpool secret set NAME`. */
#define MP_SECRET_USER "user/"

/*
 * Adds the secret of this name; blocks, any thread. MCPOOL_ENOENT with what to do: it is not saved.
 * Others as mp_secrets_get() has them.
 */
int mp_secret_values_get(struct mp_secret_values *v, const struct mp_settings *settings,
			 struct mp_str name, struct mp_buf *out,
			 struct mcpool_error *reterr) MP_MUST;

/*
 * Any path of the store, as secrets.h has it. settings NULL: those of the call before, or the
 * defaults.
 */
int mp_secret_values_read(struct mp_secret_values *v, const struct mp_settings *settings,
			  const char *path, struct mp_buf *out,
			  struct mcpool_error *reterr) MP_MUST;
/* value.p NULL: remove it. */
int mp_secret_values_write(struct mp_secret_values *v, const char *path, struct mp_str value,
			   struct mcpool_error *reterr) MP_MUST;

#endif
