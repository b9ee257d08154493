/*
 * status.c - what a running hub has to tell of itself, as JSON.
 */
#include "face/status.h"

#include "base/limits.h"
#include "hub/workspaces.h"
#include "pool/status.h"
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

void mp_status_write_servers(struct mp_writer *w, struct mp_workspace *workspace)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	const char *problem = mp_workspace_get_problem(workspace);

	mp_arena_init(&arena, MP_LIMIT_ARENA);
	mp_write_key(w, MP_STR("problem"));
	if (problem)
		mp_write_text(w, mp_str_of(problem));
	else
		mp_write_null(w);
	mp_write_key(w, MP_STR("servers"));
	mp_write_begin_array(w);
	for (size_t i = 0; i < mp_workspace_count(workspace); i++) {
		struct mp_status s;

		mp_arena_reset(&arena);
		mp_status_take(workspace, i, 0, &arena, &s);
		mp_status_write(w, &s, MP_STATUS_HUB);
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
