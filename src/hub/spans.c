/*
 * spans.c - sends a span for each call that ended to a collector.
 * One request is under way at a time. It is sent again a few times where OTLP says that this may
 * help; meanwhile spans wait for the next one.
 */
#include "hub/spans.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/secrets.h"
#include "hub/otlp_text.h"
#include "net/http_client.h"
#include "net/url.h"

enum { TRIES = 3, CONNECT_MS = 5000, TOTAL_MS = 10000, HEADERS = 32 };
#define SPANS_BYTES MP_MIB(4) /* of spans that wait */

static const struct mp_log spans_log = {"otlp"};

/* Spans with commas between them. */
struct span_list {
	struct mp_buf text;
	size_t n;
};

struct mp_spans {
	struct mp_loop *loop;
	struct mp_call_log *calls;
	struct mp_arena texts; /* of the next four */
	const char *url, *service;
	struct mp_http_header headers[HEADERS];
	size_t n_headers;
	struct mp_http_client *client; /* owned */
	struct span_list waiting;
	struct span_list sent; /* in the request that is under way, or is to be sent again */
	bool is_sending;
	int tries, status;
	struct mp_timer timer; /* for what waits, or for the next try */
	uint64_t next;         /* number of the record to read next */
	struct mp_call_listener listener;
	uint64_t lost;
	bool is_failing;  /* and that is said */
	bool is_finished; /* nothing is sent again */
};

static void spans_lose(struct mp_spans *s, uint64_t n, const char *why)
{
	s->lost += n;
	if (!s->is_failing)
		mp_log_warn(&spans_log, "spans are lost: %s", why);
	s->is_failing = true;
}

static void list_clear(struct span_list *l)
{
	mp_buf_done(&l->text); /* gives a large buffer back */
	mp_buf_init(&l->text, SPANS_BYTES);
	l->n = 0;
}

/* --- sending --------------------------------------------------------------------------------- */

static void spans_send(struct mp_spans *s);

static void spans_go_on(struct mp_spans *s)
{
	list_clear(&s->sent);
	s->tries = 0;
	if (s->waiting.n >= MP_SPANS_BATCH || (s->waiting.n && s->is_finished))
		spans_send(s);
	else if (s->waiting.n)
		mp_timer_start(&s->timer, MP_SPANS_WAIT_MS);
}

static bool may_help(int status)
{
	return status == 0 || status == 429 || status == 502 || status == 503 || status == 504;
}

static void spans_fail(struct mp_spans *s, const char *why)
{
	if (may_help(s->status) && ++s->tries < TRIES && !s->is_finished) {
		mp_timer_start(&s->timer, (int64_t)MP_SPANS_WAIT_MS << s->tries);
		return;
	}
	spans_lose(s, s->sent.n, why);
	spans_go_on(s);
}

static void spans_head(void *u, const struct mp_http_head *head)
{
	((struct mp_spans *)u)->status = head->status;
}

static void spans_done(void *u, enum mp_http_end how, const struct mcpool_error *err)
{
	struct mp_spans *s = u;
	char words[80];

	s->is_sending = false;
	if (how != MP_HTTP_OK) {
		s->status = 0;
		spans_fail(s, err->message);
		return;
	}
	if (s->status / 100 != 2) {
		snprintf(words, sizeof(words), "the collector answers %d", s->status);
		spans_fail(s, words);
		return;
	}
	if (s->is_failing)
		mp_log_warn(&spans_log, "spans are taken again; %llu are lost",
			    (unsigned long long)s->lost);
	s->is_failing = false;
	spans_go_on(s);
}

static const struct mp_http_hooks spans_hooks = {.head = spans_head, .done = spans_done};

static int spans_post(struct mp_spans *s, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf body;
	struct mp_http_request request = {
		.url = s->url,
		.headers = s->headers,
		.n_headers = s->n_headers,
		.connect_ms = CONNECT_MS,
		.total_ms = TOTAL_MS,
	};
	mp_id id;
	int r;

	mp_buf_init(&body, 2 * SPANS_BYTES);
	r = mp_otlp_write_request(&body, s->service, mp_buf_get(&s->sent.text));
	if (r < 0)
		return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	request.body = mp_buf_get(&body);
	return mp_http_start(s->client, &request, &spans_hooks, s, &id, reterr);
}

static void spans_send(struct mp_spans *s)
{
	struct mcpool_error why;

	mp_timer_stop(&s->timer);
	if (s->is_sending)
		return;
	if (!s->sent.n) {
		struct span_list empty = s->sent;

		s->sent = s->waiting;
		s->waiting = empty;
	}
	if (!s->sent.n)
		return;
	s->status = 0;
	s->is_sending = spans_post(s, &why) == 0;
	if (s->is_sending)
		return;
	spans_lose(s, s->sent.n, why.message);
	list_clear(&s->sent);
}

static void spans_due(void *u)
{
	spans_send(u);
}

/* --- calls ----------------------------------------------------------------------------------- */

static int spans_write(struct mp_spans *s, const struct mp_call_record *r)
{
	struct span_list *l = &s->waiting;
	size_t before = l->text.len;
	int error = l->n < MP_SPANS_MOST ? 0 : MCPOOL_ELIMIT;

	if (error == 0 && l->n)
		error = mp_buf_add_char(&l->text, ',');
	if (error == 0)
		error = mp_otlp_add_span(&l->text, r);
	if (error < 0)
		l->text.len = before;
	return error;
}

