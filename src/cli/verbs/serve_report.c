/*
 * serve_report.c - output of `serve`: the gate's result, and with --json every event.
 */
#include <stdio.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/shell.h"
#include "cli/verbs/serve.h"
#include "config/values/diff.h"
#include "face/control_status.h"
#include "json/write.h"
#include "pool/gate.h"
#include "pool/status.h"

static const struct {
	const char *key;
	const char *one, *many;
} words[] = {
#define X(name, key, one, many) [MP_PLACE_##name] = {key, one, many},
	MP_GATE_PLACES(X)
#undef X
};

static enum mp_gate_place place_of(struct mp_serve *s, size_t i)
{
	return mp_gate_get_place(s->hub->workspace, i, 0);
}

/* --- as text --------------------------------------------------------------------------------- */

static const struct mp_log init_log = {"mcp:init"}, reload_log = {"mcp:reload"};

static void log_server(const struct mp_log *log, struct mp_serve *s, size_t i,
		       enum mp_gate_place place)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mp_status st;

	mp_arena_init(&arena, MP_LIMIT_ARENA);
	mp_status_take(s->hub->workspace, i, 0, &arena, &st);
	switch (place) {
	case MP_PLACE_FAILED:
		mp_log_error(log, "%s failed: %s", st.name, st.error);
		break;
	case MP_PLACE_LATE:
		mp_log_warn(log, "%s is late: %s%s%s", st.name, st.detail,
			    st.error[0] ? "; before that: " : "", st.error);
		break;
	case MP_PLACE_NEEDS_APPROVAL:
		mp_log_warn(log, "%s needs your approval: mcpool trust %s", st.name,
			    MP_SHELL_NAME(st.name));
		break;
	case MP_PLACE_NEEDS_AUTH:
		mp_log_warn(log, "%s needs a login: %s", st.name, st.error);
		break;
	case MP_PLACE_DEFERRED:
		mp_log_info(log, "%s is deferred: its %lld tools are known from before", st.name,
			    (long long)st.tools);
		break;
	case MP_PLACE_LIVE:
	case MP_PLACE_READY:
	case MP_PLACE_DISABLED:
	case MP_PLACE_COUNT:
		break;
	}
}

static void log_gate(struct mp_serve *s, const size_t *counts)
{
	int64_t took = mp_loop_now_ms(s->hub->loop) - s->began_ms;
	MP_CLEANUP(mp_buf_done) struct mp_buf line;
	int r = 0;

	mp_buf_init(&line, MP_KIB(4));
	for (int k = 0; k < MP_PLACE_COUNT && r == 0; k++)
		if (counts[k])
			r = mp_buf_addf(&line, "%s%zu %s", line.len ? ", " : "", counts[k],
					counts[k] == 1 ? words[k].one : words[k].many);
	mp_log_info(&init_log, "the gate is open after %lld ms: %.*s", (long long)took,
		    MP_STR_ARGS(line.len ? mp_buf_get(&line) : MP_STR("no servers")));
	for (int k = 0; k < MP_PLACE_COUNT; k++)
		for (size_t i = 0; i < mp_workspace_count(s->hub->workspace); i++)
			if ((int)place_of(s, i) == k)
				log_server(&init_log, s, i, (enum mp_gate_place)k);
}

/* --- after a reload -------------------------------------------------------------------------- */

static void serve_report_remember(struct mp_serve *s)
{
	mp_config_set_unref(s->told);
	s->told = mp_config_set_ref(mp_workspace_get_set(s->hub->workspace));
}

/* Log new entries that will not be started, and why; started servers have their own events. */
static void log_change(void *u, const struct mp_config_change *change)
{
	struct mp_serve *s = u;
	ptrdiff_t i =
		change->after ? mp_workspace_find(s->hub->workspace, change->after->name) : -1;
	enum mp_gate_place place = i < 0 ? MP_PLACE_LIVE : place_of(s, (size_t)i);

	if (change->kind == MP_UNCHANGED || change->is == MP_STATUS_READY)
		return;
	if (place == MP_PLACE_FAILED || place == MP_PLACE_NEEDS_APPROVAL ||
	    place == MP_PLACE_NEEDS_AUTH)
		log_server(&reload_log, s, (size_t)i, place);
}

