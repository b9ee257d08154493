/*
 * fetch.c - for the scripts in remote/: exchanges by our HTTP client, one after the other or all at
 * once, and WebSockets. A line for each says what became of it: `200 sent BODY`, `open`, or
 * `failed: words`.
 */
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "net/http_client.h"
#include "net/ws.h"

enum { LOOK_MS = 5, MAX_FDS = 64 };

struct fetch {
	struct mp_loop *loop;
	struct mp_http_client *client;
	struct mp_http_request request;
	struct mp_timer rest; /* between two */
	int64_t rest_ms;
	bool is_ws;
	bool together;        /* all at once, or one after the other without waiting for its end */
	bool sleeps;          /* before each */
	bool waits_for_close; /* the next one waits until the server has closed all connections */
	int todo, running, failed;
};

struct one {
	struct fetch *f;
	struct mp_ws *ws;
	int status;
	bool sent;
	char body[400];
};

static void start_one(struct fetch *f);

/* Does the other side of a connection keep it open, as far as this machine has heard? */
static bool is_connected(void)
{
	struct tcp_info info;

	for (int fd = 0; fd < MAX_FDS; fd++) {
		socklen_t size = sizeof(info);

		if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0 &&
		    info.tcpi_state == TCP_ESTABLISHED)
			return true;
	}
	return false;
}

static void ended(struct one *o, const char *why)
{
	struct fetch *f = o->f;

	if (why)
		printf("failed: %s\n", why);
	else if (f->is_ws)
		printf("open\n");
	else
		printf("%d %s %s\n", o->status, o->sent ? "sent" : "unsent", o->body);
	f->failed += why != NULL;
	mp_ws_free(o->ws);
	free(o);
	if (--f->running == 0 && f->todo == 0)
		mp_loop_stop(f->loop);
	else if (f->running == 0 && !f->together)
		mp_timer_start(&f->rest, f->rest_ms);
}

static void rested(void *u)
{
	struct fetch *f = u;

	if (f->waits_for_close && is_connected()) {
		mp_timer_start(&f->rest, LOOK_MS);
		return;
	}
	start_one(f);
	if (f->together && f->todo > 0)
		mp_timer_start(&f->rest, f->rest_ms);
}

static void sent(void *u)
{
	((struct one *)u)->sent = true;
}

static void head(void *u, const struct mp_http_head *h)
{
	((struct one *)u)->status = h->status;
}

static void data(void *u, struct mp_str bytes)
{
	struct one *o = u;
	size_t len = strlen(o->body);

	snprintf(o->body + len, sizeof(o->body) - len, "%.*s", MP_STR_ARGS(bytes));
}

static void done(void *u, enum mp_http_end how, const struct mcpool_error *err)
{
	(void)how;
	ended(u, err ? err->message : NULL);
}

static void ws_opened(void *u)
{
	mp_ws_close(((struct one *)u)->ws);
}

static void ws_message(void *u, struct mp_str text)
{
	(void)u;
	(void)text;
}

static void ws_written(void *u, uint64_t total)
{
	(void)u;
	(void)total;
}

static void ws_over(void *u, const struct mcpool_error *why)
{
	ended(u, why ? why->message : NULL);
}

static const struct mp_http_hooks hooks = {sent, head, data, done};
static const struct mp_ws_hooks ws_hooks = {ws_opened, ws_message, ws_written, ws_over};

static void start_one(struct fetch *f)
{
	struct one *o = calloc(1, sizeof(*o));
	struct mcpool_error why;
	int r;

	o->f = f;
	f->todo--;
	f->running++;
	if (f->sleeps)
		mp_http_client_woke(f->client);
	if (f->is_ws)
		r = mp_ws_open(f->client, &f->request, &ws_hooks, o, &o->ws, &why);
	else
		r = mp_http_start(f->client, &f->request, &hooks, o, NULL, &why);
	if (r < 0)
		ended(o, why.message);
}

static enum mp_zone zone_of(const char *word)
{
	static const char *const words[] = {"any", "public", "private", "link", "loopback"};

	for (size_t i = 0; i < MP_ARRAY_LEN(words); i++)
		if (strcmp(words[i], word) == 0)
			return (enum mp_zone)i;
	exit(2);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"ca", required_argument, NULL, 'a'},     {"cert", required_argument, NULL, 'c'},
		{"key", required_argument, NULL, 'k'},    {"from", required_argument, NULL, 'f'},
		{"times", required_argument, NULL, 'n'},  {"together", no_argument, NULL, 't'},
		{"ws", no_argument, NULL, 'w'},           {"rest", required_argument, NULL, 'r'},
		{"body", required_argument, NULL, 'b'},   {"sleep", no_argument, NULL, 's'},
		{"until-closed", no_argument, NULL, 'u'}, {NULL, 0, NULL, 0}};
	static const struct mp_http_header headers[] = {
		{MP_STR("Content-Type"), MP_STR("application/json")},
		{MP_STR("Authorization"), MP_STR("Bearer sesame")}};
	struct fetch f = {.request = {.headers = headers,
				      .n_headers = MP_ARRAY_LEN(headers),
				      .body = {NULL, 2},
				      .connect_ms = 5000,
				      .total_ms = 20000},
			  .todo = 1};
	static char body[1 << 20];
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'a':
			f.request.ca_file = optarg;
			break;
		case 'c':
			f.request.cert_file = optarg;
			break;
		case 'k':
			f.request.key_file = optarg;
			break;
		case 'f':
			f.request.from = zone_of(optarg);
			break;
		case 'n':
			f.todo = (int)strtol(optarg, NULL, 10);
			break;
		case 'r':
			f.rest_ms = strtol(optarg, NULL, 10);
			break;
		case 'b':
			f.request.body.len = strtoul(optarg, NULL, 10);
			break;
		case 's':
			f.sleeps = true;
			break;
		case 't':
			f.together = true;
			break;
		case 'u':
			f.waits_for_close = true;
			break;
		case 'w':
			f.is_ws = true;
			break;
		default:
			return 2;
		}
	}
	if (optind + 1 != argc || mp_loop_new(&f.loop) < 0 ||
	    mp_http_client_new(f.loop, &f.client) < 0)
		return 2;
	mp_timer_init(&f.rest, f.loop, rested, &f);
	f.request.url = argv[optind];
	if (!f.is_ws)
		f.request.body.p = body;
	do
		start_one(&f);
	while (f.together && f.todo > 0 && !f.rest_ms);
	if (f.together && f.todo > 0)
		mp_timer_start(&f.rest, f.rest_ms);
	if (f.running)
		mp_loop_run(f.loop);
	mp_http_client_free(f.client);
	mp_loop_free(f.loop);
	return f.failed ? 1 : 0;
}
