/*
 * reload_changes.h - what a reload changed: servers with their keys, and settings; as words and as
 * JSON (doc/protocol.md, "Events"). Only names are kept, at most so many, and never a value.
 */
#ifndef MP_RELOAD_CHANGES_H
#define MP_RELOAD_CHANGES_H

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "base/limits.h"
#include "config/values/diff.h"

struct mp_reload_keys {
	const char *names[MP_LIMIT_RELOAD_KEYS]; /* in the arena */
	size_t n;                                /* all there are */
};

struct mp_reload_server {
	const char *name;
	struct mp_reload_keys keys; /* of a changed one */
	const char *state;          /* that it has now; NULL: the one it had */
};

struct mp_reload_changes {
	struct mp_arena arena;
	struct mp_reload_kind {
		struct mp_reload_server *servers[MP_LIMIT_RELOAD_SERVERS];
		size_t n; /* all there are */
	} kinds[MP_UNCHANGED];
	struct mp_reload_keys settings;
	int error; /* memory: what is here is incomplete */
};

/* Compare two sets. Call mp_reload_changes_done() in any case. */
void mp_reload_changes_read(struct mp_reload_changes *c, const struct mp_config_set *before,
			    const struct mp_config_set *after);
void mp_reload_changes_done(struct mp_reload_changes *c);
bool mp_reload_changes_is_empty(const struct mp_reload_changes *c);

/*
 * "added a, b; changed c: args, env.TOKEN; gone d; settings: log.level", in at most this many
 * bytes: with less room with fewer names, as "and 3 more". MCPOOL_ENOMEM.
 */
int mp_reload_changes_write_text(const struct mp_reload_changes *c, size_t room,
				 struct mp_buf *out) MP_MUST;
/*
 * {time, folder?, text, servers: [{name, change, keys?, moreKeys?, state?}], more?, settings,
 * moreSettings?}; folder "": the hub's own workspace.
 */
int mp_reload_changes_write_json(const struct mp_reload_changes *c, const char *folder,
				 int64_t wall_ms, struct mp_buf *out) MP_MUST;

#endif
