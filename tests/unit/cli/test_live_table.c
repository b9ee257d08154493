/* test_live_table.c - the table of all servers: its cells, its room, and what it never shows. */
#include "test.h"

#include <locale.h>
#include <stdio.h>

#include "fleet.h"

#include "base/error.h"
#include "cli/display/live_table.h"
#include "cli/display/safe.h"

#define DOTS "\xe2\x80\xa2\xe2\x80\xa2\xe2\x80\xa2"

struct desk {
	struct fleet f;
	struct mp_buf text;
};

static void desk_done(struct desk *d)
{
	mp_buf_done(&d->text);
	fleet_done(&d->f);
}

static bool desk_open(struct desk *d, const char *json)
{
	setlocale(LC_CTYPE, "C.UTF-8"); /* as main() does */
	mp_buf_init(&d->text, MP_MIB(1));
	REQUIRE(fleet_init(&d->f));
	return fleet_open(&d->f, json);
}

#define WITH_DESK(d, json)                         \
	MP_CLEANUP(desk_done) struct desk d = {0}; \
	CHECK(desk_open(&(d), (json)))

static enum mp_status_state get_state(void *u, size_t i)
{
	return mp_workspace_get_state(u, i, 0);
}

static void take(void *u, size_t i, struct mp_arena *arena, struct mp_status *ret)
{
	mp_status_take(u, i, 0, arena, ret);
}

static struct mp_live_servers get_servers(struct desk *d)
{
	return (struct mp_live_servers){.n = mp_workspace_count(d->f.workspace),
					.get_state = get_state,
					.take = take,
					.u = d->f.workspace};
}

static bool draw(struct desk *d, size_t columns, size_t lines)
{
	struct mp_live_room room = {columns, lines, false, mp_loop_wall_now_ms(d->f.loop), NULL};
	struct mp_live_servers servers = get_servers(d);

	mp_buf_clear(&d->text);
	return mp_live_table_draw(&servers, &room, &d->text) == 0 &&
	       mp_buf_terminate(&d->text) == 0;
}

static bool has(const struct desk *d, const char *words)
{
	bool found = strstr(d->text.data, words) != NULL;

	if (!found)
		fprintf(stderr, "no '%s' in:\n%s", words, d->text.data);
	return found;
}

static size_t count_lines(const struct desk *d)
{
	size_t n = 0;

	for (const char *at = d->text.data; (at = strchr(at, '\n')); at++)
		n++;
	return n;
}

TEST(numbers_for_people)
{
	static const struct {
		int64_t value;
		const char *latency, *age;
	} rows[] = {
		{-1, "-", "-"},
		{0, "0us", "0s"},
		{999, "999us", "0s"},
		{1000, "1.0ms", "1s"},
		{59999, "59ms", "59s"},
		{60000, "60ms", "1m"},
		{3599999, "3.6s", "59m"},
		{3660000, "3.7s", "1h01m"},
		{90000000, "90.0s", "1d"},
		{INT64_MAX, "2147.5s", "99999d"},
	};
	char text[16];

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		mp_live_write_latency(rows[i].value, text);
		CHECK_TEXT(text, rows[i].latency);
		mp_live_write_age(rows[i].value, text);
		CHECK_TEXT(text, rows[i].age);
	}
}

