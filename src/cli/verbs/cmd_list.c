/*
 * cmd_list.c - `mcpool list` and `get`: configured servers, their origin and state.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "cli/servers/configured.h"
#include "cli/servers/hub_status.h"
#include "cli/verbs/verbs.h"

#define CONFIG_OPTIONS                                                            \
	"  --config FILE    also read this file, before all others; repeatable\n" \
	"  --strict-config  read the files of --config alone\n"

/* Columns of the table on a terminal, and the width from which full paths are shown. */
enum { LONGEST_NAME = 20, SHORT_PLACE = 19, WIDE = 120 };

static int run_list(const struct mp_verb *verb, int argc, char **argv);

static const char *const list_of_servers[] = {"servers", NULL};

const struct mp_verb mp_verb_list = {
	"list",
	"",
	"Show every server that is configured for this folder, and where.",
	"  --all            include shadowed entries\n"
	"  --json           one JSON object instead of text for people\n" CONFIG_OPTIONS,
	"Nothing is started, dialled or expanded for this.\n"
	"States: ready, needs-approval (see `mcpool trust`), disabled, failed (it is not valid);\n"
	"while a hub runs, of those that may run: connected, pending, failed.\n",
	run_list,
	list_of_servers,
	MP_VERB_PLAIN,
};

const struct mp_verb mp_verb_get = {
	"get",
	"NAME",
	"Show one server as it is configured.",
	"  --json           one JSON object instead of text for people\n" CONFIG_OPTIONS,
	"`mcpool config show NAME` shows every effective value, `mcpool status NAME` how it "
	"runs.\n",
	mp_cmd_get,
	NULL,
	MP_VERB_PLAIN,
};

/* --- list ------------------------------------------------------------------------------------ */

/* Merge what only a hub knows of a server that the files allow to run. */
static void merge_running(struct mp_status *s, const struct mp_status *running)
{
	s->state = running->state;
	s->error = running->error;
	s->next_at_ms = running->next_at_ms;
	s->tools = running->tools;
	s->pid = running->pid;
	s->uptime_ms = running->uptime_ms;
	s->restarts = running->restarts;
	s->calls = running->calls;
	s->failures = running->failures;
	s->p50_us = running->p50_us;
	s->p99_us = running->p99_us;
	s->attempt = running->attempt;
	s->max_attempts = running->max_attempts;
	s->failed_at_ms = running->failed_at_ms;
	s->since_ms = running->since_ms;
	s->server_info = running->server_info;
	s->protocol = running->protocol;
	s->capabilities = running->capabilities;
	s->instructions = running->instructions;
	s->health = running->health;
}

/*
 * The status from the files, with what the running hub or the store knows. True: a hub has it.
 * recalled, hub: NULL if not asked.
 */
static bool take_status(const struct mp_configured *c, const struct mp_entry *e,
			const struct mp_status_list *recalled, const struct mp_hub_status *hub,
			struct mp_arena *arena, struct mp_status *ret)
{
	const struct mp_status *running, *last;

	mp_status_take_entry(c->set, e, arena, ret);
	mp_status_add_target(ret, e, arena);
	running = hub && ret->state == MP_STATUS_READY ? mp_hub_status_find(hub, e->name) : NULL;
	if (running)
		merge_running(ret, running);
	last = recalled && e->shadow == MP_SHADOW_NONE ? mp_status_list_find(recalled, e->name)
						       : NULL;
	if (last) {
		ret->tools = last->tools;
		ret->seen_ms = last->seen_ms;
	}
	return running != NULL;
}

static void write_server(struct mp_writer *w, const struct mp_configured *c,
			 const struct mp_entry *e, const struct mp_status_list *recalled,
			 const struct mp_hub_status *hub, enum mp_status_view view)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mp_status s;

	mp_arena_init(&arena, MP_LIMIT_ARENA);
	take_status(c, e, recalled, hub, &arena, &s);
	mp_status_write(w, &s, view);
}

void mp_cmd_write_server(struct mp_writer *w, const struct mp_configured *c,
			 const struct mp_entry *e)
{
	write_server(w, c, e, NULL, NULL, MP_STATUS_LIST);
}

static bool is_shown(const struct mp_entry *e, bool all)
{
	return all || (e->shadow == MP_SHADOW_NONE && !e->left_out);
}

static int list_as_json(const struct mp_configured *c, bool all,
			const struct mp_status_list *recalled, const struct mp_hub_status *hub)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;

	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	mp_write_key(&w, MP_STR("servers"));
	mp_write_begin_array(&w);
	for (size_t i = 0; i < c->set->n; i++)
		if (is_shown(c->set->entries[i], all))
			write_server(&w, c, c->set->entries[i], recalled, hub, MP_STATUS_LIST);
	mp_write_end_array(&w);
	mp_configured_write_problems(&w, c->set);
	mp_write_end_object(&w);
	if (mp_write_finish(&w) < 0)
		return MP_EXIT_CONFIG;
	mp_print_json(mp_buf_get(&text));
	return MP_EXIT_DONE;
}

