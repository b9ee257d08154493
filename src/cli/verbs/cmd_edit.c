/*
 * cmd_edit.c - `mcpool edit` and `set`: change an entry in one of our own files.
 * The entry keeps its comments and its approval; what is not valid is not written.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "cli/verbs/consent.h"
#include "cli/verbs/own_files.h"
#include "cli/verbs/verbs.h"
#include "cli/verbs/wizard.h"

static int run_edit(const struct mp_verb *verb, int argc, char **argv);

#define EDIT                                                                                       \
	"NAME [KEY=VALUE...] [-- COMMAND...]",                                                     \
		"Change a server in your file or this project's; `set` is the same.",              \
		"  KEY=VALUE        set this key of the entry; KEY:=JSON as it is; restart.mode: " \
		"a "                                                                               \
		"key of restart\n"                                                                 \
		"  --unset KEY      remove this key; repeatable\n"                                 \
		"  --url URL        another address; it takes the place of a command\n"            \
		"  --transport T    http, sse or websocket; with --url\n"                          \
		"  --token-env VAR  send the token that this variable holds\n"                     \
		"  --token -        send the token that is read from stdin, and keep it in the "   \
		"file\n"                                                                           \
		"  --header K:V     send this header; repeatable\n"                                \
		"  --env K=V        a variable for the server; repeatable\n"                       \
		"  --cwd FOLDER     where the server runs\n"                                       \
		"  --user           in your own file\n"                                            \
		"  --project        in .mcpool/mcp.json of this project\n"                         \
		"  --json           one JSON object instead of text for people\n",                 \
		"Comments and all other keys stay. What is not valid is refused, and the file "    \
		"stays as it\nis. On a terminal, `mcpool edit NAME` alone asks what to "           \
		"change. An approved server\nstays approved. Files of other tools are "            \
		"never changed.\n\n"                                                               \
		"examples: mcpool edit files timeout=60000 restart.mode=once\n"                    \
		"          mcpool edit files -- npx -y @modelcontextprotocol/server-filesystem "   \
		"~/notes\n",                                                                       \
		run_edit, NULL, MP_VERB_EITHER

const struct mp_verb mp_verb_edit = {"edit", EDIT};
const struct mp_verb mp_verb_set = {"set", EDIT};

/* --- what to change -------------------------------------------------------------------------- */

enum { MOST = 512 };

struct edits {
	struct mp_configured *c;
	struct mp_arena arena;
	struct mp_key_change items[MOST];
	size_t n;
	bool is_refused; /* the reason was printed */
};

static void edits_done(struct edits *p)
{
	mp_arena_done(&p->arena);
}

/* key: "timeout", "restart.mode"; outer: the object around it; empty: none. json empty: remove. */
static int edits_add(struct edits *p, struct mp_str outer, struct mp_str key, struct mp_str json)
{
	const char *dot = memchr(key.p, '.', key.len);
	const char *kept[3];

	if (p->n == MOST)
		return MCPOOL_ELIMIT;
	if (!outer.len && dot && dot > key.p) {
		outer = (struct mp_str){key.p, (size_t)(dot - key.p)};
		key = (struct mp_str){dot + 1, key.len - outer.len - 1};
	}
	kept[0] = mp_arena_dup(&p->arena, outer);
	kept[1] = mp_arena_dup(&p->arena, key);
	kept[2] = mp_arena_dup(&p->arena, json);
	if (!kept[0] || !kept[1] || !kept[2])
		return mp_arena_get_error(&p->arena);
	p->items[p->n++] = (struct mp_key_change){
		.outer = mp_str_of(kept[0]),
		.key = mp_str_of(kept[1]),
		.json = mp_str_of(kept[2]),
	};
	return 0;
}

/* Each member of the object; those of `env` and `headers` one by one, if merge. */
static int edits_add_members(struct edits *p, const struct mp_tape *t, mp_value object,
			     struct mp_str outer, bool merge)
{
	int r = 0;

	MP_VALUE_EACH(t, object, key) {
		mp_value v = mp_value_of(key);
		struct mp_str name;

		r = mp_value_text(t, key, &p->arena, &name);
		if (r == 0)
			r = merge && mp_value_is(t, v, MP_TAPE_OBJECT)
				    ? edits_add_members(p, t, v, name, false)
				    : edits_add(p, outer, name, mp_value_source(t, v));
		if (r < 0)
			break;
	}
	return r;
}

static int edits_add_object(struct edits *p, struct mp_str json, bool merge)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	int r;

	mp_tape_init(&t, 0);
	r = mp_tape_parse(&t, json, NULL);
	return r < 0 ? r : edits_add_members(p, &t, MP_ROOT, MP_STR(""), merge);
}

/* A command and an address exclude each other. */
static int edits_replace(struct edits *p, const struct mp_entry *e, const struct mp_cli_args *args)
{
	int r = 0;

	if (args->url && e->kind == MP_KIND_STDIO) {
		r = edits_add(p, MP_STR(""), MP_STR("command"), MP_STR(""));
		if (r == 0)
			r = edits_add(p, MP_STR(""), MP_STR("args"), MP_STR(""));
	} else if (args->command && e->kind != MP_KIND_STDIO) {
		r = edits_add(p, MP_STR(""), MP_STR("url"), MP_STR(""));
	}
	for (size_t i = p->n; i-- > 0 && r == 0;)
		p->items[i].may_lack = true;
	return r;
}

