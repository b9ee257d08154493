/*
 * demo.h - what the files of the demo server share.
 * The server is written against the specification alone and uses nothing of our client, so that
 * each is a second opinion on the other. Sections are named after the files that hold them.
 */
#ifndef MP_DEMO_H
#define MP_DEMO_H

#include "base/arena.h"
#include "base/base.h"
#include "base/limits.h"
#include "base/list.h"
#include "base/loop.h"
#include "base/str.h"
#include "demo/knobs.h"
#include "json/value.h"
#include "json/write.h"
#include "rpc/message.h"
#include "transport/transport.h"

#define MP_DEMO_MODERN "2026-07-28"

#define MP_DEMO_SERVER_INFO                                                                        \
	"{\"name\":\"mcpool-demo\",\"title\":\"mcpool demo server\",\"version\":\"" MCPOOL_VERSION \
	"\"}"

enum { MP_DEMO_MAX_CALLS = 1024, MP_DEMO_MAX_PARAMS = 2, MP_DEMO_TTL_MS = 5000 };

/* What goes into errors: JSON-RPC's own codes and MCP's. */
enum {
	MP_DEMO_INVALID_REQUEST = -32600,
	MP_DEMO_NO_METHOD = -32601,
	MP_DEMO_INVALID_PARAMS = -32602,
	MP_DEMO_INTERNAL = -32603,
	MP_DEMO_NO_RESOURCE = -32002, /* legacy only */
	MP_DEMO_MISSING_CAPABILITY = -32021,
	MP_DEMO_UNSUPPORTED_VERSION = -32022,
};

struct mp_demo_call;

struct mp_demo {
	struct mp_loop *loop;
	struct mp_transport *wire; /* stdin and stdout */
	struct mp_demo_knobs knobs;
	struct mp_list calls; /* requests without an answer, in order of arrival */

	/* Of the message at hand. */
	struct mp_tape tape;
	struct mp_arena arena;
	struct mp_buf body;  /* a result, params or error data while they are written */
	struct mp_buf frame; /* the message around it */
	struct mp_writer writer;

	/* The legacy conversation. */
	bool initialized;
	bool can_ask;     /* the client declared elicitation */
	int level;        /* of logging/setLevel */
	uint32_t watched; /* bit per resource that is subscribed to */
	int64_t asked;    /* number of the last question, which is its id */

	/* What changes. */
	bool has_extra;
	int64_t counter;

	uint64_t queued, written;  /* bytes given to the wire, and passed on by it */
	bool met;                  /* a message has come */
	int64_t called, answered;  /* tool calls */
	bool is_mute;              /* nothing is answered any more */
	struct mp_demo_call *held; /* with an answer that waits for the next; NULL: none */
	struct mp_timer leave_timer, idle_timer, change_timer;
	int64_t leave_by_ms; /* 0 while it stays */
	int exit_code;
};

/* An argument as a tool sees it. */
struct mp_demo_arg {
	bool given;
	struct mp_str text; /* valid while the request is dispatched */
	double number;
	int64_t whole; /* of a choice its index */
};

/* One request, from its arrival until it is answered or cancelled. */
struct mp_demo_call {
	struct mp_link link;
	struct mp_demo *demo;
	const struct mp_message *message; /* while it is dispatched, then NULL */
	enum mp_method_id method;
	bool modern;
	bool can_ask;   /* this request's client can be asked */
	int level;      /* least level of log messages; LEVELS: none wanted */
	int64_t number; /* of this tool call, the first is 1; 0: it does not run */
	size_t id_len, token_len;
	char id[MP_LIMIT_ID], token[MP_LIMIT_ID]; /* JSON as written */
	struct mp_demo_arg args[MP_DEMO_MAX_PARAMS];
	struct mp_timer timer;
	struct mp_buf answer; /* held back */

	int64_t ms, step, steps; /* sleep */
	int64_t bytes;           /* big */
	int64_t question;        /* ask: id of our request; 0: none */
	bool wants_tools;        /* listen: toolsListChanged */
	uint32_t watched;        /* listen: bit per resource */
};

static inline struct mp_str mp_demo_id(const struct mp_demo_call *c)
{
	return (struct mp_str){c->id, c->id_len};
}

/* --- demo_server.c: begin, dispatch, leave --------------------------------------------------- */

/* Exit with this code as soon as all answers are out (or the client stopped reading). */
void mp_demo_leave(struct mp_demo *d, int exit_code);
/* Forget a request without an answer. */
void mp_demo_drop(struct mp_demo_call *c);

/* --- speak.c: saying it in either era --------------------------------------------------------- */

/*
 * A result: begin, write members, end. `end` answers and forgets the request; lists and reads end
 * in end_cached, which says how long they may be kept. Only one text is written at a time.
 */
struct mp_writer *mp_demo_begin(struct mp_demo_call *c);
struct mp_writer *mp_demo_begin_as(struct mp_demo_call *c, const char *result_type);
void mp_demo_end(struct mp_demo_call *c);
void mp_demo_end_cached(struct mp_demo_call *c, int64_t ttl_ms);
/* The same, with c->bytes letters poured into the text at this offset, past every queue. */
void mp_demo_end_huge(struct mp_demo_call *c, size_t at);

/* A tool's answer as text, and one that says what is wrong. */
void mp_demo_say(struct mp_demo_call *c, struct mp_str text);
void mp_demo_complain(struct mp_demo_call *c, const char *format, ...) MP_PRINTF(2, 3);
/* Members of the result above, for tools that add their own. */
void mp_demo_write_content(struct mp_writer *w, struct mp_str text);

