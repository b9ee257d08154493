/*
 * metrics.c - /metrics: the hub and its servers as Prometheus text (doc/protocol.md, "Metrics").
 * There are series per server, and none per tool, session or client, so that no peer makes more.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/metric_text.h"
#include "face/http_face.h"
#include "pool/totals.h"
#include "pool/usage.h"

/* --- of servers ------------------------------------------------------------------------------ */

static uint64_t get_restarts(const struct mp_total *t)
{
	return t->restarts;
}

static uint64_t get_up(const struct mp_total *t)
{
	return t->up;
}

static uint64_t get_waiting(const struct mp_total *t)
{
	return t->waiting;
}

static uint64_t get_open(const struct mp_total *t)
{
	return t->open;
}

static uint64_t get_bytes_in(const struct mp_total *t)
{
	return t->stats.bytes_in;
}

static uint64_t get_bytes_out(const struct mp_total *t)
{
	return t->stats.bytes_out;
}

static uint64_t get_memory(const struct mp_total *t)
{
	return (uint64_t)t->usage.memory;
}

static uint64_t get_processes(const struct mp_total *t)
{
	return (uint64_t)t->usage.processes;
}

/* One series for each server. */
static const struct {
	const char *name, *type, *help;
	uint64_t (*get)(const struct mp_total *t);
} families[] = {
	{"mcpool_server_restarts_total", "counter", "Lives of a server that followed a failed one.",
	 get_restarts},
	{"mcpool_server_instances_up", "gauge", "Running copies of a server that take calls.",
	 get_up},
	{"mcpool_calls_waiting", "gauge", "Calls that wait for a server or for a slot.",
	 get_waiting},
	{"mcpool_calls_open", "gauge", "Calls that a server has not answered yet.", get_open},
	{"mcpool_call_request_bytes_total", "counter", "Bytes of params of calls that have ended.",
	 get_bytes_in},
	{"mcpool_call_response_bytes_total", "counter",
	 "Bytes of results and errors of calls that have ended.", get_bytes_out},
	{"mcpool_server_memory_bytes", "gauge",
	 "Memory of a server's processes, as measured at the request before.", get_memory},
	{"mcpool_server_processes", "gauge",
	 "Processes of a server, as measured at the request before.", get_processes},
};

static void metrics_add_families(struct mp_metric_text *m, const struct mp_totals *all)
{
	const struct mp_total *t;
	size_t cursor;

	for (size_t i = 0; i < MP_ARRAY_LEN(families); i++) {
		mp_metric_family(m, families[i].name, families[i].type, families[i].help);
		cursor = 0;
		while ((t = mp_totals_next(all, &cursor))) {
			mp_metric_begin(m, "");
			mp_metric_label(m, "server", mp_str_of(t->server));
			mp_metric_count(m, families[i].get(t));
		}
	}
}

static void metrics_add_outcome(struct mp_metric_text *m, const struct mp_total *t,
				const char *outcome, uint64_t n)
{
	mp_metric_begin(m, "");
	mp_metric_label(m, "server", mp_str_of(t->server));
	mp_metric_label(m, "outcome", mp_str_of(outcome));
	mp_metric_count(m, n);
}

/* The outcomes of doc/protocol.md, "Calls"; together they are all calls. */
static void metrics_add_calls(struct mp_metric_text *m, const struct mp_totals *all)
{
	const struct mp_total *t;
	size_t cursor = 0;

	mp_metric_family(m, "mcpool_calls_total", "counter", "Calls that have ended, by outcome.");
	while ((t = mp_totals_next(all, &cursor))) {
		uint64_t failed = t->stats.errors + t->stats.tool_errors;

		metrics_add_outcome(m, t, "answered",
				    t->stats.by_outcome[MP_OUTCOME_ANSWERED] - failed);
		metrics_add_outcome(m, t, "error", t->stats.errors);
		metrics_add_outcome(m, t, "tool_error", t->stats.tool_errors);
		for (int o = MP_OUTCOME_ANSWERED + 1; o <= MP_OUTCOME_CANCELLED; o++)
			metrics_add_outcome(m, t, mp_outcome_get_name((enum mp_outcome)o),
					    t->stats.by_outcome[o]);
	}
}

/* Buckets end at powers of two microseconds, as those of stats.c do: 256 us to 67 s. */
enum { FIRST_POWER = 8, LAST_POWER = 26 };

static void metrics_add_bucket(struct mp_metric_text *m, const struct mp_total *t, const char *end,
			       uint64_t n)
{
	mp_metric_begin(m, "_bucket");
	mp_metric_label(m, "server", mp_str_of(t->server));
	mp_metric_label(m, "le", mp_str_of(end));
	mp_metric_count(m, n);
}

static void metrics_add_histogram(struct mp_metric_text *m, const struct mp_total *t)
{
	char end[MP_METRIC_SECONDS];

	for (unsigned power = FIRST_POWER; power <= LAST_POWER; power++) {
		mp_metric_write_seconds((int64_t)1 << power, end);
		metrics_add_bucket(m, t, end, mp_stats_count_below(&t->stats, power));
	}
	metrics_add_bucket(m, t, "+Inf", t->stats.measured);
	mp_metric_begin(m, "_sum");
	mp_metric_label(m, "server", mp_str_of(t->server));
	mp_metric_seconds(m,
			  (int64_t)(t->stats.total_us > INT64_MAX ? INT64_MAX : t->stats.total_us));
	mp_metric_begin(m, "_count");
	mp_metric_label(m, "server", mp_str_of(t->server));
	mp_metric_count(m, t->stats.measured);
}

