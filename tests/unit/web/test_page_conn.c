/*
 * test_page_conn.c - the dashboard's routes and WebSocket, over a real hub: who gets in, and what a
 * page may do.
 */
#include "home.h"
#include "memory_conn.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/log.h"
#include "net/ws_frames.h"
#include "web/dashboard.h"

#define FILE_AT "home/.config/mcpool/mcp.json"
#define OFF     "\"command\":\"x\",\"enabled\":false"

static const struct mp_identity me = {.name = "test", .version = "1", .capabilities = {"{}", 2}};

struct place {
	struct mp_hub *hub;
	struct mp_dashboard *dashboard;
	struct mp_http_face *face;
	char host[MP_HTTP_ADDRESS], cookie[400], proof[100];
	int ready, stops;
};

static void is_ready(void *u, const struct mcpool_error *error)
{
	struct place *p = u;

	(void)error;
	p->ready++;
}

static bool stop(void *u, bool drain, bool replace)
{
	struct place *p = u;

	p->stops += 1 + 10 * drain + 100 * replace;
	return true;
}

static const struct mp_hub_hooks hub_hooks = {.ready = is_ready};

static void place_done(struct place *p)
{
	if (p->dashboard)
		mp_dashboard_routes.drain(p->dashboard);
	p->face = mp_http_face_free(p->face);
	p->dashboard = mp_dashboard_free(p->dashboard);
	mp_hub_free(p->hub);
	mp_log_set_level(MP_LEVEL_INF);
}

static bool place_open(struct place *p)
{
	struct mp_hub_options options = {.me = &me, .one_shot = true};
	struct mp_dashboard_options d = {.exe = "/bin/echo", .stop = stop, .u = p};
	struct mp_http_face_options o = {.listen = "127.0.0.1:0",
					 .dashboard = &mp_dashboard_routes};

	mp_log_set_level(MP_LEVEL_OFF);
	REQUIRE(home_make());
	REQUIRE(setenv("XDG_STATE_HOME", in("xdg"), 1) == 0);
	REQUIRE(put(FILE_AT, "{\"mcpServers\":{\"a\":{" OFF "},\"--yes\":{" OFF "}}}"));
	options.request = home_request(NULL);
	REQUIRE(mp_hub_new(&options, &hub_hooks, p, &p->hub, &why) == 0);
	mp_hub_start(p->hub);
	for (int i = 0; i < 1000 && !p->ready; i++)
		mp_loop_turn(p->hub->loop, true);
	REQUIRE(p->ready == 1);
	d.hub = p->hub;
	p->dashboard = mp_dashboard_new(&d);
	o.loop = p->hub->loop;
	o.all_sessions = p->hub->sessions;
	o.workspace = p->hub->workspace;
	o.dashboard_u = p->dashboard;
	REQUIRE(mp_http_face_new(&o, &p->face, &why) == 0);
	snprintf(p->host, sizeof(p->host), "%s", mp_http_face_get_address(p->face) + 7);
	return true;
}

#define PLACE(p)                                     \
	MP_CLEANUP(place_done) struct place p = {0}; \
	CHECK(place_open(&p))

/* --- requests -------------------------------------------------------------------------------- */

struct page {
	struct memory_conn conn;
	struct mp_ws_frames frames;
	struct mp_buf out;
	size_t seen;
	bool is_open;
};

static void page_done(struct page *g)
{
	if (g->conn.base.hooks && !g->conn.closed)
		memory_conn_break(&g->conn);
	memory_conn_done(&g->conn);
	if (g->is_open)
		mp_ws_frames_done(&g->frames);
	mp_buf_done(&g->out);
}

#define PAGE(g)                                    \
	MP_CLEANUP(page_done) struct page g = {0}; \
	memory_conn_init(&g.conn);                 \
	mp_buf_init(&g.out, MP_MIB(4))

static void settle(struct place *p)
{
	for (int i = 0; i < 20; i++)
		mp_loop_turn(p->hub->loop, false);
}

/* The status; head: what is asked and all header lines but Host. */
static int ask(struct place *p, struct page *g, const char *what, const char *head)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf b;
	int status = 0;

	mp_buf_init(&b, MP_KIB(64));
	if (mp_buf_addf(&b, "%s HTTP/1.1\r\nHost: %s\r\n%s\r\n", what, p->host, head) < 0)
		return -1;
	if (!g->conn.base.hooks)
		mp_http_service_take(&p->face->service, &g->conn.base);
	g->seen = g->conn.out.len;
	memory_conn_say(&g->conn, mp_buf_get(&b));
	settle(p);
	if (mp_buf_terminate(&g->conn.out) == 0)
		(void)sscanf(g->conn.out.data + g->seen, "HTTP/1.1 %d", &status);
	return status;
}

