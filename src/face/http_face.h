/*
 * http_face.h - the HTTP face: Streamable HTTP of both eras at /mcp, HTTP+SSE at /sse, WebSockets
 * at /ws, a health check at /health.
 */
#ifndef MP_HTTP_FACE_H
#define MP_HTTP_FACE_H

#include "base/base.h"
#include "base/ids.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/map.h"
#include "face/admit.h"
#include "http/http_service.h"
#include "json/tape.h"
#include "pool/pool.h"
#include "pool/usage.h"
#include "session/sessions.h"

struct mp_http_face;

enum { MP_HTTP_ADDRESS = 300 };
#define MP_HTTP_LISTEN "127.0.0.1:7717" /* default address */

/* The dashboard, which is a layer above. */
struct mp_http_dashboard {
	void (*serve)(void *u, struct mp_http_face *f, struct mp_exchange *x); /* its routes */
	void (*drain)(void *u); /* the hub leaves: close what is open */
};

struct mp_http_face_options {
	struct mp_loop *loop; /* borrowed, as are the next two */
	struct mp_sessions *all_sessions;
	struct mp_workspace *workspace; /* ready; used by all HTTP clients */
	struct mp_usage *usage;         /* measures for /metrics; borrowed; NULL: nothing does */
	/* "127.0.0.1:7717", "[::1]:0", "localhost:80", "7717"; NULL: MP_HTTP_LISTEN. Port 0: any.
	 */
	const char *listen;
	int fd;                 /* listening socket (socket activation), taken; 0 or less: none */
	const char *cert, *key; /* TLS files; NULL: none */
	const char *token_path; /* NULL: the default path (http_token.h) */
	struct mp_db *db;       /* named tokens; borrowed; NULL: none are accepted */
	struct mp_str oauth;    /* http.oauth, JSON: tokens of an issuer; empty: none */
	const char *const *metrics_from; /* http.metricsFrom; borrowed during the call */
	size_t n_metrics_from;
	const struct mp_http_dashboard *dashboard; /* NULL: none */
	void *dashboard_u;
	bool no_token;    /* only on loopback */
	const char *name; /* another name of this host; NULL: none */
};

/*
 * MCPOOL_EINVAL: invalid address; MCPOOL_EPERM: a token or TLS is missing on an address that other
 * machines can reach; MCPOOL_ESYSTEM: cannot listen there. The error text says what to do.
 */
int mp_http_face_new(const struct mp_http_face_options *o, struct mp_http_face **ret_face,
		     struct mcpool_error *reterr) MP_MUST;
/* At once; ends all sessions. Accepts NULL, returns NULL. */
struct mp_http_face *mp_http_face_free(struct mp_http_face *f);

/* "http://127.0.0.1:7717", with the actual port. */
const char *mp_http_face_get_address(const struct mp_http_face *f);
/* NULL if no token is needed. */
const char *mp_http_face_get_token_path(const struct mp_http_face *f);

/* The gate of the workspace is open. */
void mp_http_face_set_ready(struct mp_http_face *f);

/* Accept no new clients; open requests may finish. drained() is called once, from the loop or
 * before this returns. */
void mp_http_face_drain(struct mp_http_face *f, void (*drained)(void *u), void *u);

/* --- private to the handlers of the face ------------------------------------------------------ */

struct mp_config_watch;
struct mp_follower;
struct mp_http_listener;

struct mp_http_face {
	struct mp_loop *loop;
	struct mp_sessions *all_sessions;
	struct mp_workspace *workspace;
	struct mp_log log;
	struct mp_http_service service;
	struct mp_admit admit;
	uint64_t ended;              /* holders of tokens so far; theirs is closed when it grows */
	struct mp_timer ended_timer; /* for tokens that expire while nothing is asked */
	struct mp_http_listener *listener; /* owned */
	char address[MP_HTTP_ADDRESS];
	struct mp_config_watch *watch; /* owned; watches the token file; NULL: none */
	struct mp_follower *follower;  /* owned */
	struct mp_tape tape;           /* of the message being parsed */

