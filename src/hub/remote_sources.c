/*
 * remote_sources.c - fetches the remote sources of `remote`.
 */
#include "hub/remote_sources.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/list.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/mem.h"
#include "config/read/remote_source.h"
#include "json/value.h"
#include "net/http_client.h"
#include "net/curl_options.h"
#include "net/http_status.h"
#include "net/redirect.h"

static const struct mp_log remote_source_log = {"remote source"};

enum {
	CONNECT_MS = 5000,
	TOTAL_MS = 10000,
	HURRY_MS = 2000, /* there is a copy, and the caller waits */
	JITTER_MS = 30000,
};

#define REMOTE_SOURCE_STATES(X)                                  \
	X(RESTING, "resting", "it is not due yet")               \
	X(ASKING, "asking", "a request is out, no answer began") \
	X(READING, "reading", "its content is on its way")

#define REMOTE_SOURCE_EVENTS(X)                                     \
	X(ON_DUE, "due", "it is time")                              \
	X(ON_CONTENT, "content", "an answer began, with a content") \
	X(ON_MOVED, "moved", "it is elsewhere on the same server")  \
	X(ON_SAME, "same", "it is what it was")                     \
	X(ON_COMPLETE, "complete", "all of the content is there")   \
	X(ON_FAILED, "failed", "it cannot be had; why is noted")

MP_MACHINE_ENUM(remote_source_state, REMOTE_SOURCE_STATES);
MP_MACHINE_ENUM(remote_source_event, REMOTE_SOURCE_EVENTS);

struct one {
	struct mp_link link;
	struct mp_remote_sources *all;
	enum remote_source_state state;
	char *url; /* owned; as configured */
	char *at;  /* owned; URL after redirects */
	int hops;
	bool is_wanted; /* used while the list is compared */
	mp_id exchange;
	struct mp_timer timer;
	struct mp_remote_source_state known;
	char etag[sizeof(
		((struct mp_remote_source_state *)NULL)->etag)]; /* of the current response */
	char modified[sizeof(((struct mp_remote_source_state *)NULL)->modified)];
	struct mp_buf content;
	struct mcpool_error why;
};

struct mp_remote_sources {
	struct mp_loop *loop;
	struct mp_http_client *client; /* created with the first request */
	struct mp_list list;           /* of struct one, owned */
	void (*rested)(void *u);
	void *u;
	bool in_a_hurry; /* the caller waits and reports failures itself */
};

MP_MACHINE_TYPES(remote_source, struct one, enum remote_source_event, REMOTE_SOURCE_STATES,
		 REMOTE_SOURCE_EVENTS);
static remote_source_action remote_sources_ask, begin_content, note_same, take_content, note_failed;

MP_MACHINE_STEPS(remote_source) = {
	[RESTING] = {[ON_DUE] = MP_TO(ASKING, remote_sources_ask)},
	[ASKING] = {[ON_CONTENT] = MP_TO(READING, begin_content),
		    [ON_MOVED] = MP_DO(remote_sources_ask),
		    [ON_SAME] = MP_TO(RESTING, note_same),
		    [ON_FAILED] = MP_TO(RESTING, note_failed)},
	[READING] = {[ON_COMPLETE] = MP_TO(RESTING, take_content),
		     [ON_FAILED] = MP_TO(RESTING, note_failed)},
};

MP_MACHINE(remote_source, struct one)

/* --- waiting ---------------------------------------------------------------------------------- */

/* Or about to ask: sources that are due together are asked one after the other. */
bool mp_remote_sources_is_asking(const struct mp_remote_sources *c)
{
	int64_t now = mp_loop_now_ms(c->loop);

	MP_LIST_EACH(&c->list, link) {
		struct one *o = mp_container_of(link, struct one, link);

		if (o->state != RESTING ||
		    (mp_timer_is_running(&o->timer) && o->timer.due_ms <= now))
			return true;
	}
	return false;
}

