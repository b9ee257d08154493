/*
 * session.h - one agent's session.
 * It accepts messages of both eras, from any face, and answers each request exactly once. It does
 * not use sockets: messages go out through deliver(), with their stream.
 */
#ifndef MP_SESSION_H
#define MP_SESSION_H

#include "base/base.h"
#include "base/buf.h"
#include "base/ids.h"
#include "base/list.h"
#include "base/map.h"
#include "pool/pool.h"
#include "rpc/message.h"
#include "rpc/trace.h"

struct mp_call_client;
struct mp_client_habit;
struct mp_scope;
struct mp_session;
struct mp_sessions;

enum {
	/* Keeps no state between requests; accepts only modern ones (POST /mcp). */
	MP_SESSION_STATELESS = 1 << 0,
	/* All requests share one stream, so two with the same id are ambiguous (V22). */
	MP_SESSION_ONE_STREAM = 1 << 1,
};

/* The part of the workspace that this agent sees; empty lists: all. */
struct mp_narrowing {
	const char *const *servers; /* names or globs (U20) */
	size_t n_servers;
	const char *const *tools; /* of tools, by the server's name or the public one */
	size_t n_tools;
	const char *naming; /* naming style, a value of the setting; NULL: as configured */
};

struct mp_session_options {
	struct mp_workspace *workspace; /* ready; borrowed, outlives the session */
	const char *principal;          /* the authenticated user: "uid:1000"; copied */
	const char *way;                /* "stdio", "http", "sse", "ws"; static */
	struct mp_narrowing narrowing;  /* copied */
	unsigned traits;
	int pid;        /* of its bridge; 0: unknown */
	int client_pid; /* of the agent that started the bridge; 0: unknown */
	mp_id parent;   /* session whose private servers it borrows; 0: none */
};

/* A message for the agent. */
struct mp_delivery {
	mp_id stream; /* as passed to receive; 0: not of a request */
	/* One message; valid during the call. Empty: the request was cancelled; no answer. */
	struct mp_str text;
	bool is_last; /* the last answer of that stream */
	int status;   /* HTTP status of an answer that comes alone: 200, 400, 404 */
};

struct mp_session_hooks {
	/* May be called from within receive. Must not free the session. */
	void (*deliver)(void *u, const struct mp_delivery *d);
};

/* MCPOOL_ELIMIT: too many sessions. */
int mp_session_new(struct mp_sessions *sessions, const struct mp_session_options *o,
		   const struct mp_session_hooks *hooks, void *u, struct mp_session **ret_session,
		   struct mcpool_error *reterr) MP_MUST;
/* The agent left: cancels its calls and stops its private servers. Accepts NULL, returns NULL. */
struct mp_session *mp_session_free(struct mp_session *s);

/*
 * One message of the agent, or a batch. stream: the face's id of where answers go (0 if there is
 * one stream for all). Returns the number of answers that will come on that stream, 0 for
 * notifications and responses. An invalid message is answered, too. The last answer has is_last.
 */
size_t mp_session_receive(struct mp_session *s, const struct mp_message *m, mp_id stream);
/* Headers that come with the next message; borrowed until it was received. */
void mp_session_note_trace(struct mp_session *s, const struct mp_trace_texts *headers);
/* The same for unparsed text. Invalid text is answered (with id null if it has none). */
size_t mp_session_receive_text(struct mp_session *s, struct mp_str text, mp_id stream);
/* A message that exceeds the limit: its first and last bytes. */
size_t mp_session_receive_oversize(struct mp_session *s, struct mp_str head, struct mp_str tail,
				   mp_id stream);
/*
 * The stream is closed: its requests are cancelled (modern rule). A legacy face that keeps messages
 * for a later stream does not call this.
 */
void mp_session_leave_stream(struct mp_session *s, mp_id stream);

/* The era of a request, from its _meta (mcp-spec 2.2). Tape as of mp_message_scan(). */
enum mp_era mp_session_classify(const struct mp_message *m);

/* --- information ----------------------------------------------------------------------------- */

struct mp_session_info {
	mp_id id;
	mp_id home; /* whose private servers it uses: its own id, or that of another session */
	const char *way, *principal;
	int pid;
	const char *client, *client_version; /* "" before initialize */
	const char *protocol;                /* "2025-11-25"; "" */
	const char *root;                    /* the project's folder */
	int64_t since_ms, last_ms;           /* wall clock: start, last message */
	size_t open;                         /* open requests */
	uint64_t received, answered;
	uint64_t calls; /* that servers were asked for and that have ended */
	int64_t calls_last_minute;
	size_t servers; /* that it sees, as mp_scopes_count_users() found */
};
void mp_session_get_info(const struct mp_session *s, struct mp_session_info *ret);

/* --- private to session/ --------------------------------------------------------------------- */

/* Server requests that an agent supports. */
enum {
	MP_CAN_SAMPLE = 1 << 0,
	MP_CAN_ELICIT = 1 << 1,     /* by a form */
	MP_CAN_ELICIT_URL = 1 << 2, /* by a URL */
	MP_CAN_LIST_ROOTS = 1 << 3,
	MP_CAN_TASKS = 1 << 4, /* the extension of 2026 */
};

struct mp_session {
	struct mp_link link; /* in the list of all sessions */
	struct mp_sessions *sessions;
	mp_id id;                           /* its id as a pool client */
	struct mp_call_client *call_client; /* a reference; names it in records of its calls */
	struct mp_workspace *workspace;
	const char *way;
	unsigned traits;
	int pid, client_pid;
	char *principal; /* owned */
	const struct mp_session_hooks *hooks;
	void *u;
	struct mp_scope *scope; /* a reference */
	struct mp_link scope_link;
	struct mp_list requests; /* owned, open requests */
	struct mp_map by_id;     /* the same by the agent's id, if there is one stream for all */
	struct mp_list agent_requests; /* owned */
	uint64_t last_agent_request;

	/* From initialize. */
	char protocol[16];
	unsigned can;                  /* MP_CAN_* */
	char *capabilities;            /* in the format for modern servers; owned; NULL: none */
	char *client, *client_version; /* owned; NULL before */
	const struct mp_client_habit *habit;
	const char *log_level; /* static; NULL: the servers' default */
	bool is_open;          /* initialized */
	unsigned lists_seen;   /* bit per kind: it has listed that kind */

	struct mp_list subscriptions; /* owned; see subscriptions.c */
	struct mp_list tasks;         /* owned; see tasks.c */
	int64_t since_ms, last_ms;
	uint64_t received, answered;
};

/* opening.c: what records of its calls say of it. */
void mp_session_name_client(const struct mp_session *s);
void mp_session_send(struct mp_session *s, mp_id stream, struct mp_str text);
/* Appends text as a JSON string. */
int mp_session_quote(struct mp_buf *out, struct mp_str text) MP_MUST;
/* Owned by the caller; empty text: NULL. For short texts: ids, names. */
char *mp_session_keep(struct mp_str text);
/* The same for texts as large as a message; on failure *slot is unchanged. */
int mp_session_keep_message(char **slot, struct mp_str text) MP_MUST;

#endif
