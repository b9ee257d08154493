/*
 * catalogs.c - lists the catalogs of all servers, as a table or as JSON.
 */
#include "cli/servers/catalogs.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/servers/command.h"
#include "cli/servers/diagnosis.h"
#include "cli/servers/tool_json.h"

/* Wait slightly longer than the server's own timeout, so its error is reported instead of ours. */
enum { LAST_WORDS_MS = 200 };

static const struct {
	const char *list, *key;
} words[] = {
#define X(name, method, list, key, capability) [MP_CATALOG_##name] = {list, key},
	MP_CATALOG_KINDS(X)
#undef X
};

/* Members of --json for an item's own name. */
static const char *const singular[] = {"tool", "prompt", "resource", "resourceTemplate"};

/* --- the index ------------------------------------------------------------------------------- */

int mp_catalogs_make_index(const struct mp_status_list *servers, unsigned which,
			   struct mp_index **ret)
{
	const char **names = mp_alloc((servers->n + 1) * sizeof(char *));
	struct mp_server_catalog **catalogs =
		mp_alloc((servers->n + 1) * sizeof(struct mp_server_catalog *));
	int r;

	for (size_t i = 0; i < servers->n; i++) {
		names[i] = servers->items[i].name;
		catalogs[i] = mp_tool_index_get_catalog(&servers->items[i], which);
	}
	r = mp_index_make((enum mp_naming)servers->naming, names, catalogs, servers->n, ret);
	mp_free(catalogs);
	mp_free(names);
	return r;
}

static bool is_of_names(enum mp_catalog_kind kind)
{
	return kind == MP_CATALOG_TOOL || kind == MP_CATALOG_PROMPT;
}

static int catalogs_gather(struct mp_catalogs *o)
{
	const struct mp_status_list *servers = mp_reach_get_servers(o->reach);

	if (is_of_names(o->kinds[0]))
		return mp_tool_index_fill(&o->tools, servers, o->kinds[0], o->which,
					  mp_reach_get_options(o->reach)->c);
	return mp_catalogs_make_index(servers, o->which, &o->index);
}

static size_t count_items(const struct mp_catalogs *o, enum mp_catalog_kind kind)
{
	return is_of_names(kind) ? mp_names_count(o->tools.names) : o->index->n[kind];
}

static struct mp_str get_item(const struct mp_catalogs *o, enum mp_catalog_kind kind, size_t i,
			      struct mp_tool *ret)
{
	const struct mp_status_list *servers = mp_reach_get_servers(o->reach);
	const struct mp_index_item *item;

	if (is_of_names(kind)) {
		*ret = *mp_tool_index_get(&o->tools, i);
		return mp_names_get(o->tools.names, i)->public_name;
	}
	item = o->index->items[kind][i];
	*ret = (struct mp_tool){.item = item->source,
				.server = mp_status_list_find(servers, item->server)};
	ret->is_live =
		ret->server->catalog->saved_ms == 0 && ret->server->state == MP_STATUS_CONNECTED;
	return item->public_name;
}

/* --- what is missing ------------------------------------------------------------------------- */

static void catalogs_diagnose(const struct mp_catalogs *o, const struct mp_status *status,
			      struct mp_diagnosis *ret)
{
	mp_diagnosis_read(status, o->wait_ms, ret);
	if (status->state == MP_STATUS_PENDING && mp_tool_index_get_catalog(status, o->which))
		ret->is_listed = true;
}

static void catalogs_count(struct mp_catalogs *o, const struct mp_diagnosis *f)
{
	o->listed += f->is_listed;
	o->waiting += f->is_waiting;
	o->failed += !f->is_listed && !f->is_waiting && !f->is_off;
	o->locked += f->exit_code == MP_EXIT_NEEDS_AUTH;
	o->lacks_required |= !f->is_listed && !f->is_off && f->status->is_required;
}

static void catalogs_complain(const struct mp_catalogs *o, const struct mp_diagnosis *f)
{
	int64_t its_ms = f->status->timeout_ms;
	bool is_ours = o->args->timeout_ms || its_ms >= o->wait_ms; /* not the server's own */

	mp_diagnosis_complain(f, is_ours ? "--timeout" : "\"timeout\"",
			      is_ours ? o->wait_ms : its_ms);
}

static bool is_withheld(const struct mp_status *status)
{
	return status->withheld.n && status->catalog && status->catalog->hello.era != MP_ERA_MODERN;
}

