/*
 * secret_records.h - names and values as the sealed file holds them, once it is opened.
 * A record is: when it was saved (8 bytes), length of the name (2), length of the value (4), name,
 * value; numbers are little-endian. It is not encrypted here: the owner of such a text wipes it.
 */
#ifndef MP_SECRET_RECORDS_H
#define MP_SECRET_RECORDS_H

#include "base/base.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"

struct mp_secret_record {
	struct mp_str name, value; /* borrowed from the text */
	int64_t saved_ms;
};

/* Printable ASCII, as long as secrets.h permits? */
bool mp_secret_records_is_name(struct mp_str name);

/* The record at *at, which moves behind it. 1; 0 at the end; MCPOOL_EPARSE for anything else. */
int mp_secret_records_next(struct mp_str text, size_t *at, struct mp_secret_record *ret) MP_MUST;
/* Are all records whole? MCPOOL_EPARSE. */
int mp_secret_records_check(struct mp_str text) MP_MUST;
/* In a checked text. */
bool mp_secret_records_find(struct mp_str text, struct mp_str name, struct mp_secret_record *ret);
/*
 * The records of a checked text without this name, then the new one (NULL: none), to out, which has
 * room for them: growing would leave copies.
 */
int mp_secret_records_replace(struct mp_str text, struct mp_str name,
			      const struct mp_secret_record *with, struct mp_buf *out) MP_MUST;

/* For MP_CLEANUP: the bytes are wiped first. */
static inline void mp_secret_buf_done(struct mp_buf *b)
{
	if (b->data)
		mp_wipe(b->data, b->cap);
	mp_buf_done(b);
}

#endif
