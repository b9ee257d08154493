/*
 * document.c - one configuration file as a JSON value, whatever it is written in.
 */
#include "files/document.h"

#include <string.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/redact.h"
#include "files/file.h"

enum { QUOTE_COLUMNS = 100, QUOTE_BEFORE = 60 };

static char *document_copy(const char *text)
{
	size_t n = strlen(text) + 1;

	return memcpy(mp_alloc(n), text, n);
}

static struct mp_document *document_new(const char *path, enum mp_format format, size_t limit)
{
	struct mp_document *doc = mp_alloc(sizeof(*doc));

	doc->path = document_copy(path);
	doc->mark = mp_alloc(sizeof(*doc->mark));
	doc->format = format;
	mp_buf_init(&doc->source, limit + 1);
	mp_toml_init(&doc->toml);
	mp_tape_init(&doc->tape, format == MP_FORMAT_JSON ? MP_TAPE_JSONC : 0);
	return doc;
}

struct mp_document *mp_document_free(struct mp_document *doc)
{
	if (!doc)
		return NULL;
	mp_free(doc->path);
	mp_free(doc->real);
	mp_free(doc->mark);
	mp_buf_done(&doc->source);
	mp_toml_done(&doc->toml);
	mp_tape_done(&doc->tape);
	return mp_free(doc);
}

static int remember_real_path(struct mp_document *doc)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf real;
	int r;

	mp_buf_init(&real, MP_KIB(64));
	r = mp_file_real_path(doc->path, &real);
	if (r == 0)
		doc->real = document_copy(real.data);
	return r;
}

static int fail_at(struct mp_document *doc, size_t offset, const char *what, const char *sentence,
		   struct mcpool_error *reterr)
{
	doc->fault_at = offset;
	doc->fault = mp_tape_locate(mp_buf_get(&doc->source), offset);
	return mp_fail(reterr, MCPOOL_EPARSE, "this is not valid %s: %s", what, sentence);
}

/* The tape's sentence without its place, which is told apart. */
static const char *tape_sentence(enum mp_tape_fault fault)
{
	static const char *const sentences[] = {
#define SENTENCE(name, sentence) sentence,
		MP_TAPE_FAULTS(SENTENCE)
#undef SENTENCE
	};

	return sentences[fault];
}

static int document_parse(struct mp_document *doc, struct mcpool_error *reterr)
{
	struct mp_str text = mp_buf_get(&doc->source);
	int r;

	if (doc->format == MP_FORMAT_TOML) {
		r = mp_toml_read(&doc->toml, text, reterr);
		if (r == MCPOOL_EPARSE)
			return fail_at(doc, doc->toml.fault_at, "TOML", doc->toml.fault, reterr);
		if (r < 0)
			return r;
		text = mp_buf_get(&doc->toml.json);
	}
	r = mp_tape_parse(&doc->tape, text, reterr);
	if (r == MCPOOL_EPARSE)
		return fail_at(doc, doc->tape.fault_at, "JSON", tape_sentence(doc->tape.fault),
			       reterr);
	if (r == 0 && !mp_value_is(&doc->tape, MP_ROOT, MP_TAPE_OBJECT))
		return fail_at(doc, 0, "configuration", "an object in braces is expected", reterr);
	return r;
}

int mp_document_open(const char *path, enum mp_format format, size_t limit,
		     struct mp_document **ret_doc, struct mcpool_error *reterr)
{
	struct mp_document *doc = *ret_doc = document_new(path, format, limit);
	int r = mp_file_read(path, limit, &doc->source, reterr);

	if (r < 0)
		return r;
	r = remember_real_path(doc);
	if (r < 0)
		return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	if (mp_str_trim(mp_buf_get(&doc->source)).len == 0) { /* an empty file says nothing */
		mp_buf_clear(&doc->source);
		r = mp_buf_add(&doc->source, "{}", format == MP_FORMAT_JSON ? 2 : 0);
		if (r < 0)
			return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	}
	return document_parse(doc, reterr);
}

static size_t source_offset(const struct mp_document *doc, mp_value v)
{
	const struct mp_tape_node *node = mp_value_node(&doc->tape, v);
	size_t offset = node ? node->start : 0;

	return doc->format == MP_FORMAT_TOML ? mp_toml_locate(&doc->toml, offset) : offset;
}

/* Start and end of the line at offset. */
static struct mp_str line_around(struct mp_str text, size_t offset)
{
	size_t from, to;

