/*
 * check_servers.c - servers that the running hub cannot start or reach, those that end again and
 * again, and files of servers that cannot be read.
 */
#include <stdlib.h>

#include "base/limits.h"
#include "cli/doctor/command_line.h"
#include "cli/doctor/examination.h"
#include "cli/doctor/port_process.h"
#include "cli/servers/health_text.h"

enum { LOOP_RESTARTS = 3 };

/* --- configuration --------------------------------------------------------------------------- */

static int config_find(struct mp_doctor *d)
{
	const struct mp_config_set *set = d->c->set;
	int r = 0;

	for (size_t i = 0; i < set->n_problems && r == 0; i++) {
		const struct mp_problem *p = &set->problems[i];
		struct mp_finding f = {
			.check = mp_check_config.name,
			.severity = p->severity == MP_ERROR ? MP_FINDING_ERROR : MP_FINDING_WARNING,
			.server = p->server[0] ? p->server : NULL,
			.subject = p->server[0] ? p->server : p->file,
		};

		r = mp_doctor_tell(d, &f, "mcpool config check", "%s (%s:%u)", p->message, p->file,
				   p->line);
	}
	return r;
}

const struct mp_check mp_check_config = {
	"config",
	"all files of servers can be read",
	config_find,
	NULL,
};

/* --- what the hub says ----------------------------------------------------------------------- */

/* "; attempt 4 in 14 s" */
static int next_add(const struct mp_status *s, struct mp_buf *out)
{
	int64_t left_ms = s->next_at_ms - mp_configured_now();

	if (s->next_at_ms <= 0 || s->state != MP_STATUS_FAILED)
		return 0;
	return mp_buf_addf(out, "; tried again in %lld s",
			   left_ms > 0 ? (long long)(left_ms + 999) / 1000 : 0LL);
}

/* A variable that a person has in the terminal is often missing where the hub was started. */
static const char *get_shell_note(const struct mp_cause *cause)
{
	return cause->variable && getenv(cause->variable) ? " (it is set in this shell)" : "";
}

/* ": process 123, server.js" */
static int owner_add(const struct mp_cause *cause, struct mp_buf *out)
{
	char room[MP_COMMAND_LINE];
	struct mp_str program;
	int64_t port;
	pid_t pid;

	if (!cause->port || mp_str_to_i64(mp_str_of(cause->port), &port) < 0 || port > UINT16_MAX)
		return 0;
	pid = mp_port_process_find((uint16_t)port);
	if (pid <= 0)
		return 0;
	program = mp_command_line_get_program(mp_command_line_read(pid, room));
	return mp_buf_addf(out, ": process %ld, %.*s", (long)pid, MP_STR_ARGS(program));
}

static int trouble_tell(struct mp_doctor *d, const struct mp_status *s)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_finding f = {.check = mp_check_servers.name, .server = s->name};
	struct mp_cause cause;
	const char *fix = mp_doctor_get_command(d, "test", s->name);
	int r;

	mp_buf_init(&text, MP_KIB(64));
	mp_health_get_cause(s->health, &d->arena, &cause);
	r = mp_buf_addf(&text, "%s%s", cause.what[0] ? cause.what : s->error,
			get_shell_note(&cause));
	if (r == 0)
		r = owner_add(&cause, &text);
	if (r == 0)
		r = next_add(s, &text);
	if (r == 0)
		r = mp_buf_terminate(&text);
	return r < 0 ? r : mp_doctor_tell(d, &f, cause.fix[0] ? cause.fix : fix, "%s", text.data);
}

/* It works at this moment. */
static int loop_tell(struct mp_doctor *d, const struct mp_status *s)
{
	struct mp_finding f = {
		.check = mp_check_servers.name, .severity = MP_FINDING_WARNING, .server = s->name};

	return mp_doctor_tell(d, &f, mp_doctor_get_command(d, "doctor", s->name),
			      "it was restarted %lld times since the hub runs",
			      (long long)s->restarts);
}

/* One that is being tried again at this moment has failed before. */
static bool is_in_trouble(const struct mp_status *s)
{
	return s->state == MP_STATUS_FAILED || s->state == MP_STATUS_NEEDS_AUTH ||
	       (s->state == MP_STATUS_PENDING && s->error[0]);
}

static int servers_find(struct mp_doctor *d)
{
	int r = 0;

	for (size_t i = 0; i < d->sick.n && r == 0; i++) {
		const struct mp_status *s = &d->sick.servers[i];
		bool is_failed = is_in_trouble(s);

		if (is_failed && !mp_doctor_knows(d, s->name))
			r = trouble_tell(d, s);
		else if (!is_failed && s->restarts >= LOOP_RESTARTS)
			r = loop_tell(d, s);
	}
	return r;
}

const struct mp_check mp_check_servers = {
	"servers",
	"the hub has no server that fails or ends again and again",
	servers_find,
	NULL,
};
