/*
 * crowd.c - very many agents at once: a third of them on the hub's socket, a third over HTTP with
 * sessions, a third by WebSocket. Each calls one server after another with words of its own, and
 * must get exactly these back. For test_crowd.sh.
 *
 *	crowd SOCKET PORT TOKEN SESSIONS CALLS SERVERS HUB_PID
 *
 * Prints figures as `name value`; 0 only if every call was answered once, with its own words.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { ROOM = 16384 };
enum kind { UNIX, HTTP, WS, KINDS };
enum step { GREET, UPGRADE, OPEN, OPENED, IDLE, CALLING, DONE };

struct session {
	int fd, number;
	enum kind kind;
	enum step step;
	int calls;   /* made so far; also the id of the one that is out */
	char id[64]; /* Mcp-Session-Id */
	char in[ROOM];
	size_t len;
};

static const char *path, *token;
static int port, n_sessions, n_calls, n_servers;
static size_t answered, crossed, idle, done;
static struct session *sessions;

static void fail(const char *what, const struct session *s)
{
	fprintf(stderr, "crowd: %s: session %d, step %d: %.300s\n", what, s->number, (int)s->step,
		s->in);
	exit(1);
}

/* --- out ------------------------------------------------------------------------------------- */

static void put(struct session *s, const char *p, size_t n)
{
	while (n > 0) {
		ssize_t r = write(s->fd, p, n);

		if (r < 0 && errno == EAGAIN) {
			usleep(100);
			continue;
		}
		if (r <= 0)
			fail("the hub does not take it", s);
		p += r;
		n -= (size_t)r;
	}
}

static void put_http(struct session *s, const char *json)
{
	char text[2048], session[160] = "";
	int n;

	if (s->id[0])
		snprintf(session, sizeof(session),
			 "Mcp-Session-Id: %s\r\nMCP-Protocol-Version: 2025-11-25\r\n", s->id);
	n = snprintf(
		text, sizeof(text),
		"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n"
		"Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
		"%sContent-Length: %zu\r\n\r\n%s",
		port, token, session, strlen(json), json);
	put(s, text, (size_t)n);
}

static void put_frame(struct session *s, const char *json)
{
	unsigned char frame[2048] = {0x81};
	size_t n = strlen(json), head = n < 126 ? 2 : 4;

	frame[1] = (unsigned char)(0x80 | (n < 126 ? n : 126));
	if (n >= 126) {
		frame[2] = (unsigned char)(n >> 8);
		frame[3] = (unsigned char)n;
	}
	memcpy(frame + head + 4, json, n); /* the mask is zero */
	put(s, (const char *)frame, head + 4 + n);
}

static void say(struct session *s, const char *json)
{
	char line[2048];
	int n;

	switch (s->kind) {
	case UNIX:
		n = snprintf(line, sizeof(line), "%s\n", json);
		put(s, line, (size_t)n);
		break;
	case HTTP:
		put_http(s, json);
		break;
	default:
		put_frame(s, json);
	}
}

/* --- in -------------------------------------------------------------------------------------- */

static void drop(struct session *s, size_t n)
{
	memmove(s->in, s->in + n, s->len - n);
	s->len -= n;
	s->in[s->len] = '\0';
}

/* One whole answer of HTTP: its content at *ret, as far as *ret_end; false: more must come. */
static bool read_http(struct session *s, char **ret, size_t *ret_len, size_t *ret_all)
{
	char *end = strstr(s->in, "\r\n\r\n"), *field, *last;

	if (!end)
		return false;
	*ret = end + 4;
	field = strcasestr(s->in, "\r\nContent-Length:");
	if (field && field < end) {
		*ret_len = strtoul(field + 17, NULL, 10);
		*ret_all = (size_t)(*ret - s->in) + *ret_len;
		return s->len >= *ret_all;
	}
	if (strncmp(s->in, "HTTP/1.1 202", 12) == 0 || strncmp(s->in, "HTTP/1.1 101", 12) == 0) {
		*ret_len = 0;
		*ret_all = (size_t)(*ret - s->in);
		return true;
	}
	last = strstr(*ret, "\r\n0\r\n\r\n"); /* a stream, whose last chunk is there */
	*ret_len = last ? (size_t)(last - *ret) : 0;
	*ret_all = last ? (size_t)(last + 7 - s->in) : 0;
	return last;
}

