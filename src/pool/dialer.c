/*
 * dialer.c - makes a transport from resolved values.
 * All transports of configured servers are made here (D14).
 */
#include "pool/dialer.h"

#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/mem.h"
#include "net/http_client.h"
#include "process/stdio.h"
#include "transport/destination.h"
#include "transport/http_detect.h"
#include "transport/websocket.h"

enum { KIND_MS = 24 * 3600 * 1000 }; /* a detected transport kind is reused for a day */

struct mp_dialer {
	struct mp_loop *loop;
	char *exe; /* owned; NULL: this program */
	struct mp_launcher *launcher;
	struct mp_http_client *http;
	struct mp_map kinds; /* launch key to struct kind, owned */
};

/* The kind that was detected (http or sse), if the configuration was wrong. */
struct kind {
	struct mp_dialer *dialer;
	struct mp_log log;
	enum mp_http_detect_kind configured, found;
	int64_t until_wall_ms; /* 0: as configured */
};

/* --- http or sse ---------------------------------------------------------------------------- */

static void turned_out(void *u, enum mp_http_detect_kind found)
{
	struct kind *k = u;

	if (k->until_wall_ms == 0 && found != k->configured)
		mp_log_info(&k->log,
			    "configured as \"%s\", but it speaks \"%s\": change its \"type\" to "
			    "save a request at each start",
			    mp_http_detect_kind_get_name(k->configured),
			    mp_http_detect_kind_get_name(found));
	k->found = found;
	k->until_wall_ms =
		found == k->configured ? 0 : mp_loop_wall_now_ms(k->dialer->loop) + KIND_MS;
}

/* NULL: the table is full, and the result is not cached. */
static struct kind *find_kind(struct mp_dialer *d, const struct mp_dialer_target *dial)
{
	struct mp_str key = {(const char *)dial->resolved->launch_key, MP_DIGEST_SIZE};
	struct kind *k = mp_map_get(&d->kinds, key);

	if (k)
		return k;
	k = mp_alloc(sizeof(*k));
	k->dialer = d;
	k->configured =
		dial->resolved->kind == MP_KIND_SSE ? MP_HTTP_DETECT_SSE : MP_HTTP_DETECT_HTTP;
	k->log = *dial->log;
	if (mp_map_set(&d->kinds, key, k) < 0)
		return mp_free(k);
	return k;
}

static enum mp_http_detect_kind choose_kind(const struct mp_dialer *d, const struct kind *k,
					    enum mp_kind configured)
{
	if (k && k->until_wall_ms > mp_loop_wall_now_ms(d->loop))
		return k->found;
	return configured == MP_KIND_SSE ? MP_HTTP_DETECT_SSE : MP_HTTP_DETECT_HTTP;
}

/* --- remote servers ------------------------------------------------------------------------- */

static void destination_done(struct mp_destination *to)
{
	mp_destination_done(to);
}

static char *dup_or_null(const char *text)
{
	return text ? mp_dup(text) : NULL;
}

static int dialer_describe(const struct mp_resolved *r, struct mp_destination *to,
			   struct mcpool_error *reterr)
{
	int e = mp_destination_init(to, r->url, reterr);

	if (e < 0)
		return e;
	for (size_t i = 0; i < r->headers.n && e == 0; i++)
		e = mp_http_fields_add(&to->headers, mp_str_of(r->headers.items[i].key),
				       mp_str_of(r->headers.items[i].value));
	if (e < 0)
		return mp_fail(reterr, e, "its headers: %s", mcpool_error_text(e));
	to->ca_file = dup_or_null(r->ca_file);
	to->cert_file = dup_or_null(r->cert_file);
	to->key_file = dup_or_null(r->key_file);
	return 0;
}

static int dial_remote(struct mp_dialer *d, const struct mp_dialer_target *dial,
		       struct mp_transport **ret_transport, struct mcpool_error *reterr)
{
	MP_CLEANUP(destination_done) struct mp_destination to = {.url = NULL};
	struct mp_http_detect_options options = {.first = MP_HTTP_DETECT_HTTP};
	int r = dialer_describe(dial->resolved, &to, reterr);

	to.authorization = dial->authorization;
	if (r == 0 && !d->http) {
		r = mp_http_client_new(d->loop, &d->http);
		if (r < 0)
			r = mp_fail(reterr, r, "no HTTP client: %s", mcpool_error_text(r));
	}
	if (r < 0)
		return r;
	if (dial->resolved->kind == MP_KIND_WEBSOCKET)
		return mp_websocket_new(d->loop, d->http, &to, ret_transport, reterr);
	options.u = find_kind(d, dial);
	options.turned_out = options.u ? turned_out : NULL;
	options.first = choose_kind(d, options.u, dial->resolved->kind);
	return mp_http_detect_new(d->loop, d->http, &to, &options, ret_transport, reterr);
}

/* --- processes ------------------------------------------------------------------------------ */

static int dialer_need_launcher(struct mp_dialer *d, struct mcpool_error *reterr)
{
	return d->launcher ? 0 : mp_launcher_new(d->loop, d->exe, &d->launcher, reterr);
}

void mp_dialer_open_launcher(struct mp_dialer *d)
{
	struct mcpool_error why;

	(void)!dialer_need_launcher(d, &why); /* the first dial tries again and reports the error */
}

static int dial_stdio(struct mp_dialer *d, const struct mp_dialer_target *dial,
		      struct mp_transport **ret_transport, struct mcpool_error *reterr)
{
	struct mp_launch launch = {
		.argv = (const char *const *)dial->resolved->argv,
		.env = (const char *const *)dial->environment,
		.cwd = dial->resolved->cwd,
		.seen = dial->seen,
	};
	int r = dialer_need_launcher(d, reterr);

	if (r == 0)
		*ret_transport = mp_stdio_new(d->launcher, &launch, dial->log_file);
	return r;
}

/* --- interface ------------------------------------------------------------------------------ */

int mp_dialer_dial(struct mp_dialer *d, const struct mp_dialer_target *dial,
		   struct mp_transport **ret_transport, struct mcpool_error *reterr)
{
	if (dial->resolved->kind == MP_KIND_STDIO)
		return dial_stdio(d, dial, ret_transport, reterr);
	return dial_remote(d, dial, ret_transport, reterr);
}

struct mp_dialer *mp_dialer_new(struct mp_loop *loop, const char *exe)
{
	struct mp_dialer *d = mp_alloc(sizeof(*d));

	d->loop = loop;
	d->exe = dup_or_null(exe);
	mp_map_init(&d->kinds, MP_LIMIT_ERAS);
	return d;
}

struct mp_dialer *mp_dialer_free(struct mp_dialer *d)
{
	const struct mp_map_entry *e;
	size_t cursor = 0;

	if (!d)
		return NULL;
	mp_launcher_free(d->launcher);
	mp_http_client_free(d->http);
	while ((e = mp_map_next(&d->kinds, &cursor)))
		mp_free(e->value);
	mp_map_done(&d->kinds);
	mp_free(d->exe);
	return mp_free(d);
}
