/*
 * last_good.h - the approved servers of each configuration file, as it was when it could last be
 * read. A hub that starts while a file is broken goes on with these, as a running one does.
 * Encrypted with the user's local.key, because entries may contain secrets.
 */
#ifndef MP_LAST_GOOD_H
#define MP_LAST_GOOD_H

#include "base/base.h"
#include "base/buf.h"
#include "store/db.h"

/* Adds the text that was kept for this file. 1: there is one; 0: none, or it cannot be opened. */
int mp_last_good_read(struct mp_db *db, const char *file, struct mp_buf *out,
		      struct mcpool_error *reterr) MP_MUST;
bool mp_last_good_has(struct mp_db *db, const char *file);
/*
 * Keep this text for the file, soon; empty: keep none. What was kept for other files stays until
 * there are more than MP_LIMIT_LAST_GOOD of them; then the one written longest ago goes.
 */
void mp_last_good_write(struct mp_db *db, const char *file, struct mp_str text, int64_t wall_ms);

#endif