static bool read_frame(struct session *s, char **ret, size_t *ret_len, size_t *ret_all)
{
	const unsigned char *p = (const unsigned char *)s->in;
	size_t head = 2, n;

	if (s->len < 4)
		return false;
	n = p[1] & 0x7f;
	if (n == 126) {
		n = (size_t)p[2] << 8 | p[3];
		head = 4;
	}
	*ret = s->in + head;
	*ret_len = n;
	*ret_all = head + n;
	return s->len >= *ret_all;
}

static bool read_line(struct session *s, char **ret, size_t *ret_len, size_t *ret_all)
{
	char *end = memchr(s->in, '\n', s->len);

	*ret = s->in;
	*ret_len = end ? (size_t)(end - s->in) : 0;
	*ret_all = *ret_len + 1;
	return end;
}

static bool read_one(struct session *s, char **ret, size_t *ret_len, size_t *ret_all)
{
	if (s->kind == HTTP || s->step == UPGRADE)
		return read_http(s, ret, ret_len, ret_all);
	return s->kind == WS ? read_frame(s, ret, ret_len, ret_all)
			     : read_line(s, ret, ret_len, ret_all);
}

/* --- what an agent does ---------------------------------------------------------------------- */

static void greet(struct session *s)
{
	char json[1024];

	snprintf(json, sizeof(json),
		 "{\"jsonrpc\":\"2.0\",\"id\":\"h\",\"method\":\"mcpool/"
		 "hello\",\"params\":{\"protocol\":1,"
		 "\"version\":\"0\",\"role\":\"bridge\",\"pid\":%d,\"cwd\":\"%s\",\"env\":{"
		 "\"HOME\":\"%s\","
		 "\"PATH\":\"%s\"},\"options\":{}}}",
		 getpid(), getenv("HOME"), getenv("HOME"), getenv("PATH"));
	say(s, json);
	s->step = GREET;
}

static void upgrade(struct session *s)
{
	char text[512];
	int n = snprintf(
		text, sizeof(text),
		"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAuthorization: Bearer %s\r\n"
		"Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: "
		"mcp\r\n\r\n",
		port, token);

	put(s, text, (size_t)n);
	s->step = UPGRADE;
}

static void open_session(struct session *s)
{
	s->step = OPEN;
	say(s, "{\"jsonrpc\":\"2.0\",\"id\":\"i\",\"method\":\"initialize\",\"params\":{"
	       "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":"
	       "\"crowd\",\"version\":\"1\"}}}");
}

static void call_next(struct session *s)
{
	char json[512];

	s->calls++;
	s->step = CALLING;
	snprintf(json, sizeof(json),
		 "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":"
		 "\"mcp__s%d__echo\",\"arguments\":{\"message\":\"words-%d-%d.\"}}}",
		 s->calls, (s->number + s->calls) % n_servers, s->number, s->calls);
	say(s, json);
}

static void take_answer(struct session *s, const char *text)
{
	char id[32], words[64];

	snprintf(id, sizeof(id), "\"id\":%d,", s->calls);
	snprintf(words, sizeof(words), "\"words-%d-%d.\"", s->number, s->calls);
	if (!strstr(text, id))
		fail("an answer to something else", s);
	answered++;
	crossed += !strstr(text, words);
	if (s->calls < n_calls) {
		call_next(s);
	} else {
		s->step = DONE;
		done++;
	}
}

