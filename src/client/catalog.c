/*
 * catalog.c - what one upstream offers, fetched page by page.
 */
#include "client/catalog.h"

#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/mem.h"

/* Result, list, item, schema, its members: what the checks look at. */
enum { KEEP_DEPTH = 5, MAX_PROBLEMS = 100 };

static const struct {
	enum mp_method_id method;
	const char *list, *key;
	unsigned offer;
} kinds[] = {
#define X(name, method, list, key, offer) \
	[MP_CATALOG_##name] = {MP_METHOD_##method, list, key, offer},
	MP_CATALOG_KINDS(X)
#undef X
};

void mp_catalog_list_init(struct mp_catalog_list *l, enum mp_catalog_kind kind)
{
	*l = (struct mp_catalog_list){.kind = kind};
	mp_arena_init(&l->arena, MP_LIMIT_ARENA);
}

void mp_catalog_list_done(struct mp_catalog_list *l)
{
	l->items = mp_free(l->items);
	l->n = 0;
	mp_arena_done(&l->arena);
}

const char *mp_catalog_get_method(enum mp_catalog_kind kind)
{
	return mp_method_get(kinds[kind].method)->name;
}

const struct mp_catalog_item *mp_catalog_find(const struct mp_catalog_list *l, struct mp_str name)
{
	for (size_t i = 0; i < l->n; i++)
		if (mp_str_eq(l->items[i].name, name))
			return &l->items[i];
	return NULL;
}

/* --- what is wrong with an item ------------------------------------------------------------- */

static void note_problem(struct mp_catalog_list *l, struct mp_str name, const char *what)
{
	char text[400];
	char *copy;

	if (!l->problems)
		l->problems = mp_arena_alloc_array(&l->arena, MAX_PROBLEMS, sizeof(*l->problems));
	if (!l->problems || l->n_problems == MAX_PROBLEMS)
		return;
	if (name.len)
		snprintf(text, sizeof(text), "'%.*s': %s", (int)(name.len < 100 ? name.len : 100),
			 name.p, what);
	else
		snprintf(text, sizeof(text), "%s", what);
	copy = mp_arena_dup(&l->arena, mp_str_of(text));
	if (copy)
		l->problems[l->n_problems++] = copy;
}

static bool is_list_of_texts(const struct mp_tape *t, mp_value v)
{
	if (!mp_value_is(t, v, MP_TAPE_ARRAY))
		return false;
	MP_VALUE_EACH(t, v, item)
		if (!mp_value_is(t, item, MP_TAPE_STRING))
			return false;
	return true;
}

/* What any client would stumble over; the rest of JSON Schema is the server's business. */
static const char *judge_schema(const struct mp_tape *t, mp_value v, bool is_input)
{
	mp_value type = mp_value_get(t, v, "type");
	mp_value properties = mp_value_get(t, v, "properties");
	mp_value required = mp_value_get(t, v, "required");

	if (!mp_value_is(t, v, MP_TAPE_OBJECT))
		return v == MP_NONE ? "it has no inputSchema" : "its schema is not an object";
	if (is_input && type != MP_NONE && !mp_value_text_is(t, type, MP_STR("object")))
		return "the type of its inputSchema is not \"object\"";
	if (properties != MP_NONE && !mp_value_is(t, properties, MP_TAPE_OBJECT))
		return "the properties of its schema are not an object";
	if (required != MP_NONE && !is_list_of_texts(t, required))
		return "the required properties of its schema are not a list of names";
	if (is_input)
		MP_VALUE_EACH(t, properties, key)
			if (!mp_value_is(t, mp_value_of(key), MP_TAPE_OBJECT) &&
			    !mp_value_is(t, mp_value_of(key), MP_TAPE_TRUE) &&
			    !mp_value_is(t, mp_value_of(key), MP_TAPE_FALSE))
				return "a property of its schema is neither an object nor a "
				       "boolean";
	return NULL;
}

static const char *catalog_judge(enum mp_catalog_kind kind, const struct mp_tape *t, mp_value item)
{
	const char *problem;
	mp_value output = mp_value_get(t, item, "outputSchema");

	if (kind != MP_CATALOG_TOOL)
		return NULL;
	problem = judge_schema(t, mp_value_get(t, item, "inputSchema"), true);
	if (!problem && output != MP_NONE)
		problem = judge_schema(t, output, false);
	return problem;
}

/* --- reading a page ------------------------------------------------------------------------- */

static int copy_text(struct mp_catalog_list *l, const struct mp_tape *t, mp_value v,
		     struct mp_str *ret_text)
{
	char *copy;
	int r;

	*ret_text = MP_STR("");
	if (!mp_value_is(t, v, MP_TAPE_STRING))
		return 0;
	r = mp_value_text(t, v, &l->arena, ret_text);
	if (r < 0)
		return r;
	copy = mp_arena_dup(&l->arena, *ret_text);
	if (!copy)
		return mp_arena_get_error(&l->arena);
	ret_text->p = copy;
	return 0;
}

/* As MCP has it: title, else the title among the annotations, which is older. */
static mp_value find_title(const struct mp_tape *t, mp_value item, enum mp_catalog_kind kind)
{
	mp_value title = mp_value_get(t, item, "title");

	if (title == MP_NONE && kind == MP_CATALOG_TOOL)
		title = mp_value_get(t, mp_value_get(t, item, "annotations"), "title");
	if (title == MP_NONE && kind != MP_CATALOG_TOOL && kind != MP_CATALOG_PROMPT)
		title = mp_value_get(t, item, "name");
	return title;
}

static int make_item(struct mp_catalog_list *l, const struct mp_tape *t, mp_value v,
		     struct mp_catalog_item *item)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;
	char *copy;
	int r;

	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	mp_write_init(&w, &text, NULL);
	mp_write_value(&w, t, v);
	r = mp_write_finish(&w);
	if (r == 0)
		r = copy_text(l, t, find_title(t, v, l->kind), &item->title);
	if (r == 0)
		r = copy_text(l, t, mp_value_get(t, v, "description"), &item->description);
	if (r < 0)
		return r;
	copy = mp_arena_dup(&l->arena, mp_buf_get(&text));
	if (!copy)
		return mp_arena_get_error(&l->arena);
	item->json = (struct mp_str){copy, text.len};
	return 0;
}