/* What each state shows: the attempt, the next try, why. */
TEST(a_row_for_each_state)
{
	struct mp_live_servers servers;
	struct fleet_result r;

	WITH_DESK(d, "{\"mcpServers\":{\"up\":{\"command\":\"a\"},\"down\":{\"command\":\"b\"},"
		     "\"mute\":{\"command\":\"c\"},\"off\":{\"command\":\"d\",\"enabled\":false},"
		     "\"idle\":{\"command\":\"e\"}}}");
	fleet_get(&d.f, "down")->dies_at_once = true;
	fleet_get(&d.f, "mute")->mute = true;
	CHECK(fleet_start(&d.f, "up"));
	CHECK(fleet_start(&d.f, "down"));
	CHECK(fleet_start(&d.f, "mute"));
	fleet_advance(&d.f, 1500);
	CHECK(fleet_call(&d.f, "up", 1, 0, &r));
	fleet_settle(&d.f);
	CHECK(draw(&d, 150, 30));
	CHECK(has(&d, "SERVER  STATE        TOOLS  UPTIME  RESTARTS  MEMORY  CALLS/S  P50  P99  "
		      "QUEUE\n"));
	CHECK(has(&d, "\nup      ● connected      1      1s         0       -     0.02  0us  0us"));
	CHECK(has(&d, "\ndown    ▲ failed         -  handshake: "));
	CHECK(has(&d, "\nmute    ◔ pending        -  starting\n"));
	CHECK(has(&d, "\noff     – disabled "));
	CHECK(has(&d, "\nidle    ○ ready          -  starts when it is called\n"));
	CHECK_EQ(count_lines(&d), 6);
	mp_buf_clear(&d.text);
	servers = get_servers(&d);
	CHECK_EQ(mp_live_add_counts(&servers, &d.text), 0);
	CHECK(has(&d, "1 connected, 1 pending, 1 failed, 1 ready, 1 disabled"));
}

/* With little room figures are left out, the least needed first, and servers in trouble come first.
 */
TEST(a_table_fits_its_room)
{
	static const struct {
		size_t columns;
		const char *title;
	} widths[] = {
		{80, "SERVER  STATE        TOOLS  UPTIME  RESTARTS  MEMORY  CALLS/S  P50  P99  "
		     "QUEUE\n"},
		{79, "SERVER  STATE        TOOLS  UPTIME  RESTARTS  CALLS/S  P50  P99  QUEUE\n"},
		{70, "SERVER  STATE        TOOLS  UPTIME  CALLS/S  P50  P99  QUEUE\n"},
		{60, "SERVER  STATE        TOOLS  CALLS/S  P50  P99  QUEUE\n"},
		{50, "SERVER  STATE        TOOLS  CALLS/S  P50  P99\n"},
		{30, "SERVER  STATE        TOOLS\n"},
	};

	WITH_DESK(d,
		  "{\"mcpServers\":{\"a\":{\"command\":\"a\"},\"b\":{\"command\":\"b\"},"
		  "\"c\":{\"command\":\"c\"},\"d\":{\"command\":\"d\"},\"e\":{\"command\":\"e\"},"
		  "\"f\":{\"command\":\"f\"}}}");
	fleet_get(&d.f, "f")->prepare_code = MCPOOL_ENOENT;
	for (int i = 0; i < 6; i++)
		CHECK(fleet_start(&d.f, (char[]){(char)('a' + i), '\0'}));
	for (size_t lines = 3; lines < 12; lines++) {
		CHECK(draw(&d, 60, lines));
		CHECK(count_lines(&d) <= lines);
		CHECK(has(&d, "\nf       ▲ failed"));
	}
	CHECK(draw(&d, 60, 5));
	CHECK(has(&d, "... and 3 more\n"));
	CHECK(draw(&d, 60, 7));
	CHECK(!strstr(d.text.data, "more"));
	for (size_t i = 0; i < MP_ARRAY_LEN(widths); i++) {
		CHECK(draw(&d, widths[i].columns, 9));
		CHECK(mp_str_starts(mp_buf_get(&d.text), mp_str_of(widths[i].title)));
		for (const char *at = d.text.data; *at; at = strchr(at, '\n') + 1)
			CHECK(mp_safe_get_width((struct mp_str){at, strcspn(at, "\n")}) <
			      widths[i].columns);
	}
}

/* What a name holds is not obeyed by the terminal. */
TEST(what_others_wrote_is_made_safe)
{
	WITH_DESK(d, "{\"mcpServers\":{\"a\\u001b[31mb\":{\"command\":\"a\"}}}");
	CHECK(draw(&d, 100, 10));
	CHECK(!memchr(d.text.data, '\033', d.text.len));
	CHECK(has(&d, "a\\x1b[31mb"));
}