static bool answered(struct page *g, const char *part)
{
	return mp_buf_terminate(&g->conn.out) == 0 && strstr(g->conn.out.data + g->seen, part);
}

static int ask_once(struct place *p, const char *what, const char *head)
{
	PAGE(g);

	return ask(p, &g, what, head);
}

static const char *ours(struct place *p, const char *more)
{
	static char head[2000];

	snprintf(head, sizeof(head), "Origin: http://%s\r\nSec-Fetch-Site: same-origin\r\n%s",
		 p->host, more);
	return head;
}

static bool log_in(struct place *p)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf url;
	char code[100], head[300];
	const char *at;
	PAGE(g);

	mp_buf_init(&url, MP_KIB(4));
	REQUIRE(mp_dashboard_write_address(p->face, &url) == 0 && mp_buf_terminate(&url) == 0);
	snprintf(code, sizeof(code), "%s", strstr(url.data, "#login=") + 7);
	snprintf(head, sizeof(head), "Authorization: Code %s\r\n", code);
	REQUIRE(ask(p, &g, "POST /dashboard/login", ours(p, head)) == 200);
	REQUIRE(answered(&g, "; HttpOnly; SameSite=Strict\r\n"));
	at = strstr(g.conn.out.data, "Set-Cookie: ");
	REQUIRE(at);
	snprintf(p->cookie, sizeof(p->cookie), "Cookie: %.*s\r\n", (int)strcspn(at + 12, ";"),
		 at + 12);
	at = strstr(g.conn.out.data, "{\"proof\":\"");
	REQUIRE(at);
	snprintf(p->proof, sizeof(p->proof), "%.64s", at + 10);
	/* Stolen, and used a second time. */
	REQUIRE(ask_once(p, "POST /dashboard/login", ours(p, head)) == 403);
	return true;
}

#define UPGRADE                                                                      \
	"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" \
	"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: "    \
	"mcpool.control\r\n"

static bool connect_page(struct place *p, struct page *g)
{
	char head[2000];

	snprintf(head, sizeof(head), UPGRADE "%s", p->cookie);
	REQUIRE(ask(p, g, "GET /dashboard/control", ours(p, head)) == 101);
	g->seen = (size_t)(strstr(g->conn.out.data + g->seen, "\r\n\r\n") + 4 - g->conn.out.data);
	REQUIRE(mp_ws_frames_init(&g->frames, MP_MIB(4), MP_WS_CLIENT) == 0);
	g->is_open = true;
	return true;
}

static bool say(struct place *p, struct page *g, const char *text)
{
	mp_buf_clear(&g->out);
	REQUIRE(mp_ws_frames_write(&g->frames, MP_WS_TEXT, mp_str_of(text), &g->out) == 0);
	memory_conn_say(&g->conn, mp_buf_get(&g->out));
	settle(p);
	return true;
}

/* The next message with this part in it; a close frame is "close CODE". */
static bool hears(struct place *p, struct page *g, const char *part)
{
	char closed[40];
	struct mp_ws_event e;

	for (int i = 0; i < 2000; i++) {
		struct mp_str all = mp_buf_get(&g->conn.out);

		mp_ws_frames_feed(&g->frames, (struct mp_str){all.p + g->seen, all.len - g->seen});
		g->seen = all.len;
		while (mp_ws_frames_next(&g->frames, &e) == 1) {
			snprintf(closed, sizeof(closed), "close %d", e.code);
			if (e.kind == MP_WS_CLOSE && strcmp(closed, part) == 0)
				return true;
			if (mp_str_find(e.payload, mp_str_of(part), 0) >= 0)
				return true;
		}
		mp_loop_turn(p->hub->loop, true);
	}
	return false;
}

static bool greet(struct place *p, struct page *g)
{
	char text[300];

	REQUIRE(connect_page(p, g));
	snprintf(text, sizeof(text),
		 "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"mcpool/"
		 "hello\",\"params\":{\"protocol\":1,"
		 "\"proof\":\"%s\"}}",
		 p->proof);
	REQUIRE(say(p, g, text));
	REQUIRE(hears(p, g, "\"result\":{\"protocol\":1,\"version\":"));
	return true;
}

/* --- who gets in ----------------------------------------------------------------------------- */

