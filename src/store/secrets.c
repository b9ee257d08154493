/*
 * secrets.c - values that only this user may read: in the Secret Service, or in a sealed file.
 * A value that was saved while the keyring was locked is in the file, and the keyring may have an
 * older one. So the file is asked first, and a value that is saved in the service leaves the file:
 * at every moment, also after a crash, what the file has is the newer one.
 */
#include "store/secrets.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "base/error.h"
#include "base/guard.h"
#include "base/mem.h"
#include "base/paths.h"
#include "store/secret_file.h"
#include "store/secret_service.h"

#define SERVICE_PLACE "the Secret Service"
#define SERVICE_PAUSE_MS                                                         \
	MP_SECONDS(30) /* one that did not answer is not asked again for so long \
			*/

struct mp_secrets {
	pthread_mutex_t lock;              /* guards all that follows */
	struct mp_secret_file *file;       /* owned */
	struct mp_secret_service *service; /* owned; rests between two calls; NULL: not connected */
	bool no_keyring;
	int64_t paused_until_ms; /* monotonic: the service did not answer */
	const char *place;       /* of the last value: static, or the file's path */
	char warning[560];       /* of the last call */
};

/* --- checking -------------------------------------------------------------------------------- */

static int secrets_check_name(const char *name, struct mcpool_error *reterr)
{
	if (!mp_secret_records_is_name(mp_str_of(name)))
		return mp_fail(reterr, MCPOOL_EINVAL,
			       "the name of a secret has 1 to %d characters of printable ASCII",
			       MP_LIMIT_SECRET_NAME);
	return 0;
}

static int64_t get_wall_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* --- the service ----------------------------------------------------------------------------- */

static void secrets_warn(struct mp_secrets *s, const char *what, const char *so)
{
	snprintf(s->warning, sizeof(s->warning), "%s; %s", what, so);
}

/*
 * 1: *ret is there, borrowed until it rests; 0: there is no service; negative: there is one, but it
 * does not work.
 */
static int secrets_connect(struct mp_secrets *s, struct mp_secret_service **ret,
			   struct mcpool_error *reterr)
{
	int64_t now_ms = mp_guard_now_ms();
	int r;

	if (s->no_keyring)
		return 0;
	if (now_ms < s->paused_until_ms)
		return mp_fail(reterr, MCPOOL_ETIMEDOUT, "the Secret Service does not answer");
	r = mp_secret_service_open(&s->service, reterr);
	if (r == MCPOOL_ETIMEDOUT)
		s->paused_until_ms = now_ms + SERVICE_PAUSE_MS;
	*ret = s->service;
	return r;
}

/* --- reading --------------------------------------------------------------------------------- */

static int secrets_none(const char *name, struct mcpool_error *reterr)
{
	return mp_fail(reterr, MCPOOL_ENOENT, "there is no secret '%s'", name);
}

/* A keyring that was never unlocked does not even say which secrets it has. */
static void secrets_warn_locked(struct mp_secrets *s, const struct mp_secret_service *service)
{
	const char *obstacle = mp_secret_service_get_obstacle(service);

	if (obstacle)
		secrets_warn(s, obstacle, "secrets in it are not found");
}

static int get_from_file(struct mp_secrets *s, const char *name, struct mp_buf *ret_value,
			 struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_secret_buf_done) struct mp_buf text;
	struct mp_secret_record record;
	int r;

	mp_buf_init(&text, MP_LIMIT_SECRETS_FILE);
	r = mp_secret_file_read(s->file, &text, reterr);
	if (r < 0)
		return r;
	if (!mp_secret_records_find(mp_buf_get(&text), mp_str_of(name), &record))
		return MCPOOL_ENOENT;
	r = mp_buf_add_str(ret_value, record.value);
	if (r < 0)
		return mp_fail(reterr, r, "no room for the secret '%s'", name);
	s->place = mp_secret_file_get_path(s->file);
	return 0;
}

static int get_from_service(struct mp_secrets *s, const char *name, struct mp_buf *ret_value,
			    struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_secret_service_restp) struct mp_secret_service *service = NULL;
	int r = secrets_connect(s, &service, reterr);

	if (r <= 0)
		return r < 0 ? r : MCPOOL_ENOENT;
	r = mp_secret_service_get(service, name, ret_value, reterr);
	if (r == 0)
		s->place = SERVICE_PLACE;
	else if (r == MCPOOL_ENOENT)
		secrets_warn_locked(s, service);
	return r;
}

int mp_secrets_get(struct mp_secrets *s, const char *name, struct mp_buf *ret_value,
		   struct mcpool_error *reterr)
{
	int r = secrets_check_name(name, reterr);