	if (offset > text.len)
		offset = text.len;
	from = to = offset;
	while (from > 0 && text.p[from - 1] != '\n' && text.p[from - 1] != '\r')
		from--;
	while (to < text.len && text.p[to] != '\n' && text.p[to] != '\r')
		to++;
	return (struct mp_str){text.p + from, to - from};
}

struct mp_tape_place mp_document_locate(const struct mp_document *doc, mp_value v)
{
	struct mp_str text = mp_buf_get(&doc->source);
	size_t offset = source_offset(doc, v);
	struct mp_document_mark *mark = doc->mark;
	struct mp_tape_place place;

	if (offset < mark->offset || mark->place.line == 0)
		*mark = (struct mp_document_mark){0, {1, 1}};
	place = mp_tape_locate((struct mp_str){text.p + mark->offset, text.len - mark->offset},
			       offset - mark->offset);
	if (place.line == 1)
		place.column += mark->place.column - 1;
	place.line += mark->place.line - 1;
	*mark = (struct mp_document_mark){offset, place};
	return place;
}

/* --- quoting a broken line ------------------------------------------------------------------- */

/*
 * The line as it may be shown: keys as they are, every other string as dots, because the line alone
 * does not tell what is a secret. Also where the character at `at` ends up.
 */
static int add_outline(struct mp_str line, size_t at, struct mp_buf *out, size_t *ret_at)
{
	int r = 0;

	*ret_at = 0;
	for (size_t i = 0; i < line.len && r == 0;) {
		char quote = line.p[i] == '"' || line.p[i] == '\'' ? line.p[i] : '\0';
		size_t end = i + 1, next;

		while (quote && end < line.len && line.p[end] != quote)
			end += line.p[end] == '\\' && end + 1 < line.len ? 2 : 1;
		if (quote && end < line.len)
			end++;
		for (next = end; next < line.len && line.p[next] == ' ';)
			next++;
		if (i <= at)
			*ret_at = out->len;
		if (quote && !(next < line.len && strchr(":=", line.p[next])))
			r = mp_buf_addf(out, "%c%s%c", quote,
					"\xe2\x80\xa2\xe2\x80\xa2\xe2\x80\xa2", quote);
		else
			r = mp_buf_add(out, line.p + i, end - i);
		i = end;
	}
	if (at >= line.len)
		*ret_at = out->len;
	return r;
}

static size_t count_characters(struct mp_str text)
{
	size_t n = 0;

	mp_check(text.p || text.len == 0);
	for (size_t i = 0; i < text.len; i++)
		n += !mp_utf8_is_tail(text.p[i]);
	return n;
}

/* Of a long line, only the part around the place is shown. */
static struct mp_str cut_around(struct mp_str line, size_t *at)
{
	if (*at > QUOTE_BEFORE) {
		size_t skip = mp_utf8_cut(line.p, *at - QUOTE_BEFORE);

		line = (struct mp_str){line.p + skip, line.len - skip};
		*at -= skip;
	}
	if (line.len > QUOTE_COLUMNS)
		line.len = mp_utf8_cut(line.p, QUOTE_COLUMNS);
	return line;
}

int mp_document_quote(const struct mp_document *doc, size_t offset, struct mp_buf *out)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf outline, clean;
	struct mp_str text = mp_buf_get(&doc->source);
	struct mp_str line;
	size_t at;
	int r;

	mp_buf_init(&outline, MP_LIMIT_USER_FILE * 2);
	mp_buf_init(&clean, MP_LIMIT_USER_FILE * 4);
	if (text.len == 0)
		return 0;
	if (offset > text.len)
		offset = text.len;
	line = line_around(text, offset);
	r = add_outline(line, (size_t)(text.p + offset - line.p), &outline, &at);
	for (size_t i = 0; r == 0 && i < outline.len; i++)
		if (outline.data[i] == '\t')
			outline.data[i] = ' ';
	if (r == 0)
		r = mp_redact(mp_buf_get(&outline), true, &clean);
	if (r < 0)
		return r;
	if (clean.len != outline.len) /* more was hidden, so a caret would not fit */
		at = 0;
	line = cut_around(mp_buf_get(&clean), &at);
	r = mp_buf_addf(out, "    %.*s\n", MP_STR_ARGS(line));
	if (r == 0 && clean.len == outline.len)
		r = mp_buf_addf(out, "    %*s\n",
				(int)count_characters((struct mp_str){line.p, at}) + 1, "^");
	return r;
}
