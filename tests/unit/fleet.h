/*
 * fleet.h - a pool whose servers, processes and time belong to the test.
 * Servers are written as their configuration entries; each answers by itself as a legacy server
 * does, unless the test tells it to misbehave. The clock is moved by hand.
 */
#ifndef TEST_FLEET_H
#define TEST_FLEET_H

#include "base/dirty.h"
#include "base/events.h"
#include "base/loop.h"
#include "pool/pool_call.h"
#include "pool/pool.h"
#include "pool/status.h"

enum { FLEET_SERVERS = 12, FLEET_KEPT = 64 };

struct fleet;
struct fleet_life;

/* One server, across all its lives. */
struct fleet_server {
	struct fleet *fleet;
	char name[32];
	struct fleet_life *lives_of_it; /* owned; the newest first */
	struct mp_transport *end;       /* of the newest life; NULL: none */
	struct mp_transport *speaking;  /* of the life that is being answered */
	struct mp_transport *ours;      /* the pool's end of it; borrowed, while it is up */
	int prepares, dials, lives;     /* lives: that got an initialize */
	int identified;                 /* how often its key was asked for */

	/* How it misbehaves. */
	const char *prepare_words; /* of its failure; NULL: some */
	int key_code;              /* its key cannot be found, with this */
	int prepare_code;          /* prepare() fails with this */
	int64_t prepare_ms;        /* and takes this long */
	int dial_code;             /* dial() fails with this */
	bool mute;                 /* does not answer the handshake */
	bool dies_at_once;         /* the connection breaks at initialize */
	bool no_list;              /* tools/list fails */
	bool holds_list;           /* tools/list is not answered */
	bool holds_calls;          /* tools/call is kept: see kept */
	bool dead;                 /* answers nothing at all any more */
	bool dead_once_up;         /* the same, after it answered initialize */
	const char *tools;         /* the list of tools; NULL: one named "t" */
	const char *resources;     /* the list of them; NULL: it has none */
	const char *prompts; /* the same; then it also answers whatever asks for one of either */

	/* What it is. */
	bool modern;              /* answers server/discover, and not initialize */
	const char *command;      /* the file it is run from; NULL: none can be followed */
	unsigned traits;          /* of its transport */
	const char *task_result;  /* of tasks/result; NULL: {} */
	const char *capabilities; /* what it offers, an object; NULL: tools that change */

	/* Calls it keeps, as ids. */
	char kept[FLEET_KEPT][32];
	struct mp_transport *kept_by[FLEET_KEPT];
	long long kept_who[FLEET_KEPT];  /* "who" of its arguments; 0: none, or taken back */
	char kept_token[FLEET_KEPT][32]; /* for its progress, JSON */
	int n_kept;
	int calls, cancels, pings, lists;
	int pings_before_lists; /* that came before the first list */
	char cancelled[32];     /* the id of the last call that was cancelled */
	char last_params[400];
	char declared[400]; /* what the last initialize said */
	char replied[400];  /* what the pool answered last, all of it */
	int replies;
	/* Requests beside these, as "method params" in lines. */
	char others[2000];
};

/* Before there is an answer. 0 is MP_OUTCOME_ANSWERED, which a test must not read by mistake. */
#define FLEET_NO_OUTCOME ((enum mp_outcome) - 1)

/* What became of a call. */
struct fleet_result {
	struct fleet *fleet;
	int answers;
	enum mp_outcome outcome; /* FLEET_NO_OUTCOME: there was no answer */
	int code;
	bool retryable;
	unsigned attempt;
	bool was_up, was_out;
	const char *transport; /* of a failure */
	char server[32];
	struct mcpool_error error;
	struct mcpool_error cause; /* as the upstream has it */
	char text[480];            /* result or error of the server, or our error's words */
	mp_id call;
};

struct fleet {
	struct mp_arena texts; /* of fleet_status() */
	struct mp_loop *loop;
	struct mp_board board;
	struct mp_events events;
	struct mp_pool *pool;
	struct mp_workspace *workspace;
	struct mp_workspace *other; /* a second one, where a test has it */
	struct mp_db *db;           /* borrowed; set before fleet_open, may stay NULL */
	struct fleet_server servers[FLEET_SERVERS];
	int n;
	struct mp_config_set *set; /* owned; from fleet_open's text, unless it was set before */
	int ready, stopped;        /* how often told */
	bool one_shot;             /* set before fleet_open */
	size_t init_concurrency;
	int identify_code; /* finding the keys fails with this */
	/* Called for each answer; may be NULL. */
	void (*then)(struct fleet *f, struct fleet_result *r);
	int doubles; /* connections made for an instance that had one; must stay 0 */
	/* Every tools/call that reached a server, also a dead one; may be NULL. */
	void (*saw_call)(void *u, struct mp_str text);
	void *saw_u;
};

/* set: {"mcpServers": {...}, "mcpool": {...}} as in a file; every entry is approved. */
struct mp_config_set *fleet_make_set(const char *json);
bool fleet_init(struct fleet *f);
bool fleet_open(struct fleet *f, const char *json); /* the workspace is ready */
bool fleet_reload(struct fleet *f, const char *json);
void fleet_done(struct fleet *f);

struct fleet_server *fleet_get(struct fleet *f, const char *name);
void fleet_settle(struct fleet *f);
void fleet_advance(struct fleet *f, int64_t ms);    /* in steps, each settled */
void fleet_die(struct fleet_server *s);             /* its connection breaks */
int fleet_count_open(const struct fleet_server *s); /* connections that neither side has left */
/* The newest connection does not take what the pool sends; only while there is one. */
void fleet_hold(struct fleet_server *s, bool hold);
bool fleet_say(struct fleet_server *s, const char *text);
/* The same on the stream of a call that it keeps, or, for -1, of none; of the life that has it. */
bool fleet_say_during(struct fleet_server *s, int kept, const char *text);
bool fleet_answer_kept(struct fleet_server *s, int i, const char *result);
/* Start it as the gate would, and let it come up. */
bool fleet_start(struct fleet *f, const char *name);

bool fleet_call(struct fleet *f, const char *server, mp_id session, int64_t timeout_ms,
		struct fleet_result *ret);
bool fleet_acquire(struct fleet *f, const char *server, mp_id session, struct fleet_result *ret);
void fleet_status(struct fleet *f, const char *server, struct mp_status *ret);
const struct mp_stats *fleet_stats(struct fleet *f, const char *server); /* NULL: no call yet */
/* "state": pending, connected, ... */
const char *fleet_state(struct fleet *f, const char *server);
/* How many events of this kind there were about this server (NULL: any). */
int fleet_count_events(struct fleet *f, const char *server, const char *what);

#endif
