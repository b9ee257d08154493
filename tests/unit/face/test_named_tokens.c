/*
 * test_named_tokens.c - tokens with names: what their holders see, and that a void one ends all.
 */
#include "front.h"

#include "base/random_id.h"
#include "store/tokens.h"

static const char two[] =
	"{\"mcpServers\":{\"git\":{\"command\":\"y\"},\"fs\":{\"command\":\"z\"}}}";

#define MODERN JSON_HEADERS "MCP-Protocol-Version: 2026-07-28\r\n"
#define MODERN_LIST \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\",\"params\":{" AGENT_META "}}"
#define MODERN_CALL(name)                                                                      \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"" name \
	"\",\"arguments\":{}," AGENT_META "}}"
#define LIST "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}"
#define INITIALIZE                                                             \
	"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{" \
	"\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"              \
	"\"clientInfo\":{\"name\":\"x\",\"version\":\"1\"}}}"

struct named {
	char token[MP_NAMED_TOKEN + 1];
	char headers[400]; /* of its session */
};

static bool add(struct front *s, struct named *n, const char *name, const char *servers,
		const char *tools, int64_t expires_ms)
{
	struct mp_token_record t = {.name = name,
				    .servers = servers,
				    .tools = tools,
				    .created_ms = 1,
				    .expires_ms = expires_ms};

	mp_named_token_make(n->token);
	mp_named_token_hash(mp_str_of(n->token), t.digest);
	REQUIRE(mp_tokens_add(s->db, &t, &s->why) == 0);
	return true;
}

static bool begin(struct front *s, struct visitor *v, struct named *n)
{
	char id[MP_RANDOM_ID + 1];
	const char *at;

	v->token = n->token;
	REQUIRE(visitor_ask(s, v, "POST /mcp", JSON_HEADERS, INITIALIZE));
	REQUIRE(visitor_status(v) == 200);
	at = strstr(visitor_hears(v), "Mcp-Session-Id: ");
	REQUIRE(at);
	snprintf(id, sizeof(id), "%s", at + 16);
	snprintf(n->headers, sizeof(n->headers),
		 JSON_HEADERS "MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: %s\r\n", id);
	return true;
}

static bool remove_token(struct front *s, const char *name)
{
	REQUIRE(mp_tokens_remove(s->db, name, &s->why) == 1);
	fleet_advance(&s->f, 1); /* the store is looked at once a turn */
	return true;
}

#define TEAM(s)             \
	FRONT(s);           \
	s.has_store = true; \
	CHECK(front_open(&s, two, false))

TEST(a_token_has_a_prefix_and_its_hash_is_kept)
{
	unsigned char a[MP_DIGEST_SIZE], b[MP_DIGEST_SIZE];
	char x[MP_NAMED_TOKEN + 1], y[MP_NAMED_TOKEN + 1];

	mp_named_token_make(x);
	mp_named_token_make(y);
	CHECK(strncmp(x, "mcpool_", 7) == 0 && strlen(x) == 71);
	CHECK(strcmp(x, y) != 0);
	mp_named_token_hash(mp_str_of(x), a);
	mp_named_token_hash(mp_str_of(y), b);
	CHECK(memcmp(a, b, sizeof(a)) != 0);
}

HEAVY_TEST(a_holder_sees_what_its_token_allows)
{
	struct named git, tool, all;
	TEAM(s);
	VISITOR(v);

	CHECK(add(&s, &git, "git", "git\n", "", 0));
	CHECK(add(&s, &tool, "tool", "", "nothing_*\n", 0));
	CHECK(add(&s, &all, "all", "", "", 0));
	CHECK(begin(&s, &v, &git));
	CHECK(visitor_ask(&s, &v, "POST /mcp", git.headers, LIST));
	CHECK(visitor_has(&v, "mcp__git__t") && !visitor_has(&v, "mcp__fs__t"));
	CHECK(begin(&s, &v, &tool));
	CHECK(visitor_ask(&s, &v, "POST /mcp", tool.headers, LIST));
	CHECK(visitor_has(&v, "\"tools\":[]"));
	CHECK(begin(&s, &v, &all));
	CHECK(visitor_ask(&s, &v, "POST /mcp", all.headers, LIST));
	CHECK(visitor_has(&v, "mcp__git__t") && visitor_has(&v, "mcp__fs__t"));
}

