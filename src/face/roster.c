/*
 * roster.c - the servers of a workspace at one moment, as a value and as JSON.
 */
#include "face/roster.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"

static const char *const states[] = {
#define X(name, word, status, meaning) word,
	MP_STATUS_STATES(X)
#undef X
		NULL};
static const char *const namings[] = {"mcp__server__tool", "mcp_server_tool", "server__tool",
				      "passthrough", NULL};

#define FIELD(kind, key, field, ...) MP_BIND(struct mp_roster_row, kind, key, field, __VA_ARGS__)
static const struct mp_bind_field fields[] = {
	FIELD(TEXT, "name", name, .required = true),
	FIELD(CHOICE, "state", state, .choices = states, .required = true),
	FIELD(TEXT, "provider", provider),
	FIELD(I64, "timeoutMs", timeout_ms),
	FIELD(BOOL, "required", is_required),
	FIELD(LIST, "toolsAllowed", allowed),
	FIELD(LIST, "toolsDenied", denied),
	FIELD(BOOL, "instance", has_instance),
	FIELD(TEXT, "detail", detail),
	FIELD(TEXT, "error", error),
	FIELD(TEXT, "stderr", tail),
	FIELD(I64, "code", code),
	FIELD(I64, "fault", fault),
	FIELD(TEXT, "transport", transport),
	FIELD(BOOL, "withholds", withholds),
	FIELD(TEXT, "environment", environment),
	FIELD(I64, "starts", starts),
	FIELD(I64, "tools", tools),
};
static const struct mp_bind_table table = {fields, MP_ARRAY_LEN(fields),
					   offsetof(struct mp_roster_row, present)};

/* --- taking ---------------------------------------------------------------------------------- */

void mp_roster_describe(const struct mp_status *s, struct mp_roster_row *ret)
{
	*ret = (struct mp_roster_row){
		.name = s->entry->name,
		.provider = s->entry->origin.label,
		.timeout_ms = s->entry->tuning.timeout_ms,
		.is_required = s->entry->tuning.required,
		.allowed = s->entry->tools_allowed,
		.denied = s->entry->tools_denied,
		.state = (int)s->state,
		.has_instance = s->instance != 0,
		.detail = s->detail,
		.error = s->error,
		.tail = "",
		.code = s->code,
		.fault = (int64_t)s->fault,
		.transport = mp_kind_get_name(s->entry->kind),
		.withholds = s->withholds,
		.environment = s->environment,
		.starts = (int64_t)s->starts,
		.tools = s->tools,
		.was_ready = s->handshake_us >= 0,
	};
}

static int keep(struct mp_arena *arena, const char **text, size_t len)
{
	if (!*text)
		return 0;
	*text = mp_arena_dup(arena, (struct mp_str){*text, len});
	return *text ? 0 : mp_arena_get_error(arena);
}

static int keep_list(struct mp_arena *arena, struct mp_bind_list *list)
{
	const char **items = mp_arena_alloc_array(arena, list->n + 1, sizeof(char *));
	int r = items ? 0 : mp_arena_get_error(arena);

	for (size_t i = 0; items && i < list->n && r == 0; i++) {
		items[i] = list->items[i];
		r = keep(arena, &items[i], strlen(items[i]));
	}
	list->items = items;
	return r;
}

/* What it borrowed is gone when the loop turns. */
static int keep_row(struct mp_arena *arena, struct mp_roster_row *row, size_t tail)
{
	const char **texts[] = {&row->name, &row->provider, &row->detail, &row->error,
				&row->environment};
	int r = keep(arena, &row->tail, tail);

	for (size_t i = 0; i < MP_ARRAY_LEN(texts) && r == 0; i++)
		r = keep(arena, texts[i], *texts[i] ? strlen(*texts[i]) : 0);
	if (r == 0)
		r = keep_list(arena, &row->allowed);
	return r == 0 ? keep_list(arena, &row->denied) : r;
}

static int make(size_t rows, struct mp_roster **ret)
{
	struct mp_roster *r = mp_alloc(sizeof(*r));

	mp_arena_init(&r->arena, MP_LIMIT_ARENA);
	r->rows = mp_arena_alloc_array(&r->arena, rows + 1, sizeof(*r->rows));
	*ret = r;
	return r->rows ? 0 : mp_arena_get_error(&r->arena);
}

int mp_roster_take(struct mp_workspace *v, mp_id session, const bool *only, unsigned what,
		   struct mp_roster **ret)
{
	MP_CLEANUP(mp_roster_freep) struct mp_roster *roster = NULL;
	size_t n = mp_workspace_count(v);
	int r = make(n, &roster);

	roster->naming = mp_workspace_get_set(v)->settings.naming;
	for (size_t i = 0; i < n && r == 0; i++) {
		struct mp_roster_row *row = &roster->rows[roster->n];
		struct mp_status s;

		if (only && !only[i])
			continue;
		mp_workspace_get_status(v, i, session, &s);
		mp_roster_describe(&s, row);
		if (s.tail.len)
			row->tail = s.tail.p;
		r = keep_row(&roster->arena, row, s.tail.len);
		if (r < 0)
			break;
		if (what & MP_ROSTER_OFFERS)
			row->offer = mp_workspace_get_offer(v, i, session);
		roster->n++;
	}
	if (r == 0)
		*ret = MP_TAKE(roster);
	return r;
}

struct mp_roster *mp_roster_free(struct mp_roster *r)
{
	if (!r)
		return NULL;
	for (size_t i = 0; i < r->n; i++)
		mp_offer_unref(r->rows[i].offer);
	mp_arena_done(&r->arena);
	return mp_free(r);
}

