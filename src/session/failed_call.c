/*
 * failed_call.c - describes a failed call: stage, class, next step; as JSON and as text.
 */
#include "session/failed_call.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/redact.h"
#include "pool/cause.h"

enum {
	MOST_WORDS = 1000, /* maximum bytes of the message */
	MOST_DATA = 2000,
	MOST_LINES = 10, /* maximum lines of stderr */
	MOST_STEP = 480,
};

const char *mp_failed_stage_get_name(enum mp_failed_stage s)
{
	static const char *const names[] = {
#define X(name, word, meaning) word,
		MP_FAILED_STAGES(X)
#undef X
	};

	return names[s];
}

struct mp_failed_call mp_failed_call_of(const struct mp_pool_answer *a, struct mp_str tool)
{
	return (struct mp_failed_call){
		.server = a->server,
		.is_configured = true,
		.tool = tool,
		.transport = a->transport,
		.why = a->error,
		.outcome = a->outcome,
		.was_up = a->was_up,
		.was_out = a->was_out,
		.attempt = a->attempt,
		.retryable = a->retryable,
		.next_at_ms = a->next_at_ms,
		.took_us = a->took_us,
		.tail = a->tail,
		.environment = a->environment,
	};
}

/* --- stage and class ------------------------------------------------------------------------- */

static enum mp_failed_stage stage_of_answer(const struct mp_failed_call *f)
{
	switch (mp_error_get_fault(f->why)) {
	case MCPOOL_FAULT_MALFORMED:
		return MP_FAILED_DECODE;
	case MCPOOL_FAULT_JSON_RPC:
		return MP_FAILED_PROTOCOL;
	case MCPOOL_FAULT_UNKNOWN:
	case MCPOOL_FAULT_CONNECT:
	case MCPOOL_FAULT_TIMEOUT:
	case MCPOOL_FAULT_END:
	case MCPOOL_FAULT_RESET:
	case MCPOOL_FAULT_HTTP_STATUS:
	case MCPOOL_FAULT_CLOSED:
	case MCPOOL_FAULT_LIMIT:
		break;
	}
	return MP_FAILED_RECEIVE;
}

static enum mp_failed_stage stage_of_way(const struct mp_failed_call *f)
{
	if (f->was_out && f->outcome != MP_OUTCOME_NOT_SENT) /* else it was not accepted */
		return MP_FAILED_RECEIVE;
	return f->was_up && f->why->code != MCPOOL_EUNAVAILABLE ? MP_FAILED_SEND
								: MP_FAILED_CONNECT;
}

enum mp_failed_stage mp_failed_call_get_stage(const struct mp_failed_call *f)
{
	switch (f->outcome) {
	case MP_OUTCOME_ANSWERED:
		return MP_FAILED_PROTOCOL;
	case MP_OUTCOME_UNKNOWN:
		return stage_of_answer(f);
	case MP_OUTCOME_REFUSED:
		return f->was_out ? stage_of_answer(f) : stage_of_way(f);
	case MP_OUTCOME_NOT_SENT:
	case MP_OUTCOME_TIMEOUT:
	case MP_OUTCOME_CANCELLED:
		break;
	}
	return stage_of_way(f);
}

/* A failure to reach a server without a class of its own counts as a failed connection. */
enum mcpool_fault mp_failed_call_get_class(const struct mp_failed_call *f)
{
	enum mcpool_fault fault = mp_error_get_fault(f->why);
	bool is_ours = f->why->code == MCPOOL_ENOMEM || f->why->code == MCPOOL_ELIMIT;

	if (f->outcome == MP_OUTCOME_ANSWERED)
		return MCPOOL_FAULT_JSON_RPC;
	if (fault == MCPOOL_FAULT_UNKNOWN && !is_ours && f->server &&
	    mp_failed_call_get_stage(f) == MP_FAILED_CONNECT)
		return MCPOOL_FAULT_CONNECT;
	return fault;
}

/* --- next step ------------------------------------------------------------------------------- */

enum { ANY = -1 };

