/*
 * secret_service.c - secrets in the Secret Service of the user's session.
 * A running service may have a locked keyring (a daemon that was started without the password):
 * then creating an item fails without a prompt, so the property `Locked` is asked first. Methods
 * that return a prompt other than "/" want to show a window; that prompt is never started.
 */
#include "store/secret_service.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "store/secret_bus.h"
#include "store/secret_records.h"

#define SCHEMA "org.mcpool.Secret"

enum { MOST_ITEMS = 4096 };

struct mp_secret_service {
	struct mp_secret_bus bus;
	char *collection;     /* owned: path of the default keyring; NULL: there is none */
	const char *obstacle; /* static; NULL: values can be saved */
};

/* --- the keyring ----------------------------------------------------------------------------- */

static int collection_find(struct mp_secret_service *s, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_secret_message_done) struct mp_secret_message m = {0}, reply = {0};
	const char *path = NULL;
	int r = mp_secret_bus_begin(&s->bus, MP_SECRET_ROOT, MP_SECRET_INTERFACE "Service",
				    "ReadAlias", &m, reterr);

	if (r == 0 && s->bus.f->bus_message_append(m.m, "s", "default") < 0)
		r = mp_secret_bus_refuse(-ENOMEM, reterr);
	if (r == 0)
		r = mp_secret_bus_send(&s->bus, &m, &reply, reterr);
	if (r < 0)
		return r;
	r = s->bus.f->bus_message_read(reply.m, "o", &path);
	if (r <= 0)
		return mp_secret_bus_refuse(r, reterr);
	if (strcmp(path, "/") != 0)
		s->collection = mp_dup(path);
	return 0;
}

static int collection_check(struct mp_secret_service *s, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_secret_message_done) struct mp_secret_message reply = {0};
	int locked = 1, r;

	if (!s->collection) {
		s->obstacle = "the Secret Service has no default keyring";
		return 0;
	}
	r = mp_secret_bus_get_property(&s->bus, s->collection, MP_SECRET_INTERFACE "Collection",
				       "Locked", "b", &reply, reterr);
	if (r < 0)
		return r;
	r = s->bus.f->bus_message_read(reply.m, "b", &locked);
	if (r <= 0)
		return mp_secret_bus_refuse(r, reterr);
	if (locked)
		s->obstacle = "the default keyring of the Secret Service is locked";
	return 0;
}

const char *mp_secret_service_get_obstacle(const struct mp_secret_service *s)
{
	return s->obstacle;
}

/* --- items ----------------------------------------------------------------------------------- */

/* Paths of items. */
struct items {
	char **paths; /* owned */
	size_t n;
	bool some_locked;
};

static void items_done(struct items *items)
{
	for (size_t i = 0; i < items->n; i++)
		mp_free(items->paths[i]);
	mp_free(items->paths);
}

/* An array of paths; keep: else they are only counted. */
static int items_read(struct mp_secret_service *s, struct sd_bus_message *m, struct items *items,
		      bool keep)
{
	const char *path = NULL;
	int r = s->bus.f->bus_message_enter_container(m, 'a', "o");

	while (r > 0 && (r = s->bus.f->bus_message_read(m, "o", &path)) > 0) {
		items->some_locked |= !keep;
		if (keep && items->n < MOST_ITEMS)
			items->paths[items->n++] = mp_dup(path);
	}
	return r < 0 ? r : s->bus.f->bus_message_exit_container(m);
}

