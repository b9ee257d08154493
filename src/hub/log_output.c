/*
 * log_output.c - the log of a hub as JSON, or as entries of the systemd journal.
 * The log calls its sink for one line at a time, so nothing here is locked. Lines are redacted
 * already, and have no control characters.
 */
#include "hub/log_output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "json/write.h"

static int journal = -1; /* connected; -1: none */

/* --- what a line is about -------------------------------------------------------------------- */

static bool is_number(struct mp_str text)
{
	for (size_t i = 0; i < text.len; i++)
		if (text.p[i] < '0' || text.p[i] > '9')
			return false;
	return text.len > 0;
}

/* "session 12" */
static struct mp_str get_session(const char *object)
{
	struct mp_str word = MP_STR("session "), text = mp_str_of(object);

	if (!mp_str_starts(text, word))
		return MP_STR("");
	text = (struct mp_str){text.p + word.len, text.len - word.len};
	return is_number(text) ? text : MP_STR("");
}

/* "files#3", or with log.names "mcp:files"; "mcp:init" and "mcp:reload" are the gate's. */
static struct mp_str get_server(const char *object)
{
	const char *hash = strrchr(object, '#');

	if (hash && is_number(mp_str_of(hash + 1)))
		return (struct mp_str){object, (size_t)(hash - object)};
	if (strncmp(object, "mcp:", 4) != 0 || strcmp(object, "mcp:init") == 0 ||
	    strcmp(object, "mcp:reload") == 0)
		return MP_STR("");
	return mp_str_of(object + 4);
}

/* --- JSON ------------------------------------------------------------------------------------ */

static void output_write_time(int64_t wall_ms, char out[40])
{
	time_t seconds = (time_t)(wall_ms / 1000);
	char text[24] = "";
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		(void)strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(out, 40, "%s.%03dZ", text, (int)(wall_ms % 1000));
}

int mp_log_output_write_json(const struct mp_log_line *line, struct mp_buf *out)
{
	struct mp_str server = get_server(line->object), session = get_session(line->object);
	struct mp_writer w;
	char when[40];

	output_write_time(line->wall_ms, when);
	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "time", mp_str_of(when));
	mp_write_member_text(&w, "level", mp_str_of(mp_level_get_name(line->level)));
	mp_write_member_text(&w, "object", mp_str_of(line->object));
	mp_write_member_text(&w, "message", mp_str_of(line->text));
	if (server.len)
		mp_write_member_text(&w, "server", server);
	if (session.len)
		mp_write_member_raw(&w, "session", session);
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

/* As log.c writes it, where memory does not suffice for another form. */
static void output_text(const struct mp_log_line *line)
{
	char when[40];

	output_write_time(line->wall_ms, when);
	fprintf(stderr, "%s %s %s%s%s\n", when, mp_level_get_name(line->level), line->object,
		line->object[0] ? ": " : "", line->text);
}

static void output_json(const struct mp_log_line *line, void *u)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;

	(void)u;
	mp_buf_init(&out, (size_t)64 * MP_LIMIT_LOG_LINE); /* a byte of it may need six */
	if (mp_log_output_write_json(line, &out) < 0 || mp_buf_add_char(&out, '\n') < 0)
		output_text(line);
	else
		(void)!fwrite(out.data, 1, out.len, stderr); /* nowhere else to say it */
}

/* --- journal --------------------------------------------------------------------------------- */

/* As syslog(3) has them. */
static int get_priority(enum mp_level level)
{
	switch (level) {
	case MP_LEVEL_ERR:
		return 3;
	case MP_LEVEL_WRN:
		return 4;
	case MP_LEVEL_INF:
		return 6;
	default:
		return 7;
	}
}

/* NAME=VALUE; a value with a line feed would need another form, and none has one. */
static int entry_add(struct mp_buf *out, const char *name, struct mp_str value)
{
	return value.len ? mp_buf_addf(out, "%s=%.*s\n", name, MP_STR_ARGS(value)) : 0;
}

int mp_log_output_write_entry(const struct mp_log_line *line, struct mp_buf *out)
{
	int r = mp_buf_addf(out, "PRIORITY=%d\nSYSLOG_IDENTIFIER=mcpool\nMESSAGE=%s%s%s\n",
			    get_priority(line->level), line->object, line->object[0] ? ": " : "",
			    line->text);

	if (r == 0)
		r = entry_add(out, "MCPOOL_OBJECT", mp_str_of(line->object));
	if (r == 0)
		r = entry_add(out, "MCPOOL_SERVER", get_server(line->object));
	return r < 0 ? r : entry_add(out, "MCPOOL_SESSION", get_session(line->object));
}

/* stderr is the journal, too, so a line that its socket does not take is not lost. */
static void output_entry(const struct mp_log_line *line, void *u)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;

	(void)u;
	mp_buf_init(&out, (size_t)16 * MP_LIMIT_LOG_LINE);
	if (mp_log_output_write_entry(line, &out) < 0 ||
	    send(journal, out.data, out.len, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
		output_text(line);
}

/* JOURNAL_STREAM is inherited, so it says nothing of a stderr that was redirected since. */
static bool is_journal(int fd)
{
	const char *stream = getenv("JOURNAL_STREAM");
	char expected[64];
	struct stat st;

	if (!stream || fstat(fd, &st) < 0)
		return false;
	snprintf(expected, sizeof(expected), "%llu:%llu", (unsigned long long)st.st_dev,
		 (unsigned long long)st.st_ino);
	return strcmp(stream, expected) == 0;
}

static int journal_open(const char *path)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int fd;

	if (strlen(path) >= sizeof(to.sun_path))
		return -1;
	memcpy(to.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* --- life ------------------------------------------------------------------------------------ */

bool mp_log_output_begin(bool is_json, const char *journal_socket)
{
	if (is_json) {
		mp_log_set_sink(output_json, NULL);
		return true;
	}
	if (journal < 0 && is_journal(STDERR_FILENO))
		journal = journal_open(journal_socket);
	if (journal < 0)
		return false;
	mp_log_set_sink(output_entry, NULL);
	return true;
}

void mp_log_output_end(void)
{
	mp_log_set_sink(NULL, NULL);
	if (journal >= 0)
		close(journal);
	journal = -1;
}
