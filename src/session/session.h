/*
 * session.h - one agent: what it sees, and what becomes of its messages.
 * A session takes messages of either era, from any face, and answers each request exactly once. It
 * knows nothing of sockets: what it says goes out through deliver(), with the stream it belongs to.
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

struct mp_client_habit;
struct mp_scope;
struct mp_session;
struct mp_sessions;

enum {
	/* Nothing is remembered between two requests; only modern ones are taken (POST /mcp). */
	MP_SESSION_STATELESS = 1 << 0,
	/* All requests share one stream, so two with the same id cannot be told apart (V22). */
	MP_SESSION_ONE_STREAM = 1 << 1,
};

/* What of the workspace this agent wants to see; empty lists: all. */
struct mp_narrowing {
	const char *const *servers; /* names or globs, as U20 has them */
	size_t n_servers;
	const char *const *tools; /* of tools, as the server or as mcpool calls them */
	size_t n_tools;
	const char *naming; /* how they are called, a word of the setting; NULL: as configured */
};

struct mp_session_options {
	struct mp_workspace *workspace; /* ready; borrowed, outlives the session */
	const char *principal;          /* who it is, as it was admitted: "uid:1000"; copied */
	const char *way;                /* "stdio", "http", "sse", "ws"; static */
	struct mp_narrowing narrowing;  /* copied */
	unsigned traits;
	int pid; /* of its bridge; 0: unknown */
};

/* A message for the agent. */
struct mp_delivery {
	mp_id stream; /* as it was given to receive; 0: of no request in particular */
	/* One message; valid during the call. Empty: there will be no answer, it was cancelled. */
	struct mp_str text;
	bool is_last; /* the last answer of that stream */
	int status;   /* what HTTP says with an answer that comes alone: 200, 400, 404 */
};

struct mp_session_hooks {
	/* May be called from within receive. Must not free the session. */
	void (*deliver)(void *u, const struct mp_delivery *d);
};

/* MCPOOL_ELIMIT: there are too many. */
int mp_session_new(struct mp_sessions *sessions, const struct mp_session_options *o,
		   const struct mp_session_hooks *hooks, void *u, struct mp_session **ret_session,
		   struct mcpool_error *reterr) MP_MUST;
/* The agent is gone: its calls are cancelled, its own servers leave. Accepts NULL, returns NULL. */
struct mp_session *mp_session_free(struct mp_session *s);

/*
 * One message of the agent, or a batch. stream: the face's name for where answers go (0 where there
 * is one stream for all). Tells how many answers will come on that stream, 0 for notifications and
 * answers; what is wrong with a message is an answer, too. The last one is_last.
 */
size_t mp_session_receive(struct mp_session *s, const struct mp_message *m, mp_id stream);
/*
 * The same for text that nobody has looked at. What cannot be read is answered (with id null, where
 * none can be told).
 */
size_t mp_session_receive_text(struct mp_session *s, struct mp_str text, mp_id stream);
/* A message that was too large to keep: its first and last bytes. */
size_t mp_session_receive_oversize(struct mp_session *s, struct mp_str head, struct mp_str tail,
				   mp_id stream);
/*
 * Nobody listens on that stream any more: its requests are cancelled (modern rule). A legacy face
 * that keeps what comes for a later stream does not call this.
 */
void mp_session_leave_stream(struct mp_session *s, mp_id stream);

/* Which era a request is of: it says so in _meta (mcp-spec 2.2). Tape as of mp_message_scan(). */
enum mp_era mp_session_classify(const struct mp_message *m);

/* --- what is to be seen ---------------------------------------------------------------------- */

struct mp_session_info {
	mp_id id;
	const char *way, *principal;
	int pid;
	const char *client, *client_version; /* "" before it said so */
	const char *protocol;                /* "2025-11-25"; "" */
	const char *root;                    /* the project's folder */
	int64_t since_ms, last_ms;           /* wall clock: begun, last heard of */
	size_t open;                         /* requests that are being answered */
	uint64_t received, answered;
};
void mp_session_get_info(const struct mp_session *s, struct mp_session_info *ret);

/* --- for the files of session/ alone --------------------------------------------------------- */

/* What an agent can be asked. */
enum {
	MP_CAN_SAMPLE = 1 << 0,
	MP_CAN_ELICIT = 1 << 1,     /* with a form */
	MP_CAN_ELICIT_URL = 1 << 2, /* by sending the user to a page */
	MP_CAN_LIST_ROOTS = 1 << 3,
	MP_CAN_TASKS = 1 << 4, /* the extension of 2026 */
};

struct mp_session {
	struct mp_link link; /* in the list of all sessions */
	struct mp_sessions *sessions;
	mp_id id; /* of the client */
	struct mp_workspace *workspace;
	const char *way;
	unsigned traits;
	int pid;
	char *principal; /* owned */
	const struct mp_session_hooks *hooks;
	void *u;
	struct mp_scope *scope; /* a reference */
	struct mp_link scope_link;
	struct mp_list requests;       /* owned, those to be answered */
	struct mp_map by_id;           /* the same by the agent's id, where one stream is for all */
	struct mp_list agent_requests; /* owned */
	uint64_t last_agent_request;

	/* What initialize said. */
	char protocol[16];
	unsigned can;                  /* MP_CAN_* */
	char *capabilities;            /* as modern servers are told; owned; NULL: none */
	char *client, *client_version; /* owned; NULL before */
	const struct mp_client_habit *habit;
	const char *log_level; /* static; NULL: as servers like */
	bool is_open;          /* initialized */
	unsigned lists_seen;   /* bit per kind: it has asked for that list */

	struct mp_list subscriptions; /* owned; see subscriptions.c */
	struct mp_list tasks;         /* owned; see tasks.c */
	int64_t since_ms, last_ms;
	uint64_t received, answered;
};

void mp_session_send(struct mp_session *s, mp_id stream, struct mp_str text);
/* A JSON string of this text, for splicing. */
int mp_session_quote(struct mp_buf *out, struct mp_str text) MP_MUST;
/* Owned by the caller; empty text: NULL. For what is short: ids, names. */
char *mp_session_keep(struct mp_str text);
/* The same for what may be as large as a message; *slot is replaced, or as it was. */
int mp_session_keep_message(char **slot, struct mp_str text) MP_MUST;

#endif
