/*
 * examination.c - what checks work on, and the findings that they make.
 */
#include "cli/doctor/examination.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/shell.h"
#include "cli/servers/hub_client.h"
#include "pool/cause.h"

enum { LOOP_RESTARTS = 3, MOST_SICK = 256 };

/* --- what the hub says ----------------------------------------------------------------------- */

/* All is asked about those that do not work, and those that were restarted often. */
static bool is_sick(const struct mp_doctor *d, const struct mp_status *s)
{
	if (d->only)
		return strcmp(d->only, s->name) == 0;
	return s->state == MP_STATUS_FAILED || s->state == MP_STATUS_PENDING ||
	       s->state == MP_STATUS_NEEDS_AUTH || s->restarts >= LOOP_RESTARTS;
}

static void doctor_ask(struct mp_doctor *d, struct mp_hub_client *c)
{
	const char *names[MOST_SICK];
	struct mcpool_error why;
	size_t n = 0;

	if (mp_hub_status_take(&d->hub, c, &why) < 0)
		d->hub.n = 0;
	for (size_t i = 0; i < d->hub.n && n < MOST_SICK; i++)
		if (is_sick(d, &d->hub.servers[i]))
			names[n++] = d->hub.servers[i].name;
	if (n && mp_hub_status_take_some(&d->sick, c, names, n, &why) < 0)
		d->sick.n = 0;
}

static void doctor_look_at_hub(struct mp_doctor *d)
{
	struct mp_hub_client *c = NULL;
	struct mcpool_error why;
	mp_value hub;

	d->has_place = mp_hub_place_find(&d->place, &why) == 0;
	d->hub_path = "";
	if (mp_hub_client_open(&c, &why) < 0) {
		if (why.code != MCPOOL_ENOENT)
			d->hub_why = why;
		return;
	}
	doctor_ask(d, c);
	mp_hub_client_free(c);
	hub = mp_value_get(&d->hub.tape, MP_ROOT, "hub");
	if (hub != MP_NONE) {
		struct mp_str path = mp_hub_status_get_text(&d->hub, hub, "path");
		const char *kept = mp_arena_dup(&d->arena, path);

		d->hub_path = kept ? kept : "";
	}
}

void mp_doctor_init(struct mp_doctor *d, struct mp_configured *c, const char *only)
{
	*d = (struct mp_doctor){.c = c, .only = only};
	mp_arena_init(&d->arena, MP_LIMIT_ARENA);
	mp_hub_status_init(&d->hub);
	mp_hub_status_init(&d->sick);
	doctor_look_at_hub(d);
}

void mp_doctor_done(struct mp_doctor *d)
{
	mp_hub_status_done(&d->sick);
	mp_hub_status_done(&d->hub);
	mp_arena_done(&d->arena);
}

const struct mp_status *mp_doctor_get_status(const struct mp_doctor *d, const char *server)
{
	const struct mp_status *s = mp_hub_status_find(&d->sick, server);

	return s ? s : mp_hub_status_find(&d->hub, server);
}

/* --- findings -------------------------------------------------------------------------------- */

bool mp_doctor_is_about(const struct mp_doctor *d, const struct mp_entry *e)
{
	if (d->only && strcmp(d->only, e->name) != 0)
		return false;
	return mp_config_get_state(d->c->set, e, MP_TOGGLE_NONE) == MP_STATUS_READY;
}

bool mp_doctor_knows(const struct mp_doctor *d, const char *server)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->items[i].server && d->items[i].severity == MP_FINDING_ERROR &&
		    strcmp(d->items[i].server, server) == 0)
			return true;
	return false;
}

static const char *doctor_keep(struct mp_doctor *d, const char *text)
{
	return text ? mp_arena_dup(&d->arena, mp_str_of(text)) : NULL;
}

int mp_doctor_add(struct mp_doctor *d, const struct mp_finding *f)
{
	struct mp_finding *to = &d->items[d->n];

	if (d->only && (!f->server || strcmp(d->only, f->server) != 0))
		return 0;
	if (d->n == MP_ARRAY_LEN(d->items)) {
		d->more++;
		return 0;
	}
	*to = *f;
	to->server = doctor_keep(d, f->server);
	to->subject = doctor_keep(d, f->subject ? f->subject : f->server);
	to->text = doctor_keep(d, f->text);
	to->fix = doctor_keep(d, f->fix);
	if (!to->subject || !to->text || !to->fix)
		return mp_arena_get_error(&d->arena);
	d->n++;
	return 0;
}

int mp_doctor_tell(struct mp_doctor *d, const struct mp_finding *f, const char *fix,
		   const char *format, ...)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_finding copy = *f;
	va_list args;
	int r;

	mp_buf_init(&text, MP_KIB(64));
	va_start(args, format);
	r = mp_buf_addv(&text, format, args);
	va_end(args);
	if (r == 0)
		r = mp_buf_terminate(&text);
	if (r < 0)
		return r;
	copy.text = text.data;
	copy.fix = fix;
	return mp_doctor_add(d, &copy);
}

/* --- entries --------------------------------------------------------------------------------- */

extern char **environ;

int mp_doctor_resolve(const struct mp_doctor *d, const struct mp_entry *e, struct mp_resolved *ret,
		      struct mcpool_error *reterr)
{
	struct mp_resolve_request req = {
		.set = d->c->set, .entry = e, .env = environ, .only_key = true};

	return mp_resolve(&req, ret, reterr);
}

const char *mp_doctor_get_command(struct mp_doctor *d, const char *verb, const char *server)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	int r;

	mp_buf_init(&text, MP_KIB(4));
	r = mp_buf_addf(&text, "mcpool %s ", verb);
	if (r == 0)
		r = mp_shell_add_word(&text, mp_str_of(server));
	return r < 0 ? NULL : mp_arena_dup(&d->arena, mp_buf_get(&text));
}

int mp_doctor_tell_error(struct mp_doctor *d, const char *check, const struct mp_entry *e,
			 const char *message, const char *fix)
{
	struct mp_finding f = {.check = check, .server = e->name};
	struct mp_symptoms s = {
		.server = e->name,
		.is_ours = e->origin.quirks & MP_QUIRK_OWN,
		.message = message,
		.tail = "",
	};
	struct mp_cause cause;

	if (mp_cause_find(&s, &d->arena, &cause))
		return mp_doctor_tell(d, &f, fix ? fix : cause.fix, "%s", cause.what);
	return mp_doctor_tell(d, &f, fix ? fix : mp_doctor_get_command(d, "test", e->name), "%s",
			      message);
}
