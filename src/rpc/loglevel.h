/*
 * loglevel.h - the levels of notifications/message and logging/setLevel, as numbers to compare.
 */
#ifndef MP_LOGLEVEL_H
#define MP_LOGLEVEL_H

#include "base/str.h"

enum mp_loglevel {
	MP_LOGLEVEL_DEBUG,
	MP_LOGLEVEL_INFO,
	MP_LOGLEVEL_NOTICE,
	MP_LOGLEVEL_WARNING,
	MP_LOGLEVEL_ERROR,
	MP_LOGLEVEL_CRITICAL,
	MP_LOGLEVEL_ALERT,
	MP_LOGLEVEL_EMERGENCY,
	MP_LOGLEVELS
};

const char *mp_loglevel_get_name(enum mp_loglevel s); /* "warning"; static */
int mp_loglevel_find(struct mp_str name);             /* -1: there is none of that name */

#endif
