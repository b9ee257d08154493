/*
 * messages.h - writes what agents may say: messages of both eras that are right, wrong, odd or
 * broken. The same seed writes the same messages.
 */
#ifndef TEST_MESSAGES_H
#define TEST_MESSAGES_H

#include "test.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/limits.h"
#include "rpc/message.h"

enum { SPEAKER_IDS = 8, SPEAKER_ID = 80, SPEAKERS = 4, MARK_FACTOR = 1000003, MARK_REST = 7 };

/* One agent, as far as its messages need to know. */
struct speaker {
	int index;
	bool is_modern; /* its requests say so; both kinds come by chance over one stream */
	char ids[SPEAKER_IDS][SPEAKER_ID]; /* of its last requests, as written */
	unsigned n_ids;
	char question[32]; /* the id of the last one of a server; "": none */
	char task[64];     /* the name of its last task */
	char state[400];   /* a requestState, and what it belongs to; "": none */
	char state_params[200];
	unsigned state_key; /* of a question that came with it */
	char last[600];     /* the message before, to be mixed with the next */
};

struct messages {
	uint64_t random;
	uint64_t n; /* messages written */
};

static inline unsigned pick(struct messages *g, unsigned n)
{
	return (unsigned)(test_random(&g->random) % n);
}

static inline const char *choose(struct messages *g, const char *const *of, size_t n)
{
	return of[pick(g, (unsigned)n)];
}
#define CHOOSE(g, list) choose(g, list, MP_ARRAY_LEN(list))

static inline void add(struct mp_buf *out, const char *text)
{
	mp_check(mp_buf_add_str(out, mp_str_of(text)) == 0);
}

/* What a call carries, so that its answer can be recognised: agent and message. */
static inline unsigned long long get_mark(const struct messages *g, const struct speaker *s)
{
	return (g->n * SPEAKERS + (unsigned)s->index) * MARK_FACTOR + MARK_REST;
}

/* Is it a mark of another agent? What was changed on the way is none at all. */
static inline bool is_foreign(unsigned long long mark, const struct speaker *s)
{
	return mark % MARK_FACTOR == MARK_REST &&
	       mark / MARK_FACTOR % SPEAKERS != (unsigned)s->index;
}

/* --- values ---------------------------------------------------------------------------------- */

static const char *const odd_values[] = {"null",
					 "true",
					 "false",
					 "0",
					 "-0",
					 "-1",
					 "1.5",
					 "1e3",
					 "1e400",
					 "-1E-400",
					 "9007199254740993",
					 "18446744073709551616",
					 "123456789012345678901234567890123456789",
					 "\"\"",
					 "\"x\"",
					 "\"\\u0000\"",
					 "\"\\ud800\"",
					 "\"\\ud83d\\ude00\"",
					 "\"\\\"\\\\\"",
					 "\"..\"",
					 "\"\xc3\xa9\"",
					 "\"\xff\"",
					 "\"mcpool://\"",
					 "\"mcp__\"",
					 "\"mcp__serial__\"",
					 "[]",
					 "{}",
					 "[[]]",
					 "{\"\":{}}",
					 "{\"a\":1,\"a\":2}",
					 "[1,\"2\",null,{}]",
					 "{\"type\":\"ref/prompt\"}",
					 "{\"name\":{\"name\":\"t\"}}"};

static inline void add_nested(struct messages *g, struct mp_buf *out)
{
	unsigned depth = 1 + pick(g, 140);

	for (unsigned i = 0; i < depth; i++)
		add(out, i % 2 ? "{\"d\":" : "[");
	add(out, "1");
	for (unsigned i = depth; i > 0; i--)
		add(out, (i - 1) % 2 ? "}" : "]");
}

static inline void add_odd(struct messages *g, struct mp_buf *out)
{
	unsigned what = pick(g, 40);

	if (what == 0)
		add_nested(g, out);
	else if (what == 1)
		mp_check(mp_buf_addf(out, "\"%0*d\"", (int)pick(g, 600), 0) == 0);
	else
		add(out, CHOOSE(g, odd_values));
}

/* --- ids ------------------------------------------------------------------------------------- */

static inline void note_id(struct speaker *s, struct mp_str id)
{
	snprintf(s->ids[s->n_ids++ % SPEAKER_IDS], SPEAKER_ID, "%.*s", MP_STR_ARGS(id));
}

static inline const char *choose_id(struct messages *g, const struct speaker *s)
{
	unsigned n = s->n_ids < SPEAKER_IDS ? s->n_ids : SPEAKER_IDS;

	return n ? s->ids[pick(g, n)] : "1";
}