/* A turn ended in which calls ended. */
static void spans_read(void *u)
{
	struct mp_spans *s = u;
	const struct mp_call_record *r;
	uint64_t missed;

	while ((r = mp_call_log_read(s->calls, &s->next, &missed))) {
		if (missed)
			spans_lose(s, missed, "calls end too fast");
		if (r->trace.is_unsampled)
			continue;
		if (spans_write(s, r) < 0)
			spans_lose(s, 1, "the collector is too slow");
		else
			s->waiting.n++;
	}
	if (s->sent.n)
		return; /* they wait for its end */
	if (s->waiting.n >= MP_SPANS_BATCH)
		spans_send(s);
	else if (s->waiting.n && !mp_timer_is_running(&s->timer))
		mp_timer_start(&s->timer, MP_SPANS_WAIT_MS);
}

/* --- life ------------------------------------------------------------------------------------ */

/* An address of a collector, or of its /v1/traces. */
static int spans_set_url(struct mp_spans *s, const char *endpoint, struct mcpool_error *reterr)
{
	struct mp_str base = mp_str_of(endpoint), path = MP_STR("/v1/traces");
	struct mp_url parts;
	char text[2048];

	while (base.len && base.p[base.len - 1] == '/')
		base.len--;
	if (base.len >= path.len && memcmp(base.p + base.len - path.len, path.p, path.len) == 0)
		base.len -= path.len;
	if (snprintf(text, sizeof(text), "%.*s%s", MP_STR_ARGS(base), path.p) >=
		    (int)sizeof(text) ||
	    mp_url_read(text, &s->texts, &parts) < 0)
		return mp_fail(reterr, MCPOOL_EINVAL,
			       "otlp.endpoint must be an address such as http://127.0.0.1:4318");
	s->url = mp_arena_dup(&s->texts, mp_str_of(text));
	return s->url ? 0 : mp_fail(reterr, MCPOOL_ENOMEM, "%s", mcpool_error_text(MCPOOL_ENOMEM));
}

/* They may have a token, so no log shows them. */
static int spans_set_headers(struct mp_spans *s, const struct mp_bind_map *headers,
			     struct mcpool_error *reterr)
{
	s->headers[s->n_headers++] =
		(struct mp_http_header){MP_STR("Content-Type"), MP_STR("application/json")};
	for (size_t i = 0; i < headers->n; i++) {
		const char *name = mp_arena_dup(&s->texts, mp_str_of(headers->items[i].key));
		const char *value = mp_arena_dup(&s->texts, mp_str_of(headers->items[i].value));

		if (s->n_headers == HEADERS)
			return mp_fail(reterr, MCPOOL_EINVAL, "otlp.headers has more than %d",
				       HEADERS - 1);
		if (!name || !value || mp_secret_add(mp_str_of(value)) < 0)
			return mp_fail(reterr, MCPOOL_ENOMEM, "%s",
				       mcpool_error_text(MCPOOL_ENOMEM));
		s->headers[s->n_headers++] =
			(struct mp_http_header){mp_str_of(name), mp_str_of(value)};
	}
	return 0;
}

static int spans_set_up(struct mp_spans *s, const struct mp_otlp_settings *settings,
			struct mcpool_error *reterr)
{
	int r = spans_set_url(s, settings->endpoint, reterr);

	if (r == 0)
		r = spans_set_headers(s, &settings->headers, reterr);
	if (r < 0)
		return r;
	s->service = mp_arena_dup(&s->texts, mp_str_of(settings->service));
	r = s->service ? mp_http_client_new(s->loop, &s->client) : MCPOOL_ENOMEM;
	return r < 0 ? mp_fail(reterr, r, "%s", mcpool_error_text(r)) : 0;
}

int mp_spans_new(struct mp_loop *loop, struct mp_call_log *calls,
		 const struct mp_otlp_settings *settings, struct mp_spans **ret_spans,
		 struct mcpool_error *reterr)
{
	struct mp_spans *s = mp_alloc(sizeof(*s));
	int r;

	s->loop = loop;
	s->calls = calls;
	s->next = calls->last + 1;
	mp_arena_init(&s->texts, MP_MIB(1));
	mp_buf_init(&s->waiting.text, SPANS_BYTES);
	mp_buf_init(&s->sent.text, SPANS_BYTES);
	mp_timer_init(&s->timer, loop, spans_due, s);
	mp_call_listener_join(calls, &s->listener, spans_read, s);
	r = spans_set_up(s, settings, reterr);
	if (r < 0) {
		mp_spans_free(s);
		return r;
	}
	*ret_spans = s;
	return 0;
}

bool mp_spans_finish(struct mp_spans *s)
{
	if (!s)
		return true;
	spans_read(s);
	s->is_finished = true;
	spans_send(s);
	return !s->is_sending;
}

struct mp_spans *mp_spans_free(struct mp_spans *s)
{
	if (!s)
		return NULL;
	mp_call_listener_leave(s->calls, &s->listener);
	mp_timer_stop(&s->timer);
	mp_http_client_free(s->client);
	for (size_t i = 1; i < s->n_headers; i++) /* the first is ours */
		mp_secret_remove(s->headers[i].value);
	mp_buf_done(&s->waiting.text);
	mp_buf_done(&s->sent.text);
	mp_arena_done(&s->texts);
	return mp_free(s);
}

uint64_t mp_spans_count_lost(const struct mp_spans *s)
{
	return s->lost;
}
