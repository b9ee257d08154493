/*
 * mcp_endpoint.c - /mcp: validates a message and finds its era.
 * A request declares its era in _meta (mcp-spec 2.2), a notification in its header; batches and
 * responses are legacy. A message that contradicts its headers is refused before it has any effect.
 */
#include "base/error.h"
#include "base/limits.h"
#include "face/http_face.h"
#include "face/mcp_headers.h"
#include "rpc/era.h"

enum {
	INVALID_REQUEST = -32600,
	INVALID_PARAMS = -32602,
	HEADER_MISMATCH = -32020,
};

void mp_mcp_endpoint_refuse(struct mp_exchange *x, int status, struct mp_str id, int code,
			    const char *words)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf body;

	mp_buf_init(&body, MP_KIB(16));
	if (mp_message_error(&body, id, code, mp_str_of(words), MP_STR("")) < 0)
		mp_exchange_refuse(x, &(struct mp_http_refusal){503, "no memory", NULL});
	else
		mp_exchange_answer(x, &(struct mp_http_answer){status, "application/json", NULL,
							       mp_buf_get(&body)});
}

static bool has_sound_headers(struct mp_exchange *x)
{
	static const unsigned both = MP_ACCEPTS_JSON | MP_ACCEPTS_EVENTS;

	if (!mp_mcp_headers_is_json(mp_inbound_get(x->in, MP_FIELD_CONTENT_TYPE))) {
		mp_exchange_refuse(x, &(struct mp_http_refusal){
					      415, "Content-Type must be application/json", NULL});
		return false;
	}
	if (mp_mcp_headers_accept(mp_inbound_get(x->in, MP_FIELD_ACCEPT)) != both) {
		mp_exchange_refuse(
			x, &(struct mp_http_refusal){
				   406, "Accept must list application/json and text/event-stream",
				   NULL});
		return false;
	}
	return true;
}

static bool has_modern_header(const struct mp_exchange *x)
{
	return mp_str_eq(mp_inbound_get(x->in, MP_FIELD_VERSION), MP_STR(MP_MODERN_VERSION));
}

static bool is_modern(const struct mp_exchange *x, const struct mp_message *m)
{
	if (m->kind == MP_MESSAGE_REQUEST)
		return mp_session_classify(m) == MP_ERA_MODERN;
	return m->kind == MP_MESSAGE_NOTIFICATION && has_modern_header(x);
}

static void post_modern(struct mp_http_face *f, struct mp_exchange *x, const struct mp_message *m)
{
	const char *words = mp_mcp_headers_compare(x->in, m);

	if (words)
		mp_mcp_endpoint_refuse(x, 400, m->id, HEADER_MISMATCH, words);
	else
		mp_http_stateless_post(f, x, m);
}

/* A legacy message with the header of a modern one. */
static void refuse_mixture(struct mp_exchange *x, const struct mp_message *m)
{
	if (m->kind != MP_MESSAGE_REQUEST)
		mp_mcp_endpoint_refuse(x, 400, m->id, INVALID_REQUEST,
				       "batches and answers are not part of " MP_MODERN_VERSION);
	else if (m->method == MP_METHOD_INITIALIZE)
		mp_mcp_endpoint_refuse(x, 400, m->id, HEADER_MISMATCH,
				       "initialize is not part of " MP_MODERN_VERSION);
	else
		mp_mcp_endpoint_refuse(
			x, 400, m->id, INVALID_PARAMS,
			"params._meta lacks io.modelcontextprotocol/protocolVersion and the like");
}

static void mcp_endpoint_post(struct mp_http_face *f, struct mp_exchange *x)
{
	MP_UNSET struct mcpool_error why;
	struct mp_message m;

	if (!has_sound_headers(x))
		return;
	if (mp_message_scan(&f->tape, mp_inbound_get_body(x->in), &m, &why) < 0)
		mp_mcp_endpoint_refuse(x, 400, m.id, why.rpc_code, why.message);
	else if (is_modern(x, &m))
		post_modern(f, x, &m);
	else if (has_modern_header(x))
		refuse_mixture(x, &m);
	else
		mp_http_sessions_post(f, x, &m);
}

void mp_mcp_endpoint_serve(struct mp_http_face *f, struct mp_exchange *x)
{
	enum mp_http_method verb = mp_inbound_get_verb(x->in);

	if (verb == MP_HTTP_METHOD_POST)
		mcp_endpoint_post(f, x);
	else if (has_modern_header(x))
		mp_exchange_refuse(x, &(struct mp_http_refusal){405,
								MP_MODERN_VERSION " has POST only",
								"Allow: POST\r\n"});
	else if (verb == MP_HTTP_METHOD_GET)
		mp_http_sessions_get(f, x);
	else
		mp_http_sessions_delete(f, x);
}
