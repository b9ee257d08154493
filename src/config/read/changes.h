/*
 * changes.h - the changes that verbs make to a file of ours.
 * Each is an mp_writer_fn. A file whose parts are not what they must be, or have a key twice that
 * would be changed, is refused: MCPOOL_ETYPE, MCPOOL_EINVAL.
 */
#ifndef MP_CONFIG_CHANGES_H
#define MP_CONFIG_CHANGES_H

#include "files/writer.h"

struct mp_server_change {
	const char *name;
	struct mp_str json; /* the entry; for set */
	const char *path;   /* for messages */
};
/* MCPOOL_EEXIST: Server "<name>" already exists in <path> */
int mp_change_add_server(struct mp_str old, struct mp_buf *out, void *u,
			 struct mcpool_error *reterr);
/* Replace it, or add it. One that says the same already stays as it is, comments and all. */
int mp_change_set_server(struct mp_str old, struct mp_buf *out, void *u,
			 struct mcpool_error *reterr);
/* MCPOOL_ENOENT: Server "<name>" not found in <path> */
int mp_change_remove_server(struct mp_str old, struct mp_buf *out, void *u,
			    struct mcpool_error *reterr);

/* One key of an entry. */
struct mp_key_change {
	struct mp_str outer; /* the object in the entry that has the key; empty: the entry itself */
	struct mp_str key;
	struct mp_str json; /* its new value; empty: remove it */
	bool may_lack;      /* where there is none, removing it is done */
};
/* Some keys of an entry; everything else stays, comments too. All of them, or none. */
struct mp_edit_change {
	const char *name, *path;
	const struct mp_key_change *items;
	size_t n;
	/* Is the entry valid afterwards? A negative code: nothing is written. */
	int (*check)(void *u, const char *name, struct mp_str json);
	void *u;
};
/* MCPOOL_ENOENT as above, also for a key that is to be removed. */
int mp_change_edit_server(struct mp_str old, struct mp_buf *out, void *u,
			  struct mcpool_error *reterr);

/*
 * mcpServers.NAME.enabled. Off sets false; on removes a `false`, and sets true if there is another
 * value or `disabled`. MCPOOL_ENOENT as above.
 */
struct mp_switch_change {
	const char *name, *path;
	bool on;
};
int mp_change_switch_server(struct mp_str old, struct mp_buf *out, void *u,
			    struct mcpool_error *reterr);

/* A name into or out of a list of names in the `mcpool` object: "deny" or "allow". */
struct mp_names_change {
	const char *list, *name, *path;
	bool present; /* wanted */
};
int mp_change_names(struct mp_str old, struct mp_buf *out, void *u, struct mcpool_error *reterr);

/* One setting in an object of the `mcpool` object: mcpool.http.listen. */
struct mp_setting_change {
	const char *outer, *key, *path;
	struct mp_str json; /* its new value */
};
int mp_change_setting(struct mp_str old, struct mp_buf *out, void *u, struct mcpool_error *reterr);

#endif