void mp_serve_report_reload(struct mp_serve *s)
{
	if (!s->told) /* the gate reports everything */
		return;
	if (mp_diff(s->told, mp_workspace_get_set(s->hub->workspace), log_change, s) < 0)
		mp_log_warn(&reload_log, "memory did not suffice to say what needs your approval");
	serve_report_remember(s);
}

/* --- as JSON --------------------------------------------------------------------------------- */

static void write_servers(struct mp_writer *w, const struct mp_status_list *l,
			  const enum mp_gate_place *places, enum mp_gate_place place)
{
	mp_write_key(w, mp_str_of(words[place].key));
	mp_write_begin_array(w);
	for (size_t i = 0; i < l->n; i++) {
		if (places[i] != place)
			continue;
		if (place != MP_PLACE_FAILED) {
			mp_write_text(w, mp_str_of(l->items[i].name));
			continue;
		}
		mp_write_begin_object(w);
		mp_write_member_text(w, "server", mp_str_of(l->items[i].name));
		mp_write_member_text(w, "error", mp_str_of(l->items[i].error));
		mp_write_end_object(w);
	}
	mp_write_end_array(w);
}

/* The number of tools of live and of deferred servers. */
static void write_tools(struct mp_writer *w, const struct mp_status_list *l)
{
	int64_t n = 0;

	for (size_t i = 0; i < l->n; i++)
		n += l->items[i].tools > 0 ? l->items[i].tools : 0;
	mp_write_member_i64(w, "tools", n);
}

static void print_gate(struct mp_serve *s)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	MP_CLEANUP(mp_status_list_freep) struct mp_status_list *l = NULL;
	enum mp_gate_place *places;
	struct mp_writer w;

	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	if (mp_status_list_take(s->hub->workspace, 0, NULL, 0, &l) < 0)
		return;
	places = mp_alloc((l->n + 1) * sizeof(*places));
	for (size_t i = 0; i < l->n; i++)
		places[i] = place_of(s, i);
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	mp_write_key(&w, MP_STR("gate"));
	mp_write_begin_object(&w);
	for (int k = 0; k < MP_PLACE_COUNT; k++)
		write_servers(&w, l, places, (enum mp_gate_place)k);
	mp_free(places);
	write_tools(&w, l);
	mp_write_member_i64(&w, "tookMs", mp_loop_now_ms(s->hub->loop) - s->began_ms);
	mp_write_end_object(&w);
	mp_write_end_object(&w);
	if (mp_write_finish(&w) == 0)
		mp_serve_print(s, mp_buf_get(&text));
}

void mp_serve_report_gate(struct mp_serve *s)
{
	size_t counts[MP_PLACE_COUNT] = {0}, n;

	for (size_t i = 0; i < mp_workspace_count(s->hub->workspace); i++)
		counts[place_of(s, i)]++;
	n = counts[MP_PLACE_LIVE] + counts[MP_PLACE_DEFERRED];
	log_gate(s, counts);
	serve_report_remember(s);
	if (s->args->json) {
		mp_serve_report_events(s); /* print earlier events first */
		print_gate(s);
	} else if (!s->screen) {
		printf("mcpool: ready, %zu server%s\n", n, n == 1 ? "" : "s");
		fflush(stdout);
	}
}

/* --- events ---------------------------------------------------------------------------------- */

static void print_event(struct mp_serve *s, const struct mp_event *e, uint64_t missed)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;

	mp_buf_init(&text, MP_KIB(64) + MP_LIMIT_RELOAD_CHANGES);
	mp_write_init(&w, &text, NULL);
	mp_control_status_write_event(&w, s->hub, e, missed);
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
