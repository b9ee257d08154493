/*
 * tools.c - the tools of the demo server, one row each, and those that answer at once.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "demo/demo.h"

enum { CHANGES = 0, READ_ONLY = 1, DESTRUCTIVE = 2 }; /* hints */

static void echo(struct mp_demo_call *c);
static void add(struct mp_demo_call *c);
static void tell_time(struct mp_demo_call *c);
static void fail(struct mp_demo_call *c);
static void crash(struct mp_demo_call *c);
static void say_log(struct mp_demo_call *c);
static void change(struct mp_demo_call *c);
static void be_extra(struct mp_demo_call *c);

/* Parameters: the optional ones have a default that the tool knows. */
#define PARAM(n, t, must, what) \
	.name = n, .type = MP_DEMO_##t, .required = must, .description = what
#define TEXT(n, what)                PARAM(n, TEXT, true, what)
#define MAY_TEXT(n, what)            PARAM(n, TEXT, false, what)
#define NUMBER(n, what)              PARAM(n, NUMBER, true, what)
#define WHOLE(n, from, to, what)     PARAM(n, WHOLE, true, what), .min = from, .max = to
#define MAY_WHOLE(n, from, to, what) PARAM(n, WHOLE, false, what), .min = from, .max = to
#define LEVEL(n, what)               PARAM(n, CHOICE, true, what), .choices = mp_demo_levels

#define SUM_SCHEMA                                                             \
	"{\"type\":\"object\",\"properties\":{\"sum\":{\"type\":\"number\"}}," \
	"\"required\":[\"sum\"]}"

static const struct tool {
	const char *name, *title, *description;
	unsigned hints;
	void (*run)(struct mp_demo_call *c);
	struct mp_demo_param params[MP_DEMO_MAX_PARAMS];
	const char *output; /* JSON schema of structuredContent, or NULL */
} tools[] = {
	{.name = "echo",
	 .title = "Echo",
	 .run = echo,
	 .hints = READ_ONLY,
	 .description = "Returns the message as it came.",
	 .params = {{TEXT("message", "what to return")}}},
	{.name = "add",
	 .title = "Add",
	 .run = add,
	 .hints = READ_ONLY,
	 .description = "Adds two numbers.",
	 .params = {{NUMBER("a", "the first number")}, {NUMBER("b", "the second number")}},
	 .output = SUM_SCHEMA},
	{.name = "time",
	 .title = "Time",
	 .run = tell_time,
	 .hints = READ_ONLY,
	 .description = "Tells the time of day, in UTC."},
	{.name = "sleep",
	 .title = "Sleep",
	 .run = mp_demo_sleep,
	 .hints = READ_ONLY,
	 .description = "Sleeps, reports progress on the way, and can be cancelled.",
	 .params = {{WHOLE("ms", 0, 3600000, "how long, in milliseconds")},
		    {MAY_WHOLE("steps", 1, 10000,
			       "how often it reports progress; 4 if not given")}}},
	{.name = "fail",
	 .title = "Fail",
	 .run = fail,
	 .hints = READ_ONLY,
	 .description = "Fails, as tools do: the result is marked as an error.",
	 .params = {{MAY_TEXT("message", "the words of the error")}}},
	{.name = "crash",
	 .title = "Crash",
	 .run = crash,
	 .hints = DESTRUCTIVE,
	 .description = "The server dies in this call.",
	 .params = {{MAY_WHOLE("code", 0, 255, "exit code; 1 if not given")},
		    {MAY_WHOLE("signal", 1, 64, "number of the signal to die of, instead")}}},
	{.name = "big",
	 .title = "Big",
	 .run = mp_demo_big,
	 .hints = READ_ONLY,
	 .description = "Returns a text of so many bytes.",
	 .params = {{WHOLE("bytes", 0, 1 << 30, "length of the text")}}},
	{.name = "ask",
	 .title = "Ask",
	 .run = mp_demo_ask_user,
	 .hints = READ_ONLY,
	 .description = "Asks the user a question and returns the answer.",
	 .params = {{MAY_TEXT("question", "what to ask; their name if not given")}}},
	{.name = "log",
	 .title = "Log",
	 .run = say_log,
	 .hints = READ_ONLY,
	 .description = "Sends a log message to the client.",
	 .params = {{LEVEL("level", "how serious it is")}, {TEXT("message", "what to log")}}},
	{.name = "change",
	 .title = "Change",
	 .run = change,
	 .hints = CHANGES,
	 .description = "Adds the tool `extra`, or removes it, and moves demo://counter."},
};

/* Not always there. */
static const struct tool extra = {.name = "extra",
				  .title = "Extra",
				  .run = be_extra,
				  .hints = READ_ONLY,
				  .description =
					  "Is there after one `change`, and gone after the next."};

/* --- tools/list ------------------------------------------------------------------------------ */