static int catalog_append(struct mp_catalog_list *l, const struct mp_catalog_item *item)
{
	if (l->n == l->room) {
		size_t room = l->room ? l->room * 2 : 4;
		struct mp_catalog_item *items = mp_try_realloc(l->items, room * sizeof(*items));

		if (!items)
			return MCPOOL_ENOMEM;
		l->items = items;
		l->room = room;
	}
	l->items[l->n++] = *item;
	return 0;
}

static int read_item(struct mp_catalog_list *l, struct mp_map *seen, const struct mp_tape *t,
		     mp_value v)
{
	struct mp_catalog_item item = {.name = MP_STR("")};
	const char *problem;
	int r;

	r = copy_text(l, t, mp_value_get(t, v, kinds[l->kind].key), &item.name);
	if (r < 0)
		return r;
	problem = item.name.len == 0 ? "one that has no name" : catalog_judge(l->kind, t, v);
	if (!problem && l->kind <= MP_CATALOG_PROMPT && item.name.len > MP_LIMIT_NAME)
		problem = "its name is longer than 256 bytes";
	if (!problem && mp_map_has(seen, item.name))
		problem = "there are two of that name; the first one counts";
	if (problem) {
		note_problem(l, item.name, problem);
		return 0;
	}
	if (l->n == MP_LIMIT_TOOLS) {
		l->is_cut = true;
		return 0;
	}
	r = make_item(l, t, v, &item);
	if (r == 0 && l->param_headers)
		r = mp_param_headers_read(l->param_headers, item.name, item.json, &problem);
	if (r < 0)
		return r;
	if (problem) {
		note_problem(l, item.name, problem);
		return 0;
	}
	r = mp_map_set(seen, item.name, l);
	return r < 0 ? r : catalog_append(l, &item);
}

static int read_items(struct mp_catalog_list *l, const struct mp_tape *t, mp_value items)
{
	struct mp_map seen;
	int r = 0;

	mp_map_init(&seen, (size_t)2 * MP_LIMIT_TOOLS);
	for (size_t i = 0; i < l->n && r == 0; i++)
		r = mp_map_set(&seen, l->items[i].name, l);
	if (r == 0)
		MP_VALUE_EACH(t, items, v) {
			r = read_item(l, &seen, t, v);
			if (r < 0)
				break;
		}
	mp_map_done(&seen);
	return r;
}

