/*
 * http_client.c - libcurl driven from our loop.
 * curl says which sockets it waits for and when it wants to be called; hooks are called while curl
 * is on the stack, so whatever they ask for (start, cancel, resume, free) is done from a task at
 * the end of the turn, when it is not.
 */
#include "net/http_client.h"

#include <curl/curl.h>
#include <string.h>

#include "base/error.h"
#include "base/list.h"
#include "base/mem.h"
#include "net/http_drive.h"
#include "net/http_failure.h"
#include "net/http_setup.h"

enum { CONNECT_MS = 30000, SPARES = 8 };

struct mp_http_client {
	struct mp_loop *loop;
	struct mp_http_drive drive;
	struct mp_task pump;      /* does what hooks asked for */
	struct mp_ids exchanges;  /* all, owned */
	struct mp_list waiting;   /* exchanges curl has not heard of */
	struct mp_list sending;   /* those whose request is not out whole */
	struct mp_list receiving; /* those that wait for an answer, or for more of it */
	struct mp_list leaving;   /* cancelled */
	CURL *spares[SPARES]; /* handles to use again: making one costs more than a small POST */
	size_t n_spares;
	bool dying;
	struct mp_grave grave;
};

struct exchange {
	struct mp_http_client *client;
	struct mp_list *list; /* which of the client's it is in */
	struct mp_link link;
	mp_id id;
	CURL *easy;                 /* owned */
	struct curl_slist *headers; /* owned */
	char *body;                 /* owned; NULL: none */
	size_t body_len;
	const struct mp_http_hooks *hooks; /* NULL: cancelled */
	void *u;
	struct mp_http_reader reader;
	bool added;     /* curl has it */
	bool connected; /* and its request may be under way */
	bool sent;      /* told */
	bool answered;  /* the head was told */
	bool safe;      /* may be sent twice */
	bool paused;
	bool stalled; /* curl holds data back because of that */
	enum mp_zone from, zone;
	int64_t connect_ms, idle_ms, total_ms;
	int64_t last_ms;       /* when the last byte moved */
	curl_off_t uploaded;   /* by then */
	struct mp_timer limit; /* connect, then idle */
	struct mp_timer total;
	struct mp_task wake;      /* resumes */
	enum mp_http_end verdict; /* ours, where curl only knows that a callback said no */
	struct mcpool_error why;
	char place[MP_HTTP_PLACE]; /* empty until somebody asks */
	char words[CURL_ERROR_SIZE];
};

static void ask_pump(struct mp_http_client *c)
{
	if (!c->dying && !mp_list_linked(&c->pump.link))
		mp_loop_post(c->loop, &c->pump);
}

/* --- what curl tells of an exchange --------------------------------------------------------- */

static void move(struct exchange *x, struct mp_list *to)
{
	mp_list_remove(x->list, &x->link);
	mp_list_append(to, &x->link);
	x->list = to;
}

/* For people; only failures need it. */
static const char *place_of(struct exchange *x)
{
	char *url = NULL;

	if (!x->place[0] && curl_easy_getinfo(x->easy, CURLINFO_EFFECTIVE_URL, &url) == CURLE_OK)
		mp_http_setup_place(url ? url : "", x->place);
	return x->place;
}

static void byte_moved(struct exchange *x)
{
	x->last_ms = mp_loop_now_ms(x->client->loop);
}

static curl_off_t get_uploaded(const struct exchange *x)
{
	curl_off_t n = 0;

	(void)curl_easy_getinfo(x->easy, CURLINFO_SIZE_UPLOAD_T, &n); /* stays 0 */
	return n;
}

static bool has_written(const struct exchange *x)
{
	long n = 0;

	return curl_easy_getinfo(x->easy, CURLINFO_REQUEST_SIZE, &n) == CURLE_OK && n > 0;
}

static void tell_sent(struct exchange *x)
{
	x->sent = true;
	move(x, &x->client->receiving);
	if (x->hooks && x->hooks->sent)
		x->hooks->sent(x->u);
}

static void look_if_sent(struct exchange *x)
{
	if (x->sent || !x->connected || !x->hooks || !has_written(x))
		return;
	if ((size_t)get_uploaded(x) >= x->body_len)
		tell_sent(x);
}

static bool may_reach(struct exchange *x, enum mp_zone zone)
{
	if (mp_zone_may_reach(x->from, zone))
		return true;
	x->verdict = MP_HTTP_ZONE;
	mp_fail(&x->why, MCPOOL_EPERM, "%s is in %s, where a server in %s may not send us",
		place_of(x), mp_zone_get_words(zone), mp_zone_get_words(x->from));
	return false;
}

