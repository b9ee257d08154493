/*
 * secret_bus.c - a connection to the Secret Service: the session bus, calls with a time limit, and
 * the session in which values travel encrypted.
 */
#include "store/secret_bus.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/guard.h"

#define SERVICE    "org.freedesktop.secrets"
#define PROPERTIES "org.freedesktop.DBus.Properties"

enum { CALL_MS = 3000 };

/* --- calls ----------------------------------------------------------------------------------- */

static int secret_bus_fail(int errnum, const char *words, struct mcpool_error *reterr)
{
	if (errnum == -ETIMEDOUT)
		return mp_fail(reterr, MCPOOL_ETIMEDOUT,
			       "the Secret Service did not answer within %d s", CALL_MS / 1000);
	if (errnum == -ENOMEM)
		return mp_fail(reterr, MCPOOL_ENOMEM, "no memory for the Secret Service");
	return mp_fail(reterr, MCPOOL_EIO, "the Secret Service refused: %s",
		       words ? words : strerrordesc_np(errnum < 0 ? -errnum : errnum));
}

/* What we cannot read, or cannot write, of a message. */
int mp_secret_bus_refuse(int r, struct mcpool_error *reterr)
{
	if (r == -ENOMEM)
		return secret_bus_fail(r, NULL, reterr);
	return mp_fail(reterr, MCPOOL_EPROTO, "the Secret Service answered something else");
}

int mp_secret_bus_begin(struct mp_secret_bus *b, const char *path, const char *interface,
			const char *method, struct mp_secret_message *ret,
			struct mcpool_error *reterr)
{
	int r;

	mp_check(b->f); /* it is connected */
	*ret = (struct mp_secret_message){.f = b->f};
	r = b->f->bus_message_new_method_call(b->bus, &ret->m, SERVICE, path, interface, method);
	return r < 0 ? mp_secret_bus_refuse(r, reterr) : 0;
}

int mp_secret_bus_send(struct mp_secret_bus *b, const struct mp_secret_message *m,
		       struct mp_secret_message *ret, struct mcpool_error *reterr)
{
	struct mp_sd_error error = {0};
	int r;

	*ret = (struct mp_secret_message){.f = b->f};
	r = b->f->bus_call(b->bus, m->m, (uint64_t)CALL_MS * 1000, &error, &ret->m);
	b->is_stuck = r == -ETIMEDOUT;
	if (r < 0)
		r = secret_bus_fail(r, error.message ? error.message : error.name, reterr);
	b->f->bus_error_free(&error);
	return r < 0 ? r : 0;
}

/* Property of an object; the reply stands inside its variant. */
int mp_secret_bus_get_property(struct mp_secret_bus *b, const char *path, const char *interface,
			       const char *name, const char *type, struct mp_secret_message *ret,
			       struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_secret_message_done) struct mp_secret_message m = {0};
	int r = mp_secret_bus_begin(b, path, PROPERTIES, "Get", &m, reterr);

	if (r == 0 && b->f->bus_message_append(m.m, "ss", interface, name) < 0)
		r = mp_secret_bus_refuse(-ENOMEM, reterr);
	if (r == 0)
		r = mp_secret_bus_send(b, &m, ret, reterr);
	if (r < 0)
		return r;
	r = b->f->bus_message_enter_container(ret->m, 'v', type);
	return r <= 0 ? mp_secret_bus_refuse(r, reterr) : 0;
}

/* --- the bus --------------------------------------------------------------------------------- */

/* Only sockets: other kinds of addresses start programs. */
static bool is_socket_address(const char *address)
{
	do {
		if (strncmp(address, "unix:", 5) != 0)
			return false;
		address = strchr(address, ';');
	} while (address && *++address);
	return true;
}

/* As the D-Bus specification escapes values in addresses. */
static void bus_escape(const char *path, char *out, size_t size)
{
	size_t n = strlen(out);

	for (; *path && n + 4 < size; path++) {
		bool plain = (*path >= '0' && *path <= '9') || (*path >= 'A' && *path <= 'Z') ||
			     (*path >= 'a' && *path <= 'z') || strchr("-_/.\\*", *path);

		n += (size_t)snprintf(out + n, size - n, plain ? "%c" : "%%%02x",
				      (unsigned char)*path);
	}
}

static bool bus_find_address(char *out, size_t size)
{
	const char *address = getenv("DBUS_SESSION_BUS_ADDRESS");
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	char path[PATH_MAX];
	struct stat st;

	if (address && *address)
		return is_socket_address(address) &&
		       (size_t)snprintf(out, size, "%s", address) < size;
	if (!runtime || runtime[0] != '/' ||
	    (size_t)snprintf(path, sizeof(path), "%s/bus", runtime) >= sizeof(path) ||
	    stat(path, &st) < 0 || !S_ISSOCK(st.st_mode))
		return false;
	snprintf(out, size, "unix:path=");
	bus_escape(path, out, size);
	return true;
}

/* The library waits for the bus to greet us much longer than we do. */
static int bus_wait_ready(struct mp_secret_bus *b, struct mcpool_error *reterr)
{
	int64_t until = mp_guard_now_ms() + CALL_MS, left;
	int r;

	while ((r = b->f->bus_is_ready(b->bus)) == 0) {
		r = b->f->bus_process(b->bus, NULL);
		left = until - mp_guard_now_ms();
		if (r == 0 && left <= 0)
			return secret_bus_fail(-ETIMEDOUT, NULL, reterr);
		if (r == 0)
			r = b->f->bus_wait(b->bus, (uint64_t)left * 1000);
		if (r < 0 && r != -EINTR)
			break;
	}
	return r < 0 ? mp_fail(reterr, MCPOOL_ENOENT, "the session bus refuses us") : 0;
}

