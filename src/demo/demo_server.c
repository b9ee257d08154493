/*
 * demo_server.c - `mcpool demo-server`: a small MCP server on stdin and stdout, for a first run.
 * It answers each request at once, in the era that the request asks for. The server that the tests
 * use, which can misbehave, is in tests/demo/.
 */
#include "demo/demo_server.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/limits.h"
#include "rpc/message.h"
#include "transport/lines.h"

#define MODERN "2026-07-28"
#define SERVER_INFO                                                                                \
	"{\"name\":\"mcpool-demo\",\"title\":\"mcpool demo server\",\"version\":\"" MCPOOL_VERSION \
	"\"}"
#define CAPABILITIES "{\"tools\":{},\"resources\":{},\"prompts\":{}}"
#define INSTRUCTIONS "A server for trying mcpool out: `echo` returns its message, `add` adds."

enum { EXIT_DONE = 0, EXIT_USAGE = 2 };
enum {
	INVALID_REQUEST = -32600,
	NO_METHOD = -32601,
	INVALID_PARAMS = -32602,
	NO_RESOURCE = -32002, /* legacy only */
	UNSUPPORTED_VERSION = -32022,
	LIST_TTL_MS = 3600000, /* modern: the lists never change */
};

/* The request at hand and its answer. */
struct demo {
	struct mp_tape tape;
	struct mp_arena arena;
	struct mp_message m;
	bool is_modern;
	struct mp_buf body, out; /* result or error data; the message around it */
	struct mp_writer w;      /* into body */
};

/* --- answers --------------------------------------------------------------------------------- */

static struct mp_writer *result_begin(struct demo *d)
{
	mp_buf_clear(&d->body);
	mp_write_init(&d->w, &d->body, NULL);
	mp_write_begin_object(&d->w);
	if (d->is_modern)
		mp_write_member_text(&d->w, "resultType", MP_STR("complete"));
	return &d->w;
}

static int result_end(struct demo *d)
{
	int r;

	if (d->is_modern) {
		mp_write_key(&d->w, MP_STR("_meta"));
		mp_write_begin_object(&d->w);
		mp_write_member_raw(&d->w, "io.modelcontextprotocol/serverInfo",
				    MP_STR(SERVER_INFO));
		mp_write_end_object(&d->w);
	}
	mp_write_end_object(&d->w);
	r = mp_write_finish(&d->w);
	return r < 0 ? r : mp_message_result(&d->out, d->m.id, mp_buf_get(&d->body));
}

static int result_end_cached(struct demo *d)
{
	if (d->is_modern) {
		mp_write_member_i64(&d->w, "ttlMs", LIST_TTL_MS);
		mp_write_member_text(&d->w, "cacheScope", MP_STR("public"));
	}
	return result_end(d);
}

static int answer_raw(struct demo *d, const char *key, const char *json)
{
	mp_write_member_raw(result_begin(d), key, mp_str_of(json));
	return result_end_cached(d);
}

MP_PRINTF(3, 4) static int answer_error(struct demo *d, int code, const char *format, ...)
{
	char words[256];
	va_list args;

	va_start(args, format);
	vsnprintf(words, sizeof(words), format, args);
	va_end(args);
	return mp_message_error(&d->out, d->m.id, code, mp_str_of(words), MP_STR(""));
}

/* --- both eras ------------------------------------------------------------------------------- */

static int server_discover(struct demo *d)
{
	struct mp_writer *w = result_begin(d);

	mp_write_member_raw(w, "supportedVersions", MP_STR("[\"" MODERN "\"]"));
	mp_write_member_raw(w, "capabilities", MP_STR(CAPABILITIES));
	mp_write_member_text(w, "instructions", MP_STR(INSTRUCTIONS));
	return result_end_cached(d);
}

/* The client's version if this server has it, else the latest. */
static int server_initialize(struct demo *d)
{
	static const char *const versions[] = {"2025-11-25", "2025-06-18", "2025-03-26",
					       "2024-11-05"};
	mp_value wanted = mp_value_get(&d->tape, d->m.params, "protocolVersion");
	struct mp_writer *w;
	size_t i = 0;

	if (!mp_value_is(&d->tape, wanted, MP_TAPE_STRING))
		return answer_error(d, INVALID_PARAMS, "initialize needs a protocolVersion");
	while (i < MP_ARRAY_LEN(versions) &&
	       !mp_value_text_is(&d->tape, wanted, mp_str_of(versions[i])))
		i++;
	w = result_begin(d);
	mp_write_member_text(w, "protocolVersion", mp_str_of(versions[i % MP_ARRAY_LEN(versions)]));
	mp_write_member_raw(w, "capabilities", MP_STR(CAPABILITIES));
	mp_write_member_raw(w, "serverInfo", MP_STR(SERVER_INFO));
	mp_write_member_text(w, "instructions", MP_STR(INSTRUCTIONS));
	return result_end(d);
}

