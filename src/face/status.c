/*
 * status.c - what a running hub has to tell of itself, as JSON.
 */
#include "face/status.h"

#include "base/limits.h"
#include "base/redact.h"
#include "face/roster.h"
#include "hub/workspaces.h"
#include "session/lobby.h"
#include "session/session.h"

static void write_number_or_null(struct mp_writer *w, const char *key, int64_t value, bool known)
{
	mp_write_key(w, mp_str_of(key));
	if (known)
		mp_write_i64(w, value);
	else
		mp_write_null(w);
}

/* --- the hub --------------------------------------------------------------------------------- */

void mp_status_write_hub(struct mp_writer *w, struct mp_hub *hub)
{
	mp_write_member_i64(w, "uptimeMs", mp_loop_now_ms(hub->loop) - hub->began_ms);
	mp_write_member_i64(w, "views", (int64_t)mp_workspaces_count(hub->workspaces));
	mp_write_member_i64(w, "sessionCount", (int64_t)mp_lobby_count(hub->lobby));
	mp_write_member_i64(w, "serverCount", (int64_t)mp_pool_count_instances(hub->pool));
	if (mp_workspaces_get_problem(hub->workspaces))
		mp_write_member_text(w, "problem",
				     mp_str_of(mp_workspaces_get_problem(hub->workspaces)));
}

/* --- servers --------------------------------------------------------------------------------- */

static void write_error(struct mp_writer *w, const struct mp_status *s)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_str words = mp_str_get_last_line(s->tail);
	int r;

	mp_buf_init(&text, MP_KIB(512));
	mp_write_key(w, MP_STR("error"));
	r = mp_redact(mp_str_of(s->error), false, &text);
	if (r == 0 && s->error[0] && words.len) {
		r = mp_buf_add_str(&text, MP_STR(" ("));
		if (r == 0)
			r = mp_redact(words, false, &text);
		if (r == 0)
			r = mp_buf_add_char(&text, ')');
	}
	if (r < 0 || text.len == 0)
		mp_write_null(w);
	else
		mp_write_text(w, mp_buf_get(&text));
}

static void write_source(struct mp_writer *w, const struct mp_origin *o)
{
	mp_write_key(w, MP_STR("source"));
	mp_write_begin_object(w);
	mp_write_member_text(w, "file", mp_str_of(o->file));
	mp_write_member_i64(w, "line", o->line);
	mp_write_member_text(w, "tool", mp_str_of(o->tool));
	mp_write_member_text(w, "level", mp_str_of(mp_config_level_get_name(o->level)));
	mp_write_end_object(w);
}

static void write_life(struct mp_writer *w, const struct mp_status *s)
{
	bool runs = s->state == MP_STATUS_CONNECTED;

	write_number_or_null(w, "pid", s->pid, s->pid > 0);
	write_number_or_null(w, "uptimeMs", s->uptime_ms, runs);
	write_number_or_null(w, "restarts", (int64_t)s->restarts, s->instance != 0);
	write_number_or_null(w, "attempt", s->attempt, s->state == MP_STATUS_PENDING);
	write_number_or_null(w, "calls", s->stats ? (int64_t)s->stats->calls : 0, s->instance != 0);
	write_number_or_null(w, "p50us", s->stats ? mp_stats_get_latency_us(s->stats, 500) : 0,
			     s->stats != NULL);
	write_number_or_null(w, "p99us", s->stats ? mp_stats_get_latency_us(s->stats, 990) : 0,
			     s->stats != NULL);
	mp_write_member_i64(w, "waiting", (int64_t)(s->waiting + s->lined));
	mp_write_member_i64(w, "open", (int64_t)s->out);
}