/* Only if a server is named, or stdout is a terminal. */
static void tell_withheld(const struct mp_catalogs *o)
{
	const struct mp_status_list *servers = mp_reach_get_servers(o->reach);
	bool is_named = o->args->n_words > 0;
	size_t n = 0;

	for (size_t i = 0; i < servers->n; i++)
		n += is_withheld(&servers->items[i]);
	if (n == 0 || o->kinds[0] != MP_CATALOG_TOOL || o->args->json ||
	    !(is_named || isatty(STDOUT_FILENO)))
		return;
	fprintf(stderr,
		"%zu %s shared and not offered " MP_STATUS_WITHHELD ": %s may have more tools with "
		"\"mode\": \"session\"\n",
		n, n == 1 ? "server is" : "servers are", n == 1 ? "it" : "they");
}

/* What the definitions cost a model that has them all, the most expensive first. */
static void tell_tokens(const struct mp_catalogs *o)
{
	const struct mp_status_list *servers = mp_reach_get_servers(o->reach);
	const struct mp_status *most = NULL;
	int64_t sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < servers->n; i++) {
		const struct mp_status *s = &servers->items[i];

		if (s->tool_tokens <= 0)
			continue;
		n++;
		sum += s->tool_tokens;
		if (!most || s->tool_tokens > most->tool_tokens)
			most = s;
	}
	if (n == 0 || o->kinds[0] != MP_CATALOG_TOOL || o->args->json || !isatty(STDOUT_FILENO) ||
	    !isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "These definitions cost a model about %lld tokens", (long long)sum);
	if (n > 1)
		fprintf(stderr, ", those of %s %lld", most->name, (long long)most->tool_tokens);
	fputs(".\n", stderr);
}

static void tell_problems(const struct mp_catalogs *o, const struct mp_status *status)
{
	for (size_t k = 0; k < o->n_kinds; k++) {
		const struct mp_server_catalog_list *l = status->catalog->lists[o->kinds[k]];

		mp_print_problems(status->name, &l->list);
		if (l->problem)
			mp_cli_complain("%s: %s: %s", status->name, words[o->kinds[k]].list,
					l->problem);
	}
}

/* Report on stderr the servers and lists that are missing. */
static void tell_missing(struct mp_catalogs *o)
{
	const struct mp_status_list *servers = mp_reach_get_servers(o->reach);

	for (size_t i = 0; i < servers->n; i++) {
		struct mp_diagnosis f;

		catalogs_diagnose(o, &servers->items[i], &f);
		catalogs_count(o, &f);
		if (f.is_listed && f.status->catalog)
			tell_problems(o, f.status);
		else if (!f.is_waiting && !f.is_off)
			catalogs_complain(o, &f);
	}
	if (o->waiting)
		fprintf(stderr, "%zu %s for your approval: mcpool trust\n", o->waiting,
			o->waiting == 1 ? "waits" : "wait");
}

/* U8: a required server decides; else a partial list is a success. */
static int get_exit_code(const struct mp_catalogs *o)
{
	if (o->lacks_required)
		return MP_EXIT_START;
	if (o->listed > 0)
		return MP_EXIT_DONE;
	if (o->failed)
		return o->failed > o->locked ? MP_EXIT_START : MP_EXIT_NEEDS_AUTH;
	return o->waiting ? MP_EXIT_NEEDS_APPROVAL : MP_EXIT_DONE;
}

/* --- the lists ------------------------------------------------------------------------------- */

static void write_list_errors(struct mp_writer *w, const struct mp_catalogs *o,
			      const struct mp_status *status)
{
	for (size_t k = 0; k < o->n_kinds; k++) {
		const struct mp_server_catalog_list *l = status->catalog->lists[o->kinds[k]];

		mp_print_write_errors(w, status->name, &l->list);
		if (l->problem)
			mp_print_write_error(w, status->name, l->problem);
	}
}

static void write_errors(struct mp_writer *w, struct mp_catalogs *o)
{
	const struct mp_status_list *servers = mp_reach_get_servers(o->reach);

	mp_write_key(w, MP_STR("errors"));
	mp_write_begin_array(w);
	for (size_t i = 0; i < servers->n; i++) {
		struct mp_diagnosis f;

		catalogs_diagnose(o, &servers->items[i], &f);
		if (f.is_listed && f.status->catalog)
			write_list_errors(w, o, f.status);
		else if (!f.is_off)
			mp_print_write_error(w, f.status->name, f.message);
	}
	mp_write_end_array(w);
}

