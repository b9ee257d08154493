/*
 * server_past.h - what `status NAME` shows besides the status: the last calls of a server, and what
 * it wrote to stderr last.
 */
#ifndef MP_SERVER_PAST_H
#define MP_SERVER_PAST_H

/* Prints lines; nothing if there is nothing, or the hub is gone. */
void mp_server_past_print(const char *server);

#endif