/* V13 V14 */
HEAVY_TEST(files_are_for_all_and_scripts_are_ours)
{
	PAGE(g);
	PLACE(p);

	CHECK_EQ(ask(&p, &g, "GET /", "Accept: text/html,*/*\r\n"), 200);
	CHECK(answered(&g, "default-src 'none'; script-src 'self'; style-src 'self'"));
	CHECK(answered(&g, "frame-ancestors 'none'") && answered(&g, "nosniff"));
	CHECK(answered(&g, "Content-Encoding: gzip"));
	CHECK_EQ(ask(&p, &g, "GET /", ""), 200);
	CHECK(answered(&g, "mcpool runs here."));
	CHECK_EQ(ask_once(&p, "GET /dashboard.js", ""), 200);
	CHECK_EQ(ask_once(&p, "GET /dashboard.css", ""), 200);
	CHECK_EQ(ask_once(&p, "GET /dashboard.svg", ""), 200);
	CHECK_EQ(ask_once(&p, "GET /dashboard", ""), 404);
}

/* V13 V14 */
HEAVY_TEST(a_browser_needs_a_login_and_our_page)
{
	static const char *const paths[] = {"GET /dashboard/session", "GET /dashboard/control",
					    "POST /dashboard/logout"};
	static const char *const others[] = {
		"Origin: http://evil.example\r\n",
		"Origin: null\r\n",
		"Sec-Fetch-Site: cross-site\r\n",
		"Sec-Fetch-Site: same-site\r\n",
		"Sec-Fetch-Site: none\r\n",
		"Origin: http://127.0.0.1:1\r\n",
		"",
	};
	char head[2000];
	PLACE(p);

	CHECK(log_in(&p));
	for (size_t i = 0; i < MP_ARRAY_LEN(paths); i++) {
		snprintf(head, sizeof(head), UPGRADE "%s", "Cookie: mcpool_1=2\r\n");
		CHECK_EQ(ask_once(&p, paths[i], ours(&p, head)), 401);
		CHECK_EQ(ask_once(&p, paths[i], ours(&p, UPGRADE)), 401);
		for (size_t k = 0; k < MP_ARRAY_LEN(others); k++) {
			snprintf(head, sizeof(head), UPGRADE "%s%s", p.cookie, others[k]);
			CHECK_EQ(ask_once(&p, paths[i], head), 403);
		}
	}
	for (size_t k = 0; k < MP_ARRAY_LEN(others); k++)
		CHECK_EQ(ask_once(&p, "POST /dashboard/login", others[k]), 403);
	CHECK_EQ(ask_once(&p, "GET /dashboard/session", ours(&p, p.cookie)), 204);
	/* The cookie is nothing to agents' routes, and a token nothing to the page's. */
	CHECK_EQ(ask_once(&p, "GET /health", ours(&p, p.cookie)), 401);
	snprintf(head, sizeof(head), "Authorization: Bearer %s\r\n", p.face->admit.token.text);
	CHECK_EQ(ask_once(&p, "GET /dashboard/session", ours(&p, head)), 401);
}

#define HELLO(params) \
	("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"mcpool/hello\",\"params\":{" params "}}")

/* A program on another port gets the cookie from the browser, and lacks the proof. */
HEAVY_TEST(a_cookie_alone_opens_nothing)
{
	static const char *const hellos[] = {
		HELLO("\"protocol\":1"),
		HELLO("\"protocol\":1,\"proof\":\"00\""),
		HELLO("\"protocol\":1,\"proof\":5"),
	};
	PLACE(p);

	CHECK(log_in(&p));
	for (size_t i = 0; i < MP_ARRAY_LEN(hellos); i++) {
		PAGE(g);

		CHECK(connect_page(&p, &g));
		CHECK(say(&p, &g, hellos[i]));
		CHECK(hears(&p, &g, "close 4401"));
	}
}

HEAVY_TEST(what_is_no_hello_is_closed)
{
	static const char *const firsts[] = {
		"",
		"{",
		"[]",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"mcpool/status\"}",
		"{\"jsonrpc\":\"2.0\",\"method\":\"mcpool/hello\"}",
		HELLO("\"protocol\":2"),
	};
	PLACE(p);

	CHECK(log_in(&p));
	for (size_t i = 0; i < MP_ARRAY_LEN(firsts); i++) {
		PAGE(g);

		CHECK(connect_page(&p, &g));
		CHECK(say(&p, &g, firsts[i]));
		CHECK(hears(&p, &g, "close 4400"));
	}
}

HEAVY_TEST(logging_out_ends_every_page)
{
	PAGE(one);
	PAGE(two);
	PLACE(p);

	CHECK(log_in(&p));
	CHECK(greet(&p, &one) && greet(&p, &two));
	CHECK_EQ(ask_once(&p, "POST /dashboard/logout", ours(&p, p.cookie)), 204);
	settle(&p);
	CHECK(one.conn.closed && two.conn.closed);
	CHECK_EQ(ask_once(&p, "GET /dashboard/session", ours(&p, p.cookie)), 401);
}

