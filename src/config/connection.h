/*
 * connection.h - what a server's entry leads to, as a text that can be compared.
 */
#ifndef MP_CONNECTION_H
#define MP_CONNECTION_H

#include "config/entry.h"
#include "json/write.h"

/* Where it leads: the command with its arguments, or the address. */
void mp_connection_write_endpoint(struct mp_writer *w, const struct mp_entry *e);
/* What tells two connections apart (O12), as it is written. */
void mp_connection_write(struct mp_writer *w, const struct mp_entry *e);

#endif