/* Many machines have the same remote source: spread their requests. */
static void remote_sources_rest(struct one *o)
{
	struct mp_remote_sources *c = o->all;
	int64_t now = mp_loop_wall_now_ms(c->loop), ms = o->known.next_ms - now;

	if (ms < 0 || ms > MP_REMOTE_SOURCE_LAST_REST_MS) /* the clock was set back */
		ms = ms < 0 ? 0 : MP_REMOTE_SOURCE_FRESH_MS;
	if (ms > 0)
		ms += (int64_t)((uint64_t)mp_loop_now_us(c->loop) * 2654435761u >> 7) % JITTER_MS;
	mp_timer_start(&o->timer, ms);
}

/* Once, not at each attempt; loading the configuration reports more. */
static void remote_sources_warn(const struct one *o, const char *why)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf name;

	mp_buf_init(&name, MP_KIB(64));
	if (o->known.failures <= 1 && !o->all->in_a_hurry &&
	    mp_remote_source_name(o->url, &name) == 0)
		mp_log_warn(&remote_source_log, "%s: %s%s", name.data, why,
			    o->known.fetched_ms ? "; the last copy counts" : "");
}

static void remote_sources_settle(struct one *o, const struct mp_str *content)
{
	struct mp_remote_sources *c = o->all;
	struct mcpool_error why;

	if (mp_remote_source_save(o->url, &o->known, content, &why) < 0)
		remote_sources_warn(o, why.message);
	remote_sources_rest(o);
	if (c->rested && !mp_remote_sources_is_asking(c))
		c->rested(c->u);
}

static enum remote_source_event note_same(struct one *o)
{
	mp_remote_source_note_fetched(&o->known, mp_loop_wall_now_ms(o->all->loop));
	remote_sources_settle(o, NULL);
	return MP_QUIET;
}

static enum remote_source_event note_failed(struct one *o)
{
	int64_t now = mp_loop_wall_now_ms(o->all->loop);

	mp_remote_source_note_failed(&o->known, now, o->why.message);
	if (o->known.next_ms < now + o->why.retry_ms) /* it sent a longer Retry-After */
		o->known.next_ms = now + o->why.retry_ms;
	remote_sources_warn(o, o->why.message);
	remote_sources_settle(o, NULL);
	return MP_QUIET;
}

/* --- the answer ------------------------------------------------------------------------------- */

static bool is_object(struct mp_str text)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;

	mp_tape_init(&t, MP_TAPE_COMMENTS | MP_TAPE_TRAILING_COMMA);
	return mp_tape_parse(&t, text, NULL) == 0 && mp_value_is(&t, MP_ROOT, MP_TAPE_OBJECT);
}

static enum remote_source_event begin_content(struct one *o)
{
	mp_buf_clear(&o->content);
	return MP_QUIET;
}

/* An invalid response does not replace a valid copy. */
static enum remote_source_event take_content(struct one *o)
{
	struct mp_str content = mp_buf_get(&o->content);

	if (!is_object(content)) {
		(void)mp_fail(&o->why, MCPOOL_EPARSE, "the fetched text is not a JSON object");
		return note_failed(o);
	}
	memcpy(o->known.etag, o->etag, sizeof(o->etag));
	memcpy(o->known.modified, o->modified, sizeof(o->modified));
	o->known.size = (int64_t)content.len;
	mp_remote_source_note_fetched(&o->known, mp_loop_wall_now_ms(o->all->loop));
	/* Write the file only if it changed: a write triggers the file watchers. */
	remote_sources_settle(o, mp_remote_source_is_same(o->url, content) ? NULL : &content);
	return MP_QUIET;
}

static void copy_header(const struct mp_http_head *head, struct mp_str name, char *to, size_t size)
{
	struct mp_str value = mp_http_head_find(head, name);

	if (value.len < size)
		snprintf(to, size, "%.*s", MP_STR_ARGS(value));
	else
		to[0] = '\0'; /* a truncated value would be wrong */
}

