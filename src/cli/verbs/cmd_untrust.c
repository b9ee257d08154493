/*
 * cmd_untrust.c - `mcpool untrust` and `mcpool trust list`: revokes and lists approvals.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/limits.h"
#include "base/mem.h"
#include "cli/verbs/consent.h"
#include "cli/display/safe.h"
#include "cli/verbs/verbs.h"

static int run_untrust(const struct mp_verb *verb, int argc, char **argv);

const struct mp_verb mp_verb_untrust = {
	"untrust",
	"NAME...",
	"Revoke approvals.",
	"  --all            all that were given in this project and for your own files\n"
	"  --user-file      no longer trust mcpool's user file as a whole\n"
	"  --json           one JSON object instead of text for people\n",
	"Running servers keep running; they are not started again before you approve them.\n",
	run_untrust,
	NULL,
	MP_VERB_PLAIN,
};

void mp_cmd_print_safe(const char *before, const char *text)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf safe;

	mp_buf_init(&safe, MP_LIMIT_USER_FILE);
	if (mp_safe_add_json(&safe, mp_str_of(text)) == 0)
		printf("%s%.*s\n", before, MP_STR_ARGS(mp_buf_get(&safe)));
}

int mp_cmd_find_user_file(const struct mp_configured *c, char *real, size_t size, char *why,
			  size_t why_size)
{
	const char *file = c->set->user_file;
	char path[PATH_MAX];

	if (!file)
		snprintf(why, why_size, "there is no home folder, and so no file of yours");
	else if (!realpath(file, path) || strlen(path) >= size)
		snprintf(why, why_size, "there is no %s yet", file);
	else {
		memcpy(real, path, strlen(path) + 1);
		return MP_EXIT_DONE;
	}
	return MP_EXIT_NOT_FOUND;
}

/* --- list ------------------------------------------------------------------------------------ */

enum { SHORT_ID = 12 };

struct listing {
	struct mp_writer *w;
	struct mp_arena arena;
	struct mp_table_row *rows; /* owned */
	size_t n, room;
};

static struct mp_table_row *add_row(struct listing *l)
{
	if (l->n == l->room) {
		size_t room = l->room ? 2 * l->room : 64;
		struct mp_table_row *rows = mp_alloc(room * sizeof(*rows));

		if (l->n)
			memcpy(rows, l->rows, l->n * sizeof(*rows));
		mp_free(l->rows);
		l->rows = rows;
		l->room = room;
	}
	return &l->rows[l->n++];
}

static int set_cell(struct listing *l, struct mp_str *cell, const char *text)
{
	const char *copy = mp_arena_dup(&l->arena, mp_str_of(text));

	*cell = mp_str_of(copy);
	return copy ? 0 : mp_arena_get_error(&l->arena);
}

static void write_day(int64_t ms, char *out, size_t size)
{
	time_t then = (time_t)(ms / 1000);
	struct tm tm;

	if (!localtime_r(&then, &tm) || strftime(out, size, "%Y-%m-%d %H:%M", &tm) == 0)
		out[0] = '\0';
}

static int list_one(const struct mp_approval *a, void *u)
{
	struct listing *l = u;
	char hex[2 * MP_APPROVAL_ID + 1], when[40], how[120];
	struct mp_table_row *row;
	int r;

	mp_approval_id_to_hex(&a->id, hex);
	if (l->w) {
		mp_write_begin_object(l->w);
		mp_write_member_text(l->w, "name", mp_str_of(a->name));
		mp_write_member_text(l->w, "file", mp_str_of(a->file));
		mp_write_member_text(l->w, "root", mp_str_of(a->root));
		mp_write_member_i64(l->w, "approvedMs", a->approved_ms);
		mp_write_member_text(l->w, "how", mp_str_of(a->how));
		mp_write_member_text(l->w, "id", mp_str_of(hex));
		mp_write_end_object(l->w);
		return 0;
	}
	hex[SHORT_ID] = '\0';
	write_day(a->approved_ms, when, sizeof(when));
	snprintf(how, sizeof(how), "%s, %s, %s", when, a->how, hex);
	row = add_row(l);
	r = set_cell(l, &row->cells[0], a->name);
	if (r == 0)
		r = set_cell(l, &row->cells[1], how);
	if (r == 0)
		r = set_cell(l, &row->cells[2], a->file);
	return r < 0 ? r : set_cell(l, &row->cells[3], a->root);
}