static inline void add_id(struct messages *g, struct speaker *s, struct mp_buf *out)
{
	size_t from = out->len;

	switch (pick(g, 24)) {
	case 0:
		add_odd(g, out);
		return;
	case 1:
		add(out, choose_id(g, s));
		return;
	case 2:
		mp_check(mp_buf_addf(out, "%u", pick(g, 4)) == 0);
		break;
	case 3:
		mp_check(mp_buf_addf(out, "\"s\\u00%02x-%llu\"", 0x20 + pick(g, 64),
				     (unsigned long long)g->n) == 0);
		break;
	default:
		mp_check(mp_buf_addf(out, "%llu", get_mark(g, s)) == 0);
	}
	note_id(s, (struct mp_str){out->data + from, out->len - from});
}

/* --- params ---------------------------------------------------------------------------------- */

static const struct {
	const char *method;
	const char *params; /* members; %M: the mark, %T: a tool, %K: the last task */
} requests[] = {
	{"tools/call", "\"name\":\"%T\",\"arguments\":{\"who\":%M}"},
	{"tools/call", "\"name\":\"%T\",\"arguments\":{\"who\":%M}"},
	{"tools/call", "\"name\":\"%T\",\"arguments\":{\"who\":%M},\"task\":{\"ttl\":1000}"},
	{"tools/list", ""},
	{"tools/list", "\"cursor\":\"1\""},
	{"prompts/list", ""},
	{"prompts/get", "\"name\":\"mcp__plain__p\",\"arguments\":{\"who\":%M}"},
	{"prompts/get", "\"name\":\"p\",\"arguments\":{}"},
	{"resources/list", ""},
	{"resources/templates/list", ""},
	{"resources/read", "\"uri\":\"f:/1\""},
	{"resources/read", "\"uri\":\"mcpool://shared/f%3A%2F1\""},
	{"resources/read", "\"uri\":\"mcpool://results/0123456789abcdef0123456789abcdef\""},
	{"resources/subscribe", "\"uri\":\"f:/1\""},
	{"resources/unsubscribe", "\"uri\":\"f:/1\""},
	{"completion/complete", "\"ref\":{\"type\":\"ref/prompt\",\"name\":\"mcp__plain__p\"},"
				"\"argument\":{\"name\":\"a\",\"value\":\"\"}"},
	{"completion/complete", "\"ref\":{\"type\":\"ref/resource\",\"uri\":\"f:/1\"},"
				"\"argument\":{\"name\":\"a\",\"value\":\"\"}"},
	{"logging/setLevel", "\"level\":\"debug\""},
	{"ping", ""},
	{"server/discover", ""},
	{"subscriptions/listen", "\"notifications\":{\"toolsListChanged\":true,"
				 "\"resourceSubscriptions\":[\"f:/1\",\"f:/2\",\"f:/1\",7]}"},
	{"tasks/get", "\"taskId\":\"%K\""},
	{"tasks/result", "\"taskId\":\"%K\""},
	{"tasks/update", "\"taskId\":\"%K\",\"inputResponses\":{}"},
	{"tasks/cancel", "\"taskId\":\"%K\""},
	{"tasks/list", ""},
	{"initialize", "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"elicitation\":{},"
		       "\"sampling\":{},\"roots\":{}},\"clientInfo\":{\"name\":\"x\",\"version\":"
		       "\"1\"}"},
	{"elicitation/create", "\"message\":\"m\""},
	{"sampling/createMessage", "\"messages\":[]"},
	{"roots/list", ""},
	{"nonsense", "\"name\":\"x\""},
	{"mcpool/status", ""},
	{"notifications/cancelled", "\"requestId\":1"},
	{"", ""},
};

static const char *const tools[] = {"mcp__serial__t",
				    "mcp__private__t",
				    "mcp__shared__t",
				    "mcp__plain__t",
				    "mcp__tasks__t",
				    "mcp__nobody__t",
				    "t"};
static const char *const members[] = {"name",   "uri",          "arguments",      "ref",
				      "taskId", "level",        "notifications",  "cursor",
				      "task",   "requestState", "inputResponses", "protocolVersion",
				      "_meta",  "params"};

static inline void add_members(struct messages *g, struct speaker *s, const char *pattern,
			       struct mp_buf *out)
{
	for (const char *p = pattern; *p; p++) {
		if (p[0] == '%' && p[1] == 'M')
			mp_check(mp_buf_addf(out, "%llu", get_mark(g, s)) == 0);
		else if (p[0] == '%' && p[1] == 'T')
			add(out, CHOOSE(g, tools));
		else if (p[0] == '%' && p[1] == 'K')
			add(out, s->task[0] ? s->task : "0");
		else
			mp_check(mp_buf_add(out, p, 1) == 0);
		p += p[0] == '%' && strchr("MTK", p[1]);
	}
}

static inline void add_meta(struct messages *g, struct speaker *s, bool is_modern,
			    struct mp_buf *out)
{
	static const char *const capabilities[] = {
		"{}", "{\"elicitation\":{},\"sampling\":{},\"roots\":{}}",
		"{\"elicitation\":{},\"extensions\":{\"io.modelcontextprotocol/tasks\":{}}}"};

