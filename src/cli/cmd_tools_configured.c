/*
 * cmd_tools_configured.c - `mcpool tools` of all configured servers, or of those that are named.
 * What is remembered is not started; whoever fails is named with its reason, and the others are
 * listed all the same.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/seek.h"
#include "cli/verbs.h"

/* Who has as long as we wait says better why it failed than that we stopped waiting. */
enum { LAST_WORDS_MS = 200 };

struct job {
	const struct mp_configured *c;
	const struct mp_cli_args *args;
	struct mp_inproc *hub;
	int64_t wait_ms;
	struct mp_toolbox box;
	struct mp_seek seek; /* --schema */
	size_t listed, failed, waiting, locked;
	bool lacks_required;
};

/* --- what is not listed ---------------------------------------------------------------------- */

static void count(struct job *job, const struct mp_fate *f)
{
	job->listed += f->is_listed;
	job->waiting += f->is_waiting;
	job->failed += !f->is_listed && !f->is_waiting && !f->is_off;
	job->locked += f->exit_code == MP_EXIT_NEEDS_AUTH;
	job->lacks_required |= !f->is_listed && !f->is_off && f->status.entry->tuning.required;
}

static void complain(const struct job *job, const struct mp_fate *f)
{
	int64_t its_ms = f->status.entry->tuning.timeout_ms;
	bool is_ours = job->args->timeout_ms || its_ms >= job->wait_ms; /* not its own limit */

	mp_fate_complain(f, is_ours ? "--timeout" : "\"timeout\"", is_ours ? job->wait_ms : its_ms);
}

/* Those that are missing, and what their lists lack; on stderr. */
static void tell_missing(struct job *job)
{
	for (size_t i = 0; i < job->box.n_offers; i++) {
		struct mp_fate f;

		mp_fate_read(job->hub, i, job->wait_ms, &f);
		count(job, &f);
		if (f.is_listed && job->box.offers[i])
			mp_print_problems(f.name,
					  &job->box.offers[i]->lists[MP_CATALOG_TOOL]->list);
		else if (!f.is_waiting && !f.is_off)
			complain(job, &f);
	}
	if (job->waiting)
		fprintf(stderr, "%zu %s for your approval: mcpool trust\n", job->waiting,
			job->waiting == 1 ? "waits" : "wait");
}

/* U8: a server that must be there decides; else something is better than nothing. */
static int get_exit_code(const struct job *job)
{
	if (job->lacks_required)
		return MP_EXIT_START;
	if (job->listed > 0)
		return MP_EXIT_DONE;
	if (job->failed)
		return job->failed > job->locked ? MP_EXIT_START : MP_EXIT_NEEDS_AUTH;
	return job->waiting ? MP_EXIT_NEEDS_APPROVAL : MP_EXIT_DONE;
}

/* --- what is --------------------------------------------------------------------------------- */

static void write_errors(struct mp_writer *w, struct job *job)
{
	mp_write_key(w, MP_STR("errors"));
	mp_write_begin_array(w);
	for (size_t i = 0; i < job->box.n_offers; i++) {
		struct mp_fate f;

		mp_fate_read(job->hub, i, job->wait_ms, &f);
		if (f.is_listed && job->box.offers[i])
			mp_print_write_errors(w, f.name,
					      &job->box.offers[i]->lists[MP_CATALOG_TOOL]->list);
		else if (!f.is_off)
			mp_print_write_error(w, f.name, f.message);
	}
	mp_write_end_array(w);
}

static void print_as_json(struct job *job)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;

	mp_buf_init(&text, (size_t)16 * MP_LIMIT_MESSAGE);
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	mp_write_key(&w, MP_STR("tools"));
	mp_write_begin_array(&w);
	for (size_t i = 0; i < mp_names_count(job->box.names); i++) {
		const struct mp_tool *tool = mp_toolbox_get(&job->box, i);

		mp_cmd_write_tool(&w, mp_names_get(job->box.names, i)->public_name, tool->server,
				  mp_inproc_get_provider(job->hub, tool->server), tool->item,
				  tool->is_live);
	}
	mp_write_end_array(&w);
	write_errors(&w, job);
	mp_write_end_object(&w);
	if (mp_write_finish(&w) == 0)
		mp_print_json(mp_buf_get(&text));
}

