/*
 * toml.h - TOML 1.0 as JSON text that knows where it came from.
 * Every reader of configuration works on a JSON tape; a TOML file is turned into one, and each
 * place in that text leads back to its place in the file.
 */
#ifndef MP_TOML_H
#define MP_TOML_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"

struct mp_toml_spot {
	uint32_t json; /* offset of a key or value in the JSON text; ascending */
	uint32_t toml; /* offset of what it was in the TOML text */
};

struct mp_toml {
	struct mp_buf json;         /* one object, one line; keys in the order of the file */
	struct mp_toml_spot *spots; /* owned */
	size_t n;

	const char *fault; /* why it is not TOML: a static sentence without its place */
	size_t fault_at;   /* offset in the TOML text */
};

void mp_toml_init(struct mp_toml *t);
void mp_toml_done(struct mp_toml *t);
/*
 * The whole text, UTF-8, a BOM at the beginning allowed. Strings, booleans and arrays become what
 * they are in JSON, tables objects, whole numbers decimal numbers (any base, no underscores,
 * full int64 range, beyond it a fault), floats JSON numbers that read back the same; inf and nan,
 * dates and times become strings as they are written (inf, -inf, nan; RFC 3339 otherwise).
 * MCPOOL_EPARSE with line and column in reterr (and fault, fault_at), MCPOOL_ELIMIT (nesting past
 * MP_LIMIT_JSON_DEPTH, sizes), MCPOOL_ENOMEM.
 */
int mp_toml_read(struct mp_toml *t, struct mp_str toml, struct mcpool_error *reterr) MP_MUST;
/* The offset in the TOML text for an offset in the JSON text. */
size_t mp_toml_locate(const struct mp_toml *t, size_t json_offset);

#endif
