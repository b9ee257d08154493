/*
 * seek.c - finds one tool or prompt by name, among all servers.
 */
#include "cli/servers/seek.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/servers/diagnosis.h"
#include "cli/display/failure.h"

enum { REMEMBERED, NAMED, OTHERS, ROUNDS };

static void seek_looked(void *u);

/* A call waits for a server that is starting. */
enum { WHICH = MP_TOOL_INDEX_PENDING };

/*
 * If the name contains the server's name, its cached catalog may be outdated. A server that failed
 * in the hub is tried once more.
 */
static bool is_worth_a_start(struct mp_seek *s, const struct mp_status *status)
{
	bool is_coming = status->state == MP_STATUS_READY || status->state == MP_STATUS_PENDING;
	bool has_failed = status->state == MP_STATUS_FAILED;
	bool is_old = !status->catalog || status->catalog->saved_ms != 0 ||
		      status->state == MP_STATUS_PENDING;

	if (s->round != NAMED)
		return status->catalog ? has_failed : is_coming;
	return (is_coming || has_failed) && is_old &&
	       mp_tool_index_names_server(s->name, status->name);
}

/* Start the servers of this round; false: there are none. */
static bool start_some(struct mp_seek *s)
{
	const struct mp_status_list *servers = mp_reach_get_servers(s->reach);
	struct mp_reach_look look = {.start = MP_REACH_START_ALL, .max_ms = s->max_ms};
	size_t n = 0;

	s->only = mp_free(s->only);
	s->only = mp_alloc((servers->n + 1) * sizeof(*s->only));
	for (size_t i = 0; i < servers->n; i++) {
		s->only[i] = is_worth_a_start(s, &servers->items[i]);
		n += s->only[i];
	}
	look.only = s->only;
	if (n > 0)
		mp_reach_look(s->reach, &look, seek_looked, s);
	return n > 0;
}

static void seek_fill(struct mp_seek *s, unsigned which)
{
	mp_tool_index_done(&s->tools);
	s->result = mp_tool_index_fill(&s->tools, mp_reach_get_servers(s->reach), s->kind, which,
				       mp_reach_get_options(s->reach)->c);
	if (s->result == 0)
		s->found = mp_names_find(s->tools.names, s->name, &s->candidates);
}

static bool is_open(const struct mp_seek *s)
{
	return s->result == 0 && !s->found && s->candidates == 0;
}

/*
 * One round after the other, until it is found or no server is left to ask. A server that had it
 * and is down is called last: the call waits for it, or reports the failure.
 */
static void seek_looked(void *u)
{
	struct mp_seek *s = u;

	seek_fill(s, WHICH);
	while (is_open(s) && ++s->round < ROUNDS)
		if (start_some(s))
			return;
	if (is_open(s))
		seek_fill(s, WHICH | MP_TOOL_INDEX_FAILED);
	s->fn(s->u);
}

void mp_seek_start(struct mp_seek *s, struct mp_reach *r)
{
	static const struct mp_reach_look only_looking = {.start = MP_REACH_START_NONE};

	s->reach = r;
	s->round = REMEMBERED;
	mp_reach_look(r, &only_looking, seek_looked, s);
}

void mp_seek_done(struct mp_seek *s)
{
	mp_tool_index_done(&s->tools);
	s->only = mp_free(s->only);
}

/* --- why it was not found -------------------------------------------------------------------- */

static const char *get_word(const struct mp_seek *s)
{
	return s->kind == MP_CATALOG_TOOL ? "tool" : "prompt";
}

static int complain_ambiguous(struct mp_seek *s)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf names;

	mp_buf_init(&names, MP_LIMIT_MESSAGE);
	mp_tool_index_add_candidates(&s->tools, s->name, &names);
	mp_cli_complain("'%.*s' may mean more than one %s: %.*s", MP_STR_ARGS(s->name), get_word(s),
			MP_STR_ARGS(mp_buf_get(&names)));
	return MP_EXIT_NOT_FOUND;
}

/* The tool exists, but its server's filters hide it (U20). */
static bool is_hidden(struct mp_seek *s)
{
	struct mp_tool_index hidden;
	const struct mp_name *n = NULL;

	if (mp_tool_index_fill(&hidden, mp_reach_get_servers(s->reach), s->kind,
			       WHICH | MP_TOOL_INDEX_HIDDEN, NULL) == 0)
		n = mp_names_find(hidden.names, s->name, NULL);
	if (n)
		mp_cli_complain("the tool '%.*s' of server \"%.*s\" is not allowed: see "
				"toolsAllowed and toolsDenied of that server, or `mcpool "
				"enable %.*s/%.*s`",
				MP_STR_ARGS(n->name), MP_STR_ARGS(n->server),
				MP_STR_ARGS(n->server), MP_STR_ARGS(n->name));
	mp_tool_index_done(&hidden);
	return n != NULL;
}

static bool has_failed(const struct mp_diagnosis *f)
{
	if (f->status->state == MP_STATUS_PENDING && f->status->catalog)
		return false; /* it was already looked up */
	return !f->is_listed && !f->is_waiting && !f->is_off && f->exit_code != MP_EXIT_DONE;
}

