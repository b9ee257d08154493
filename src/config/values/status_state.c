/*
 * status_state.c - the words of the states that displays show of a server.
 */
#include "config/values/status_state.h"

static const struct {
	const char *name, *connection;
} words[] = {
#define X(name, word, connection, meaning) [MP_STATUS_##name] = {word, connection},
	MP_STATUS_STATES(X)
#undef X
};

const char *mp_status_state_get_name(enum mp_status_state s)
{
	return words[s].name;
}

const char *mp_status_state_get_connection(enum mp_status_state s)
{
	return words[s].connection;
}
