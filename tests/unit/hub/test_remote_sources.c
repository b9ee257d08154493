/* test_remote_sources.c - fetching remote sources: each answer; see
 * tests/cli/test_remote_source.sh for what people see of it. */
#include "home.h"

#include <sys/stat.h>
#include <unistd.h>

#include "loopback_net.h"

#include "base/mem.h"
#include "config/read/remote_source.h"
#include "hub/remote_sources.h"

#define OK       "HTTP/1.1 200 OK\r\n"
#define BODY     "Content-Length: 17\r\n\r\n{\"mcpServers\":{}}"
#define MOVED(t) "HTTP/1.1 302 X\r\nLocation: " t "\r\nContent-Length: 0\r\n\r\n"

static const struct answer answers[] = {
	{"/plain", OK BODY, KEEP},
	{"/tagged", OK "ETag: \"a\"\r\nLast-Modified: Sun, 15 Nov 2026 00:00:00 GMT\r\n" BODY,
	 KEEP},
	{"/same", "HTTP/1.1 304 Not Modified\r\n\r\n", KEEP},
	{"/near", MOVED("/plain"), KEEP},
	{"/round", MOVED("/round"), KEEP},
	{"/away", MOVED("http://localhost:1/plain?key=1"), KEEP},
	{"/array", OK "Content-Length: 2\r\n\r\n[]", KEEP},
	{"/half", OK "Content-Length: 50\r\n\r\n{}", RESET},
	{"/busy", "HTTP/1.1 503 X\r\nRetry-After: 300\r\nContent-Length: 0\r\n\r\n", KEEP},
	{"/204", "HTTP/1.1 204 X\r\n\r\n", KEEP},
	{"/reset", "", RESET},
	{"/silent", "", KEEP},
	{NULL, NULL, KEEP},
};

struct desk {
	struct net n;
	struct mp_remote_sources *c;
	struct mp_config_set set;
	char urls[2][200];
	const char *list[2];
	int rested;
};

static void rested(void *u)
{
	struct desk *d = u;

	d->rested++;
}

static void desk_done(struct desk *d)
{
	mp_remote_sources_free(d->c);
	net_done(&d->n);
}

static bool desk_init(struct desk *d)
{
	*d = (struct desk){.rested = 0};
	REQUIRE(home_make());
	REQUIRE(setenv("XDG_STATE_HOME", in("state"), 1) == 0);
	REQUIRE(net_init(&d->n, answers));
	d->c = mp_remote_sources_new(d->n.loop, rested, d);
	d->set.remote_urls = d->list;
	return true;
}

static void want(struct desk *d, size_t i, const char *path)
{
	snprintf(d->urls[i], sizeof(d->urls[i]), "http://127.0.0.1:%d%s", d->n.server.port, path);
	d->list[i] = d->urls[i];
	d->set.n_remote_urls = i + 1;
}

static struct mp_remote_source_state known(const struct desk *d, size_t i)
{
	struct mp_remote_source_state s;

	mp_remote_source_load(d->urls[i], &s);
	return s;
}

/* V37 */
HEAVY_TEST(answers_of_every_kind)
{
	static const struct {
		const char *path, *why; /* NULL: there is a copy now */
		int requests, minutes;  /* until it is asked again */
	} rows[] = {
		{"/plain", NULL, 1, 5},
		{"/tagged", NULL, 1, 5},
		{"/near", NULL, 2, 5},
		{"/round", "HTTP 302", 6, 1},
		{"/away", "HTTP 302", 1, 1},
		{"/array", "not a JSON object", 1, 1},
		{"/half", "in the middle", 1, 1},
		{"/busy", "HTTP 503", 1, 5},
		{"/204", "HTTP 204", 1, 1},
		{"/reset", "without an answer", 9, 1},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		MP_CLEANUP(desk_done) struct desk d;
		struct mp_remote_source_state s;

		CHECK(desk_init(&d));
		want(&d, 0, rows[i].path);
		mp_remote_sources_follow(d.c, &d.set);
		CHECK(mp_remote_sources_is_asking(d.c));
		CHECK(net_wait(&d.n, d.rested));
		CHECK(!mp_remote_sources_is_asking(d.c));
		s = known(&d, 0);
		if (!strstr(s.why, rows[i].why ? rows[i].why : ""))
			CHECK_TEXT(s.why, rows[i].why);
		CHECK(!strstr(s.why, "key"));
		CHECK_EQ(s.fetched_ms != 0, !rows[i].why);
		CHECK_EQ(s.failures, rows[i].why != NULL);
		CHECK(rows[i].requests >= d.n.server.n_requests);
		CHECK_EQ((s.next_ms - mp_loop_wall_now_ms(d.n.loop) + 30000) / 60000,
			 rows[i].minutes);
		CHECK_EQ(s.etag[0] != 0, strcmp(rows[i].path, "/tagged") == 0);
	}
}

