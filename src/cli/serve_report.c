/*
 * serve_report.c - what `serve` tells: the gate's result, and with --json every event.
 */
#include <stdio.h>

#include "base/limits.h"
#include "base/log.h"
#include "cli/live_table.h"
#include "cli/serve.h"
#include "config/values/diff.h"
#include "json/write.h"

/* Where a server stands at the gate; the order in which it is told. */
enum stand { LIVE, DEFERRED, LATE, FAILED, NEEDS_APPROVAL, NEEDS_AUTH, READY, DISABLED, STANDS };

static const struct {
	const char *key;
	const char *one, *many;
} stands[STANDS] = {
	[LIVE] = {"live", "live", "live"},
	[DEFERRED] = {"deferred", "deferred", "deferred"},
	[LATE] = {"late", "late", "late"},
	[FAILED] = {"failed", "failed", "failed"},
	[NEEDS_APPROVAL] = {"needsApproval", "needs approval", "need approval"},
	[NEEDS_AUTH] = {"needsAuth", "needs a login", "need a login"},
	[READY] = {"ready", "starts when it is called", "start when they are called"},
	[DISABLED] = {"disabled", "disabled", "disabled"},
};

static enum stand stand_of(struct mp_serve *s, size_t i)
{
	struct mp_status st;

	switch (mp_gate_get_place(s->hub->workspace, i, 0)) {
	case MP_PLACE_LIVE:
		return LIVE;
	case MP_PLACE_DEFERRED:
		return DEFERRED;
	case MP_PLACE_FAILED:
		return FAILED;
	case MP_PLACE_LATE:
	case MP_PLACE_ABSENT:
	case MP_PLACE_COUNT:
		break;
	}
	mp_workspace_get_status(s->hub->workspace, i, 0, &st);
	switch (st.state) {
	case MP_STATUS_NEEDS_APPROVAL:
		return NEEDS_APPROVAL;
	case MP_STATUS_NEEDS_AUTH:
		return NEEDS_AUTH;
	case MP_STATUS_DISABLED:
		return DISABLED;
	case MP_STATUS_READY:
		return READY;
	case MP_STATUS_PENDING:
	case MP_STATUS_CONNECTED:
	case MP_STATUS_FAILED:
	case MP_STATUS_SHADOWED:
	case MP_STATUS_STATE_COUNT:
		break;
	}
	return LATE;
}

/* --- for people ------------------------------------------------------------------------------ */

static const struct mp_log init_log = {"mcp:init"}, reload_log = {"mcp:reload"};

/* Valid until the next call; "" where there is none. */
static const char *error_of(struct mp_buf *text, const struct mp_status *st)
{
	mp_buf_clear(text);
	if (mp_live_add_error(text, st) < 0 || mp_buf_terminate(text) < 0)
		return st->error[0] ? "(memory did not suffice to say why)" : "";
	return text->data;
}

static void log_server(const struct mp_log *log, struct mp_serve *s, size_t i, enum stand stand)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_status st;
	const char *error;

	mp_buf_init(&text, MP_KIB(512));
	mp_workspace_get_status(s->hub->workspace, i, 0, &st);
	error = error_of(&text, &st);
	switch (stand) {
	case FAILED:
		mp_log_error(log, "%s failed: %s", st.entry->name, error);
		break;
	case LATE:
		mp_log_warn(log, "%s is late: %s%s%s", st.entry->name, st.detail,
			    error[0] ? "; before that: " : "", error);
		break;
	case NEEDS_APPROVAL:
		mp_log_warn(log, "%s needs your approval: mcpool trust %s", st.entry->name,
			    st.entry->name);
		break;
	case NEEDS_AUTH:
		mp_log_warn(log, "%s needs a login: %s", st.entry->name, error);
		break;
	case DEFERRED:
		mp_log_info(log, "%s is deferred: its %td tools are known from before",
			    st.entry->name, st.tools);
		break;
	case LIVE:
	case READY:
	case DISABLED:
	case STANDS:
		break;
	}
}

static void log_gate(struct mp_serve *s, const size_t *counts)
{
	int64_t took = mp_loop_now_ms(s->hub->loop) - s->began_ms;
	MP_CLEANUP(mp_buf_done) struct mp_buf words;
	int r = 0;

	mp_buf_init(&words, MP_KIB(4));
	for (int k = 0; k < STANDS && r == 0; k++)
		if (counts[k])
			r = mp_buf_addf(&words, "%s%zu %s", words.len ? ", " : "", counts[k],
					counts[k] == 1 ? stands[k].one : stands[k].many);
	mp_log_info(&init_log, "the gate is open after %lld ms: %.*s", (long long)took,
		    MP_STR_ARGS(words.len ? mp_buf_get(&words) : MP_STR("no servers")));
	for (int k = 0; k < STANDS; k++)
		for (size_t i = 0; i < mp_workspace_count(s->hub->workspace); i++)
			if ((int)stand_of(s, i) == k)
				log_server(&init_log, s, i, (enum stand)k);
}

/* --- later ----------------------------------------------------------------------------------- */

