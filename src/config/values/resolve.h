/*
 * resolve.h - an approved entry, ready to be started or dialled: placeholders filled in, commands
 * run, folders found. Done right before the connection, and never stored (B34).
 */
#ifndef MP_RESOLVE_H
#define MP_RESOLVE_H

#include "base/arena.h"
#include "base/base.h"
#include "config/values/command.h"
#include "config/values/oauth.h"
#include "config/values/secret_values.h"
#include "config/values/set.h"
#include "store/digest.h"
#include "store/local_key.h"

struct mp_resolve_request {
	const struct mp_config_set *set;
	const struct mp_entry *entry;
	char *const *env;                        /* the session's environment */
	struct mp_commands *commands;            /* may be NULL with only_key */
	int64_t now_ms;                          /* monotonic */
	unsigned char local_key[MP_DIGEST_SIZE]; /* keys the launch key */
	/* Find the launch key and nothing else: no command is run, no secret announced. */
	bool only_key;
	struct mp_secret_values *secrets; /* for ${secret:NAME}; may be NULL with only_key */
	/* Told of what was left out or is missing (B41); may be NULL. */
	void (*on_warning)(void *u, const char *message);
	void *u;
};

struct mp_resolved {
	struct mp_arena arena; /* all of it; wiped when it is done */
	enum mp_kind kind;
	char **argv;     /* ends in NULL */
	const char *cwd; /* where it runs */
	char **env;      /* "NAME=value" that the entry sets, ends in NULL */
	const char *url;
	struct mp_bind_map headers;
	const char *ca_file, *cert_file, *key_file; /* NULL: none */
	struct mp_oauth oauth;
	unsigned char launch_key[MP_DIGEST_SIZE]; /* zeros for a set that was typed */
};

/*
 * The entry must be approved: anything else is a broken promise. Blocks while commands run.
 * MCPOOL_ENOENT (also for a secret that is not saved) and MCPOOL_EINVAL as expand.h has them,
 * MCPOOL_EIO and MCPOOL_ETIMEDOUT for commands, MCPOOL_ENOMEM, MCPOOL_ELIMIT. mp_resolved_done() is
 * due also on failure. With only_key the result has no values that commands give, and must not be
 * started.
 */
int mp_resolve(const struct mp_resolve_request *req, struct mp_resolved *ret,
	       struct mcpool_error *reterr) MP_MUST;
/* Does the entry itself say how its requests are authorized? Then no stored token is used. */
bool mp_resolved_has_authorization(const struct mp_resolved *r);
void mp_resolved_done(struct mp_resolved *r);

#endif