static int edits_make(struct edits *p, const struct mp_entry *e, const struct mp_cli_args *args,
		      struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf built, typed;
	int r;

	mp_buf_init(&built, MP_LIMIT_CONFIG_FILE);
	mp_buf_init(&typed, MP_LIMIT_CONFIG_FILE);
	if (!mp_cmd_build_server(p->c, args, &built)) {
		p->is_refused = true;
		return MCPOOL_EINVAL;
	}
	r = mp_typed_build(MP_STR(""), MP_STR(""), args->words + 1, args->n_words - 1, &typed,
			   reterr);
	if (r < 0)
		return r;
	r = edits_replace(p, e, args);
	for (size_t i = 0; i < args->unset.n && r == 0; i++)
		r = edits_add(p, MP_STR(""), mp_str_of(args->unset.items[i]), MP_STR(""));
	if (r == 0)
		r = edits_add_object(p, mp_buf_get(&built), true);
	if (r == 0)
		r = edits_add_object(p, mp_buf_get(&typed), false);
	return r < 0 ? mp_fail(reterr, r, "%s", mcpool_error_text(r)) : 0;
}

/* --- changing -------------------------------------------------------------------------------- */

/* Validate with the parser that will read the file (B10). */
static int edit_check(void *u, const char *name, struct mp_str json)
{
	struct edits *p = u;
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;

	mp_arena_init(&arena, MP_LIMIT_ARENA);
	p->is_refused = !mp_own_draft(p->c, name, json, &arena);
	return p->is_refused ? MCPOOL_EINVAL : 0;
}

static void edit_report(const struct mp_configured *c, const char *file, const char *name,
			int changed, bool json)
{
	const struct mp_entry *e = mp_own_find(c, file, name);

	if (json) {
		mp_own_report(c, file, name, changed ? "changed" : "unchanged", true);
		return;
	}
	printf(changed ? "Changed \"%s\" in %s\n" : "\"%s\" is like that already in %s\n", name,
	       file);
	if (e && e->trust != MP_TRUST_YES)
		printf("It waits for your approval: `mcpool trust %s` shows it.\n", name);
}

static int edit_entry(struct mp_configured *c, struct mp_cli_args *args, const char *file)
{
	MP_CLEANUP(edits_done) struct edits p = {.c = c};
	const char *name = args->words[0];
	const struct mp_entry *e = mp_own_find(c, file, name);
	bool was_approved = e->trust == MP_TRUST_YES;
	struct mp_edit_change change = {.name = name, .path = file, .check = edit_check, .u = &p};
	struct mcpool_error why;
	int r;

	mp_arena_init(&p.arena, MP_LIMIT_ARENA);
	r = edits_make(&p, e, args, &why);
	if (r < 0) {
		if (!p.is_refused)
			mp_cli_complain("%s", why.message);
		return MP_EXIT_USAGE;
	}
	change.items = p.items;
	change.n = p.n;
	r = mp_own_change(c, file, mp_change_edit_server, &change, &why);
	if (r < 0)
		return p.is_refused ? MP_EXIT_CONFIG : mp_own_fail(&why);
	mp_own_approve_again(c, file, name, was_approved, "edit");
	edit_report(c, file, name, r, args->json);
	return MP_EXIT_DONE;
}

static bool has_changes(const struct mp_cli_args *args)
{
	return args->n_words > 1 || args->unset.n || args->url || args->command ||
	       args->headers.n || args->env.n || args->cwd || args->token || args->token_env ||
	       args->transport;
}

static int edit_answered(struct mp_configured *c, struct mp_cli_args *args, const char *file)
{
	int r = mp_cmd_check_usage(args, false);

	if (r)
		return r;
	if (has_changes(args))
		return edit_entry(c, args, file);
	puts("Nothing is to be changed.");
	return MP_EXIT_DONE;
}

static int run_edit(const struct mp_verb *verb, int argc, char **argv)
{
	MP_CLEANUP(mp_configured_done) struct mp_configured c = {0};
	struct mp_cli_args args;
	const struct mp_entry *e;
	const char *file;
	int r = mp_cli_read_args(verb, argc, argv, 1, -1, &args);

	if (r)
		return r - 1;
	r = mp_configured_load(&c, &args);
	if (r)
		return r;
	file = mp_own_locate(&c, &args, &r);
	if (r)
		return r;
	e = file ? NULL : mp_configured_find(&c, args.words[0]);
	if (!file)
		return e ? mp_own_refuse_foreign(e) : MP_EXIT_NOT_FOUND;
	args.project = c.set->project_file && strcmp(file, c.set->project_file) == 0;
	if (!has_changes(&args))
		return mp_wizard_edit(&c, &args, mp_own_find(&c, file, args.words[0]),
				      edit_answered, file);
	r = mp_cmd_check_usage(&args, false);
	return r ? r : edit_entry(&c, &args, file);
}