	if (r < 0)
		return r;
	pthread_mutex_lock(&s->lock);
	s->warning[0] = '\0';
	r = get_from_file(s, name, ret_value, reterr);
	if (r == MCPOOL_ENOENT)
		r = get_from_service(s, name, ret_value, reterr);
	pthread_mutex_unlock(&s->lock);
	return r == MCPOOL_ENOENT ? secrets_none(name, reterr) : r;
}

/* --- listing --------------------------------------------------------------------------------- */

struct listing {
	struct mp_secrets *s;
	struct mp_buf text; /* of the file */
	const char *prefix;
	mp_secrets_each fn;
	void *u;
	int n;
};

static void listing_done(struct listing *l)
{
	mp_secret_buf_done(&l->text);
}

static void listing_tell(struct listing *l, const char *name, const char *place, int64_t saved_ms)
{
	if (!mp_str_starts(mp_str_of(name), mp_str_of(l->prefix)))
		return;
	l->fn(l->u, name, place, saved_ms);
	l->n++;
}

static void list_file(struct listing *l)
{
	char name[MP_LIMIT_SECRET_NAME + 1];
	struct mp_secret_record record;
	size_t at = 0;

	while (mp_secret_records_next(mp_buf_get(&l->text), &at, &record) > 0) {
		snprintf(name, sizeof(name), "%.*s", MP_STR_ARGS(record.name));
		listing_tell(l, name, mp_secret_file_get_path(l->s->file), record.saved_ms);
	}
}

static void on_item(void *u, const char *name, int64_t saved_ms)
{
	struct listing *l = u;
	struct mp_secret_record record;

	if (!mp_secret_records_find(mp_buf_get(&l->text), mp_str_of(name), &record))
		listing_tell(l, name, SERVICE_PLACE, saved_ms);
}

/* What is in the file is shown also where the service does not work. */
static void list_service(struct listing *l)
{
	MP_CLEANUP(mp_secret_service_restp) struct mp_secret_service *service = NULL;
	struct mcpool_error why;
	const char *obstacle;
	int r = secrets_connect(l->s, &service, &why);

	if (r > 0)
		r = mp_secret_service_list(service, on_item, l, &why);
	obstacle = r < 0 ? why.message : service ? mp_secret_service_get_obstacle(service) : NULL;
	if (obstacle)
		secrets_warn(l->s, obstacle, "secrets in it are not listed");
}

int mp_secrets_list(struct mp_secrets *s, const char *prefix, mp_secrets_each fn, void *u,
		    struct mcpool_error *reterr)
{
	MP_CLEANUP(listing_done)
	struct listing l = {.s = s, .prefix = prefix, .fn = fn, .u = u};
	int r;

	mp_buf_init(&l.text, MP_LIMIT_SECRETS_FILE);
	pthread_mutex_lock(&s->lock);
	s->warning[0] = '\0';
	r = mp_secret_file_read(s->file, &l.text, reterr);
	if (r == 0) {
		list_file(&l);
		list_service(&l);
	}
	pthread_mutex_unlock(&s->lock);
	return r < 0 ? r : l.n;
}

/* --- writing --------------------------------------------------------------------------------- */

/* 1: saved in the service; 0: it is to be saved in the file, s->warning says why if need be. */
static int set_in_service(struct mp_secrets *s, const struct mp_secret_record *record,
			  const char *name)
{
	MP_CLEANUP(mp_secret_service_restp) struct mp_secret_service *service = NULL;
	struct mcpool_error why;
	int r = secrets_connect(s, &service, &why);

	if (r == 0)
		return 0;
	if (r > 0)
		r = mp_secret_service_set(service, name, record->value, &why);
	if (r < 0)
		secrets_warn(s, why.message, "the secret is kept in a sealed file");
	else
		s->place = SERVICE_PLACE;
	return r == 0;
}

static int set_in_file(struct mp_secrets *s, const struct mp_secret_record *record,
		       struct mcpool_error *reterr)
{
	int r = mp_secret_file_change(s->file, record->name, record, reterr);

	if (r > 0)
		s->place = mp_secret_file_get_path(s->file);
	return r < 0 ? r : 0;
}

/* 1: the file has a value of this name. */
static int is_in_file(struct mp_secrets *s, struct mp_str name, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_secret_buf_done) struct mp_buf text;
	struct mp_secret_record record;
	int r;

	mp_buf_init(&text, MP_LIMIT_SECRETS_FILE);
	r = mp_secret_file_read(s->file, &text, reterr);
	return r < 0 ? r : mp_secret_records_find(mp_buf_get(&text), name, &record);
}

