/*
 * hub_table.h - a running hub as text: itself, its servers, its sessions.
 */
#ifndef MP_HUB_TABLE_H
#define MP_HUB_TABLE_H

#include "cli/display/live_table.h"
#include "cli/servers/hub_status.h"

struct mp_live_servers mp_hub_table_get_servers(struct mp_hub_status *h);
/* "up 6d, 8 sessions, 42.6 calls/s, sharing saves 3.3 GiB (35 processes)" */
int mp_hub_table_add_figures(struct mp_hub_status *h, struct mp_buf *out) MP_MUST;
/* A title and the sessions behind the first ones, at most so many lines, two at least. */
int mp_hub_table_add_sessions(struct mp_hub_status *h, const struct mp_live_room *room,
			      size_t first, size_t most, struct mp_buf *out) MP_MUST;
/* All of it. Where lines are limited, sessions that do not fit are left out first. */
int mp_hub_table_draw(struct mp_hub_status *h, const struct mp_live_room *room,
		      struct mp_buf *out) MP_MUST;
/* The room on stdout: of a terminal, or without limits. */
struct mp_live_room mp_hub_table_get_room(bool is_limited);

#endif
