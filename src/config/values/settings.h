/*
 * settings.h - the `mcpool` object of our own files, over a profile, over the defaults.
 */
#ifndef MP_SETTINGS_H
#define MP_SETTINGS_H

#include "base/arena.h"
#include "base/base.h"
#include "base/ids.h"
#include "base/log.h"
#include "config/values/expand.h"
#include "config/values/tuning.h"
#include "store/secrets.h"

enum mp_profile { MP_PROFILE_DEFAULT, MP_PROFILE_OMP, MP_PROFILE_CLAUDE, MP_PROFILE_NETDATA };
enum mp_naming {
	MP_NAMING_MCP_DOUBLE, /* mcp__server__tool */
	MP_NAMING_MCP_SINGLE, /* mcp_server_tool */
	MP_NAMING_SERVER,     /* server__tool */
	MP_NAMING_PASSTHROUGH,
	MP_NAMING_MCP_LETTERS, /* mcp_server_tool without digits */
};
enum mp_name_set { MP_NAMES_WIDE, MP_NAMES_STRICT };
enum mp_log_names { MP_LOG_NAMES_INSTANCE, MP_LOG_NAMES_MCP };
enum mp_log_format { MP_LOG_TEXT, MP_LOG_JSON };
enum mp_log_attempts { MP_LOG_ATTEMPTS_WARNING, MP_LOG_ATTEMPTS_ERROR };
enum mp_error_form { MP_ERRORS_PROTOCOL, MP_ERRORS_CONTENT };
/* By its word, as `server__tool`; -1: there is none. */
int mp_naming_find(struct mp_str word);
const char *mp_naming_get_word(enum mp_naming naming); /* static; NULL behind the last */
enum mp_uncached { MP_UNCACHED_LATE, MP_UNCACHED_BLOCK, MP_UNCACHED_WAIT_ALL };
enum mp_indirection { MP_INDIRECT_COMMAND, MP_INDIRECT_VARIABLE, MP_INDIRECT_OFF };
enum mp_instructions_format {
	MP_INSTRUCTIONS_OMP,
	MP_INSTRUCTIONS_CLAUDE,
	MP_INSTRUCTIONS_NETDATA,
	MP_INSTRUCTIONS_PLAIN,
};

#define MP_AUDIT_MOST MP_GIB(16) /* bytes of records of calls */

enum { MP_RESULT_LEAST = 512 }; /* bytes that a limit of results leaves at least */

/* One member of `queues`, as the layers say it together; queues.h turns it into numbers. */
enum { MP_QUEUE_AUTO = -1, MP_QUEUE_UNSAID = -2 };
struct mp_queue_setting {
	struct mp_str name;
	int64_t slots;   /* or MP_QUEUE_AUTO, MP_QUEUE_UNSAID */
	int64_t line;    /* or MP_QUEUE_UNSAID */
	bool is_of_file; /* a file defines it, and not a profile alone */
};

