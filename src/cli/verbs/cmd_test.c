/*
 * cmd_test.c - `mcpool test`: starts configured servers and lists their tools. Servers that are not
 * approved are not started.
 */
#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/servers/configured.h"
#include "cli/servers/diagnosis.h"
#include "cli/servers/reach.h"
#include "cli/verbs/verbs.h"

/* Each start has its own timeout; without one, wait this long. */
#define LONGEST_WAIT_MS ((int64_t)3600 * 1000)

enum { MOST_NAMES = 8 }; /* in one sentence */

static int run_test(const struct mp_verb *verb, int argc, char **argv);

const struct mp_verb mp_verb_test = {
	"test",
	"NAME | --all",
	"Start a configured server, list its tools, stop it.",
	"  --all            every server that may run, all at the same time\n"
	"  --timeout TIME   give up when the server does not start or answer: 10s, 500ms, 2m\n"
	"  --era ERA        auto (find out), legacy (up to 2025-11-25) or modern (2026-07-28)\n"
	"  --json           one JSON object instead of text for people\n"
	"  --config FILE    also read this file, before all others; repeatable\n"
	"  --strict-config  read the files of --config alone\n",
	"Servers that need approval are not started; see `mcpool trust`. It always starts\n"
	"a copy of its own; a running hub and its servers are left alone.\n",
	run_test,
	NULL,
	MP_VERB_PLAIN,
};

/* --- a trial ---------------------------------------------------------------------------------- */

struct trial {
	struct mp_reach_trial base;
	struct trials *all;
	const char *server;
	struct mp_buf json;  /* its result */
	bool lacks_requests; /* roots, sampling, elicitation: other agents share it */
	int exit_code;
};

struct trials {
	const struct mp_cli_args *args;
	struct trial *list; /* in the order of the entries */
	size_t n, over;
};

static int64_t to_ms(int64_t us)
{
	return (us + 500) / 1000;
}

static void tell_success(const struct mp_status *s)
{
	int64_t start_us = s->prepare_us + s->spawn_us + s->handshake_us;

	printf("%s: works, %lld tool%s, %lld prompt%s, %lld resource%s (started in %lld ms: "
	       "prepare %lld, spawn %lld, handshake %lld; listed in %lld ms)\n",
	       s->name, (long long)s->tools, s->tools == 1 ? "" : "s", (long long)s->prompts,
	       s->prompts == 1 ? "" : "s", (long long)s->resources, s->resources == 1 ? "" : "s",
	       (long long)to_ms(start_us), (long long)to_ms(s->prepare_us),
	       (long long)to_ms(s->spawn_us), (long long)to_ms(s->handshake_us),
	       (long long)to_ms(s->list_us));
	fflush(stdout);
}

static void write_success(struct mp_writer *w, const struct mp_status *s)
{
	mp_write_member_i64(w, "tools", s->tools);
	mp_write_member_i64(w, "prompts", s->prompts);
	mp_write_member_i64(w, "resources", s->resources);
	mp_write_member_i64(w, "startMs", to_ms(s->prepare_us + s->spawn_us + s->handshake_us));
	mp_write_member_i64(w, "prepareMs", to_ms(s->prepare_us));
	mp_write_member_i64(w, "spawnMs", to_ms(s->spawn_us));
	mp_write_member_i64(w, "handshakeMs", to_ms(s->handshake_us));
	mp_write_member_i64(w, "listMs", to_ms(s->list_us));
	mp_write_key(w, MP_STR("withheld"));
	mp_write_begin_array(w);
	for (size_t i = 0; i < s->withheld.n; i++)
		mp_write_text(w, mp_str_of(s->withheld.items[i]));
	mp_write_end_array(w);
}

static int trial_write(struct trial *t, const struct mp_diagnosis *d)
{
	bool ok = d->exit_code == MP_EXIT_DONE;
	struct mp_writer w;

	mp_write_init(&w, &t->json, NULL);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "name", mp_str_of(d->status->name));
	mp_write_member_bool(&w, "ok", ok);
	if (ok)
		write_success(&w, d->status);
	else
		mp_write_member_text(&w, "error", mp_str_of(d->message));
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

static void trials_print_json(struct trials *all)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;

	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	mp_write_key(&w, MP_STR("servers"));
	mp_write_begin_array(&w);
	for (size_t i = 0; i < all->n; i++)
		mp_write_raw(&w, mp_buf_get(&all->list[i].json));
	mp_write_end_array(&w);
	mp_write_end_object(&w);
	if (mp_write_finish(&w) == 0)
		mp_print_json(mp_buf_get(&text));
}

/* Once, behind all of them. */
static void trials_tell_withheld(const struct trials *all)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf names;
	size_t n = 0, shown = 0;

	mp_buf_init(&names, MP_MIB(1));
	for (size_t i = 0; i < all->n; i++)
		n += all->list[i].lacks_requests;
	for (size_t i = 0; i < all->n && shown < MOST_NAMES; i++) {
		if (!all->list[i].lacks_requests)
			continue;
		if (mp_buf_addf(&names, "%s%s", shown++ ? ", " : "", all->list[i].server) < 0)
			return;
	}
	if (n > shown && mp_buf_addf(&names, " and %zu more", n - shown) < 0)
		return;
	if (n == 0)
		return;
	printf("\nNot offered to %.*s, because agents share %s: " MP_STATUS_WITHHELD
	       "; with \"mode\": \"session\" %s may have more tools\n",
	       MP_STR_ARGS(mp_buf_get(&names)), n == 1 ? "it" : "them", n == 1 ? "it" : "they");
}

