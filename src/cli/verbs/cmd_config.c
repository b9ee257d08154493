/*
 * cmd_config.c - `mcpool config`: effective values and their origin, file paths, problems, changes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/redact.h"
#include "cli/servers/configured.h"
#include "cli/display/preview.h"
#include "cli/verbs/verbs.h"
#include "config/values/diff.h"
#include "config/values/effective.h"
#include "files/follow.h"
#include "config/read/sources.h"

static int run_config(const struct mp_verb *verb, int argc, char **argv);

const struct mp_verb mp_verb_config = {
	"config",
	"show [NAME] | path | check [FILE...] | watch",
	"Explain the configuration: every value with its origin, files, mistakes.",
	"  --json           one JSON object instead of text for people\n"
	"  --config FILE    also read this file, before all others; repeatable\n"
	"  --strict-config  read the files of --config alone\n",
	"show         every effective setting and its origin; with a NAME those of that server\n"
	"path         our own two files, and every file that is looked for\n"
	"check        what is wrong with a FILE of ours, or with all that is found; exit code 3\n"
	"watch        what is added, changed or gone while you edit, until Ctrl-C\n",
	run_config,
	NULL,
	MP_VERB_PLAIN,
};

/* --- show ------------------------------------------------------------------------------------ */

struct showing {
	struct mp_writer *w; /* NULL: text output */
};

static void show_value(void *u, const char *key, struct mp_str json, const char *from)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf clean, line;
	const struct showing *s = u;

	mp_buf_init(&clean, MP_LIMIT_CONFIG_FILE * 4);
	mp_buf_init(&line, MP_LIMIT_CONFIG_FILE * 5);
	if (mp_preview_add(json, mp_redact_is_secret_name(mp_str_of(key)), &clean) < 0)
		return;
	if (!s->w) {
		if (mp_buf_addf(&line, "%-20s %.*s  (%s)", key, MP_STR_ARGS(mp_buf_get(&clean)),
				from) == 0)
			mp_print_text(mp_buf_get(&line));
		putchar('\n');
		return;
	}
	mp_write_key(s->w, mp_str_of(key));
	mp_write_begin_object(s->w);
	mp_write_member_raw(s->w, "value", mp_buf_get(&clean));
	mp_write_member_text(s->w, "from", mp_str_of(from));
	mp_write_end_object(s->w);
}

static int cmd_config_show(const struct mp_configured *c, const struct mp_cli_args *args)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	const struct mp_entry *e = NULL;
	struct showing s = {NULL};
	struct mp_writer w;
	int r;

	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	if (args->n_words > 1 && !(e = mp_configured_find(c, args->words[1])))
		return MP_EXIT_NOT_FOUND;
	mp_write_init(&w, &text, NULL);
	if (args->json) {
		s.w = &w;
		mp_write_begin_object(&w);
	}
	r = e ? mp_effective_each(e, show_value, &s)
	      : mp_effective_each_setting(&c->set->settings, show_value, &s);
	if (r == 0 && !e && !c->set->settings.http.listen) /* unset, but users look for it */
		show_value(&s, "http.listen", MP_STR("null"),
			   s.w ? "default" : "default: the hub does not listen for HTTP");
	if (args->json) {
		mp_write_end_object(&w);
		if (r == 0 && mp_write_finish(&w) == 0)
			mp_print_json(mp_buf_get(&text));
	}
	return r < 0 ? MP_EXIT_CONFIG : MP_EXIT_DONE;
}

/* --- path ------------------------------------------------------------------------------------ */

static const char *or_none(const char *text)
{
	return text ? text : "";
}