static curl_socket_t open_socket(void *u, curlsocktype purpose, struct curl_sockaddr *address)
{
	(void)purpose;
	if (!may_reach(u, mp_zone_of(&address->addr)))
		return CURL_SOCKET_BAD;
	return mp_http_setup_socket(address->family, address->socktype, address->protocol);
}

/*
 * There is a connection and the request comes next. A connection that was there before is judged
 * here, too. When curl comes a second time, the first connection broke without an answer, and curl
 * would send again what may have arrived.
 */
static int about_to_send(void *u, char *ip, char *local_ip, int port, int local_port)
{
	struct exchange *x = u;

	(void)local_ip;
	(void)port;
	(void)local_port;
	if (!x->hooks)
		return CURL_PREREQFUNC_ABORT;
	if (x->connected && !x->safe && has_written(x)) {
		x->verdict = MP_HTTP_CLOSED;
		mp_fail(&x->why, MCPOOL_ECLOSED, "%s closed the connection without an answer",
			place_of(x));
		if (!x->sent)
			tell_sent(x);
		return CURL_PREREQFUNC_ABORT;
	}
	x->zone = mp_zone_of_text(ip);
	if (!may_reach(x, x->zone))
		return CURL_PREREQFUNC_ABORT;
	x->connected = true;
	x->verdict = MP_HTTP_OK; /* another address of the name was allowed */
	byte_moved(x);
	if (x->idle_ms)
		mp_timer_start(&x->limit, x->idle_ms);
	else
		mp_timer_stop(&x->limit);
	return CURL_PREREQFUNC_OK;
}

static size_t header_came(char *bytes, size_t one, size_t n, void *u)
{
	struct exchange *x = u;
	int r;

	(void)one;
	if (!x->hooks)
		return 0;
	byte_moved(x);
	r = mp_http_reader_add(&x->reader, (struct mp_str){bytes, n});
	if (r < 0) {
		x->verdict = MP_HTTP_LIMIT;
		mp_fail(&x->why, r, "the headers of %s are too large", place_of(x));
		return 0;
	}
	if (r > 0) {
		struct mp_http_head head = mp_http_reader_get(&x->reader);

		head.zone = x->zone;
		look_if_sent(x);
		x->answered = true;
		if (x->hooks && x->hooks->head)
			x->hooks->head(x->u, &head);
	}
	return n;
}

static size_t data_came(char *bytes, size_t one, size_t n, void *u)
{
	struct exchange *x = u;

	(void)one;
	if (!x->hooks)
		return 0;
	if (x->paused) {
		x->stalled = true;
		return CURL_WRITEFUNC_PAUSE;
	}
	byte_moved(x);
	if (x->hooks->data)
		x->hooks->data(x->u, (struct mp_str){bytes, n});
	return n;
}

/* --- the life of an exchange ---------------------------------------------------------------- */

static void recycle(struct mp_http_client *c, CURL *easy)
{
	if (!easy)
		return;
	if (c->n_spares == SPARES || c->dying) {
		curl_easy_cleanup(easy);
		return;
	}
	curl_easy_reset(easy);
	c->spares[c->n_spares++] = easy;
}

static void exchange_free(struct exchange *x)
{
	struct mp_http_client *c = x->client;

	if (x->added)
		(void)curl_multi_remove_handle(c->drive.multi, x->easy); /* it has it */
	if (x->list)
		mp_list_remove(x->list, &x->link);
	mp_ids_remove(&c->exchanges, x->id);
	mp_timer_stop(&x->limit);
	mp_timer_stop(&x->total);
	mp_loop_unpost(c->loop, &x->wake);
	recycle(c, x->easy);
	curl_slist_free_all(x->headers);
	mp_free(x->body);
	mp_http_reader_done(&x->reader);
	mp_free(x);
}

static struct mp_http_failure describe(struct exchange *x, CURLcode code)
{
	return (struct mp_http_failure){
		.easy = x->easy,
		.code = code,
		.place = place_of(x),
		.words = x->words,
		.connected = x->connected,
		.answered = x->answered,
	};
}

/* Not with curl on the stack. */
static void end(struct exchange *x, enum mp_http_end how, const struct mcpool_error *why)
{
	const struct mp_http_hooks *hooks = x->hooks;
	struct mcpool_error err = *why;
	void *u = x->u;

	exchange_free(x);
	if (hooks)
		hooks->done(u, how, how == MP_HTTP_OK ? NULL : &err);
}

static void curl_is_done(struct exchange *x, CURLcode code)
{
	look_if_sent(x);
	if (code == CURLE_OK) {
		x->verdict = MP_HTTP_OK;
	} else if (x->verdict == MP_HTTP_OK) {
		struct mp_http_failure f = describe(x, code);

		x->verdict = mp_http_failure_explain(&f, &x->why);
	}
	end(x, x->verdict, &x->why);
}