/* The item as its server wrote it, except its name; with its server and its own name. */
static void write_item(struct mp_writer *w, enum mp_catalog_kind kind, struct mp_str public_name,
		       const struct mp_tool *tool)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;

	mp_tape_init(&t, 0);
	if (mp_tape_parse(&t, tool->item->json, NULL) < 0)
		return; /* it parsed before; only memory can be short */
	mp_write_begin_object(w);
	mp_write_member_text(w, words[kind].key, public_name);
	mp_write_member_text(w, "server", mp_str_of(tool->server->name));
	mp_write_member_text(w, singular[kind], tool->item->name);
	MP_VALUE_EACH(&t, MP_ROOT, key) {
		if (mp_value_text_is(&t, key, mp_str_of(words[kind].key)))
			continue;
		mp_write_raw_key(w, mp_value_source(&t, key));
		mp_write_value(w, &t, mp_value_of(key));
	}
	mp_write_member_text(w, "state", mp_str_of(tool->is_live ? "live" : "deferred"));
	mp_write_end_object(w);
}

static void write_list(struct mp_writer *w, const struct mp_catalogs *o, enum mp_catalog_kind kind)
{
	mp_write_key(w, mp_str_of(words[kind].list));
	mp_write_begin_array(w);
	for (size_t i = 0; i < count_items(o, kind); i++) {
		struct mp_tool tool;
		struct mp_str name = get_item(o, kind, i, &tool);

		if (kind == MP_CATALOG_TOOL)
			mp_tool_json_write(w, name, tool.server->name, tool.server->provider,
					   tool.item, tool.is_live);
		else
			write_item(w, kind, name, &tool);
	}
	mp_write_end_array(w);
}

static void print_as_json(struct mp_catalogs *o)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;

	mp_buf_init(&text, (size_t)16 * MP_LIMIT_MESSAGE);
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	for (size_t k = 0; k < o->n_kinds; k++)
		write_list(&w, o, o->kinds[k]);
	write_errors(&w, o);
	mp_write_end_object(&w);
	if (mp_write_finish(&w) == 0)
		mp_print_json(mp_buf_get(&text));
}

static void print_as_table(struct mp_catalogs *o, enum mp_catalog_kind kind)
{
	size_t n = count_items(o, kind);
	struct mp_table_row *rows = mp_alloc((n + 1) * sizeof(*rows));

	for (size_t i = 0; i < n; i++) {
		struct mp_tool tool;

		rows[i].cells[0] = get_item(o, kind, i, &tool);
		rows[i].cells[1] = tool.item->title;
		rows[i].cells[2] = tool.item->description;
	}
	mp_print_items(rows, n);
	fflush(stdout);
	mp_free(rows);
}

static void say_none(const struct mp_catalogs *o)
{
	if (o->listed + o->failed + o->waiting == 0)
		fprintf(stderr, "No servers are configured here that may run. `mcpool list` shows "
				"what there is, `mcpool add` adds one.\n");
	else if (o->kinds[0] != MP_CATALOG_TOOL && !o->args->json && o->listed > 0 &&
		 count_items(o, o->kinds[0]) + count_items(o, o->kinds[o->n_kinds - 1]) == 0)
		fprintf(stderr, "No server has %s.\n", words[o->kinds[0]].list);
}

static void catalogs_show(void *u)
{
	struct mp_catalogs *o = u;
	int r = catalogs_gather(o);

	mp_progress_line_clear(mp_reach_get_line(o->reach));
	if (r < 0) {
		mp_cli_complain("%s", mcpool_error_text(r));
		mp_reach_finish(o->reach, MP_EXIT_START);
		return;
	}
	if (o->args->json)
		print_as_json(o);
	for (size_t k = 0; k < o->n_kinds && !o->args->json; k++)
		print_as_table(o, o->kinds[k]);
	if (is_of_names(o->kinds[0]))
		mp_tool_index_tell_collisions(&o->tools);
	tell_missing(o);
	tell_withheld(o);
	tell_tokens(o);
	say_none(o);
	mp_reach_finish(o->reach, get_exit_code(o));
}

/* --- one schema ------------------------------------------------------------------------------ */

