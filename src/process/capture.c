/*
 * capture.c - one command in a session of its own, its output through pipes, a time limit.
 * The whole process group is killed at the end, whatever the end was, and before its leader is
 * reaped: until then its number cannot be reused. A process that leaves the group and outlives it
 * is not found.
 */
#include "process/capture.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/redact.h"
#include "process/command_fork.h"
#include "base/guard.h"
#include "process/tree.h"

static const struct mp_log config_log = {"config"};

enum {
	STDERR_KEPT = 4096, /* its last bytes */
	LINE_SHOWN = 200,   /* bytes of its last line in a message */
	LAST_READS = 32,    /* of a pipe whose writer should be gone */
	LINGER_MS = 3000,   /* for killed processes to end; they need no time as a rule */
};

struct job {
	pid_t pid;    /* of the command, and of its session and group */
	int handle;   /* pidfd */
	int out, err; /* -1: at their end */
	int status;   /* of waitpid */
	struct mp_buf text;
	char tail[STDERR_KEPT];
	size_t tail_len;
};

/* --- starting ------------------------------------------------------------------------------- */

static void close_ends(struct mp_command_ends *e)
{
	mp_guard_close(&e->in);
	mp_guard_close(&e->folder);
	mp_guard_close(&e->out);
	mp_guard_close(&e->err);
}

/* Ours does not block: what a process that got away holds open is not waited for. */
static int open_pipe(int *ret_ours, int *ret_theirs, struct mcpool_error *reterr)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return mp_fail_errno(reterr, errno, "no pipe for a command");
	*ret_ours = fds[0];
	*ret_theirs = fds[1];
	if (fcntl(fds[0], F_SETFL, O_NONBLOCK) < 0)
		return mp_fail_errno(reterr, errno, "no pipe for a command");
	return 0;
}

static int open_ends(struct mp_command_ends *e, struct job *j, const char *folder,
		     struct mcpool_error *reterr)
{
	int r;

	e->in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (e->in < 0)
		return mp_fail_errno(reterr, errno, "/dev/null cannot be opened");
	if (folder) {
		e->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (e->folder < 0)
			return mp_fail(reterr, MCPOOL_EIO, "the command's folder %s: %s", folder,
				       strerrordesc_np(errno));
	}
	r = open_pipe(&j->out, &e->out, reterr);
	return r < 0 ? r : open_pipe(&j->err, &e->err, reterr);
}

static int capture_start(struct job *j, char *const *argv, const char *folder, char *const *env,
			 struct mcpool_error *reterr)
{
	MP_CLEANUP(close_ends) struct mp_command_ends e = {-1, -1, -1, -1};
	int r = open_ends(&e, j, folder, reterr);

	if (r < 0)
		return r;
	j->pid = mp_command_fork(&e, argv, env);
	if (j->pid < 0)
		return mp_fail_errno(reterr, errno, "no process for a command");
	j->handle = (int)syscall(SYS_pidfd_open, j->pid, 0);
	if (j->handle < 0)
		return mp_fail_errno(reterr, errno, "a command cannot be followed");
	return 0;
}

/* --- following ------------------------------------------------------------------------------ */

/* Bytes read, 0 for none at the moment, -1 at the end, which closes it. */
static ssize_t read_some(int *fd, char *room, size_t size)
{
	ssize_t n = *fd < 0 ? 0 : read(*fd, room, size);

	if (*fd < 0 || (n < 0 && (errno == EAGAIN || errno == EINTR)))
		return 0;
	if (n > 0)
		return n;
	mp_guard_close(fd);
	return -1;
}

static ssize_t read_out(struct job *j)
{
	ssize_t n = read_some(&j->out, j->text.data + j->text.len, j->text.cap - j->text.len);

	if (n > 0)
		j->text.len += (size_t)n;
	return n;
}

/* Room for what comes next is made at the front: the last line is what counts. */
static ssize_t read_err(struct job *j)
{
	ssize_t n;

	if (j->tail_len > STDERR_KEPT / 2) {
		size_t gone = j->tail_len - STDERR_KEPT / 2;

		memmove(j->tail, j->tail + gone, j->tail_len - gone);
		j->tail_len -= gone;
	}
	n = read_some(&j->err, j->tail + j->tail_len, STDERR_KEPT - j->tail_len);
	if (n > 0)
		j->tail_len += (size_t)n;
	return n;
}

static bool is_too_much(const struct job *j)
{
	return j->text.len > MP_CAPTURE_MAX;
}

