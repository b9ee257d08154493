/*
 * cmd_doctor.c - `mcpool doctor`: looks for what is wrong here, and says what to type.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "cli/display/safe.h"
#include "cli/doctor/doctor.h"
#include "cli/doctor/examination.h"
#include "cli/servers/health_text.h"
#include "cli/verbs/verbs.h"
#include "json/write.h"

static int run_doctor(const struct mp_verb *verb, int argc, char **argv);
static const char *const list_of_findings[] = {"findings", NULL};

const struct mp_verb mp_verb_doctor = {
	"doctor",
	"[NAME]",
	"Look for what is wrong with servers, agents and the hub here, and how to fix it.",
	"  --fix            fix what can be fixed without losing anything\n"
	"  --all            also say what is fine\n"
	"  --json           one JSON object instead of text for people\n",
	"With NAME only that server: what is wrong with it, the limits and the restart schedule "
	"in\n"
	"force, what its probes found, and its last changes. No server is started; only addresses\n"
	"of approved servers are dialled. --fix removes what a dead hub left behind, makes\n"
	"mcpool's own files unreadable to others, and moves plain-text tokens in them to the\n"
	"secret store (see `mcpool help secret`). Copies of such a file still hold the token: if\n"
	"others could read it, get a new one. Files and processes of other tools are never\n"
	"changed. Exit code 3: something is wrong and was not fixed.\n",
	run_doctor,
	list_of_findings,
	MP_VERB_PLAIN,
};

/* The more special come first: a server that one explains is left out by mp_check_servers. */
static const struct mp_check *const checks[] = {
	&mp_check_config,     &mp_check_hub,         &mp_check_leftovers, &mp_check_path,
	&mp_check_commands,   &mp_check_runtimes,    &mp_check_variables, &mp_check_servers,
	&mp_check_remote,     &mp_check_clock,       &mp_check_port,      &mp_check_agents,
	&mp_check_duplicates, &mp_check_permissions, &mp_check_secrets,
};

/* --- findings -------------------------------------------------------------------------------- */

static void doctor_fix(struct mp_doctor *d, const struct mp_check *check)
{
	for (size_t i = 0; i < d->n; i++) {
		struct mp_finding *f = &d->items[i];
		struct mcpool_error why;

		if (!f->is_safe || strcmp(f->check, check->name) != 0)
			continue;
		if (check->fix(d, f, &why) == 0)
			f->is_fixed = true;
		else
			mp_cli_complain("%s could not be fixed: %s", f->subject, why.message);
	}
}

static bool is_fine(const struct mp_doctor *d, const struct mp_check *check)
{
	for (size_t i = 0; i < d->n; i++)
		if (strcmp(d->items[i].check, check->name) == 0)
			return false;
	return true;
}

static bool is_well(const struct mp_doctor *d)
{
	for (size_t i = 0; i < d->n; i++)
		if (!d->items[i].is_fixed)
			return false;
	return d->more == 0;
}

/* --- for people ------------------------------------------------------------------------------ */

static const char *get_shape(const struct mp_finding *f)
{
	bool has_utf8 = mp_safe_has_utf8();

	if (f->is_fixed)
		return has_utf8 ? "\xe2\x97\x8f" : "*";
	if (f->severity == MP_FINDING_ERROR)
		return has_utf8 ? "\xe2\x96\xb2" : "!";
	return has_utf8 ? "\xe2\x97\x86" : "?";
}

static void doctor_print(const struct mp_doctor *d)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct mp_finding *f = &d->items[i];
		char line[4096], shape[8];

		snprintf(shape, sizeof(shape), "%s ", get_shape(f));
		snprintf(line, sizeof(line), "%s: %s", f->subject, f->text);
		mp_cmd_print_safe(shape, line);
		mp_cmd_print_safe("    ", f->is_fixed ? "fixed" : f->fix);
	}
	if (d->more)
		printf("%zu more are not shown.\n", d->more);
}

