/*
 * top_draw.c - one picture of `top`: two lines about the hub, the page, a line of keys.
 */
#include "cli/console/top_draw.h"

#include <string.h>

#include "base/limits.h"
#include "cli/console/top_panel.h"
#include "cli/display/safe.h"
#include "cli/servers/hub_table.h"

enum { HEAD = 2, FOOT = 1, SILENCE_MS = 3000 };

/* --- room ------------------------------------------------------------------------------------ */

static size_t get_body(const struct mp_top_view *v)
{
	return v->room.lines - HEAD - FOOT;
}

/* Below the table, while a server is selected. */
static size_t get_panel(const struct mp_top_view *v)
{
	size_t lines = v->room.lines * 3 / 8;

	if (!v->model->selected[0])
		return 0;
	return lines > 16 ? 16 : lines;
}

size_t mp_top_view_get_rows(const struct mp_top_view *v)
{
	size_t body = v->room.lines > HEAD + FOOT ? get_body(v) : 0, panel = get_panel(v);

	return body > panel + 1 ? body - panel - 1 : 1; /* the title */
}

/* --- the head -------------------------------------------------------------------------------- */

static void draw_hub(struct mp_top_frame *f)
{
	const struct mp_top_hub *hub = f->view->hub;
	struct mp_hub_status *h = &f->view->model->status;
	mp_value about = mp_value_get(&h->tape, MP_ROOT, "hub");
	int64_t silent_ms = hub->is_asked ? mp_top_now_ms() - hub->asked_ms : 0;
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	int r;

	mp_buf_init(&text, MP_KIB(16));
	if (silent_ms > SILENCE_MS) {
		mp_top_frame_addf(f, "\033[31m", "mcpool: the hub has not answered for %lld s",
				  (long long)(silent_ms / 1000));
		return;
	}
	r = mp_buf_addf(&text,
			"mcpool %.*s: ", MP_STR_ARGS(mp_hub_status_get_text(h, about, "version")));
	if (r == 0)
		r = mp_hub_table_add_figures(h, &text);
	mp_top_frame_take(f, r);
	mp_top_frame_add(f, "\033[1m", mp_buf_get(&text));
}

static int add_order(const struct mp_top_model *m, size_t rows, struct mp_buf *out)
{
	int r = mp_buf_addf(out, "   by %s", mp_top_sort_get_name(m->sort));

	if (r == 0 && m->filter[0])
		r = mp_buf_addf(out, "   filter: %s", m->filter);
	if (r == 0 && m->n > rows)
		r = mp_buf_addf(out, "   %zu-%zu of %zu", m->first + 1,
				m->first + rows < m->n ? m->first + rows : m->n, m->n);
	return r;
}

static void draw_counts(struct mp_top_frame *f)
{
	struct mp_top_model *m = f->view->model;
	struct mp_live_servers all = mp_hub_table_get_servers(&m->status);
	size_t rows = mp_top_view_get_rows(f->view);
	struct mp_str problem = mp_hub_status_get_text(&m->status, MP_ROOT, "problem");
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	int r;

	mp_buf_init(&text, MP_KIB(16));
	(void)mp_top_model_get_rows(m, rows); /* scrolls to the selected one */
	if (problem.len) {                    /* of a file: what is shown is older than that */
		mp_top_frame_add(f, "\033[31m", problem);
		return;
	}
	r = mp_live_add_counts(&all, &text);
	if (r == 0 && f->view->page == MP_TOP_TABLE)
		r = add_order(m, rows, &text);
	mp_top_frame_take(f, r);
	mp_top_frame_add(f, "", mp_buf_get(&text));
}

/* --- pages ----------------------------------------------------------------------------------- */

static void draw_nothing(struct mp_top_frame *f)
{
	const struct mp_top_model *m = f->view->model;

	mp_top_frame_add(f, "", MP_STR(""));
	if (m->filter[0])
		mp_top_frame_addf(f, "",
				  "No server has \"%s\" in its name or state. f and Esc show "
				  "all.",
				  m->filter);
	else
		mp_top_frame_add(f, "",
				 MP_STR("No servers are configured here. `mcpool add NAME -- "
					"COMMAND...` adds one."));
}

