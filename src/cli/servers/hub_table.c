/*
 * hub_table.c - a running hub as text: itself, its servers, its sessions.
 */
#include "cli/servers/hub_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "cli/display/safe.h"

/* Columns of the table of sessions. */
enum { CLIENT, PROJECT, SERVERS, RATE, CELLS };
enum { WIDEST_CLIENT = 32 };

/* --- servers --------------------------------------------------------------------------------- */

static enum mp_status_state table_get_state(void *u, size_t i)
{
	const struct mp_hub_status *h = u;

	return h->servers[i].state;
}

static void table_take(void *u, size_t i, struct mp_arena *arena, struct mp_status *ret)
{
	const struct mp_hub_status *h = u;

	(void)arena;
	*ret = h->servers[i];
}

struct mp_live_servers mp_hub_table_get_servers(struct mp_hub_status *h)
{
	return (struct mp_live_servers){
		.n = h->n, .get_state = table_get_state, .take = table_take, .u = h};
}

/* --- the hub --------------------------------------------------------------------------------- */

static int add_saved(struct mp_hub_status *h, mp_value hub, struct mp_buf *out)
{
	mp_value usage = mp_value_get(&h->tape, hub, "usage");
	mp_value saved = mp_value_get(&h->tape, usage, "saved");
	int64_t processes = mp_hub_status_get_number(h, saved, "processes");
	char memory[16];

	if (processes <= 0)
		return 0;
	mp_live_write_memory(mp_hub_status_get_number(h, saved, "memory"), memory);
	return mp_buf_addf(out, ", sharing saves %s (%lld process%s)", memory, (long long)processes,
			   processes == 1 ? "" : "es");
}

int mp_hub_table_add_figures(struct mp_hub_status *h, struct mp_buf *out)
{
	mp_value hub = mp_value_get(&h->tape, MP_ROOT, "hub");
	int64_t sessions = mp_hub_status_get_number(h, hub, "sessionCount");
	char age[16], rate[16];
	int r;

	mp_live_write_age(mp_hub_status_get_number(h, hub, "uptimeMs"), age);
	mp_live_write_rate(mp_hub_status_get_number(h, hub, "callsLastMinute"), rate);
	r = mp_buf_addf(out, "up %s, %lld session%s, %s calls/s", age, (long long)sessions,
			sessions == 1 ? "" : "s", rate);
	return r < 0 ? r : add_saved(h, hub, out);
}

static int add_hub(struct mp_hub_status *h, struct mp_buf *out)
{
	mp_value hub = mp_value_get(&h->tape, MP_ROOT, "hub");
	mp_value listening = mp_value_get(&h->tape, hub, "listening");
	struct mp_str http = mp_hub_status_get_text(h, listening, "http");
	int r = mp_buf_addf(out, "mcpool %.*s: the hub runs, as process %lld, ",
			    MP_STR_ARGS(mp_hub_status_get_text(h, hub, "version")),
			    (long long)mp_hub_status_get_number(h, hub, "pid"));

	if (r == 0)
		r = mp_hub_table_add_figures(h, out);
	if (r == 0 && http.len)
		r = mp_buf_addf(out, ", %.*s", MP_STR_ARGS(http));
	return r < 0 ? r : mp_buf_add_char(out, '\n');
}

/* --- sessions -------------------------------------------------------------------------------- */

struct session_row {
	char client[WIDEST_CLIENT * 4 + 4], project[1024], servers[24], rate[16];
};

/* One line, made safe and cut. */
static void cell_write(struct mp_str text, size_t columns, char *out, size_t size)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf safe;
	struct mp_str s;

	mp_buf_init(&safe, MP_MIB(1));
	out[0] = '\0';
	if (mp_safe_add(&safe, text, MP_SAFE_LINE) < 0)
		return;
	s = mp_buf_get(&safe);
	s.len = mp_safe_cut(s, columns);
	snprintf(out, size, "%.*s", MP_STR_ARGS(s));
}

static struct mp_str short_root(struct mp_str root)
{
	const char *home = getenv("HOME");
	size_t n = home ? strlen(home) : 0;

	if (n > 1 && root.len > n && memcmp(root.p, home, n) == 0 && root.p[n] == '/')
		return (struct mp_str){root.p + n + 1, root.len - n - 1};
	return root;
}

static void session_write(struct mp_hub_status *h, mp_value session, struct session_row *row)
{
	struct mp_str client = mp_hub_status_get_text(h, session, "client");
	struct mp_str root = short_root(mp_hub_status_get_text(h, session, "root"));

	cell_write(client.len ? client : MP_STR("(an agent)"), WIDEST_CLIENT, row->client,
		   sizeof(row->client));
	cell_write(root.len ? root : MP_STR("-"), 200, row->project, sizeof(row->project));
	snprintf(row->servers, sizeof(row->servers), "%lld",
		 (long long)mp_hub_status_get_number(h, session, "servers"));
	mp_live_write_rate(mp_hub_status_get_number(h, session, "callsLastMinute"), row->rate);
}