static int paths_as_json(const struct mp_config_set *set)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;

	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "user", mp_str_of(or_none(set->user_file)));
	mp_write_member_text(&w, "project", mp_str_of(or_none(set->project_file)));
	mp_write_member_text(&w, "root", mp_str_of(set->root));
	mp_write_key(&w, MP_STR("files"));
	mp_write_begin_array(&w);
	for (size_t i = 0; i < set->n_paths; i++) {
		mp_write_begin_object(&w);
		mp_write_member_text(&w, "file", mp_str_of(set->paths[i]));
		mp_write_member_bool(&w, "exists", access(set->paths[i], F_OK) == 0);
		mp_write_end_object(&w);
	}
	mp_write_end_array(&w);
	mp_write_end_object(&w);
	if (mp_write_finish(&w) < 0)
		return MP_EXIT_CONFIG;
	mp_print_json(mp_buf_get(&text));
	return MP_EXIT_DONE;
}

static int show_paths(const struct mp_configured *c, const struct mp_cli_args *args)
{
	const struct mp_config_set *set = c->set;

	if (args->json)
		return paths_as_json(set);
	mp_cmd_print_safe("user     ", or_none(set->user_file));
	mp_cmd_print_safe("project  ", or_none(set->project_file));
	putchar('\n');
	for (size_t i = 0; i < set->n_paths; i++)
		mp_cmd_print_safe(access(set->paths[i], F_OK) == 0 ? "found   " : "        ",
				  set->paths[i]);
	return MP_EXIT_DONE;
}

/* --- check ----------------------------------------------------------------------------------- */

/* B73: a name in several files is allowed, but reported. */
static void tell_shadowed(const struct mp_config_set *set)
{
	for (size_t i = 0; i < set->n; i++) {
		const struct mp_entry *e = set->entries[i];

		if (e->shadow == MP_SHADOW_NAME)
			mp_cli_complain("%s:%u: \"%s\" is shadowed by the one in %s:%u",
					e->origin.file, e->origin.line, e->name,
					e->shadowed_by->origin.file, e->shadowed_by->origin.line);
	}
}

static size_t tell_invalid(const struct mp_config_set *set, bool quiet)
{
	size_t n = 0;

	for (size_t i = 0; i < set->n; i++) {
		const struct mp_entry *e = set->entries[i];

		if (!e->invalid)
			continue;
		n++;
		if (!quiet)
			mp_cli_complain("%s:%u:%u: %s", e->origin.file, e->origin.line,
					e->origin.column, e->invalid);
	}
	return n;
}

static int cmd_config_check(const struct mp_configured *c, const struct mp_cli_args *args)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;
	size_t wrong;

	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	wrong = c->set->n_problems + tell_invalid(c->set, args->json);
	if (args->json) {
		mp_write_init(&w, &text, NULL);
		mp_write_begin_object(&w);
		mp_write_key(&w, MP_STR("servers"));
		mp_write_begin_array(&w);
		for (size_t i = 0; i < c->set->n; i++)
			mp_cmd_write_server(&w, c, c->set->entries[i]);
		mp_write_end_array(&w);
		mp_configured_write_problems(&w, c->set);
		mp_write_end_object(&w);
		if (mp_write_finish(&w) == 0)
			mp_print_json(mp_buf_get(&text));
	} else {
		mp_configured_tell(c, false);
		tell_shadowed(c->set);
		printf("%zu server%s, %zu problem%s\n", c->set->n, c->set->n == 1 ? "" : "s", wrong,
		       wrong == 1 ? "" : "s");
	}
	return wrong ? MP_EXIT_CONFIG : MP_EXIT_DONE;
}

/* --- watch ----------------------------------------------------------------------------------- */

struct watching {
	struct mp_configured *c;
	struct mp_loop *loop;
	struct mp_follower *follower;
	bool json;
};

static void print_change_as_json(const char *kind, const char *name, const char *state)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;

	mp_buf_init(&text, MP_KIB(64));
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "change", mp_str_of(kind));
	mp_write_member_text(&w, "name", mp_str_of(name));
	mp_write_member_text(&w, "state", mp_str_of(state));
	mp_write_end_object(&w);
	if (mp_write_finish(&w) == 0)
		mp_print_json(mp_buf_get(&text));
}

