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
#include "base/limits.h"
#include "base/list.h"
#include "base/mem.h"
#include "net/authorized.h"
#include "net/curl_easy.h"
#include "net/curl_socket.h"
#include "net/read_budget.h"

struct mp_http_client {
	struct mp_loop *loop;
	struct mp_list multis;       /* all, the newest last */
	struct mp_curl_multi *multi; /* for what begins now */
	struct mp_task pump;         /* does what hooks asked for */
	struct mp_ids exchanges;     /* all, owned */
	struct mp_list waiting;      /* exchanges curl has not heard of */
	struct mp_list sending;      /* those whose request is not out whole */
	struct mp_list receiving;    /* those that wait for an answer, or for more of it */
	struct mp_list refused;      /* those that wait for a token */
	struct mp_list leaving;      /* cancelled */
	bool dying;
	struct mp_jump_hook jump;
	struct mp_grave grave;
};

struct exchange {
	struct mp_http_client *client;
	struct mp_list *list; /* which of the client's it is in */
	struct mp_link link;
	mp_id id;
	struct mp_curl_easy easy;
	char *body; /* owned; NULL: none */
	size_t body_len;
	const struct mp_http_hooks *hooks; /* NULL: cancelled */
	void *u;
	struct mp_http_reader reader;
	struct mp_authorized *authorized; /* owned; NULL: it has no token */
	bool denied;                      /* this answer is a refusal, which is kept there */
	bool told;                        /* that it was sent, maybe before it was refused */
	bool sent;
	bool safe;    /* may be sent twice */
	bool stalled; /* curl holds data back because of that, or for others' sake */
	struct mp_read_budget budget;
	int64_t connect_ms, idle_ms, total_ms;
	int64_t last_ms;       /* when the last byte moved */
	curl_off_t uploaded;   /* by then */
	struct mp_timer limit; /* connect, then idle */
	struct mp_timer total;
	struct mp_timer wake; /* resumes */
	struct mp_timer look; /* for the end of an early answer */
	int64_t look_ms;      /* its delay; 0: the answer is not early */
};

enum { LOOK_MS = 1000 }; /* the longest such delay */

static void ask_pump(struct mp_http_client *c)
{
	if (!c->dying && !mp_list_linked(&c->pump.link))
		mp_loop_post(c->loop, &c->pump);
}

/* --- what curl tells of an exchange --------------------------------------------------------- */

static void http_client_move(struct exchange *x, struct mp_list *to)
{
	mp_list_remove(x->list, &x->link);
	mp_list_append(to, &x->link);
	x->list = to;
}

static void byte_moved(struct exchange *x)
{
	x->last_ms = mp_loop_now_ms(x->client->loop);
}

static curl_off_t get_uploaded(const struct exchange *x)
{
	curl_off_t n = 0;

	(void)curl_easy_getinfo(x->easy.handle, CURLINFO_SIZE_UPLOAD_T, &n); /* stays 0 */
	return n;
}

static bool has_written(const struct exchange *x)
{
	long n = 0;

	return curl_easy_getinfo(x->easy.handle, CURLINFO_REQUEST_SIZE, &n) == CURLE_OK && n > 0;
}

static void tell_sent(struct exchange *x)
{
	bool told = x->told;

	x->sent = x->told = true;
	if (!told && x->hooks && x->hooks->sent)
		x->hooks->sent(x->u);
}

static void look_if_sent(struct exchange *x)
{
	if (x->sent || !x->easy.connected || !x->hooks || !has_written(x))
		return;
	if ((size_t)get_uploaded(x) >= x->body_len)
		tell_sent(x);
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
	if (x->easy.connected && !x->safe && has_written(x)) {
		x->easy.end = MP_HTTP_CLOSED;
		mp_fail(&x->easy.why, MCPOOL_ECLOSED, "%s closed the connection without an answer",
			mp_curl_easy_get_place(&x->easy));
		if (!x->sent)
			tell_sent(x);
		return CURL_PREREQFUNC_ABORT;
	}
	if (!mp_curl_easy_may_use(&x->easy, ip))
		return CURL_PREREQFUNC_ABORT;
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
		x->easy.end = MP_HTTP_LIMIT;
		mp_fail(&x->easy.why, r, "the headers of %s are too large",
			mp_curl_easy_get_place(&x->easy));
		return 0;
	}
	if (r > 0) {
		struct mp_http_head head = mp_http_reader_get(&x->reader);

		head.zone = x->easy.zone;
		look_if_sent(x);
		x->easy.answered = true;
		x->denied = x->authorized && mp_authorized_take_head(x->authorized, &head);
		if (!x->denied && x->hooks && x->hooks->head)
			x->hooks->head(x->u, &head);
	}
	return n;
}

