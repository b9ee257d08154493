/*
 * cmd_test.c - `mcpool test`: does a configured server start, and what does it offer? What is not
 * approved is not touched.
 */
#include "base/mem.h"
#include "cli/configured.h"
#include "cli/trial.h"
#include "cli/verbs.h"

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
	"Servers that need approval are not started; see `mcpool trust`.\n",
	run_test,
	NULL,
	MP_VERB_PLAIN,
};

int mp_cmd_refuse_state(const struct mp_configured *c, const struct mp_entry *e)
{
	char why[1024];

	mp_configured_explain(c, e, why, sizeof(why));
	switch (mp_config_get_state(c->set, e, MP_TOGGLE_NONE)) {
	case MP_ENTRY_READY:
		return MP_EXIT_DONE;
	case MP_ENTRY_DISABLED:
		mp_cli_complain_as(MCPOOL_EDISABLED,
				   "Server \"%s\" is disabled. Run `mcpool enable %s` first.",
				   e->name, e->name);
		return MP_EXIT_CONFIG;
	case MP_ENTRY_NEEDS_APPROVAL:
		mp_cli_complain("Server \"%s\" needs your approval (%s)", e->name, why);
		return MP_EXIT_NEEDS_APPROVAL;
	case MP_ENTRY_FAILED:
	case MP_ENTRY_SHADOWED:
		break;
	}
	mp_cli_complain("%s", why);
	return MP_EXIT_CONFIG;
}

int mp_cmd_try_server(const struct mp_configured *c, const struct mp_entry *e,
		      const struct mp_cli_args *args)
{
	int r = mp_cmd_refuse_state(c, e);

	return r ? r : mp_trial_run(c, &e, 1, args);
}

/* Those that may run; the others are named, and are no failure. */
static int try_all(const struct mp_configured *c, const struct mp_cli_args *args)
{
	const struct mp_entry **ready = mp_alloc((c->set->n + 1) * sizeof(void *));
	size_t n = 0;
	int r;

	for (size_t i = 0; i < c->set->n; i++) {
		const struct mp_entry *e = c->set->entries[i];
		enum mp_entry_state state = mp_config_get_state(c->set, e, MP_TOGGLE_NONE);

		if (state == MP_ENTRY_READY && e->kind == MP_KIND_STDIO)
			ready[n++] = e;
		else if (state == MP_ENTRY_READY)
			mp_cli_complain("%s: %s, not tried: this version starts stdio servers only",
					e->name, mp_kind_get_name(e->kind));
		else if (state != MP_ENTRY_SHADOWED)
			mp_cli_complain("%s: %s, not tried", e->name,
					mp_entry_state_get_name(state));
	}
	r = mp_trial_run(c, ready, n, args);
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