static void take(struct session *s, char *text)
{
	char *id;

	switch (s->step) {
	case GREET:
	case UPGRADE:
		open_session(s);
		break;
	case OPEN:
		if (!strstr(text, "serverInfo"))
			fail("no session", s);
		id = s->kind == HTTP ? strcasestr(s->in, "\r\nMcp-Session-Id:") : NULL;
		if (id)
			sscanf(id + 17, " %63[^\r]", s->id);
		s->step = s->kind == HTTP ? OPENED : IDLE;
		idle += s->step == IDLE;
		say(s, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
		break;
	case OPENED:
		s->step = IDLE;
		idle++;
		break;
	case CALLING:
		if (!strstr(text, "list_changed"))
			take_answer(s, text);
		break;
	default:
		break; /* news */
	}
}

static void hear(struct session *s)
{
	ssize_t r = read(s->fd, s->in + s->len, ROOM - s->len - 1);
	size_t n, all;
	char *text, kept;

	if (r <= 0)
		fail(r ? strerror(errno) : "the hub hung up", s);
	s->len += (size_t)r;
	s->in[s->len] = '\0';
	while (s->len && read_one(s, &text, &n, &all)) {
		kept = text[n];
		text[n] = '\0';
		if (n || s->step == OPENED || s->step == UPGRADE)
			take(s, text);
		text[n] = kept;
		drop(s, all);
	}
}

/* --- all of them ----------------------------------------------------------------------------- */

static void dial(struct session *s)
{
	struct sockaddr_un u = {.sun_family = AF_UNIX};
	struct sockaddr_in i = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int one = 1, r;

	snprintf(u.sun_path, sizeof(u.sun_path), "%s", path);
	i.sin_port = htons((uint16_t)port);
	s->fd = socket(s->kind == UNIX ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	for (int tries = 0; tries < 1000; tries++) {
		r = s->kind == UNIX ? connect(s->fd, (struct sockaddr *)&u, sizeof(u))
				    : connect(s->fd, (struct sockaddr *)&i, sizeof(i));
		if (r == 0)
			break;
		usleep(1000);
	}
	if (r < 0)
		fail(strerror(errno), s);
	setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	fcntl(s->fd, F_SETFL, O_NONBLOCK);
	if (s->kind == UNIX)
		greet(s);
	else if (s->kind == WS)
		upgrade(s);
	else
		open_session(s);
}

static void turn(int ep)
{
	struct epoll_event ev[256];
	int n = epoll_wait(ep, ev, 256, 30000);

	if (n <= 0) {
		fprintf(stderr,
			"crowd: nothing happened for 30 s: %zu idle, %zu answered, %zu done\n",
			idle, answered, done);
		exit(1);
	}
	for (int i = 0; i < n; i++)
		hear(ev[i].data.ptr);
}

static long get_private_kib(int pid)
{
	char name[64], line[256];
	long sum = 0, kib;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/smaps_rollup", pid);
	f = fopen(name, "r");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Private_Clean: %ld", &kib) == 1 ||
		    sscanf(line, "Private_Dirty: %ld", &kib) == 1)
			sum += kib;
	if (f)
		fclose(f);
	return sum;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	int ep = epoll_create1(EPOLL_CLOEXEC), hub;
	long before, with;
	double began;

	if (argc != 8)
		return 2;
	path = argv[1];
	port = atoi(argv[2]);
	token = argv[3];
	n_sessions = atoi(argv[4]);
	n_calls = atoi(argv[5]);
	n_servers = atoi(argv[6]);
	hub = atoi(argv[7]);
	sessions = calloc((size_t)n_sessions, sizeof(*sessions));
	before = get_private_kib(hub);
	for (int i = 0; i < n_sessions; i++) {
		struct epoll_event ev = {.events = EPOLLIN, .data.ptr = &sessions[i]};

		sessions[i].number = i;
		sessions[i].kind = (enum kind)(i % KINDS);
		dial(&sessions[i]);
		epoll_ctl(ep, EPOLL_CTL_ADD, sessions[i].fd, &ev);
		while (idle + 50 < (size_t)i)
			turn(ep);
	}
	while (idle < (size_t)n_sessions)
		turn(ep);
	with = get_private_kib(hub);
	began = now();
	for (int i = 0; i < n_sessions; i++)
		call_next(&sessions[i]);
	while (done < (size_t)n_sessions)
		turn(ep);
	printf("sessions %d\ncalls %zu\ncrossed %zu\nseconds %.2f\nkib_per_session %.1f\n",
	       n_sessions, answered, crossed, now() - began, (double)(with - before) / n_sessions);
	return crossed || answered != (size_t)n_sessions * (size_t)n_calls;
}
