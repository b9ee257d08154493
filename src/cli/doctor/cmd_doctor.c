/*
 * cmd_doctor.c - `mcpool doctor`: looks for what is wrong here, and says what to type.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "cli/doctor/doctor.h"
#include "cli/verbs/verbs.h"
#include "json/write.h"

static int run_doctor(const struct mp_verb *verb, int argc, char **argv);
static const char *const list_of_findings[] = {"findings", NULL};

const struct mp_verb mp_verb_doctor = {
	"doctor",
	"",
	"Look for what is wrong with servers and files here, and how to fix it.",
	"  --fix            fix what can be fixed without losing anything\n"
	"  --all            also say what is fine\n"
	"  --json           one JSON object instead of text for people\n",
	"Looks for tokens in plain text; --fix moves those in our own files to the secret store\n"
	"(see `mcpool help secret`). Old copies of a file keep them: replace such a token where\n"
	"others could read the file. Exit code 3: something is wrong and was not fixed.\n",
	run_doctor,
	list_of_findings,
	MP_VERB_PLAIN,
};

static const struct mp_check *const checks[] = {&mp_check_secrets};

int mp_doctor_add(struct mp_doctor *d, const struct mp_finding *f)
{
	struct mp_finding *to = &d->items[d->n];

	if (d->n == MP_ARRAY_LEN(d->items)) {
		d->more++;
		return 0;
	}
	*to = *f;
	to->subject = mp_arena_dup(&d->arena, mp_str_of(f->subject));
	to->text = mp_arena_dup(&d->arena, mp_str_of(f->text));
	to->fix = mp_arena_dup(&d->arena, mp_str_of(f->fix));
	if (!to->subject || !to->text || !to->fix)
		return mp_arena_get_error(&d->arena);
	d->n++;
	return 0;
}

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

static void doctor_print(const struct mp_doctor *d)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct mp_finding *f = &d->items[i];
		char line[4096];

		snprintf(line, sizeof(line), "%s: %s", f->subject, f->text);
		mp_cmd_print_safe("", line);
		mp_cmd_print_safe("    ", f->is_fixed ? "fixed" : f->fix);
	}
	if (d->more)
		printf("%zu more are not shown.\n", d->more);
}

static bool is_fine(const struct mp_doctor *d, const struct mp_check *check)
{
	for (size_t i = 0; i < d->n; i++)
		if (strcmp(d->items[i].check, check->name) == 0)
			return false;
	return true;
}

static void doctor_print_fine(const struct mp_doctor *d, bool all)
{
	size_t n = 0;

	for (size_t i = 0; i < MP_ARRAY_LEN(checks); i++) {
		if (!is_fine(d, checks[i]))
			continue;
		n++;
		if (all)
			printf("%s: %s\n", checks[i]->name, checks[i]->fine);
	}
	if (n && !all)
		printf("%zu %s fine (--all lists %s).\n", n, n > 1 ? "checks are" : "check is",
		       n > 1 ? "them" : "it");
}

static void doctor_print_json(const struct mp_doctor *d)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;

	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	mp_write_key(&w, MP_STR("findings"));
	mp_write_begin_array(&w);
	for (size_t i = 0; i < d->n; i++) {
		const struct mp_finding *f = &d->items[i];

		mp_write_begin_object(&w);
		mp_write_member_text(&w, "check", mp_str_of(f->check));
		mp_write_member_text(&w, "subject", mp_str_of(f->subject));
		mp_write_member_text(&w, "text", mp_str_of(f->text));
		mp_write_member_text(&w, "fix", mp_str_of(f->fix));
		mp_write_member_bool(&w, "fixed", f->is_fixed);
		mp_write_end_object(&w);
	}
	mp_write_end_array(&w);
	mp_write_member_i64(&w, "more", (int64_t)d->more);
	mp_write_end_object(&w);
	if (mp_write_finish(&w) == 0)
		mp_print_json(mp_buf_get(&text));
}

static bool is_well(const struct mp_doctor *d)
{
	for (size_t i = 0; i < d->n; i++)
		if (!d->items[i].is_fixed)
			return false;
	return d->more == 0;
}

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
		doctor_print_fine(d, args->all);
	}
	return is_well(d) ? MP_EXIT_DONE : MP_EXIT_CONFIG;
}

static int run_doctor(const struct mp_verb *verb, int argc, char **argv)
{
	MP_CLEANUP(mp_configured_done) struct mp_configured c = {0};
	static struct mp_doctor d; /* large */
	struct mp_cli_args args;
	int r = mp_cli_read_args(verb, argc, argv, 0, 0, &args);

	if (r)
		return r - 1;
	r = mp_configured_load_copies(&c, &args);
	if (r)
		return r;
	mp_configured_tell(&c, args.json);
	d = (struct mp_doctor){.c = &c};
	mp_arena_init(&d.arena, MP_LIMIT_ARENA);
	r = doctor_run(&d, &args);
	mp_arena_done(&d.arena);
	return mp_print_finish(r);
}