static void metrics_add_latencies(struct mp_metric_text *m, const struct mp_totals *all)
{
	const struct mp_total *t;
	size_t cursor = 0;

	mp_metric_family(m, "mcpool_call_duration_seconds", "histogram",
			 "Time at the server of calls that it answered.");
	while ((t = mp_totals_next(all, &cursor)))
		metrics_add_histogram(m, t);
}

/* As every display shows them: the servers of the hub's own workspace. */
static void metrics_add_states(struct mp_metric_text *m, struct mp_workspace *w)
{
	mp_metric_family(m, "mcpool_server_state", "gauge",
			 "1 for the state that a server of the hub's own workspace is in.");
	for (size_t i = 0; i < mp_workspace_count(w); i++) {
		const char *name = mp_workspace_get_entry(w, i)->name;
		enum mp_status_state is = mp_workspace_get_state(w, i, 0);

		for (int s = 0; s < MP_STATUS_STATE_COUNT; s++) {
			enum mp_status_state state = (enum mp_status_state)s;

			if (state == MP_STATUS_SHADOWED) /* these have no workspace */
				continue;
			mp_metric_begin(m, "");
			mp_metric_label(m, "server", mp_str_of(name));
			mp_metric_label(m, "state", mp_str_of(mp_status_state_get_name(state)));
			mp_metric_count(m, is == state);
		}
	}
}

/* --- of the hub ------------------------------------------------------------------------------ */

static void metrics_add_one(struct mp_metric_text *m, const char *name, const char *help,
			    uint64_t value)
{
	mp_metric_family(m, name, "gauge", help);
	mp_metric_begin(m, "");
	mp_metric_count(m, value);
}

/* 0: the system does not say. */
static uint64_t read_own_memory(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
	uint64_t resident = 0;
	char line[128], *at;

	if (f && fgets(line, sizeof(line), f)) {
		(void)strtoull(line, &at, 10); /* all of its address space */
		resident = strtoull(at, NULL, 10);
	}
	if (f)
		fclose(f);
	return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void metrics_add_own_time(struct mp_metric_text *m)
{
	struct rusage used = {0};

	(void)getrusage(RUSAGE_SELF, &used); /* cannot fail for ourselves */
	mp_metric_family(m, "mcpool_process_cpu_seconds_total", "counter",
			 "Processor time of the hub's process.");
	mp_metric_begin(m, "");
	mp_metric_seconds(m, (int64_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000 +
				     used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

static void metrics_add_hub(struct mp_metric_text *m, struct mp_http_face *f)
{
	mp_metric_family(m, "mcpool_build_info", "gauge", "1, with the version of the hub.");
	mp_metric_begin(m, "");
	mp_metric_label(m, "version", mp_str_of(mcpool_version()));
	mp_metric_count(m, 1);
	metrics_add_one(m, "mcpool_ready", "1 once the gate is open.", f->is_ready && !f->draining);
	metrics_add_one(m, "mcpool_sessions", "Sessions of agents.",
			mp_sessions_count(f->all_sessions));
	metrics_add_one(m, "mcpool_http_connections", "Open HTTP connections.",
			f->service.connections.len);
	metrics_add_one(m, "mcpool_process_resident_memory_bytes",
			"Resident memory of the hub's process.", read_own_memory());
	metrics_add_own_time(m);
}

/* --- the route ------------------------------------------------------------------------------- */

static int metrics_write(struct mp_http_face *f, struct mp_buf *out)
{
	MP_CLEANUP(mp_totals_done) struct mp_totals all;
	struct mp_metric_text m;

	mp_totals_init(&all);
	mp_pool_sum_up(mp_workspace_get_pool(f->workspace), &all);
	mp_metric_text_init(&m, out);
	metrics_add_hub(&m, f);
	metrics_add_states(&m, f->workspace);
	metrics_add_calls(&m, &all);
	metrics_add_latencies(&m, &all);
	metrics_add_families(&m, &all);
	return mp_metric_text_finish(&m);
}

static void metrics_measured(void *u)
{
	(void)u; /* the next request has it */
}

void mp_metrics_serve(struct mp_http_face *f, struct mp_exchange *x)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;

	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	if (f->usage && !mp_list_linked(&f->usage_listener.link))
		(void)mp_usage_ask(f->usage, &f->usage_listener, metrics_measured, NULL);
	if (metrics_write(f, &text) < 0)
		mp_exchange_refuse(x, &(struct mp_http_refusal){503, "there is no memory", NULL});
	else
		mp_exchange_answer(x, &(struct mp_http_answer){200, MP_METRIC_TEXT_TYPE, NULL,
							       mp_buf_get(&text)});
}

/* /readyz: what the servers of the hub's own workspace have is known, and the hub does not leave.
 */
void mp_metrics_serve_ready(struct mp_http_face *f, struct mp_exchange *x)
{
	bool is_ready = f->is_ready && !f->draining;

	mp_exchange_answer(
		x, &(struct mp_http_answer){is_ready ? 200 : 503, "text/plain; charset=utf-8", NULL,
					    is_ready ? MP_STR("ready\n") : MP_STR("not ready\n")});
}