static int read_cursor(const struct mp_tape *t, struct mp_buf *cursor, bool *ret_more)
{
	mp_value next = mp_value_get(t, MP_ROOT, "nextCursor");

	mp_buf_clear(cursor);
	*ret_more = mp_value_is(t, next, MP_TAPE_STRING); /* also an empty one */
	return *ret_more ? mp_buf_add_str(cursor, mp_value_source(t, next)) : 0;
}

int mp_catalog_read_page(struct mp_catalog_list *l, struct mp_str result, struct mp_buf *cursor,
			 bool *ret_more, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	mp_value items;
	int r;

	*ret_more = false;
	mp_tape_init(&t, 0);
	t.keep_depth = KEEP_DEPTH;
	r = mp_tape_parse(&t, result, reterr);
	if (r < 0)
		return r;
	items = mp_value_get(&t, MP_ROOT, kinds[l->kind].list);
	if (!mp_value_is(&t, items, MP_TAPE_ARRAY))
		return mp_fail(reterr, MCPOOL_EPROTO, "'%s' of the answer is %s, not a list",
			       kinds[l->kind].list, mp_value_describe(&t, items));
	r = read_items(l, &t, items);
	if (r == 0)
		r = read_cursor(&t, cursor, ret_more);
	if (l->is_cut) {
		note_problem(l, MP_STR(""),
			     "the list is too long: only its first 10,000 items count");
		*ret_more = false;
	}
	return r < 0 ? mp_fail(reterr, r, "%s", mcpool_error_text(r)) : 0;
}

/* --- fetching ------------------------------------------------------------------------------- */

struct mp_catalog_fetch {
	struct mp_upstream *up;
	struct mp_loop *loop;
	struct mp_catalog_list *list;
	int64_t timeout_ms, deadline_ms; /* for all pages together */
	mp_catalog_fn fn;                /* NULL: abandoned */
	void *u;
	unsigned pages;
	struct mp_call call;
	struct mp_param_headers param_headers; /* of tools whose arguments HTTP repeats */
	struct mp_buf cursor;
	struct mp_task task; /* for lists that need no asking */
	struct mcpool_error why;
};

/* What calls carry changes with the list, and not before it is whole. */
static void hand_over_param_headers(struct mp_catalog_fetch *f, const struct mcpool_error *error)
{
	if (!f->list->param_headers)
		return;
	f->list->param_headers = NULL;
	if (!error)
		mp_upstream_set_param_headers(f->up, &f->param_headers);
}

static void catalog_finish(struct mp_catalog_fetch *f, const struct mcpool_error *error)
{
	if (f->fn) {
		hand_over_param_headers(f, error);
		f->fn(f->list, error, f->u);
	}
	mp_param_headers_done(&f->param_headers);
	mp_loop_unpost(f->loop, &f->task);
	mp_buf_done(&f->cursor);
	mp_free(f);
}

static void finish_empty(void *u)
{
	catalog_finish(u, NULL);
}

static int ask_page(struct mp_catalog_fetch *f);

static void note_cache(struct mp_catalog_list *l, unsigned page, const struct mp_cache_hint *hint)
{
	if (page == 1 || hint->ttl_ms < l->cache.ttl_ms)
		l->cache.ttl_ms = hint->ttl_ms;
	if (page == 1 || hint->is_private)
		l->cache.is_private = hint->is_private;
}

/* What there is counts, also of a server that never comes to an end. */
static bool is_endless(struct mp_catalog_fetch *f, struct mp_str next)
{
	const char *problem = NULL;

	if (f->pages > 1 && mp_str_eq(next, mp_buf_get(&f->cursor)))
		problem =
			"the list does not end: the server hands out the same page again and again";
	else if (f->pages == MP_LIMIT_LIST_PAGES)
		problem = "the list does not end: only its first 64 pages count";
	if (problem) {
		f->list->is_cut = true;
		note_problem(f->list, MP_STR(""), problem);
	}
	return problem != NULL;
}

static int take_page(struct mp_catalog_fetch *f, const struct mp_message *m, bool *ret_more)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf next;
	struct mp_result result;
	int r;

	mp_buf_init(&next, MP_LIMIT_MESSAGE);
	mp_modern_read_result(m, &result);
	note_cache(f->list, f->pages, &result.cache);
	r = mp_catalog_read_page(f->list, mp_value_source(m->tape, m->result), &next, ret_more,
				 &f->why);
	if (r < 0 || !*ret_more)
		return r;
	*ret_more = !is_endless(f, mp_buf_get(&next));
	mp_buf_clear(&f->cursor);
	return mp_buf_add_str(&f->cursor, mp_buf_get(&next));
}

