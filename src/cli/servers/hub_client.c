/*
 * hub_client.c - a blocking control connection to the running hub.
 */
#include "cli/servers/hub_client.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/write_queue.h"
#include "face/greeting.h"
#include "hub/election.h"
#include "rpc/message.h"
#include "transport/lines.h"

extern char **environ;

enum { ANSWER_MS = 10000 };

static const struct mp_write_queue_options queue_options = {
	.write = mp_write_queue_to_socket,
	.ceiling = MP_MIB(4),
};

struct mp_hub_client {
	int fd;
	struct mp_write_queue out;
	pid_t pid;
	struct mp_lines lines;
	uint64_t last_id;
};

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* --- bytes ----------------------------------------------------------------------------------- */

static int wait_for(struct mp_hub_client *c, short events, int64_t until_ms)
{
	struct pollfd fd = {.fd = c->fd, .events = events};
	int64_t left = until_ms - now_ms();
	int r = poll(&fd, 1, left < 0 ? 0 : (int)(left < INT_MAX ? left : INT_MAX));

	if (r < 0 && errno != EINTR)
		return MCPOOL_ESYSTEM;
	return r == 0 ? MCPOOL_ETIMEDOUT : 0;
}

/* Write the queue. */
static int hub_client_say(struct mp_hub_client *c, int64_t until_ms)
{
	int r = 0;

	while (r == 0 && mp_write_queue_get_waiting(&c->out) > 0) {
		ssize_t n = mp_write_queue_flush(&c->out);

		if (n < 0)
			r = MCPOOL_ECLOSED;
		else if (mp_write_queue_get_waiting(&c->out) > 0)
			r = wait_for(c, POLLOUT, until_ms);
	}
	return r;
}

static int hear_some(struct mp_hub_client *c)
{
	size_t size;
	char *room;
	ssize_t n;

	if (mp_lines_reserve(&c->lines, &room, &size) < 0)
		return MCPOOL_ENOMEM;
	n = recv(c->fd, room, size, 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0)
		return MCPOOL_ECLOSED;
	mp_lines_commit(&c->lines, (size_t)n);
	return 0;
}

/* Read one line; valid until the next call. */
static int hub_client_hear(struct mp_hub_client *c, int64_t until_ms, struct mp_str *ret_line)
{
	struct mp_line line;
	int r = 0;

	while (r == 0) {
		while (mp_lines_next(&c->lines, false, &line))
			if (!line.oversize) {
				*ret_line = line.text;
				return 0;
			}
		r = wait_for(c, POLLIN, until_ms);
		if (r == 0)
			r = hear_some(c);
	}
	return r;
}

/* --- questions ------------------------------------------------------------------------------- */

static int find_code(const struct mp_tape *t, mp_value word)
{
	static const struct {
		int code;
		const char *word;
	} rows[] = {
#define X(name, number, rpc, word, sentence) {MCPOOL_E##name, word},
		MCPOOL_ERRORS(X)
#undef X
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++)
		if (mp_value_text_is(t, word, mp_str_of(rows[i].word)))
			return rows[i].code;
	return MCPOOL_EPROTO;
}

static int read_refusal(const struct mp_tape *t, mp_value error, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mp_str words = MP_STR("the hub refuses, and does not say why");
	int code = find_code(t, mp_value_get(t, mp_value_get(t, error, "data"), "code"));

	mp_arena_init(&arena, MP_KIB(64));
	if (mp_value_text(t, mp_value_get(t, error, "message"), &arena, &words) < 0)
		words = MP_STR("the hub refuses");
	return mp_fail(reterr, code, "%.*s", MP_STR_ARGS(words));
}

/* 1: the answer to this request; 0: another message. */
static int read_answer(struct mp_str line, struct mp_str id, struct mp_buf *out,
		       struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct mp_message m;
	int r;

	mp_tape_init(&t, 0);
	r = mp_message_scan(&t, line, &m, reterr);
	if (r < 0)
		return r;
	if ((m.kind != MP_MESSAGE_RESULT && m.kind != MP_MESSAGE_ERROR) || !mp_str_eq(m.id, id))
		return 0;
	if (m.kind == MP_MESSAGE_ERROR)
		return read_refusal(&t, m.error, reterr);
	r = mp_buf_add_str(out, mp_value_source(&t, m.result));
	return r < 0 ? mp_fail(reterr, r, "%s", mcpool_error_text(r)) : 1;
}

static int fail_silent(int r, struct mcpool_error *reterr)
{
	if (r == MCPOOL_ETIMEDOUT)
		return mp_fail(reterr, r, "the hub does not answer");
	return mp_fail(reterr, r, "the hub ended before it answered");
}

