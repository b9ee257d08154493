/*
 * status_json.c - a status as JSON: the one table of its fields and their names.
 */
#include "pool/status.h"

#include "base/error.h"
#include "base/limits.h"

static const char *const states[] = {
#define X(name, word, connection, meaning) word,
	MP_STATUS_STATES(X)
#undef X
		NULL};

#define SOURCE(kind, key, field, ...) \
	MP_BIND(struct mp_status_source, kind, key, field, __VA_ARGS__)
static const struct mp_bind_field source_fields[] = {
	SOURCE(TEXT, "file", file),
	SOURCE(I64, "line", line),
	SOURCE(TEXT, "tool", tool),
	SOURCE(TEXT, "level", level),
};
static const struct mp_bind_table source_table = {source_fields, MP_ARRAY_LEN(source_fields),
						  offsetof(struct mp_status_source, present)};

enum {
	ALL = MP_STATUS_ALL,
	ONE = MP_STATUS_ONE | ALL,
	HUB = MP_STATUS_HUB | ALL,
	LIST = MP_STATUS_LIST | ONE,
	SHOWN = HUB | LIST
};

/* Views, type, name, field. The order is published. */
#define STATUS_FIELDS(X)                                                      \
	X(SHOWN, TEXT, "name", name, .required = true)                        \
	X(SHOWN, CHOICE, "state", state, .choices = states, .required = true) \
	X(SHOWN, TEXT, "status", connection)                                  \
	X(HUB, TEXT, "detail", detail)                                        \
	X(SHOWN, TEXT, "error", error, .null = true)                          \
	X(SHOWN, I64, "nextAt", next_at_ms, .null = true)                     \
	X(SHOWN, TEXT, "transport", transport)                                \
	X(SHOWN, TEXT, "mode", mode)                                          \
	X(HUB, LIST, "withheld", withheld)                                    \
	X(SHOWN, OBJECT, "source", source, .table = &source_table)            \
	X(SHOWN, RAW, "shadowed", shadowed)                                   \
	X(SHOWN, BOOL, "changed", is_changed)                                 \
	X(LIST, TEXT, "command", command)                                     \
	X(LIST, TEXT, "url", url)                                             \
	X(SHOWN, I64, "tools", tools, .null = true)                           \
	X(SHOWN, I64, "seenAt", seen_ms, .null = true)                        \
	X(SHOWN, I64, "pid", pid, .null = true)                               \
	X(SHOWN, I64, "uptimeMs", uptime_ms, .null = true)                    \
	X(SHOWN, I64, "restarts", restarts, .null = true)                     \
	X(HUB | ONE, I64, "attempt", attempt, .null = true)                   \
	X(HUB | ONE, I64, "maxAttempts", max_attempts, .null = true)          \
	X(SHOWN, I64, "calls", calls, .null = true)                           \
	X(HUB | ONE, I64, "failures", failures, .null = true)                 \
	X(SHOWN, I64, "p50us", p50_us, .null = true)                          \
	X(SHOWN, I64, "p99us", p99_us, .null = true)                          \
	X(HUB, I64, "waiting", waiting)                                       \
	X(HUB, I64, "open", open)                                             \
	X(HUB, TEXT, "environment", environment)                              \
	X(HUB | ONE, I64, "memory", memory, .null = true)                     \
	X(HUB | ONE, I64, "cpuUs", cpu_us, .null = true)                      \
	X(HUB | ONE, I64, "processes", processes, .null = true)               \
	X(HUB, I64, "sessions", sessions, .null = true)                       \
	X(HUB | ONE, I64, "callsLastMinute", calls_last_minute, .null = true) \
	X(SHOWN, I64, "toolTokens", tool_tokens, .null = true)                \
	X(HUB, RAW, "history", history)                                       \
	X(ALL, TEXT, "message", message)                                      \
	X(ALL, TEXT, "stderr", tail)                                          \
	X(ALL, I64, "code", code)                                             \
	X(ALL, I64, "fault", fault)                                           \
	X(ALL, I64, "instance", instance)                                     \
	X(ALL, TEXT, "provider", provider)                                    \
	X(ALL, I64, "timeoutMs", timeout_ms)                                  \
	X(ALL, BOOL, "required", is_required)                                 \
	X(ALL, LIST, "toolsAllowed", tools_allowed)                           \
	X(ALL, LIST, "toolsDenied", tools_denied)                             \
	X(ALL, I64, "prompts", prompts, .null = true)                         \
	X(ALL, I64, "resources", resources, .null = true)                     \
	X(ONE, I64, "failedAt", failed_at_ms, .null = true)                   \
	X(ONE, I64, "since", since_ms, .null = true)                          \
	X(ALL, I64, "tries", tries)                                           \
	X(ALL, I64, "maxTries", max_tries)                                    \
	X(ALL, I64, "starts", starts)                                         \
	X(ALL, I64, "unfinished", unfinished)                                 \
	X(ALL, I64, "prepareUs", prepare_us, .null = true)                    \
	X(ALL, I64, "spawnUs", spawn_us, .null = true)                        \
	X(ALL, I64, "handshakeUs", handshake_us, .null = true)                \
	X(ALL, I64, "listUs", list_us, .null = true)                          \
	X(ONE, RAW, "serverInfo", server_info)                                \
	X(ONE, TEXT, "protocol", protocol)                                    \
	X(ONE, RAW, "capabilities", capabilities)                             \
	X(ONE, TEXT, "instructions", instructions)                            \
	X(HUB | ONE, RAW, "health", health)

