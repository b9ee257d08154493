/*
 * unknown.c - explains why a tool, prompt or resource was not found.
 */
#include "session/unknown.h"

#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/shell.h"
#include "base/similar.h"
#include "pool/status.h"
#include "session/failed_call.h"
#include "config/values/filter.h"
#include "session/scope.h"

static const char *unknown_describe(enum mp_method_id method)
{
	switch (method) {
	case MP_METHOD_TOOLS_CALL:
		return "tool";
	case MP_METHOD_PROMPTS_GET:
		return "prompt";
	default:
		return "resource";
	}
}

/* The tool's own name is the last part in every spelling; empty: none. */
static struct mp_str find_own_name(struct mp_str name, const char *server)
{
	size_t len = strlen(server);

	for (size_t at = 0; at + len < name.len; at++)
		if (memcmp(name.p + at, server, len) == 0) {
			struct mp_str tool = {name.p + at + len, name.len - at - len};

			while (tool.len && strchr("_./:", tool.p[0]))
				tool = (struct mp_str){tool.p + 1, tool.len - 1};
			return tool;
		}
	return MP_STR("");
}

static bool is_filtered(const struct mp_entry *e, struct mp_str tool)
{
	return tool.len && !mp_filter_lets_pass(&e->tools_allowed, &e->tools_denied, tool);
}

static int code_of(enum mp_status_state state)
{
	switch (state) {
	case MP_STATUS_DISABLED:
		return MCPOOL_EDISABLED;
	case MP_STATUS_NEEDS_APPROVAL:
		return MCPOOL_ENEEDS_APPROVAL;
	case MP_STATUS_NEEDS_AUTH:
		return MCPOOL_ENEEDS_AUTH;
	default:
		return MCPOOL_EUNAVAILABLE;
	}
}

/* Its server is not up, so its tools are unknown: refused as unknown, with the reason. */
static void refuse_absent(struct mp_request *e, struct mp_str name, size_t i)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mp_status s;
	struct mcpool_error why;
	struct mp_failed_call f = {
		.is_configured = true,
		.why = &why,
		.outcome = MP_OUTCOME_NOT_SENT,
	};

	mp_arena_init(&arena, MP_LIMIT_ARENA);
	mp_status_take(e->session->workspace, i, e->session->id, &arena, &s);
	(void)mp_fail(&why, code_of(s.state), "Unknown tool: %.*s: server '%s' is %s%s%s",
		      MP_STR_ARGS(name), s.name, mp_status_state_get_name(s.state),
		      s.message[0] ? ": " : "", s.message);
	why.fault = (int)s.fault;
	f.server = s.name;
	f.transport = s.transport;
	f.retryable = s.state == MP_STATUS_PENDING || s.next_at_ms > 0;
	if (s.state == MP_STATUS_PENDING)
		f.next_step =
			"it is being started: call again in a moment; what it does: mcpool status";
	f.next_at_ms = s.next_at_ms > 0 ? s.next_at_ms : 0;
	f.tail = mp_str_of(s.tail);
	mp_request_fail_as(e, -32602, &f);
}

/* The tool exists, but not as it was approved (V38). */
static void refuse_frozen(struct mp_request *e, struct mp_str name, const struct mp_entry *entry,
			  struct mp_str tool)
{
	struct mcpool_error why;
	struct mp_failed_call f = {
		.server = entry->name,
		.is_configured = true,
		.tool = tool,
		.transport = mp_kind_get_name(entry->kind),
		.why = &why,
		.outcome = MP_OUTCOME_REFUSED,
		.was_up = true,
	};

	(void)mp_fail(&why, MCPOOL_ENEEDS_APPROVAL,
		      "Unknown tool: %.*s: it changed after server '%s' was approved; accept it "
		      "with `mcpool trust %s`",
		      MP_STR_ARGS(name), entry->name, MP_SHELL_NAME(entry->name));
	mp_request_fail_as(e, -32602, &f);
}