static void doctor_print_fine(const struct mp_doctor *d, bool all)
{
	const char *shape = mp_safe_has_utf8() ? "\xe2\x97\x8f" : "*";
	size_t n = 0;

	for (size_t i = 0; i < MP_ARRAY_LEN(checks); i++) {
		if (!is_fine(d, checks[i]))
			continue;
		n++;
		if (all)
			printf("%s %s: %s\n", shape, checks[i]->name, checks[i]->fine);
	}
	if (n && !all)
		printf("%s %zu %s fine (--all lists %s)\n", shape, n,
		       n > 1 ? "checks are" : "check is", n > 1 ? "them" : "it");
}

/* What the hub knows of the one server that is asked for. */
static void doctor_print_server(const struct mp_doctor *d)
{
	const struct mp_status *s = mp_doctor_get_status(d, d->only);

	if (!s)
		return;
	putchar('\n');
	mp_hub_status_print_line("state", mp_str_of(mp_status_state_get_name(s->state)));
	mp_hub_status_print_line("error", mp_str_of(s->error));
	mp_hub_status_print_life(s);
	mp_hub_status_print_line("environment", mp_str_of(s->environment));
	mp_health_print(s->health, mp_hub_status_print_line);
}

/* --- JSON ------------------------------------------------------------------------------------ */

static void finding_write(struct mp_writer *w, const struct mp_finding *f)
{
	mp_write_begin_object(w);
	mp_write_member_text(w, "check", mp_str_of(f->check));
	mp_write_member_text(w, "severity",
			     mp_str_of(f->severity == MP_FINDING_ERROR ? "error" : "warning"));
	mp_write_key(w, MP_STR("server"));
	if (f->server)
		mp_write_text(w, mp_str_of(f->server));
	else
		mp_write_null(w);
	mp_write_member_text(w, "subject", mp_str_of(f->subject));
	mp_write_member_text(w, "text", mp_str_of(f->text));
	mp_write_member_text(w, "fix", mp_str_of(f->fix));
	mp_write_member_bool(w, "fixed", f->is_fixed);
	mp_write_end_object(w);
}

static void doctor_print_json(const struct mp_doctor *d)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	const struct mp_status *s = d->only ? mp_doctor_get_status(d, d->only) : NULL;
	struct mp_writer w;

	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	mp_write_key(&w, MP_STR("findings"));
	mp_write_begin_array(&w);
	for (size_t i = 0; i < d->n; i++)
		finding_write(&w, &d->items[i]);
	mp_write_end_array(&w);
	mp_write_member_i64(&w, "more", (int64_t)d->more);
	if (s) {
		mp_write_key(&w, MP_STR("status"));
		mp_status_write(&w, s, MP_STATUS_ONE);
	}
	mp_write_end_object(&w);
	if (mp_write_finish(&w) == 0)
		mp_print_json(mp_buf_get(&text));
}

/* --- the verb -------------------------------------------------------------------------------- */

static int doctor_run(struct mp_doctor *d, const struct mp_cli_args *args)
{
	int r = 0;

	for (size_t i = 0; i < MP_ARRAY_LEN(checks) && r == 0; i++) {
		r = checks[i]->find(d);
		if (r == 0 && args->fix && checks[i]->fix)
			doctor_fix(d, checks[i]);
	}
	if (r < 0) {
		mp_cli_complain_as(r, "%s", mcpool_error_text(r));
		return MP_EXIT_CONFIG;
	}
	if (args->json) {
		doctor_print_json(d);
	} else {
		doctor_print(d);
		if (d->only)
			doctor_print_server(d);
		else
			doctor_print_fine(d, args->all);
	}
	return is_well(d) ? MP_EXIT_DONE : MP_EXIT_CONFIG;
}

static int run_doctor(const struct mp_verb *verb, int argc, char **argv)
{
	MP_CLEANUP(mp_configured_done) struct mp_configured c = {0};
	static struct mp_doctor d; /* large */
	struct mp_cli_args args;
	int r = mp_cli_read_args(verb, argc, argv, 0, 1, &args);

	if (r)
		return r - 1;
	r = mp_configured_load_copies(&c, &args);
	if (r)
		return r;
	if (args.n_words && !mp_configured_find(&c, args.words[0]))
		return MP_EXIT_NOT_FOUND;
	mp_doctor_init(&d, &c, args.n_words ? args.words[0] : NULL);
	r = doctor_run(&d, &args);
	mp_doctor_done(&d);
	return mp_print_finish(r);
}
