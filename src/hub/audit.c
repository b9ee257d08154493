/*
 * audit.c - keeps records of all calls in the store.
 * A batch belongs to the loop until it is given to the store, then to the thread that writes.
 */
#include "hub/audit.h"

#include <stdatomic.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/redact.h"
#include "store/calls.h"

enum {
	TIDY_MS = 3600 * 1000, /* old records go, though there are no new ones */
	DAY_MS = 24 * 3600 * 1000,
};
#define BATCH_BYTES MP_MIB(1) /* a batch with so much text is written at once */

static const struct mp_log audit_log = {"audit"};

/* Of hub and writer, whichever lives longer. */
struct audit_state {
	atomic_uint refs;
	atomic_size_t waiting; /* bytes of the batches at the store */
	_Atomic uint64_t lost;
	atomic_bool is_failing; /* and that is said */
};

struct batch {
	struct audit_state *state; /* a reference */
	struct mp_calls_limits limits;
	struct mp_arena texts;
	size_t n, bytes; /* bytes: of texts, before they are redacted */
	size_t waiting;  /* of its own, while it is at the store */
	struct mp_call_row rows[MP_AUDIT_BATCH];
};

struct mp_audit {
	struct mp_audit_options o;
	struct audit_state *state;         /* a reference */
	struct batch *batch;               /* owned; NULL: none has begun */
	struct mp_audit_settings settings; /* as said last */
	uint64_t next;                     /* number of the record to copy next */
	struct mp_call_listener listener;
	struct mp_timer timer, tidy;
};

/* --- on the store's thread ------------------------------------------------------------------- */

static void state_unref(struct audit_state *s)
{
	if (atomic_fetch_sub(&s->refs, 1) == 1)
		mp_free(s);
}

static void state_lose(struct audit_state *s, uint64_t n, const char *why)
{
	atomic_fetch_add(&s->lost, n);
	if (!atomic_exchange(&s->is_failing, true))
		mp_log_warn(&audit_log, "records of calls are lost: %s", why);
}

/* How many are lost is known when the next ones are kept. */
static void state_recover(struct audit_state *s)
{
	if (atomic_exchange(&s->is_failing, false))
		mp_log_warn(&audit_log, "calls are recorded again; %llu are not",
			    (unsigned long long)atomic_load(&s->lost));
}

static struct batch *batch_free(struct batch *b)
{
	state_unref(b->state);
	mp_arena_done(&b->texts);
	return mp_free(b);
}

/* Secrets in it become dots. A text that cannot be redacted in full is not kept at all. */
static const char *batch_redact(struct batch *b, const char *text)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	const char *kept = NULL;

	mp_buf_init(&out, MP_LIMIT_AUDIT_TEXT * 8);
	if (mp_redact(mp_str_of(text), strlen(text) == MP_LIMIT_AUDIT_TEXT, &out) == 0)
		kept = mp_arena_dup(&b->texts, mp_buf_get(&out));
	return kept ? kept : "";
}

/* Rows share equal texts: see batch_keep(). */
static void batch_redact_rows(struct batch *b)
{
	struct mp_call_row raw = {.tool = NULL}, done = raw;

	for (size_t i = 0; i < b->n; i++) {
		struct mp_call_row *row = &b->rows[i], own = *row;

		row->tool = own.tool == raw.tool ? done.tool : batch_redact(b, own.tool);
		row->client = own.client == raw.client ? done.client : batch_redact(b, own.client);
		if (own.args)
			row->args = own.args == raw.args ? done.args : batch_redact(b, own.args);
		raw = own;
		done = *row;
	}
}

static int batch_write(struct sqlite3 *sql, void *u, struct mcpool_error *reterr)
{
	struct batch *b = u;

	batch_redact_rows(b);
	return mp_calls_add(sql, b->rows, b->n, &b->limits, reterr);
}

static void batch_written(int result, void *u)
{
	struct batch *b = u;

	atomic_fetch_sub(&b->state->waiting, b->waiting);
	if (result < 0 && b->n)
		state_lose(b->state, b->n, "the store cannot be written");
	else if (result >= 0)
		state_recover(b->state);
	batch_free(b);
}

/* --- on the loop ----------------------------------------------------------------------------- */

static struct batch *batch_new(struct mp_audit *a)
{
	struct batch *b = mp_alloc(sizeof(*b));

	b->state = a->state;
	atomic_fetch_add(&b->state->refs, 1);
	mp_arena_init(&b->texts, 8 * BATCH_BYTES);
	return b;
}

/* Without any, those before count: the workspace is gone when the hub ends. */
static const struct mp_audit_settings *audit_get_settings(struct mp_audit *a)
{
	const struct mp_audit_settings *now = a->o.get_settings(a->o.u);

	if (now)
		a->settings = *now;
	return &a->settings;
}

