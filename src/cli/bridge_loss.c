/*
 * bridge_loss.c - what becomes of whom when there is no hub: answered, kept for the next one, or
 * refused.
 */
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/bridge_parts.h"
#include "rpc/message.h"
#include "session/failed_call.h"

/* --- answers of our own ---------------------------------------------------------------------- */

/* What may be told, and what it means: no server is known here that could say more. */
static const struct meaning {
	int code;
	enum mp_outcome outcome;
	const char *stage;
	enum mcpool_fault fault;
	const char *next_step;
} meanings[] = {
	{MCPOOL_EUNAVAILABLE, MP_OUTCOME_NOT_SENT, "connect", MCPOOL_FAULT_CONNECT,
	 "see whether there is a hub: mcpool status; start it: mcpool up"},
	{MCPOOL_ELIMIT, MP_OUTCOME_NOT_SENT, "connect", MCPOOL_FAULT_CLOSED,
	 "end agents that are not needed, then call again; which there are: mcpool status"},
	{MCPOOL_EOUTCOME_UNKNOWN, MP_OUTCOME_UNKNOWN, "receive", MCPOOL_FAULT_END,
	 "find out whether it happened before you call again"},
	{MCPOOL_ETOO_LARGE, MP_OUTCOME_NOT_SENT, "send", MCPOOL_FAULT_CLOSED,
	 "send less at once: a message may have 32 MiB"},
};

static const struct meaning *find_meaning(int code)
{
	const struct meaning *m = meanings;

	while (m->code != code)
		m++;
	return m;
}

static int write_data(struct mp_buf *out, const struct meaning *m)
{
	struct mcpool_error why = {.code = m->code, .fault = (int)m->fault};
	struct mp_failed_call f = {
		.why = &why,
		.outcome = m->outcome,
		.retryable = m->code == MCPOOL_EUNAVAILABLE || m->code == MCPOOL_ELIMIT,
		.next_step = m->next_step,
	};
	struct mp_writer w;

	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	mp_write_member_raw(&w, "server", MP_STR("null"));
	mp_write_member_text(&w, "stage", mp_str_of(m->stage));
	mp_failed_call_write(&w, &f);
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

void mp_bridge_answer(struct mp_bridge *b, struct mp_str id, int code, const char *words)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out, data, text;
	const char *word = mcpool_error_word(code);
	bool is_full = code == MCPOOL_EUNAVAILABLE && b->why.code == MCPOOL_ELIMIT;

	mp_buf_init(&out, MP_KIB(16));
	mp_buf_init(&data, MP_KIB(1));
	mp_buf_init(&text, MP_KIB(4));
	if (write_data(&data, find_meaning(is_full ? MCPOOL_ELIMIT : code)) == 0 &&
	    mp_buf_addf(&text, "MCP error: %s: %s", word, words) == 0 &&
	    mp_message_error(&out, id, mp_error_get_rpc_code(code), mp_buf_get(&text),
			     mp_buf_get(&data)) == 0)
		b->hooks->say_agent(b->u, mp_buf_get(&out));
}

static void answer_unknown(struct mp_bridge *b, const struct mp_pending *p)
{
	mp_bridge_answer(
		b, mp_str_of(p->id), MCPOOL_EOUTCOME_UNKNOWN,
		"the hub ended while this was under way, so nobody knows whether it happened");
}

/* --- those that wait ------------------------------------------------------------------------- */

/* Whoever waits is told that it was never sent. */
void mp_bridge_refuse_kept(struct mp_bridge *b)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf words;
	bool is_full = b->why.code == MCPOOL_ELIMIT; /* it runs, and says so (attack-S9) */

	mp_buf_init(&words, MP_KIB(2));
	if (mp_buf_addf(&words, "%s: %s%s%s",
			is_full ? "the hub takes no more agents" : "there is no hub",
			b->why.message[0] ? b->why.message : "it does not answer",
			b->o.log[0] ? "; its log is " : "", b->o.log) < 0 ||
	    mp_buf_terminate(&words) < 0)
		mp_buf_clear(&words);
	MP_LIST_EACH(&b->ledger.pending, link) {
		struct mp_pending *p = mp_container_of(link, struct mp_pending, link);

		mp_bridge_answer(b, mp_str_of(p->id), MCPOOL_EUNAVAILABLE,
				 words.len ? words.data : "there is no hub");
		mp_ledger_settle(&b->ledger, p);
	}
	mp_buf_done(&b->kept);
	mp_buf_init(&b->kept, MP_LIMIT_MESSAGE + MP_BRIDGE_MAX_KEPT);
}