	struct mp_list stateless; /* see http_stateless.c */
	struct mp_ids exchanges;  /* modern requests that wait for their answers */

	struct mp_map sessions; /* legacy sessions by id */
	struct mp_list idle;    /* sessions without open streams, longest idle first */
	struct mp_list unused;  /* of these, the ones never used after initialize */
	struct mp_timer idle_timer;
	struct mp_ids streams;   /* of legacy POSTs */
	struct mp_list finished; /* finished streams that are kept, oldest first */
	size_t finished_bytes;
	struct mp_timer finished_timer;

	struct mp_map talks;    /* HTTP+SSE conversations by id */
	struct mp_list sockets; /* WebSockets */

	const struct mp_http_dashboard *dashboard; /* NULL: none */
	void *dashboard_u;
	struct mp_usage *usage; /* for metrics.c; borrowed; may be NULL */
	struct mp_usage_listener usage_listener;
	bool is_ready; /* the gate is open */
	bool draining;
	void (*drained)(void *u);
	void *u;
};

static inline struct mp_http_face *mp_http_face_of(struct mp_exchange *x)
{
	return mp_http_connection_of(x)->service->u;
}

/*
 * Open a session for an admitted client, which sees what its token allows. If there are too many,
 * the longest idle one ends. MCPOOL_EPERM: the token is not valid any more.
 */
int mp_http_face_open_session(struct mp_http_face *f, const struct mp_exchange *x, const char *way,
			      unsigned traits, const struct mp_session_hooks *hooks, void *u,
			      struct mp_session **ret_session) MP_MUST;
/* The naming in the query; NULL: none. */
const char *mp_http_face_get_naming(const struct mp_exchange *x);
/* Headers of the request that the next message of the session comes with. */
void mp_http_face_note_trace(const struct mp_exchange *x, struct mp_session *session);
/* Tokens or logins were ended: close what came with them. */
void mp_http_face_end_strangers(struct mp_http_face *f);
/* Answer after a failed mp_http_face_open_session(). */
void mp_http_face_refuse_session(struct mp_exchange *x, int error);

/* mcp_endpoint.c: POST, GET and DELETE of /mcp. Answers with a JSON-RPC error. */
void mp_mcp_endpoint_refuse(struct mp_exchange *x, int status, struct mp_str id, int code,
			    const char *words);

/* http_stateless.c */
void mp_http_stateless_post(struct mp_http_face *f, struct mp_exchange *x,
			    const struct mp_message *m);
/* Ends what belongs to holders that are gone. */
void mp_http_stateless_end_strangers(struct mp_http_face *f);
void mp_http_stateless_done(struct mp_http_face *f);

/* http_sessions.c */
void mp_http_sessions_init(struct mp_http_face *f);
void mp_http_sessions_done(struct mp_http_face *f);
void mp_http_sessions_post(struct mp_http_face *f, struct mp_exchange *x,
			   const struct mp_message *m);
void mp_http_sessions_get(struct mp_http_face *f, struct mp_exchange *x);
void mp_http_sessions_delete(struct mp_http_face *f, struct mp_exchange *x);
/* False: there was none. */
bool mp_http_sessions_end_oldest(struct mp_http_face *f);
/* Ends sessions whose holders are gone. */
void mp_http_sessions_end_strangers(struct mp_http_face *f);
/* Ends streams that owe no answer. */
void mp_http_sessions_drain(struct mp_http_face *f);

/* http_sse.c */
void mp_http_sse_done(struct mp_http_face *f);
void mp_http_sse_drain(struct mp_http_face *f);

/* websocket.c */
void mp_web_socket_done(struct mp_http_face *f);
void mp_web_socket_drain(struct mp_http_face *f);

#endif
