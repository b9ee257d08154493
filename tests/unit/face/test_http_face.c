/*
 * test_http_face.c - the face on a real socket: where it listens, what it refuses to be, TLS,
 * sockets it was given, and how it leaves.
 */
#include "front.h"
#include "certificate.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

static const char one[] = "{\"mcpServers\":{\"git\":{\"command\":\"y\"}}}";

static int open_face(struct front *s, struct mp_http_face_options o)
{
	snprintf(s->token_path, sizeof(s->token_path), "%s/token", test_folder);
	o.loop = s->f.loop;
	o.all_sessions = s->sessions;
	o.workspace = s->f.workspace;
	o.token_path = s->token_path;
	return mp_http_face_new(&o, &s->face, &s->why);
}

static bool begin(struct front *s)
{
	mp_log_set_level(MP_LEVEL_OFF);
	REQUIRE(folder_make());
	REQUIRE(fleet_open(&s->f, one));
	s->sessions = agent_sessions(&s->f);
	return true;
}

static int dial(const char *address)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	to.sin_port = htons((uint16_t)atoi(strrchr(address, ':') + 1));
	if (connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0) {
		close(fd);
		return -1;
	}
	fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
}

static ssize_t turn_and_read(struct front *s, int fd, char *room, size_t size)
{
	ssize_t n = -1;

	for (int i = 0; i < 200 && n < 0; i++) {
		mp_loop_turn(s->f.loop, false);
		n = read(fd, room, size - 1);
		if (n < 0)
			usleep(1000);
	}
	room[n > 0 ? n : 0] = '\0';
	return n;
}

HEAVY_TEST(a_question_over_a_real_socket)
{
	FRONT(s);
	char text[400], got[2000];
	int fd, n;

	CHECK(begin(&s));
	CHECK_EQ(open_face(&s, (struct mp_http_face_options){.listen = "127.0.0.1:0"}), 0);
	CHECK(strncmp(mp_http_face_get_address(s.face), "http://127.0.0.1:", 17) == 0);
	CHECK(!strstr(mp_http_face_get_address(s.face), ":0"));
	CHECK(mp_http_face_get_token_path(s.face));
	fd = dial(mp_http_face_get_address(s.face));
	CHECK(fd >= 0);
	n = snprintf(text, sizeof(text),
		     "GET /health HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n",
		     mp_http_face_get_address(s.face) + 7, s.face->admit.token.text);
	CHECK_EQ(write(fd, text, (size_t)n), n);
	CHECK(turn_and_read(&s, fd, got, sizeof(got)) > 0);
	CHECK(strstr(got, "{\"status\":\"ok\"}"));
	CHECK_EQ(s.face->service.connections.len, 1);
	/* It leaves: the connection, being idle, sees the end, and no new one is accepted. */
	mp_http_face_drain(s.face, NULL, NULL);
	CHECK_EQ(turn_and_read(&s, fd, got, sizeof(got)), 0);
	CHECK(dial(mp_http_face_get_address(s.face)) < 0);
	close(fd);
}

/* V11 */
TEST(a_face_that_must_not_be_does_not_begin)
{
	static const struct {
		struct mp_http_face_options o;
		int want;
	} cases[] = {
		{{.listen = "0.0.0.0:0"}, MCPOOL_EPERM},
		{{.listen = "0.0.0.0:0", .no_token = true}, MCPOOL_EPERM},
		{{.listen = "[::]:0"}, MCPOOL_EPERM},
		{{.listen = "nonsense"}, MCPOOL_EINVAL},
		{{.listen = "127.0.0.1"}, MCPOOL_EINVAL},
		{{.listen = "127.0.0.1:"}, MCPOOL_EINVAL},
		{{.listen = "127.0.0.1:65536"}, MCPOOL_EINVAL},
		{{.listen = "127.0.0.1:-1"}, MCPOOL_EINVAL},
		{{.listen = "::1:80"}, MCPOOL_EINVAL},
		{{.listen = "256.0.0.1:0"}, MCPOOL_EINVAL},
		{{.listen = "127.0.0.1:0", .cert = "/nowhere", .key = "/nowhere"}, MCPOOL_EINVAL},
		{{.listen = "127.0.0.1:0", .cert = "/nowhere"}, MCPOOL_EINVAL},
		{{.listen = "127.0.0.1:0", .name = "a b"}, MCPOOL_EINVAL},
	};
	FRONT(s);

	CHECK(begin(&s));
	for (size_t i = 0; i < MP_ARRAY_LEN(cases); i++) {
		CHECK_EQ(open_face(&s, cases[i].o), cases[i].want);
		CHECK(s.why.message[0]);
		CHECK(!s.face);
	}
}