/* Requests without a session: one holder's are not served by another one's. */
HEAVY_TEST(modern_requests_are_narrowed_too)
{
	struct named git, fs;
	TEAM(s);
	VISITOR(v);

	CHECK(add(&s, &git, "git", "git\n", "", 0));
	CHECK(add(&s, &fs, "fs", "fs\n", "", 0));
	v.token = git.token;
	CHECK(visitor_ask(&s, &v, "POST /mcp", MODERN "Mcp-Method: tools/list\r\n", MODERN_LIST));
	CHECK(visitor_has(&v, "mcp__git__t") && !visitor_has(&v, "mcp__fs__t"));
	v.token = fs.token;
	CHECK(visitor_ask(&s, &v, "POST /mcp", MODERN "Mcp-Method: tools/list\r\n", MODERN_LIST));
	CHECK(visitor_has(&v, "mcp__fs__t") && !visitor_has(&v, "mcp__git__t"));
	CHECK(visitor_ask(&s, &v, "POST /mcp",
			  MODERN "Mcp-Method: tools/call\r\nMcp-Name: mcp__git__t\r\n",
			  MODERN_CALL("mcp__git__t")));
	CHECK(visitor_has(&v, "Unknown tool"));
	CHECK_EQ(fleet_get(&s.f, "git")->calls, 0);
	v.token = NULL;
	CHECK(visitor_ask(&s, &v, "POST /mcp", MODERN "Mcp-Method: tools/list\r\n", MODERN_LIST));
	CHECK(visitor_has(&v, "mcp__fs__t") && visitor_has(&v, "mcp__git__t"));
}

/* V17 V26 */
HEAVY_TEST(a_session_belongs_to_its_holder)
{
	struct named one, other;
	TEAM(s);
	VISITOR(v);

	CHECK(add(&s, &one, "one", "", "", 0));
	CHECK(add(&s, &other, "other", "", "", 0));
	CHECK(begin(&s, &v, &one));
	v.token = other.token;
	CHECK(visitor_ask(&s, &v, "POST /mcp", one.headers, LIST));
	CHECK_EQ(visitor_status(&v), 404);
	v.token = NULL;
	CHECK(visitor_ask(&s, &v, "POST /mcp", one.headers, LIST));
	CHECK_EQ(visitor_status(&v), 404);
}

/* V19 */
TEST(a_removed_token_ends_all_that_came_with_it)
{
	struct named one, other;
	TEAM(s);
	VISITOR(v);
	VISITOR(w);
	VISITOR(x);
	VISITOR(y);

	CHECK(add(&s, &one, "one", "", "", 0));
	CHECK(add(&s, &other, "other", "", "", 0));
	CHECK(begin(&s, &v, &one));
	CHECK(begin(&s, &x, &other));
	w.token = one.token;
	y.token = other.token;
	CHECK(visitor_ask(&s, &w, "GET /mcp", one.headers, NULL));
	CHECK(visitor_ask(&s, &y, "GET /mcp", other.headers, NULL));
	CHECK_EQ(visitor_status(&w), 200);
	CHECK(remove_token(&s, "one"));
	CHECK(visitor_ask(&s, &v, "POST /mcp", one.headers, LIST));
	CHECK_EQ(visitor_status(&v), 401);
	CHECK(w.conn.closed && !y.conn.closed);
	CHECK_EQ(mp_sessions_count(s.sessions), 1);
	CHECK(visitor_ask(&s, &x, "POST /mcp", other.headers, LIST));
	CHECK_EQ(visitor_status(&x), 200);
}

