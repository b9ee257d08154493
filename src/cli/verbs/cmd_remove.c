/*
 * cmd_remove.c - `mcpool remove`, `enable` and `disable`.
 * Only our own files are written. A server in another tool's file is switched by a list of names in
 * the user's file.
 */
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/similar.h"
#include "cli/servers/reach.h"
#include "cli/verbs/consent.h"
#include "cli/verbs/own_files.h"
#include "cli/verbs/verbs.h"
#include "config/values/filter.h"
#include "files/file.h"
#include "config/values/trust.h"
#include "config/read/changes.h"

static int run_remove(const struct mp_verb *verb, int argc, char **argv);
static int run_enable(const struct mp_verb *verb, int argc, char **argv);
static int run_disable(const struct mp_verb *verb, int argc, char **argv);

#define OPTIONS                                                    \
	"  --user           in your own file\n"                    \
	"  --project        in .mcpool/mcp.json of this project\n" \
	"  --json           one JSON object instead of text for people\n"
#define SWITCH_OPTIONS                                                                           \
	"  --now            in the running hub alone, for the agents of this folder, until "     \
	"it ends\n"                                                                              \
	"  --session ID     the same for one agent's session alone, until that ends: ID as in\n" \
	"                   `status --json`, or auto for the agent that runs this\n" OPTIONS
#define REMOVE                                                                                \
	"Remove a server from your file or this project's; `rm` for short.", OPTIONS,         \
		"Files of other tools are never changed; `mcpool disable` switches a server " \
		"in one of them off.\n",                                                      \
		run_remove, NULL, MP_VERB_PLAIN

const struct mp_verb mp_verb_remove = {"remove", "NAME", REMOVE};
const struct mp_verb mp_verb_rm = {"rm", "NAME", REMOVE};
const struct mp_verb mp_verb_enable = {
	"enable",       "NAME",        "Switch a server on, or with SERVER/TOOL one of its tools.",
	SWITCH_OPTIONS, NULL,          run_enable,
	NULL,           MP_VERB_PLAIN,
};
const struct mp_verb mp_verb_disable = {
	"disable",
	"NAME",
	"Switch a server off, wherever it is configured, or with SERVER/TOOL one of its tools.",
	SWITCH_OPTIONS,
	"It keeps its name, so that a shadowed one does not take its place. TOOL may be a "
	"pattern:\n"
	"mcpool disable 'github/delete_*'\n",
	run_disable,
	NULL,
	MP_VERB_PLAIN,
};

static void cmd_remove_report(const struct mp_cli_args *args, const char *key, const char *name,
			      const char *where, const char *file)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;

	mp_buf_init(&text, MP_LIMIT_CONFIG_FILE);
	if (!args->json) {
		printf("%c%s \"%s\" %s %s\n", key[0] - 'a' + 'A', key + 1, name, where, file);
		return;
	}
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	mp_write_key(&w, mp_str_of(key));
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "name", mp_str_of(name));
	mp_write_member_text(&w, "file", mp_str_of(file));
	mp_write_end_object(&w);
	mp_write_end_object(&w);
	if (mp_write_finish(&w) == 0)
		mp_print_json(mp_buf_get(&text));
}

/* --- remove ---------------------------------------------------------------------------------- */

static void cmd_remove_forget(const struct mp_configured *c, const struct mp_entry *e)
{
	struct mcpool_error why;

	if (c->db && mp_approvals_forget(c->db, e->name, e->origin.real, e->origin.root, &why) < 0)
		mp_cli_complain("its approval is still kept: %s", why.message);
}

static int run_remove(const struct mp_verb *verb, int argc, char **argv)
{
	MP_CLEANUP(mp_configured_done) struct mp_configured c = {0};
	struct mp_cli_args args;
	struct mp_server_change change;
	struct mcpool_error why;
	const struct mp_entry *e;
	const char *file;
	int r = mp_cli_read_args(verb, argc, argv, 1, 1, &args);

	if (r)
		return r - 1;
	r = mp_configured_load(&c, &args);
	if (r)
		return r;
	file = mp_own_locate(&c, &args, &r);
	if (r)
		return r;
	e = file ? mp_own_find(&c, file, args.words[0]) : mp_configured_find(&c, args.words[0]);
	if (!file)
		return e ? mp_own_refuse_foreign(e) : MP_EXIT_NOT_FOUND;
	change = (struct mp_server_change){args.words[0], MP_STR(""), file};
	if (mp_own_change(&c, file, mp_change_remove_server, &change, &why) < 0)
		return mp_own_fail(&why);
	cmd_remove_forget(&c, e);
	cmd_remove_report(&args, "removed", args.words[0], "from", file);
	mp_configured_reload(&c);
	e = mp_config_find(c.set, args.words[0]);
	if (e && !args.json)
		printf("The one in %s:%u counts now (%s).\n", e->origin.file, e->origin.line,
		       mp_status_state_get_name(mp_config_get_state(c.set, e, MP_TOGGLE_NONE)));
	return MP_EXIT_DONE;
}