TEST(a_port_that_is_taken_is_said)
{
	FRONT(s);
	FRONT(t);
	char listen[100];

	CHECK(begin(&s));
	CHECK_EQ(open_face(&s, (struct mp_http_face_options){.listen = "127.0.0.1:0"}), 0);
	snprintf(listen, sizeof(listen), "%s", mp_http_face_get_address(s.face) + 7);
	CHECK(begin(&t));
	CHECK_EQ(open_face(&t, (struct mp_http_face_options){.listen = listen}), MCPOOL_ESYSTEM);
	CHECK(strstr(t.why.message, listen));
}

TEST(a_socket_that_listens_already_is_taken)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	FRONT(s);

	CHECK(fd > 0 && bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0 && listen(fd, 5) == 0);
	if (!begin(&s)) {
		close(fd);
		return;
	}
	CHECK_EQ(open_face(&s, (struct mp_http_face_options){.fd = fd, .no_token = true}), 0);
	CHECK(!mp_http_face_get_token_path(s.face));
	fd = dial(mp_http_face_get_address(s.face));
	CHECK(fd >= 0);
	close(fd);
}

HEAVY_TEST(tls_from_end_to_end)
{
	FRONT(s);
	struct certificate files;
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
	char text[400], got[2000] = "";
	SSL *ssl = SSL_new(ctx);
	int fd, n, r = -1;

	CHECK(begin(&s));
	CHECK(certificate_new(&files, "localhost"));
	CHECK_EQ(open_face(&s, (struct mp_http_face_options){.listen = "127.0.0.1:0",
							     .cert = files.cert,
							     .key = files.key}),
		 0);
	CHECK(strncmp(mp_http_face_get_address(s.face), "https://", 8) == 0);
	fd = dial(mp_http_face_get_address(s.face));
	CHECK(fd >= 0);
	SSL_set_fd(ssl, fd);
	n = snprintf(text, sizeof(text),
		     "GET /health HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n",
		     mp_http_face_get_address(s.face) + 8, s.face->admit.token.text);
	for (int i = 0; i < 1000 && SSL_connect(ssl) != 1; i++)
		mp_loop_turn(s.f.loop, false);
	CHECK_EQ(SSL_write(ssl, text, n), n);
	for (int i = 0; i < 1000 && r <= 0; i++) {
		mp_loop_turn(s.f.loop, false);
		r = SSL_read(ssl, got, sizeof(got) - 1);
	}
	SSL_free(ssl);
	SSL_CTX_free(ctx);
	close(fd);
	CHECK(r > 0);
	CHECK(strstr(got, "{\"status\":\"ok\"}"));
}

static int drains;

static void drained(void *u)
{
	(void)u;
	drains++;
}

TEST(draining_waits_for_answers_and_is_told_once)
{
	FRONT(s);
	VISITOR(v);
	VISITOR(idle);

	drains = 0;
	CHECK(front_open(&s, one, false));
	fleet_get(&s.f, "git")->holds_calls = true;
	visit(&s, &idle);
	CHECK(visitor_ask(&s, &v, "POST /mcp",
			  JSON_HEADERS
			  "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n"
			  "Mcp-Name: mcp__git__t\r\n",
			  "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{"
			  "\"name\":\"mcp__git__t\"," AGENT_META "}}"));
	mp_http_face_drain(s.face, drained, NULL);
	CHECK(idle.conn.shut);
	memory_conn_end(&idle.conn);
	CHECK_EQ(drains, 0);
	CHECK(fleet_answer_kept(fleet_get(&s.f, "git"), 0, "{\"content\":[]}"));
	fleet_settle(&s.f);
	CHECK_EQ(visitor_status(&v), 200);
	CHECK(visitor_has(&v, "Connection: close\r\n"));
	CHECK(v.conn.shut);
	memory_conn_end(&v.conn);
	CHECK_EQ(drains, 1);
}

/* V19 */
HEAVY_TEST(a_changed_token_is_noticed_without_a_question)
{
	FRONT(s);
	VISITOR(v);

	CHECK(front_open(&s, one, false));
	CHECK(visitor_ask(&s, &v, "GET /sse", NULL, NULL));
	CHECK_EQ(visitor_status(&v), 200);
	CHECK_EQ(mp_http_token_rotate(s.token_path, &s.why), 0);
	for (int i = 0; i < 10 && !v.conn.closed; i++) {
		mp_loop_turn(s.f.loop, false);
		fleet_advance(&s.f, 100);
	}
	CHECK(v.conn.closed);
	CHECK_EQ(mp_sessions_count(s.sessions), 0);
}