/* Only within the same server: the request's secrets stay there (V37). */
static bool follow_redirect(struct one *o, const struct mp_http_head *head)
{
	struct mp_str location = mp_http_head_find(head, MP_STR("Location"));
	struct mp_redirect to = {.url = NULL};
	char text[2048];
	bool may;

	snprintf(text, sizeof(text), "%.*s", MP_STR_ARGS(location));
	may = location.len && location.len < sizeof(text) &&
	      mp_redirect_judge(o->at, text, o->hops, &to, NULL) == 0 &&
	      to.kind == MP_REDIRECT_SAME;
	if (may) {
		o->hops++;
		mp_free(o->at);
		o->at = to.url;
	} else {
		mp_free(to.url);
	}
	return may;
}

static void remote_sources_stop(struct one *o)
{
	if (o->exchange)
		mp_http_cancel(o->all->client, o->exchange);
	o->exchange = 0;
}

static void fail_with_status(struct one *o, const struct mp_http_head *head)
{
	char place[MP_HTTP_PLACE];

	mp_curl_options_place(o->at, place);
	mp_http_status_explain(head, MP_STR(""), place, mp_loop_wall_now_ms(o->all->loop), &o->why);
	remote_sources_stop(o);
	remote_source_advance(o, ON_FAILED);
}

static void head_came(void *u, const struct mp_http_head *head)
{
	struct one *o = u;

	copy_header(head, MP_STR("ETag"), o->etag, sizeof(o->etag));
	copy_header(head, MP_STR("Last-Modified"), o->modified, sizeof(o->modified));
	if (head->status == 200) {
		remote_source_advance(o, ON_CONTENT);
	} else if (head->status == 304) {
		remote_sources_stop(o);
		remote_source_advance(o, ON_SAME);
	} else if (mp_http_status_of(head->status) == MP_HTTP_MOVED && follow_redirect(o, head)) {
		remote_sources_stop(o);
		remote_source_advance(o, ON_MOVED);
	} else {
		fail_with_status(o, head);
	}
}

static void data_came(void *u, struct mp_str bytes)
{
	struct one *o = u;

	if (o->state != READING || mp_buf_add_str(&o->content, bytes) == 0)
		return;
	(void)mp_fail(&o->why, MCPOOL_ELIMIT, "the remote source is larger than %zu MiB",
		      MP_LIMIT_CONFIG_FILE >> 20);
	remote_sources_stop(o);
	remote_source_advance(o, ON_FAILED);
}

static void done(void *u, enum mp_http_end how, const struct mcpool_error *err)
{
	struct one *o = u;

	o->exchange = 0;
	if (how == MP_HTTP_OK) {
		remote_source_advance(o, ON_COMPLETE);
		return;
	}
	o->why = *err;
	remote_source_advance(o, ON_FAILED);
}

static const struct mp_http_hooks hooks = {.head = head_came, .data = data_came, .done = done};

/* --- asking ----------------------------------------------------------------------------------- */

static enum remote_source_event remote_sources_ask(struct one *o)
{
	struct mp_remote_sources *c = o->all;
	struct mp_http_header headers[3] = {{MP_STR("Accept"), MP_STR("application/json, */*")}};
	struct mp_http_request request = {
		.url = o->at,
		.headers = headers,
		.n_headers = 1,
		.connect_ms = CONNECT_MS,
		.total_ms = c->in_a_hurry && o->known.fetched_ms ? HURRY_MS : TOTAL_MS,
	};
	int r = c->client ? 0 : mp_http_client_new(c->loop, &c->client);

	if (o->known.etag[0])
		headers[request.n_headers++] =
			(struct mp_http_header){MP_STR("If-None-Match"), mp_str_of(o->known.etag)};
	if (o->known.modified[0])
		headers[request.n_headers++] = (struct mp_http_header){
			MP_STR("If-Modified-Since"), mp_str_of(o->known.modified)};
	if (r < 0)
		(void)mp_fail(&o->why, r, "%s", mcpool_error_text(r));
	else
		r = mp_http_start(c->client, &request, &hooks, o, &o->exchange, &o->why);
	return r < 0 ? ON_FAILED : MP_QUIET;
}