/* Reported like a call whose server was not available (U23). */
static void tell_as_call(const struct mp_seek *s, const struct mp_diagnosis *f,
			 const struct mcpool_error *why)
{
	struct mp_failed_call call = {
		.server = f->status->name,
		.is_configured = true,
		.transport = f->status->transport,
		.environment = f->status->environment,
		.why = why,
		.outcome = MP_OUTCOME_NOT_SENT,
		.retryable = why->code == MCPOOL_EUNAVAILABLE && why->fault,
		.tail = mp_str_of(f->status->tail),
	};

	mp_failure_tell(&call, s->call->json);
}

/* The reason from our files; only the hub knows about switches made in the hub. */
static int explain_state(const struct mp_seek *s, const struct mp_diagnosis *f,
			 struct mcpool_error *why)
{
	const struct mp_entry *e = mp_config_find(s->c->set, f->status->name);
	int exit_code = e ? mp_configured_check_state(s->c, e, why) : MP_EXIT_DONE;

	if (exit_code != MP_EXIT_DONE)
		return exit_code;
	(void)mp_fail(why, mp_cli_code_of(f->exit_code),
		      "Server \"%s\" is %s in the running hub%s%s", f->status->name,
		      mp_status_state_get_name((enum mp_status_state)f->status->state),
		      f->message[0] ? ": " : "", f->message);
	return f->exit_code;
}

/* It may not run and was not tried. */
static int refuse_state(const struct mp_seek *s, const struct mp_diagnosis *f)
{
	struct mcpool_error why, told;
	int exit_code = explain_state(s, f, &why);

	(void)mp_fail_because(&told, why.code, &why, "MCP error: %s", why.message);
	if (s->call)
		tell_as_call(s, f, &told);
	else
		mp_cli_complain("%s", why.message);
	return exit_code;
}

static int tell_diagnosis(const struct mp_seek *s, const struct mp_diagnosis *f)
{
	struct mcpool_error why = mp_diagnosis_explain(f);

	if (s->call)
		tell_as_call(s, f, &why);
	else
		mp_diagnosis_complain(f, "\"timeout\"", f->status->timeout_ms);
	return f->exit_code;
}

/* The server in the name is not available: report that. Else 0. */
static int blame_server(struct mp_seek *s)
{
	const struct mp_status_list *servers = mp_reach_get_servers(s->reach);

	for (size_t i = 0; i < servers->n; i++) {
		struct mp_diagnosis f;

		mp_diagnosis_read(&servers->items[i], s->max_ms, &f);
		if (f.exit_code == MP_EXIT_DONE ||
		    !mp_tool_index_names_server(s->name, f.status->name))
			continue;
		if (!f.status->instance && !has_failed(&f))
			return refuse_state(s, &f);
		return tell_diagnosis(s, &f);
	}
	return 0;
}

/* Report failures of other servers that could have it. Returns how many. */
static size_t tell_failures(struct mp_seek *s)
{
	const struct mp_status_list *servers = mp_reach_get_servers(s->reach);
	size_t failed = 0;

	for (size_t i = 0; i < servers->n; i++) {
		struct mp_diagnosis f;

		mp_diagnosis_read(&servers->items[i], s->max_ms, &f);
		if (!has_failed(&f))
			continue;
		mp_diagnosis_complain(&f, "\"timeout\"", f.status->timeout_ms);
		failed++;
	}
	return failed;
}

static int complain_missing(struct mp_seek *s)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf names;
	size_t failed = tell_failures(s), known = mp_names_count(s->tools.names);
	const char *word = get_word(s);

	mp_buf_init(&names, MP_LIMIT_MESSAGE);
	if (mp_tool_index_add_similar(&s->tools, s->name, &names) > 0)
		mp_cli_complain_as(MCPOOL_ENOENT, "there is no %s '%.*s'. Did you mean %.*s?", word,
				   MP_STR_ARGS(s->name), MP_STR_ARGS(mp_buf_get(&names)));
	else if (known == 0)
		mp_cli_complain_as(MCPOOL_ENOENT,
				   "there is no %s '%.*s', nor any other. `mcpool list` shows "
				   "the servers there are, `mcpool add` adds one.",
				   word, MP_STR_ARGS(s->name));
	else
		mp_cli_complain_as(MCPOOL_ENOENT,
				   "there is no %s '%.*s'. `mcpool %ss` lists the %zu there "
				   "are.",
				   word, MP_STR_ARGS(s->name), word, known);
	return known == 0 && failed > 0 ? MP_EXIT_START : MP_EXIT_NOT_FOUND;
}

int mp_seek_complain(struct mp_seek *s)
{
	int r;

	mp_progress_line_clear(mp_reach_get_line(s->reach));
	if (s->result < 0) {
		mp_cli_complain("%s", mcpool_error_text(s->result));
		return MP_EXIT_START;
	}
	if (s->candidates > 1)
		return complain_ambiguous(s);
	if (is_hidden(s))
		return MP_EXIT_NOT_FOUND;
	r = blame_server(s);
	return r ? r : complain_missing(s);
}