/* The exit code of the first failure. */
static void trials_finish(struct trials *all, struct mp_reach *r)
{
	int exit_code = MP_EXIT_DONE;

	for (size_t i = all->n; i-- > 0;)
		if (all->list[i].exit_code != MP_EXIT_DONE)
			exit_code = all->list[i].exit_code;
	if (all->args->json)
		trials_print_json(all);
	else
		trials_tell_withheld(all);
	mp_reach_finish(r, exit_code);
}

/* Report each as soon as it is known. */
static void trial_over(struct mp_reach_trial *base, const struct mp_status *status)
{
	struct trial *t = mp_container_of(base, struct trial, base);
	struct trials *all = t->all;
	bool given = all->args->timeout_ms != 0;
	struct mp_diagnosis d;

	mp_diagnosis_read(status, LONGEST_WAIT_MS, &d);
	t->exit_code = d.exit_code;
	t->lacks_requests = d.exit_code == MP_EXIT_DONE && status->withheld.n;
	if (all->args->json) {
		if (trial_write(t, &d) < 0)
			mp_buf_clear(&t->json);
	} else {
		mp_progress_line_clear(mp_reach_get_line(base->reach));
		if (d.exit_code == MP_EXIT_DONE)
			tell_success(status);
		else
			mp_diagnosis_complain(&d, given ? "--timeout" : "\"timeout\"",
					      status->timeout_ms);
	}
	if (++all->over == all->n)
		trials_finish(all, base->reach);
}

static void cmd_test_begin(struct mp_reach *r, void *u)
{
	struct trials *all = u;

	for (size_t i = 0; i < all->n; i++)
		mp_reach_try(r, &all->list[i].base, all->list[i].server, LONGEST_WAIT_MS);
	if (all->n == 0)
		trials_finish(all, r);
}

/* Start all of these at once. */
static int try_servers(const struct mp_configured *c, const struct mp_entry *const *entries,
		       size_t n, const struct mp_cli_args *args)
{
	struct mp_reach_options options = {.c = c,
					   .args = args,
					   .entries = entries,
					   .n = n,
					   .is_alone = true,
					   .start_timeout_ms = args->timeout_ms};
	struct trials all = {.args = args, .n = n};
	int r;

	all.list = mp_alloc((n + 1) * sizeof(*all.list));
	for (size_t i = 0; i < n; i++) {
		all.list[i].base.fn = trial_over;
		all.list[i].all = &all;
		all.list[i].server = entries[i]->name;
		mp_buf_init(&all.list[i].json, MP_MIB(1));
	}
	r = mp_reach_run(&options, cmd_test_begin, &all);
	for (size_t i = 0; i < n; i++)
		mp_buf_done(&all.list[i].json);
	mp_free(all.list);
	return r;
}

int mp_cmd_try_server(const struct mp_configured *c, const struct mp_entry *e,
		      const struct mp_cli_args *args)
{
	int r = mp_configured_refuse_state(c, e);

	return r ? r : try_servers(c, &e, 1, args);
}

/* --- the verb --------------------------------------------------------------------------------- */

/* Try those that may run; the others are listed and do not count as failures. */
static int try_all(const struct mp_configured *c, const struct mp_cli_args *args)
{
	const struct mp_entry **ready = mp_alloc((c->set->n + 1) * sizeof(void *));
	size_t n = 0;
	int r;

	for (size_t i = 0; i < c->set->n; i++) {
		const struct mp_entry *e = c->set->entries[i];
		enum mp_status_state state = mp_config_get_state(c->set, e, MP_TOGGLE_NONE);

		if (state == MP_STATUS_READY)
			ready[n++] = e;
		else if (state != MP_STATUS_SHADOWED)
			mp_cli_complain("%s: %s, not tried", e->name,
					mp_status_state_get_name(state));
	}
	if (n == 0)
		fprintf(stderr, "There is no server to test. `mcpool list` shows what there is, "
				"`mcpool add` adds one.\n");
	r = try_servers(c, ready, n, args);
	mp_free(ready);
	return r;
}

static int run_test(const struct mp_verb *verb, int argc, char **argv)
{
	MP_CLEANUP(mp_configured_done) struct mp_configured c = {0};
	struct mp_cli_args args;
	const struct mp_entry *e;
	int r = mp_cli_read_args(verb, argc, argv, 0, 1, &args);

	if (r)
		return r - 1;
	if (args.all == (args.n_words == 1)) {
		mp_cli_complain("say which: `mcpool test NAME` or `mcpool test --all`");
		return MP_EXIT_USAGE;
	}
	r = mp_configured_load_all(&c, &args);
	if (r)
		return r;
	if (args.all)
		return try_all(&c, &args);
	e = mp_configured_find(&c, args.words[0]);
	return e ? mp_cmd_try_server(&c, e, &args) : MP_EXIT_NOT_FOUND;
}
