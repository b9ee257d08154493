/*
 * import_secrets.h - tokens that another tool keeps as plain text, on their way to the secret
 * store.
 */
#ifndef MP_IMPORT_SECRETS_H
#define MP_IMPORT_SECRETS_H

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"
#include "store/secrets.h"

/* The tokens of one entry, and the entry with ${secret:NAME} in their places. */
struct mp_import_secrets {
	struct mp_arena arena; /* names and values; values are wiped by done */
	struct mp_buf json;
	struct mp_import_secret {
		const char *name; /* without `user/` */
		struct mp_str value;
		const char *key;       /* of env, or of headers */
		const char *reference; /* that takes its place there, JSON */
		bool is_header;
	} items[32];
	size_t n;
};

/*
 * Finds the values of `env` and `headers` that are secrets by their name and written as they are
 * (sealed.h), and chooses names: SERVER.KEY. Of `Bearer TOKEN` the token alone. Saves nothing.
 * MCPOOL_E*; done is due also then.
 */
int mp_import_secrets_find(struct mp_import_secrets *s, const char *server,
			   struct mp_str json) MP_MUST;
/*
 * Saves them all. A name that has another value already is refused: MCPOOL_EEXIST. What was saved
 * before a failure stays.
 */
int mp_import_secrets_save(const struct mp_import_secrets *s, struct mp_secrets *store,
			   struct mcpool_error *reterr) MP_MUST;
void mp_import_secrets_done(struct mp_import_secrets *s);

#endif