static void is_due(void *u)
{
	struct one *o = u;

	mp_free(o->at);
	o->at = mp_dup(o->url);
	o->hops = 0;
	remote_source_advance(o, ON_DUE);
}

/* --- which ones ------------------------------------------------------------------------------- */

static struct one *remote_sources_find(struct mp_remote_sources *c, const char *url)
{
	MP_LIST_EACH(&c->list, link) {
		struct one *o = mp_container_of(link, struct one, link);

		if (strcmp(o->url, url) == 0)
			return o;
	}
	return NULL;
}

static void remote_sources_add(struct mp_remote_sources *c, const char *url)
{
	struct one *o = mp_alloc(sizeof(*o));

	o->all = c;
	o->state = RESTING;
	o->url = mp_dup(url);
	o->is_wanted = true;
	mp_buf_init(&o->content, MP_LIMIT_CONFIG_FILE);
	mp_timer_init(&o->timer, c->loop, is_due, o);
	mp_list_append(&c->list, &o->link);
	mp_remote_source_load(url, &o->known);
	remote_sources_rest(o);
}

static void remote_sources_drop(struct one *o)
{
	remote_sources_stop(o);
	mp_timer_stop(&o->timer);
	mp_list_remove(&o->all->list, &o->link);
	mp_buf_done(&o->content);
	mp_free(o->at);
	mp_free(o->url);
	mp_free(o);
}

void mp_remote_sources_follow(struct mp_remote_sources *c, const struct mp_config_set *set)
{
	MP_LIST_EACH(&c->list, link)
		mp_container_of(link, struct one, link)->is_wanted = false;
	for (size_t i = 0; i < set->n_remote_urls; i++) {
		struct one *o = remote_sources_find(c, set->remote_urls[i]);

		if (o)
			o->is_wanted = true;
		else
			remote_sources_add(c, set->remote_urls[i]);
	}
	MP_LIST_EACH(&c->list, link) {
		struct one *o = mp_container_of(link, struct one, link);

		if (!o->is_wanted)
			remote_sources_drop(o);
	}
}

struct mp_remote_sources *mp_remote_sources_new(struct mp_loop *loop, void (*rested)(void *u),
						void *u)
{
	struct mp_remote_sources *c = mp_alloc(sizeof(*c));

	c->loop = loop;
	c->rested = rested;
	c->u = u;
	mp_list_init(&c->list);
	return c;
}

struct mp_remote_sources *mp_remote_sources_free(struct mp_remote_sources *c)
{
	if (!c)
		return NULL;
	MP_LIST_EACH(&c->list, link)
		remote_sources_drop(mp_container_of(link, struct one, link));
	mp_http_client_free(c->client);
	return mp_free(c);
}

/* --- once ------------------------------------------------------------------------------------- */

static void stop_loop(void *u)
{
	mp_loop_stop(u);
}

static bool has_due(const struct mp_config_set *set, int64_t wall_ms)
{
	for (size_t i = 0; i < set->n_remote_urls; i++) {
		struct mp_remote_source_state s;

		mp_remote_source_load(set->remote_urls[i], &s);
		if (s.next_ms <= wall_ms)
			return true;
	}
	return false;
}

bool mp_remote_sources_ask_once(const struct mp_config_set *set)
{
	struct mp_loop *loop = NULL;
	struct mp_remote_sources *c;

	if (set->n_remote_urls == 0 || mp_loop_new(&loop) < 0)
		return false;
	if (!has_due(set, mp_loop_wall_now_ms(loop))) {
		mp_loop_free(loop);
		return false;
	}
	c = mp_remote_sources_new(loop, stop_loop, loop);
	c->in_a_hurry = true;
	mp_remote_sources_follow(c, set);
	mp_loop_run(loop);
	mp_remote_sources_free(c);
	mp_loop_free(loop);
	return true;
}