	add(out, "\"_meta\":{\"progressToken\":");
	if (pick(g, 12))
		mp_check(mp_buf_addf(out, "\"p%llu\"", get_mark(g, s)) == 0);
	else
		add_odd(g, out);
	if (is_modern) {
		add(out, ",\"io.modelcontextprotocol/protocolVersion\":");
		add(out, pick(g, 20) ? "\"2026-07-28\"" : CHOOSE(g, odd_values));
		add(out, ",\"io.modelcontextprotocol/clientCapabilities\":");
		add(out, pick(g, 20) ? CHOOSE(g, capabilities) : CHOOSE(g, odd_values));
		if (pick(g, 2))
			add(out, ",\"io.modelcontextprotocol/logLevel\":\"debug\"");
	}
	add(out, "}");
}

/* Members that are missing, of another type, or there twice. */
static inline void add_params(struct messages *g, struct speaker *s, const char *pattern,
			      bool is_modern, struct mp_buf *out)
{
	unsigned how = pick(g, 24);
	size_t from;

	if (how == 0 || (how == 1 && is_modern)) {
		add(out, ",\"params\":");
		add_odd(g, out);
		return;
	}
	if (how == 1 || (how < 4 && !is_modern))
		return;
	add(out, ",\"params\":{");
	from = out->len;
	if (how == 5 || how == 6 || how == 7) {
		mp_check(mp_buf_addf(out, "\"%s\":", CHOOSE(g, members)) == 0);
		add_odd(g, out);
	}
	if (how != 4 && how != 5 && pattern[0]) {
		add(out, out->len > from ? "," : "");
		add_members(g, s, pattern, out);
	}
	if (is_modern || pick(g, 2)) {
		add(out, out->len > from ? "," : "");
		add_meta(g, s, is_modern, out);
	}
	add(out, "}");
}

/* --- messages -------------------------------------------------------------------------------- */

/* Calls are most of what agents say; what their era does not have is said less often. */
static inline unsigned choose_request(struct messages *g, const struct speaker *s)
{
	unsigned i = pick(g, 2) ? pick(g, MP_ARRAY_LEN(requests)) : pick(g, 3);
	unsigned eras = mp_method_get(mp_method_find(mp_str_of(requests[i].method)))->eras;

	if (eras & (s->is_modern ? MP_ERA_MODERN : MP_ERA_LEGACY))
		return i;
	return pick(g, MP_ARRAY_LEN(requests));
}

static inline void write_request(struct messages *g, struct speaker *s, struct mp_buf *out)
{
	unsigned i = choose_request(g, s);
	bool is_modern = pick(g, 16) ? s->is_modern : !s->is_modern;

	mp_check(mp_buf_addf(out, "{\"jsonrpc\":%s,\"id\":",
			     pick(g, 60) ? "\"2.0\"" : CHOOSE(g, odd_values)) == 0);
	add_id(g, s, out);
	mp_check(mp_buf_addf(out, ",\"method\":\"%s\"", requests[i].method) == 0);
	add_params(g, s, requests[i].params, is_modern, out);
	add(out, pick(g, 60) ? "}" : ",\"id\":7}");
}

/* The same call again, with answers and the state that was given out; or nearly. */
static inline void write_return(struct messages *g, struct speaker *s, struct mp_buf *out)
{
	add(out, "{\"jsonrpc\":\"2.0\",\"id\":");
	add_id(g, s, out);
	mp_check(mp_buf_addf(out,
			     ",\"method\":\"tools/call\",\"params\":{%s,\"inputResponses\":{"
			     "\"q%u\":{\"action\":\"accept\",\"content\":{\"by\":%d}},\"q%u\":",
			     s->state_params, s->state_key, s->index, 1 + pick(g, 200)) == 0);
	if (pick(g, 4))
		mp_check(mp_buf_addf(out, "{\"content\":{\"by\":%d}}", s->index) == 0);
	else
		add_odd(g, out);
	if (pick(g, 10) == 0)
		s->state[pick(g, (unsigned)strlen(s->state))] ^= 1;
	mp_check(mp_buf_addf(out, "},\"requestState\":\"%s\",", s->state) == 0);
	add_meta(g, s, true, out);
	add(out, "}}");
	if (pick(g, 4))
		s->state[0] = '\0';
}