static void draw_table(struct mp_top_frame *f, size_t *ret_marked)
{
	struct mp_top_view *v = f->view;
	size_t rows = mp_top_view_get_rows(v), at = mp_top_model_find_selected(v->model);
	struct mp_live_servers servers = mp_top_model_get_rows(v->model, rows);
	struct mp_live_room room = v->room;

	room.lines = rows + 1;
	room.widths = v->widths;
	if (servers.n == 0)
		draw_nothing(f);
	else
		mp_top_frame_take(f, mp_live_table_draw(&servers, &room, f->out));
	if (servers.n && at != SIZE_MAX)
		*ret_marked = HEAD + 1 + at - v->model->first;
	mp_top_frame_fill(f, HEAD + rows + 1);
	if (at != SIZE_MAX)
		mp_top_panel_draw(f, get_panel(v));
}

static void draw_sessions(struct mp_top_frame *f)
{
	struct mp_top_view *v = f->view;
	mp_value sessions = mp_value_get(&v->model->status.tape, MP_ROOT, "sessions");
	size_t n = mp_value_count(&v->model->status.tape, sessions), body = get_body(v);

	if (v->scroll + body > n + 1)
		v->scroll = n + 1 > body ? n + 1 - body : 0;
	if (n == 0)
		mp_top_frame_add(f, "",
				 MP_STR("No agent is connected. `mcpool connect` lists agents "
					"and how to connect them."));
	else
		mp_top_frame_take(f, mp_hub_table_add_sessions(&v->model->status, &v->room,
							       v->scroll, body, f->out));
}

static void draw_help(struct mp_top_frame *f)
{
	static const char *const lines[] = {
		"",
		"  j k, arrows, PgUp PgDn, Home End   select a server; meanwhile rows do not move",
		"  Enter   all about it               Esc   back; nothing selected",
		"  l       its log (stderr)           c     its last calls",
		"  r       restart it                 d     switch it off or on, in the hub alone",
		"  a       approve it, as `mcpool trust NAME` does",
		"  s       sort by calls, latency (p99), memory, CPU, name",
		"  f       show only names and states with these characters",
		"  Tab     sessions                   q     quit",
		"",
		"MEMORY and CPU are those of all processes of a server; 100% is one processor.",
		"CALLS/S is that of the last minute. Tools in ( ) are those of the last time.",
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(lines); i++)
		mp_top_frame_add(f, "", mp_str_of(lines[i]));
}

static void draw_page(struct mp_top_frame *f, size_t *ret_marked)
{
	switch (f->view->page) {
	case MP_TOP_TABLE:
		draw_table(f, ret_marked);
		break;
	case MP_TOP_DETAILS:
		mp_top_details_draw(f, get_body(f->view));
		break;
	case MP_TOP_LOG:
		mp_top_log_draw(f, get_body(f->view));
		break;
	case MP_TOP_CALLS_PAGE:
		mp_top_calls_draw(f, get_body(f->view));
		break;
	case MP_TOP_SESSIONS:
		draw_sessions(f);
		break;
	case MP_TOP_HELP:
		draw_help(f);
		break;
	}
}

/* --- the foot -------------------------------------------------------------------------------- */

struct key {
	const char *text;
	unsigned pages; /* bits */
	int rank;       /* the highest is left out first */
};

#define ON(page) (1U << (page))
enum {
	TABLE = ON(MP_TOP_TABLE),
	ONE = ON(MP_TOP_DETAILS) | ON(MP_TOP_LOG) | ON(MP_TOP_CALLS_PAGE),
	REST = ON(MP_TOP_SESSIONS) | ON(MP_TOP_HELP),
};

/* On the table those about a server are shown while one is selected. */
static const struct key keys[] = {
	{"j k select", TABLE, 3},
	{"Enter details", TABLE, 3},
	{"Esc back", ONE | REST, 0},
	{"l log", TABLE | ONE, 2},
	{"c calls", TABLE | ONE, 2},
	{"r restart", TABLE | ONE, 1},
	{"d disable", TABLE | ONE, 1},
	{"a approve", TABLE | ONE, 0},
	{"s sort", TABLE, 5},
	{"f filter", TABLE, 4},
	{"Tab sessions", TABLE, 6},
	{"? help", TABLE | ONE, 0},
	{"q quit", TABLE | ONE | REST, 0},
};