/* name NULL: all of ours. */
static int items_search(struct mp_secret_service *s, const char *name, struct items *ret,
			struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_secret_message_done) struct mp_secret_message m = {0}, reply = {0};
	int r = mp_secret_bus_begin(&s->bus, MP_SECRET_ROOT, MP_SECRET_INTERFACE "Service",
				    "SearchItems", &m, reterr);

	if (r < 0)
		return r;
	if (name)
		r = s->bus.f->bus_message_append(m.m, "a{ss}", 3, "xdg:schema", SCHEMA,
						 "application", "mcpool", "name", name);
	else
		r = s->bus.f->bus_message_append(m.m, "a{ss}", 2, "xdg:schema", SCHEMA,
						 "application", "mcpool");
	r = r < 0 ? mp_secret_bus_refuse(r, reterr)
		  : mp_secret_bus_send(&s->bus, &m, &reply, reterr);
	if (r < 0)
		return r;
	ret->paths = mp_try_alloc(MOST_ITEMS * sizeof(*ret->paths));
	if (!ret->paths)
		return mp_secret_bus_refuse(-ENOMEM, reterr);
	r = items_read(s, reply.m, ret, true);
	if (r >= 0)
		r = items_read(s, reply.m, ret, false);
	return r < 0 ? mp_secret_bus_refuse(r, reterr) : 0;
}

static int refuse_locked(const char *name, struct mcpool_error *reterr)
{
	return mp_fail(reterr, MCPOOL_EPERM,
		       "the secret '%s' is in a keyring of the Secret Service that is locked; "
		       "unlock it and try again",
		       name);
}

static int refuse_prompt(const char *name, struct mcpool_error *reterr)
{
	return mp_fail(reterr, MCPOOL_EPERM,
		       "the Secret Service wants to ask you about the secret '%s' in a window, "
		       "which is not supported",
		       name);
}

/* The secret of a reply: (session, parameters, value, content type). */
static int item_read(struct mp_secret_service *s, const struct mp_secret_message *reply,
		     struct mp_buf *ret_value, struct mcpool_error *reterr)
{
	const char *session = NULL;
	const void *iv = NULL, *value = NULL;
	size_t n_iv = 0, n = 0;
	int r = s->bus.f->bus_message_enter_container(reply->m, 'r', "oayays");

	if (r > 0)
		r = s->bus.f->bus_message_read(reply->m, "o", &session);
	if (r > 0)
		r = s->bus.f->bus_message_read_array(reply->m, 'y', &iv, &n_iv);
	if (r >= 0) /* 0: it is empty, as it is in a plain session */
		r = s->bus.f->bus_message_read_array(reply->m, 'y', &value, &n);
	if (r < 0)
		return mp_secret_bus_refuse(r, reterr);
	if (s->bus.encrypted)
		r = mp_secret_session_decrypt(&s->bus.keys, (struct mp_str){iv, n_iv},
					      (struct mp_str){value, n}, ret_value);
	else
		r = mp_buf_add(ret_value, value, n);
	return r < 0 ? mp_fail(reterr, r, "a secret of the Secret Service cannot be read: %s",
			       mcpool_error_text(r))
		     : 0;
}

int mp_secret_service_get(struct mp_secret_service *s, const char *name, struct mp_buf *ret_value,
			  struct mcpool_error *reterr)
{
	MP_CLEANUP(items_done) struct items items = {0};
	MP_CLEANUP(mp_secret_message_done) struct mp_secret_message m = {0}, reply = {0};
	int r = items_search(s, name, &items, reterr);

	if (r < 0)
		return r;
	if (items.n == 0 && items.some_locked)
		return refuse_locked(name, reterr);
	if (items.n == 0)
		return MCPOOL_ENOENT;
	r = mp_secret_bus_begin(&s->bus, items.paths[0], MP_SECRET_INTERFACE "Item", "GetSecret",
				&m, reterr);
	if (r == 0 && s->bus.f->bus_message_append(m.m, "o", s->bus.session) < 0)
		r = mp_secret_bus_refuse(-ENOMEM, reterr);
	if (r == 0)
		r = mp_secret_bus_send(&s->bus, &m, &reply, reterr);
	return r < 0 ? r : item_read(s, &reply, ret_value, reterr);
}

/* --- changes --------------------------------------------------------------------------------- */

