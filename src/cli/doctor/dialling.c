/*
 * dialling.c - one HEAD request to each approved remote server, all at once.
 */
#include "cli/doctor/dialling.h"

#include <time.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/loop.h"
#include "cli/doctor/examination.h"
#include "net/http_client.h"
#include "transport/destination.h"

enum { DIAL_MS = 3000, PROMPT_MS = 1000 };

struct dialling {
	struct mp_doctor *d;
	struct mp_loop *loop;
	struct mp_http_client *http;
	struct head_request *requests;
	size_t n, open;
};

struct head_request {
	struct dialling *all;
	struct mp_dialled *to;
	int64_t began_ms;
};

int64_t mp_dialling_read_date(struct mp_str text)
{
	char copy[64];
	struct tm tm = {0};
	const char *end;

	if (text.len == 0 || text.len >= sizeof(copy))
		return 0;
	memcpy(copy, text.p, text.len);
	copy[text.len] = '\0';
	end = strptime(copy, "%a, %d %b %Y %H:%M:%S GMT", &tm);
	return end && !*end ? (int64_t)timegm(&tm) * 1000 : 0;
}

static void head_request_answered(void *u, const struct mp_http_head *head)
{
	struct head_request *rq = u;

	rq->to->date_ms = mp_dialling_read_date(mp_http_head_find(head, MP_STR("Date")));
	rq->to->our_ms = mp_configured_now();
	rq->to->is_late = mp_loop_now_ms(rq->all->loop) - rq->began_ms > PROMPT_MS;
}

static void head_request_done(void *u, enum mp_http_end how, const struct mcpool_error *err)
{
	struct head_request *rq = u;
	bool answered = rq->to->our_ms > 0; /* some servers hang up after a HEAD */

	if (how != MP_HTTP_OK && !answered) {
		rq->to->has_failed = true;
		rq->to->why = *err;
	}
	if (--rq->all->open == 0)
		mp_loop_stop(rq->all->loop);
}

static void head_request_sent(void *u)
{
	(void)u;
}

static const struct mp_http_hooks hooks = {
	.sent = head_request_sent,
	.head = head_request_answered,
	.done = head_request_done,
};

static int head_request_start(struct head_request *rq, const struct mp_resolved *to)
{
	MP_CLEANUP(mp_destination_done) struct mp_destination place = {.url = NULL};
	struct mp_http_request request = {
		.method = "HEAD",
		.connect_ms = DIAL_MS,
		.total_ms = DIAL_MS,
		.ca_file = to->ca_file,
		.cert_file = to->cert_file,
		.key_file = to->key_file,
		.is_quiet = true,
	};
	mp_id id;
	int r = mp_destination_init(&place, to->url, &rq->to->why);

	request.url = place.url;
	rq->began_ms = mp_loop_now_ms(rq->all->loop);
	if (r == 0)
		r = mp_http_start(rq->all->http, &request, &hooks, rq, &id, &rq->to->why);
	return r;
}

/* What cannot be resolved is another check's finding. */
static void dialling_add(struct dialling *all, const struct mp_entry *e, struct mp_dialled *to)
{
	struct mp_resolved out;
	struct mcpool_error why;

	if (mp_doctor_resolve(all->d, e, &out, &why) == 0 && out.url &&
	    !strstr(out.url, "${secret:")) { /* only the hub can fill that in */
		struct head_request *rq = &all->requests[all->n];

		*rq = (struct head_request){.all = all, .to = to};
		*to = (struct mp_dialled){.e = e};
		all->n++;
		if (head_request_start(rq, &out) == 0)
			all->open++;
		else
			to->has_failed = true;
	}
	mp_resolved_done(&out);
}

static int dialling_open(struct dialling *all)
{
	int r = mp_loop_new(&all->loop);

	return r < 0 ? r : mp_http_client_new(all->loop, &all->http);
}

static void dialling_close(struct dialling *all)
{
	mp_http_client_free(all->http);
	if (all->loop)
		mp_loop_free(all->loop);
}

int mp_dialling_run(struct mp_doctor *d, struct mp_dialled **ret, size_t *ret_n)
{
	MP_CLEANUP(dialling_close) struct dialling all = {.d = d};
	size_t n = d->c->set->n;
	struct mp_dialled *items = mp_arena_alloc_array(&d->arena, n + 1, sizeof(*items));
	int r;

	all.requests = mp_arena_alloc_array(&d->arena, n + 1, sizeof(*all.requests));
	if (!items || !all.requests)
		return mp_arena_get_error(&d->arena);
	r = dialling_open(&all);
	for (size_t i = 0; i < n && r == 0; i++) {
		const struct mp_entry *e = d->c->set->entries[i];

		if (mp_doctor_is_about(d, e) && e->kind != MP_KIND_STDIO)
			dialling_add(&all, e, &items[all.n]);
	}
	if (r == 0 && all.open)
		mp_loop_run(all.loop);
	*ret = items;
	*ret_n = all.n;
	return r;
}