/* --- what a page may do ---------------------------------------------------------------------- */

HEAVY_TEST(a_page_speaks_control_messages)
{
	PAGE(g);
	PLACE(p);

	CHECK(log_in(&p));
	CHECK(greet(&p, &g));
	CHECK(say(&p, &g,
		  "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"mcpool/watch\",\"params\":{}}"));
	CHECK(hears(&p, &g, "\"id\":2,\"result\":{\"time\":"));
	CHECK(hears(&p, &g, "mcpool/watch/changed"));
	CHECK(say(&p, &g, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"mcpool/dashboard\"}"));
	CHECK(hears(&p, &g, "\"id\":3,\"error\"")); /* a page makes no logins for others */
	CHECK(say(&p, &g, "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"mcpool/nosuch\"}"));
	CHECK(hears(&p, &g, "-32601"));
	CHECK(say(&p, &g, "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"mcpool/shutdown\"}"));
	CHECK(hears(&p, &g, "\"id\":5,\"result\":{\"pid\""));
	CHECK_EQ(p.stops, 11);
}

#define VERB(id, params) \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"mcpool/verb\",\"params\":{" params "}}"

/* V16: of our own verbs those that are listed, and none that names files. */
HEAVY_TEST(a_page_runs_some_verbs)
{
	PAGE(g);
	PLACE(p);

	CHECK(log_in(&p));
	CHECK(greet(&p, &g));
	CHECK(say(&p, &g, VERB("2", "\"verb\":\"list\",\"args\":[\"--json\",\"$(x)\"]")));
	CHECK(hears(&p, &g, "\"id\":2,\"result\":{\"exit\":0,\"stdout\":\"list --json $(x)\\n\""));
	CHECK(say(&p, &g, VERB("3", "\"verb\":\"list\",\"args\":[],\"stream\":true")));
	CHECK(hears(&p, &g,
		    "\"method\":\"mcpool/verb/line\",\"params\":{\"id\":3,\"line\":\"list\"}"));
	CHECK(hears(&p, &g, "\"id\":3,\"result\":{\"exit\":0,\"stdout\":\"\""));
	CHECK(say(&p, &g, VERB("4", "\"verb\":\"serve\",\"args\":[]")));
	CHECK(hears(&p, &g, "a page does not run `mcpool serve`"));
	CHECK(say(&p, &g, VERB("5", "\"verb\":\"/bin/sh\",\"args\":[]")));
	CHECK(hears(&p, &g, "\"id\":5,\"error\""));
	CHECK(say(&p, &g, VERB("6", "\"verb\":\"trust\",\"args\":[\"--config=/x\"]")));
	CHECK(hears(&p, &g, "a page names no configuration files"));
	CHECK(say(&p, &g, VERB("7", "\"verb\":\"trust\",\"args\":[\"--strict-config\"]")));
	CHECK(hears(&p, &g, "a page names no configuration files"));
	CHECK(say(&p, &g,
		  VERB("8", "\"verb\":\"add\",\"args\":[\"x\",\"--\",\"y\",\"--config\"]")));
	CHECK(hears(&p, &g, "\"id\":8,\"result\":{\"exit\":0"));
	/* A server's name is never taken for an option. */
	CHECK(say(&p, &g, VERB("10", "\"verb\":\"trust\",\"args\":[\"--yes\",\"--json\"]")));
	CHECK(hears(&p, &g, "a server is called like the option --yes"));
	CHECK(say(&p, &g, VERB("9", "\"args\":[]")));
	CHECK(hears(&p, &g, "\"id\":9,\"error\""));
}

/* Nothing waits for a page that leaves, and no process stays. */
HEAVY_TEST(a_page_leaves_at_any_time)
{
	char head[2000];
	PLACE(p);

	CHECK(log_in(&p));
	for (int stage = 0; stage < 4; stage++) {
		PAGE(g);

		if (stage == 0)
			CHECK(connect_page(&p, &g));
		else
			CHECK(greet(&p, &g));
		if (stage > 1)
			CHECK(say(&p, &g,
				  VERB("2", "\"verb\":\"list\",\"args\":[],\"stream\":true")));
		if (stage > 2)
			CHECK(say(&p, &g,
				  "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"mcpool/watch\"}"));
		memory_conn_break(&g.conn);
		settle(&p);
	}
	snprintf(head, sizeof(head), "%s", p.cookie);
	CHECK_EQ(ask_once(&p, "GET /dashboard/session", ours(&p, head)), 204);
}