static int list_file(const char *path, int64_t since_ms, void *u)
{
	struct listing *l = u;
	char when[40];

	if (l->w) {
		mp_write_begin_object(l->w);
		mp_write_member_text(l->w, "file", mp_str_of(path));
		mp_write_member_i64(l->w, "sinceMs", since_ms);
		mp_write_end_object(l->w);
		return 0;
	}
	write_day(since_ms, when, sizeof(when));
	if (strcmp(path, MP_APPROVALS_PROJECTS) == 0) {
		printf("servers of every project run without approval since %s: "
		       "`mcpool trust --projects ask` ends it\n",
		       when);
		return 0;
	}
	printf("trusted as a whole since %s: ", when);
	mp_cmd_print_safe("", path);
	return 0;
}

static int list_both(const struct mp_configured *c, struct listing *l, struct mcpool_error *why)
{
	int r;

	if (l->w) {
		mp_write_begin_object(l->w);
		mp_write_key(l->w, MP_STR("approved"));
		mp_write_begin_array(l->w);
	}
	r = mp_approvals_each(c->db, NULL, NULL, NULL, list_one, l, why);
	if (l->w) {
		mp_write_end_array(l->w);
		mp_write_key(l->w, MP_STR("files"));
		mp_write_begin_array(l->w);
	} else if (r == 0) {
		mp_print_table(l->rows, l->n, 4);
	}
	if (r == 0)
		r = mp_approvals_each_file(c->db, list_file, l, why);
	if (l->w) {
		mp_write_end_array(l->w);
		mp_write_end_object(l->w);
	}
	return r;
}

int mp_cmd_list_approvals(const struct mp_configured *c, bool json)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct listing l = {0};
	struct mcpool_error why = {0};
	struct mp_writer w;
	int r;

	mp_buf_init(&text, 10 * MP_LIMIT_MESSAGE);
	if (!c->db)
		return MP_EXIT_CONFIG; /* already reported when it could not be opened */
	mp_arena_init(&l.arena, MP_LIMIT_ARENA);
	mp_write_init(&w, &text, NULL);
	l.w = json ? &w : NULL;
	r = list_both(c, &l, &why);
	if (r == 0 && json)
		r = mp_write_finish(&w);
	if (r < 0)
		mp_cli_complain("%s", why.message[0] ? why.message : mcpool_error_text(r));
	else if (json)
		mp_print_json(mp_buf_get(&text));
	else if (l.n == 0)
		puts("Nothing is approved one by one.");
	mp_arena_done(&l.arena);
	mp_free(l.rows);
	return r < 0 ? MP_EXIT_CONFIG : MP_EXIT_DONE;
}

/* --- revoking -------------------------------------------------------------------------------- */

struct job {
	struct mp_configured c;
	struct mp_cli_args args;
	struct mp_buf ids;   /* of what is revoked, concatenated */
	struct mp_buf names; /* as JSON texts */
	char error[1024];
};

static void job_done(struct job *j)
{
	mp_configured_done(&j->c);
	mp_buf_done(&j->ids);
	mp_buf_done(&j->names);
}

static void MP_PRINTF(2, 3) cmd_untrust_complain(struct job *j, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)mp_str_format(j->error, sizeof(j->error), format, args); /* may be truncated */
	va_end(args);
	if (!j->args.json)
		mp_cli_complain("%s", j->error);
}

static int note_id(const struct mp_approval *a, void *u)
{
	struct job *j = u;
	struct mp_writer w;
	int r = mp_buf_add(&j->ids, a->id.bytes, sizeof(a->id.bytes));

	if (r == 0 && j->names.len)
		r = mp_buf_add_char(&j->names, ',');
	if (r < 0)
		return r;
	mp_write_init(&w, &j->names, NULL);
	mp_write_text(&w, mp_str_of(a->name));
	r = mp_write_finish(&w);
	if (r == 0 && !j->args.json) {
		char line[PATH_MAX + 512];

		snprintf(line, sizeof(line), "%s in %s", a->name, a->file);
		mp_cmd_print_safe("taken back: ", line);
	}
	return r;
}

/* Approvals of this project and of the user; other projects' stay. name: NULL for all. */
static int cmd_untrust_find(struct job *j, const char *name, struct mcpool_error *why)
{
	int r = mp_approvals_each(j->c.db, name, NULL, j->c.set->root, note_id, j, why);

	return r < 0 ? r : mp_approvals_each(j->c.db, name, NULL, "", note_id, j, why);
}

/* What approves it although its own approval was not found; "". */
static const char *get_whole(const struct job *j, const char *name)
{
	const struct mp_entry *e = mp_config_find(j->c.set, name);

	if (!e || e->trust != MP_TRUST_YES)
		return "";
	return e->origin.level == MP_CONFIG_PROJECT
		       ? " by itself; all projects are trusted: mcpool trust --projects ask"
		       : " by itself; its file is trusted as a whole: mcpool untrust --user-file";
}