struct mp_settings {
	int profile;     /* enum mp_profile */
	bool is_imposed; /* the profile: what layers say of it does not count */
	int naming;      /* enum mp_naming */
	int names;       /* enum mp_name_set: which names servers may have */
	struct mp_startup {
		int64_t window_ms;
		int uncached; /* enum mp_uncached */
		int64_t max_wait_ms;
		uint64_t present;
	} startup;
	int64_t init_concurrency;
	struct mp_str queues_json; /* {NAME: {slots, line}}, of all layers */
	struct mp_queue_setting *queues;
	size_t n_queues;
	bool enabled;
	bool project_config;
	struct mp_bind_list host_native;
	int missing_variable;  /* enum mp_missing */
	int value_indirection; /* enum mp_indirection */
	struct mp_bind_list allow, deny;
	bool shadow_equal; /* equal connections under another name are shadowed */
	struct mp_str sources_json;
	struct mp_bind_list sources_off; /* tools switched off */
	struct mp_bind_list remote;
	struct mp_result_settings {
		const char *join;
		int64_t max_bytes;
		int errors;    /* enum mp_error_form: how a session learns of a failed call */
		bool sessions; /* max_bytes holds for sessions, too */
		uint64_t present;
	} result;
	struct mp_http_settings {
		const char *listen;
		const char *name; /* of this host, for other machines; NULL: none */
		struct mp_str tls_json;
		struct mp_str oauth_json; /* of the user's own file, or the command line's */
		struct mp_bind_list metrics_from; /* the same */
		uint64_t present;
	} http;
	struct mp_secrets_settings {
		bool keyring;                   /* the Secret Service is used where there is one */
		const char *passphrase_command; /* of the sealed file; NULL: none */
		uint64_t present;
	} secrets; /* of the user's own file only */
	struct mp_log_settings {
		int level;
		int attempts; /* enum mp_log_attempts: level of a restart attempt */
		int format;   /* enum mp_log_format */
		int names;    /* enum mp_log_names: what a line about a server begins with */
		uint64_t present;
	} log;
	struct mp_audit_settings {
		bool args;         /* keep arguments, and not only their hash */
		bool store;        /* keep records of calls in the state folder */
		int64_t days;      /* so long; 0: no limit */
		int64_t max_bytes; /* of all records that are kept */
		uint64_t present;
	} audit; /* of the user's own file only */
	struct mp_dashboard_settings {
		bool answers; /* a page answers servers for agents that cannot be asked */
		uint64_t present;
	} dashboard; /* of the user's own file only */
	struct mp_otlp_settings {
		const char *endpoint; /* of a collector; NULL: none */
		const char *service;  /* our name there */
		struct mp_bind_map headers;
		uint64_t present;
	} otlp;                  /* of the user's own file only */
	int instructions_format; /* enum mp_instructions_format */
	struct mp_tuning tuning; /* of all servers that say nothing else */
	uint64_t present;        /* of the last layer */

	struct mp_provenance provenance;
};

extern const struct mp_bind_table mp_settings_table;

/* The defaults alone. MCPOOL_ENOMEM. */
int mp_settings_init(struct mp_settings *s, struct mp_arena *arena) MP_MUST;
/* This profile, whatever the layers to come say. MCPOOL_EINVAL: there is none of that name. */
int mp_settings_impose(struct mp_settings *s, const char *profile, struct mp_arena *arena) MP_MUST;
bool mp_profile_exists(const char *name);
/*
 * Lay an object over them. A `profile` in it comes below its other keys and above the defaults.
 * from: who says so, for people; must live as long as s. fn hears of problems.
 */
int mp_settings_read(struct mp_settings *s, const struct mp_tape *t, mp_value object,
		     const char *from, struct mp_arena *arena, mp_bind_problem_fn fn,
		     void *u) MP_MUST;

/*
 * queues.c: lay the object `queues` of one layer over those below it, name by name. In the netdata
 * profile the larger number wins where two files define a queue (U28). A wrong value is told, and
 * is as in the default. MCPOOL_ENOMEM, MCPOOL_ELIMIT.
 */
int mp_settings_read_queues(struct mp_settings *s, const struct mp_tape *t, mp_value queues,
			    bool is_of_file, struct mp_arena *arena, mp_bind_problem_fn fn,
			    void *u) MP_MUST;

/* Is this tool's source switched off? */
bool mp_settings_has_source(const struct mp_settings *s, const char *tool);
bool mp_bind_list_has(const struct mp_bind_list *list, const char *text);

/* How secrets are opened; borrows from s. */
struct mp_secrets_options mp_settings_get_secrets(const struct mp_settings *s);

/* How log lines about a server begin (log.names): "mcp:files"; else "files#3", instance 0 "files".
 */
void mp_settings_name_server(const struct mp_settings *s, const char *server, mp_id instance,
			     struct mp_log *ret_log);

/* The text of a profile's object, for the manual and for tests. */
struct mp_str mp_profile_get_json(enum mp_profile profile);

#endif
