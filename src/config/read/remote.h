/*
 * remote.h - the second phase of loading: servers that a team publishes behind a URL.
 * Behind everything local, and never in its way. What comes from the network is read as a file.
 */
#ifndef MP_REMOTE_H
#define MP_REMOTE_H

#include "config/read/loading.h"

/* Note the addresses that `remote` in this document names; trusted: no approval is needed. */
void mp_remote_note(struct mp_loading *l, const struct mp_document *doc, bool trusted);
/* Read the remote sources that were noted, as far as they may be asked for. */
void mp_remote_read(struct mp_loading *l);

#endif
