/*
 * cmd_reload.c - `mcpool reload`: the hub reads all files again; which keys changed.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/limits.h"
#include "cli/display/cli.h"
#include "cli/display/live_table.h"
#include "cli/servers/hub_client.h"
#include "cli/verbs/verbs.h"
#include "json/value.h"
#include "json/write.h"

enum { RELOAD_MS = 10000, NOTICED_MS = 600 * 1000 };

static int run_reload(const struct mp_verb *verb, int argc, char **argv);

const struct mp_verb mp_verb_reload = {
	"reload",
	"",
	"Make the hub read all files again; only changed servers are restarted.",
	"  --json           one JSON object instead of text for people\n",
	"The hub notices changes by itself; this is for folders where it cannot. It says which\n"
	"keys of which servers changed, or what the hub has noticed in the last 10 minutes; "
	"values\n"
	"are not shown.\n",
	run_reload,
	NULL,
	MP_VERB_PLAIN,
};

/* The result of a reload, over all workspaces. */
struct reload {
	struct mp_hub_client *c;
	struct mp_str answer; /* to the request */
	struct mp_tape t;
	struct mp_buf line;
	struct mp_buf words;   /* texts of those that changed or failed */
	struct mp_buf changes; /* JSON of those that changed, a comma between */
	int64_t left;
	int exit_code;
};

static int add_words(struct reload *r, struct mp_str folder, struct mp_str text)
{
	return mp_buf_addf(&r->words, "%s%.*s%s%.*s", r->words.len ? "\n" : "", MP_STR_ARGS(folder),
			   folder.len ? ": " : "", MP_STR_ARGS(text));
}

/* Longer than the text of the event, which has all if there are none. */
static int add_changes(struct reload *r, mp_value changes, struct mp_arena *arena)
{
	struct mp_str folder = MP_STR(""), text;

	if (mp_value_text(&r->t, mp_value_get(&r->t, changes, "text"), arena, &text) < 0 ||
	    mp_buf_addf(&r->changes, "%s%.*s", r->changes.len ? "," : "",
			MP_STR_ARGS(mp_value_source(&r->t, changes))) < 0)
		return MCPOOL_EPROTO;
	if (mp_value_text(&r->t, mp_value_get(&r->t, changes, "folder"), arena, &folder) < 0)
		folder = MP_STR("");
	return add_words(r, folder, text);
}

/* One event; ignore those of servers that start and stop meanwhile. */
static int take_event(struct reload *r)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mp_str text;
	mp_value e = mp_value_get(&r->t, MP_ROOT, "params"), what = mp_value_get(&r->t, e, "what");
	mp_value changes = mp_value_get(&r->t, e, "changes");
	bool failed = mp_value_text_is(&r->t, what, MP_STR("reload-failed"));

	mp_arena_init(&arena, MP_KIB(512));
	if (!failed && !mp_value_text_is(&r->t, what, MP_STR("reloaded")))
		return 0;
	r->left--;
	if (failed)
		r->exit_code = MP_EXIT_CONFIG;
	if (mp_value_is(&r->t, changes, MP_TAPE_OBJECT))
		return add_changes(r, changes, &arena);
	if (mp_value_text(&r->t, mp_value_get(&r->t, e, "text"), &arena, &text) < 0)
		return MCPOOL_EPROTO;
	if (mp_str_find(text, MP_STR("nothing changed"), 0) >= 0)
		return 0;
	return add_words(r, MP_STR(""), text);
}

static int await_reload(struct reload *r)
{
	while (r->left > 0) {
		mp_buf_clear(&r->line);
		if (mp_hub_client_listen(r->c, RELOAD_MS, &r->line) < 0 ||
		    mp_tape_parse(&r->t, mp_buf_get(&r->line), NULL) < 0 || take_event(r) < 0) {
			mp_cli_complain("the hub does not say what came of it");
			return MP_EXIT_TIMEOUT;
		}
	}
	return r->exit_code;
}

/* "3s ago the hub noticed: changed b: env.TOKEN"; older than a while ago it would mislead. */
static int show_one_noticed(const struct mp_tape *t, mp_value changes, struct mp_arena *arena)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf line;
	struct mp_str folder = MP_STR(""), text;
	int64_t time_ms, ms;
	char age[16];
	int r;

	mp_buf_init(&line, MP_LIMIT_MESSAGE);
	if (mp_value_i64(t, mp_value_get(t, changes, "time"), &time_ms) < 0 ||
	    mp_value_text(t, mp_value_get(t, changes, "text"), arena, &text) < 0)
		return MCPOOL_EPROTO;
	ms = (int64_t)time(NULL) * 1000 - time_ms;
	if (ms > NOTICED_MS)
		return 0;
	if (mp_value_get(t, changes, "folder") != MP_NONE &&
	    mp_value_text(t, mp_value_get(t, changes, "folder"), arena, &folder) < 0)
		return MCPOOL_EPROTO;
	mp_live_write_age(ms > 0 ? ms : 0, age);
	r = mp_buf_addf(&line, "%s ago the hub noticed%s%.*s: %.*s", age, folder.len ? " in " : "",
			MP_STR_ARGS(folder), MP_STR_ARGS(text));
	if (r < 0)
		return r;
	mp_print_text(mp_buf_get(&line));
	putchar('\n');
	return 0;
}

