/*
 * toml.c - TOML 1.0 as JSON text that knows where it came from.
 * This file is the grammar and the writing. Tables may be scattered over a file, so a tree is built
 * first. What recurses goes no deeper than MP_LIMIT_JSON_DEPTH.
 */
#include "toml/toml.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "toml/toml_parts.h"
#include "json/tape.h"
#include "json/write.h"

static const struct mp_str bom = {"\xef\xbb\xbf", 3};

/* --- blanks, comments and lines -------------------------------------------------------------- */

static void skip_blanks(struct mp_toml_cursor *c)
{
	while (mp_toml_peek(c) == ' ' || mp_toml_peek(c) == '\t')
		c->p++;
}

/* Up to the end of the line; a carriage return is valid before a line feed only. */
static void skip_comment(struct mp_toml_cursor *c)
{
	if (mp_toml_peek(c) != '#')
		return;
	while (c->p < c->end && *c->p != '\n')
		c->p++;
}

/* The end of a line, or of the text. */
static bool take_line_end(struct mp_toml_cursor *c)
{
	skip_blanks(c);
	skip_comment(c);
	if (c->p == c->end)
		return true;
	if (*c->p == '\r')
		c->p++;
	if (*c->p != '\n')
		return false;
	c->p++;
	return true;
}

static void skip_lines(struct mp_toml_cursor *c)
{
	while (c->p < c->end && take_line_end(c))
		continue;
}

/* --- keys ------------------------------------------------------------------------------------ */

static int read_part(struct mp_toml_cursor *c, struct mp_toml_part *ret_part)
{
	char first = mp_toml_peek(c);

	ret_part->at = c->p;
	if (first == '"' || first == '\'')
		return mp_toml_text_read(c, false, &ret_part->name);
	while (mp_toml_is_bare(mp_toml_peek(c)))
		c->p++;
	ret_part->name = (struct mp_str){ret_part->at, (size_t)(c->p - ret_part->at)};
	if (ret_part->name.len)
		return 0;
	return mp_toml_fault(c, c->p,
			     (signed char)first < 0 ? "a key with this character must be quoted"
						    : "a key is expected here");
}

/* Is there one more behind a dot? Then p is at its beginning. */
static bool take_dot(struct mp_toml_cursor *c)
{
	skip_blanks(c);
	if (mp_toml_peek(c) != '.')
		return false;
	c->p++;
	skip_blanks(c);
	return true;
}

/* --- values ---------------------------------------------------------------------------------- */

static int read_value(struct mp_toml_tree *t, struct mp_toml_node *node);

/* `a.b = value` into this table. */
static int read_pair(struct mp_toml_tree *t, struct mp_toml_node *table)
{
	struct mp_toml_part part;
	struct mp_toml_node *node = NULL;
	int r = read_part(t->c, &part);

	while (r == 0 && take_dot(t->c)) {
		r = mp_toml_tree_pass_dot(t, part, &table);
		if (r == 0)
			r = read_part(t->c, &part);
	}
	if (r == 0)
		r = mp_toml_tree_add_key(t, table, part, &node);
	if (r < 0)
		return r;
	if (mp_toml_peek(t->c) != '=')
		return mp_toml_fault(t->c, t->c->p, "a '=' is expected here");
	t->c->p++;
	skip_blanks(t->c);
	return read_value(t, node);
}

static int no_end_of_table(struct mp_toml_cursor *c)
{
	char next = mp_toml_peek(c);

	if (next == '\n' || next == '\r' || next == '#')
		return mp_toml_fault(c, c->p, "a table in braces ends on the line where it begins");
	return mp_toml_fault(c, c->p, "a ',' or '}' is expected here");
}

static int read_inline_table(struct mp_toml_tree *t, struct mp_toml_node *table)
{
	struct mp_toml_cursor *c = t->c;
	const char *comma = NULL;
	int r = mp_toml_tree_make(t, table, MP_TOML_TABLE, MP_TOML_IN_PLACE);

	if (r < 0)
		return r;
	for (c->p++;; c->p++) {
		skip_blanks(c);
		if (mp_toml_peek(c) == '}' && comma)
			return mp_toml_fault(c, comma, "a ',' must not stand before a '}'");
		if (mp_toml_peek(c) == '}')
			break;
		if (mp_toml_peek(c) == '\n' || mp_toml_peek(c) == '\r' || mp_toml_peek(c) == '#')
			return no_end_of_table(c);
		r = read_pair(t, table);
		if (r < 0)
			return r;
		skip_blanks(c);
		if (mp_toml_peek(c) == '}')
			break;
		if (mp_toml_peek(c) != ',')
			return no_end_of_table(c);
		comma = c->p;
	}
	c->p++;
	return 0;
}