static void remember(struct mp_serve *s)
{
	mp_config_set_unref(s->told);
	s->told = mp_config_set_ref(mp_workspace_get_set(s->hub->workspace));
}

/* What is new and will not be started, and why; whatever is started tells for itself. */
static void log_change(void *u, const struct mp_config_change *change)
{
	struct mp_serve *s = u;
	ptrdiff_t i =
		change->after ? mp_workspace_find(s->hub->workspace, change->after->name) : -1;
	enum stand stand = i < 0 ? LIVE : stand_of(s, (size_t)i);

	if (change->kind == MP_UNCHANGED || change->is == MP_STATUS_READY)
		return;
	if (stand == FAILED || stand == NEEDS_APPROVAL || stand == NEEDS_AUTH)
		log_server(&reload_log, s, (size_t)i, stand);
}

void mp_serve_report_reload(struct mp_serve *s)
{
	if (!s->told) /* the gate tells all */
		return;
	if (mp_diff(s->told, mp_workspace_get_set(s->hub->workspace), log_change, s) < 0)
		mp_log_warn(&reload_log, "memory did not suffice to say what needs your approval");
	remember(s);
}

/* --- for programs ---------------------------------------------------------------------------- */

static void write_servers(struct mp_serve *s, struct mp_writer *w, enum stand stand)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_status st;

	mp_buf_init(&text, MP_KIB(512));
	mp_write_key(w, mp_str_of(stands[stand].key));
	mp_write_begin_array(w);
	for (size_t i = 0; i < mp_workspace_count(s->hub->workspace); i++) {
		if (stand_of(s, i) != stand)
			continue;
		mp_workspace_get_status(s->hub->workspace, i, 0, &st);
		if (stand != FAILED) {
			mp_write_text(w, mp_str_of(st.entry->name));
			continue;
		}
		mp_write_begin_object(w);
		mp_write_member_text(w, "server", mp_str_of(st.entry->name));
		mp_write_member_text(w, "error", mp_str_of(error_of(&text, &st)));
		mp_write_end_object(w);
	}
	mp_write_end_array(w);
}

/* How many there are, of live and of deferred servers. */
static void write_tools(struct mp_serve *s, struct mp_writer *w)
{
	size_t n = 0;

	for (size_t i = 0; i < mp_workspace_count(s->hub->workspace); i++) {
		struct mp_status st;

		mp_workspace_get_status(s->hub->workspace, i, 0, &st);
		if (st.tools > 0)
			n += (size_t)st.tools;
	}
	mp_write_member_i64(w, "tools", (int64_t)n);
}

static void print_gate(struct mp_serve *s)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;

	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	mp_write_key(&w, MP_STR("gate"));
	mp_write_begin_object(&w);
	for (int k = 0; k < STANDS; k++)
		write_servers(s, &w, (enum stand)k);
	write_tools(s, &w);
	mp_write_member_i64(&w, "tookMs", mp_loop_now_ms(s->hub->loop) - s->began_ms);
	mp_write_end_object(&w);
	mp_write_end_object(&w);
	if (mp_write_finish(&w) == 0)
		mp_serve_print(s, mp_buf_get(&text));
}

void mp_serve_report_gate(struct mp_serve *s)
{
	size_t counts[STANDS] = {0}, n;

	for (size_t i = 0; i < mp_workspace_count(s->hub->workspace); i++)
		counts[stand_of(s, i)]++;
	n = counts[LIVE] + counts[DEFERRED];
	log_gate(s, counts);
	remember(s);
	if (s->args->json) {
		mp_serve_report_events(s); /* what happened before the gate stands before it */
		print_gate(s);
	} else if (!s->screen) {
		printf("mcpool: ready, %zu server%s\n", n, n == 1 ? "" : "s");
		fflush(stdout);
	}
}

/* --- events ---------------------------------------------------------------------------------- */

static void print_event(struct mp_serve *s, const struct mp_event *e, uint64_t missed)
{
	const char *name = mp_pool_get_name(s->hub->pool, e->id);
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;

	mp_buf_init(&text, MP_KIB(64));
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	mp_write_key(&w, MP_STR("number"));
	mp_write_u64(&w, e->number);
	mp_write_member_i64(&w, "time", e->wall_ms);
	mp_write_key(&w, MP_STR("server"));
	if (name)
		mp_write_text(&w, mp_str_of(name));
	else
		mp_write_null(&w);
	mp_write_key(&w, MP_STR("instance"));
	mp_write_u64(&w, e->id);
	mp_write_member_text(&w, "what", mp_str_of(e->what));
	mp_write_member_text(&w, "text", mp_str_of(e->text));
	if (missed) {
		mp_write_key(&w, MP_STR("missed"));
		mp_write_u64(&w, missed);
	}
	mp_write_end_object(&w);
	if (mp_write_finish(&w) == 0)
		mp_serve_print(s, mp_buf_get(&text));
}

void mp_serve_report_events(void *u)
{
	struct mp_serve *s = u;
	const struct mp_event *e;
	uint64_t missed;

	while ((e = mp_events_read(&s->hub->events, &s->cursor, &missed)))
		print_event(s, e, missed);
}
