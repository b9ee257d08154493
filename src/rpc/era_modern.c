/*
 * era_modern.c - what 2026-07-28 puts on the wire: _meta on every request, a kind on every result,
 * cache hints, streams one listens to.
 */
#include "base/error.h"
#include "base/limits.h"
#include "rpc/era.h"

#define KEY(name) "io.modelcontextprotocol/" name

enum { UNSUPPORTED_VERSION = -32022 };

int mp_modern_write_who(const struct mp_identity *me, struct mp_buf *out)
{
	int r = mp_buf_add_str(out,
			       MP_STR("\"" KEY("protocolVersion") "\":\"" MP_MODERN_VERSION
								  "\",\"" KEY("clientInfo") "\":"));
	struct mp_writer w;

	if (r < 0)
		return r;
	mp_write_init(&w, out, NULL);
	mp_era_write_implementation(&w, me);
	return mp_write_finish(&w);
}

/* Once for each request, so keys are written as they are. */
int mp_modern_write_meta_for(struct mp_str who, struct mp_str capabilities, const char *log_level,
			     struct mp_buf *out)
{
	struct mp_writer w;

	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	mp_write_raw_members(&w, who);
	mp_write_raw_key(&w, MP_STR("\"" KEY("clientCapabilities") "\""));
	mp_write_raw(&w, capabilities);
	if (log_level)
		mp_write_member_text(&w, KEY("logLevel"), mp_str_of(log_level));
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

/* --- discover ------------------------------------------------------------------------------- */

static bool lists_our_version(const struct mp_tape *t, mp_value list)
{
	if (!mp_value_is(t, list, MP_TAPE_ARRAY))
		return false;
	MP_VALUE_EACH(t, list, v)
		if (mp_value_text_is(t, v, MP_STR(MP_MODERN_VERSION)))
			return true;
	return false;
}

static struct mp_cache_hint read_cache(const struct mp_tape *t, mp_value result)
{
	struct mp_cache_hint hint = {.is_private = true};
	mp_value scope = mp_value_get(t, result, "cacheScope");

	if (mp_value_i64(t, mp_value_get(t, result, "ttlMs"), &hint.ttl_ms) < 0 || hint.ttl_ms < 0)
		hint.ttl_ms = 0;
	if (mp_value_text_is(t, scope, MP_STR("public")))
		hint.is_private = false;
	return hint;
}

static int read_hello(const struct mp_tape *t, struct mp_arena *arena, struct mp_hello *hello)
{
	mp_value capabilities = mp_value_get(t, MP_ROOT, "capabilities");
	mp_value meta = mp_value_get(t, MP_ROOT, "_meta");
	struct mp_str source = mp_value_source(t, capabilities);
	char *copy = mp_arena_dup(arena, source);
	int r;

	if (!copy)
		return mp_arena_get_error(arena);
	hello->version = MP_STR(MP_MODERN_VERSION);
	hello->capabilities = (struct mp_str){copy, source.len};
	hello->offers = mp_era_read_offers(t, capabilities);
	hello->cache = read_cache(t, MP_ROOT);
	r = mp_era_read_implementation(t, mp_value_get(t, meta, KEY("serverInfo")), arena, hello);
	if (r < 0)
		return r;
	return mp_era_read_text(t, MP_ROOT, "instructions", arena, &hello->instructions);
}

int mp_modern_read_discover(const struct mp_message *m, struct mp_arena *arena,
			    struct mp_hello *hello, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	int r;

	*hello = (struct mp_hello){.era = MP_ERA_MODERN};
	r = mp_era_open(m, m->result, &t);
	if (r == 0 && !lists_our_version(&t, mp_value_get(&t, MP_ROOT, "supportedVersions")))
		return mp_fail(reterr, MCPOOL_EPROTO,
			       "the server's versions %.*s do not include %s",
			       MP_STR_ARGS(mp_value_source(
				       &t, mp_value_get(&t, MP_ROOT, "supportedVersions"))),
			       MP_MODERN_VERSION);
	if (r == 0)
		r = read_hello(&t, arena, hello);
	return r < 0 ? mp_fail(reterr, r, "%s", mcpool_error_text(r)) : 0;
}

bool mp_modern_may_retry(const struct mp_message *m, bool *ret_is_refusal)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;

	mp_tape_init(&t, 0);
	*ret_is_refusal = mp_error_read_code(m) == UNSUPPORTED_VERSION;
	if (!*ret_is_refusal || mp_era_open(m, mp_value_get(m->tape, m->error, "data"), &t) < 0)
		return false;
	return lists_our_version(&t, mp_value_get(&t, MP_ROOT, "supported"));
}

struct mp_str mp_modern_read_supported(const struct mp_message *m)
{
	mp_value data = mp_value_get(m->tape, m->error, "data");

	return mp_value_source(m->tape, mp_value_get(m->tape, data, "supported"));
}

/* --- results -------------------------------------------------------------------------------- */

void mp_modern_read_result(const struct mp_message *m, struct mp_result *ret)
{
	const struct mp_tape *t = m->tape;
	mp_value kind = mp_value_get(t, m->result, "resultType");
	mp_value state = mp_value_get(t, m->result, "requestState");
	mp_value asks = mp_value_get(t, m->result, "inputRequests");

	*ret = (struct mp_result){.kind = MP_RESULT_UNKNOWN, .cache = read_cache(t, m->result)};
	if (kind == MP_NONE || mp_value_text_is(t, kind, MP_STR("complete"))) {
		ret->kind = MP_RESULT_COMPLETE;
		return;
	}
	if (mp_value_text_is(t, kind, MP_STR("task")) &&
	    mp_value_is(t, mp_value_get(t, m->result, "taskId"), MP_TAPE_STRING))
		ret->kind = MP_RESULT_TASK;
	if (!mp_value_text_is(t, kind, MP_STR("input_required")))
		return;
	if (mp_value_is(t, state, MP_TAPE_STRING))
		ret->request_state = mp_value_source(t, state);
	if (mp_value_is(t, asks, MP_TAPE_OBJECT))
		ret->input_requests = mp_value_source(t, asks);
	/* One of the two must be there, and what is there must be what it is called. */
	if ((state == MP_NONE || ret->request_state.len) &&
	    (asks == MP_NONE || ret->input_requests.len) &&
	    (ret->request_state.len || ret->input_requests.len))
		ret->kind = MP_RESULT_INPUT_REQUIRED;
}

/* --- listening ------------------------------------------------------------------------------ */

int mp_modern_write_listen(const struct mp_listen_filter *f, struct mp_buf *out)
{
	struct mp_writer w;

	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	mp_write_key(&w, MP_STR("notifications"));
	mp_write_begin_object(&w);
	if (f->tools)
		mp_write_member_bool(&w, "toolsListChanged", true);
	if (f->prompts)
		mp_write_member_bool(&w, "promptsListChanged", true);
	if (f->resources)
		mp_write_member_bool(&w, "resourcesListChanged", true);
	if (f->n_uris) {
		mp_write_key(&w, MP_STR("resourceSubscriptions"));
		mp_write_begin_array(&w);
		for (size_t i = 0; i < f->n_uris; i++)
			mp_write_text(&w, f->uris[i]);
		mp_write_end_array(&w);
	}
	mp_write_end_object(&w);
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}
