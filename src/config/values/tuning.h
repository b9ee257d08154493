/*
 * tuning.h - how a server is run: the keys that may stand beside a server and, as the default for
 * all, in the `mcpool` object. A layer (profile, settings, entry) says what it says, and everything
 * else stays as the layer below had it; each value remembers who set it last.
 */
#ifndef MP_TUNING_H
#define MP_TUNING_H

#include "base/arena.h"
#include "base/base.h"
#include "json/bind.h"

enum mp_mode { MP_MODE_SHARED, MP_MODE_PROJECT, MP_MODE_SERIAL, MP_MODE_SESSION };
enum mp_start { MP_START_EAGER, MP_START_LAZY };
enum mp_restart_mode {
	MP_RESTART_RELENTLESS,
	MP_RESTART_REMOTE,
	MP_RESTART_ONCE,
	MP_RESTART_NONE,
};
enum mp_callers { MP_CALLERS_WAIT, MP_CALLERS_FAIL };
enum mp_on_timeout { MP_ON_TIMEOUT_PROBE, MP_ON_TIMEOUT_RESTART };
enum mp_health_probe { MP_HEALTH_PING, MP_HEALTH_LIST_TOOLS };
enum mp_timeout_order { MP_TIMEOUT_TOOL, MP_TIMEOUT_TRANSPORT };
enum mp_pins { MP_PINS_WARN, MP_PINS_FREEZE, MP_PINS_OFF };

enum { MP_SCHEDULE_MAX = 32 };

struct mp_restart {
	int mode; /* enum mp_restart_mode */
	struct mp_str schedule_json;
	int64_t schedule_ms[MP_SCHEDULE_MAX];
	size_t n_schedule;
	int64_t stable_ms;
	int callers; /* enum mp_callers */
	int64_t wait_ms;
	int64_t attempts;
	bool is_final;          /* a first start that failed for good is not scheduled again */
	int64_t final_retry_ms; /* but tried again after this time; 0: never */
	bool is_jittered;       /* delays of remote servers vary */
	int on_timeout;         /* enum mp_on_timeout: of a private stdio server */
	uint64_t present;
};

struct mp_tuning {
	int64_t timeout_ms; /* start: connect and handshake; 0: no limit */
	int64_t tool_timeout_ms;
	int64_t max_total_ms;
	int timeout_order; /* enum mp_timeout_order: whose limit comes first */
	int mode;          /* enum mp_mode */
	int start;         /* enum mp_start */
	const char *residency;
	int64_t idle_ms; /* from residency; 0: keep */
	struct mp_restart restart;
	int health_probe;           /* enum mp_health_probe */
	int64_t health_interval_ms; /* 0: probed only when in doubt */
	bool probes_at_start;       /* the probe must succeed before it is up */
	const char *queue;
	struct mp_str environment_json;
	int environment; /* enum mp_environment */
	int era;         /* enum mp_era */
	struct mp_str instructions_json;
	int64_t instructions; /* characters; 0: kept out */
	bool required;
	int pins; /* enum mp_pins */

	/* As they are spelled. */
	int era_choice;
	bool shared; /* true, false: mode shared, session */
};

extern const struct mp_bind_table mp_restart_table;
extern const char *const mp_restart_modes[];
extern const char *const mp_modes[], *const mp_starts[], *const mp_health_probes[];
extern const char *const mp_era_names[], *const mp_pins_names[], *const mp_timeout_orders[];

/* The rows, for a struct with a member `tuning`. */
#define MP_TUNING_ROWS(type)                                                                    \
	MP_BIND(type, MS, "timeout", tuning.timeout_ms, .min = 0, .max = INT32_MAX),            \
		MP_BIND(type, MS, "toolTimeout", tuning.tool_timeout_ms, .min = 0,              \
			.max = INT32_MAX),                                                      \
		MP_BIND(type, MS, "maxTotal", tuning.max_total_ms, .min = 0, .max = INT32_MAX), \
		MP_BIND(type, CHOICE, "timeoutOrder", tuning.timeout_order,                     \
			.choices = mp_timeout_orders),                                          \
		MP_BIND(type, CHOICE, "mode", tuning.mode, .choices = mp_modes),                \
		MP_BIND(type, BOOL, "shared", tuning.shared),                                   \
		MP_BIND(type, CHOICE, "start", tuning.start, .choices = mp_starts),             \
		MP_BIND(type, TEXT, "residency", tuning.residency),                             \
		MP_BIND(type, OBJECT, "restart", tuning.restart, .table = &mp_restart_table),   \
		MP_BIND(type, CHOICE, "healthProbe", tuning.health_probe,                       \
			.choices = mp_health_probes),                                           \
		MP_BIND(type, MS, "healthInterval", tuning.health_interval_ms, .min = 0,        \
			.max = INT32_MAX),                                                      \
		MP_BIND(type, BOOL, "probeAtStart", tuning.probes_at_start),                    \
		MP_BIND(type, TEXT, "queue", tuning.queue),                                     \
		MP_BIND(type, RAW, "environment", tuning.environment_json),                     \
		MP_BIND(type, CHOICE, "era", tuning.era_choice, .choices = mp_era_names),       \
		MP_BIND(type, RAW, "instructions", tuning.instructions_json),                   \
		MP_BIND(type, BOOL, "required", tuning.required),                               \
		MP_BIND(type, CHOICE, "pins", tuning.pins, .choices = mp_pins_names)

/*
 * What a table cannot say: residency, schedule, environment, era, instructions, and `shared` as an
 * alias of mode. table and from are the struct around this tuning, whose present bits tell what
 * this layer said, and are put right; before is the layer below, for what turns out to be wrong. fn
 * hears of problems.
 */
void mp_tuning_finish(struct mp_tuning *tuning, const struct mp_tuning *before,
		      const struct mp_bind_table *table, void *from, const struct mp_tape *t,
		      mp_value object, mp_bind_problem_fn fn, void *u);

/* Who set what, by dotted key ("restart.mode"); later notes win. From the arena. */
struct mp_provenance {
	struct mp_provenance_row {
		const char *key, *from;
	} * rows;
	size_t n, room;
};
/* Note all that is present in this struct as set by `from`. MCPOOL_ENOMEM, MCPOOL_ELIMIT. */
int mp_provenance_note(struct mp_provenance *p, const struct mp_bind_table *table,
		       const void *bound, const char *prefix, const char *from,
		       struct mp_arena *arena) MP_MUST;
int mp_provenance_note_key(struct mp_provenance *p, const char *key, const char *from,
			   struct mp_arena *arena) MP_MUST;
const char *mp_provenance_get(const struct mp_provenance *p, const char *key); /* NULL: none */
/* A copy to go on with. */
int mp_provenance_copy(struct mp_provenance *p, const struct mp_provenance *from,
		       struct mp_arena *arena) MP_MUST;

#endif
