/*
 * hub_lost.c - requests without a hub: each is answered, kept for the next hub, or rejected.
 */
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "bridge/bridge.h"
#include "rpc/message.h"
#include "session/failed_call.h"

/* --- error responses ------------------------------------------------------------------------- */

/* The errors of a bridge, with the data that an agent gets; the bridge knows no server. */
static const struct meaning {
	int code;
	enum mp_outcome outcome;
	const char *stage;
	enum mcpool_fault fault;
	const char *next_step;
} meanings[] = {
	{MCPOOL_EUNAVAILABLE, MP_OUTCOME_NOT_SENT, "connect", MCPOOL_FAULT_CONNECT,
	 "check the hub: mcpool status; start it: mcpool up"},
	{MCPOOL_ELIMIT, MP_OUTCOME_NOT_SENT, "connect", MCPOOL_FAULT_CLOSED,
	 "end agents that are not needed (mcpool status lists them), then call again"},
	{MCPOOL_EOUTCOME_UNKNOWN, MP_OUTCOME_UNKNOWN, "receive", MCPOOL_FAULT_END,
	 "check whether it happened before you call again"},
	{MCPOOL_ETOO_LARGE, MP_OUTCOME_NOT_SENT, "send", MCPOOL_FAULT_CLOSED,
	 "send smaller messages: the limit is 32 MiB"},
};

static const struct meaning *meaning_find(int code)
{
	const struct meaning *m = meanings;

	while (m->code != code)
		m++;
	return m;
}

static int meaning_write(struct mp_buf *out, const struct meaning *m)
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
	if (meaning_write(&data, meaning_find(is_full ? MCPOOL_ELIMIT : code)) == 0 &&
	    mp_buf_addf(&text, "MCP error: %s: %s", word, words) == 0 &&
	    mp_message_error(&out, id, mp_error_get_rpc_code(code), mp_buf_get(&text),
			     mp_buf_get(&data)) == 0)
		b->hooks->send_agent(b->u, mp_buf_get(&out));
}

static void request_answer_unknown(struct mp_bridge *b, const struct mp_inflight_request *f)
{
	mp_bridge_answer(b, mp_str_of(f->id), MCPOOL_EOUTCOME_UNKNOWN,
			 "the hub ended during the call; whether it happened is unknown");
}

/* --- requests that wait ---------------------------------------------------------------------- */

void mp_bridge_refuse_kept(struct mp_bridge *b)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf words;
	bool is_full = b->why.code == MCPOOL_ELIMIT; /* the hub runs and says so (attack-S9) */

	mp_buf_init(&words, MP_KIB(2));
	if (mp_buf_addf(&words, "%s: %s%s%s",
			is_full ? "the hub accepts no more agents" : "there is no hub",
			b->why.message[0] ? b->why.message : "it does not answer",
			b->o.log[0] ? "; its log is " : "", b->o.log) < 0 ||
	    mp_buf_terminate(&words) < 0)
		mp_buf_clear(&words);
	MP_LIST_EACH(&b->inflight.requests, link) {
		struct mp_inflight_request *f =
			mp_container_of(link, struct mp_inflight_request, link);

		mp_bridge_answer(b, mp_str_of(f->id), MCPOOL_EUNAVAILABLE,
				 words.len ? words.data : "there is no hub");
		mp_inflight_remove(&b->inflight, f);
	}
	mp_buf_done(&b->kept);
	mp_buf_init(&b->kept, MP_LIMIT_MESSAGE + MP_BRIDGE_MAX_KEPT);
}

void mp_bridge_refuse_one(struct mp_bridge *b, uint64_t end)
{
	MP_LIST_EACH(&b->inflight.requests, link) {
		struct mp_inflight_request *f =
			mp_container_of(link, struct mp_inflight_request, link);

		if (!f->is_kept || f->end != end)
			continue;
		mp_bridge_answer(b, mp_str_of(f->id), MCPOOL_EUNAVAILABLE,
				 "there is no hub, and too many requests wait for one");
		mp_inflight_remove(&b->inflight, f);
	}
}

/* --- requests that were sent ----------------------------------------------------------------- */

void mp_bridge_cancel_server_requests(struct mp_bridge *b)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	const struct mp_map_entry *e;
	size_t cursor = 0;

	mp_buf_init(&out, MP_KIB(4));
	while ((e = mp_map_next(&b->inflight.server_requests, &cursor))) {
		mp_buf_clear(&out);
		if (mp_buf_addf(&out,
				"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
				"\"params\":{\"requestId\":%.*s,\"reason\":\"the hub ended\"}}",
				MP_STR_ARGS(e->key)) == 0)
			b->hooks->send_agent(b->u, mp_buf_get(&out));
		if (mp_map_set(&b->inflight.stale, e->key, b) < 0) {
			/* full: the next hub rejects its late answer */
		}
		mp_map_remove(&b->inflight.server_requests, e->key);
	}
}

static bool request_is_resent(const struct mp_inflight_request *f)
{
	return f->kind == MP_INFLIGHT_OPENING || f->kind == MP_INFLIGHT_LISTENING;
}

/* Unwritten and kept lines: turn their offsets into offsets of the new kept buffer. */
static void offsets_move_unwritten(struct mp_bridge *b, uint64_t written, size_t rest_len,
				   uint64_t rest_at)
{
	MP_LIST_EACH(&b->inflight.requests, link) {
		struct mp_inflight_request *f =
			mp_container_of(link, struct mp_inflight_request, link);

		if (f->is_kept)
			f->end += rest_len;
		else if (f->end > written)
			f->end -= rest_at;
		else
			continue;
		f->is_kept = true;
	}
}

/* Written requests are answered, or sent again before all others. */
static int requests_settle_written(struct mp_bridge *b, struct mp_buf *again)
{
	int r = 0;

	MP_LIST_EACH(&b->inflight.requests, link) {
		struct mp_inflight_request *f =
			mp_container_of(link, struct mp_inflight_request, link);

		if (f->is_kept)
			continue;
		if (request_is_resent(f) && r == 0)
			r = mp_buf_addf(again, "%s\n", f->text);
		if (request_is_resent(f) && r == 0) {
			f->is_resent = true;
			f->end = again->len;
			continue;
		}
		request_answer_unknown(b, f);
		mp_inflight_remove(&b->inflight, f);
	}
	return r;
}

static void offsets_move_behind(struct mp_bridge *b, size_t again)
{
	MP_LIST_EACH(&b->inflight.requests, link) {
		struct mp_inflight_request *f =
			mp_container_of(link, struct mp_inflight_request, link);

		if (!f->is_resent)
			f->end += again;
		f->is_kept = true;
		f->is_resent = false;
	}
}

/* The next hub gets, in this order: what is sent again, the unwritten rest, what was kept. */
void mp_bridge_keep_unsent(struct mp_bridge *b, uint64_t written, struct mp_str rest,
			   uint64_t rest_at)
{
	struct mp_buf all;
	int r;

	mp_buf_init(&all, b->kept.ceiling);
	offsets_move_unwritten(b, written, rest.len, rest_at);
	r = requests_settle_written(b, &all);
	offsets_move_behind(b, all.len);
	if (r == 0)
		r = mp_buf_add_str(&all, rest);
	if (r == 0)
		r = mp_buf_add_str(&all, mp_buf_get(&b->kept));
	mp_buf_done(r < 0 ? &all : &b->kept);
	if (r == 0)
		b->kept = all;
	else /* no memory for them */
		mp_bridge_refuse_kept(b);
}