static void set_stalled(struct exchange *x, bool stalled)
{
	if (x->stalled != stalled)
		mp_curl_multi_rest(x->easy.multi, stalled);
	x->stalled = stalled;
}

static size_t data_came(char *bytes, size_t one, size_t n, void *u)
{
	struct exchange *x = u;

	(void)one;
	if (!x->hooks)
		return 0;
	/* curl reads a hundred buffers before it lets go by itself. */
	if (mp_read_budget_is_used_up(&x->budget))
		mp_timer_start(&x->wake, mp_read_budget_rest(&x->budget));
	if (mp_timer_is_running(&x->wake)) {
		set_stalled(x, true);
		return CURL_WRITEFUNC_PAUSE;
	}
	byte_moved(x);
	mp_read_budget_note(&x->budget, n);
	if (x->denied)
		(void)mp_refusal_add(&x->authorized->refusal, (struct mp_str){bytes, n});
	else if (x->hooks->data)
		x->hooks->data(x->u, (struct mp_str){bytes, n});
	return n;
}

/* --- the life of an exchange ---------------------------------------------------------------- */

static void exchange_free(struct exchange *x)
{
	struct mp_http_client *c = x->client;

	set_stalled(x, false);
	mp_curl_easy_done(&x->easy);
	if (x->list)
		mp_list_remove(x->list, &x->link);
	mp_ids_remove(&c->exchanges, x->id);
	mp_timer_stop(&x->limit);
	mp_timer_stop(&x->total);
	mp_timer_stop(&x->wake);
	mp_timer_stop(&x->look);
	mp_authorized_free(x->authorized);
	mp_free(x->body);
	mp_http_reader_done(&x->reader);
	mp_free(x);
}

/* Not with curl on the stack. */
static void http_client_end(struct exchange *x)
{
	const struct mp_http_hooks *hooks = x->hooks;
	enum mp_http_end how = x->easy.end;
	struct mcpool_error err = x->easy.why;
	void *u = x->u;

	exchange_free(x);
	if (hooks)
		hooks->done(u, how, how == MP_HTTP_OK ? NULL : &err);
}

/* --- refused, and again --------------------------------------------------------------------- */

/* The refusal stands: its owner hears it as it came. A hook may cancel the exchange. */
static void pass_refusal_on(struct exchange *x)
{
	struct mp_http_head head = mp_refusal_get_head(&x->authorized->refusal);
	struct mp_str body = mp_buf_get(&x->authorized->refusal.body);

	head.zone = x->authorized->zone;
	if (x->hooks && x->hooks->head)
		x->hooks->head(x->u, &head);
	if (x->hooks && x->hooks->data && body.len)
		x->hooks->data(x->u, body);
	if (x->hooks)
		http_client_end(x);
}

static int http_client_prepare(struct exchange *x, const struct mp_http_request *request,
			       struct mcpool_error *reterr);

/* The same request with another token, on another handle of curl. */
static int go_again(struct exchange *x, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_authorized_wipe) struct mp_http_fields fields;
	struct mp_http_request request = {.url = NULL};
	int r;

	mp_http_fields_init(&fields);
	r = mp_authorized_write(x->authorized, &fields, &request);
	if (r < 0)
		return mp_fail(reterr, r, "no token: %s", mcpool_error_text(r));
	mp_http_reader_done(&x->reader);
	mp_http_reader_init(&x->reader);
	x->denied = x->sent = false;
	x->uploaded = 0;
	x->look_ms = 0;
	request.body = (struct mp_str){x->body, x->body_len};
	return http_client_prepare(x, &request, reterr);
}