static void settle(void *u)
{
	struct mp_http_client *c = u;
	CURLMsg *message;
	int left;

	MP_LIST_WALK(&c->sending, link) {
		look_if_sent(mp_container_of(link, struct exchange, link));
	}
	while (!c->dying && (message = curl_multi_info_read(c->drive.multi, &left))) {
		CURLcode code = message->data.result;
		struct exchange *x = NULL;

		if (curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &x) == CURLE_OK && x)
			curl_is_done(x, code);
	}
}

static void limit_reached(struct exchange *x, enum mp_http_limit limit, int64_t ms)
{
	struct mp_http_failure f = describe(x, CURLE_OPERATION_TIMEDOUT);

	x->verdict = mp_http_failure_timeout(&f, limit, ms, &x->why);
	end(x, x->verdict, &x->why);
}

static void limit_rang(void *u)
{
	struct exchange *x = u;
	int64_t quiet_ms;

	if (!x->connected) {
		limit_reached(x, MP_HTTP_LIMIT_CONNECT, x->connect_ms);
		return;
	}
	if (x->paused || get_uploaded(x) != x->uploaded)
		byte_moved(x);
	x->uploaded = get_uploaded(x);
	quiet_ms = mp_loop_now_ms(x->client->loop) - x->last_ms;
	if (quiet_ms < x->idle_ms)
		mp_timer_start(&x->limit, x->idle_ms - quiet_ms);
	else
		limit_reached(x, MP_HTTP_LIMIT_IDLE, x->idle_ms);
}

static void total_rang(void *u)
{
	struct exchange *x = u;

	limit_reached(x, MP_HTTP_LIMIT_TOTAL, x->total_ms);
}

static void wake(void *u)
{
	struct exchange *x = u;
	struct mp_http_client *c = x->client;

	if (!x->stalled || x->paused || !x->hooks)
		return;
	x->stalled = false;
	byte_moved(x);
	(void)curl_easy_pause(x->easy, CURLPAUSE_CONT); /* its failure is the exchange's */
	mp_http_drive_kick(&c->drive);
}

static bool begin(struct exchange *x)
{
	struct mp_http_client *c = x->client;

	move(x, &c->sending);
	mp_timer_start(&x->limit, x->connect_ms);
	if (x->total_ms)
		mp_timer_start(&x->total, x->total_ms);
	return x->added = curl_multi_add_handle(c->drive.multi, x->easy) == CURLM_OK;
}

static void pump(void *u)
{
	struct mp_http_client *c = u;
	struct mp_link *link;

	while ((link = mp_list_first(&c->leaving)))
		exchange_free(mp_container_of(link, struct exchange, link));
	while (!c->dying && (link = mp_list_first(&c->waiting))) {
		struct exchange *x = mp_container_of(link, struct exchange, link);

		if (!begin(x)) {
			mp_fail(&x->why, MCPOOL_ENOMEM, "no memory for an exchange");
			end(x, MP_HTTP_CONNECT, &x->why);
		}
	}
	mp_http_drive_kick(&c->drive); /* at once, not when the timer of 0 ms rings */
}

/* --- starting ------------------------------------------------------------------------------- */

static CURL *get_easy(struct mp_http_client *c)
{
	return c->n_spares ? c->spares[--c->n_spares] : curl_easy_init();
}

static void set_callbacks(struct exchange *x)
{
	CURL *easy = x->easy;

	/* None of these can fail for the options this curl has. */
	(void)curl_easy_setopt(easy, CURLOPT_PRIVATE, x);
	(void)curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, x->words);
	(void)curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, header_came);
	(void)curl_easy_setopt(easy, CURLOPT_HEADERDATA, x);
	(void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, data_came);
	(void)curl_easy_setopt(easy, CURLOPT_WRITEDATA, x);
	(void)curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, about_to_send);
	(void)curl_easy_setopt(easy, CURLOPT_PREREQDATA, x);
	(void)curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket);
	(void)curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, x);
	(void)curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, mp_http_drive_close_socket);
	(void)curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, &x->client->drive);
}

static int copy_body(struct exchange *x, struct mp_str body)
{
	if (!body.p)
		return 0;
	x->body = mp_try_alloc(body.len ? body.len : 1);
	if (!x->body)
		return MCPOOL_ENOMEM;
	if (body.len)
		memcpy(x->body, body.p, body.len);
	x->body_len = body.len;
	if (curl_easy_setopt(x->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.len) ||
	    curl_easy_setopt(x->easy, CURLOPT_POSTFIELDS, x->body))
		return MCPOOL_ENOMEM;
	return 0;
}

static int prepare(struct exchange *x, const struct mp_http_request *request,
		   struct mcpool_error *reterr)
{
	struct mp_http_request r = *request;
	int e;

