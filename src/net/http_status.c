/*
 * http_status.c - what a status means to the client: success, redirect, authentication, retry
 * later.
 */
#include "net/http_status.h"

#include <curl/curl.h>
#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/redact.h"

enum { SNIPPET = 160 };

enum mp_http_status mp_http_status_of(int status)
{
	switch (status) {
	case 401:
	case 403:
		return MP_HTTP_LOCKED;
	case 404:
	case 405:
	case 410:
		return MP_HTTP_ABSENT;
	case 429:
	case 503:
		return MP_HTTP_BUSY;
	default:
		break;
	}
	if (status >= 200 && status < 300)
		return MP_HTTP_FINE;
	if (status >= 300 && status < 400)
		return MP_HTTP_MOVED;
	return status >= 500 ? MP_HTTP_FAULTY : MP_HTTP_REJECTED;
}

static int code_of(enum mp_http_status v)
{
	static const int codes[] = {
		[MP_HTTP_FINE] = MCPOOL_EPROTO,        [MP_HTTP_MOVED] = MCPOOL_EPROTO,
		[MP_HTTP_LOCKED] = MCPOOL_ENEEDS_AUTH, [MP_HTTP_ABSENT] = MCPOOL_ENOENT,
		[MP_HTTP_BUSY] = MCPOOL_EAGAIN,        [MP_HTTP_FAULTY] = MCPOOL_EIO,
		[MP_HTTP_REJECTED] = MCPOOL_EPROTO,
	};

	return codes[v];
}

/* For the statuses that people meet; the server's own phrase may be anything. */
static const char *phrase_of(int status)
{
	static const struct {
		int status;
		const char *words;
	} phrases[] = {
		{400, "bad request"},
		{401, "not logged in"},
		{403, "forbidden"},
		{404, "not found"},
		{405, "not allowed there"},
		{406, "not acceptable"},
		{410, "gone"},
		{413, "too large"},
		{415, "wrong kind"},
		{429, "too many requests"},
		{500, "internal error"},
		{502, "bad gateway"},
		{503, "unavailable"},
		{504, "gateway timeout"},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(phrases); i++)
		if (phrases[i].status == status)
			return phrases[i].words;
	return NULL;
}

int mp_http_status_read_retry(const struct mp_http_head *head, int64_t wall_ms)
{
	struct mp_str value = mp_str_trim(mp_http_head_find(head, MP_STR("Retry-After")));
	int64_t ms;
	char date[64];

	if (value.len == 0 || value.len >= sizeof(date))
		return 0;
	if (mp_str_to_i64(value, &ms) == 0) {
		ms = ms > MP_RETRY_AFTER_MAX_MS / 1000 ? MP_RETRY_AFTER_MAX_MS
		     : ms < 0                          ? 0
						       : ms * 1000;
	} else {
		time_t then;

		(void)snprintf(date, sizeof(date), "%.*s", MP_STR_ARGS(value));
		then = curl_getdate(date, NULL);
		ms = then < 0 ? 0 : (int64_t)then * 1000 - wall_ms;
	}
	if (ms > MP_RETRY_AFTER_MAX_MS)
		ms = MP_RETRY_AFTER_MAX_MS;
	return ms > 0 ? (int)ms : 0;
}

/* Pages of HTML say nothing in their first line. */
static bool is_readable(const struct mp_http_head *head, struct mp_str body)
{
	struct mp_str type = mp_http_head_find(head, MP_STR("Content-Type"));

	return body.len && body.p[0] != '<' && mp_str_find(type, MP_STR("html"), 0) < 0;
}

void mp_http_status_explain(const struct mp_http_head *head, struct mp_str body, const char *place,
			    int64_t wall_ms, struct mcpool_error *ret)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf said;
	enum mp_http_status v = mp_http_status_of(head->status);
	const char *phrase = phrase_of(head->status);
	int retry_ms = mp_http_status_read_retry(head, wall_ms);
	struct mp_str text = mp_str_trim(body);
	bool cut = text.len > SNIPPET;

	mp_buf_init(&said, 4 * SNIPPET + 64);
	if (cut)
		text.len = SNIPPET;
	if (!is_readable(head, text) || mp_redact(text, cut, &said) < 0)
		mp_buf_clear(&said); /* a text that cannot be shown is left out */
	(void)mp_fail(ret, code_of(v), "%s answered HTTP %d%s%s%s%s%.*s%s", place, head->status,
		      phrase ? " (" : "", phrase ? phrase : "", phrase ? ")" : "",
		      said.len ? ": " : "", MP_STR_ARGS(mp_buf_get(&said)),
		      cut && said.len ? "…" : "");
	ret->retry_ms = retry_ms;
	ret->fault = MCPOOL_FAULT_HTTP_STATUS;
}
