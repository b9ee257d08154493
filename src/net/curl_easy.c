/*
 * curl_easy.c - one transfer of curl: its target, which addresses it may reach, how it failed.
 */
#include "net/curl_easy.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"

const char *mp_curl_easy_get_place(struct mp_curl_easy *d)
{
	char *url = NULL;

	if (!d->place[0] && curl_easy_getinfo(d->handle, CURLINFO_EFFECTIVE_URL, &url) == CURLE_OK)
		mp_curl_options_place(url ? url : "", d->place);
	return d->place;
}

/* --- which addresses it may reach ----------------------------------------------------------- */

/* Sockets to a proxy are not judged: the user named it, and the target was judged before. */

static bool may_reach(struct mp_curl_easy *d, enum mp_zone zone)
{
	if (mp_zone_may_reach(d->from, zone))
		return true;
	d->end = MP_HTTP_ZONE;
	mp_fail(&d->why, MCPOOL_EPERM, "%s is in %s, where a server in %s may not send us",
		mp_curl_easy_get_place(d), mp_zone_get_words(zone), mp_zone_get_words(d->from));
	return false;
}

static curl_socket_t open_socket(void *u, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct mp_curl_easy *d = u;

	(void)purpose;
	if (!d->has_proxy && !may_reach(d, mp_zone_of(&address->addr)))
		return CURL_SOCKET_BAD;
	return mp_curl_multi_open_socket(d->multi, address, d->plain);
}

bool mp_curl_easy_may_use(struct mp_curl_easy *d, const char *ip)
{
	if (!d->has_proxy) {
		d->zone = mp_zone_of_text(ip);
		if (!may_reach(d, d->zone))
			return false;
	}
	d->connected = true;
	d->end = MP_HTTP_OK; /* another address of the name was allowed */
	return true;
}

/* The last one was for the same address as often as not. */
static int read_target(struct mp_curl_multi *multi, const char *url, struct mcpool_error *reterr)
{
	const char *last = multi->last.url;

	if (last && url && strcmp(last, url) == 0)
		return 0;
	return mp_http_target_read(&multi->last, url, reterr);
}

/* --- life ----------------------------------------------------------------------------------- */

int mp_curl_easy_init(struct mp_curl_easy *d, struct mp_curl_multi *multi,
		      const struct mp_http_request *request,
		      void (*over)(struct mp_http_job *job, CURLcode code),
		      struct mcpool_error *reterr)
{
	CURL *easy = mp_curl_multi_get_easy(multi);
	int r;

	*d = (struct mp_curl_easy){
		.multi = multi, .job = {.over = over}, .handle = easy, .from = request->from};
	mp_curl_multi_join(multi);
	if (!easy)
		return mp_fail(reterr, MCPOOL_ENOMEM, "no memory for a request");
	r = read_target(multi, request->url, reterr);
	if (r == 0)
		r = mp_http_target_judge(&multi->last, d->from, reterr);
	if (r == 0)
		r = mp_curl_options_set(easy, &multi->last, request, &d->headers, reterr);
	if (r < 0)
		return r;
	d->has_proxy = multi->last.proxy != NULL;
	d->plain = multi->last.plain && !d->has_proxy;
	d->zone = mp_http_target_get_zone(&multi->last);
	/* None of these can fail for the options this curl has. */
	(void)curl_easy_setopt(easy, CURLOPT_PRIVATE, &d->job);
	(void)curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, d->words);
	(void)curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
	(void)curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, d);
	(void)curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, mp_curl_multi_close_socket);
	(void)curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, multi);
	return 0;
}

void mp_curl_easy_done(struct mp_curl_easy *d)
{
	if (d->added)
		(void)curl_multi_remove_handle(d->multi->handle, d->handle); /* it has it */
	d->added = false;
	/* After a failed lookup a handle cannot be used again, not even after its reset (7.88). */
	if (d->handle && d->connected)
		mp_curl_multi_put_easy(d->multi, d->handle);
	else if (d->handle)
		curl_easy_cleanup(d->handle);
	d->handle = NULL;
	curl_slist_free_all(d->headers);
	d->headers = NULL;
	if (d->multi)
		mp_curl_multi_leave(d->multi);
	d->multi = NULL;
}

static void move(struct mp_curl_easy *d, struct mp_curl_multi *multi)
{
	if (d->multi == multi)
		return;
	mp_curl_multi_join(multi);
	mp_curl_multi_leave(d->multi);
	d->multi = multi;
	(void)curl_easy_setopt(d->handle, CURLOPT_CLOSESOCKETDATA, multi); /* as above */
}

bool mp_curl_easy_begin(struct mp_curl_easy *d, struct mp_curl_multi *multi)
{
	move(d, multi);
	d->added = curl_multi_add_handle(d->multi->handle, d->handle) == CURLM_OK;
	return d->added;
}

/* --- what became of it ---------------------------------------------------------------------- */

static struct mp_http_failure curl_easy_describe(struct mp_curl_easy *d, CURLcode code)
{
	return (struct mp_http_failure){
		.easy = d->handle,
		.code = code,
		.place = mp_curl_easy_get_place(d),
		.words = d->words,
		.connected = d->connected,
		.answered = d->answered,
		.has_proxy = d->has_proxy,
	};
}

void mp_curl_easy_judge(struct mp_curl_easy *d, CURLcode code)
{
	if (code == CURLE_OK) {
		d->end = MP_HTTP_OK;
	} else if (d->end == MP_HTTP_OK) {
		struct mp_http_failure f = curl_easy_describe(d, code);

		d->end = mp_http_failure_explain(&f, &d->why);
	}
}

void mp_curl_easy_judge_limit(struct mp_curl_easy *d, enum mp_http_limit limit, int64_t ms)
{
	struct mp_http_failure f = curl_easy_describe(d, CURLE_OPERATION_TIMEDOUT);

	d->end = mp_http_failure_timeout(&f, limit, ms, &d->why);
}
