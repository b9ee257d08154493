/*
 * server_catalog_store.c - saves catalogs in the store and loads them.
 * They only speed up a start: a failure is logged and stops nothing (A59).
 */
#include "base/limits.h"
#include "base/log.h"
#include "pool/server_catalog.h"

void mp_server_catalog_save(const struct mp_server_catalog *o, struct mp_db *db,
			    const struct mp_stored_catalog_key *key, int64_t wall_ms,
			    const struct mp_log *log)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_stored_catalog d;
	int r;

	mp_buf_init(&text, (MP_CATALOG_COUNT + 1) * MP_LIMIT_MESSAGE);
	r = mp_server_catalog_to_definition(o, &text, &d);
	if (r == 0)
		mp_stored_catalog_put(db, key, &d, wall_ms);
	else
		mp_log_warn(log, "what it offers is not remembered: %s", mcpool_error_text(r));
}

struct mp_server_catalog *mp_server_catalog_load(struct mp_db *db,
						 const struct mp_stored_catalog_key *key,
						 int64_t wall_ms, const struct mp_log *log)
{
	struct mp_stored_catalog d;
	struct mp_server_catalog *o = NULL;
	struct mcpool_error why;

	if (mp_stored_catalog_get(db, key, wall_ms, &d) != 1)
		return NULL;
	if (mp_server_catalog_from_definition(&d, &o, &why) < 0)
		mp_log_verbose(log, "%s", why.message);
	mp_stored_catalog_done(&d);
	return o;
}
