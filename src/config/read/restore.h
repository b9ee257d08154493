/*
 * restore.h - a file that cannot be read counts as it was when it could: its approved servers and
 * the user's settings come from the store. The problem with the file is reported all the same.
 */
#ifndef MP_RESTORE_H
#define MP_RESTORE_H

#include "config/read/loading.h"

/* The servers of this source's file, if it is broken and something was kept. */
void mp_restore_source(struct mp_loading *l, const struct mp_source *s);
/* The settings of our own file for the user, likewise. */
void mp_restore_settings(struct mp_loading *l, const struct mp_source *s);

/* Keep what the files of this set say; those that are broken keep what was kept before. */
void mp_restore_save(struct mp_db *db, const struct mp_config_set *set, int64_t wall_ms);

/* The first file that cannot be read as a whole; NULL: all can. */
const struct mp_problem *mp_restore_find_broken(const struct mp_config_set *set);

#endif