static const struct mp_bind_field fields[] = {
#define X(views, kind, key, field, ...) MP_BIND(struct mp_status, kind, key, field, __VA_ARGS__),
	STATUS_FIELDS(X)
#undef X
};
static const int views_of[] = {
#define X(views, kind, key, field, ...) views,
	STATUS_FIELDS(X)
#undef X
};
static const struct mp_bind_table table = {fields, MP_ARRAY_LEN(fields),
					   offsetof(struct mp_status, present)};

/* --- writing --------------------------------------------------------------------------------- */

void mp_status_write(struct mp_writer *w, const struct mp_status *s, enum mp_status_view view)
{
	struct mp_status copy = *s;

	copy.connection = mp_status_state_get_connection(s->state);
	copy.present = 0;
	for (size_t row = 0; row < MP_ARRAY_LEN(fields); row++)
		if (views_of[row] & (int)view)
			copy.present |= UINT64_C(1) << row;
	copy.source.present = (1U << MP_ARRAY_LEN(source_fields)) - 1;
	if (!copy.command)
		mp_bind_set_present(&table, &copy, "command", false);
	if (!copy.url)
		mp_bind_set_present(&table, &copy, "url", false);
	if (!copy.provider)
		mp_bind_set_present(&table, &copy, "provider", false);
	if (!copy.history.len)
		mp_bind_set_present(&table, &copy, "history", false);
	if (!copy.capabilities.len)
		mp_bind_set_present(&table, &copy, "capabilities", false);
	if (!copy.health.len)
		mp_bind_set_present(&table, &copy, "health", false);
	if (!copy.server_info.len)
		mp_bind_set_present(&table, &copy, "serverInfo", false);
	if (!copy.protocol)
		mp_bind_set_present(&table, &copy, "protocol", false);
	if (!copy.instructions || !copy.instructions[0])
		mp_bind_set_present(&table, &copy, "instructions", false);
	if (!s->is_new && !s->is_changed)
		mp_bind_set_present(&table, &copy, "changed", false);
	if (s->seen_ms < 0 && view & (MP_STATUS_LIST | MP_STATUS_ONE))
		mp_bind_set_present(&table, &copy, "seenAt", false);
	mp_bind_write(&table, &copy, w);
}

/* A page of the protocol with its problem; null: it could not be fetched. */
static void write_list(struct mp_writer *w, const struct mp_server_catalog_list *l,
		       struct mp_str page)
{
	mp_write_begin_object(w);
	mp_write_member_raw(w, "page", page.len ? page : MP_STR("null"));
	if (l->problem)
		mp_write_member_text(w, "problem", mp_str_of(l->problem));
	mp_write_key(w, MP_STR("problems"));
	mp_write_begin_array(w);
	for (size_t i = 0; i < l->list.n_problems; i++)
		mp_write_text(w, mp_str_of(l->list.problems[i]));
	mp_write_end_array(w);
	mp_write_end_object(w);
}

static int write_catalog(struct mp_writer *w, const struct mp_server_catalog *o)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_stored_catalog d;
	int r;

	mp_buf_init(&text, (size_t)MP_CATALOG_COUNT * MP_LIMIT_MESSAGE + MP_MIB(1));
	r = mp_server_catalog_to_definition(o, &text, &d);
	if (r < 0)
		return r;
	mp_write_begin_object(w);
	mp_write_member_i64(w, "savedAt", o->saved_ms);
	mp_write_member_raw(w, "server", d.server);
	mp_write_key(w, MP_STR("lists"));
	mp_write_begin_array(w);
	for (int kind = 0; kind < MP_CATALOG_COUNT; kind++)
		write_list(w, o->lists[kind], d.lists[kind]);
	mp_write_end_array(w);
	mp_write_end_object(w);
	return 0;
}

/* Writes the text up to its closing brace, then the catalog. */
static int write_item(struct mp_writer *w, const struct mp_status *s)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf members;
	struct mp_writer all;
	int r;

	mp_buf_init(&members, MP_MIB(4));
	mp_write_init(&all, &members, NULL);
	mp_status_write(&all, s, MP_STATUS_ALL);
	r = mp_write_finish(&all);
	if (r < 0)
		return r;
	mp_write_begin_object(w);
	mp_write_raw_members(w, (struct mp_str){members.data + 1, members.len - 2});
	if (s->catalog) {
		mp_write_key(w, MP_STR("catalog"));
		r = write_catalog(w, s->catalog);
		if (r < 0)
			return r;
	}
	mp_write_end_object(w);
	return 0;
}

