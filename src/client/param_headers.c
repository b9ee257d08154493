/*
 * param_headers.c - arguments of tools that HTTP repeats in headers.
 * An annotation counts on a property that is reached through `properties` alone, and is an error
 * anywhere else in a schema, where the argument would be ambiguous.
 */
#include "client/param_headers.h"

#include <string.h>

#include "base/error.h"
#include "base/limits.h"

#define KEY         "x-mcp-header"
#define PREFIX      "Mcp-Param-"
#define ARENA_LIMIT MP_MIB(4)

struct spot {
	struct mp_str header; /* with its prefix */
	struct mp_str *path;  /* names of properties, from the outermost */
	size_t depth;
};

struct tool {
	struct spot *spots;
	size_t n, depth; /* of the deepest */
};

void mp_param_headers_init(struct mp_param_headers *m)
{
	mp_map_init(&m->tools, MP_LIMIT_TOOLS);
	mp_arena_init(&m->arena, ARENA_LIMIT);
}

void mp_param_headers_done(struct mp_param_headers *m)
{
	mp_map_done(&m->tools);
	mp_arena_done(&m->arena);
}

/* --- annotations ---------------------------------------------------------------------------- */

/* Where else schemas stand: as such, in a list, or by name. */
static const struct {
	const char *key;
	bool is_by_name;
} elsewhere[] = {
	{"items", false},
	{"prefixItems", false},
	{"additionalItems", false},
	{"contains", false},
	{"additionalProperties", false},
	{"unevaluatedProperties", false},
	{"unevaluatedItems", false},
	{"propertyNames", false},
	{"contentSchema", false},
	{"oneOf", false},
	{"anyOf", false},
	{"allOf", false},
	{"not", false},
	{"if", false},
	{"then", false},
	{"else", false},
	{"patternProperties", true},
	{"dependentSchemas", true},
	{"dependencies", true},
	{"$defs", true},
	{"definitions", true},
};

struct walk {
	struct mp_tape tape;
	struct mp_param_headers *m;
	struct spot spots[MP_PARAM_HEADERS_MAX]; /* what was found */
	size_t n;
	mp_value path[MP_LIMIT_JSON_DEPTH]; /* keys on the tape */
	size_t depth;
	const char *problem;
	int error;
};