const struct mp_roster_row *mp_roster_find(const struct mp_roster *r, const char *name)
{
	for (size_t i = 0; i < r->n; i++)
		if (strcmp(r->rows[i].name, name) == 0)
			return &r->rows[i];
	return NULL;
}

/* --- writing --------------------------------------------------------------------------------- */

/* A page of the protocol, and what was wrong with it; null: it could not be had. */
static void write_list(struct mp_writer *w, const struct mp_offer_list *l, struct mp_str page)
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

static int write_offer(struct mp_writer *w, const struct mp_offer *o)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_definition d;
	int r;

	mp_buf_init(&text, (size_t)MP_CATALOG_COUNT * MP_LIMIT_MESSAGE + MP_MIB(1));
	r = mp_offer_to_definition(o, &text, &d);
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

static int write_row(struct mp_writer *w, const struct mp_roster_row *row)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf members;
	struct mp_roster_row copy = *row;
	struct mp_writer all;
	int r;

	mp_buf_init(&members, MP_MIB(4));
	copy.present = (UINT64_C(1) << MP_ARRAY_LEN(fields)) - 1;
	mp_bind_set_present(&table, &copy, "provider", row->provider != NULL);
	mp_write_init(&all, &members, NULL);
	mp_bind_write(&table, &copy, &all);
	r = mp_write_finish(&all);
	if (r < 0)
		return r;
	mp_write_begin_object(w);
	mp_write_raw_members(w, (struct mp_str){members.data + 1, members.len - 2});
	if (row->offer) {
		mp_write_key(w, MP_STR("offer"));
		r = write_offer(w, row->offer);
		if (r < 0)
			return r;
	}
	mp_write_end_object(w);
	return 0;
}

int mp_roster_write(const struct mp_roster *roster, struct mp_buf *out)
{
	struct mp_writer w;
	int r = 0;

	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "naming", mp_str_of(namings[roster->naming]));
	mp_write_key(&w, MP_STR("servers"));
	mp_write_begin_array(&w);
	for (size_t i = 0; i < roster->n && r == 0; i++)
		r = write_row(&w, &roster->rows[i]);
	if (r < 0)
		return r;
	mp_write_end_array(&w);
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

/* --- reading --------------------------------------------------------------------------------- */

static int refuse(struct mcpool_error *reterr)
{
	return mp_fail(reterr, MCPOOL_EPROTO, "what the hub says of its servers cannot be read");
}

static int read_problems(const struct mp_tape *t, mp_value v, struct mp_offer_list *l)
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

/* The store's reader does the rest: what it takes is as good as fetched. */
static int read_offer(const struct mp_tape *t, mp_value v, struct mp_offer **ret,
		      struct mcpool_error *reterr)
{
	struct mp_definition d = {.saved_ms = 1};
	mp_value lists = mp_value_get(t, v, "lists"), at[MP_CATALOG_COUNT];
	int64_t saved_ms;
	int n = 0, r;

	d.server = mp_value_source(t, mp_value_get(t, v, "server"));
	MP_VALUE_EACH(t, lists, list) {
		mp_value page = mp_value_get(t, list, "page");

		if (n == MP_CATALOG_COUNT)
			return refuse(reterr);
		if (mp_value_is(t, page, MP_TAPE_OBJECT))
			d.lists[n] = mp_value_source(t, page);
		at[n++] = list;
	}
	if (n < MP_CATALOG_COUNT || mp_value_i64(t, mp_value_get(t, v, "savedAt"), &saved_ms) < 0)
		return refuse(reterr);
	r = mp_offer_from_definition(&d, ret, reterr);
	if (r < 0)
		return r;
	(*ret)->saved_ms = saved_ms;
	for (int kind = 0; kind < MP_CATALOG_COUNT && r == 0; kind++)
		r = read_problems(t, at[kind], (*ret)->lists[kind]);
	return r < 0 ? mp_fail(reterr, r, "%s", mcpool_error_text(r)) : 0;
}

static int read_row(const struct mp_tape *t, mp_value v, struct mp_roster *roster,
		    struct mcpool_error *reterr)
{
	struct mp_roster_row *row = &roster->rows[roster->n];
	mp_value offer = mp_value_get(t, v, "offer");
	int r;

	*row = (struct mp_roster_row){
		.detail = "", .error = "", .tail = "", .environment = "", .tools = -1};
	r = mp_bind_read(&table, t, v, &roster->arena, row, NULL, NULL, reterr);
	if (r < 0)
		return r;
	roster->n++;
	return offer == MP_NONE ? 0 : read_offer(t, offer, &row->offer, reterr);
}

static int read_naming(const struct mp_tape *t, mp_value v, int *ret)
{
	for (int i = 0; namings[i]; i++)
		if (mp_value_text_is(t, v, mp_str_of(namings[i]))) {
			*ret = i;
			return 0;
		}
	return MCPOOL_EPROTO;
}

int mp_roster_read(const struct mp_tape *t, mp_value v, struct mp_roster **ret,
		   struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_roster_freep) struct mp_roster *roster = NULL;
	mp_value servers = mp_value_get(t, v, "servers");
	int r;

	if (!mp_value_is(t, servers, MP_TAPE_ARRAY))
		return refuse(reterr);
	r = make(mp_value_count(t, servers), &roster);
	if (r < 0)
		return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	if (read_naming(t, mp_value_get(t, v, "naming"), &roster->naming) < 0)
		return refuse(reterr);
	MP_VALUE_EACH(t, servers, one) {
		r = read_row(t, one, roster, reterr);
		if (r < 0)
			return r;
	}
	*ret = MP_TAKE(roster);
	return 0;
}