static void write_hints(struct mp_writer *w, unsigned hints)
{
	mp_write_key(w, MP_STR("annotations"));
	mp_write_begin_object(w);
	mp_write_member_bool(w, "readOnlyHint", hints & READ_ONLY);
	if (!(hints & READ_ONLY)) {
		mp_write_member_bool(w, "destructiveHint", hints & DESTRUCTIVE);
		mp_write_member_bool(w, "idempotentHint", false);
	}
	mp_write_member_bool(w, "openWorldHint", false);
	mp_write_end_object(w);
}

static void write_tool(struct mp_writer *w, const struct tool *t)
{
	mp_write_begin_object(w);
	mp_write_member_text(w, "name", mp_str_of(t->name));
	mp_write_member_text(w, "title", mp_str_of(t->title));
	mp_write_member_text(w, "description", mp_str_of(t->description));
	mp_write_key(w, MP_STR("inputSchema"));
	mp_demo_params_write_schema(w, t->params);
	if (t->output)
		mp_write_member_raw(w, "outputSchema", mp_str_of(t->output));
	write_hints(w, t->hints);
	mp_write_end_object(w);
}

/* One of those that the knob TOOLS makes. */
static void write_numbered(struct mp_writer *w, int64_t number)
{
	char name[32], title[32];
	struct tool t = {.name = name,
			 .title = title,
			 .hints = READ_ONLY,
			 .description = "One of many: returns its own name."};

	snprintf(name, sizeof(name), "tool_%lld", (long long)number);
	snprintf(title, sizeof(title), "Tool %lld", (long long)number);
	write_tool(w, &t);
}

/* In this order: the table, the numbered ones, extra. */
static void write_nth(struct mp_writer *w, const struct mp_demo *d, int64_t i)
{
	int64_t fixed = (int64_t)MP_ARRAY_LEN(tools);

	if (i < fixed)
		write_tool(w, &tools[i]);
	else if (i < fixed + d->knobs.tools)
		write_numbered(w, i - fixed + 1);
	else
		write_tool(w, &extra);
}

/* Where the page begins that the cursor names; -1: the cursor is none of ours. */
static int64_t read_cursor(const struct mp_demo_call *c)
{
	const struct mp_tape *t = c->message->tape;
	mp_value cursor = mp_value_get(t, c->message->params, "cursor");
	int64_t page = c->demo->knobs.page, from;
	struct mp_str s = {0};

	if (cursor == MP_NONE)
		return 0;
	if (page == 0 || mp_value_text(t, cursor, &c->demo->arena, &s) < 0)
		return -1;
	if (s.len == 0)
		return page;
	return mp_str_to_i64(s, &from) < 0 || from < 0 ? -1 : from;
}

/* The second page's cursor is empty, because a client must not take that for the end. */
static void write_cursor(struct mp_writer *w, int64_t next, int64_t page)
{
	char cursor[24] = "";

	if (next != page)
		snprintf(cursor, sizeof(cursor), "%lld", (long long)next);
	mp_write_member_text(w, "nextCursor", mp_str_of(cursor));
}

void mp_demo_tools_list(struct mp_demo_call *c)
{
	struct mp_demo *d = c->demo;
	int64_t all = (int64_t)MP_ARRAY_LEN(tools) + d->knobs.tools + d->has_extra;
	int64_t from = read_cursor(c), to = all;
	struct mp_writer *w;

	if (from < 0) {
		mp_demo_fail(c, MP_DEMO_INVALID_PARAMS, "this cursor was not given out here");
		return;
	}
	if (d->knobs.page && from < all && d->knobs.page < all - from)
		to = from + d->knobs.page;
	w = mp_demo_begin(c);
	mp_write_key(w, MP_STR("tools"));
	mp_write_begin_array(w);
	for (int64_t i = from; i < to; i++)
		write_nth(w, d, i);
	mp_write_end_array(w);
	if (to < all)
		write_cursor(w, to, d->knobs.page);
	mp_demo_end_cached(c, MP_DEMO_TTL_MS);
}

/* --- tools/call ------------------------------------------------------------------------------ */

static const struct tool *find(const struct mp_demo *d, mp_value name)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(tools); i++)
		if (mp_value_text_is(&d->tape, name, mp_str_of(tools[i].name)))
			return &tools[i];
	if (d->has_extra && mp_value_text_is(&d->tape, name, mp_str_of(extra.name)))
		return &extra;
	return NULL;
}

/* tool_7 is there when there are at least seven. */
static bool is_numbered(const struct mp_demo *d, struct mp_str name)
{
	int64_t number;

	if (!mp_str_starts(name, MP_STR("tool_")) || name.len < 6 || name.p[5] == '0')
		return false;
	return mp_str_to_i64((struct mp_str){name.p + 5, name.len - 5}, &number) == 0 &&
	       number > 0 && number <= d->knobs.tools;
}