/* If a path does not fit, name the tool of the file instead of a part of the path. */
static int add_short(struct mp_buf *out, const char *before, const char *file,
		     const struct mp_origin *o)
{
	size_t columns = mp_print_get_columns(STDOUT_FILENO), start = out->len;
	int r = mp_buf_addf(out, "%s%s:%u", before, file, o->line);

	if (r < 0 || columns == 0 || columns >= WIDE || out->len - start <= SHORT_PLACE)
		return r;
	out->len = start;
	return mp_buf_addf(out, "%s %s:%u", o->tool, mp_config_level_get_name(o->level), o->line);
}

/* On a terminal, shorten a file below the project or the home folder. */
static int add_place(struct mp_buf *out, const struct mp_config_set *set, const struct mp_origin *o)
{
	const char *file = o->file, *before = "";
	size_t root = strlen(set->root), home = set->home ? strlen(set->home) : 0;

	if (mp_print_is_terminal()) {
		if (root > 1 && strncmp(file, set->root, root) == 0 && file[root] == '/') {
			file += root + 1;
		} else if (home > 1 && strncmp(file, set->home, home) == 0 && file[home] == '/') {
			file += home;
			before = "~";
		}
	}
	return add_short(out, before, file, o);
}

/* A long name must not take the room of the other columns. */
static struct mp_str short_name(const char *name)
{
	struct mp_str s = mp_str_of(name);

	if (mp_print_is_terminal() && s.len > LONGEST_NAME)
		s.len = mp_utf8_cut(s.p, LONGEST_NAME);
	return s;
}

/* "10 tools, seen 14:05" instead of the place; "" if nothing is cached. */
static int add_seen(struct mp_buf *out, const struct mp_status *s)
{
	char since[40];

	if (s->tools < 0)
		return 0;
	mp_configured_write_since(s->seen_ms, since, sizeof(since));
	return mp_buf_addf(out, "%lld tool%s, seen%s", (long long)s->tools,
			   s->tools == 1 ? "" : "s", since + strcspn(since, " "));
}

/* The reason for its state; else what it connects to. */
static const char *get_note(const struct mp_configured *c, const struct mp_entry *e,
			    const struct mp_status *s, bool runs, struct mp_arena *arena)
{
	char why[1024];
	const char *target = s->command ? s->command : s->url;

	mp_configured_explain(c, e, why, sizeof(why));
	if (runs && (s->state == MP_STATUS_FAILED || s->state == MP_STATUS_DISABLED))
		return s->error;
	if (why[0])
		return mp_arena_dup(arena, mp_str_of(why));
	return target ? target : s->error;
}

/* One row of the table: its cells are in the arena until it is printed. */
static bool fill_row(const struct mp_configured *c, const struct mp_entry *e,
		     const struct mp_status_list *recalled, const struct mp_hub_status *hub,
		     struct mp_arena *arena, struct mp_table_row *row)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf place;
	struct mp_status s;
	bool runs = take_status(c, e, recalled, hub, arena, &s);
	const char *note = get_note(c, e, &s, runs, arena), *kept;

	mp_buf_init(&place, MP_LIMIT_CONFIG_FILE);
	if ((recalled ? add_seen(&place, &s) : add_place(&place, c->set, &e->origin)) < 0)
		return false;
	kept = mp_arena_dup(arena, mp_buf_get(&place));
	row->cells[0] = short_name(e->name);
	row->cells[1] = mp_str_of(mp_status_state_get_name(s.state));
	row->cells[2] = mp_str_of(kept ? kept : "");
	row->cells[3] = mp_str_of(note ? note : "");
	return kept && note;
}

static size_t count_waiting(const struct mp_configured *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->set->n; i++)
		n += mp_config_get_state(c->set, c->set->entries[i], MP_TOGGLE_NONE) ==
		     MP_STATUS_NEEDS_APPROVAL;
	for (size_t i = 0; i < c->set->n_grants; i++)
		n += c->set->grants[i].trust != MP_TRUST_YES;
	return n;
}

static void say_next_step(const struct mp_configured *c, size_t shown)
{
	size_t waiting = count_waiting(c);

	if (shown == 0)
		fprintf(stderr, "No servers are configured here. `mcpool add NAME -- COMMAND...` "
				"adds one, `mcpool add` asks for what it needs.\n");
	else if (waiting > 0)
		fprintf(stderr, "\n%zu %s for your approval: mcpool trust\n", waiting,
			waiting == 1 ? "waits" : "wait");
}

static int list_as_table(const struct mp_configured *c, bool all,
			 const struct mp_status_list *recalled, const struct mp_hub_status *hub)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mp_table_row *rows = mp_alloc((c->set->n + 1) * sizeof(*rows));
	size_t n = 0;

	mp_arena_init(&arena, MP_LIMIT_ARENA);
	for (size_t i = 0; i < c->set->n; i++)
		if (is_shown(c->set->entries[i], all) &&
		    fill_row(c, c->set->entries[i], recalled, hub, &arena, &rows[n]))
			n++;
	mp_print_table(rows, n, 4);
	fflush(stdout);
	say_next_step(c, n);
	mp_free(rows);
	return MP_EXIT_DONE;
}