static int item_append(struct mp_secret_service *s, struct mp_secret_message *m, const char *name,
		       struct mp_str value)
{
	MP_CLEANUP(mp_secret_buf_done) struct mp_buf sealed;
	unsigned char iv[MP_SECRET_IV];
	char label[MP_LIMIT_SECRET_NAME + 16];
	int r;

	mp_buf_init(&sealed, MP_LIMIT_SECRET_VALUE + MP_SECRET_AES);
	if (s->bus.encrypted && mp_secret_session_encrypt(&s->bus.keys, value, iv, &sealed) < 0)
		return -ENOMEM;
	snprintf(label, sizeof(label), "mcpool: %s", name);
	r = s->bus.f->bus_message_append(m->m, "a{sv}", 2, MP_SECRET_INTERFACE "Item.Label", "s",
					 label, MP_SECRET_INTERFACE "Item.Attributes", "a{ss}", 3,
					 "xdg:schema", SCHEMA, "application", "mcpool", "name",
					 name);
	if (r >= 0)
		r = s->bus.f->bus_message_open_container(m->m, 'r', "oayays");
	if (r >= 0)
		r = s->bus.f->bus_message_append(m->m, "o", s->bus.session);
	if (r >= 0)
		r = s->bus.f->bus_message_append_array(m->m, 'y', iv,
						       s->bus.encrypted ? sizeof(iv) : 0);
	if (s->bus.encrypted)
		value = mp_buf_get(&sealed);
	if (r >= 0)
		r = s->bus.f->bus_message_append_array(m->m, 'y', value.p, value.len);
	if (r >= 0)
		r = s->bus.f->bus_message_append(m->m, "s", "text/plain");
	if (r >= 0)
		r = s->bus.f->bus_message_close_container(m->m);
	return r < 0 ? r : s->bus.f->bus_message_append(m->m, "b", 1);
}

int mp_secret_service_set(struct mp_secret_service *s, const char *name, struct mp_str value,
			  struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_secret_message_done) struct mp_secret_message m = {0}, reply = {0};
	const char *item = NULL, *prompt = NULL;
	int r;

	if (s->obstacle)
		return mp_fail(reterr, MCPOOL_EPERM, "%s", s->obstacle);
	r = mp_secret_bus_begin(&s->bus, s->collection, MP_SECRET_INTERFACE "Collection",
				"CreateItem", &m, reterr);
	if (r < 0)
		return r;
	r = item_append(s, &m, name, value);
	r = r < 0 ? mp_secret_bus_refuse(r, reterr)
		  : mp_secret_bus_send(&s->bus, &m, &reply, reterr);
	if (r < 0)
		return r;
	r = s->bus.f->bus_message_read(reply.m, "oo", &item, &prompt);
	if (r <= 0)
		return mp_secret_bus_refuse(r, reterr);
	return strcmp(prompt, "/") != 0 ? refuse_prompt(name, reterr) : 0;
}

static int item_delete(struct mp_secret_service *s, const char *path, const char *name,
		       struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_secret_message_done) struct mp_secret_message m = {0}, reply = {0};
	const char *prompt = NULL;
	int r = mp_secret_bus_begin(&s->bus, path, MP_SECRET_INTERFACE "Item", "Delete", &m,
				    reterr);

	if (r == 0)
		r = mp_secret_bus_send(&s->bus, &m, &reply, reterr);
	if (r < 0)
		return r;
	r = s->bus.f->bus_message_read(reply.m, "o", &prompt);
	if (r <= 0)
		return mp_secret_bus_refuse(r, reterr);
	return strcmp(prompt, "/") != 0 ? refuse_prompt(name, reterr) : 0;
}

int mp_secret_service_remove(struct mp_secret_service *s, const char *name,
			     struct mcpool_error *reterr)
{
	MP_CLEANUP(items_done) struct items items = {0};
	int r = items_search(s, name, &items, reterr);

