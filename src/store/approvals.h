/*
 * approvals.h - what the user approved.
 * A look-up takes an approval id and nothing else: a project's files can at most change their own
 * id (V03). What was approved is stored beside the id, so that a change can be shown as a
 * difference.
 */
#ifndef MP_APPROVALS_H
#define MP_APPROVALS_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"
#include "store/db.h"

enum { MP_APPROVAL_ID = 32 }; /* bytes: a SHA-256 */

struct mp_approval_id {
	unsigned char bytes[MP_APPROVAL_ID];
};

/* What was approved. All texts are UTF-8 and end in NUL. */
struct mp_approval {
	struct mp_approval_id id;
	const char *name;    /* of the server, or "[settings]", "[remote]" */
	const char *file;    /* real path */
	const char *root;    /* real path of the project; "" for user-level entries */
	const char *content; /* the entry as written, canonical JSON; kept sealed (sealed.h) */
	const char *scripts; /* "path<TAB>hex hash<LF>" of each file inside the project; "" */
	const char *how;     /* "trust", "add", "import" */
	int64_t approved_ms; /* wall clock */
};

int mp_approvals_add(struct mp_db *db, const struct mp_approval *a,
		     struct mcpool_error *reterr) MP_MUST;
/* The content as add keeps it, to be compared with what was kept. out ends in NUL. */
int mp_approvals_seal(struct mp_db *db, struct mp_str content, struct mp_buf *out,
		      struct mcpool_error *reterr) MP_MUST;
/* 1 approved, 0 not, negative: the store cannot tell, which is a no with a reason. */
int mp_approvals_has(struct mp_db *db, const struct mp_approval_id *id,
		     struct mcpool_error *reterr) MP_MUST;
/* Forget one id. 1: it was there. */
int mp_approvals_remove(struct mp_db *db, const struct mp_approval_id *id,
			struct mcpool_error *reterr) MP_MUST;
/* Forget all of this name in this file and root (a changed entry replaces what was approved). */
int mp_approvals_forget(struct mp_db *db, const char *name, const char *file, const char *root,
			struct mcpool_error *reterr) MP_MUST;

/* Called for each; the texts are valid during the call. Not 0: stop with that result. */
typedef int (*mp_approval_fn)(const struct mp_approval *a, void *u);
/* Newest first. name, file and root may be NULL: any. */
int mp_approvals_each(struct mp_db *db, const char *name, const char *file, const char *root,
		      mp_approval_fn fn, void *u, struct mcpool_error *reterr) MP_MUST;

/*
 * Files trusted as a whole (`trust --user-file`), by real path. get: 1 yes, 0 no.
 */
int mp_approvals_set_file(struct mp_db *db, const char *real_path, bool trusted, int64_t wall_ms,
			  struct mcpool_error *reterr) MP_MUST;
int mp_approvals_get_file(struct mp_db *db, const char *real_path,
			  struct mcpool_error *reterr) MP_MUST;
/* In place of a path: the servers of every project's files (`trust --projects always`). */
#define MP_APPROVALS_PROJECTS "[projects]"
/* Each of them, newest first; the path is valid during the call. Not 0: stop with that result. */
typedef int (*mp_trusted_file_fn)(const char *real_path, int64_t since_ms, void *u);
int mp_approvals_each_file(struct mp_db *db, mp_trusted_file_fn fn, void *u,
			   struct mcpool_error *reterr) MP_MUST;

/* A number that is another one after each change of the above, by whatever process. */
int mp_approvals_get_mark(struct mp_db *db, int64_t *ret_mark, struct mcpool_error *reterr) MP_MUST;

/*
 * When mcpool first saw this id (V08: "changed outside mcpool since ..."): notes it with wall_ms if
 * it is new, and gives the time of the first sight. A store that cannot be written gives wall_ms;
 * so does one that cannot be read, with the failure as result.
 */
int mp_approvals_note_sight(struct mp_db *db, const struct mp_approval_id *id, int64_t wall_ms,
			    int64_t *ret_first_ms) MP_MUST;

void mp_approval_id_to_hex(const struct mp_approval_id *id, char out[2 * MP_APPROVAL_ID + 1]);

#endif