/* 0 when the command has ended; MCPOOL_ETIMEDOUT, MCPOOL_ELIMIT while it has not. */
static int capture_follow(struct job *j, int64_t timeout_ms)
{
	int64_t deadline = mp_guard_now_ms() + timeout_ms;

	for (;;) {
		struct pollfd p[] = {
			{j->handle, POLLIN, 0}, {j->out, POLLIN, 0}, {j->err, POLLIN, 0}};
		int64_t left = deadline - mp_guard_now_ms();

		if (left <= 0)
			return MCPOOL_ETIMEDOUT;
		if (poll(p, MP_ARRAY_LEN(p), left > INT32_MAX ? INT32_MAX : (int)left) <= 0)
			continue;
		if (p[1].revents)
			read_out(j);
		if (p[2].revents)
			read_err(j);
		if (is_too_much(j))
			return MCPOOL_ELIMIT;
		if (p[0].revents)
			return 0;
	}
}

/* What the command had written when it ended is still in the pipes. */
static void read_rest(struct job *j)
{
	while (!is_too_much(j) && read_out(j) > 0)
		;
	for (int i = 0; i < LAST_READS && read_err(j) > 0; i++)
		;
}

/* --- ending --------------------------------------------------------------------------------- */

/* Orphans of the group are ours to reap where this process is a subreaper, as the hub is. */
static void capture_reap(struct job *j)
{
	struct timespec moment = {0, 1000000};
	int64_t until = mp_guard_now_ms() + LINGER_MS;
	pid_t pid;

	while (waitpid(j->pid, &j->status, 0) < 0 && errno == EINTR)
		;
	while ((pid = waitpid(-j->pid, NULL, WNOHANG)) >= 0 && mp_guard_now_ms() < until)
		if (pid == 0)
			nanosleep(&moment, NULL);
}

/* While the command lives it leads to those who left its group. It may not have one yet. */
static void end(struct job *j, bool lives)
{
	if (lives && mp_tree_signal(j->pid, SIGKILL, NULL, NULL) < 0)
		mp_log_verbose(&config_log,
			       "a command's processes cannot be listed; its group is killed");
	kill(j->pid, SIGKILL);
	kill(-j->pid, SIGKILL);
	capture_reap(j);
}

static void capture_tidy(struct job *j)
{
	mp_guard_close(&j->handle);
	mp_guard_close(&j->out);
	mp_guard_close(&j->err);
	if (j->text.data)
		mp_wipe(j->text.data, j->text.cap);
	mp_buf_done(&j->text);
}

/* --- judging -------------------------------------------------------------------------------- */

static struct mp_str get_last_line(const struct job *j)
{
	struct mp_str s = mp_str_trim((struct mp_str){j->tail, j->tail_len});
	size_t at = s.len;

	while (at > 0 && s.p[at - 1] != '\n')
		at--;
	return mp_str_trim((struct mp_str){s.p + at, s.len - at});
}

/* Words that may be credentials are dots: what a command for secrets complains of may be one. */
static int add_words(struct mp_str line, struct mp_buf *out)
{
	static const char ends[] = " \t'\"`=:,;()[]{}<>";
	int r = 0;

	for (size_t at = 0; at < line.len && r == 0;) {
		size_t end = at;

		while (end < line.len && !strchr(ends, line.p[end]))
			end++;
		if (mp_redact_looks_random((struct mp_str){line.p + at, end - at}))
			r = mp_buf_add_str(out, MP_STR("\xe2\x80\xa2\xe2\x80\xa2\xe2\x80\xa2"));
		else
			r = mp_buf_add(out, line.p + at, end - at);
		for (; end < line.len && strchr(ends, line.p[end]) && r == 0; end++)
			r = mp_buf_add_char(out, line.p[end]);
		at = end;
	}
	return r;
}

/* What it printed is as good as a secret also where it failed, and it may have printed it twice. */
static int add_last_line(const struct job *j, struct mp_buf *out)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf known;
	struct mp_str line = get_last_line(j), printed = mp_str_trim(mp_buf_get(&j->text));
	bool cut = line.len > LINE_SHOWN;
	int r = mp_secret_add(printed);

	mp_buf_init(&known, (size_t)8 * LINE_SHOWN);
	if (r < 0)
		return r;
	if (cut)
		line.len = LINE_SHOWN;
	r = mp_redact(line, cut, &known);
	mp_secret_remove(printed);
	return r < 0 ? r : add_words(mp_buf_get(&known), out);
}

