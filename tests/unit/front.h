/*
 * front.h - the HTTP face over a fleet, and visitors who speak bytes to it.
 */
#ifndef TEST_FRONT_H
#define TEST_FRONT_H

#include "test.h"
#include "agent.h"
#include "folder.h"
#include "memory_conn.h"

#include <stdio.h>

#include "base/buf.h"
#include "face/http_face.h"

struct front {
	struct fleet f;
	struct mp_sessions *sessions;
	struct mp_http_face *face;
	char host[MP_HTTP_ADDRESS]; /* "127.0.0.1:34567" */
	char token_path[100];
	bool has_store;   /* for named tokens; set before front_open() */
	struct mp_db *db; /* owned; NULL: none */
	struct mcpool_error why;
};

/* Who came; sees answers as text. */
struct visitor {
	struct memory_conn conn;
	size_t seen;
	const char *host, *token; /* other than what is right; NULL: that */
	bool no_token;
};

static inline void front_done(struct front *s)
{
	s->face = mp_http_face_free(s->face);
	if (s->f.loop)
		fleet_settle(&s->f);
	s->sessions = mp_sessions_free(s->sessions);
	fleet_done(&s->f);
	s->db = mp_db_close(s->db);
}

#define FRONT(s)                                     \
	MP_CLEANUP(front_done) struct front s = {0}; \
	CHECK(fleet_init(&s.f))

static inline bool front_open(struct front *s, const char *servers, bool no_token)
{
	struct mp_http_face_options o = {.listen = "127.0.0.1:0", .no_token = no_token};

	char path[200];

	mp_log_set_level(MP_LEVEL_OFF);
	REQUIRE(folder_make());
	snprintf(path, sizeof(path), "%s/db/mcpool.db", test_folder);
	REQUIRE(!s->has_store || mp_db_open(path, &s->db, &s->why) == 0);
	REQUIRE(fleet_open(&s->f, servers));
	s->sessions = agent_sessions(&s->f);
	snprintf(s->token_path, sizeof(s->token_path), "%s/token", test_folder);
	o.loop = s->f.loop;
	o.all_sessions = s->sessions;
	o.workspace = s->f.workspace;
	o.token_path = s->token_path;
	o.db = s->db;
	REQUIRE(mp_http_face_new(&o, &s->face, &s->why) == 0);
	snprintf(s->host, sizeof(s->host), "%s", mp_http_face_get_address(s->face) + 7);
	fleet_advance(&s->f, 300);
	return true;
}

static inline void visitor_done(struct visitor *v)
{
	if (v->conn.base.hooks && !v->conn.closed)
		memory_conn_break(&v->conn);
	memory_conn_done(&v->conn);
}

/* Before the front it visits, so that it goes first. */
#define VISITOR(v)                                       \
	MP_CLEANUP(visitor_done) struct visitor v = {0}; \
	memory_conn_init(&v.conn)

static inline void visit(struct front *s, struct visitor *v)
{
	mp_http_service_take(&s->face->service, &v->conn.base);
}

static inline bool visitor_say(struct front *s, struct visitor *v, struct mp_str bytes)
{
	memory_conn_say(&v->conn, bytes);
	fleet_settle(&s->f);
	return true;
}

/* "POST /mcp", header lines, body. */
static inline bool visitor_ask(struct front *s, struct visitor *v, const char *what,
			       const char *headers, const char *body)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf b;

	mp_buf_init(&b, 1 << 20);
	REQUIRE(mp_buf_addf(&b, "%s HTTP/1.1\r\nHost: %s\r\n", what, v->host ? v->host : s->host) ==
		0);
	if (!v->no_token)
		REQUIRE(mp_buf_addf(&b, "Authorization: Bearer %s\r\n",
				    v->token ? v->token : s->face->admit.token.text) == 0);
	if (body)
		REQUIRE(mp_buf_addf(&b, "Content-Length: %zu\r\n", strlen(body)) == 0);
	REQUIRE(mp_buf_addf(&b, "%s\r\n%s", headers ? headers : "", body ? body : "") == 0);
	if (!v->conn.base.hooks)
		visit(s, v);
	v->seen = v->conn.out.len;
	return visitor_say(s, v, mp_buf_get(&b));
}

/* What came since the last question. */
static inline const char *visitor_hears(struct visitor *v)
{
	if (mp_buf_terminate(&v->conn.out) < 0 || !v->conn.out.data)
		return "";
	return v->conn.out.data + v->seen;
}

static inline int visitor_status(struct visitor *v)
{
	int status = 0;

	if (sscanf(visitor_hears(v), "HTTP/1.1 %d", &status) != 1)
		return 0;
	return status;
}

static inline bool visitor_has(struct visitor *v, const char *part)
{
	if (strstr(visitor_hears(v), part))
		return true;
	return false;
}

#define JSON_HEADERS \
	"Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"

#endif