static void print_change(void *u, const struct mp_config_change *change)
{
	const struct watching *w = u;
	const struct mp_entry *e = change->after ? change->after : change->before;
	const char *state = change->after ? mp_status_state_get_name(change->is) : "";

	if (change->kind == MP_UNCHANGED)
		return;
	if (w->json) {
		print_change_as_json(mp_change_kind_get_name(change->kind), e->name, state);
		return;
	}
	printf("%-9s ", mp_change_kind_get_name(change->kind));
	mp_print_text(mp_str_of(e->name)); /* a file may contain any name */
	printf("%s%s\n", state[0] ? ": " : "", state);
}

static void cmd_config_follow(struct watching *w)
{
	struct mcpool_error why;

	if (mp_follower_set_paths(w->follower, w->c->set->paths, w->c->set->n_paths, &why) < 0)
		mp_cli_complain("%s", why.message);
}

static void cmd_config_reload(void *u)
{
	struct watching *w = u;
	struct mp_config_set *before = mp_config_set_ref(w->c->set);
	int changes;

	mp_configured_reload(w->c);
	mp_configured_tell(w->c, false);
	changes = mp_diff(before, w->c->set, print_change, w);
	mp_config_set_unref(before);
	if (w->json)
		printf("{\"reload\":true,\"changes\":%d}\n", changes);
	else
		printf("reloaded, %d change%s\n", changes, changes == 1 ? "" : "s");
	fflush(stdout);
	cmd_config_follow(w);
}

static int watch(struct mp_configured *c, const struct mp_cli_args *args)
{
	struct watching w = {.c = c, .json = args->json};
	struct mp_config_watch *watch = NULL;
	struct mcpool_error why;
	int r = mp_loop_new(&w.loop);

	if (r < 0)
		return MP_EXIT_CONFIG;
	r = mp_config_watch_new(w.loop, &watch, &why);
	if (r < 0) {
		mp_cli_complain("%s", why.message);
		mp_loop_free(w.loop);
		return MP_EXIT_CONFIG;
	}
	w.follower = mp_config_watch_follow(watch, cmd_config_reload, &w);
	cmd_config_follow(&w);
	mp_configured_reload(c); /* catch changes made before the watch started */
	mp_configured_tell(c, false);
	if (args->json)
		printf("{\"watching\":%zu}\n", c->set->n_paths);
	else
		printf("watching %zu paths, until Ctrl-C\n", c->set->n_paths);
	fflush(stdout);
	mp_loop_run(w.loop); /* Ctrl-C ends the process; there is nothing to restore */
	return MP_EXIT_DONE;
}

/* --- the whole ------------------------------------------------------------------------------- */

/* `config check FILE...`: only these files, read as with --config. */
static void name_files(struct mp_cli_args *args)
{
	for (int i = 1; i < args->n_words && args->config.n < MP_ARRAY_LEN(args->config.items); i++)
		args->config.items[args->config.n++] = args->words[i];
	args->strict_config = args->strict_config || args->n_words > 1;
}

static int run_config(const struct mp_verb *verb, int argc, char **argv)
{
	MP_CLEANUP(mp_configured_done) struct mp_configured c = {0};
	struct mp_cli_args args;
	const char *what;
	int r = mp_cli_read_args(verb, argc, argv, 1, -1, &args);

	if (r)
		return r - 1;
	what = args.words[0];
	if (strcmp(what, "check") == 0)
		name_files(&args);
	else if (args.n_words > (strcmp(what, "show") == 0 ? 2 : 1)) {
		mp_cli_complain("this is one argument too many: '%s'. See `mcpool config --help`.",
				args.words[args.n_words - 1]);
		return MP_EXIT_USAGE;
	}
	r = mp_configured_load_all(&c, &args);
	if (r)
		return r;
	if (strcmp(what, "show") == 0)
		return cmd_config_show(&c, &args);
	if (strcmp(what, "path") == 0)
		return show_paths(&c, &args);
	if (strcmp(what, "check") == 0)
		return cmd_config_check(&c, &args);
	if (strcmp(what, "watch") == 0)
		return watch(&c, &args);
	mp_cli_complain("config takes show, path, check or watch, not '%s'. See `mcpool config "
			"--help`.",
			what);
	return MP_EXIT_USAGE;
}