/* The first matching row applies. NAME and TOOL are placeholders. */
static const struct advice {
	int code;               /* 0: any */
	int stage;              /* or ANY */
	int fault;              /* or ANY */
	const char *transport;  /* NULL: any */
	const char *configured; /* advice for a configured server */
	const char *command;    /* advice for a server on the command line; NULL: none */
} advices[] = {
	{MCPOOL_ENEEDS_APPROVAL, ANY, ANY, NULL, "look at it and approve it: mcpool trust NAME",
	 NULL},
	{MCPOOL_EDISABLED, ANY, ANY, NULL, "switch it on: mcpool enable NAME", NULL},
	{MCPOOL_ENEEDS_AUTH, ANY, ANY, NULL,
	 "log in: mcpool login NAME; or put a token into its \"headers\" (where they are: mcpool "
	 "config show NAME), then: mcpool reconnect NAME",
	 "add it with a token in its headers: mcpool add --help"},
	{MCPOOL_EQUEUE_FULL, ANY, ANY, NULL,
	 "call again when fewer calls are under way (mcpool status), or give it more room: "
	 "\"queues\" in the configuration",
	 NULL},
	{MCPOOL_ECANCELED, ANY, ANY, NULL, "", ""},
	{0, MP_FAILED_PROTOCOL, MCPOOL_FAULT_JSON_RPC, NULL,
	 "see what it takes: mcpool tools --schema NAME/TOOL",
	 "see what it takes: mcpool tools "
	 "--schema TOOL -- COMMAND..."},
	{MCPOOL_EOUTCOME_UNKNOWN, ANY, ANY, NULL,
	 "find out whether it happened before you call again; how the server does: mcpool status",
	 "find out whether it happened before you call again"},
	{MCPOOL_ECALL_TIMEOUT, MP_FAILED_RECEIVE, ANY, NULL,
	 "a call that needs longer needs a larger \"toolTimeout\"; whether it answers at all: "
	 "mcpool "
	 "test NAME",
	 "a call that needs longer needs a larger --timeout"},
	{MCPOOL_ECALL_TIMEOUT, MP_FAILED_SEND, ANY, NULL,
	 "see who else waits for it: mcpool status; more calls at once: \"queues\" in the "
	 "configuration",
	 NULL},
	{MCPOOL_ETOO_LARGE, ANY, ANY, NULL, "ask for less at once: a message may have 32 MiB",
	 "ask for less at once: a message may have 32 MiB"},
	{0, ANY, MCPOOL_FAULT_LIMIT, NULL,
	 "the hub may not open more files: raise its limit (ulimit -n, LimitNOFILE of a service), "
	 "then: mcpool down; mcpool up",
	 "raise the limit of open files: ulimit -n"},
	{MCPOOL_ERESTARTING, ANY, ANY, NULL,
	 "call again in a moment; what it does: mcpool status; at once: mcpool reconnect NAME",
	 NULL},
	{MCPOOL_ERESTART_FAILED, ANY, ANY, NULL,
	 "see how far it comes: mcpool test NAME; when it is tried again: mcpool status; at once: "
	 "mcpool reconnect NAME",
	 NULL},
	{MCPOOL_EINVAL, MP_FAILED_CONNECT, ANY, NULL, "correct its entry: mcpool config show NAME",
	 NULL},
	{MCPOOL_ENOMEM, ANY, ANY, NULL, "", ""},
	{0, MP_FAILED_CONNECT, MCPOOL_FAULT_TIMEOUT, NULL,
	 "a server that starts slowly needs a larger \"timeout\"; how far it comes: mcpool test "
	 "NAME",
	 "a server that starts slowly needs a larger --timeout"},
	{0, MP_FAILED_CONNECT, MCPOOL_FAULT_CLOSED, NULL, "call again when mcpool runs: mcpool up",
	 NULL},
	{0, MP_FAILED_CONNECT, MCPOOL_FAULT_CONNECT, "stdio",
	 "see whether its command is right and installed: mcpool config show NAME",
	 "see whether the command is right and installed"},
	{0, MP_FAILED_CONNECT, MCPOOL_FAULT_END, "stdio",
	 "its last words may say why; start it alone: mcpool test NAME",
	 "its last words may say why"},
	{0, MP_FAILED_CONNECT, MCPOOL_FAULT_MALFORMED, NULL,
	 "it says something that is not MCP; see what: mcpool test NAME",
	 "it says something that is not MCP; see whether this is the server's command or url"},
	{0, MP_FAILED_CONNECT, ANY, NULL,
	 "see whether it runs and its \"url\" is right: mcpool config show NAME; once more: mcpool "
	 "test NAME",
	 "see whether it runs and the url is right"},
	{MCPOOL_EAGAIN, ANY, ANY, NULL, "call again later: it has too much to do",
	 "call again later: it has too much to do"},
	{0, MP_FAILED_DECODE, ANY, NULL,
	 "it does not keep to the protocol; whether it does at all: mcpool test NAME",
	 "it violates the protocol: report it to its author"},
	{0, ANY, ANY, NULL, "see how it does: mcpool status; whether it answers: mcpool test NAME",
	 NULL},
};

static bool fits(const struct advice *a, const struct mp_failed_call *f)
{
	bool has_tool = f->tool.len > 0 || !strstr(a->configured, "TOOL");

	return has_tool && (a->code == 0 || a->code == f->why->code) &&
	       (a->stage == ANY || a->stage == (int)mp_failed_call_get_stage(f)) &&
	       (a->fault == ANY || a->fault == (int)mp_failed_call_get_class(f)) &&
	       (!a->transport || (f->transport && strcmp(a->transport, f->transport) == 0));
}