static int server_ping(struct demo *d)
{
	result_begin(d);
	return result_end(d);
}

/* --- tools ----------------------------------------------------------------------------------- */

#define READ_ONLY "\"annotations\":{\"readOnlyHint\":true,\"openWorldHint\":false}"

static const char tools[] =
	"[{\"name\":\"echo\",\"title\":\"Echo\",\"description\":\"Returns the message.\","
	"\"inputSchema\":{\"type\":\"object\",\"properties\":{\"message\":{\"type\":\"string\","
	"\"description\":\"what to return\"}},\"required\":[\"message\"]}," READ_ONLY "},"
	"{\"name\":\"add\",\"title\":\"Add\",\"description\":\"Adds two numbers.\","
	"\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"number\"},"
	"\"b\":{\"type\":\"number\"}},\"required\":[\"a\",\"b\"]},"
	"\"outputSchema\":{\"type\":\"object\",\"properties\":{\"sum\":{\"type\":\"number\"}},"
	"\"required\":[\"sum\"]}," READ_ONLY "},"
	"{\"name\":\"time\",\"title\":\"Time\",\"description\":\"Returns the time in UTC.\","
	"\"inputSchema\":{\"type\":\"object\",\"properties\":{}}," READ_ONLY "}]";

static void content_write(struct mp_writer *w, struct mp_str text)
{
	mp_write_key(w, MP_STR("content"));
	mp_write_begin_array(w);
	mp_write_begin_object(w);
	mp_write_member_text(w, "type", MP_STR("text"));
	mp_write_member_text(w, "text", text);
	mp_write_end_object(w);
	mp_write_end_array(w);
}

static int tool_error(struct demo *d, const char *words)
{
	struct mp_writer *w = result_begin(d);

	content_write(w, mp_str_of(words));
	mp_write_member_bool(w, "isError", true);
	return result_end(d);
}

static int tool_text(struct demo *d, struct mp_str text)
{
	content_write(result_begin(d), text);
	return result_end(d);
}

static int tool_echo(struct demo *d, mp_value arguments)
{
	mp_value message = mp_value_get(&d->tape, arguments, "message");
	struct mp_str text;

	if (mp_value_text(&d->tape, message, &d->arena, &text) < 0)
		return tool_error(d, "echo: message must be a string");
	return tool_text(d, text);
}

static int tool_add(struct demo *d, mp_value arguments)
{
	struct mp_writer *w;
	double a, b;
	char sum[40];

	if (mp_value_f64(&d->tape, mp_value_get(&d->tape, arguments, "a"), &a) < 0 ||
	    mp_value_f64(&d->tape, mp_value_get(&d->tape, arguments, "b"), &b) < 0)
		return tool_error(d, "add: a and b must be numbers");
	if (!isfinite(a + b))
		return tool_error(d, "add: the sum is too large");
	snprintf(sum, sizeof(sum), "%.15g", a + b);
	w = result_begin(d);
	content_write(w, mp_str_of(sum));
	mp_write_key(w, MP_STR("structuredContent"));
	mp_write_begin_object(w);
	mp_write_member_raw(w, "sum", mp_str_of(sum));
	mp_write_end_object(w);
	return result_end(d);
}

static int tool_time(struct demo *d, mp_value arguments)
{
	time_t now = time(NULL);
	char text[40] = "";
	struct tm tm;

	(void)arguments;
	if (gmtime_r(&now, &tm))
		(void)strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	return tool_text(d, mp_str_of(text));
}

static int tools_list(struct demo *d)
{
	return answer_raw(d, "tools", tools);
}