/* MCPOOL_ENOENT: there is no bus for us. */
static int bus_connect(struct mp_secret_bus *b, struct mcpool_error *reterr)
{
	char address[3 * PATH_MAX];

	b->f = bus_find_address(address, sizeof(address)) ? mp_sd_bus_load() : NULL;
	if (!b->f || b->f->bus_new(&b->bus) < 0 || b->f->bus_set_address(b->bus, address) < 0 ||
	    b->f->bus_set_bus_client(b->bus, 1) < 0 || b->f->bus_start(b->bus) < 0)
		return mp_fail(reterr, MCPOOL_ENOENT, "there is no session bus");
	return bus_wait_ready(b, reterr);
}

/* --- the session ----------------------------------------------------------------------------- */

static int session_read(struct mp_secret_bus *b, const struct mp_secret_message *reply,
			struct mcpool_error *reterr)
{
	const char *path = NULL;
	const void *bytes = NULL;
	size_t n = 0;
	int r = b->f->bus_message_enter_container(reply->m, 'v', b->encrypted ? "ay" : "s");

	if (r > 0 && b->encrypted)
		r = b->f->bus_message_read_array(reply->m, 'y', &bytes, &n);
	else if (r > 0)
		r = b->f->bus_message_read(reply->m, "s", &path);
	if (r > 0)
		r = b->f->bus_message_exit_container(reply->m);
	if (r > 0)
		r = b->f->bus_message_read(reply->m, "o", &path);
	if (r <= 0)
		return mp_secret_bus_refuse(r, reterr);
	b->session = mp_dup(path);
	r = b->encrypted ? mp_secret_session_finish(&b->keys, (struct mp_str){bytes, n}) : 0;
	return r < 0 ? mp_fail(reterr, r, "the Secret Service: no key was agreed on") : 0;
}

static int session_open_as(struct mp_secret_bus *b, bool encrypted, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_secret_message_done) struct mp_secret_message m = {0}, reply = {0};
	unsigned char public_key[MP_SECRET_DH];
	int r = mp_secret_bus_begin(b, MP_SECRET_ROOT, MP_SECRET_INTERFACE "Service", "OpenSession",
				    &m, reterr);

	b->encrypted = encrypted;
	if (r < 0)
		return r;
	if (!encrypted)
		r = b->f->bus_message_append(m.m, "sv", "plain", "s", "");
	else if (mp_secret_session_begin(&b->keys, public_key) < 0)
		r = -ENOMEM;
	else
		r = b->f->bus_message_append(m.m, "s", "dh-ietf1024-sha256-aes128-cbc-pkcs7");
	if (r >= 0 && encrypted)
		r = b->f->bus_message_open_container(m.m, 'v', "ay");
	if (r >= 0 && encrypted)
		r = b->f->bus_message_append_array(m.m, 'y', public_key, sizeof(public_key));
	if (r >= 0 && encrypted)
		r = b->f->bus_message_close_container(m.m);
	r = r < 0 ? mp_secret_bus_refuse(r, reterr) : mp_secret_bus_send(b, &m, &reply, reterr);
	return r < 0 ? r : session_read(b, &reply, reterr);
}

static int session_open(struct mp_secret_bus *b, struct mcpool_error *reterr)
{
	int r = session_open_as(b, true, reterr);

	return r == MCPOOL_EIO ? session_open_as(b, false, reterr) : r;
}

static int session_close(struct mp_secret_bus *b)
{
	MP_CLEANUP(mp_secret_message_done) struct mp_secret_message m = {0}, reply = {0};
	struct mcpool_error why;
	int r = mp_secret_bus_begin(b, b->session, MP_SECRET_INTERFACE "Session", "Close", &m,
				    &why);

	return r < 0 ? r : mp_secret_bus_send(b, &m, &reply, &why);
}

/* --- life ------------------------------------------------------------------------------------ */

int mp_secret_bus_open(struct mp_secret_bus *b, struct mcpool_error *reterr)
{
	int r = b->bus ? 0 : bus_connect(b, reterr);

	return r < 0 ? r : session_open(b, reterr);
}

static void bus_disconnect(struct mp_secret_bus *b)
{
	if (!b->bus)
		return;
	b->f->bus_close(b->bus);
	b->bus = b->f->bus_unref(b->bus);
}

/*
 * GNOME Keyring (42) notes a new client in an event of its own, which the client's first call may
 * overtake: about once in 10,000 connections it finds no client and aborts. So there are few.
 */
void mp_secret_bus_rest(struct mp_secret_bus *b)
{
	if (b->is_stuck || (b->session && session_close(b) < 0))
		bus_disconnect(b); /* which ends the session, too */
	b->is_stuck = false;
	b->session = mp_free(b->session);
	mp_secret_session_done(&b->keys);
}

void mp_secret_bus_done(struct mp_secret_bus *b)
{
	bus_disconnect(b);
	mp_free(b->session);
	mp_secret_session_done(&b->keys);
}