/* RFC 9110, 5.6.2 */
static bool is_token(struct mp_str s)
{
	for (size_t i = 0; i < s.len; i++) {
		char c = s.p[i];

		if (!(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') &&
		    (c == '\0' || !strchr("!#$%&'*+-.^_`|~", c)))
			return false;
	}
	return s.len > 0;
}

static bool may_be_header(const struct mp_tape *t, mp_value type)
{
	return mp_value_text_is(t, type, MP_STR("string")) ||
	       mp_value_text_is(t, type, MP_STR("integer")) ||
	       mp_value_text_is(t, type, MP_STR("boolean"));
}

static bool is_taken(const struct walk *w, struct mp_str header)
{
	for (size_t i = 0; i < w->n; i++)
		if (mp_str_eq_nocase(w->spots[i].header, header))
			return true;
	return false;
}

/* A copy of a text on the tape, with something before it. */
static int copy_text(struct walk *w, mp_value v, struct mp_str prefix, struct mp_str *ret)
{
	struct mp_str text;
	char *copy;
	int r = mp_value_text(&w->tape, v, &w->m->arena, &text);

	if (r < 0)
		return r;
	copy = mp_arena_alloc(&w->m->arena, prefix.len + text.len + 1);
	if (!copy)
		return mp_arena_get_error(&w->m->arena);
	memcpy(copy, prefix.p, prefix.len);
	memcpy(copy + prefix.len, text.p, text.len);
	*ret = (struct mp_str){copy, prefix.len + text.len};
	return 0;
}

static int add_spot(struct walk *w, struct mp_str header)
{
	struct mp_arena *a = &w->m->arena;
	struct spot *spot = &w->spots[w->n++];
	int r = 0;

	*spot = (struct spot){.header = header, .depth = w->depth};
	spot->path = mp_arena_alloc_array(a, w->depth, sizeof(*spot->path));
	if (!spot->path)
		return mp_arena_get_error(a);
	for (size_t i = 0; i < w->depth && r == 0; i++)
		r = copy_text(w, w->path[i], MP_STR(""), &spot->path[i]);
	return r;
}

static const char *param_headers_judge(const struct walk *w, mp_value schema, struct mp_str name,
				       struct mp_str header)
{
	if (!is_token(name) || name.len > MP_LIMIT_NAME)
		return "an " KEY " is not a header name";
	if (!may_be_header(&w->tape, mp_value_get(&w->tape, schema, "type")))
		return "an " KEY " is not on a string, integer or boolean";
	if (is_taken(w, header))
		return "two " KEY " are the same";
	if (w->n == MP_PARAM_HEADERS_MAX)
		return "it has too many " KEY;
	return NULL;
}

static void take_annotation(struct walk *w, mp_value schema, mp_value annotation, bool is_reached)
{
	struct mp_str header = {0}, name;

	if (!is_reached || w->depth == 0) {
		w->problem = "an " KEY " is not on a fixed argument";
		return;
	}
	if (!mp_value_is(&w->tape, annotation, MP_TAPE_STRING)) {
		w->problem = "an " KEY " is not a text";
		return;
	}
	w->error = copy_text(w, annotation, MP_STR(PREFIX), &header);
	if (w->error != 0 || !header.p)
		return;
	name = (struct mp_str){header.p + strlen(PREFIX), header.len - strlen(PREFIX)};
	w->problem = param_headers_judge(w, schema, name, header);
	if (!w->problem)
		w->error = add_spot(w, header);
}

static bool is_over(const struct walk *w)
{
	return w->problem || w->error < 0;
}

static void param_headers_visit(struct walk *w, mp_value schema, bool is_reached);

/* Values of an object or a list. */
static void visit_each(struct walk *w, mp_value parent)
{
	bool by_name = mp_value_is(&w->tape, parent, MP_TAPE_OBJECT);

	MP_VALUE_EACH(&w->tape, parent, v) {
		if (is_over(w))
			return;
		param_headers_visit(w, by_name ? mp_value_of(v) : v, false);
	}
}

static void visit_properties(struct walk *w, mp_value properties, bool is_reached)
{
	if (!mp_value_is(&w->tape, properties, MP_TAPE_OBJECT))
		return;
	MP_VALUE_EACH(&w->tape, properties, key) {
		if (is_over(w))
			return;
		w->path[w->depth++] = key; /* less deep than the text */
		param_headers_visit(w, mp_value_of(key), is_reached);
		w->depth--;
	}
}

/* As deep as JSON may be, which is not very deep. */
static void param_headers_visit(struct walk *w, mp_value schema, bool is_reached)
{
	const struct mp_tape *t = &w->tape;
	mp_value annotation = mp_value_get(t, schema, KEY);

	if (!mp_value_is(t, schema, MP_TAPE_OBJECT))
		return;
	if (annotation != MP_NONE)
		take_annotation(w, schema, annotation, is_reached);
	visit_properties(w, mp_value_get(t, schema, "properties"), is_reached);
	for (size_t i = 0; i < MP_ARRAY_LEN(elsewhere) && !is_over(w); i++) {
		mp_value v = mp_value_get(t, schema, elsewhere[i].key);

		if (elsewhere[i].is_by_name || mp_value_is(t, v, MP_TAPE_ARRAY))
			visit_each(w, v);
		else
			param_headers_visit(w, v, false);
	}
}

/* Nearly all tools have none, and are not looked at any further. */
static bool may_have_annotations(struct mp_str tool)
{
	return mp_str_find(tool, MP_STR(KEY), 0) >= 0 || mp_str_find(tool, MP_STR("\\u"), 0) >= 0;
}

static int param_headers_keep(const struct walk *w, struct mp_str name)
{
	struct mp_arena *a = &w->m->arena;
	struct tool *tool = mp_arena_alloc_array(a, 1, sizeof(*tool));
	struct spot *spots = mp_arena_alloc_array(a, w->n, sizeof(*spots));

	if (!tool || !spots)
		return mp_arena_get_error(a);
	memcpy(spots, w->spots, w->n * sizeof(*spots));
	*tool = (struct tool){.spots = spots, .n = w->n};
	for (size_t i = 0; i < w->n; i++)
		if (spots[i].depth > tool->depth)
			tool->depth = spots[i].depth;
	return mp_map_set(&w->m->tools, name, tool);
}

int mp_param_headers_read(struct mp_param_headers *m, struct mp_str name, struct mp_str tool,
			  const char **ret_problem)
{
	struct walk w = {.m = m};
	int r;

	*ret_problem = NULL;
	if (!may_have_annotations(tool))
		return 0;
	mp_tape_init(&w.tape, 0);
	r = mp_tape_parse(&w.tape, tool, NULL);
	if (r == 0) {
		param_headers_visit(&w, mp_value_get(&w.tape, MP_ROOT, "inputSchema"), true);
		r = w.error;
	}
	mp_tape_done(&w.tape);
	if (r == 0 && w.n && !w.problem)
		r = param_headers_keep(&w, name);
	if (r == MCPOOL_ELIMIT) {
		w.problem = "no room for the " KEY " of all tools";
		r = 0;
	}
	*ret_problem = w.problem;
	return r;
}

/* --- calls ---------------------------------------------------------------------------------- */

static mp_value param_headers_find(const struct mp_tape *t, mp_value v, const struct spot *spot)
{
	for (size_t i = 0; i < spot->depth && v != MP_NONE; i++)
		v = mp_value_is(t, v, MP_TAPE_OBJECT) ? mp_value_get_str(t, v, spot->path[i])
						      : MP_NONE;
	return v;
}

/* By what it is, not by what it should be: both ends compare header and body. */
static int param_headers_add(struct mp_http_fields *fields, const struct spot *spot,
			     const struct mp_tape *t, mp_value v, struct mp_arena *arena)
{
	char room[MP_PARAM_HEADER_NUMBER];
	const struct mp_tape_node *node = mp_value_node(t, v);
	struct mp_str text = {NULL, 0};
	int r = 0;

	switch (node ? node->type : MP_TAPE_NULL) {
	case MP_TAPE_STRING:
		r = mp_value_text(t, v, arena, &text);
		return r < 0 ? r : mp_http_fields_add_text(fields, spot->header, text);
	case MP_TAPE_NUMBER:
		text = mp_param_header_write_number(mp_value_source(t, v), room);
		return text.len ? mp_http_fields_add(fields, spot->header, text) : 0;
	case MP_TAPE_TRUE:
	case MP_TAPE_FALSE:
		return mp_http_fields_add(fields, spot->header, mp_value_source(t, v));
	default:
		return 0;
	}
}

static int write_all(const struct tool *tool, struct mp_str params, struct mp_http_fields *fields)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	mp_value arguments;
	int r;

	mp_arena_init(&arena, MP_LIMIT_ARENA);
	mp_tape_init(&t, 0);
	t.keep_depth = (unsigned)tool->depth + 1;
	r = mp_tape_parse(&t, params, NULL);
	if (r < 0)
		return r;
	arguments = mp_value_get(&t, MP_ROOT, "arguments");
	for (size_t i = 0; i < tool->n && r == 0; i++) {
		mp_value v = param_headers_find(&t, arguments, &tool->spots[i]);

		if (v != MP_NONE)
			r = param_headers_add(fields, &tool->spots[i], &t, v, &arena);
	}
	return r;
}

int mp_param_headers_write(const struct mp_param_headers *m, const struct mp_outgoing *call,
			   struct mp_http_fields *fields)
{
	const struct tool *tool = NULL;
	int r = 0;

	if (m->tools.len && call->method == MP_METHOD_TOOLS_CALL)
		tool = mp_map_get(&m->tools, call->name);
	if (tool)
		r = write_all(tool, call->params, fields);
	return r == MCPOOL_ELIMIT ? MCPOOL_ETOO_LARGE : r;
}