static int read_array(struct mp_toml_tree *t, struct mp_toml_node *array)
{
	struct mp_toml_cursor *c = t->c;
	struct mp_toml_node *element;
	int r = mp_toml_tree_make(t, array, MP_TOML_ARRAY, MP_TOML_IN_PLACE);

	if (r < 0)
		return r;
	for (c->p++;; c->p++) {
		skip_lines(c);
		if (mp_toml_peek(c) == ']')
			break;
		r = mp_toml_tree_add_element(t, array, c->p, &element);
		if (r == 0)
			r = read_value(t, element);
		if (r < 0)
			return r;
		skip_lines(c);
		if (mp_toml_peek(c) == ']')
			break;
		if (mp_toml_peek(c) != ',')
			return mp_toml_fault(c, c->p, "a ',' or ']' is expected here");
	}
	c->p++;
	return 0;
}

/* The value at p. */
static int read_value(struct mp_toml_tree *t, struct mp_toml_node *node)
{
	struct mp_toml_scalar scalar;
	char first = mp_toml_peek(t->c);
	int r;

	mp_check(node);
	node->at = (uint32_t)(t->c->p - t->c->start);
	if (first == '{')
		return read_inline_table(t, node);
	if (first == '[')
		return read_array(t, node);
	if (first == '"' || first == '\'') {
		scalar.quoted = true;
		r = mp_toml_text_read(t->c, true, &scalar.text);
	} else {
		r = mp_toml_scalar_read(t->c, &scalar);
	}
	if (r < 0)
		return r;
	node->kind = scalar.quoted ? MP_TOML_TEXT : MP_TOML_RAW;
	node->text = scalar.text;
	return 0;
}

/* --- headers and the whole ------------------------------------------------------------------- */

static int close_header(struct mp_toml_cursor *c, bool array)
{
	if (array && !mp_toml_sees(c, "]]", 2))
		return mp_toml_fault(c, c->p, "a ']]' is expected here");
	if (mp_toml_peek(c) != ']')
		return mp_toml_fault(c, c->p, "a ']' is expected here");
	c->p += array ? 2 : 1;
	return 0;
}

/* [a.b] or [[a.b]]; *table is the root, and becomes the table that the lines below belong to. */
static int read_header(struct mp_toml_tree *t, struct mp_toml_node **table)
{
	const char *header = t->c->p;
	bool array = mp_toml_sees(t->c, "[[", 2);
	struct mp_toml_part part;
	int r;

	t->c->p += array ? 2 : 1;
	skip_blanks(t->c);
	r = read_part(t->c, &part);
	while (r == 0 && take_dot(t->c)) {
		r = mp_toml_tree_pass_header(t, part, header, table);
		if (r == 0)
			r = read_part(t->c, &part);
	}
	if (r == 0)
		r = array ? mp_toml_tree_open_element(t, part, header, table)
			  : mp_toml_tree_open_table(t, part, header, table);
	return r < 0 ? r : close_header(t->c, array);
}

static int read_document(struct mp_toml_tree *t)
{
	struct mp_toml_node *table = t->root;
	struct mp_toml_cursor *c = t->c;
	int r = mp_toml_text_check(c);

	while (r == 0) {
		skip_lines(c);
		if (c->p == c->end)
			break;
		if (*c->p == '[') {
			table = t->root;
			r = read_header(t, &table);
		} else {
			r = read_pair(t, table);
		}
		if (r == 0 && !take_line_end(c))
			r = mp_toml_fault(c, c->p, "the end of the line is expected here");
	}
	return r;
}

/* --- JSON and where it came from ------------------------------------------------------------- */

/* The source position of what is written next. */
static void mark(struct mp_toml *t, const struct mp_writer *w, uint32_t toml)
{
	size_t at = t->json.len + (w->state == MP_WRITE_NEXT ? 1 : 0); /* behind the comma */

	t->spots[t->n++] = (struct mp_toml_spot){(uint32_t)at, toml};
}