static const char *find_step(const struct mp_failed_call *f)
{
	const struct advice *a = advices;

	if (f->next_step)
		return f->next_step;
	if (!f->server)
		return "";
	while (!fits(a, f))
		a++; /* the last row matches always */
	if (f->is_configured)
		return a->configured;
	return a->command ? a->command : "";
}

/* The value of the placeholder at p, and the text behind it; NULL: not a placeholder. */
static const char *read_name(const char *p, const struct mp_failed_call *f, struct mp_str *ret_text)
{
	if (strncmp(p, "NAME", 4) == 0)
		*ret_text = mp_str_of(f->server);
	else if (strncmp(p, "TOOL", 4) == 0)
		*ret_text = f->tool;
	else
		return NULL;
	return p + 4;
}

/* Words that are known say more than stage and class; those of a login are said better below. */
static bool find_cause(const struct mp_failed_call *f, char *out, size_t size)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	MP_CLEANUP(mp_buf_done) struct mp_buf tail;
	struct mp_symptoms s = {.server = f->server, .is_ours = true};
	struct mp_cause cause;

	mp_arena_init(&arena, MP_KIB(64));
	mp_buf_init(&tail, MP_KIB(64));
	if (f->next_step || !f->is_configured || !f->server || f->why->code == MCPOOL_ENEEDS_AUTH ||
	    mp_failed_call_get_stage(f) != MP_FAILED_CONNECT ||
	    mp_buf_add_str(&tail, f->tail) < 0 || mp_buf_terminate(&tail) < 0)
		return false;
	s.message = f->why->message;
	s.tail = tail.data;
	if (!mp_cause_find(&s, &arena, &cause) || cause.is_general)
		return false;
	(void)snprintf(out, size, "%s: %s", cause.what, cause.fix);
	return true;
}

void mp_failed_call_get_next_step(const struct mp_failed_call *f, char *out, size_t size)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	const char *p = find_step(f);
	int r = 0;

	mp_buf_init(&text, MP_KIB(4));
	if (find_cause(f, out, size))
		return;
	while (*p && r == 0) {
		struct mp_str name;
		const char *behind = f->next_step ? NULL : read_name(p, f, &name);

		r = behind ? mp_buf_add_str(&text, name) : mp_buf_add_char(&text, *p);
		p = behind ? behind : p + 1;
	}
	if (r < 0)
		mp_buf_clear(&text); /* only the advice is lost */
	text.len = text.len < size ? text.len : mp_utf8_cut(text.data, size - 1);
	(void)snprintf(out, size, "%.*s", MP_STR_ARGS(mp_buf_get(&text)));
}

/* A server that does not start often lacks a variable that other programs have. */
static bool is_environment_told(const struct mp_failed_call *f)
{
	return f->environment && f->environment[0] && f->transport &&
	       strcmp(f->transport, "stdio") == 0 &&
	       mp_failed_call_get_stage(f) == MP_FAILED_CONNECT;
}

/* --- as JSON --------------------------------------------------------------------------------- */

static void write_diagnosis(struct mp_writer *w, const struct mp_failed_call *f)
{
	char step[MOST_STEP];

	if (f->tool.len)
		mp_write_member_text(w, "tool", f->tool);
	if (f->transport)
		mp_write_member_text(w, "transport", mp_str_of(f->transport));
	if (f->server)
		mp_write_member_text(
			w, "stage",
			mp_str_of(mp_failed_stage_get_name(mp_failed_call_get_stage(f))));
	if (is_environment_told(f))
		mp_write_member_text(w, "environment", mp_str_of(f->environment));
	mp_write_member_text(w, "class", mp_str_of(mp_fault_get_name(mp_failed_call_get_class(f))));
	mp_failed_call_get_next_step(f, step, sizeof(step));
	if (step[0])
		mp_write_member_text(w, "nextStep", mp_str_of(step));
}

void mp_failed_call_write(struct mp_writer *w, const struct mp_failed_call *f)
{
	if (f->outcome != MP_OUTCOME_ANSWERED)
		mp_write_member_text(w, "code", mp_str_of(mcpool_error_word(f->why->code)));
	if (f->server)
		mp_write_member_text(w, "server", mp_str_of(f->server));
	mp_write_member_text(w, "outcome", mp_str_of(mp_outcome_get_name(f->outcome)));
	if (f->attempt)
		mp_write_member_i64(w, "attempt", f->attempt);
	mp_write_member_bool(w, "retryable", f->retryable);
	if (f->next_at_ms)
		mp_write_member_i64(w, "nextAt", f->next_at_ms);
	write_diagnosis(w, f);
	if (f->tail.len)
		mp_write_member_text(w, "stderr", f->tail);
}

