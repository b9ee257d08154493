/*
 * messages_stage.h - agents over a fleet: what each heard, what it is owed, and what went wrong.
 */
#ifndef TEST_MESSAGES_STAGE_H
#define TEST_MESSAGES_STAGE_H

#include "front.h"

#include <stdlib.h>

#include "base/random_id.h"
#include "messages.h"
#include "promises.h"

enum { CONNS = 16 };
enum way { BRIDGE, LEGACY, MODERN };

struct mp_line_conn;
struct stage;

/* One HTTP connection: a request, then its answer. */
struct conn {
	struct memory_conn conn;
	bool is_busy, is_get;
	size_t at;            /* of the answer in what was written */
	size_t chunk;         /* of the next piece of its stream; 0: the head is not there yet */
	struct promises owed; /* by this answer */
};

struct client {
	struct stage *stage;
	struct speaker speaker;
	/* bridge */
	struct mp_session *session;
	struct mp_line_conn *conn;
	int peer; /* -1: none */
	struct mp_buf heard;
	struct promises owed;
	/* HTTP */
	char id[MP_RANDOM_ID + 1]; /* of the session; "": none */
	struct conn conns[CONNS];
};

struct stage {
	struct front front;
	enum way way;
	struct messages g;
	struct client clients[SPEAKERS];
	struct mp_tape tape, inner;
	struct mp_buf out, request;
	unsigned asked; /* questions of servers */
	int heard, answers, questions, parked, refused;
	const char *wrong; /* the first thing; NULL: nothing */
	char about[400];   /* the message it was */
};

static void complain(struct stage *s, const char *what, struct mp_str about)
{
	if (s->wrong)
		return;
	s->wrong = what;
	snprintf(s->about, sizeof(s->about), "%.*s", (int)(about.len < 390 ? about.len : 390),
		 about.p);
}

/* --- what agents hear ------------------------------------------------------------------------ */

/* A mark of another agent in any text: it was meant for that one. */
static void check_marks(struct client *c, struct mp_str text)
{
	static const struct mp_str words[] = {MP_STR("for #"), MP_STR("\"progressToken\":\"p")};

	for (size_t i = 0; i < MP_ARRAY_LEN(words); i++) {
		ptrdiff_t at = -1;

		while ((at = mp_str_find(text, words[i], (size_t)(at + 1))) >= 0) {
			unsigned long long mark = strtoull(text.p + at + words[i].len, NULL, 10);

			if (is_foreign(mark, &c->speaker))
				complain(c->stage, "an agent heard what is another's", text);
		}
	}
}

static bool get_text(struct mp_str text, const char *before, char *out, size_t size)
{
	ptrdiff_t at = mp_str_find(text, mp_str_of(before), 0);
	size_t n = 0;

	if (at < 0)
		return false;
	for (at += (ptrdiff_t)strlen(before); (size_t)at < text.len && text.p[at] != '"'; at++)
		if (n + 1 < size)
			out[n++] = text.p[at];
	out[n] = '\0';
	return true;
}

static void note_result(struct client *c, struct mp_str text, const struct promise *p)
{
	struct speaker *s = &c->speaker;
	ptrdiff_t at;

	(void)get_text(text, "\"taskId\":\"", s->task, sizeof(s->task));
	if (!get_text(text, "\"requestState\":\"", s->state, sizeof(s->state)))
		return;
	c->stage->parked++;
	at = mp_str_find(text, MP_STR("\"inputRequests\":{\"q"), 0);
	s->state_key = at < 0 ? 0 : (unsigned)strtoul(text.p + at + 19, NULL, 10);
	snprintf(s->state_params, sizeof(s->state_params), "%s", p ? p->params : "");
	if (!s->state_params[0])
		s->state[0] = '\0'; /* it was not a plain call */
}

static void hear(struct client *c, struct conn *k, struct mp_str text)
{
	struct stage *s = c->stage;
	struct promises *owed = k ? &k->owed : &c->owed;
	struct mp_message m;

	s->heard++;
	check_marks(c, text);
	if (mp_message_scan(&s->tape, text, &m, NULL) < 0) {
		complain(s, "an agent heard what is not a message", text);
		return;
	}
	if (m.kind == MP_MESSAGE_REQUEST) {
		s->questions++;
		snprintf(c->speaker.question, sizeof(c->speaker.question), "%.*s",
			 MP_STR_ARGS(m.id));
	}
	if (m.kind != MP_MESSAGE_RESULT && m.kind != MP_MESSAGE_ERROR)
		return;
	s->answers++;
	if (m.kind == MP_MESSAGE_RESULT)
		note_result(c, text, promises_find(owed, m.id));
	if (!(k && k->is_get) && !promises_take(owed, m.id))
		complain(s, "an answer to nothing, or a second one", text);
}

/* --- what is owed ---------------------------------------------------------------------------- */

static void cancel(struct client *c, struct mp_str id)
{
	promises_release(&c->owed, id);
	for (int i = 0; i < CONNS; i++)
		promises_release(&c->conns[i].owed, id);
}

static void expect_one(struct client *c, struct promises *p, const struct mp_message *m)
{
	struct mp_str cancelled = promises_get_cancelled(m);

	if (m->kind == MP_MESSAGE_REQUEST)
		promises_add(p, m->id);
	else if (cancelled.len)
		cancel(c, cancelled);
	else if (m->id.len && p != &c->owed) {
		promises_add(p, m->id); /* HTTP may refuse an answer as a whole */
		promises_release(p, m->id);
	}
}

static void expect_batch(struct client *c, struct promises *p, const struct mp_message *m)
{
	size_t n = mp_value_count(m->tape, MP_ROOT);
	struct mp_message one;

	if (n == 0 || n > 100) {
		promises_add(p, MP_STR(""));
		return;
	}
	MP_VALUE_EACH(m->tape, MP_ROOT, v) {
		int r = mp_message_scan(&c->stage->inner, mp_value_source(m->tape, v), &one, NULL);

		if (r < 0 || one.kind == MP_MESSAGE_BATCH)
			promises_add(p, one.id);
		else
			expect_one(c, p, &one);
	}
}

/* The call as it can be said again, if this is one. */
static void note_params(struct promise *p, struct mp_str text)
{
	ptrdiff_t from = mp_str_find(text, MP_STR("\"params\":{\"name\":"), 0);
	ptrdiff_t to = mp_str_find(text, MP_STR(",\"_meta\""), 0);
	ptrdiff_t again = mp_str_find(text, MP_STR(",\"inputResponses\""), 0);

	to = again > 0 && again < to ? again : to;
	if (p && from >= 0 && to > from + 10 && (size_t)(to - from - 10) < sizeof(p->params))
		snprintf(p->params, sizeof(p->params), "%.*s", (int)(to - from - 10),
			 text.p + from + 10);
}

/* Before it is said. */
static void expect(struct client *c, struct promises *p, struct mp_str text, struct mp_message *m)
{
	if (mp_message_scan(&c->stage->tape, text, m, NULL) < 0) {
		m->kind = MP_MESSAGE_BATCH;
		promises_add(p, m->id);
	} else if (m->kind == MP_MESSAGE_BATCH) {
		expect_batch(c, p, m);
	} else {
		expect_one(c, p, m);
		note_params(promises_find(p, m->id), text);
	}
}

static const char initialize[] =
	"{\"jsonrpc\":\"2.0\",\"id\":\"i\",\"method\":\"initialize\",\"params\":{"
	"\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"sampling\":{},\"roots\":{},"
	"\"elicitation\":{}},\"clientInfo\":{\"name\":\"x\",\"version\":\"1\"}}}";
static const char initialized[] = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}";

#endif