static inline void write_notification(struct messages *g, struct speaker *s, struct mp_buf *out)
{
	static const char *const others[] = {
		"initialized",  "progress",           "roots/list_changed", "message",
		"tasks/status", "tools/list_changed", "nonsense",           "elicitation/complete"};
	bool is_cancel = pick(g, 2);

	mp_check(mp_buf_addf(out, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/%s\"",
			     is_cancel ? "cancelled" : CHOOSE(g, others)) == 0);
	if (is_cancel && pick(g, 8))
		mp_check(mp_buf_addf(out, ",\"params\":{\"requestId\":%s}", choose_id(g, s)) == 0);
	else
		add_params(g, s, "\"requestId\":7,\"progressToken\":1,\"taskId\":\"%K\"", false,
			   out);
	add(out, "}");
}

/* To the last question, to one that was not asked, in a wrong way. */
static inline void write_reply(struct messages *g, struct speaker *s, struct mp_buf *out)
{
	add(out, "{\"jsonrpc\":\"2.0\",\"id\":");
	if (s->question[0] && pick(g, 6))
		add(out, s->question);
	else
		add_odd(g, out);
	switch (pick(g, 5)) {
	case 0:
		add(out, ",\"error\":");
		add(out, pick(g, 3) ? "{\"code\":-1,\"message\":\"no\"}" : CHOOSE(g, odd_values));
		break;
	case 1:
		add(out, ",\"result\":");
		add_odd(g, out);
		break;
	default:
		mp_check(mp_buf_addf(out,
				     ",\"result\":{\"action\":\"accept\",\"content\":{\"by\":%d}}",
				     s->index) == 0);
	}
	add(out, pick(g, 30) ? "}" : ",\"method\":\"ping\"}");
	if (pick(g, 3))
		s->question[0] = '\0';
}

static inline void write_one(struct messages *g, struct speaker *s, struct mp_buf *out)
{
	unsigned what = pick(g, 20);

	if (what < 3)
		write_notification(g, s, out);
	else if (what < 5 || (s->question[0] && what < 8))
		write_reply(g, s, out);
	else if (s->state[0] && what < 12)
		write_return(g, s, out);
	else
		write_request(g, s, out);
}

static inline void write_batch(struct messages *g, struct speaker *s, struct mp_buf *out)
{
	unsigned n = pick(g, 30) ? pick(g, 6) : 98 + pick(g, 6);
	bool is_odd = pick(g, 6) == 0;

	add(out, "[");
	for (unsigned i = 0; i < n; i++) {
		add(out, i ? "," : "");
		if (n > 90)
			add(out, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
		else if (is_odd && pick(g, 3) == 0)
			add_odd(g, out);
		else
			write_one(g, s, out);
	}
	add(out, "]");
}

/* --- broken ones ----------------------------------------------------------------------------- */

static inline void flip(struct messages *g, struct mp_buf *b)
{
	static const char bytes[] = "{}[]\",:\\0e-.tn \x01\x80\xff";

	b->data[pick(g, (unsigned)b->len)] = bytes[pick(g, sizeof(bytes) - 1)];
}

static inline void cut(struct messages *g, struct mp_buf *b)
{
	size_t from = pick(g, (unsigned)b->len), n = 1 + pick(g, (unsigned)(b->len - from));

	memmove(b->data + from, b->data + from + n, b->len - from - n);
	b->len -= n;
}

/* A part of the message before goes into this one. */
static inline void mix(struct messages *g, const struct speaker *s, struct mp_buf *b)
{
	size_t len = strlen(s->last), from, n, at;
	char part[64];

	if (!len)
		return;
	from = pick(g, (unsigned)len);
	n = 1 + pick(g, sizeof(part));
	n = n < len - from ? n : len - from;
	memcpy(part, s->last + from, n);
	at = pick(g, (unsigned)b->len);
	mp_check(mp_buf_reserve(b, n) == 0);
	memmove(b->data + at + n, b->data + at, b->len - at);
	memcpy(b->data + at, part, n);
	b->len += n;
}

static inline void mutate(struct messages *g, const struct speaker *s, struct mp_buf *b)
{
	for (unsigned i = 1 + pick(g, 4); i > 0 && b->len > 1; i--) {
		unsigned how = pick(g, 6);

		if (how < 3)
			flip(g, b);
		else if (how < 5)
			mix(g, s, b);
		else
			cut(g, b);
	}
	for (size_t i = 0; i < b->len; i++)
		if (b->data[i] == '\n' || b->data[i] == '\r')
			b->data[i] = ' ';
	if (!b->len || mp_str_trim(mp_buf_get(b)).len == 0)
		add(b, "x"); /* an empty line is not a message */
}

/* The next message of s, into out. */
static inline void write_message(struct messages *g, struct speaker *s, struct mp_buf *out)
{
	g->n++;
	mp_buf_clear(out);
	if (pick(g, s->is_modern ? 80 : 20) == 0)
		write_batch(g, s, out);
	else
		write_one(g, s, out);
	if (pick(g, 8) == 0)
		mutate(g, s, out);
	snprintf(s->last, sizeof(s->last), "%.*s", MP_STR_ARGS(mp_buf_get(out)));
}

#endif