/* --- as text --------------------------------------------------------------------------------- */

/* In one line, with secrets redacted. */
static int add_safe(struct mp_buf *out, struct mp_str text, size_t max)
{
	bool cut = text.len > max;
	int r;

	if (cut)
		text.len = mp_utf8_cut(text.p, max);
	r = mp_redact(text, cut, out);
	return r == 0 && cut ? mp_buf_addf(out, "…") : r;
}

static int add_field(struct mp_buf *out, const char *name, struct mp_str value, size_t max)
{
	int r = 0;

	if (value.len == 0)
		return 0;
	r = mp_buf_addf(out, "  %-10s ", name);
	if (r == 0)
		r = add_safe(out, value, max);
	return r < 0 ? r : mp_buf_add_char(out, '\n');
}

static int add_code(const struct mp_failed_call *f, struct mp_buf *out)
{
	if (f->outcome == MP_OUTCOME_ANSWERED)
		return mp_buf_addf(out, "  %-10s %d\n", "code:", f->why->rpc_code);
	return mp_buf_addf(out, "  %-10s %d %s\n", "code:", f->why->rpc_code,
			   mcpool_error_word(f->why->code));
}

static int add_next_try(const struct mp_failed_call *f, int64_t now_ms, struct mp_buf *out)
{
	int64_t left_ms = f->next_at_ms - now_ms;

	if (f->next_at_ms == 0)
		return 0;
	return mp_buf_addf(out, "  %-10s in %.1f s\n",
			   "next try:", left_ms > 0 ? (double)left_ms / 1000 : 0.0);
}

static int add_fields(const struct mp_failed_call *f, int64_t now_ms, struct mp_buf *out)
{
	const char *stage = mp_failed_stage_get_name(mp_failed_call_get_stage(f));
	const char *class = mp_fault_get_name(mp_failed_call_get_class(f));
	char step[MOST_STEP];
	struct {
		const char *name;
		struct mp_str value;
		size_t max;
	} fields[] = {
		{"server:", mp_str_of(f->server ? f->server : ""), MOST_WORDS},
		{"tool:", f->tool, MOST_WORDS},
		{"transport:", mp_str_of(f->transport ? f->transport : ""), MOST_WORDS},
		{"stage:", mp_str_of(f->server ? stage : ""), MOST_WORDS},
		{"class:", mp_str_of(class), MOST_WORDS},
		{"env from:", mp_str_of(is_environment_told(f) ? f->environment : ""), MOST_WORDS},
		{"retryable:", mp_str_of(f->retryable ? "yes" : "no"), MOST_WORDS},
	};
	int r = 0;

	mp_failed_call_get_next_step(f, step, sizeof(step));
	for (size_t i = 0; i < MP_ARRAY_LEN(fields) && r == 0; i++)
		r = add_field(out, fields[i].name, fields[i].value, fields[i].max);
	if (r == 0)
		r = add_next_try(f, now_ms, out);
	if (r == 0)
		r = add_code(f, out);
	if (r == 0)
		r = add_field(out, "data:", f->data, MOST_DATA);
	return r < 0 ? r : add_field(out, "next step:", mp_str_of(step), MOST_WORDS);
}

struct mp_str mp_failed_call_get_last_lines(struct mp_str tail)
{
	size_t at = tail.len, lines = 0;

	while (at > 0 && lines < MOST_LINES)
		if (tail.p[--at] == '\n' && at + 1 < tail.len)
			lines++;
	if (lines == MOST_LINES)
		at++; /* after the end of the previous line */
	return (struct mp_str){tail.p + at, tail.len - at};
}

static int add_tail(struct mp_str tail, struct mp_buf *out)
{
	struct mp_str rest = mp_failed_call_get_last_lines(tail);
	int r = rest.len ? mp_buf_addf(out, "its last words on stderr:\n") : 0;

	while (rest.len && r == 0) {
		ptrdiff_t at = mp_str_find(rest, MP_STR("\n"), 0);
		size_t n = at < 0 ? rest.len : (size_t)at;

		r = mp_buf_addf(out, "  | ");
		if (r == 0)
			r = add_safe(out, (struct mp_str){rest.p, n}, MP_LIMIT_STDERR_LINE);
		if (r == 0)
			r = mp_buf_add_char(out, '\n');
		n += at >= 0;
		rest = (struct mp_str){rest.p + n, rest.len - n};
	}
	return r;
}

int mp_failed_call_project(const struct mp_failed_call *f, int64_t now_ms, struct mp_buf *out)
{
	int r = add_safe(out, mp_str_of(f->why->message), MOST_WORDS);

	if (r == 0)
		r = mp_buf_add_char(out, '\n');
	if (r == 0)
		r = add_fields(f, now_ms, out);
	return r < 0 ? r : add_tail(f->tail, out);
}
