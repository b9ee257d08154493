/*
 * overview.c - `mcpool` without a verb: what runs, what waits, and the next useful command.
 */
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/shell.h"
#include "cli/display/safe.h"
#include "cli/servers/health_text.h"
#include "cli/servers/hub_client.h"
#include "cli/servers/hub_table.h"
#include "cli/verbs/verbs.h"

enum { MOST_NEEDS = 8 };

struct overview {
	struct mp_hub_status *h;
	struct mp_hub_status needs; /* more about those that need the user */
	struct mp_live_room room;
	struct mp_buf *out;
};

static void overview_done(struct overview *o)
{
	mp_hub_status_done(&o->needs);
}

/* --- what needs the user --------------------------------------------------------------------- */

/* One that is being tried again at this moment has failed before. */
static bool is_failing(const struct mp_status *s)
{
	return s->state == MP_STATUS_FAILED || (s->state == MP_STATUS_PENDING && s->error[0]);
}

static bool needs_user(const struct mp_status *s)
{
	return is_failing(s) || s->state == MP_STATUS_NEEDS_APPROVAL ||
	       s->state == MP_STATUS_NEEDS_AUTH;
}

static int add_reason(const struct mp_status *s, const struct mp_live_room *room,
		      struct mp_buf *out)
{
	if (s->state == MP_STATUS_NEEDS_APPROVAL)
		return mp_buf_addf(out, "%s in %s:%lld",
				   s->is_changed ? "changed since you approved it,"
						 : "not approved yet,",
				   s->source.file, (long long)s->source.line);
	if (s->state == MP_STATUS_NEEDS_AUTH)
		return mp_buf_addf(out, "waits for a login");
	return mp_live_add_note(s, room->wall_ms, out);
}

/* Why it failed and what to type, where the hub knows; "". */
static void get_cause(struct overview *o, const struct mp_status *s, struct mp_cause *ret)
{
	const struct mp_status *more = mp_hub_status_find(&o->needs, s->name);

	mp_health_get_cause(more ? more->health : MP_STR(""), &o->needs.arena, ret);
}

/* "failing for 2m: ", before the cause, which a narrow screen may cut. */
static int add_age(struct overview *o, const struct mp_status *s, struct mp_buf *out)
{
	const struct mp_status *more = mp_hub_status_find(&o->needs, s->name);
	int64_t since = more ? mp_health_get_failing_since(more->health) : -1;
	char age[16];

	if (since < 0)
		return 0;
	mp_live_write_age(o->room.wall_ms > since ? o->room.wall_ms - since : 0, age);
	return mp_buf_addf(out, "failing for %s: ", age);
}

/* The cause is what the user can change; the error stays where there is none. */
static int add_failure(struct overview *o, const struct mp_status *s, const struct mp_cause *cause,
		       struct mp_buf *out)
{
	struct mp_status shown = *s;
	int r;

	if (!is_failing(s) || !cause->what[0])
		return add_reason(s, &o->room, out);
	shown.error = cause->what;
	shown.state = MP_STATUS_FAILED;
	if (s->state == MP_STATUS_PENDING)
		shown.next_at_ms = -1;
	r = add_age(o, s, out);
	if (r == 0)
		r = add_reason(&shown, &o->room, out);
	if (r == 0 && s->state == MP_STATUS_PENDING)
		r = mp_buf_addf(out, "; being tried again now");
	return r;
}

static int add_verb(const struct mp_status *s, struct mp_buf *out)
{
	const char *verb = s->state == MP_STATUS_NEEDS_APPROVAL ? "trust"
			   : s->state == MP_STATUS_NEEDS_AUTH   ? "login"
								: "status";

	return mp_buf_addf(out, "mcpool %s %s", verb, MP_SHELL_NAME(s->name));
}

static int add_command(const struct mp_status *s, const struct mp_cause *cause, struct mp_buf *out)
{
	if (is_failing(s) && cause->fix[0])
		return mp_buf_addf(out, "%s", cause->fix);
	return add_verb(s, out);
}

/* One line, made safe and cut to the room. */
static int line_add(struct overview *o, struct mp_buf *text)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf safe;
	struct mp_str mark = mp_safe_get_cut_mark(), line;
	size_t room = o->room.columns ? o->room.columns - 1 : SIZE_MAX;
	int r;

	mp_buf_init(&safe, MP_MIB(1));
	r = mp_safe_add(&safe, mp_buf_get(text), MP_SAFE_TEXT);
	if (r < 0)
		return r;
	line = mp_buf_get(&safe);
	if (mp_safe_get_width(line) <= room)
		return mp_buf_addf(o->out, "%.*s\n", MP_STR_ARGS(line));
	line.len = mp_safe_cut(line, room - mp_safe_get_width(mark));
	return mp_buf_addf(o->out, "%.*s%.*s\n", MP_STR_ARGS(line), MP_STR_ARGS(mark));
}