static bool set_due(const struct desk *d, size_t i)
{
	struct mp_remote_source_state s = known(d, i);

	s.next_ms = 1;
	REQUIRE(mp_remote_source_save(d->urls[i], &s, NULL, &why) == 0);
	return true;
}

/* The server hears what we have, but not once the copy is gone. */
TEST(what_is_asked_with)
{
	MP_CLEANUP(desk_done) struct desk d;
	MP_CLEANUP(mp_buf_done) struct mp_buf path;

	mp_buf_init(&path, 4096);
	CHECK(desk_init(&d));
	want(&d, 0, "/tagged");
	for (int i = 0; i < 3; i++) {
		mp_remote_sources_follow(d.c, &d.set);
		CHECK(net_wait(&d.n, d.rested == i + 1));
		CHECK_EQ(!strstr(d.n.server.last, "If-None-Match: \"a\"\r\n"), i != 1);
		CHECK_EQ(!strstr(d.n.server.last, "If-Modified-Since: Sun, 15 Nov"), i != 1);
		CHECK(set_due(&d, 0));
		if (i == 1) {
			CHECK_EQ(mp_remote_source_get_path(d.urls[0], &path), 0);
			CHECK_EQ(unlink(path.data), 0);
		}
		d.c = mp_remote_sources_free(d.c);
		d.c = mp_remote_sources_new(d.n.loop, rested, &d);
	}
}

/* A written file is noticed by its watchers. */
TEST(the_same_content_is_no_change)
{
	MP_CLEANUP(desk_done) struct desk d;
	MP_CLEANUP(mp_buf_done) struct mp_buf path;
	struct stat first, second;

	mp_buf_init(&path, 4096);
	CHECK(desk_init(&d));
	want(&d, 0, "/plain");
	mp_remote_sources_follow(d.c, &d.set);
	CHECK(net_wait(&d.n, d.rested == 1));
	CHECK_EQ(mp_remote_source_get_path(d.urls[0], &path), 0);
	CHECK_EQ(stat(path.data, &first), 0);
	CHECK(set_due(&d, 0));
	d.c = mp_remote_sources_free(d.c);
	d.c = mp_remote_sources_new(d.n.loop, rested, &d);
	mp_remote_sources_follow(d.c, &d.set);
	CHECK(net_wait(&d.n, d.rested == 2));
	CHECK_EQ(stat(path.data, &second), 0);
	CHECK_EQ(first.st_ino, second.st_ino);
	CHECK_EQ(known(&d, 0).failures, 0);
}

/* One that cannot even be asked does not end the wait for the other. */
TEST(all_that_are_due_are_asked)
{
	MP_CLEANUP(desk_done) struct desk d;

	CHECK(desk_init(&d));
	want(&d, 1, "/plain");
	snprintf(d.urls[0], sizeof(d.urls[0]), "https:///nobody");
	d.list[0] = d.urls[0];
	mp_remote_sources_follow(d.c, &d.set);
	CHECK(net_wait(&d.n, d.rested));
	CHECK_EQ(d.rested, 1);
	CHECK_EQ(known(&d, 0).failures, 1);
	CHECK(known(&d, 1).fetched_ms != 0);
}

TEST(those_that_are_gone_are_not_waited_for)
{
	MP_CLEANUP(desk_done) struct desk d;

	CHECK(desk_init(&d));
	want(&d, 0, "/silent");
	mp_remote_sources_follow(d.c, &d.set);
	CHECK(net_wait(&d.n, d.n.server.n_requests == 1));
	d.set.n_remote_urls = 0;
	mp_remote_sources_follow(d.c, &d.set);
	CHECK(!mp_remote_sources_is_asking(d.c));
	net_turn(&d.n);
	CHECK_EQ(d.n.server.n_open, 0);
}