static void catalog_fail(struct mp_catalog_fetch *f, int r)
{
	if (f->why.code == 0)
		(void)mp_fail(&f->why, r, "%s", mcpool_error_text(r));
	catalog_finish(f, &f->why);
}

static void got_page(struct mp_call *c, const struct mp_answer *answer)
{
	struct mp_catalog_fetch *f = mp_container_of(c, struct mp_catalog_fetch, call);
	bool more = false;
	int r = 0;

	if (answer->outcome == MP_OUTCOME_TIMEOUT && f->pages > 1) {
		(void)mp_fail(&f->why, MCPOOL_ECALL_TIMEOUT,
			      "the list did not come to an end within %g s",
			      (double)f->timeout_ms / 1000);
		catalog_finish(f, &f->why);
		return;
	}
	if (answer->outcome != MP_OUTCOME_ANSWERED) {
		catalog_finish(f, answer->error);
		return;
	}
	if (answer->message->kind == MP_MESSAGE_ERROR) {
		struct mp_str words = mp_error_read_words(answer->message, &f->list->arena);

		r = mp_fail(&f->why, MCPOOL_EPROTO, "%.*s (%lld)", MP_STR_ARGS(words),
			    (long long)mp_error_read_code(answer->message));
		f->why.fault = MCPOOL_FAULT_JSON_RPC;
	} else {
		r = take_page(f, answer->message, &more);
		if (r == 0 && more)
			r = ask_page(f);
	}
	if (r < 0)
		catalog_fail(f, r);
	else if (!more)
		catalog_finish(f, NULL);
}

static int ask_page(struct mp_catalog_fetch *f)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf params;
	struct mp_call_options o = {.method = kinds[f->list->kind].method};
	int64_t left_ms = f->deadline_ms - mp_loop_now_ms(f->loop);
	int r = 0;

	mp_buf_init(&params, MP_LIMIT_MESSAGE);
	if (f->pages++)
		r = mp_buf_addf(&params, "{\"cursor\":%.*s}", MP_STR_ARGS(mp_buf_get(&f->cursor)));
	o.params = mp_buf_get(&params);
	if (f->timeout_ms > 0) /* 0: no limit */
		o.timeout_ms = left_ms > 0 ? left_ms : 1;
	return r < 0 ? r : mp_upstream_call(f->up, &f->call, &o);
}

static const struct mp_call_hooks page_hooks = {.answered = got_page};

int mp_catalog_fetch(struct mp_upstream *up, struct mp_catalog_list *l, int64_t timeout_ms,
		     mp_catalog_fn fn, void *u, struct mp_loop *loop,
		     struct mp_catalog_fetch **ret_fetch)
{
	struct mp_catalog_fetch *f = mp_alloc(sizeof(*f));
	int r = 0;

	*f = (struct mp_catalog_fetch){
		.up = up,
		.loop = loop,
		.list = l,
		.timeout_ms = timeout_ms,
		.deadline_ms = mp_loop_now_ms(loop) + timeout_ms,
		.fn = fn,
		.u = u,
	};
	mp_call_init(&f->call, loop, &page_hooks);
	mp_param_headers_init(&f->param_headers);
	if (l->kind == MP_CATALOG_TOOL && mp_upstream_has_param_headers(up))
		l->param_headers = &f->param_headers;
	mp_buf_init(&f->cursor, MP_LIMIT_MESSAGE);
	mp_task_init(&f->task, finish_empty, f);
	if (!(mp_upstream_get_hello(up)->offers & kinds[l->kind].offer))
		mp_loop_post(loop, &f->task);
	else
		r = ask_page(f);
	if (r < 0) {
		f->fn = NULL;
		catalog_finish(f, NULL);
		return r;
	}
	if (ret_fetch)
		*ret_fetch = f;
	return 0;
}

void mp_catalog_abandon(struct mp_catalog_fetch *f)
{
	f->fn = NULL;
	if (mp_list_linked(&f->task.link))
		catalog_finish(f, NULL);
	else
		mp_peer_cancel(&f->call); /* its answer frees f */
}