static int need_add(struct overview *o, const struct mp_status *s, size_t width)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	size_t own = mp_safe_get_width(mp_str_of(s->name));
	int pad = own < width ? (int)(width - own) : 0, r;
	struct mp_cause cause;

	get_cause(o, s, &cause);
	mp_buf_init(&text, MP_KIB(256));
	r = mp_buf_addf(&text, "  %s %s%*s  ", mp_live_get_shape(s), s->name, pad, "");
	if (r == 0)
		r = add_failure(o, s, &cause, &text);
	if (r == 0)
		r = line_add(o, &text);
	mp_buf_clear(&text);
	if (r == 0)
		r = mp_buf_addf(&text, "    %*s  ", (int)width, "");
	if (r == 0)
		r = add_command(s, &cause, &text);
	return r < 0 ? r : line_add(o, &text);
}

static size_t get_width(const struct mp_hub_status *h)
{
	size_t width = 0, n = 0;

	for (size_t i = 0; i < h->n && n < MOST_NEEDS; i++) {
		size_t own = mp_safe_get_width(mp_str_of(h->servers[i].name));

		if (!needs_user(&h->servers[i]))
			continue;
		n++;
		if (own > width && own <= 24)
			width = own;
	}
	return width;
}

static int needs_add(struct overview *o)
{
	size_t n = 0, width = get_width(o->h);
	int r = 0;

	for (size_t i = 0; i < o->h->n && r == 0; i++) {
		if (!needs_user(&o->h->servers[i]))
			continue;
		if (n == 0)
			r = mp_buf_add_str(o->out, MP_STR("Needs you\n"));
		if (r == 0 && n < MOST_NEEDS)
			r = need_add(o, &o->h->servers[i], width);
		n++;
	}
	if (r == 0 && n > MOST_NEEDS)
		r = mp_buf_addf(o->out, "  ... and %zu more: mcpool status\n", n - MOST_NEEDS);
	if (r == 0 && n == 0)
		r = mp_buf_add_str(o->out, MP_STR("Nothing needs you.\n"));
	return r;
}

/* --- the screen ------------------------------------------------------------------------------ */

static int overview_add(struct overview *o)
{
	struct mp_live_servers servers = mp_hub_table_get_servers(o->h);
	mp_value hub = mp_value_get(&o->h->tape, MP_ROOT, "hub");
	int r = mp_buf_addf(o->out, "mcpool %.*s: the hub runs, ",
			    MP_STR_ARGS(mp_hub_status_get_text(o->h, hub, "version")));

	if (r == 0)
		r = mp_hub_table_add_figures(o->h, o->out);
	if (r == 0)
		r = mp_buf_add_str(o->out, MP_STR("\n\n"));
	if (r == 0 && servers.n == 0)
		return mp_buf_add_str(o->out,
				      MP_STR("No servers are configured here.\n\n"
					     "  mcpool add NAME -- COMMAND...   adds one\n"
					     "  mcpool import                   copies those of "
					     "other tools\n"));
	if (r == 0)
		r = needs_add(o);
	if (r == 0)
		r = mp_buf_add_str(o->out, MP_STR("\n  "));
	if (r == 0)
		r = mp_live_add_counts(&servers, o->out);
	return r < 0 ? r
		     : mp_buf_add_str(o->out, MP_STR("\n\nmcpool status, top, tools, calls   "
						     "`mcpool help` lists all verbs\n"));
}

/* An older hub, or one that ends, leaves the causes out. */
static void take_needs(struct overview *o, struct mp_hub_client *c)
{
	const char *names[MOST_NEEDS];
	struct mcpool_error why;
	size_t n = 0;

	for (size_t i = 0; i < o->h->n && n < MOST_NEEDS; i++)
		if (needs_user(&o->h->servers[i]))
			names[n++] = o->h->servers[i].name;
	if (n == 0 || mp_hub_status_take_some(&o->needs, c, names, n, &why) < 0)
		o->needs.n = 0;
}

static int overview_print(struct mp_hub_status *h, struct mp_hub_client *c)
{
	MP_CLEANUP(overview_done) struct overview o = {.h = h};
	MP_CLEANUP(mp_buf_done) struct mp_buf text;

	mp_buf_init(&text, MP_MIB(4));
	mp_hub_status_init(&o.needs);
	o.room = mp_hub_table_get_room(false);
	o.out = &text;
	take_needs(&o, c);
	if (overview_add(&o) < 0)
		mp_cli_complain("too large to show; `mcpool status NAME` shows one server");
	else
		fwrite(text.data, 1, text.len, stdout);
	return mp_print_finish(mp_hub_status_tell_problem(h));
}

int mp_overview_show(void)
{
	MP_CLEANUP(mp_hub_client_freep) struct mp_hub_client *c = NULL;
	MP_CLEANUP(mp_hub_status_done) struct mp_hub_status h = {0};
	struct mcpool_error why;
	int r;

	mp_hub_status_init(&h);
	r = mp_hub_client_open(&c, &why);
	if (r == 0)
		r = mp_hub_status_take(&h, c, &why);
	if (r == 0)
		return overview_print(&h, c);
	mp_hub_status_tell_silence(&why);
	return -1;
}
