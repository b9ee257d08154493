/*
 * http_dial.c - a curl handle on its way: where it goes, whom it may reach, how it failed.
 */
#include "net/http_dial.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"

const char *mp_http_dial_get_place(struct mp_http_dial *d)
{
	char *url = NULL;

	if (!d->place[0] && curl_easy_getinfo(d->easy, CURLINFO_EFFECTIVE_URL, &url) == CURLE_OK)
		mp_http_setup_place(url ? url : "", d->place);
	return d->place;
}

/* --- whom it may reach ---------------------------------------------------------------------- */

/* Sockets to a proxy are not judged: the user named it, and the target was judged before. */

static bool may_reach(struct mp_http_dial *d, enum mp_zone zone)
{
	if (mp_zone_may_reach(d->from, zone))
		return true;
	d->verdict = MP_HTTP_ZONE;
	mp_fail(&d->why, MCPOOL_EPERM, "%s is in %s, where a server in %s may not send us",
		mp_http_dial_get_place(d), mp_zone_get_words(zone), mp_zone_get_words(d->from));
	return false;
}

static curl_socket_t open_socket(void *u, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct mp_http_dial *d = u;

	(void)purpose;
	if (!d->has_proxy && !may_reach(d, mp_zone_of(&address->addr)))
		return CURL_SOCKET_BAD;
	return mp_http_drive_open_socket(d->drive, address, d->plain);
}

bool mp_http_dial_may_use(struct mp_http_dial *d, const char *ip)
{
	if (!d->has_proxy) {
		d->zone = mp_zone_of_text(ip);
		if (!may_reach(d, d->zone))
			return false;
	}
	d->connected = true;
	d->verdict = MP_HTTP_OK; /* another address of the name was allowed */
	return true;
}

/* The last one was for the same address as often as not. */
static int read_target(struct mp_http_drive *drive, const char *url, struct mcpool_error *reterr)
{
	const char *last = drive->last.url;

	if (last && url && strcmp(last, url) == 0)
		return 0;
	return mp_http_target_read(&drive->last, url, reterr);
}

/* --- life ----------------------------------------------------------------------------------- */

int mp_http_dial_init(struct mp_http_dial *d, struct mp_http_drive *drive,
		      const struct mp_http_request *request,
		      void (*over)(struct mp_http_job *job, CURLcode code),
		      struct mcpool_error *reterr)
{
	CURL *easy = mp_http_drive_get_easy(drive);
	int r;

	*d = (struct mp_http_dial){
		.drive = drive, .job = {.over = over}, .easy = easy, .from = request->from};
	mp_http_drive_join(drive);
	if (!easy)
		return mp_fail(reterr, MCPOOL_ENOMEM, "no memory for a request");
	r = read_target(drive, request->url, reterr);
	if (r == 0)
		r = mp_http_target_judge(&drive->last, d->from, reterr);
	if (r == 0)
		r = mp_http_setup(easy, &drive->last, request, &d->headers, reterr);
	if (r < 0)
		return r;
	d->has_proxy = drive->last.proxy != NULL;
	d->plain = drive->last.plain && !d->has_proxy;
	d->zone = mp_http_target_get_zone(&drive->last);
	/* None of these can fail for the options this curl has. */
	(void)curl_easy_setopt(easy, CURLOPT_PRIVATE, &d->job);
	(void)curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, d->words);
	(void)curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
	(void)curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, d);
	(void)curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, mp_http_drive_close_socket);
	(void)curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, drive);
	return 0;
}

void mp_http_dial_done(struct mp_http_dial *d)
{
	if (d->added)
		(void)curl_multi_remove_handle(d->drive->multi, d->easy); /* it has it */
	d->added = false;
	if (d->easy)
		mp_http_drive_put_easy(d->drive, d->easy);
	d->easy = NULL;
	curl_slist_free_all(d->headers);
	d->headers = NULL;
	if (d->drive)
		mp_http_drive_leave(d->drive);
	d->drive = NULL;
}

static void move(struct mp_http_dial *d, struct mp_http_drive *drive)
{
	if (d->drive == drive)
		return;
	mp_http_drive_join(drive);
	mp_http_drive_leave(d->drive);
	d->drive = drive;
	(void)curl_easy_setopt(d->easy, CURLOPT_CLOSESOCKETDATA, drive); /* as above */
}

bool mp_http_dial_begin(struct mp_http_dial *d, struct mp_http_drive *drive)
{
	move(d, drive);
	d->added = curl_multi_add_handle(d->drive->multi, d->easy) == CURLM_OK;
	return d->added;
}

/* --- what became of it ---------------------------------------------------------------------- */

static struct mp_http_failure describe(struct mp_http_dial *d, CURLcode code)
{
	return (struct mp_http_failure){
		.easy = d->easy,
		.code = code,
		.place = mp_http_dial_get_place(d),
		.words = d->words,
		.connected = d->connected,
		.answered = d->answered,
	};
}

void mp_http_dial_judge(struct mp_http_dial *d, CURLcode code)
{
	if (code == CURLE_OK) {
		d->verdict = MP_HTTP_OK;
	} else if (d->verdict == MP_HTTP_OK) {
		struct mp_http_failure f = describe(d, code);

		d->verdict = mp_http_failure_explain(&f, &d->why);
	}
}

void mp_http_dial_judge_limit(struct mp_http_dial *d, enum mp_http_limit limit, int64_t ms)
{
	struct mp_http_failure f = describe(d, CURLE_OPERATION_TIMEDOUT);

	d->verdict = mp_http_failure_timeout(&f, limit, ms, &d->why);
}
