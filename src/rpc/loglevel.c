/*
 * loglevel.c - the levels of notifications/message, as numbers to compare (RFC 5424 upside down).
 */
#include "rpc/loglevel.h"

static const char *const names[MP_LOGLEVELS] = {
	[MP_LOGLEVEL_DEBUG] = "debug",   [MP_LOGLEVEL_INFO] = "info",
	[MP_LOGLEVEL_NOTICE] = "notice", [MP_LOGLEVEL_WARNING] = "warning",
	[MP_LOGLEVEL_ERROR] = "error",   [MP_LOGLEVEL_CRITICAL] = "critical",
	[MP_LOGLEVEL_ALERT] = "alert",   [MP_LOGLEVEL_EMERGENCY] = "emergency",
};

const char *mp_loglevel_get_name(enum mp_loglevel s)
{
	return names[s];
}

int mp_loglevel_find(struct mp_str name)
{
	for (int i = 0; i < MP_LOGLEVELS; i++)
		if (mp_str_eq(name, mp_str_of(names[i])))
			return i;
	return -1;
}