int mp_status_list_write(struct mp_writer *w, const struct mp_status_list *l)
{
	int r = 0;

	mp_write_member_text(w, "naming", mp_str_of(mp_naming_get_word((enum mp_naming)l->naming)));
	mp_write_key(w, MP_STR("servers"));
	mp_write_begin_array(w);
	for (size_t i = 0; i < l->n && r == 0; i++)
		r = write_item(w, &l->items[i]);
	if (r == 0)
		mp_write_end_array(w);
	return r;
}

/* --- reading --------------------------------------------------------------------------------- */

static int status_json_refuse(struct mcpool_error *reterr)
{
	return mp_fail(reterr, MCPOOL_EPROTO, "the hub sent a status that cannot be read");
}

static int read_problems(const struct mp_tape *t, mp_value v, struct mp_server_catalog_list *l)
{
	struct mp_catalog_list *list = &l->list;
	mp_value problems = mp_value_get(t, v, "problems");
	size_t n = mp_value_count(t, problems);
	struct mp_str text;

	if (mp_value_text(t, mp_value_get(t, v, "problem"), &list->arena, &text) == 0)
		l->problem = mp_arena_dup(&list->arena, text);
	list->problems = mp_arena_alloc_array(&list->arena, n + 1, sizeof(char *));
	if (!list->problems)
		return mp_arena_get_error(&list->arena);
	MP_VALUE_EACH(t, problems, one) {
		if (mp_value_text(t, one, &list->arena, &text) < 0)
			return MCPOOL_EPROTO;
		list->problems[list->n_problems] = mp_arena_dup(&list->arena, text);
		if (!list->problems[list->n_problems++])
			return mp_arena_get_error(&list->arena);
	}
	return 0;
}

/* Uses the reader of the store, which validates like a fetch. */
static int read_catalog(const struct mp_tape *t, mp_value v, struct mp_server_catalog **ret,
			struct mcpool_error *reterr)
{
	struct mp_stored_catalog d = {.saved_ms = 1};
	mp_value lists = mp_value_get(t, v, "lists"), at[MP_CATALOG_COUNT];
	int64_t saved_ms;
	int n = 0, r;

	d.server = mp_value_source(t, mp_value_get(t, v, "server"));
	MP_VALUE_EACH(t, lists, list) {
		mp_value page = mp_value_get(t, list, "page");

		if (n == MP_CATALOG_COUNT)
			return status_json_refuse(reterr);
		if (mp_value_is(t, page, MP_TAPE_OBJECT))
			d.lists[n] = mp_value_source(t, page);
		at[n++] = list;
	}
	if (n < MP_CATALOG_COUNT || mp_value_i64(t, mp_value_get(t, v, "savedAt"), &saved_ms) < 0)
		return status_json_refuse(reterr);
	r = mp_server_catalog_from_definition(&d, ret, reterr);
	if (r < 0)
		return r;
	(*ret)->saved_ms = saved_ms;
	for (int kind = 0; kind < MP_CATALOG_COUNT && r == 0; kind++)
		r = read_problems(t, at[kind], (*ret)->lists[kind]);
	return r < 0 ? mp_fail(reterr, r, "%s", mcpool_error_text(r)) : 0;
}

int mp_status_read(const struct mp_tape *t, mp_value v, struct mp_arena *arena,
		   struct mp_status *ret, struct mcpool_error *reterr)
{
	mp_status_init(ret);
	return mp_bind_read(&table, t, v, arena, ret, NULL, NULL, reterr);
}

static int read_item(const struct mp_tape *t, mp_value v, struct mp_status_list *l,
		     struct mcpool_error *reterr)
{
	struct mp_status *s = &l->items[l->n];
	mp_value catalog = mp_value_get(t, v, "catalog");
	int r = mp_status_read(t, v, &l->arena, s, reterr);

	if (r < 0)
		return r;
	l->n++;
	return catalog == MP_NONE ? 0 : read_catalog(t, catalog, &s->catalog, reterr);
}

static int read_naming(const struct mp_tape *t, mp_value v, int *ret)
{
	for (int i = 0; mp_naming_get_word((enum mp_naming)i); i++)
		if (mp_value_text_is(t, v, mp_str_of(mp_naming_get_word((enum mp_naming)i)))) {
			*ret = i;
			return 0;
		}
	return MCPOOL_EPROTO;
}

int mp_status_list_read(const struct mp_tape *t, mp_value v, struct mp_status_list **ret,
			struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_status_list_freep) struct mp_status_list *l = NULL;
	mp_value servers = mp_value_get(t, v, "servers");
	int r;

	if (!mp_value_is(t, servers, MP_TAPE_ARRAY))
		return status_json_refuse(reterr);
	r = mp_status_list_new(mp_value_count(t, servers), &l);
	if (r < 0)
		return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	if (read_naming(t, mp_value_get(t, v, "naming"), &l->naming) < 0)
		return status_json_refuse(reterr);
	MP_VALUE_EACH(t, servers, one) {
		r = read_item(t, one, l, reterr);
		if (r < 0)
			return r;
	}
	*ret = MP_TAKE(l);
	return 0;
}