/* --- enable, disable ------------------------------------------------------------------------- */

static int switch_own(struct mp_configured *c, const char *file, const char *name, bool on)
{
	struct mp_switch_change change = {name, file, on};
	bool was_approved = mp_own_find(c, file, name)->trust == MP_TRUST_YES;
	struct mcpool_error why;

	if (mp_own_change(c, file, mp_change_switch_server, &change, &why) < 0)
		return mp_own_fail(&why);
	mp_own_approve_again(c, file, name, was_approved, "switch");
	return MP_EXIT_DONE;
}

static int set_name(const struct mp_configured *c, const char *file, const char *list,
		    const char *name, bool present)
{
	struct mp_names_change change = {list, name, file, present};
	struct mcpool_error why;

	return mp_own_change(c, file, mp_change_names, &change, &why) < 0 ? mp_own_fail(&why)
									  : MP_EXIT_DONE;
}

/* The deny list is the strongest switch (U3), so both directions start with it. */
static int switch_foreign(const struct mp_configured *c, const char *file, const struct mp_entry *e,
			  bool on)
{
	int r = set_name(c, file, "deny", e->name, !on);

	if (r == MP_EXIT_DONE && (!on || !e->enabled))
		r = set_name(c, file, "allow", e->name, on);
	return r;
}

/* Another switch may be stronger: a list in the project's file, or an equivalent key. */
static int check_switch(struct mp_configured *c, const char *file, const char *name, bool on)
{
	const struct mp_entry *e;

	mp_configured_reload(c);
	e = mp_own_find(c, file, name);
	if (!e)
		e = mp_config_find(c->set, name);
	if (!e || e->invalid || mp_entry_is_on(e, &c->set->settings, MP_TOGGLE_NONE) == on)
		return MP_EXIT_DONE;
	mp_cli_complain("Server \"%s\" is still %s: see `mcpool config show %s` and the lists "
			"\"allow\" and \"deny\" of `mcpool config show`",
			name, on ? "off" : "on", name);
	return MP_EXIT_CONFIG;
}

/* --- one tool -------------------------------------------------------------------------------- */

/* The server in SERVER/TOOL, and the tool. NULL: this names a server, or nothing that is here. */
static const struct mp_entry *find_tool(const struct mp_configured *c, const char *name,
					const char **ret_tool)
{
	char server[256];

	if (mp_config_find(c->set, name))
		return NULL;
	for (const char *at = strrchr(name, '/'); at;
	     at = memrchr(name, '/', (size_t)(at - name))) {
		const struct mp_entry *e;

		snprintf(server, sizeof(server), "%.*s", (int)(at - name), name);
		e = mp_config_find(c->set, server);
		*ret_tool = at + 1;
		if (e && at[1])
			return e;
	}
	return NULL;
}

struct tool_check {
	struct mp_reach *reach;
	const char *server, *tool;
};

static void check_listed(struct tool_check *k, const struct mp_catalog_list *l)
{
	const struct mp_bind_list pattern = {&k->tool, 1};
	size_t best = MP_SIMILAR_FAR;
	struct mp_str like = {0};

	for (size_t i = 0; i < l->n; i++) {
		size_t score = mp_similar_score(mp_str_of(k->tool), l->items[i].name);

		if (mp_filter_lets_pass(&pattern, NULL, l->items[i].name))
			return;
		if (score < best) {
			best = score;
			like = l->items[i].name;
		}
	}
	mp_cli_complain("note: server \"%s\" has no tool '%s' as far as is known%s%.*s%s",
			k->server, k->tool, like.len ? "; did you mean '" : "", MP_STR_ARGS(like),
			like.len ? "'?" : "");
}

static void check_looked(void *u)
{
	struct tool_check *k = u;
	const struct mp_status_list *servers = mp_reach_get_servers(k->reach);
	const struct mp_status *status = servers ? mp_status_list_find(servers, k->server) : NULL;

	if (status && status->catalog)
		check_listed(k, &status->catalog->lists[MP_CATALOG_TOOL]->list);
	mp_reach_finish(k->reach, MP_EXIT_DONE);
}

static void check_begin(struct mp_reach *r, void *u)
{
	static const struct mp_reach_look look = {.start = MP_REACH_START_NONE, .max_ms = 2000};
	struct tool_check *k = u;

	k->reach = r;
	mp_reach_look(r, &look, check_looked, k);
}