static int find_named(struct job *j, const char *name, struct mcpool_error *why)
{
	size_t before = j->ids.len;
	int r = cmd_untrust_find(j, name, why);

	if (r < 0) {
		cmd_untrust_complain(j, "%s", why->message);
		return MP_EXIT_CONFIG;
	}
	if (j->ids.len > before)
		return MP_EXIT_DONE;
	cmd_untrust_complain(j, "\"%s\" is not approved here%s", name, get_whole(j, name));
	return MP_EXIT_NOT_FOUND;
}

static int cmd_untrust_forget(struct job *j)
{
	struct mcpool_error why;
	struct mp_approval_id id;

	for (size_t at = 0; at < j->ids.len; at += sizeof(id)) {
		memcpy(&id, j->ids.data + at, sizeof(id));
		if (mp_approvals_remove(j->c.db, &id, &why) < 0) {
			cmd_untrust_complain(j, "%s", why.message);
			return MP_EXIT_CONFIG;
		}
	}
	return MP_EXIT_DONE;
}

static void tell_hub(struct job *j)
{
	if (!mp_consent_tell_hub() && !j->error[0])
		snprintf(j->error, sizeof(j->error), "%s", mp_cli_get_complaint());
}

static int untrust_names(struct job *j)
{
	struct mcpool_error why = {0};
	int r = MP_EXIT_DONE, other;

	if (j->args.all && cmd_untrust_find(j, NULL, &why) < 0) {
		cmd_untrust_complain(j, "%s", why.message);
		return MP_EXIT_CONFIG;
	}
	for (int i = 0; i < j->args.n_words; i++) {
		other = find_named(j, j->args.words[i], &why);
		r = r ? r : other;
	}
	if (j->args.all && j->ids.len == 0 && !j->args.json)
		puts("Nothing is approved here.");
	other = cmd_untrust_forget(j); /* even if another name was not found */
	if (j->ids.len)
		tell_hub(j);
	return other ? other : r;
}

static int untrust_file(struct job *j)
{
	char real[PATH_MAX], missing[PATH_MAX + 40];
	struct mcpool_error why;
	int r = mp_cmd_find_user_file(&j->c, real, sizeof(real), missing, sizeof(missing));

	if (r != MP_EXIT_DONE) {
		cmd_untrust_complain(j, "%s", missing);
		return r;
	}
	if (mp_approvals_get_file(j->c.db, real, NULL) == 0) {
		cmd_untrust_complain(j, "your file is not trusted as a whole");
		return MP_EXIT_NOT_FOUND;
	}
	if (mp_approvals_set_file(j->c.db, real, false, mp_configured_now(), &why) < 0) {
		cmd_untrust_complain(j, "%s", why.message);
		return MP_EXIT_CONFIG;
	}
	tell_hub(j);
	if (!j->args.json)
		mp_cmd_print_safe("no longer trusted as a whole: ", real);
	return MP_EXIT_DONE;
}

static int print_json(struct job *j, int r)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;

	mp_buf_init(&text, 10 * MP_LIMIT_MESSAGE);
	if (mp_buf_addf(&text,
			"{\"untrusted\":[%.*s],\"error\":", MP_STR_ARGS(mp_buf_get(&j->names))) < 0)
		return MP_EXIT_CONFIG;
	mp_write_init(&w, &text, NULL);
	if (j->error[0])
		mp_write_text(&w, mp_str_of(j->error));
	else
		mp_write_null(&w);
	if (mp_write_finish(&w) < 0 || mp_buf_add_char(&text, '}') < 0)
		return MP_EXIT_CONFIG;
	mp_print_json(mp_buf_get(&text));
	return r;
}

static int run_untrust(const struct mp_verb *verb, int argc, char **argv)
{
	MP_CLEANUP(job_done) struct job j = {0};
	int r = mp_cli_read_args(verb, argc, argv, 0, -1, &j.args);

	mp_buf_init(&j.ids, MP_LIMIT_MESSAGE);
	mp_buf_init(&j.names, MP_LIMIT_MESSAGE);
	if (r)
		return r - 1;
	if ((j.args.n_words > 0) + j.args.all + j.args.user_file != 1) {
		mp_cli_complain("untrust takes names, --all or --user-file, one of the three");
		return MP_EXIT_USAGE;
	}
	r = mp_configured_load(&j.c, &j.args);
	if (r)
		return r;
	if (!j.c.db)
		r = MP_EXIT_CONFIG; /* already reported when it could not be opened */
	else
		r = j.args.user_file ? untrust_file(&j) : untrust_names(&j);
	return j.args.json ? print_json(&j, r) : r;
}