static void run(struct mp_demo_call *c, const struct tool *t, struct mp_str name)
{
	const struct mp_message *m = c->message;
	struct mp_str arguments =
		mp_value_source(m->tape, mp_value_get(m->tape, m->params, "arguments"));
	struct mcpool_error e;

	if (t && mp_demo_params_read(c, t->params, &e) < 0) {
		mp_demo_complain(c, "%s: %s", t->name, e.message);
		return;
	}
	mp_demo_mischief_in_call(c, name, arguments);
	if (t)
		t->run(c);
	else
		mp_demo_say(c, name);
}

void mp_demo_tools_call(struct mp_demo_call *c)
{
	const struct mp_message *m = c->message;
	mp_value arguments = mp_value_get(m->tape, m->params, "arguments");
	const struct tool *t = find(c->demo, m->subject);
	struct mp_str name = {0};

	if (mp_value_text(m->tape, m->subject, &c->demo->arena, &name) < 0)
		mp_demo_fail(c, MP_DEMO_INVALID_PARAMS, "tools/call needs a name, a string");
	else if (!t && !is_numbered(c->demo, name))
		mp_demo_fail(c, MP_DEMO_INVALID_PARAMS, "there is no tool '%.*s'",
			     MP_STR_ARGS(name));
	else if (arguments != MP_NONE && !mp_value_is(m->tape, arguments, MP_TAPE_OBJECT))
		mp_demo_fail(c, MP_DEMO_INVALID_PARAMS, "arguments must be an object");
	else
		run(c, t, name);
}

/* --- the quick ones --------------------------------------------------------------------------- */

static void echo(struct mp_demo_call *c)
{
	mp_demo_say(c, c->args[0].text);
}

static void add(struct mp_demo_call *c)
{
	double sum = c->args[0].number + c->args[1].number;
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer number, *w;

	mp_buf_init(&text, 64);
	if (!isfinite(sum)) {
		mp_demo_complain(c, "add: the sum is too large");
		return;
	}
	mp_write_init(&number, &text, NULL);
	mp_write_f64(&number, sum);
	if (mp_write_finish(&number) < 0) {
		mp_demo_complain(c, "add: no memory to say the sum");
		return;
	}
	w = mp_demo_begin(c);
	mp_demo_write_content(w, mp_buf_get(&text));
	mp_write_key(w, MP_STR("structuredContent"));
	mp_write_begin_object(w);
	mp_write_member_raw(w, "sum", mp_buf_get(&text));
	mp_write_end_object(w);
	mp_demo_end(c);
}

static void tell_time(struct mp_demo_call *c)
{
	time_t now = (time_t)(mp_loop_wall_now_ms(c->demo->loop) / 1000);
	char text[40];
	struct tm tm;

	if (!gmtime_r(&now, &tm) || !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm))
		mp_demo_complain(c, "time: the clock cannot be read");
	else
		mp_demo_say(c, mp_str_of(text));
}

static void fail(struct mp_demo_call *c)
{
	struct mp_str words =
		c->args[0].given ? c->args[0].text : MP_STR("it failed, as it should");

	mp_demo_complain(c, "%.*s", MP_STR_ARGS(words));
}

static void crash(struct mp_demo_call *c)
{
	int number = (int)c->args[1].whole;

	if (c->args[1].given) {
		signal(number, SIG_DFL);
		kill(getpid(), number);
	}
	_exit(c->args[0].given ? (int)c->args[0].whole : 1);
}

/* Without a level a modern client wants no log messages; a legacy one has said what it wants. */
static void say_log(struct mp_demo_call *c)
{
	int level = (int)c->args[0].whole;
	struct mp_writer *w;

	if (c->level == MP_DEMO_LEVELS || level < c->level) {
		mp_demo_say(c, c->modern
				       ? MP_STR("not sent: the request's logLevel does not want it")
				       : MP_STR("not sent: below the level of logging/setLevel"));
		return;
	}
	w = mp_demo_begin_object(c->demo);
	mp_write_member_text(w, "level", mp_str_of(mp_demo_levels[level]));
	mp_write_member_text(w, "logger", MP_STR("demo"));
	mp_write_member_text(w, "data", c->args[1].text);
	mp_demo_notify(c->demo, MP_METHOD_MESSAGE);
	mp_demo_say(c, MP_STR("sent"));
}

void mp_demo_change(struct mp_demo *d)
{
	d->has_extra = !d->has_extra;
	mp_demo_tell_tools_changed(d);
	mp_demo_move_counter(d);
}

static void change(struct mp_demo_call *c)
{
	struct mp_demo *d = c->demo;

	mp_demo_change(d);
	mp_demo_say(c, d->has_extra ? MP_STR("there is a tool `extra` now")
				    : MP_STR("the tool `extra` is gone"));
}

static void be_extra(struct mp_demo_call *c)
{
	mp_demo_say(c, MP_STR("extra is here"));
}
