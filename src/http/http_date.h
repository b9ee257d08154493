/* http_date.h - the Date of an answer, written once a second. */
#ifndef MP_HTTP_DATE_H
#define MP_HTTP_DATE_H

#include "base/base.h"
#include "base/str.h"

enum { MP_HTTP_DATE = 29 }; /* bytes of "Sun, 06 Nov 1994 08:49:37 GMT" */

struct mp_http_date {
	int64_t second; /* since 1970; text is of this one */
	char text[MP_HTTP_DATE + 1];
};

/* As RFC 9110, 5.6.7 has it; valid until the next call. */
struct mp_str mp_http_date_get(struct mp_http_date *d, int64_t wall_ms);

#endif
