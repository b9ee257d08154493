/*
 * document.h - one configuration file as a JSON value, whatever it is written in.
 */
#ifndef MP_DOCUMENT_H
#define MP_DOCUMENT_H

#include "base/base.h"
#include "base/buf.h"
#include "toml/toml.h"
#include "json/tape.h"
#include "json/value.h"

enum mp_format {
	MP_FORMAT_JSON, /* with comments and trailing commas, whichever tool it belongs to */
	MP_FORMAT_TOML,
};

struct mp_document {
	char *path; /* owned; as it was looked for */
	char *real; /* owned; without links */
	struct mp_buf source;
	enum mp_format format;
	struct mp_toml toml; /* for TOML: the text the tape is of, and the way back */
	struct mp_tape tape;

	/* The place that was asked for last: counting goes on from there. */
	struct mp_document_mark {
		size_t offset;
		struct mp_tape_place place;
	} * mark; /* owned */

	/* Where a file that cannot be read is broken: 0 when the file itself is the problem. */
	struct mp_tape_place fault;
	size_t fault_at; /* offset in source */
};

/*
 * MCPOOL_ENOENT: there is none. Otherwise, in words without the path: what file.h says of files, or
 * MCPOOL_EPARSE with ret_doc->fault. *ret_doc is set also on failure, for its places; free it.
 */
int mp_document_open(const char *path, enum mp_format format, size_t limit,
		     struct mp_document **ret_doc, struct mcpool_error *reterr) MP_MUST;
struct mp_document *mp_document_free(struct mp_document *doc); /* accepts NULL, returns NULL */
static inline void mp_document_freep(struct mp_document **doc)
{
	mp_document_free(*doc);
}

/* The position of this key or value in the file. Cheap if called in the order of the file. */
struct mp_tape_place mp_document_locate(const struct mp_document *doc, mp_value v);
/*
 * The line of the file at offset, and a line below it with a caret, both indented; cut around the
 * caret when it is long, secrets as dots.
 */
int mp_document_quote(const struct mp_document *doc, size_t offset, struct mp_buf *out) MP_MUST;

/*
 * A value in its canonical form: no white space or comments, keys sorted, strings spelled in one
 * way, numbers as they are written. What an approval is about. MCPOOL_EINVAL for an object that has
 * a key twice: it would mean different things to different readers (V43).
 */
int mp_canonical_add(const struct mp_tape *t, mp_value v, struct mp_buf *out,
		     struct mcpool_error *reterr) MP_MUST;

#endif