static int tools_call(struct demo *d)
{
	static const struct {
		const char *name;
		int (*run)(struct demo *d, mp_value arguments);
	} rows[] = {{"echo", tool_echo}, {"add", tool_add}, {"time", tool_time}};
	mp_value arguments = mp_value_get(&d->tape, d->m.params, "arguments");

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++)
		if (mp_value_text_is(&d->tape, d->m.subject, mp_str_of(rows[i].name)))
			return rows[i].run(d, arguments);
	return answer_error(d, INVALID_PARAMS, "there is no tool %.*s",
			    MP_STR_ARGS(mp_value_source(&d->tape, d->m.subject)));
}

/* --- a resource and a prompt ----------------------------------------------------------------- */

#define README "demo://readme"

static int resources_list(struct demo *d)
{
	return answer_raw(d, "resources",
			  "[{\"uri\":\"" README "\",\"name\":\"readme\",\"title\":\"Read me\","
			  "\"description\":\"What this server is for.\","
			  "\"mimeType\":\"text/plain\"}]");
}

static int templates_list(struct demo *d)
{
	return answer_raw(d, "resourceTemplates", "[]");
}

static int resources_read(struct demo *d)
{
	if (!mp_value_text_is(&d->tape, d->m.subject, MP_STR(README)))
		return answer_error(d, d->is_modern ? INVALID_PARAMS : NO_RESOURCE,
				    "there is no resource %.*s",
				    MP_STR_ARGS(mp_value_source(&d->tape, d->m.subject)));
	return answer_raw(d, "contents",
			  "[{\"uri\":\"" README "\",\"mimeType\":\"text/plain\","
			  "\"text\":\"mcpool starts this server when no other is configured. "
			  "`mcpool add NAME -- COMMAND` adds a server of yours.\"}]");
}

static int prompts_list(struct demo *d)
{
	return answer_raw(d, "prompts",
			  "[{\"name\":\"greet\",\"title\":\"Greet\",\"description\":\"Asks for a "
			  "greeting.\",\"arguments\":[{\"name\":\"name\",\"required\":true}]}]");
}

static int prompts_get(struct demo *d)
{
	mp_value arguments = mp_value_get(&d->tape, d->m.params, "arguments");
	struct mp_str name;
	char text[256];
	struct mp_writer *w;

	if (!mp_value_text_is(&d->tape, d->m.subject, MP_STR("greet")))
		return answer_error(d, INVALID_PARAMS, "there is no prompt %.*s",
				    MP_STR_ARGS(mp_value_source(&d->tape, d->m.subject)));
	if (mp_value_text(&d->tape, mp_value_get(&d->tape, arguments, "name"), &d->arena, &name) <
		    0 ||
	    name.len > 128)
		return answer_error(d, INVALID_PARAMS, "greet needs a name, a string");
	snprintf(text, sizeof(text), "Write a greeting for %.*s.", MP_STR_ARGS(name));
	w = result_begin(d);
	mp_write_key(w, MP_STR("messages"));
	mp_write_begin_array(w);
	mp_write_begin_object(w);
	mp_write_member_text(w, "role", MP_STR("user"));
	mp_write_key(w, MP_STR("content"));
	mp_write_begin_object(w);
	mp_write_member_text(w, "type", MP_STR("text"));
	mp_write_member_text(w, "text", mp_str_of(text));
	mp_write_end_object(w);
	mp_write_end_object(w);
	mp_write_end_array(w);
	return result_end(d);
}

/* --- requests -------------------------------------------------------------------------------- */

static int (*const methods[MP_METHODS])(struct demo *d) = {
	[MP_METHOD_INITIALIZE] = server_initialize,
	[MP_METHOD_DISCOVER] = server_discover,
	[MP_METHOD_PING] = server_ping,
	[MP_METHOD_TOOLS_LIST] = tools_list,
	[MP_METHOD_TOOLS_CALL] = tools_call,
	[MP_METHOD_RESOURCES_LIST] = resources_list,
	[MP_METHOD_TEMPLATES_LIST] = templates_list,
	[MP_METHOD_RESOURCES_READ] = resources_read,
	[MP_METHOD_PROMPTS_LIST] = prompts_list,
	[MP_METHOD_PROMPTS_GET] = prompts_get,
};

static int answer_unsupported_version(struct demo *d)
{
	return mp_message_error(&d->out, d->m.id, UNSUPPORTED_VERSION,
				MP_STR("this protocol version is not supported"),
				MP_STR("{\"supported\":[\"" MODERN "\"]}"));
}