	for (size_t i = 0; i < items.n && r == 0; i++)
		r = item_delete(s, items.paths[i], name, reterr);
	if (r == 0 && items.some_locked)
		return refuse_locked(name, reterr);
	return r < 0 ? r : items.n > 0;
}

/* --- all of them ----------------------------------------------------------------------------- */

/* 1: it has a name. */
static int item_get_name(struct mp_secret_service *s, const char *path,
			 char ret_name[MP_LIMIT_SECRET_NAME + 1], struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_secret_message_done) struct mp_secret_message reply = {0};
	const char *key = NULL, *value = NULL;
	bool found = false;
	int r = mp_secret_bus_get_property(&s->bus, path, MP_SECRET_INTERFACE "Item", "Attributes",
					   "a{ss}", &reply, reterr);

	if (r < 0)
		return r;
	r = s->bus.f->bus_message_enter_container(reply.m, 'a', "{ss}");
	while (r > 0 && (r = s->bus.f->bus_message_read(reply.m, "{ss}", &key, &value)) > 0)
		if (strcmp(key, "name") == 0 && mp_secret_records_is_name(mp_str_of(value))) {
			snprintf(ret_name, MP_LIMIT_SECRET_NAME + 1, "%s", value);
			found = true;
		}
	return r < 0 ? mp_secret_bus_refuse(r, reterr) : found;
}

static int64_t item_get_time(struct mp_secret_service *s, const char *path)
{
	MP_CLEANUP(mp_secret_message_done) struct mp_secret_message reply = {0};
	uint64_t seconds = 0;

	if (mp_secret_bus_get_property(&s->bus, path, MP_SECRET_INTERFACE "Item", "Modified", "t",
				       &reply, NULL) < 0 ||
	    s->bus.f->bus_message_read(reply.m, "t", &seconds) <= 0 || seconds > INT32_MAX * 100ULL)
		return 0;
	return (int64_t)seconds * 1000;
}

int mp_secret_service_list(struct mp_secret_service *s, mp_secret_service_each fn, void *u,
			   struct mcpool_error *reterr)
{
	MP_CLEANUP(items_done) struct items items = {0};
	char name[MP_LIMIT_SECRET_NAME + 1];
	int r = items_search(s, NULL, &items, reterr);

	for (size_t i = 0; i < items.n && r >= 0; i++) {
		r = item_get_name(s, items.paths[i], name, reterr);
		if (r > 0)
			fn(u, name, item_get_time(s, items.paths[i]));
	}
	return r < 0 ? r : 0;
}

/* --- life ------------------------------------------------------------------------------------ */

static int service_begin(struct mp_secret_service *s, struct mcpool_error *reterr)
{
	int r = mp_secret_bus_open(&s->bus, reterr);

	if (r == 0)
		r = collection_find(s, reterr);
	if (r == 0)
		r = collection_check(s, reterr);
	return r;
}

/* A connection may have broken while it was not used. */
int mp_secret_service_open(struct mp_secret_service **service, struct mcpool_error *reterr)
{
	int r = *service ? service_begin(*service, reterr) : MCPOOL_EIO;

	if (r == MCPOOL_EIO) {
		mp_secret_service_free(*service);
		*service = mp_alloc(sizeof(**service));
		r = service_begin(*service, reterr);
	}
	if (r < 0)
		*service = mp_secret_service_free(*service);
	if (r == MCPOOL_ENOENT || r == MCPOOL_EIO)
		return 0; /* no bus; no service, or one that refuses */
	return r < 0 ? r : 1;
}

void mp_secret_service_rest(struct mp_secret_service *s)
{
	if (!s)
		return;
	mp_secret_bus_rest(&s->bus);
	s->collection = mp_free(s->collection);
	s->obstacle = NULL;
}

struct mp_secret_service *mp_secret_service_free(struct mp_secret_service *s)
{
	if (!s)
		return NULL;
	mp_secret_bus_done(&s->bus);
	mp_free(s->collection);
	return mp_free(s);
}