static int batch_give(struct batch *b, struct mp_db *db)
{
	int r = MCPOOL_ELIMIT;

	b->waiting = sizeof(*b) + b->texts.taken;
	if (atomic_fetch_add(&b->state->waiting, b->waiting) + b->waiting <= MP_LIMIT_AUDIT_WAITING)
		r = mp_db_write_later(db, batch_write, batch_written, b);
	if (r < 0)
		atomic_fetch_sub(&b->state->waiting, b->waiting);
	return r;
}

static void audit_send(struct mp_audit *a)
{
	const struct mp_audit_settings *settings = audit_get_settings(a);
	struct batch *b = MP_TAKE(a->batch);

	mp_timer_stop(&a->timer);
	if (!b)
		return;
	b->limits.max_bytes = settings->max_bytes;
	if (settings->days)
		b->limits.oldest_ms =
			mp_loop_wall_now_ms(a->o.loop) - settings->days * (int64_t)DAY_MS;
	if (batch_give(b, a->o.db) == 0)
		return;
	if (b->n)
		state_lose(a->state, b->n, "the store is too slow");
	batch_free(b);
}

void mp_audit_flush(struct mp_audit *a)
{
	audit_send(a);
}

/* NULL: no memory. What is very long is cut, so that no peer fills the store with one call. */
static const char *batch_keep(struct batch *b, const char *text, const char *before)
{
	struct mp_str all;

	if (before && strcmp(text, before) == 0) /* calls in a row are mostly alike */
		return before;
	all = mp_str_of(text);
	if (all.len > MP_LIMIT_AUDIT_TEXT)
		all.len = MP_LIMIT_AUDIT_TEXT;
	b->bytes += all.len;
	return mp_arena_dup(&b->texts, all);
}

/* False: it has no room. */
static bool batch_add(struct batch *b, const struct mp_call_record *r)
{
	static const struct mp_call_row none;
	const struct mp_call_row *before = b->n ? &b->rows[b->n - 1] : &none;
	struct mp_call_row *row = &b->rows[b->n];

	mp_call_record_describe(r, row);
	if (!(row->client = batch_keep(b, row->client, before->client)) ||
	    !(row->principal = batch_keep(b, row->principal, before->principal)) ||
	    !(row->project = batch_keep(b, row->project, before->project)) ||
	    !(row->server = batch_keep(b, row->server, before->server)) ||
	    !(row->tool = batch_keep(b, row->tool, before->tool)))
		return false;
	if (row->args) /* without memory there are none */
		row->args = batch_keep(b, row->args, before->args);
	b->n++;
	return true;
}

static void audit_add(struct mp_audit *a, const struct mp_call_record *r)
{
	if (!a->batch) {
		a->batch = batch_new(a);
		mp_timer_start(&a->timer, MP_AUDIT_WAIT_MS);
	}
	if (!batch_add(a->batch, r))
		state_lose(a->state, 1, "there is no memory for them");
	if (a->batch->n == MP_AUDIT_BATCH || a->batch->bytes > BATCH_BYTES)
		audit_send(a);
}

/* A turn ended in which calls ended. */
static void audit_read(void *u)
{
	struct mp_audit *a = u;
	const struct mp_call_record *r;
	uint64_t missed;

	if (!audit_get_settings(a)->store) {
		a->next = a->o.calls->last + 1;
		return;
	}
	while ((r = mp_call_log_read(a->o.calls, &a->next, &missed))) {
		if (missed)
			state_lose(a->state, missed, "calls end too fast");
		audit_add(a, r);
	}
}

static void audit_late(void *u)
{
	audit_send(u);
}

/* An empty batch removes what is old. */
static void audit_tidy(void *u)
{
	struct mp_audit *a = u;

	if (!a->batch)
		a->batch = batch_new(a);
	audit_send(a);
	mp_timer_start(&a->tidy, TIDY_MS);
}

/* --- life ------------------------------------------------------------------------------------ */

struct mp_audit *mp_audit_new(const struct mp_audit_options *o)
{
	struct mp_audit *a = mp_alloc(sizeof(*a));

	a->o = *o;
	a->state = mp_alloc(sizeof(*a->state));
	atomic_init(&a->state->refs, 1);
	a->next = o->calls->last + 1;
	mp_call_listener_join(o->calls, &a->listener, audit_read, a);
	mp_timer_init(&a->timer, o->loop, audit_late, a);
	mp_timer_init(&a->tidy, o->loop, audit_tidy, a);
	mp_timer_start(&a->tidy, TIDY_MS);
	return a;
}

struct mp_audit *mp_audit_free(struct mp_audit *a)
{
	if (!a)
		return NULL;
	audit_read(a);
	audit_send(a);
	mp_timer_stop(&a->tidy);
	mp_call_listener_leave(a->o.calls, &a->listener);
	state_unref(a->state);
	return mp_free(a);
}

uint64_t mp_audit_count_lost(const struct mp_audit *a)
{
	return atomic_load(&a->state->lost);
}