static bool is_about_one(const struct key *k)
{
	return strchr("Elcrda", k->text[0]) && strncmp(k->text, "Esc", 3) != 0;
}

static const char *key_get_text(const struct key *k, const struct mp_top_view *v)
{
	const struct mp_status *s = mp_top_model_get_selected(v->model);

	if (!(k->pages & ON(v->page)))
		return NULL;
	if (is_about_one(k) && !s)
		return NULL;
	if (k->text[0] == 'j' && s)
		return NULL;
	if (k->text[0] == 'a' && s->state != MP_STATUS_NEEDS_APPROVAL)
		return NULL;
	if (k->text[0] == 'd' && s->state == MP_STATUS_DISABLED)
		return "d enable";
	return k->text;
}

static int keys_add(const struct mp_top_view *v, int most_rank, struct mp_buf *out)
{
	int r = 0;

	mp_buf_clear(out);
	for (size_t i = 0; i < MP_ARRAY_LEN(keys) && r == 0; i++) {
		const char *text = key_get_text(&keys[i], v);

		if (text && keys[i].rank <= most_rank)
			r = mp_buf_addf(out, "%s%s", out->len ? "  " : "", text);
	}
	return r;
}

static void draw_foot(struct mp_top_frame *f)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	int rank = 9, r;

	mp_buf_init(&text, MP_KIB(4));
	if (f->view->bottom) {
		mp_top_frame_add(f, "\033[1m", mp_str_of(f->view->bottom));
		return;
	}
	do
		r = keys_add(f->view, rank, &text);
	while (r == 0 && text.len >= f->view->room.columns && rank-- > 0);
	mp_top_frame_take(f, r);
	mp_top_frame_add(f, "", mp_buf_get(&text));
}

/* What was known of its servers does not hold any more. */
static void draw_lost(struct mp_top_frame *f)
{
	const struct mp_top_hub *hub = f->view->hub;
	char age[16];

	mp_live_write_age(mp_top_now_ms() - hub->lost_ms, age);
	mp_top_frame_addf(f, "\033[31m", "mcpool: no hub for %s%s%s", age,
			  hub->why.code == MCPOOL_ENOENT || hub->why.code == MCPOOL_ECLOSED ? ""
											    : ": ",
			  hub->why.code == MCPOOL_ENOENT || hub->why.code == MCPOOL_ECLOSED
				  ? ""
				  : hub->why.message);
	mp_top_frame_add(f, "",
			 MP_STR("The hub has ended. This goes on when one runs; `mcpool up` "
				"starts one."));
	mp_top_frame_fill(f, f->view->room.lines - FOOT);
	mp_top_frame_add(f, "", MP_STR("q quit"));
}

/* --- all of it ------------------------------------------------------------------------------- */

static int draw_too_small(const struct mp_top_view *v, struct mp_buf *out)
{
	return mp_buf_addf(
		out,
		"This terminal is %zu x %zu.\ntop needs %d x %d.\nq quits; `mcpool\nstatus` "
		"needs less.",
		v->room.columns, v->room.lines, MP_TOP_LEAST_COLUMNS, MP_TOP_LEAST_LINES);
}

int mp_top_draw(struct mp_top_view *v, struct mp_buf *out, size_t *ret_marked)
{
	struct mp_top_frame f = {.view = v, .out = out};

	*ret_marked = SIZE_MAX;
	if (v->room.columns < MP_TOP_LEAST_COLUMNS || v->room.lines < MP_TOP_LEAST_LINES)
		return draw_too_small(v, out);
	if (v->hub->lost_ms) {
		draw_lost(&f);
		return f.error;
	}
	draw_hub(&f);
	draw_counts(&f);
	draw_page(&f, ret_marked);
	mp_top_frame_fill(&f, v->room.lines - FOOT);
	draw_foot(&f);
	return f.error;
}