/* An error, answering and forgetting the request. */
void mp_demo_fail(struct mp_demo_call *c, int code, const char *format, ...) MP_PRINTF(3, 4);
/* An object for params or data; its members follow. */
struct mp_writer *mp_demo_begin_object(struct mp_demo *d);
/* An error with that object as data. */
void mp_demo_fail_with_data(struct mp_demo_call *c, int code, const char *words);
/* A notification with that object as params; not sent if it cannot be. */
void mp_demo_notify(struct mp_demo *d, enum mp_method_id method);
/* A request of ours with that object as params; its id. */
int64_t mp_demo_ask(struct mp_demo *d, enum mp_method_id method);
/* An error for a message that has no id we could read. */
void mp_demo_fail_unnamed(struct mp_demo *d, int code, const char *words);

/* Has the client been given all we said? */
bool mp_demo_is_drained(const struct mp_demo *d);

/* --- mischief.c: what the knobs do -------------------------------------------------------------
 */

/* All that happens before the first byte is read. Returns an exit code, or -1 to go on. */
int mp_demo_mischief_at_start(const struct mp_demo_knobs *k);
/* How long to hold the answer to this request; 0: not at all. */
int64_t mp_demo_mischief_delay(const struct mp_demo_call *c);
/* A tool is about to run: counted, written to the ledger, then blocked, as the knobs say. */
void mp_demo_mischief_in_call(struct mp_demo_call *c, struct mp_str tool, struct mp_str arguments);
/* That call is answered, or cancelled, which is how. */
void mp_demo_mischief_at_end(const struct mp_demo_call *c, const char *how);
/* Stdin has ended. False: live on all the same. */
bool mp_demo_mischief_may_leave(const struct mp_demo_knobs *k);
void mp_demo_flood(int fd, int64_t bytes);
/* Write all of it, however long the reader takes. */
int mp_demo_pour(int fd, struct mp_str s) MP_MUST;

/* --- params.c: arguments of tools and prompts ---------------------------------------------------
 */

enum mp_demo_type { MP_DEMO_TEXT, MP_DEMO_NUMBER, MP_DEMO_WHOLE, MP_DEMO_CHOICE };

struct mp_demo_param {
	const char *name; /* NULL: there are no more */
	enum mp_demo_type type;
	bool required;
	const char *description;
	int64_t min, max;           /* WHOLE */
	const char *const *choices; /* CHOICE; ends in NULL */
};

/* The JSON schema of an object with these members. */
void mp_demo_params_write_schema(struct mp_writer *w, const struct mp_demo_param *params);
/* Fill c->args, in the order of params. reterr says which argument is wrong, and why. */
int mp_demo_params_read(struct mp_demo_call *c, const struct mp_demo_param *params,
			struct mcpool_error *reterr) MP_MUST;

/* --- methods: each answers its request, now or later -------------------------------------------
 */

/* hello.c */
void mp_demo_initialize(struct mp_demo_call *c);
void mp_demo_discover(struct mp_demo_call *c);
void mp_demo_ping(struct mp_demo_call *c);
void mp_demo_set_level(struct mp_demo_call *c);
/* Read the metadata that every modern request carries. False: it was refused and answered. */
bool mp_demo_read_meta(struct mp_demo_call *c);
void mp_demo_fail_version(struct mp_demo_call *c, mp_value requested);

extern const char *const mp_demo_levels[]; /* of log messages, the least first; ends in NULL */
enum { MP_DEMO_INFO = 1, MP_DEMO_LEVELS = 8 };

/* tools.c */
void mp_demo_tools_list(struct mp_demo_call *c);
void mp_demo_tools_call(struct mp_demo_call *c);
/* The tool `extra` comes or goes, and those who want to know are told. */
void mp_demo_change(struct mp_demo *d);

/* slow_tools.c: tools that answer later */
void mp_demo_sleep(struct mp_demo_call *c);
void mp_demo_big(struct mp_demo_call *c);
void mp_demo_ask_user(struct mp_demo_call *c);
/* The client's answer to a question of ours, which is m. */
void mp_demo_hear(struct mp_demo *d, const struct mp_message *m);

/* resources.c */
void mp_demo_resources_list(struct mp_demo_call *c);
void mp_demo_templates_list(struct mp_demo_call *c);
void mp_demo_resources_read(struct mp_demo_call *c);
void mp_demo_subscribe(struct mp_demo_call *c);
void mp_demo_unsubscribe(struct mp_demo_call *c);
/* The counter has another value now; those who watch it are told. */
void mp_demo_move_counter(struct mp_demo *d);
/* The resource's bit, or 0 if there is no such resource; and the other way round. */
uint32_t mp_demo_resource_bit(const struct mp_demo *d, mp_value uri);
const char *mp_demo_resource_uri(uint32_t bit);

#define MP_DEMO_GREETING "demo://greeting/{name}"

/* prompts.c */
void mp_demo_prompts_list(struct mp_demo_call *c);
void mp_demo_prompts_get(struct mp_demo_call *c);
void mp_demo_complete(struct mp_demo_call *c);

/* listen.c */
void mp_demo_listen(struct mp_demo_call *c);
void mp_demo_tell_tools_changed(struct mp_demo *d);
void mp_demo_tell_updated(struct mp_demo *d, uint32_t resource);
/* We leave: every open stream gets its last message. */
void mp_demo_end_listens(struct mp_demo *d);

#endif
