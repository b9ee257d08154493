/* http_head.h - status and headers of an answer, gathered line by line, with a ceiling. */
#ifndef MP_HTTP_HEAD_H
#define MP_HTTP_HEAD_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"
#include "net/zone.h"

struct mp_http_header {
	struct mp_str name, value;
};

struct mp_http_head {
	int status;
	const struct mp_http_header *headers;
	size_t n_headers;
	enum mp_zone zone; /* of the address that answers */
};

/* The first header of that name, in whatever case; {NULL, 0} if there is none. */
struct mp_str mp_http_head_find(const struct mp_http_head *head, struct mp_str name);
/* Is its content of this media type? Case and parameters do not matter (RFC 9110, 8.3.1). */
bool mp_http_head_has_type(const struct mp_http_head *head, struct mp_str type);

struct mp_http_reader {
	struct mp_buf block;            /* the lines of this answer */
	struct mp_http_header *headers; /* owned; into block */
	size_t n_headers;
	size_t seen; /* bytes of all lines, of interim answers and trailers, too */
	int status;
	bool complete;
};

void mp_http_reader_init(struct mp_http_reader *r);
void mp_http_reader_done(struct mp_http_reader *r);
/*
 * One line as it came. 1: with this one the head of the final answer is complete; 0: go on, or a
 * trailer, which is dropped. MCPOOL_ELIMIT past MP_LIMIT_HEADER_BLOCK, MCPOOL_ENOMEM.
 */
int mp_http_reader_add(struct mp_http_reader *r, struct mp_str line) MP_MUST;
/* What is complete; valid until the reader is done. */
struct mp_http_head mp_http_reader_get(const struct mp_http_reader *r);

#endif