/* Without another request: a timer looks at the store where files are not watched. */
HEAVY_TEST(a_removed_token_ends_streams_by_itself)
{
	struct named one;
	TEAM(s);
	VISITOR(v);
	VISITOR(w);

	CHECK(add(&s, &one, "one", "", "", 0));
	CHECK(begin(&s, &v, &one));
	w.token = one.token;
	CHECK(visitor_ask(&s, &w, "GET /mcp", one.headers, NULL));
	CHECK(remove_token(&s, "one"));
	fleet_advance(&s.f, 31000);
	CHECK(w.conn.closed);
	CHECK_EQ(mp_sessions_count(s.sessions), 0);
}

HEAVY_TEST(an_expired_token_ends_streams_by_itself)
{
	struct named one;
	TEAM(s);
	VISITOR(v);
	VISITOR(w);

	CHECK(add(&s, &one, "one", "", "", mp_loop_wall_now_ms(s.f.loop) + 5000));
	CHECK(begin(&s, &v, &one));
	w.token = one.token;
	CHECK(visitor_ask(&s, &w, "GET /mcp", one.headers, NULL));
	fleet_advance(&s.f, 4000);
	CHECK(!w.conn.closed);
	fleet_advance(&s.f, 1100);
	CHECK(w.conn.closed);
	CHECK_EQ(mp_sessions_count(s.sessions), 0);
	CHECK(visitor_ask(&s, &v, "POST /mcp", one.headers, LIST));
	CHECK_EQ(visitor_status(&v), 401);
}

/* The head was judged before the token became void. */
HEAVY_TEST(a_token_that_ends_while_the_body_comes_is_refused)
{
	struct named one;
	char head[300];
	TEAM(s);
	VISITOR(v);

	CHECK(add(&s, &one, "one", "", "", 0));
	v.token = one.token;
	snprintf(head, sizeof(head),
		 "GET /health HTTP/1.1\r\nHost: %.40s\r\nAuthorization: Bearer %s\r\n"
		 "Content-Length: 2\r\n\r\na",
		 s.host, one.token);
	visit(&s, &v);
	CHECK(visitor_say(&s, &v, mp_str_of(head)));
	CHECK(remove_token(&s, "one"));
	(void)mp_admit_look(&s.face->admit);
	CHECK(visitor_say(&s, &v, MP_STR("b")));
	CHECK_EQ(visitor_status(&v), 401);
	CHECK(visitor_has(&v, "WWW-Authenticate: Bearer"));
}

static int get_use(const struct mp_token_record *t, void *u)
{
	if (strcmp(t->name, "one") == 0)
		*(int64_t *)u = t->used_ms;
	return 0;
}

/* What was written without waiting is there when the next one is. */
static int64_t find_use(struct front *s, const char *barrier)
{
	struct named n;
	int64_t used_ms = -1;

	if (!add(s, &n, barrier, "", "", 0) ||
	    mp_tokens_each(s->db, get_use, &used_ms, &s->why) != 0)
		return -1;
	return used_ms;
}

HEAVY_TEST(the_use_is_noted_once_a_minute)
{
	struct named one;
	int64_t began;
	TEAM(s);
	VISITOR(v);
	VISITOR(w);
	VISITOR(x);

	CHECK(add(&s, &one, "one", "", "", 0));
	v.token = w.token = x.token = one.token;
	CHECK_EQ(find_use(&s, "a"), 0);
	began = mp_loop_wall_now_ms(s.f.loop);
	CHECK(visitor_ask(&s, &v, "GET /health", NULL, NULL));
	CHECK_EQ(visitor_status(&v), 200);
	CHECK_EQ(find_use(&s, "b"), began);
	fleet_advance(&s.f, 50000);
	CHECK(visitor_ask(&s, &w, "GET /health", NULL, NULL));
	CHECK_EQ(find_use(&s, "c"), began);
	fleet_advance(&s.f, 11000);
	CHECK(visitor_ask(&s, &x, "GET /health", NULL, NULL));
	CHECK_EQ(visitor_status(&x), 200);
	CHECK_EQ(find_use(&s, "d"), began + 61000);
}
