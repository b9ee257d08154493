/*
 * server_catalog_store.c - saves catalogs in the store and loads them.
 * They only speed up a start: a failure is logged and stops nothing (A59).
 */
#include "base/limits.h"
#include "base/log.h"
#include "pool/server_catalog.h"

void mp_server_catalog_save(const struct mp_server_catalog *o, struct mp_db *db,
			    const struct mp_definition_key *key, int64_t wall_ms)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_definition d;
	struct mp_log log;
	int r;

	mp_log_init(&log, "%s", key->name);
	mp_buf_init(&text, (MP_CATALOG_COUNT + 1) * MP_LIMIT_MESSAGE);
	r = mp_server_catalog_to_definition(o, &text, &d);
	if (r == 0)
		mp_definitions_put(db, key, &d, wall_ms);
	else
		mp_log_warn(&log, "what it offers is not remembered: %s", mcpool_error_text(r));
}

struct mp_server_catalog *mp_server_catalog_load(struct mp_db *db,
						 const struct mp_definition_key *key,
						 int64_t wall_ms)
{
	struct mp_definition d;
	struct mp_server_catalog *o = NULL;
	struct mcpool_error why;
	struct mp_log log;

	mp_log_init(&log, "%s", key->name);
	if (mp_definitions_get(db, key, wall_ms, &d) != 1)
		return NULL;
	if (mp_server_catalog_from_definition(&d, &o, &why) < 0)
		mp_log_verbose(&log, "%s", why.message);
	mp_definition_done(&d);
	return o;
}