static void show_schema(void *u)
{
	struct mp_catalogs *o = u;
	int exit_code = MP_EXIT_DONE;

	if (o->seek.found)
		mp_tool_json_print_schema(((const struct mp_tool *)o->seek.found->u)->item);
	else
		exit_code = mp_seek_complain(&o->seek);
	mp_reach_finish(o->reach, exit_code);
}

/* --- the verb -------------------------------------------------------------------------------- */

static void catalogs_forget(struct mp_catalogs *o)
{
	mp_seek_done(&o->seek);
	mp_tool_index_done(&o->tools);
	o->index = mp_index_unref(o->index);
}

static void catalogs_begin(struct mp_reach *r, void *u)
{
	struct mp_catalogs *o = u;
	struct mp_reach_look look = {.start = o->args->fresh ? MP_REACH_START_ALL
							     : MP_REACH_START_UNKNOWN,
				     .fresh = o->args->fresh,
				     .max_ms = o->wait_ms + LAST_WORDS_MS};

	o->reach = r;
	catalogs_forget(o);
	if (o->args->command) {
		mp_command_start(r, mp_catalogs_command_show, o);
		return;
	}
	if (!o->args->schema) {
		mp_reach_look(r, &look, catalogs_show, o);
		return;
	}
	o->seek = (struct mp_seek){.c = o->c,
				   .kind = MP_CATALOG_TOOL,
				   .name = mp_str_of(o->args->schema),
				   .max_ms = o->wait_ms,
				   .fn = show_schema,
				   .u = o};
	mp_seek_start(&o->seek, r);
}

/* The servers that are named; an exit code after an error message. */
static int catalogs_choose(const struct mp_configured *c, const struct mp_cli_args *args,
			   const struct mp_entry **ret)
{
	for (int i = 0; i < args->n_words; i++) {
		const struct mp_entry *e = mp_configured_find(c, args->words[i]);
		int r = e ? mp_configured_refuse_state(c, e) : MP_EXIT_NOT_FOUND;

		if (r)
			return r;
		for (int k = 0; k < i; k++)
			if (ret[k] == e) {
				mp_cli_complain("'%s' is named twice", args->words[i]);
				return MP_EXIT_USAGE;
			}
		ret[i] = e;
	}
	return MP_EXIT_DONE;
}

static int run_command(struct mp_catalogs *o)
{
	MP_CLEANUP(mp_configured_done) struct mp_configured c = {0};
	struct mp_reach_options options = {.c = &c, .args = o->args};
	int r;

	if (mp_cli_lacks_command(o->args))
		return MP_EXIT_USAGE;
	if (o->args->n_words) {
		mp_cli_complain("this is one argument too many: '%s'. See `mcpool %s --help`.",
				o->args->words[0], o->args->verb->name);
		return MP_EXIT_USAGE;
	}
	r = mp_command_load(&c, o->args, o->kinds, o->n_kinds, &options);
	return r ? r : mp_reach_run(&options, catalogs_begin, o);
}

int mp_catalogs_run(struct mp_catalogs *o)
{
	MP_CLEANUP(mp_configured_done) struct mp_configured c = {0};
	const struct mp_cli_args *args = o->args;
	struct mp_reach_options options = {
		.c = &c, .args = args, .start_timeout_ms = args->timeout_ms};
	const struct mp_entry **chosen;
	int r;

	if (args->command)
		return run_command(o);
	r = mp_configured_load_all(&c, args);
	if (r)
		return r;
	mp_configured_tell(&c, true);
	o->c = &c; /* cppcheck-suppress autoVariables ; o is not used after this function */
	o->which = args->fresh ? 0 : MP_TOOL_INDEX_PENDING;
	o->wait_ms = args->timeout_ms ? args->timeout_ms : MP_LIMIT_ONE_SHOT_MS;
	chosen = mp_alloc(((size_t)args->n_words + 1) * sizeof(struct mp_entry *));
	r = catalogs_choose(&c, args, chosen);
	if (args->n_words) {
		options.entries = chosen;
		options.n = (size_t)args->n_words;
	}
	if (r == 0)
		r = mp_reach_run(&options, catalogs_begin, o);
	if (r == 0 && o->listed == 0 && !args->schema && mp_configured_has_errors(&c))
		r = MP_EXIT_CONFIG; /* an unreadable file may have all the servers */
	catalogs_forget(o);
	mp_free(chosen);
	return r;
}