static void print_as_table(struct job *job)
{
	size_t n = mp_names_count(job->box.names);
	struct mp_table_row *rows = mp_alloc((n + 1) * sizeof(*rows));

	for (size_t i = 0; i < n; i++) {
		const struct mp_catalog_item *item = mp_toolbox_get(&job->box, i)->item;

		rows[i].cells[0] = mp_names_get(job->box.names, i)->public_name;
		rows[i].cells[1] = item->title;
		rows[i].cells[2] = item->description;
	}
	mp_print_table(rows, n, 3);
	fflush(stdout);
	mp_free(rows);
}

static void show(void *u)
{
	struct job *job = u;
	int r = mp_toolbox_fill(&job->box, job->hub, false);

	mp_line_clear(mp_inproc_get_line(job->hub));
	if (r < 0) {
		mp_cli_complain("%s", mcpool_error_text(r));
		mp_inproc_finish(job->hub, MP_EXIT_START);
		return;
	}
	if (job->args->json)
		print_as_json(job);
	else
		print_as_table(job);
	mp_toolbox_tell_collisions(&job->box);
	tell_missing(job);
	if (job->listed + job->failed + job->waiting == 0)
		fprintf(stderr, "No servers are configured here that may run. `mcpool list` shows "
				"what there is, `mcpool add` adds one.\n");
	mp_inproc_finish(job->hub, get_exit_code(job));
}

/* --- one schema ------------------------------------------------------------------------------ */

static void show_schema(void *u)
{
	struct job *job = u;
	int exit_code = MP_EXIT_DONE;

	if (job->seek.found)
		mp_cmd_print_schema(((const struct mp_tool *)job->seek.found->u)->item);
	else
		exit_code = mp_seek_complain(&job->seek);
	mp_inproc_finish(job->hub, exit_code);
}

/* --- the verb -------------------------------------------------------------------------------- */

static void begin(struct mp_inproc *p, void *u)
{
	struct job *job = u;

	job->hub = p;
	if (job->args->schema) {
		job->seek = (struct mp_seek){.c = job->c,
					     .name = mp_str_of(job->args->schema),
					     .max_ms = job->wait_ms,
					     .fn = show_schema,
					     .u = job};
		mp_seek_start(&job->seek, p);
		return;
	}
	mp_inproc_open_gate(p, job->args->fresh ? MP_GATE_DUE_ALL : MP_GATE_DUE_UNKNOWN, NULL,
			    job->wait_ms + LAST_WORDS_MS, show, job);
}

/* Those that are named; false after a complaint. */
static int choose(const struct mp_configured *c, const struct mp_cli_args *args,
		  const struct mp_entry **ret)
{
	for (int i = 0; i < args->n_words; i++) {
		const struct mp_entry *e = mp_configured_find(c, args->words[i]);
		int r = e ? mp_cmd_refuse_state(c, e) : MP_EXIT_NOT_FOUND;

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

int mp_cmd_tools_configured(const struct mp_cli_args *args)
{
	static const struct mp_inproc_hooks hooks = {.ready = begin};
	MP_CLEANUP(mp_configured_done) struct mp_configured c = {0};
	struct mp_inproc_options options = {
		.c = &c, .args = args, .start_timeout_ms = args->timeout_ms};
	struct job job = {.c = &c, .args = args};
	const struct mp_entry **chosen;
	int r = mp_configured_load_all(&c, args);

	if (r)
		return r;
	mp_configured_tell(&c, true);
	job.wait_ms = args->timeout_ms ? args->timeout_ms : MP_LIMIT_ONE_SHOT_MS;
	chosen = mp_alloc(((size_t)args->n_words + 1) * sizeof(struct mp_entry *));
	r = choose(&c, args, chosen);
	if (args->n_words) {
		options.entries = chosen;
		options.n = (size_t)args->n_words;
	}
	if (r == 0)
		r = mp_inproc_run(&options, &hooks, &job);
	if (r == 0 && job.listed == 0 && !args->schema && mp_configured_has_errors(&c))
		r = MP_EXIT_CONFIG; /* what cannot be read may be all there is */
	mp_seek_done(&job.seek);
	mp_toolbox_done(&job.box);
	mp_free(chosen);
	return r;
}