int mp_hub_client_begin(struct mp_hub_client *c, const char *method, struct mp_str params,
			struct mcpool_error *reterr)
{
	int r = mp_buf_addf(&c->out.buf,
			    "{\"jsonrpc\":\"2.0\",\"id\":%llu,\"method\":\"%s\"%s%.*s}\n",
			    (unsigned long long)++c->last_id, method,
			    params.len ? ",\"params\":" : "", MP_STR_ARGS(params));

	if (r == 0)
		r = hub_client_say(c, now_ms() + ANSWER_MS);
	return r < 0 ? fail_silent(r, reterr) : 0;
}

int mp_hub_client_finish(struct mp_hub_client *c, int64_t max_ms, struct mp_buf *out,
			 struct mcpool_error *reterr)
{
	int64_t until = now_ms() + max_ms;
	char room[MP_STR_DIGITS];
	struct mp_str line, id = mp_str_from_u64(c->last_id, room);
	int r;

	for (;;) {
		r = hub_client_hear(c, until, &line);
		if (r < 0)
			return fail_silent(r, reterr);
		r = read_answer(line, id, out, reterr);
		if (r != 0)
			return r < 0 ? r : 0;
	}
}

int mp_hub_client_ask(struct mp_hub_client *c, const char *method, struct mp_str params,
		      struct mp_buf *out, struct mcpool_error *reterr)
{
	int r = mp_hub_client_begin(c, method, params, reterr);

	return r < 0 ? r : mp_hub_client_finish(c, ANSWER_MS, out, reterr);
}

int mp_hub_client_listen(struct mp_hub_client *c, int64_t max_ms, struct mp_buf *out)
{
	struct mp_str line;
	int r = hub_client_hear(c, now_ms() + max_ms, &line);

	return r < 0 ? r : mp_buf_add_str(out, line);
}

int mp_hub_client_wait_end(struct mp_hub_client *c, int64_t max_ms)
{
	int64_t until = now_ms() + max_ms;
	struct mp_str line;
	int r;

	do
		r = hub_client_hear(c, until, &line);
	while (r == 0);
	return r == MCPOOL_ECLOSED ? 0 : r;
}

/* --- hello ----------------------------------------------------------------------------------- */

static int hub_client_greet(struct mp_hub_client *c, struct mcpool_error *reterr)
{
	char cwd[PATH_MAX];
	struct mp_greeting g = {
		.protocol = MP_GREETING_PROTOCOL,
		.version = mcpool_version(),
		.role = MP_GREETING_CONTROL,
		.pid = (int64_t)getpid(),
		.cwd = getcwd(cwd, sizeof(cwd)),
	};
	struct mp_greeting_answer a;
	int64_t until = now_ms() + ANSWER_MS;
	struct mp_str line = {0};
	int r;

	r = mp_greeting_write(&c->out.buf, &g, environ);
	if (r == 0)
		r = mp_buf_add_char(&c->out.buf, '\n');
	if (r < 0)
		return mp_fail(reterr, r, "the environment is too large");
	r = hub_client_say(c, until);
	if (r == 0)
		r = hub_client_hear(c, until, &line);
	if (r < 0)
		return fail_silent(r, reterr);
	r = mp_greeting_read_answer(line, &a, reterr);
	if (r < 0)
		return r;
	c->pid = (pid_t)a.pid;
	if (!a.is_refused)
		return 0;
	return mp_fail(reterr, a.protocol == MP_GREETING_PROTOCOL ? MCPOOL_EAGAIN : MCPOOL_EPROTO,
		       "%s", a.why.message);
}

int mp_hub_client_open(struct mp_hub_client **ret_client, struct mcpool_error *reterr)
{
	struct mp_hub_place place;
	struct mp_hub_client *c;
	int fd, r = mp_hub_place_find(&place, reterr);

	if (r < 0)
		return r;
	fd = mp_hub_place_connect(&place, reterr);
	if (fd < 0)
		return fd;
	c = mp_alloc(sizeof(*c));
	c->fd = fd;
	mp_write_queue_init(&c->out, fd, &queue_options);
	mp_lines_init(&c->lines, MP_LIMIT_MESSAGE);
	r = hub_client_greet(c, reterr);
	if (r < 0)
		mp_hub_client_free(c);
	else
		*ret_client = c;
	return r;
}

pid_t mp_hub_client_get_pid(const struct mp_hub_client *c)
{
	return c->pid;
}

int mp_hub_client_get_fd(const struct mp_hub_client *c)
{
	return c->fd;
}

int mp_hub_client_take_fd(struct mp_hub_client *c)
{
	int fd = c->fd;

	c->fd = -1;
	return fd;
}

struct mp_hub_client *mp_hub_client_free(struct mp_hub_client *c)
{
	if (!c)
		return NULL;
	if (c->fd >= 0)
		close(c->fd);
	mp_write_queue_done(&c->out);
	mp_lines_done(&c->lines);
	return mp_free(c);
}
