/*
 * slow_tools.c - tools that answer later: sleep, big and ask.
 * What they need beyond the dispatch is copied into the call; the request's text is gone by then.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/map.h"
#include "demo/demo.h"

enum { DEFAULT_STEPS = 4, QUEUE_AT_MOST = 1 << 20, ANSWER_WITHIN_MS = 10 * 60 * 1000 };

/* --- sleep ----------------------------------------------------------------------------------- */

static void report_progress(struct mp_demo_call *c)
{
	struct mp_writer *w;
	char words[64];

	if (c->token_len == 0)
		return;
	snprintf(words, sizeof(words), "step %" PRId64 " of %" PRId64, c->step, c->steps);
	w = mp_demo_begin_object(c->demo);
	mp_write_member_raw(w, "progressToken", (struct mp_str){c->token, c->token_len});
	mp_write_member_i64(w, "progress", c->step);
	mp_write_member_i64(w, "total", c->steps);
	mp_write_member_text(w, "message", mp_str_of(words));
	mp_demo_notify(c->demo, MP_METHOD_PROGRESS);
}

/* Steps end at their share of the whole time, so rounding does not add up. */
static void sleep_on(struct mp_demo_call *c)
{
	int64_t before = c->ms * c->step / c->steps, after = c->ms * (c->step + 1) / c->steps;

	mp_timer_start(&c->timer, after - before);
}

static void wake(void *u)
{
	struct mp_demo_call *c = u;
	char words[64];

	c->step++;
	report_progress(c);
	if (c->step < c->steps) {
		sleep_on(c);
		return;
	}
	snprintf(words, sizeof(words), "slept %" PRId64 " ms", c->ms);
	mp_demo_say(c, mp_str_of(words));
}

void mp_demo_sleep(struct mp_demo_call *c)
{
	c->ms = c->args[0].whole;
	c->steps = c->args[1].given ? c->args[1].whole : DEFAULT_STEPS;
	mp_timer_init(&c->timer, c->demo->loop, wake, c);
	sleep_on(c);
}

/* --- big ------------------------------------------------------------------------------------- */

/* What is too large for the wire's queue waits until that is empty, and is poured past it. */
static void pour(void *u)
{
	struct mp_demo_call *c = u;
	struct mp_demo *d = c->demo;
	struct mp_writer *w;

	if (!mp_demo_is_drained(d)) {
		mp_timer_start(&c->timer, 1);
		return;
	}
	w = mp_demo_begin(c);
	mp_write_key(w, MP_STR("content"));
	mp_write_begin_array(w);
	mp_write_begin_object(w);
	mp_write_member_text(w, "type", MP_STR("text"));
	mp_write_member_text(w, "text", MP_STR(""));
	size_t at = d->body.len - 1; /* before the closing quote */
	mp_write_end_object(w);
	mp_write_end_array(w);
	mp_demo_end_huge(c, at);
}

void mp_demo_big(struct mp_demo_call *c)
{
	size_t n = (size_t)c->args[0].whole;
	char *text;

	if (n > QUEUE_AT_MOST) {
		c->bytes = c->args[0].whole;
		mp_timer_init(&c->timer, c->demo->loop, pour, c);
		mp_timer_start(&c->timer, 0);
		return;
	}
	text = mp_arena_alloc(&c->demo->arena, n + 1);
	if (!text) {
		mp_demo_complain(c, "big: no memory for %zu bytes", n);
		return;
	}
	for (size_t i = 0; i < n; i++)
		text[i] = (char)('a' + i % 26);
	mp_demo_say(c, (struct mp_str){text, n});
}

/* --- ask ------------------------------------------------------------------------------------- */

#define FORM                                                                              \
	"{\"type\":\"object\",\"properties\":{\"answer\":{\"type\":\"string\",\"title\":" \
	"\"Answer\","                                                                     \
	"\"description\":\"what you want to answer\"}},\"required\":[\"answer\"]}"

static void write_question(struct mp_writer *w, const struct mp_demo_call *c)
{
	if (c->modern)
		mp_write_member_text(w, "mode", MP_STR("form"));
	mp_write_member_text(w, "message", c->args[0].text);
	mp_write_member_raw(w, "requestedSchema", MP_STR(FORM));
}

/* What the user said: {action, content: {answer}}. */
static void pass_on(struct mp_demo_call *c, mp_value said)
{
	struct mp_demo *d = c->demo;
	mp_value action = mp_value_get(&d->tape, said, "action");
	mp_value answer = mp_value_get(&d->tape, mp_value_get(&d->tape, said, "content"), "answer");
	struct mp_str text = {0};

	if (mp_value_text_is(&d->tape, action, MP_STR("decline")))
		mp_demo_say(c, MP_STR("the user declined"));
	else if (mp_value_text_is(&d->tape, action, MP_STR("cancel")))
		mp_demo_say(c, MP_STR("the user cancelled"));
	else if (!mp_value_text_is(&d->tape, action, MP_STR("accept")))
		mp_demo_complain(c, "ask: the action is none of accept, decline, cancel");
	else if (mp_value_text(&d->tape, answer, &d->arena, &text) < 0)
		mp_demo_complain(c, "ask: the user's answer is not a string");
	else
		mp_demo_say(c, text);
}