static size_t cell_width(const char *text)
{
	return mp_safe_get_width(mp_str_of(text));
}

static void widen(size_t *width, const char *text)
{
	if (cell_width(text) > *width)
		*width = cell_width(text);
}

static int row_add(const struct session_row *row, const size_t *widths, size_t columns,
		   struct mp_buf *out)
{
	size_t fixed = widths[CLIENT] + widths[SERVERS] + widths[RATE] + 7;
	size_t room = columns > fixed + 4 ? columns - fixed : 4, width = widths[PROJECT];
	struct mp_str project = mp_str_of(row->project);

	if (width > room)
		width = room;
	project.len = mp_safe_cut(project, width);
	return mp_buf_addf(out, "%s%*s  %.*s%*s  %*s  %*s\n", row->client,
			   (int)(widths[CLIENT] - cell_width(row->client)), "",
			   MP_STR_ARGS(project), (int)(width - mp_safe_get_width(project)), "",
			   (int)widths[SERVERS], row->servers, (int)widths[RATE], row->rate);
}

int mp_hub_table_add_sessions(struct mp_hub_status *h, const struct mp_live_room *room,
			      size_t first, size_t most, struct mp_buf *out)
{
	static const struct session_row title = {"SESSION", "PROJECT", "SERVERS", "CALLS/S"};
	mp_value sessions = mp_value_get(&h->tape, MP_ROOT, "sessions");
	size_t widths[CELLS] = {7, 7, 7, 7}, n = mp_value_count(&h->tape, sessions), done = 0;
	size_t skipped = 0;
	size_t columns = room->columns ? room->columns - 1 : 1000;
	struct session_row row;
	int r;

	if (n <= first || most < 2)
		return 0;
	MP_VALUE_EACH(&h->tape, sessions, session) {
		session_write(h, session, &row);
		widen(&widths[CLIENT], row.client);
		widen(&widths[PROJECT], row.project);
	}
	r = row_add(&title, widths, columns, out);
	n -= first;
	most -= n > most - 1 ? 2 : 1; /* a line counts the others */
	MP_VALUE_EACH(&h->tape, sessions, session) {
		if (r < 0 || done == most)
			break;
		if (skipped++ < first)
			continue;
		session_write(h, session, &row);
		r = row_add(&row, widths, columns, out);
		done++;
	}
	if (r == 0 && done < n)
		r = mp_buf_addf(out, "... and %zu more\n", n - done);
	return r;
}

/* --- all of it ------------------------------------------------------------------------------- */

struct mp_live_room mp_hub_table_get_room(bool is_limited)
{
	struct winsize size = {.ws_row = 24};
	struct timespec t;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_row == 0)
		size.ws_row = 24;
	clock_gettime(CLOCK_REALTIME, &t);
	return (struct mp_live_room){
		.columns = mp_print_get_columns(STDOUT_FILENO),
		.lines = is_limited ? size.ws_row : 0,
		.has_color = mp_print_has_color(),
		.wall_ms = (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000,
	};
}

static size_t count_lines(struct mp_str text)
{
	size_t n = 0;

	for (size_t i = 0; i < text.len; i++)
		n += text.p[i] == '\n';
	return n;
}

static int servers_add(struct mp_hub_status *h, const struct mp_live_room *room, struct mp_buf *out)
{
	struct mp_live_servers servers = mp_hub_table_get_servers(h);
	struct mp_live_room rest = *room;

	if (h->n == 0)
		return mp_hub_status_get_text(h, MP_ROOT, "problem").len
			       ? 0
			       : mp_buf_addf(out, "No servers are configured here. `mcpool add "
						  "NAME -- COMMAND...` adds one.\n");
	if (room->lines)
		rest.lines = room->lines > 6 ? room->lines - 3 : 3;
	return mp_live_table_draw(&servers, &rest, out);
}

int mp_hub_table_draw(struct mp_hub_status *h, const struct mp_live_room *room, struct mp_buf *out)
{
	mp_value sessions = mp_value_get(&h->tape, MP_ROOT, "sessions");
	size_t before = count_lines(mp_buf_get(out)), used, rest;
	int r = add_hub(h, out);

	if (r == 0)
		r = mp_buf_add_char(out, '\n');
	if (r == 0)
		r = servers_add(h, room, out);
	used = count_lines(mp_buf_get(out)) - before + 1;
	rest = room->lines == 0 ? SIZE_MAX : room->lines > used + 1 ? room->lines - used - 1 : 0;
	if (r < 0 || rest < 3 || mp_value_count(&h->tape, sessions) == 0)
		return r;
	r = mp_buf_add_char(out, '\n');
	return r < 0 ? r : mp_hub_table_add_sessions(h, room, 0, rest - 1, out);
}