/* There is no room for it. */
void mp_bridge_refuse_one(struct mp_bridge *b, uint64_t end)
{
	MP_LIST_EACH(&b->ledger.pending, link) {
		struct mp_pending *p = mp_container_of(link, struct mp_pending, link);

		if (!p->is_kept || p->end != end)
			continue;
		mp_bridge_answer(b, mp_str_of(p->id), MCPOOL_EUNAVAILABLE,
				 "there is no hub, and too much waits for one");
		mp_ledger_settle(&b->ledger, p);
	}
}

/* --- those that were on their way ------------------------------------------------------------ */

/* Questions that nobody waits for any more. */
void mp_bridge_withdraw_questions(struct mp_bridge *b)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	const struct mp_map_entry *e;
	size_t cursor = 0;

	mp_buf_init(&out, MP_KIB(4));
	while ((e = mp_map_next(&b->ledger.asked, &cursor))) {
		mp_buf_clear(&out);
		if (mp_buf_addf(&out,
				"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
				"\"params\":{\"requestId\":%.*s,\"reason\":\"the hub ended\"}}",
				MP_STR_ARGS(e->key)) == 0)
			b->hooks->say_agent(b->u, mp_buf_get(&out));
		if (mp_map_set(&b->ledger.stale, e->key, b) < 0) {
			/* its late answer will be taken for a strange one, and refused */
		}
		mp_map_remove(&b->ledger.asked, e->key);
	}
}

static bool is_said_again(const struct mp_pending *p)
{
	return p->kind == MP_PENDING_OPENING || p->kind == MP_PENDING_LISTENING;
}

/* Places in what was sent, and in what was kept, become places in what will be kept. */
static void move_unwritten(struct mp_bridge *b, uint64_t written, size_t rest_len, uint64_t rest_at)
{
	MP_LIST_EACH(&b->ledger.pending, link) {
		struct mp_pending *p = mp_container_of(link, struct mp_pending, link);

		if (p->is_kept)
			p->end += rest_len;
		else if (p->end > written)
			p->end -= rest_at;
		else
			continue;
		p->is_kept = true;
	}
}

/* Whoever was written is answered, or stands in front of those that were not. */
static int settle_written(struct mp_bridge *b, struct mp_buf *again)
{
	int r = 0;

	MP_LIST_EACH(&b->ledger.pending, link) {
		struct mp_pending *p = mp_container_of(link, struct mp_pending, link);

		if (p->is_kept)
			continue;
		if (is_said_again(p) && r == 0)
			r = mp_buf_addf(again, "%s\n", p->text);
		if (is_said_again(p) && r == 0) {
			p->is_again = true;
			p->end = again->len;
			continue;
		}
		answer_unknown(b, p);
		mp_ledger_settle(&b->ledger, p);
	}
	return r;
}

static void move_behind(struct mp_bridge *b, size_t again)
{
	MP_LIST_EACH(&b->ledger.pending, link) {
		struct mp_pending *p = mp_container_of(link, struct mp_pending, link);

		if (!p->is_again)
			p->end += again;
		p->is_kept = true;
		p->is_again = false;
	}
}

/* What is said again, the rest, what was kept: in this order the next hub gets them. */
void mp_bridge_keep_rest(struct mp_bridge *b, uint64_t written, struct mp_str rest,
			 uint64_t rest_at)
{
	struct mp_buf all;
	int r;

	mp_buf_init(&all, b->kept.ceiling);
	move_unwritten(b, written, rest.len, rest_at);
	r = settle_written(b, &all);
	move_behind(b, all.len);
	if (r == 0)
		r = mp_buf_add_str(&all, rest);
	if (r == 0)
		r = mp_buf_add_str(&all, mp_buf_get(&b->kept));
	mp_buf_done(r < 0 ? &all : &b->kept);
	if (r == 0)
		b->kept = all;
	else /* whoever waits is told so at once */
		mp_bridge_refuse_kept(b);
}
