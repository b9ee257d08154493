/*
 * secret_values.c - values of ${secret:NAME}, for workers that resolve entries.
 */
#include "config/values/secret_values.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/mem.h"

struct mp_secret_values {
	unsigned refs;
	pthread_mutex_t lock;     /* guards all that follows, and is held while one is read */
	struct mp_secrets *store; /* owned; NULL: not opened yet */
	char *command;            /* owned; with what it was opened */
	bool no_keyring;
};

static bool is_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static int values_open(struct mp_secret_values *v, const struct mp_settings *settings,
		       struct mcpool_error *reterr)
{
	struct mp_secrets_options o = {.passphrase_command = NULL};

	if (!settings && v->store)
		return 0;
	if (settings)
		o = mp_settings_get_secrets(settings);
	if (v->store && v->no_keyring == o.no_keyring && is_same(v->command, o.passphrase_command))
		return 0;
	v->store = mp_secrets_free(v->store);
	mp_free(v->command);
	v->command = o.passphrase_command ? mp_dup(o.passphrase_command) : NULL;
	v->no_keyring = o.no_keyring;
	return mp_secrets_open(&v->store, &o, reterr);
}

int mp_secret_values_get(struct mp_secret_values *v, const struct mp_settings *settings,
			 struct mp_str name, struct mp_buf *out, struct mcpool_error *reterr)
{
	char path[sizeof(MP_SECRET_USER) + 128], warning[200] = "";
	int r;

	mp_check(mp_expand_is_secret_name(name));
	snprintf(path, sizeof(path), MP_SECRET_USER "%.*s", MP_STR_ARGS(name));
	pthread_mutex_lock(&v->lock);
	r = values_open(v, settings, reterr);
	if (r == 0)
		r = mp_secrets_get(v->store, path, out, reterr);
	if (v->store)
		mp_secrets_get_warning(v->store, warning, sizeof(warning));
	pthread_mutex_unlock(&v->lock);
	if (r == MCPOOL_ENOENT)
		return mp_fail(reterr, r,
			       "there is no secret '%.*s'%s%s%s. Save it: mcpool secret set %.*s",
			       MP_STR_ARGS(name), warning[0] ? " (" : "", warning,
			       warning[0] ? ")" : "", MP_STR_ARGS(name));
	return r;
}

int mp_secret_values_read(struct mp_secret_values *v, const struct mp_settings *settings,
			  const char *path, struct mp_buf *out, struct mcpool_error *reterr)
{
	int r;

	pthread_mutex_lock(&v->lock);
	r = values_open(v, settings, reterr);
	if (r == 0)
		r = mp_secrets_get(v->store, path, out, reterr);
	pthread_mutex_unlock(&v->lock);
	return r;
}

int mp_secret_values_write(struct mp_secret_values *v, const char *path, struct mp_str value,
			   struct mcpool_error *reterr)
{
	int r;

	pthread_mutex_lock(&v->lock);
	r = values_open(v, NULL, reterr);
	if (r == 0)
		r = value.p ? mp_secrets_set(v->store, path, value, reterr)
			    : mp_secrets_remove(v->store, path, reterr);
	pthread_mutex_unlock(&v->lock);
	return r;
}

struct mp_secret_values *mp_secret_values_new(void)
{
	struct mp_secret_values *v = mp_alloc(sizeof(*v));

	v->refs = 1;
	pthread_mutex_init(&v->lock, NULL);
	return v;
}

struct mp_secret_values *mp_secret_values_ref(struct mp_secret_values *v)
{
	v->refs++;
	return v;
}

struct mp_secret_values *mp_secret_values_unref(struct mp_secret_values *v)
{
	if (!v || --v->refs)
		return NULL;
	mp_secrets_free(v->store);
	mp_free(v->command);
	pthread_mutex_destroy(&v->lock);
	return mp_free(v);
}