static void token_decided(void *u, bool again, const struct mcpool_error *why)
{
	struct exchange *x = u;

	x->authorized->waits = false;
	if (!again && !why) {
		pass_refusal_on(x);
	} else if (!again) {
		x->easy.end = MP_HTTP_CONNECT;
		x->easy.why = *why;
		http_client_end(x);
	} else if (go_again(x, &x->easy.why) < 0) {
		x->easy.end = MP_HTTP_PROTOCOL;
		http_client_end(x);
	} else {
		http_client_move(x, &x->client->waiting);
		ask_pump(x->client);
	}
}

/* True: it is not over, or its owner was told otherwise. */
static bool ask_for_token(struct exchange *x)
{
	if (!x->denied || !x->hooks || x->easy.end != MP_HTTP_OK)
		return false;
	mp_timer_stop(&x->limit);
	mp_timer_stop(&x->wake);
	mp_timer_stop(&x->look);
	set_stalled(x, false);
	mp_curl_easy_done(&x->easy);
	if (mp_authorized_ask(x->authorized))
		http_client_move(x, &x->client->refused);
	else
		pass_refusal_on(x);
	return true;
}

static void curl_is_done(struct mp_http_job *job, CURLcode code)
{
	struct exchange *x = mp_container_of(job, struct exchange, easy.job);

	look_if_sent(x);
	/* A connection that ends within the head is a complete answer for curl (7.88). */
	if (code == CURLE_OK && !x->easy.answered)
		code = CURLE_GOT_NOTHING;
	mp_curl_easy_judge(&x->easy, code);
	if (!ask_for_token(x))
		http_client_end(x);
}

/*
 * A server may answer before it has all of the request (401, 429), or at the same moment. Over
 * HTTP/2 curl (7.88) then finds the stream closed while it sends, and waits for an end that it has
 * read already. Pausing for no time makes it look: by a mark of the connection that another
 * exchange may use up first, so this is repeated, ever more rarely, until the exchange ends.
 */
static void look_for_early_answer(void *u)
{
	struct exchange *x = u;

	if (!x->hooks)
		return;
	x->look_ms = x->look_ms ? 2 * x->look_ms : 1;
	mp_timer_start(&x->look, x->look_ms < LOOK_MS ? x->look_ms : LOOK_MS);
	if (x->stalled)
		return;
	/* What fails here fails again, and is told, when curl is called. */
	(void)curl_easy_pause(x->easy.handle, CURLPAUSE_RECV);
	(void)curl_easy_pause(x->easy.handle, CURLPAUSE_CONT);
	ask_pump(x->client);
}

static bool is_http2(const struct exchange *x)
{
	long version = 0;

	return curl_easy_getinfo(x->easy.handle, CURLINFO_HTTP_VERSION, &version) == CURLE_OK &&
	       version == CURL_HTTP_VERSION_2_0;
}

static void curl_was_called(void *u)
{
	struct mp_http_client *c = u;

	MP_LIST_WALK(&c->sending, link) {
		struct exchange *x = mp_container_of(link, struct exchange, link);

		look_if_sent(x);
		if (!x->sent || x->list != &c->sending) /* it may have been cancelled meanwhile */
			continue;
		http_client_move(x, &c->receiving);
		if (x->easy.answered && is_http2(x))
			look_for_early_answer(x);
	}
}

static void limit_reached(struct exchange *x, enum mp_http_limit limit, int64_t ms)
{
	mp_curl_easy_judge_limit(&x->easy, limit, ms);
	http_client_end(x);
}

static void limit_rang(void *u)
{
	struct exchange *x = u;
	int64_t quiet_ms;

	if (!x->easy.connected) {
		limit_reached(x, MP_HTTP_LIMIT_CONNECT, x->connect_ms);
		return;
	}
	if (get_uploaded(x) != x->uploaded)
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

	if (!x->stalled || !x->hooks)
		return;
	set_stalled(x, false);
	byte_moved(x);
	(void)curl_easy_pause(x->easy.handle, CURLPAUSE_CONT); /* its failure is the exchange's */
	mp_curl_multi_kick(x->easy.multi);
}