/* A wrong name would keep nothing out, and nothing would say so. */
static void warn_of_unknown(const struct mp_configured *c, const struct mp_cli_args *args,
			    const struct mp_entry *e, const char *tool)
{
	struct mp_reach_options options = {.c = c, .args = args, .entries = &e, .n = 1};
	struct tool_check check = {.server = e->name, .tool = tool};

	(void)mp_reach_run(&options, check_begin, &check);
}

/* In the user's file, as SERVER/TOOL in the list "deny", wherever the server is configured. */
static int switch_tool(struct mp_configured *c, const struct mp_cli_args *args,
		       const struct mp_entry *e, const char *tool, bool on)
{
	char name[512];
	bool is_off;
	int r;

	if (args->now || args->session || args->project) {
		mp_cli_complain("a tool is switched for all agents, in your own file: leave out "
				"--now, --session and --project");
		return MP_EXIT_USAGE;
	}
	if (!c->set->user_file)
		return MP_EXIT_CONFIG;
	if (!on)
		warn_of_unknown(c, args, e, tool);
	snprintf(name, sizeof(name), "%s/%s", e->name, tool);
	r = set_name(c, c->set->user_file, "deny", name, !on);
	if (r != MP_EXIT_DONE)
		return r;
	mp_configured_reload(c);
	e = mp_config_find(c->set, e->name);
	is_off = e && !mp_filter_lets_pass(&e->tools_allowed, &e->tools_denied, mp_str_of(tool));
	if (on && is_off) {
		mp_cli_complain("\"%s\" is still off: see toolsAllowed and toolsDenied in `mcpool "
				"get %s`, and the list \"deny\" of `mcpool config show`",
				name, e->name);
		return MP_EXIT_CONFIG;
	}
	cmd_remove_report(args, on ? "enabled" : "disabled", name, "in", c->set->user_file);
	return MP_EXIT_DONE;
}

/* --- a server -------------------------------------------------------------------------------- */

static int switch_now(const struct mp_cli_args *args, bool on)
{
	char done[80];

	if (mp_cli_lacks_session("--session", args->session))
		return MP_EXIT_USAGE;
	snprintf(done, sizeof(done), "%s, for %s", on ? "on" : "off",
		 args->session ? "this session, until it ends"
			       : "agents of this folder, until the hub ends");
	return mp_cmd_ask_hub(args, on ? "mcpool/server/enable" : "mcpool/server/disable",
			      args->words[0], done);
}

static int switch_server(const struct mp_verb *verb, int argc, char **argv, bool on)
{
	MP_CLEANUP(mp_configured_done) struct mp_configured c = {0};
	struct mp_cli_args args;
	const struct mp_entry *e;
	const char *file, *tool;
	int r = mp_cli_read_args(verb, argc, argv, 1, 1, &args);

	if (r)
		return r - 1;
	if ((args.now || args.session) && !strchr(args.words[0], '/'))
		return switch_now(&args, on);
	r = mp_configured_load(&c, &args);
	if (r)
		return r;
	e = find_tool(&c, args.words[0], &tool);
	if (e)
		return switch_tool(&c, &args, e, tool, on);
	if (args.now || args.session)
		return switch_now(&args, on);
	file = mp_own_locate(&c, &args, &r);
	if (r)
		return r;
	if (file) {
		const char *list = on ? "deny" : "allow"; /* stronger than the entry itself */

		r = switch_own(&c, file, args.words[0], on);
		if (r == MP_EXIT_DONE && c.set->user_file &&
		    mp_bind_list_has(on ? &c.set->settings.deny : &c.set->settings.allow,
				     args.words[0]))
			r = set_name(&c, c.set->user_file, list, args.words[0], false);
	} else {
		e = mp_configured_find(&c, args.words[0]);
		file = c.set->user_file;
		if (!e)
			return MP_EXIT_NOT_FOUND;
		if (!file)
			return MP_EXIT_CONFIG;
		r = switch_foreign(&c, file, e, on);
	}
	if (r == MP_EXIT_DONE)
		r = check_switch(&c, file, args.words[0], on);
	if (r == MP_EXIT_DONE)
		cmd_remove_report(&args, on ? "enabled" : "disabled", args.words[0], "in", file);
	return r;
}

static int run_enable(const struct mp_verb *verb, int argc, char **argv)
{
	return switch_server(verb, argc, argv, true);
}

static int run_disable(const struct mp_verb *verb, int argc, char **argv)
{
	return switch_server(verb, argc, argv, false);
}