/* A file of the user changes every workspace alike. */
static bool is_said_before(const struct mp_tape *t, mp_value noticed, mp_value changes)
{
	struct mp_str text = mp_value_source(t, mp_value_get(t, changes, "text"));

	MP_VALUE_EACH(t, noticed, other) {
		if (other == changes)
			return false;
		if (mp_str_eq(mp_value_source(t, mp_value_get(t, other, "text")), text))
			return true;
	}
	return false;
}

/* The hub was faster than the command. */
static void show_noticed(struct reload *r)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	mp_value noticed;

	mp_arena_init(&arena, MP_MIB(1));
	if (mp_tape_parse(&r->t, r->answer, NULL) < 0)
		return;
	noticed = mp_value_get(&r->t, MP_ROOT, "noticed");
	MP_VALUE_EACH(&r->t, noticed, changes)
		if (!is_said_before(&r->t, noticed, changes) &&
		    show_one_noticed(&r->t, changes, &arena) < 0)
			return; /* of another version */
}

static void write_noticed(struct mp_writer *w, struct reload *r)
{
	mp_value noticed = MP_NONE;

	if (mp_tape_parse(&r->t, r->answer, NULL) == 0)
		noticed = mp_value_get(&r->t, MP_ROOT, "noticed");
	if (noticed != MP_NONE)
		mp_write_member_raw(w, "noticed", mp_value_source(&r->t, noticed));
}

static void show_reload(struct reload *r, const struct mp_cli_args *args)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf json;
	struct mp_str words = r->words.len ? mp_buf_get(&r->words) : MP_STR("nothing changed");
	struct mp_writer w;

	mp_buf_init(&json, MP_LIMIT_MESSAGE);
	if (r->exit_code != MP_EXIT_DONE) {
		mp_cli_complain("%.*s", MP_STR_ARGS(words));
		return;
	}
	if (!args->json) {
		mp_print_text(words);
		putchar('\n');
		if (!r->words.len)
			show_noticed(r);
		return;
	}
	mp_write_init(&w, &json, NULL);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "reloaded", words);
	mp_write_key(&w, MP_STR("changes"));
	mp_write_begin_array(&w);
	if (r->changes.len)
		mp_write_raw(&w, mp_buf_get(&r->changes));
	mp_write_end_array(&w);
	write_noticed(&w, r);
	mp_write_end_object(&w);
	if (mp_write_finish(&w) == 0)
		mp_print_json(mp_buf_get(&json));
}

static int follow_reload(struct mp_hub_client *c, struct mp_str answer,
			 const struct mp_cli_args *args)
{
	struct reload r = {.c = c, .answer = answer, .exit_code = MP_EXIT_DONE};
	int code = MP_EXIT_PROTOCOL;

	mp_tape_init(&r.t, 0);
	mp_buf_init(&r.line, MP_LIMIT_MESSAGE);
	mp_buf_init(&r.words, MP_LIMIT_MESSAGE);
	mp_buf_init(&r.changes, MP_LIMIT_MESSAGE);
	if (mp_tape_parse(&r.t, answer, NULL) == 0 &&
	    mp_value_i64(&r.t, mp_value_get(&r.t, MP_ROOT, "views"), &r.left) == 0) {
		code = await_reload(&r);
		if (r.left == 0)
			show_reload(&r, args);
	}
	mp_buf_done(&r.line);
	mp_buf_done(&r.words);
	mp_buf_done(&r.changes);
	mp_tape_done(&r.t);
	return mp_print_finish(code);
}

static int run_reload(const struct mp_verb *verb, int argc, char **argv)
{
	MP_CLEANUP(mp_hub_client_freep) struct mp_hub_client *c = NULL;
	MP_CLEANUP(mp_buf_done) struct mp_buf result;
	struct mcpool_error why;
	struct mp_cli_args args;
	int r = mp_cli_read_args(verb, argc, argv, 0, 0, &args);

	mp_buf_init(&result, MP_KIB(64));
	if (r)
		return r - 1;
	r = mp_hub_client_open(&c, &why);
	if (r == 0)
		r = mp_hub_client_ask(c, "mcpool/events", MP_STR(""), &result, &why);
	mp_buf_clear(&result);
	if (r == 0)
		r = mp_hub_client_ask(c, "mcpool/reload", MP_STR(""), &result, &why);
	return r < 0 ? mp_cmd_complain_hub(&why) : follow_reload(c, mp_buf_get(&result), &args);
}