int mp_cmd_list_show(const struct mp_configured *c, const struct mp_cli_args *args,
		     const struct mp_status_list *recalled, const struct mp_hub_status *hub)
{
	int r;

	if (!args->json)
		mp_configured_tell(c, false);
	r = args->json ? list_as_json(c, args->all, recalled, hub)
		       : list_as_table(c, args->all, recalled, hub);
	return r == MP_EXIT_DONE && mp_configured_has_errors(c) ? MP_EXIT_CONFIG : r;
}

static int run_list(const struct mp_verb *verb, int argc, char **argv)
{
	MP_CLEANUP(mp_configured_done) struct mp_configured c = {0};
	MP_CLEANUP(mp_hub_status_done) struct mp_hub_status hub = {0};
	struct mp_cli_args args;
	int r = mp_cli_read_args(verb, argc, argv, 0, 0, &args);

	if (r)
		return r - 1;
	r = mp_configured_load_all(&c, &args);
	if (r)
		return r;
	mp_hub_status_ask(&hub, &args, NULL);
	return mp_cmd_list_show(&c, &args, NULL, &hub);
}

/* --- get ------------------------------------------------------------------------------------- */

static void print_map(const char *title, const struct mp_bind_map *map)
{
	if (map->n == 0)
		return;
	printf("%-12s ", title); /* names only: values may be secrets */
	for (size_t i = 0; i < map->n; i++) {
		fputs(i ? ", " : "", stdout);
		mp_print_text(mp_str_of(map->items[i].key));
	}
	putchar('\n');
}

/* Folders and names may contain anything. */
static void MP_PRINTF(2, 3) print_line(const char *title, const char *format, ...)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	va_list args;

	mp_buf_init(&text, MP_LIMIT_CONFIG_FILE);
	va_start(args, format);
	if (mp_buf_addv(&text, format, args) < 0)
		mp_buf_clear(&text);
	va_end(args);
	mp_hub_status_print_line(title, mp_buf_get(&text));
}

/* The same state word as in `list`, and the reason. */
static void print_state(const struct mp_configured *c, const struct mp_entry *e,
			const struct mp_status *s, bool runs)
{
	char why[1024];

	mp_configured_explain(c, e, why, sizeof(why));
	if (runs)
		snprintf(why, sizeof(why), "%s", s->error);
	print_line("state", "%s%s%s", mp_status_state_get_name(s->state), why[0] ? ", " : "", why);
}

static void print_tuning(const struct mp_entry *e)
{
	if (e->kind == MP_KIND_STDIO)
		print_line("cwd", "%s", e->cwd ? e->cwd : "the folder of the agent");
	print_line("mode", "%s", mp_modes[e->tuning.mode]);
	if (e->tuning.timeout_ms)
		print_line("timeout", "%lld ms to start, %lld ms for a call",
			   (long long)e->tuning.timeout_ms, (long long)e->tuning.tool_timeout_ms);
}

static void print_entry(const struct mp_configured *c, const struct mp_entry *e,
			const struct mp_hub_status *hub)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mp_status s;
	bool runs;

	mp_arena_init(&arena, MP_LIMIT_ARENA);
	runs = take_status(c, e, NULL, hub, &arena, &s);
	print_line("name", "%s", s.name);
	print_state(c, e, &s, runs);
	print_line("source", "%s:%lld (%s, %s)", s.source.file, (long long)s.source.line,
		   s.provider, s.source.level);
	print_line("label", "mcp:%s via %s", s.name, s.provider);
	print_line("transport", "%s", s.transport);
	if (s.command)
		print_line("command", "%s", s.command);
	if (s.url)
		print_line("url", "%s", s.url);
	if (!e->invalid)
		print_tuning(e);
	print_map("env", &e->env);
	print_map("headers", &e->headers);
	mp_hub_status_print_life(&s);
}

int mp_cmd_get(const struct mp_verb *verb, int argc, char **argv)
{
	MP_CLEANUP(mp_configured_done) struct mp_configured c = {0};
	MP_CLEANUP(mp_hub_status_done) struct mp_hub_status hub = {0};
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_cli_args args;
	struct mp_writer w;
	const struct mp_entry *e;
	int r = mp_cli_read_args(verb, argc, argv, 1, 1, &args);

	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	if (r)
		return r - 1;
	r = mp_configured_load_all(&c, &args);
	if (r)
		return r;
	e = mp_configured_find(&c, args.words[0]);
	if (!e)
		return MP_EXIT_NOT_FOUND;
	mp_hub_status_ask(&hub, &args, e->name);
	if (!args.json) {
		print_entry(&c, e, &hub);
		return MP_EXIT_DONE;
	}
	mp_write_init(&w, &text, NULL);
	write_server(&w, &c, e, NULL, &hub, MP_STATUS_ONE);
	if (mp_write_finish(&w) < 0)
		return MP_EXIT_CONFIG;
	mp_print_json(mp_buf_get(&text));
	return MP_EXIT_DONE;
}
