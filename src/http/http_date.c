/*
 * http_date.c - the Date of an answer, written once a second.
 * Names of days and months are HTTP's, whatever the host's locale.
 */
#include "http/http_date.h"

#include <stdio.h>
#include <time.h>

static void write_text(struct mp_http_date *d)
{
	static const char *const days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
	static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
					     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
	time_t second = (time_t)d->second;
	char text[100];
	struct tm tm;

	mp_check(gmtime_r(&second, &tm) != NULL);
	snprintf(text, sizeof(text), "%s, %02d %s %04d %02d:%02d:%02d GMT", days[tm.tm_wday],
		 tm.tm_mday, months[tm.tm_mon], (tm.tm_year + 1900) % 10000, tm.tm_hour, tm.tm_min,
		 tm.tm_sec);
	memcpy(d->text, text, MP_HTTP_DATE);
	d->text[MP_HTTP_DATE] = '\0';
}

struct mp_str mp_http_date_get(struct mp_http_date *d, int64_t wall_ms)
{
	int64_t second = wall_ms / 1000;

	if (!d->text[0] || d->second != second) {
		d->second = second;
		write_text(d);
	}
	return (struct mp_str){d->text, MP_HTTP_DATE};
}