static void write_node(struct mp_toml *t, struct mp_writer *w, const struct mp_toml_node *node)
{
	bool table = node->kind == MP_TOML_TABLE;

	if (node->key) {
		mark(t, w, node->key_at);
		mp_write_key(w, (struct mp_str){node->key, node->key_len});
	}
	mark(t, w, node->at);
	if (node->kind == MP_TOML_TEXT)
		mp_write_text(w, node->text);
	if (node->kind == MP_TOML_RAW)
		mp_write_raw(w, node->text);
	if (node->kind < MP_TOML_ARRAY)
		return;
	(table ? mp_write_begin_object : mp_write_begin_array)(w);
	for (const struct mp_toml_node *n = node->first; n; n = n->next)
		write_node(t, w, n);
	(table ? mp_write_end_object : mp_write_end_array)(w);
}

static int write_json(struct mp_toml *t, const struct mp_toml_tree *tree,
		      struct mcpool_error *reterr)
{
	struct mp_writer w;
	int r;

	t->spots = mp_try_alloc((tree->n_nodes + tree->n_keys) * sizeof(*t->spots));
	if (!t->spots)
		return mp_fail(reterr, MCPOOL_ENOMEM, "%s", mcpool_error_text(MCPOOL_ENOMEM));
	mp_write_init(&w, &t->json, NULL);
	write_node(t, &w, tree->root);
	r = mp_write_finish(&w);
	return r < 0 ? mp_fail(reterr, r, "%s", mcpool_error_text(r)) : 0;
}

/* --- from outside ---------------------------------------------------------------------------- */

void mp_toml_init(struct mp_toml *t)
{
	*t = (struct mp_toml){0};
	mp_buf_init(&t->json, MP_LIMIT_MESSAGE);
}

void mp_toml_done(struct mp_toml *t)
{
	mp_buf_done(&t->json);
	mp_free(t->spots);
	mp_toml_init(t);
}

/* Editors do not count a byte order mark as a column. */
static int toml_explain(struct mp_toml *t, int code, struct mp_str toml,
			const struct mp_toml_cursor *c, struct mcpool_error *reterr)
{
	size_t skipped = mp_str_starts(toml, bom) ? bom.len : 0;
	struct mp_str visible = {toml.p + skipped, toml.len - skipped};
	struct mp_tape_place place;

	t->fault = c->fault;
	t->fault_at = (size_t)(c->fault_at - toml.p);
	place = mp_tape_locate(visible, t->fault_at - skipped);
	return mp_fail(reterr, code, "line %u, column %u: %s", place.line, place.column, t->fault);
}

static int read_text(struct mp_toml *t, struct mp_str toml, struct mp_arena *arena,
		     struct mcpool_error *reterr)
{
	struct mp_toml_cursor c = {
		.start = toml.p, .p = toml.p, .end = toml.p + toml.len, .arena = arena};
	struct mp_toml_tree tree;
	int r;

	if (mp_str_starts(toml, bom))
		c.p += bom.len;
	r = mp_toml_tree_init(&tree, &c);
	if (r == 0)
		r = read_document(&tree);
	return r < 0 ? toml_explain(t, r, toml, &c, reterr) : write_json(t, &tree, reterr);
}

int mp_toml_read(struct mp_toml *t, struct mp_str toml, struct mcpool_error *reterr)
{
	struct mp_arena arena;
	int r;

	mp_toml_done(t);
	if (toml.len > MP_LIMIT_MESSAGE)
		return mp_fail(reterr, MCPOOL_ELIMIT, "the file is too large");
	if (toml.len == 0)
		toml = MP_STR("");
	mp_arena_init(&arena, MP_LIMIT_ARENA);
	r = read_text(t, toml, &arena, reterr);
	mp_arena_done(&arena);
	if (r < 0) {
		mp_buf_clear(&t->json);
		t->n = 0;
	}
	return r;
}

size_t mp_toml_locate(const struct mp_toml *t, size_t json_offset)
{
	size_t low = 0, high = t->n;

	while (high - low > 1) { /* the last spot that is not behind the offset */
		size_t middle = low + (high - low) / 2;

		if (t->spots[middle].json <= json_offset)
			low = middle;
		else
			high = middle;
	}
	return t->n ? t->spots[low].toml : 0;
}
