/*
 * post.c - one message on its way as a POST of its own, where the answer comes elsewhere.
 */
#include "transport/post.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "net/http_verdict.h"

/*
 * A server may think about a request before it says that it has it; with anything else there is
 * nothing to think about.
 */
enum { REQUEST_IDLE_MS = 300 * 1000, OTHER_IDLE_MS = 30 * 1000, TOTAL_MS = 3600 * 1000 };
/* What may follow a yes before we stop listening. */
enum { UNREAD_MAX = 64 * 1024 };

#define POST_EVENTS(X)                                       \
	X(GO, "go", "off it goes")                           \
	X(YES, "yes", "an answer began, and it is yes")      \
	X(NO, "no", "an answer began, and it is no")         \
	X(COMPLETE, "complete", "enough of it is there")     \
	X(BROKEN, "broken", "there will be no (more) of it") \
	X(LEAVE, "leave", "nobody wants to know")

MP_MACHINE_ENUM(post_event, POST_EVENTS);
MP_MACHINE_TYPES(post, struct mp_post, enum post_event, MP_POST_STATES, POST_EVENTS);
static post_action tell_taken, tell_denied, tell_broken;

#define AT(state)      [MP_POST_##state]
#define TO(state, act) MP_TO(MP_POST_##state, act)

MP_MACHINE_STEPS(post) = {
	AT(HELD) = {[GO] = TO(GOING, NULL), [LEAVE] = TO(OVER, NULL)},
	AT(GOING) = {[YES] = TO(TAKEN, NULL),
		     [NO] = TO(DENIED, NULL),
		     [BROKEN] = TO(OVER, tell_broken),
		     [LEAVE] = TO(OVER, NULL)},
	/* Whatever happens behind a yes or a no does not change it. */
	AT(TAKEN) = {[COMPLETE] = TO(OVER, tell_taken),
		     [BROKEN] = TO(OVER, tell_taken),
		     [LEAVE] = TO(OVER, NULL)},
	AT(DENIED) = {[COMPLETE] = TO(OVER, tell_denied),
		      [BROKEN] = TO(OVER, tell_denied),
		      [LEAVE] = TO(OVER, NULL)},
	AT(OVER) = {[LEAVE] = MP_STAY},
};

MP_MACHINE(post, struct mp_post)

/* --- telling -------------------------------------------------------------------------------- */

static void hang_up(struct mp_post *p)
{
	mp_http_cancel(p->client, p->exchange); /* nothing, where it is over by itself */
	p->exchange = 0;
}

static enum post_event tell_taken(struct mp_post *p)
{
	hang_up(p);
	p->hooks->done(p->u, p, MP_POST_WAS_TAKEN);
	return MP_QUIET;
}

static enum post_event tell_denied(struct mp_post *p)
{
	hang_up(p);
	p->hooks->done(p->u, p, MP_POST_WAS_DENIED);
	return MP_QUIET;
}

static enum post_event tell_broken(struct mp_post *p)
{
	hang_up(p);
	p->hooks->done(p->u, p, MP_POST_WAS_BROKEN);
	return MP_QUIET;
}

/* --- from the exchange ---------------------------------------------------------------------- */

static void http_sent(void *u)
{
	struct mp_post *p = u;

	p->was_sent = true;
	p->hooks->sent(p->u, p);
}

static void http_head(void *u, const struct mp_http_head *head)
{
	struct mp_post *p = u;

	if (mp_http_verdict_of(head->status) == MP_HTTP_FINE) {
		post_advance(p, YES);
		return;
	}
	mp_refusal_begin(&p->refusal, head);
	post_advance(p, NO);
}

static void http_data(void *u, struct mp_str bytes)
{
	struct mp_post *p = u;
	bool enough;

	if (p->state == MP_POST_TAKEN) {
		p->unread += bytes.len;
		enough = p->unread > UNREAD_MAX;
	} else {
		enough = !mp_refusal_add(&p->refusal, bytes);
	}
	if (enough)
		post_advance(p, COMPLETE);
}

static void http_done(void *u, enum mp_http_end how, const struct mcpool_error *err)
{
	struct mp_post *p = u;

	p->exchange = 0;
	p->how = how;
	if (err)
		p->why = *err;
	post_advance(p, how == MP_HTTP_OK ? COMPLETE : BROKEN);
}

static const struct mp_http_hooks http_hooks = {
	.sent = http_sent,
	.head = http_head,
	.data = http_data,
	.done = http_done,
};

/* --- life ----------------------------------------------------------------------------------- */

static int set_text(struct mp_post *p, struct mp_str text, struct mp_str id)
{
	if (id.len) {
		p->id = mp_try_alloc(id.len + 1);
		if (!p->id)
			return MCPOOL_ENOMEM;
		memcpy(p->id, id.p, id.len);
		p->id[id.len] = '\0';
	}
	p->size = text.len;
	return mp_buf_add_str(&p->text, text);
}

int mp_post_new(struct mp_loop *loop, struct mp_http_client *client, struct mp_str text,
		struct mp_str id, const struct mp_post_hooks *hooks, void *u,
		struct mp_post **ret_post)
{
	struct mp_post *p = mp_alloc(sizeof(*p));
	int r;

	p->loop = loop;
	p->client = client;
	p->hooks = hooks;
	p->u = u;
	mp_buf_init(&p->text, MP_LIMIT_MESSAGE);
	mp_refusal_init(&p->refusal);
	r = set_text(p, text, id);
	if (r < 0) {
		mp_post_free(p);
		return r;
	}
	*ret_post = p;
	return 0;
}

static void free_post(struct mp_grave *grave)
{
	struct mp_post *p = mp_container_of(grave, struct mp_post, grave);

	mp_buf_done(&p->text);
	mp_refusal_done(&p->refusal);
	mp_free(p->id);
	mp_free(p);
}

struct mp_post *mp_post_free(struct mp_post *p)
{
	if (!p)
		return NULL;
	post_advance(p, LEAVE);
	hang_up(p);
	mp_loop_bury(p->loop, &p->grave, free_post); /* it may be telling something now */
	return NULL;
}

static int fill(struct mp_post *p, const struct mp_destination *d, struct mp_http_fields *fields,
		struct mp_http_request *ret)
{
	int r = mp_http_fields_add(fields, MP_STR("Content-Type"), MP_STR("application/json"));

	if (r == 0)
		r = mp_destination_address(d, fields, ret);
	ret->body = mp_buf_get(&p->text);
	ret->idle_ms = p->id ? REQUEST_IDLE_MS : OTHER_IDLE_MS;
	ret->total_ms = TOTAL_MS;
	return r;
}

int mp_post_go(struct mp_post *p, const struct mp_destination *d, const char *url,
	       enum mp_zone from, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_http_fields_done) struct mp_http_fields fields;
	struct mp_http_request request = {.method = NULL};
	int r;

	mp_http_fields_init(&fields);
	r = fill(p, d, &fields, &request);
	if (r < 0)
		return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	request.url = url;
	request.from = from;
	r = mp_http_start(p->client, &request, &http_hooks, p, &p->exchange, reterr);
	if (r < 0)
		return r;
	mp_buf_done(&p->text);
	mp_buf_init(&p->text, MP_LIMIT_MESSAGE);
	post_advance(p, GO);
	return 0;
}