/* An older value in the file is replaced first and removed last: see the top of this file. */
static int secrets_save(struct mp_secrets *s, const struct mp_secret_record *record,
			const char *name, struct mcpool_error *reterr)
{
	int r = is_in_file(s, record->name, reterr);
	bool in_file = r > 0;

	if (in_file)
		r = set_in_file(s, record, reterr);
	if (r < 0)
		return r;
	if (!set_in_service(s, record, name))
		return in_file ? 0 : set_in_file(s, record, reterr);
	r = in_file ? mp_secret_file_change(s->file, record->name, NULL, reterr) : 0;
	return r < 0 ? r : 0;
}

int mp_secrets_set(struct mp_secrets *s, const char *name, struct mp_str value,
		   struct mcpool_error *reterr)
{
	struct mp_secret_record record = {mp_str_of(name), value, get_wall_ms()};
	int r = secrets_check_name(name, reterr);

	if (r < 0)
		return r;
	if (value.len == 0 || value.len > MP_LIMIT_SECRET_VALUE)
		return mp_fail(reterr, MCPOOL_EINVAL,
			       "the value of secret '%s' is %s; it has 1 to %zu bytes", name,
			       value.len ? "too long" : "empty", MP_LIMIT_SECRET_VALUE);
	pthread_mutex_lock(&s->lock);
	s->warning[0] = '\0';
	r = secrets_save(s, &record, name, reterr);
	pthread_mutex_unlock(&s->lock);
	return r;
}

/* 1: removed; 0: there was none. */
static int remove_from_service(struct mp_secrets *s, const char *name, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_secret_service_restp) struct mp_secret_service *service = NULL;
	int r = secrets_connect(s, &service, reterr);

	if (r > 0)
		r = mp_secret_service_remove(service, name, reterr);
	if (r == 0 && service)
		secrets_warn_locked(s, service);
	return r;
}

/* From the service first: while the file still has it, a failure leaves the newer value. */
int mp_secrets_remove(struct mp_secrets *s, const char *name, struct mcpool_error *reterr)
{
	int r = secrets_check_name(name, reterr), of_service;

	if (r < 0)
		return r;
	pthread_mutex_lock(&s->lock);
	s->warning[0] = '\0';
	of_service = remove_from_service(s, name, reterr);
	r = of_service < 0 ? of_service
			   : mp_secret_file_change(s->file, mp_str_of(name), NULL, reterr);
	pthread_mutex_unlock(&s->lock);
	if (r < 0)
		return r;
	return r > 0 || of_service > 0 ? 0 : secrets_none(name, reterr);
}

/* --- life ------------------------------------------------------------------------------------ */

const char *mp_secrets_get_place(const struct mp_secrets *s)
{
	return s->place;
}

void mp_secrets_get_warning(struct mp_secrets *s, char *ret_words, size_t size)
{
	pthread_mutex_lock(&s->lock);
	snprintf(ret_words, size, "%s", s->warning);
	pthread_mutex_unlock(&s->lock);
}

static int secrets_find_file(const char *folder, struct mp_buf *out, struct mcpool_error *reterr)
{
	int r = folder ? mp_buf_addf(out, "%s/secrets", folder) : mp_path_state("secrets", out);

	if (r == 0)
		r = mp_buf_terminate(out);
	if (r == MCPOOL_ENOENT)
		return mp_fail(reterr, r, "HOME is not set, so there is no place for secrets");
	return r < 0 ? mp_fail(reterr, r, "the path of the file of secrets: %s",
			       mcpool_error_text(r))
		     : 0;
}

int mp_secrets_open(struct mp_secrets **ret, const struct mp_secrets_options *o,
		    struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf path;
	struct mp_secrets *s;
	int r;

	mp_buf_init(&path, PATH_MAX);
	r = secrets_find_file(o->folder, &path, reterr);
	if (r < 0)
		return r;
	s = mp_alloc(sizeof(*s));
	pthread_mutex_init(&s->lock, NULL);
	s->file = mp_secret_file_new(path.data, o->passphrase_command);
	s->place = mp_secret_file_get_path(s->file);
	s->no_keyring = o->no_keyring;
	*ret = s;
	return 0;
}

struct mp_secrets *mp_secrets_free(struct mp_secrets *s)
{
	if (!s)
		return NULL;
	mp_secret_file_free(s->file);
	mp_secret_service_free(s->service);
	pthread_mutex_destroy(&s->lock);
	return mp_free(s);
}
