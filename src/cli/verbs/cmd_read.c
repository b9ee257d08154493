/*
 * cmd_read.c - `mcpool read`: a resource of the server after `--`, or of any server. A URI that is
 * in a list is read from its server at once. For others all servers are asked first: a template may
 * match, or only one server may have resources at all.
 */
#include "base/error.h"
#include "base/limits.h"
#include "cli/servers/command.h"
#include "cli/servers/diagnosis.h"
#include "cli/servers/catalogs.h"
#include "cli/servers/outcome.h"
#include "cli/verbs/verbs.h"
#include "session/uris.h"

struct job {
	const struct mp_cli_args *args;
	struct mp_reach *reach;
	struct mp_index *index;
	struct mp_arena arena; /* holds the URI as its server has it */
	bool has_asked;        /* servers without a cached catalog were started */
	struct mp_outcome_teller teller;
};

static int cmd_read_print(struct mp_str result, struct mp_str json, void *u)
{
	(void)u;
	if (!json.len)
		return mp_cmd_print_contents(result);
	mp_print_json(json);
	return MP_EXIT_DONE;
}

static int cmd_read_start(struct job *job, const char *server, struct mp_str uri,
			  struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf params;
	const struct mp_status *status =
		mp_status_list_find(mp_reach_get_servers(job->reach), server);
	struct mp_pool_call_options rq = {
		.server = server,
		.call.method = MP_METHOD_RESOURCES_READ,
		.call.timeout_ms =
			job->args->timeout_ms ? job->args->timeout_ms : MP_LIMIT_ONE_SHOT_MS,
	};
	int r;

	mp_buf_init(&params, MP_LIMIT_MESSAGE);
	r = mp_cmd_write_read(uri, &params);
	if (r < 0)
		return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	rq.call.params = mp_buf_get(&params);
	job->teller = (struct mp_outcome_teller){.reach = job->reach,
						 .args = job->args,
						 .method = "resources/read",
						 .provider = status ? status->provider : NULL,
						 .key = "resource",
						 .name = uri,
						 .timeout_ms = rq.call.timeout_ms,
						 .print = cmd_read_print,
						 .u = job};
	return mp_reach_call(job->reach, &rq, mp_outcome_tell, &job->teller, reterr);
}

/* Several servers have this URI, so none has it under this name. */
static bool is_ambiguous(const struct job *job)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf names;
	struct mp_str uri = mp_str_of(job->args->words[0]);
	int r = 0;

	mp_buf_init(&names, MP_LIMIT_MESSAGE);
	for (size_t i = 0; i < job->index->n[MP_CATALOG_RESOURCE] && r == 0; i++) {
		const struct mp_index_item *w = job->index->items[MP_CATALOG_RESOURCE][i];

		if (mp_str_eq(w->source->name, uri))
			r = mp_buf_addf(&names, "%s%.*s", names.len ? ", " : "",
					MP_STR_ARGS(w->public_name));
	}
	if (names.len)
		mp_cli_complain("'%.*s' is a resource of more than one server: %.*s",
				MP_STR_ARGS(uri), MP_STR_ARGS(mp_buf_get(&names)));
	return names.len > 0;
}

/* A server that failed may have had it. */
static int cmd_read_complain(const struct job *job)
{
	const struct mp_status_list *servers = mp_reach_get_servers(job->reach);
	size_t known = job->index->n[MP_CATALOG_RESOURCE] + job->index->n[MP_CATALOG_TEMPLATE];
	size_t failed = 0;

	mp_progress_line_clear(mp_reach_get_line(job->reach));
	if (is_ambiguous(job))
		return MP_EXIT_NOT_FOUND;
	for (size_t i = 0; i < servers->n; i++) {
		struct mp_diagnosis f;

		mp_diagnosis_read(&servers->items[i], MP_LIMIT_ONE_SHOT_MS, &f);
		if (f.is_listed || f.is_waiting || f.is_off ||
		    (f.status->state == MP_STATUS_PENDING && f.status->catalog))
			continue;
		mp_diagnosis_complain(&f, "\"timeout\"", f.status->timeout_ms);
		failed++;
	}
	mp_cli_complain_as(MCPOOL_ENOENT,
			   "there is no resource '%s'. `mcpool resources` lists the %zu there are.",
			   job->args->words[0], known);
	return known == 0 && failed > 0 ? MP_EXIT_START : MP_EXIT_NOT_FOUND;
}

static void cmd_read_looked(void *u);

static bool is_listed(const struct job *job, struct mp_str uri)
{
	size_t none;

	return mp_uri_is_wrapped(uri) ||
	       mp_index_find(job->index, MP_CATALOG_RESOURCE, uri, &none) != NULL;
}

static void ask_others(struct job *job)
{
	static const struct mp_reach_look unknown = {.start = MP_REACH_START_UNKNOWN,
						     .max_ms = MP_LIMIT_ONE_SHOT_MS};

	job->has_asked = true;
	mp_reach_look(job->reach, &unknown, cmd_read_looked, job);
}

static void cmd_read_seek(struct job *job)
{
	struct mp_str uri = mp_str_of(job->args->words[0]), theirs;
	const char *server = mp_index_find_resource(job->index, uri, &job->arena, &theirs);
	struct mcpool_error why;

	if (!job->has_asked && !(server && is_listed(job, uri))) {
		ask_others(job);
	} else if (!server) {
		mp_reach_finish(job->reach, cmd_read_complain(job));
	} else if (cmd_read_start(job, server, theirs, &why) < 0) {
		mp_cli_complain_as(why.code, "%s: resources/read: %s", server, why.message);
		mp_reach_finish(job->reach, mp_cli_exit_code(&why));
	}
}

static void cmd_read_looked(void *u)
{
	struct job *job = u;
	int r;

	job->index = mp_index_unref(job->index);
	r = mp_catalogs_make_index(mp_reach_get_servers(job->reach), MP_TOOL_INDEX_PENDING,
				   &job->index);
	if (r == 0) {
		cmd_read_seek(job);
		return;
	}
	mp_cli_complain("%s", mcpool_error_text(r));
	mp_reach_finish(job->reach, MP_EXIT_START);
}

/* The server after `--` has started or failed. */
static void started(void *u)
{
	struct job *job = u;
	const struct mp_status *status = mp_command_get_row(job->reach);
	struct mcpool_error why;

	if (status && cmd_read_start(job, status->name, mp_str_of(job->args->words[0]), &why) < 0)
		mp_command_fail(job->reach, "resources/read", &why);
}

static void cmd_read_begin(struct mp_reach *r, void *u)
{
	static const struct mp_reach_look only_looking = {.start = MP_REACH_START_NONE};
	struct job *job = u;

	job->reach = r;
	if (job->args->command) {
		mp_command_start(r, started, job);
		return;
	}
	job->has_asked = false;
	mp_reach_look(r, &only_looking, cmd_read_looked, job);
}

int mp_cmd_use_resource(const struct mp_cli_args *args)
{
	MP_CLEANUP(mp_configured_done) struct mp_configured c = {0};
	struct mp_reach_options options = {.c = &c, .args = args};
	struct job job = {.args = args};
	int r = args->command ? mp_command_load(&c, args, NULL, 0, &options)
			      : mp_configured_load_all(&c, args);

	if (r)
		return r;
	mp_configured_tell(&c, true);
	mp_arena_init(&job.arena, MP_LIMIT_ARENA);
	r = mp_reach_run(&options, cmd_read_begin, &job);
	mp_arena_done(&job.arena);
	mp_index_unref(job.index);
	return r;
}