static void write_server(struct mp_writer *w, const struct mp_status *s)
{
	mp_write_begin_object(w);
	mp_write_member_text(w, "name", mp_str_of(s->entry->name));
	mp_write_member_text(w, "state", mp_str_of(mp_status_state_get_name(s->state)));
	mp_write_member_text(w, "detail", mp_str_of(s->detail));
	write_error(w, s);
	write_number_or_null(w, "nextAt", s->next_at_ms, s->next_at_ms != 0);
	mp_write_member_text(w, "transport", mp_str_of(mp_kind_get_name(s->entry->kind)));
	mp_write_member_text(w, "mode", mp_str_of(mp_modes[s->entry->tuning.mode]));
	mp_write_key(w, MP_STR("withheld"));
	mp_write_raw(w, s->withholds ? MP_STR(MP_WITHHELD_JSON) : MP_STR("[]"));
	write_source(w, &s->entry->origin);
	mp_write_member_bool(w, "shadowed", false); /* those are not in the workspace */
	write_number_or_null(w, "tools", s->tools, s->tools >= 0);
	write_number_or_null(w, "seenAt", s->seen_ms, s->seen_ms != 0);
	write_life(w, s);
	mp_write_member_text(w, "environment", mp_str_of(s->environment));
	mp_write_end_object(w);
}

void mp_status_write_servers(struct mp_writer *w, struct mp_workspace *workspace)
{
	const char *problem = mp_workspace_get_problem(workspace);

	mp_write_key(w, MP_STR("problem"));
	if (problem)
		mp_write_text(w, mp_str_of(problem));
	else
		mp_write_null(w);
	mp_write_key(w, MP_STR("servers"));
	mp_write_begin_array(w);
	for (size_t i = 0; i < mp_workspace_count(workspace); i++) {
		struct mp_status s;

		mp_workspace_get_status(workspace, i, 0, &s);
		write_server(w, &s);
	}
	mp_write_end_array(w);
}

/* --- sessions -------------------------------------------------------------------------------- */

static void write_session(void *u, const struct mp_session_info *s)
{
	struct mp_writer *w = u;

	mp_write_begin_object(w);
	mp_write_key(w, MP_STR("id"));
	mp_write_u64(w, s->id);
	mp_write_member_text(w, "way", mp_str_of(s->way));
	mp_write_member_text(w, "principal", mp_str_of(s->principal));
	write_number_or_null(w, "pid", s->pid, s->pid > 0);
	mp_write_member_text(w, "client", mp_str_of(s->client));
	mp_write_member_text(w, "clientVersion", mp_str_of(s->client_version));
	mp_write_member_text(w, "protocol", mp_str_of(s->protocol));
	mp_write_member_text(w, "root", mp_str_of(s->root));
	mp_write_member_i64(w, "since", s->since_ms);
	mp_write_member_i64(w, "last", s->last_ms);
	mp_write_member_i64(w, "open", (int64_t)s->open);
	mp_write_key(w, MP_STR("received"));
	mp_write_u64(w, s->received);
	mp_write_key(w, MP_STR("answered"));
	mp_write_u64(w, s->answered);
	mp_write_end_object(w);
}

void mp_status_write_sessions(struct mp_writer *w, struct mp_hub *hub)
{
	mp_write_key(w, MP_STR("sessions"));
	mp_write_begin_array(w);
	mp_lobby_walk(hub->lobby, write_session, w);
	mp_write_end_array(w);
}

/* --- events ---------------------------------------------------------------------------------- */

void mp_status_write_event(struct mp_writer *w, struct mp_hub *hub, const struct mp_event *e,
			   uint64_t missed)
{
	const char *name = mp_pool_get_name(hub->pool, e->id);

	mp_write_begin_object(w);
	mp_write_key(w, MP_STR("number"));
	mp_write_u64(w, e->number);
	mp_write_member_i64(w, "time", e->wall_ms);
	mp_write_key(w, MP_STR("server"));
	if (name)
		mp_write_text(w, mp_str_of(name));
	else
		mp_write_null(w);
	mp_write_key(w, MP_STR("instance"));
	mp_write_u64(w, e->id);
	mp_write_member_text(w, "what", mp_str_of(e->what));
	mp_write_member_text(w, "text", mp_str_of(e->text));
	if (missed) {
		mp_write_key(w, MP_STR("missed"));
		mp_write_u64(w, missed);
	}
	mp_write_end_object(w);
}