static bool http_client_begin(struct exchange *x)
{
	struct mp_http_client *c = x->client;

	http_client_move(x, &c->sending);
	mp_timer_start(&x->limit, x->connect_ms);
	if (x->total_ms)
		mp_timer_start(&x->total, x->total_ms);
	return mp_curl_easy_begin(&x->easy, c->multi);
}

static void pump(void *u)
{
	struct mp_http_client *c = u;
	struct mp_link *link;

	while ((link = mp_list_first(&c->leaving)))
		exchange_free(mp_container_of(link, struct exchange, link));
	while (!c->dying && (link = mp_list_first(&c->waiting))) {
		struct exchange *x = mp_container_of(link, struct exchange, link);

		if (!http_client_begin(x)) {
			x->easy.end = MP_HTTP_CONNECT;
			mp_fail(&x->easy.why, MCPOOL_ENOMEM, "no memory for an exchange");
			http_client_end(x);
		}
	}
	mp_curl_multi_kick(c->multi); /* at once, not when the timer of 0 ms rings */
}

/* --- starting ------------------------------------------------------------------------------- */

static void set_callbacks(struct exchange *x)
{
	CURL *easy = x->easy.handle;

	/* None of these can fail for the options this curl has. */
	(void)curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, header_came);
	(void)curl_easy_setopt(easy, CURLOPT_HEADERDATA, x);
	(void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, data_came);
	(void)curl_easy_setopt(easy, CURLOPT_WRITEDATA, x);
	(void)curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, about_to_send);
	(void)curl_easy_setopt(easy, CURLOPT_PREREQDATA, x);
}

static int copy_body(struct exchange *x, struct mp_str body)
{
	if (!body.p)
		return 0;
	if (body.p != x->body) { /* else it goes again */
		x->body = mp_try_alloc(body.len ? body.len : 1);
		if (!x->body)
			return MCPOOL_ENOMEM;
		if (body.len)
			memcpy(x->body, body.p, body.len);
	}
	x->body_len = body.len;
	if (curl_easy_setopt(x->easy.handle, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.len) ||
	    curl_easy_setopt(x->easy.handle, CURLOPT_POSTFIELDS, x->body))
		return MCPOOL_ENOMEM;
	return 0;
}

static int http_client_prepare(struct exchange *x, const struct mp_http_request *request,
			       struct mcpool_error *reterr)
{
	struct mp_http_request r = *request;
	int e;

	r.connect_ms = x->connect_ms;
	e = mp_curl_easy_init(&x->easy, x->client->multi, &r, curl_is_done, reterr);
	if (e < 0)
		return e;
	if (copy_body(x, r.body) < 0)
		return mp_fail(reterr, MCPOOL_ENOMEM, "no memory for a request");
	set_callbacks(x);
	return 0;
}

static struct exchange *exchange_new(struct mp_http_client *c,
				     const struct mp_http_request *request)
{
	struct exchange *x = mp_alloc(sizeof(*x));

	x->client = c;
	x->id = mp_ids_add(&c->exchanges, x);
	x->safe = mp_curl_options_is_safe(request);
	mp_read_budget_init(&x->budget, c->loop, request->is_quiet);
	x->connect_ms = request->connect_ms ? request->connect_ms : MP_HTTP_CONNECT_MS;
	x->idle_ms = request->idle_ms;
	x->total_ms = request->total_ms;
	mp_http_reader_init(&x->reader);
	mp_timer_init(&x->limit, c->loop, limit_rang, x);
	mp_timer_init(&x->total, c->loop, total_rang, x);
	mp_timer_init(&x->wake, c->loop, wake, x);
	mp_timer_init(&x->look, c->loop, look_for_early_answer, x);
	return x;
}

