/*
 * consent.h - shows completely what the user is asked to approve.
 * Words are quoted one by one and made safe for a terminal, whatever stdout is: the user approves
 * what is visible (V09).
 */
#ifndef MP_CONSENT_H
#define MP_CONSENT_H

#include "base/base.h"
#include "base/buf.h"
#include "cli/servers/configured.h"
#include "config/values/set.h"
#include "json/write.h"

/* One of the two. The id was computed when the set was loaded: a later change has another id. */
struct mp_consent {
	const struct mp_entry *entry;
	const struct mp_grant *grant;
};

const char *mp_consent_get_name(const struct mp_consent *x);
const struct mp_approval_id *mp_consent_get_id(const struct mp_consent *x);
enum mp_trust mp_consent_get_trust(const struct mp_consent *x);

/* Add the full description to out. On failure nothing may be asked, because it cannot be shown. */
int mp_consent_describe(const struct mp_configured *c, const struct mp_consent *x,
			struct mp_buf *out, struct mcpool_error *reterr) MP_MUST;
/* Repeat the command or URL in a few lines after a description of this many rows. */
int mp_consent_repeat(const struct mp_consent *x, size_t rows, struct mp_buf *out) MP_MUST;
/* Write it as an object. waiting: include what changed since the last approval. */
void mp_consent_write(struct mp_writer *w, const struct mp_configured *c,
		      const struct mp_consent *x, bool waiting);
/* consent_risks.c: the member `risks`. */
void mp_consent_write_risks(struct mp_writer *w, const struct mp_configured *c,
			    const struct mp_consent *x);
/* Store the approval. */
int mp_consent_approve(const struct mp_configured *c, const struct mp_consent *x,
		       struct mcpool_error *reterr) MP_MUST;

/*
 * Make a running hub apply new or revoked approvals now. False after an error message: a hub runs
 * and could not be told. It then checks before it starts a server, and with the next session or
 * control call.
 */
bool mp_consent_tell_hub(void);

/* The variables that would be read from the environment, each once. */
int mp_consent_each_variable(const struct mp_configured *c, const struct mp_entry *e,
			     void (*fn)(void *u, struct mp_str name), void *u) MP_MUST;
/* The secrets that it would get, each once. */
int mp_consent_each_secret(const struct mp_entry *e, void (*fn)(void *u, struct mp_str name),
			   void *u) MP_MUST;
/* Is this value of a variable or header a command, as resolve.c takes it? */
bool mp_consent_is_command(const struct mp_configured *c, const struct mp_entry *e,
			   const char *value);

/* --- consent_diff.c --- */

/* When the user said yes to x in another form; 0: never. */
int64_t mp_consent_get_last_ms(const struct mp_configured *c, const struct mp_consent *x);

/* path: "env.TOKEN"; JSON before and now, empty if there was or is none. */
typedef int (*mp_consent_diff_fn)(void *u, struct mp_str path, struct mp_str before,
				  struct mp_str now);
/*
 * Call fn for each key and script of x that differs from the last approval, if there is one. The
 * first result that is not 0 ends it.
 */
int mp_consent_compare(const struct mp_configured *c, const struct mp_consent *x,
		       mp_consent_diff_fn on_key, mp_consent_diff_fn on_script, void *u) MP_MUST;

#endif