static int MP_PRINTF(4, 5) capture_refuse(const struct job *j, struct mcpool_error *reterr,
					  int code, const char *format, ...)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf line;
	char words[160];
	va_list args;

	va_start(args, format);
	mp_str_format(words, sizeof(words), format, args);
	va_end(args);
	mp_buf_init(&line, (size_t)8 * LINE_SHOWN);
	if (add_last_line(j, &line) < 0 || line.len == 0)
		return mp_fail(reterr, code, "%s", words);
	return mp_fail(reterr, code, "%s: %.*s", words, MP_STR_ARGS(mp_buf_get(&line)));
}

/* How it ended, and whether what it printed is a value. */
static int capture_judge(const struct job *j, struct mcpool_error *reterr)
{
	struct mp_str text = mp_buf_get(&j->text);

	if (is_too_much(j))
		return capture_refuse(j, reterr, MCPOOL_ELIMIT,
				      "the command printed more than %zu KiB",
				      MP_CAPTURE_MAX / 1024);
	if (WIFSIGNALED(j->status))
		return capture_refuse(j, reterr, MCPOOL_EIO, "the command was ended by signal %d",
				      WTERMSIG(j->status));
	if (!WIFEXITED(j->status) || WEXITSTATUS(j->status) != 0)
		return capture_refuse(j, reterr, MCPOOL_EIO, "the command ended with exit code %d",
				      WEXITSTATUS(j->status));
	if (mp_str_trim(text).len == 0)
		return capture_refuse(j, reterr, MCPOOL_EIO, "the command printed nothing");
	if (memchr(text.p, '\0', text.len))
		return capture_refuse(j, reterr, MCPOOL_EIO, "the command printed a NUL byte");
	return 0;
}

static int capture_finish(struct job *j, int64_t timeout_ms, struct mcpool_error *reterr)
{
	int r = capture_follow(j, timeout_ms);

	end(j, r < 0);
	if (r == MCPOOL_ETIMEDOUT)
		return capture_refuse(j, reterr, r, "the command was not done after %lld ms",
				      (long long)timeout_ms);
	if (r == 0)
		read_rest(j);
	return capture_judge(j, reterr);
}

int mp_capture_run(char *const *argv, const char *folder, char *const *env, int64_t timeout_ms,
		   struct mp_buf *out, struct mcpool_error *reterr)
{
	MP_CLEANUP(capture_tidy) struct job j = {.pid = -1, .handle = -1, .out = -1, .err = -1};
	int r;

	mp_buf_init(&j.text, MP_CAPTURE_MAX + 1);
	r = mp_buf_reserve(&j.text, MP_CAPTURE_MAX + 1); /* at once: growing would leave copies */
	if (r < 0)
		return mp_fail(reterr, r, "no memory for what a command prints");
	r = capture_start(&j, argv, folder, env, reterr);
	if (r == 0)
		r = capture_finish(&j, timeout_ms, reterr);
	else if (j.pid > 0)
		end(&j, true);
	if (r < 0)
		return r;
	r = mp_buf_add_str(out, mp_str_trim(mp_buf_get(&j.text)));
	return r < 0 ? mp_fail(reterr, r, "no room for what a command printed") : 0;
}

/* --- words ----------------------------------------------------------------------------------- */

/* One word, moved to `to`; returns what is behind it, NULL where a quote is not closed. */
static const char *take_word(const char *p, char **to)
{
	char quote = '\0';

	for (; *p && (quote || !strchr(" \t\n", *p)); p++) {
		if (quote ? *p == quote : *p == '\'' || *p == '"')
			quote = quote ? '\0' : *p;
		else if (*p == '\\' && quote != '\'' && p[1])
			*(*to)++ = *++p;
		else
			*(*to)++ = *p;
	}
	return quote ? NULL : p;
}

int mp_capture_split(char *words, char **ret_argv, size_t max)
{
	const char *p = words + strspn(words, " \t\n");
	char *to = words;
	size_t n = 0;

	while (*p) {
		if (n + 1 >= max)
			return MCPOOL_EINVAL;
		ret_argv[n++] = to;
		p = take_word(p, &to);
		if (!p)
			return MCPOOL_EINVAL;
		p += strspn(p, " \t\n"); /* before the NUL is written: it may be there */
		*to++ = '\0';
	}
	ret_argv[n] = NULL;
	return n > 0 ? (int)n : MCPOOL_EINVAL;
}