int mp_http_start(struct mp_http_client *c, const struct mp_http_request *request,
		  const struct mp_http_hooks *hooks, void *u, mp_id *ret_id,
		  struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_authorized_wipe) struct mp_http_fields fields;
	struct exchange *x = exchange_new(c, request);
	struct mp_http_request with_token = *request;
	int r = 0;

	mp_check(!c->dying);
	mp_http_fields_init(&fields);
	if (request->authorization &&
	    request->authorization->ops->is_used(request->authorization)) {
		x->authorized = mp_authorized_new(request, token_decided, x);
		r = x->authorized ? mp_authorized_write(x->authorized, &fields, &with_token)
				  : MCPOOL_ENOMEM;
		with_token.body = request->body;
		if (r < 0)
			(void)mp_fail(reterr, r, "no token: %s", mcpool_error_text(r));
	}
	if (r == 0)
		r = http_client_prepare(x, &with_token, reterr);
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

static void http_client_hush(struct exchange *x)
{
	x->hooks = NULL;
	if (x->authorized)
		mp_authorized_leave(x->authorized);
	mp_timer_stop(&x->limit);
	mp_timer_stop(&x->total);
}

void mp_http_cancel(struct mp_http_client *c, mp_id id)
{
	struct exchange *x = find(c, id);

	if (!x)
		return;
	http_client_hush(x);
	http_client_move(x, &c->leaving);
	ask_pump(c);
}

/* --- the client ----------------------------------------------------------------------------- */

struct mp_loop *mp_http_client_get_loop(const struct mp_http_client *c)
{
	return c->loop;
}

struct mp_curl_multi *mp_http_client_get_multi(struct mp_http_client *c)
{
	return c->multi;
}

/*
 * Connections are curl's, and it would use the old ones again. So they are left to the exchanges in
 * flight, and all others start afresh, with new lookups.
 */
void mp_http_client_woke(struct mp_http_client *c)
{
	struct mp_curl_multi *old = c->multi;

	if (c->dying || mp_curl_multi_new(c->loop, &c->multis, curl_was_called, c, &c->multi) < 0)
		return; /* without memory the old ones must do */
	mp_curl_multi_retire(old);
}

static void http_client_jumped(const struct mp_clock_jump *jump, void *u)
{
	if (jump->slept_ms > 0)
		mp_http_client_woke(u);
}

int mp_http_client_new(struct mp_loop *loop, struct mp_http_client **ret_client)
{
	struct mp_http_client *c = mp_alloc(sizeof(*c));
	int r;

	mp_list_init(&c->multis);
	r = mp_curl_multi_new(loop, &c->multis, curl_was_called, c, &c->multi);
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
	mp_list_init(&c->refused);
	mp_list_init(&c->leaving);
	mp_loop_at_jump(loop, &c->jump, http_client_jumped, c);
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
	struct mp_link *link;

	free_all(&c->waiting);
	free_all(&c->sending);
	free_all(&c->receiving);
	free_all(&c->refused);
	free_all(&c->leaving);
	while ((link = mp_list_first(&c->multis))) {
		struct mp_curl_multi *d = mp_container_of(link, struct mp_curl_multi, link);

		mp_curl_socket_cut_all(d);
		mp_curl_multi_free(d);
	}
	mp_loop_unpost(c->loop, &c->pump);
	mp_ids_done(&c->exchanges);
	mp_free(c);
}

static void silence(struct mp_list *list)
{
	MP_LIST_EACH(list, link) {
		http_client_hush(mp_container_of(link, struct exchange, link));
	}
}

struct mp_http_client *mp_http_client_free(struct mp_http_client *c)
{
	if (!c || c->dying)
		return NULL;
	c->dying = true;
	mp_loop_forget_jump(c->loop, &c->jump);
	silence(&c->waiting);
	silence(&c->sending);
	silence(&c->receiving);
	silence(&c->refused);
	MP_LIST_EACH(&c->multis, link) {
		mp_curl_multi_stop(mp_container_of(link, struct mp_curl_multi, link));
	}
	mp_loop_bury(c->loop, &c->grave, client_gone);
	return NULL;
}