	r.connect_ms = x->connect_ms;
	x->easy = get_easy(x->client);
	if (!x->easy || copy_body(x, r.body) < 0)
		return mp_fail(reterr, MCPOOL_ENOMEM, "no memory for a request");
	e = mp_http_setup(x->easy, &r, &x->headers, reterr);
	if (e < 0)
		return e;
	set_callbacks(x);
	return 0;
}

static struct exchange *exchange_new(struct mp_http_client *c,
				     const struct mp_http_request *request)
{
	struct exchange *x = mp_alloc(sizeof(*x));

	x->client = c;
	x->id = mp_ids_add(&c->exchanges, x);
	x->safe = mp_http_setup_is_safe(request);
	x->from = request->from;
	x->connect_ms = request->connect_ms ? request->connect_ms : CONNECT_MS;
	x->idle_ms = request->idle_ms;
	x->total_ms = request->total_ms;
	mp_http_reader_init(&x->reader);
	mp_timer_init(&x->limit, c->loop, limit_rang, x);
	mp_timer_init(&x->total, c->loop, total_rang, x);
	mp_task_init(&x->wake, wake, x);
	return x;
}

int mp_http_start(struct mp_http_client *c, const struct mp_http_request *request,
		  const struct mp_http_hooks *hooks, void *u, mp_id *ret_id,
		  struct mcpool_error *reterr)
{
	struct exchange *x = exchange_new(c, request);
	int r;

	mp_check(!c->dying);
	r = prepare(x, request, reterr);
	if (r < 0) {
		exchange_free(x);
		return r;
	}
	x->hooks = hooks;
	x->u = u;
	x->list = &c->waiting;
	mp_list_append(x->list, &x->link);
	ask_pump(c);
	if (ret_id)
		*ret_id = x->id;
	return 0;
}

/* One that was cancelled is gone for those who hold its id. */
static struct exchange *find(struct mp_http_client *c, mp_id id)
{
	struct exchange *x = mp_ids_get(&c->exchanges, id);

	return x && x->hooks ? x : NULL;
}

static void hush(struct exchange *x)
{
	x->hooks = NULL;
	mp_timer_stop(&x->limit);
	mp_timer_stop(&x->total);
}

void mp_http_cancel(struct mp_http_client *c, mp_id id)
{
	struct exchange *x = find(c, id);

	if (!x)
		return;
	hush(x);
	move(x, &c->leaving);
	ask_pump(c);
}

void mp_http_pause(struct mp_http_client *c, mp_id id)
{
	struct exchange *x = find(c, id);

	if (x)
		x->paused = true;
}

void mp_http_resume(struct mp_http_client *c, mp_id id)
{
	struct exchange *x = find(c, id);

	if (!x || !x->paused)
		return;
	x->paused = false;
	if (!mp_list_linked(&x->wake.link))
		mp_loop_post(c->loop, &x->wake);
}

/* --- the client ----------------------------------------------------------------------------- */

int mp_http_client_new(struct mp_loop *loop, struct mp_http_client **ret_client)
{
	struct mp_http_client *c = mp_alloc(sizeof(*c));
	int r = mp_http_drive_init(&c->drive, loop, settle, c);

	if (r < 0) {
		mp_free(c);
		return r;
	}
	c->loop = loop;
	mp_task_init(&c->pump, pump, c);
	mp_ids_init(&c->exchanges);
	mp_list_init(&c->waiting);
	mp_list_init(&c->sending);
	mp_list_init(&c->receiving);
	mp_list_init(&c->leaving);
	*ret_client = c;
	return 0;
}

static void free_all(struct mp_list *list)
{
	struct mp_link *link;

	while ((link = mp_list_first(list)))
		exchange_free(mp_container_of(link, struct exchange, link));
}

static void client_gone(struct mp_grave *grave)
{
	struct mp_http_client *c = mp_container_of(grave, struct mp_http_client, grave);

	free_all(&c->waiting);
	free_all(&c->sending);
	free_all(&c->receiving);
	free_all(&c->leaving);
	while (c->n_spares)
		curl_easy_cleanup(c->spares[--c->n_spares]);
	mp_http_drive_done(&c->drive);
	mp_loop_unpost(c->loop, &c->pump);
	mp_ids_done(&c->exchanges);
	mp_free(c);
}

static void silence(struct mp_list *list)
{
	MP_LIST_EACH(list, link) {
		hush(mp_container_of(link, struct exchange, link));
	}
}

struct mp_http_client *mp_http_client_free(struct mp_http_client *c)
{
	if (!c || c->dying)
		return NULL;
	c->dying = true;
	silence(&c->waiting);
	silence(&c->sending);
	silence(&c->receiving);
	mp_http_drive_stop(&c->drive);
	mp_loop_bury(c->loop, &c->grave, client_gone);
	return NULL;
}
