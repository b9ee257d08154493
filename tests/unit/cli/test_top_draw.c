/*
 * test_top_draw.c - pictures of `top`: they fit at every size and on every page, whatever servers
 * say.
 */
#include "test.h"

#include <stdio.h>

#include "base/error.h"
#include "cli/console/top_draw.h"
#include "cli/display/safe.h"

struct stage {
	struct mp_top_hub hub;
	struct mp_top_model model;
	struct mp_top_view view;
	struct mp_buf text;
	size_t marked;
};

static void stage_done(struct stage *s)
{
	mp_buf_done(&s->text);
	mp_top_model_done(&s->model);
	mp_top_hub_done(&s->hub);
}

/* Names, errors and stderr are hostile. */
static bool stage_open(struct stage *s, size_t servers)
{
	MP_CLEANUP(mp_hub_status_done) struct mp_hub_status next = {.n = 0};
	struct mcpool_error why;
	int r;

	mp_top_hub_init(&s->hub);
	mp_top_model_init(&s->model);
	mp_buf_init(&s->text, MP_MIB(4));
	s->view = (struct mp_top_view){.model = &s->model, .hub = &s->hub};
	s->view.log = MP_STR("2026-11-18T21:52:07.504Z one\nt\033[31mwo\n\n\xff\xfe\nfour\n");
	mp_hub_status_init(&next);
	r = mp_buf_addf(&next.text,
			"{\"hub\":{\"version\":\"0.1\",\"uptimeMs\":5000,\"sessionCount\":2},"
			"\"sessions\":[{\"client\":\"Cla\\u001bude\",\"root\":\"/a\\nb\"},{}],"
			"\"servers\":[");
	for (size_t i = 0; i < servers && r == 0; i++)
		r = mp_buf_addf(
			&next.text,
			"%s{\"name\":\"s%zu\\u001b[2J\\u202e\xe6\x97\xa5\",\"state\":\"%s\","
			"\"error\":\"%s\",\"calls\":5,\"callsLastMinute\":5,\"history\":[0,1,5]}",
			i ? "," : "", i, i % 2 ? "failed" : "connected",
			i % 2 ? "not\\n\\u001b]0;x\\u0007 there, and this is a long sentence "
				"about it that needs more than one line on most screens"
			      : "");
	if (r == 0)
		r = mp_buf_addf(&next.text, "]}");
	if (r == 0)
		r = mp_hub_status_read(&next, &why);
	if (r == 0)
		mp_top_model_take(&s->model, &next);
	return r == 0;
}

static bool stage_draw(struct stage *s, size_t columns, size_t lines)
{
	s->view.room = (struct mp_live_room){
		.columns = columns, .lines = lines, .has_color = true, .wall_ms = 1000};
	mp_buf_clear(&s->text);
	return mp_top_draw(&s->view, &s->text, &s->marked) == 0 && mp_buf_terminate(&s->text) == 0;
}

/* Without our colours; an escape sequence of a server would stay. */
static size_t get_width(struct mp_str line)
{
	char plain[4096];
	size_t n = 0;

	for (size_t i = 0; i < line.len && n < sizeof(plain); i++) {
		if (line.p[i] == '\033' && i + 2 < line.len && line.p[i + 1] == '[') {
			while (i < line.len && line.p[i] != 'm')
				i++;
			continue;
		}
		plain[n++] = line.p[i];
	}
	return mp_safe_get_width((struct mp_str){plain, n});
}

static bool is_fitting(const struct stage *s)
{
	size_t n = 0;

	for (const char *at = s->text.data; *at; n++) {
		size_t len = strcspn(at, "\n");

		if (get_width((struct mp_str){at, len}) > s->view.room.columns) {
			fprintf(stderr, "page %d, %zu columns: %.*s\n", (int)s->view.page,
				s->view.room.columns, (int)len, at);
			return false;
		}
		at += len + (at[len] ? 1 : 0);
	}
	return n <= s->view.room.lines && !strstr(s->text.data, "\033[2J") &&
	       !strstr(s->text.data, "\033]") && !strchr(s->text.data, '\a');
}

#define STAGE(s, servers)                      \
	MP_CLEANUP(stage_done) struct stage s; \
	memset(&s, 0, sizeof(s));              \
	CHECK(stage_open(&s, servers))

HEAVY_TEST(a_picture_fits_at_every_size)
{
	static const size_t columns[] = {60, 61, 80, 81, 120, 200, 400};
	STAGE(s, 30);

	for (int selected = 0; selected < 2; selected++) {
		for (size_t i = 0; i < MP_ARRAY_LEN(columns); i++)
			for (size_t lines = 15; lines < 70; lines += 3)
				for (int page = MP_TOP_TABLE; page <= MP_TOP_HELP; page++) {
					memset(s.view.widths, 0, sizeof(s.view.widths));
					s.view.page = (enum mp_top_page)page;
					s.view.scroll = 7;
					CHECK(stage_draw(&s, columns[i], lines));
					CHECK(is_fitting(&s));
				}
		mp_top_model_move(&s.model, 12);
		s.view.bottom = "Restart it? y/n";
	}
}

TEST(a_small_terminal_is_told_so)
{
	STAGE(s, 1);

	CHECK(stage_draw(&s, 59, 24));
	CHECK(strstr(s.text.data, "top needs 60 x 15"));
	CHECK(stage_draw(&s, 60, 14));
	CHECK(strstr(s.text.data, "top needs 60 x 15"));
	CHECK(stage_draw(&s, 60, 15));
	CHECK(!strstr(s.text.data, "top needs"));
}

TEST(the_selected_row_is_marked)
{
	STAGE(s, 1000);

	CHECK(stage_draw(&s, 80, 24));
	CHECK_EQ(s.marked, SIZE_MAX);
	CHECK(strstr(s.text.data, "1-20 of 1000"));
	mp_top_model_move(&s.model, 1);
	CHECK(stage_draw(&s, 80, 24));
	CHECK_EQ(s.marked, 3);
	CHECK(strstr(s.text.data, "15 min"));
	mp_top_model_move(&s.model, 5000);
	CHECK(stage_draw(&s, 80, 24));
	CHECK_EQ(s.marked, 13);
	CHECK(strstr(s.text.data, "990-1000 of 1000"));
	s.hub.lost_ms = mp_top_now_ms() - 5000;
	CHECK(stage_draw(&s, 80, 24));
	CHECK(strstr(s.text.data, "no hub for 5s"));
}