/* Modern metadata makes a request modern; a method of one era only belongs to that era. */
static int request_answer(struct demo *d)
{
	const struct mp_method *method = mp_method_get(d->m.method);

	d->is_modern = d->m.version != MP_NONE || method->eras == MP_ERA_MODERN;
	if (d->is_modern && !mp_value_text_is(&d->tape, d->m.version, MP_STR(MODERN)))
		return answer_unsupported_version(d);
	if (!methods[d->m.method] ||
	    !(method->eras & (d->is_modern ? MP_ERA_MODERN : MP_ERA_LEGACY)))
		return answer_error(d, NO_METHOD, "there is no method %.*s",
				    MP_STR_ARGS(mp_value_source(&d->tape, d->m.method_name)));
	return methods[d->m.method](d);
}

static int line_answer(struct demo *d, const struct mp_line *line)
{
	struct mcpool_error e;

	if (line->oversize)
		return mp_message_error(&d->out, MP_STR(""), INVALID_REQUEST,
					MP_STR("the message is too large"), MP_STR(""));
	if (mp_message_scan(&d->tape, line->text, &d->m, &e) < 0)
		return answer_error(d, e.rpc_code, "%s", e.message);
	if (d->m.kind == MP_MESSAGE_BATCH)
		return answer_error(d, INVALID_REQUEST, "batches are not supported");
	return d->m.kind == MP_MESSAGE_REQUEST ? request_answer(d) : 0;
}

/* --- stdin and stdout ------------------------------------------------------------------------ */

static bool out_write(struct mp_str s)
{
	while (s.len) {
		ssize_t n = write(STDOUT_FILENO, s.p, s.len);

		if (n < 0 && errno != EINTR)
			return false;
		s.p += n > 0 ? n : 0;
		s.len -= n > 0 ? (size_t)n : 0;
	}
	return true;
}

static bool line_serve(struct demo *d, const struct mp_line *line)
{
	bool ok;

	mp_buf_clear(&d->out);
	ok = line_answer(d, line) == 0 && (!d->out.len || mp_buf_add_char(&d->out, '\n') == 0) &&
	     out_write(mp_buf_get(&d->out));
	mp_arena_reset(&d->arena);
	return ok;
}

/* False: stdin has ended, or stdout does. */
static bool input_serve(struct demo *d, struct mp_lines *lines)
{
	struct mp_line line;
	char *room;
	size_t size;
	ssize_t n;

	if (mp_lines_reserve(lines, &room, &size) < 0)
		return false;
	n = read(STDIN_FILENO, room, size);
	if (n <= 0)
		return n < 0 && errno == EINTR;
	mp_lines_commit(lines, (size_t)n);
	while (mp_lines_next(lines, false, &line))
		if (!line_serve(d, &line))
			return false;
	return true;
}

static int demo_help(void)
{
	puts("usage: mcpool demo-server\n\n"
	     "An MCP server on stdin and stdout, for a first run. It has three tools (echo, add,\n"
	     "time), a resource and a prompt, and speaks all revisions from 2024-11-05 to " MODERN
	     ".\nIt ends when its stdin does.");
	return EXIT_DONE;
}

int mp_demo_main(int argc, char **argv)
{
	struct demo d = {0};
	struct mp_lines lines;

	if (argc == 2 && strcmp(argv[1], "--help") == 0)
		return demo_help();
	if (argc > 1) {
		fprintf(stderr,
			"demo-server: unexpected argument '%s'; see `mcpool demo-server --help`\n",
			argv[1]);
		return EXIT_USAGE;
	}
	(void)signal(SIGPIPE, SIG_IGN); /* a failed write ends it */
	mp_lines_init(&lines, MP_LIMIT_MESSAGE);
	mp_tape_init(&d.tape, 0);
	mp_arena_init(&d.arena, MP_LIMIT_ARENA);
	mp_buf_init(&d.body, 2 * (size_t)MP_LIMIT_MESSAGE);
	mp_buf_init(&d.out, 2 * (size_t)MP_LIMIT_MESSAGE + MP_KIB(4));
	while (input_serve(&d, &lines))
		;
	mp_lines_done(&lines);
	mp_buf_done(&d.body);
	mp_buf_done(&d.out);
	mp_arena_done(&d.arena);
	mp_tape_done(&d.tape);
	return EXIT_DONE;
}