static void ask_legacy(struct mp_demo_call *c)
{
	if (!c->can_ask) {
		mp_demo_complain(c, "ask: the client did not declare the capability elicitation");
		return;
	}
	write_question(mp_demo_begin_object(c->demo), c);
	c->message = NULL;
	c->question = mp_demo_ask(c->demo, MP_METHOD_ELICIT);
}

static struct mp_demo_call *find_asker(struct mp_demo *d, struct mp_str id)
{
	int64_t question;

	if (mp_str_to_i64(id, &question) < 0 || question <= 0)
		return NULL;
	MP_LIST_EACH(&d->calls, link) {
		struct mp_demo_call *c = mp_container_of(link, struct mp_demo_call, link);

		if (c->question == question)
			return c;
	}
	return NULL;
}

void mp_demo_hear(struct mp_demo *d, const struct mp_message *m)
{
	struct mp_demo_call *c = find_asker(d, m->id);

	if (!c)
		return;
	c->question = 0;
	if (m->kind == MP_MESSAGE_RESULT)
		pass_on(c, m->result);
	else
		mp_demo_complain(c, "ask: the client could not ask the user");
}

/*
 * The state travels through the client, so it is sealed with a key of this process: it says until
 * when the answer counts, and fits no question but this one.
 */
static void seal(const struct mp_demo_call *c, int64_t until_ms, char *out, size_t size)
{
	struct mp_str question = c->args[0].text;
	char sealed[32 + 17];
	int n = snprintf(sealed, sizeof(sealed), "ask %" PRId64 " %016" PRIx64, until_ms,
			 mp_hash(question));

	snprintf(out, size, "%" PRId64 ".%016" PRIx64, until_ms,
		 mp_hash((struct mp_str){sealed, (size_t)n}));
}

static bool is_sealed(const struct mp_demo_call *c, struct mp_str state)
{
	ptrdiff_t dot = mp_str_find(state, MP_STR("."), 0);
	int64_t until_ms;
	char ours[64];

	if (dot < 0 || mp_str_to_i64((struct mp_str){state.p, (size_t)dot}, &until_ms) < 0)
		return false;
	seal(c, until_ms, ours, sizeof(ours));
	return mp_str_eq(state, mp_str_of(ours)) && until_ms >= mp_loop_wall_now_ms(c->demo->loop);
}

static void ask_round(struct mp_demo_call *c)
{
	struct mp_writer *w = mp_demo_begin_as(c, "input_required");
	char state[64];

	seal(c, mp_loop_wall_now_ms(c->demo->loop) + ANSWER_WITHIN_MS, state, sizeof(state));
	mp_write_key(w, MP_STR("inputRequests"));
	mp_write_begin_object(w);
	mp_write_key(w, MP_STR("answer"));
	mp_write_begin_object(w);
	mp_write_member_text(w, "method", MP_STR("elicitation/create"));
	mp_write_key(w, MP_STR("params"));
	mp_write_begin_object(w);
	write_question(w, c);
	mp_write_end_object(w);
	mp_write_end_object(w);
	mp_write_end_object(w);
	mp_write_member_text(w, "requestState", mp_str_of(state));
	mp_demo_end(c);
}

static void ask_modern(struct mp_demo_call *c)
{
	const struct mp_message *m = c->message;
	mp_value responses = mp_value_get(m->tape, m->params, "inputResponses");
	mp_value sent = mp_value_get(m->tape, m->params, "requestState");
	struct mp_str state = {0};

	if (!c->can_ask) {
		mp_write_member_raw(mp_demo_begin_object(c->demo), "requiredCapabilities",
				    MP_STR("{\"elicitation\":{\"form\":{}}}"));
		mp_demo_fail_with_data(c, MP_DEMO_MISSING_CAPABILITY,
				       "ask needs the capability elicitation");
	} else if (sent == MP_NONE && responses == MP_NONE) { /* NOLINT(bugprone-branch-clone) */
		ask_round(c);
	} else if (mp_value_text(m->tape, sent, &c->demo->arena, &state) < 0 ||
		   !is_sealed(c, state)) {
		mp_demo_fail(c, MP_DEMO_INVALID_PARAMS,
			     "this requestState is not ours, or too old");
	} else if (mp_value_get(m->tape, responses, "answer") == MP_NONE) {
		ask_round(c); /* nothing was answered, so the question stands */
	} else {
		pass_on(c, mp_value_get(m->tape, responses, "answer"));
	}
}

void mp_demo_ask_user(struct mp_demo_call *c)
{
	if (!c->args[0].given)
		c->args[0].text = MP_STR("What is your name?");
	if (c->modern)
		ask_modern(c);
	else
		ask_legacy(c);
}
