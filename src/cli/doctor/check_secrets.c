/*
 * check_secrets.c - tokens in plain text in files of servers; ours are moved to the secret store.
 */
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/shell.h"
#include "cli/doctor/doctor.h"
#include "cli/verbs/import_secrets.h"
#include "cli/verbs/own_files.h"

static bool is_ours(const struct mp_configured *c, const struct mp_entry *e)
{
	const struct mp_config_set *set = c->set;

	return (set->user_file && strcmp(e->origin.file, set->user_file) == 0) ||
	       (set->project_file && strcmp(e->origin.file, set->project_file) == 0);
}

/* A cloned project puts nothing into the store. */
static bool may_move(const struct mp_configured *c, const struct mp_entry *e)
{
	return is_ours(c, e) && e->trust == MP_TRUST_YES;
}

static int secrets_write_fix(const struct mp_configured *c, const struct mp_entry *e,
			     struct mp_buf *out)
{
	int r;

	if (may_move(c, e))
		r = mp_buf_addf(out, "mcpool doctor --fix");
	else if (is_ours(c, e))
		r = mp_buf_addf(out, "mcpool trust %s, then mcpool doctor --fix",
				MP_SHELL_NAME(e->name));
	else
		r = mp_buf_addf(out, "mcpool import %s --secrets, then remove it from that file",
				e->name);
	return r < 0 ? r : mp_buf_terminate(out);
}

static int secrets_note(struct mp_doctor *d, const struct mp_entry *e, size_t n)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text, fix;
	struct mp_finding f = {
		.check = mp_check_secrets.name,
		.severity = MP_FINDING_WARNING,
		.server = e->name,
		.subject = e->name,
		.is_safe = may_move(d->c, e),
	};
	int r;

	mp_buf_init(&text, MP_KIB(16));
	mp_buf_init(&fix, MP_KIB(16));
	r = mp_buf_addf(&text, "%zu %s in plain text in %s:%u", n, n > 1 ? "tokens" : "token",
			e->origin.file, e->origin.line);
	if (r == 0)
		r = mp_buf_terminate(&text);
	if (r == 0)
		r = secrets_write_fix(d->c, e, &fix);
	if (r < 0)
		return r;
	f.text = text.data;
	f.fix = fix.data;
	return mp_doctor_add(d, &f);
}

static int secrets_find(struct mp_doctor *d)
{
	int r = 0;

	for (size_t i = 0; i < d->c->set->n && r == 0; i++) {
		MP_CLEANUP(mp_import_secrets_done) struct mp_import_secrets found = {.n = 0};
		const struct mp_entry *e = d->c->set->entries[i];

		if (e->shadowed_by || !e->canonical.len)
			continue;
		r = mp_import_secrets_find(&found, e->name, e->canonical);
		if (r == 0 && found.n)
			r = secrets_note(d, e, found.n);
	}
	return r;
}

static int secrets_save(const struct mp_configured *c, const struct mp_import_secrets *found,
			struct mcpool_error *reterr)
{
	struct mp_secrets_options o = mp_settings_get_secrets(&c->set->settings);
	struct mp_secrets *store = NULL;
	int r = mp_secrets_open(&store, &o, reterr);

	if (r == 0)
		r = mp_import_secrets_save(found, store, reterr);
	mp_secrets_free(store);
	return r;
}

/* Validate with the parser that will read the file (B10). */
static int secrets_validate(void *u, const char *name, struct mp_str json)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;

	mp_arena_init(&arena, MP_LIMIT_ARENA);
	return mp_own_draft(u, name, json, &arena) ? 0 : MCPOOL_EINVAL;
}

/*
 * The entry gets references in place of its tokens, and stays approved. It goes with its set when
 * the files are read again, so file and name are copies.
 */
static int secrets_replace(struct mp_doctor *d, const struct mp_entry *e,
			   const struct mp_import_secrets *found, struct mcpool_error *reterr)
{
	struct mp_key_change changes[MP_ARRAY_LEN(found->items)];
	struct mp_configured *c = d->c;
	const char *file = mp_arena_dup(&d->arena, mp_str_of(e->origin.file));
	const char *name = mp_arena_dup(&d->arena, mp_str_of(e->name));
	struct mp_edit_change change = {
		.name = name,
		.path = file,
		.items = changes,
		.n = found->n,
		.check = secrets_validate,
		.u = c,
	};
	int r;

	if (!file || !name)
		return mp_fail(reterr, MCPOOL_ENOMEM, "%s", mcpool_error_text(MCPOOL_ENOMEM));
	for (size_t i = 0; i < found->n; i++)
		changes[i] = (struct mp_key_change){
			.outer = mp_str_of(found->items[i].is_header ? "headers" : "env"),
			.key = mp_str_of(found->items[i].key),
			.json = mp_str_of(found->items[i].reference),
		};
	r = mp_own_change(c, file, mp_change_edit_server, &change, reterr);
	if (r < 0)
		return r;
	mp_own_approve_again(c, file, name, true, "doctor");
	return 0;
}

static int secrets_fix(struct mp_doctor *d, const struct mp_finding *f, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_import_secrets_done) struct mp_import_secrets found = {.n = 0};
	const struct mp_entry *e = mp_configured_find(d->c, f->subject);
	int r;

	if (!e || !may_move(d->c, e))
		return mp_fail(reterr, MCPOOL_ENOENT, "it is not there any more");
	r = mp_import_secrets_find(&found, e->name, e->canonical);
	if (r < 0)
		return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	r = secrets_save(d->c, &found, reterr);
	return r < 0 ? r : secrets_replace(d, e, &found, reterr);
}

const struct mp_check mp_check_secrets = {
	"secrets",
	"no file has a token in plain text",
	secrets_find,
	secrets_fix,
};