/* Why there is no such tool: its server is not up, or the tool is filtered out (E74). */
static bool explain_unknown(struct mp_request *e, struct mp_str name)
{
	struct mp_workspace *v = e->session->workspace;

	for (size_t i = 0; i < mp_workspace_count(v); i++) {
		const struct mp_entry *entry = mp_workspace_get_entry(v, i);
		const char *server = entry->name;
		enum mp_status_state state = mp_workspace_get_state(v, i, e->session->id);
		struct mp_str tool = find_own_name(name, server);

		if (mp_str_find(name, mp_str_of(server), 0) < 0 ||
		    !mp_scope_shows(e->session->scope, server))
			continue;
		if (is_filtered(entry, tool)) {
			mp_request_refuse(
				e, -32602, 200,
				"Unknown tool: %.*s: server '%s' has it kept out by toolsAllowed "
				"or toolsDenied, or by `mcpool disable`",
				MP_STR_ARGS(name), server);
			return true;
		}
		if (mp_workspace_is_frozen(v, i, e->session->id, tool)) {
			refuse_frozen(e, name, entry, tool);
			return true;
		}
		if (state != MP_STATUS_CONNECTED && state != MP_STATUS_READY) {
			refuse_absent(e, name, i);
			return true;
		}
	}
	return false;
}

/* How many names are compared with a wrong one, at most: the loop has other things to do. */
enum { COMPARED = 1000 };

/* The public name that was perhaps meant; empty: none is similar. */
static struct mp_str find_similar(const struct mp_request *e, struct mp_str name)
{
	const struct mp_index *s = e->session->scope->index;
	enum mp_catalog_kind kind =
		e->method == MP_METHOD_TOOLS_CALL ? MP_CATALOG_TOOL : MP_CATALOG_PROMPT;
	struct mp_str found = MP_STR("");
	size_t best = MP_SIMILAR_FAR;

	for (size_t i = 0; s && i < s->n[kind] && i < COMPARED; i++) {
		const struct mp_index_item *item = s->items[kind][i];
		size_t score = mp_similar_score(name, item->public_name);
		size_t own = mp_similar_score(name, item->source->name);

		score = own < score ? own : score;
		if (score >= best)
			continue;
		best = score;
		found = item->public_name;
	}
	return found;
}

static void refuse_name(struct mp_request *e, struct mp_str name, int code)
{
	const char *problem = mp_workspace_get_problem(e->session->workspace);
	struct mp_str similar = find_similar(e, name);

	mp_request_refuse(
		e, code, 200, "Unknown %s: %.*s%s%.*s%s%s%s%s", unknown_describe(e->method),
		MP_STR_ARGS(name), similar.len ? "; did you mean " : "", MP_STR_ARGS(similar),
		similar.len ? "?" : "",
		problem ? "; a configuration file cannot be read, and its servers may be missing: "
			: "",
		problem ? problem : "", problem ? ". Mend the file" : "");
}

/* In the form of the request's era (mcp-spec 4.1). */
void mp_session_refuse_unknown(struct mp_request *e, struct mp_str name, size_t candidates)
{
	struct mp_sessions *l = e->session->sessions;
	bool is_uri = e->method == MP_METHOD_RESOURCES_READ;
	int code = is_uri && e->era == MP_ERA_LEGACY ? -32002 : -32602;
	struct mp_writer w;

	if (candidates > 1) {
		mp_request_refuse(e, code, 200, "'%.*s' could be any of %zu %ss", MP_STR_ARGS(name),
				  candidates, unknown_describe(e->method));
		return;
	}
	if (e->method == MP_METHOD_TOOLS_CALL && explain_unknown(e, name))
		return;
	if (!is_uri) {
		refuse_name(e, name, code);
		return;
	}
	mp_buf_clear(&l->scratch);
	mp_write_init(&w, &l->scratch, NULL);
	mp_write_begin_object(&w);
	mp_write_member_i64(&w, "code", code);
	mp_write_member_text(&w, "message", MP_STR("Resource not found"));
	mp_write_key(&w, MP_STR("data"));
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "uri", name);
	mp_write_end_object(&w);
	mp_write_end_object(&w);
	if (mp_write_finish(&w) < 0)
		mp_request_give_up(e, MCPOOL_ENOMEM);
	else
		mp_session_finish_call(e, mp_buf_get(&l->scratch), true, 200);
}
