/*
 * seek.c - one tool by name, among all configured servers.
 */
#include "cli/seek.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/verbs.h"

enum { REMEMBERED, NAMED, OTHERS, ROUNDS };

static void look(struct mp_seek *s);

static void opened(void *u)
{
	look(u);
}

/* Of a server that the name speaks of, what is remembered may just be out of date. */
static bool is_worth_a_start(struct mp_seek *s, size_t i)
{
	struct mp_view *v = mp_inproc_get_view(s->hub);
	const struct mp_offer *offer = s->box.offers[i];
	bool is_named = mp_toolbox_names_server(s->name, mp_view_get_entry(v, i)->name);

	if (mp_view_get_state(v, i, MP_INPROC_SESSION) != MP_SHOWN_READY)
		return false;
	return s->round == NAMED ? is_named && (!offer || offer->saved_ms != 0) : !offer;
}

/* Start whom this round is about; false: there is nobody. */
static bool start_some(struct mp_seek *s)
{
	struct mp_view *v = mp_inproc_get_view(s->hub);
	size_t n = 0;

	for (size_t i = 0; i < mp_view_count(v); i++) {
		s->only[i] = is_worth_a_start(s, i);
		n += s->only[i];
	}
	if (n > 0)
		mp_inproc_open_gate(s->hub, MP_GATE_DUE_ALL, s->only, s->max_ms, opened, s);
	return n > 0;
}

static void fill(struct mp_seek *s)
{
	mp_toolbox_done(&s->box);
	s->result = mp_toolbox_fill(&s->box, s->hub, false);
	if (s->result == 0)
		s->found = mp_names_find(s->box.names, s->name, &s->candidates);
}

/* One round after the other, until it is found or nobody is left to be asked. */
static void look(struct mp_seek *s)
{
	fill(s);
	while (s->result == 0 && !s->found && s->candidates == 0 && ++s->round < ROUNDS)
		if (start_some(s))
			return;
	s->fn(s->u);
}

void mp_seek_start(struct mp_seek *s, struct mp_inproc *p)
{
	s->hub = p;
	s->round = REMEMBERED;
	s->only = mp_alloc((mp_view_count(mp_inproc_get_view(p)) + 1) * sizeof(*s->only));
	look(s);
}

void mp_seek_done(struct mp_seek *s)
{
	mp_toolbox_done(&s->box);
	s->only = mp_free(s->only);
}

/* --- why there is none ----------------------------------------------------------------------- */

static int complain_ambiguous(struct mp_seek *s)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf names;

	mp_buf_init(&names, MP_LIMIT_MESSAGE);
	mp_toolbox_add_candidates(&s->box, s->name, &names);
	mp_cli_complain("'%.*s' may mean more than one tool: %.*s", MP_STR_ARGS(s->name),
			MP_STR_ARGS(mp_buf_get(&names)));
	return MP_EXIT_NOT_FOUND;
}

/* It is there, and its server's entry does not let it pass (U20). */
static bool is_hidden(struct mp_seek *s)
{
	struct mp_toolbox hidden;
	const struct mp_name *n = NULL;

	if (mp_toolbox_fill(&hidden, s->hub, true) == 0)
		n = mp_names_find(hidden.names, s->name, NULL);
	if (n)
		mp_cli_complain("the tool '%.*s' of server \"%.*s\" is not allowed: see "
				"toolsAllowed and toolsDenied of that server",
				MP_STR_ARGS(n->name), MP_STR_ARGS(n->server));
	mp_toolbox_done(&hidden);
	return n != NULL;
}

static bool has_failed(const struct mp_fate *f)
{
	return !f->is_listed && !f->is_waiting && !f->is_off && f->exit_code != MP_EXIT_DONE;
}

/* The server that the name speaks of is not there: that is why. Else 0. */
static int blame_server(struct mp_seek *s)
{
	size_t n = mp_view_count(mp_inproc_get_view(s->hub));

	for (size_t i = 0; i < n; i++) {
		struct mp_fate f;

		mp_fate_read(s->hub, i, s->max_ms, &f);
		if (f.exit_code == MP_EXIT_DONE || !mp_toolbox_names_server(s->name, f.name))
			continue;
		if (f.status.instance == 0 && !has_failed(&f))
			return mp_cmd_refuse_state(s->c, f.status.entry);
		mp_fate_complain(&f, "\"timeout\"", f.status.entry->tuning.timeout_ms);
		return f.exit_code;
	}
	return 0;
}

/* Others that could have had it: their failure is told, too. Returns how many. */
static size_t tell_failures(struct mp_seek *s)
{
	size_t n = mp_view_count(mp_inproc_get_view(s->hub)), failed = 0;

	for (size_t i = 0; i < n; i++) {
		struct mp_fate f;

		mp_fate_read(s->hub, i, s->max_ms, &f);
		if (!has_failed(&f))
			continue;
		mp_fate_complain(&f, "\"timeout\"", f.status.entry->tuning.timeout_ms);
		failed++;
	}
	return failed;
}

static int complain_missing(struct mp_seek *s)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf names;
	size_t failed = tell_failures(s), known = mp_names_count(s->box.names);

	mp_buf_init(&names, MP_LIMIT_MESSAGE);
	if (mp_toolbox_add_similar(&s->box, s->name, &names) > 0)
		mp_cli_complain_as(MCPOOL_ENOENT, "there is no tool '%.*s'. Did you mean %.*s?",
				   MP_STR_ARGS(s->name), MP_STR_ARGS(mp_buf_get(&names)));
	else if (known == 0)
		mp_cli_complain_as(MCPOOL_ENOENT,
				   "there is no tool '%.*s', nor any other. `mcpool list` shows "
				   "the servers there are, `mcpool add` adds one.",
				   MP_STR_ARGS(s->name));
	else
		mp_cli_complain_as(MCPOOL_ENOENT,
				   "there is no tool '%.*s'. `mcpool tools` lists the %zu there "
				   "are.",
				   MP_STR_ARGS(s->name), known);
	return known == 0 && failed > 0 ? MP_EXIT_START : MP_EXIT_NOT_FOUND;
}

int mp_seek_complain(struct mp_seek *s)
{
	int r;

	mp_line_clear(mp_inproc_get_line(s->hub));
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
