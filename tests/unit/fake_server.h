/*
 * fake_server.h - an upstream and the server at its other end, which says what a test tells it to.
 * Each dial makes a new life of the server; requests it gets are kept in order.
 */
#ifndef FAKE_SERVER_H
#define FAKE_SERVER_H

#include "base/loop.h"
#include "client/upstream.h"
#include "heap_call.h"
#include "memory.h"

enum { FAKE_REQUESTS = 200 };

struct fake_request {
	char method[64];
	char id[64]; /* as written; empty for a notification */
	char *text;  /* owned */
};

struct fake {
	struct mp_loop *loop;
	struct mp_upstream *up;
	struct mp_era_cache era_cache;
	struct mp_upstream_options options; /* to be changed before fake_open() */
	struct mp_transport *end;           /* the server's */
	int dials;
	bool refuse_dial;
	unsigned traits; /* of the transport; to be changed before fake_open() */
	struct fake_request got[FAKE_REQUESTS]; /* of all lives */
	int n;
	char news[1000];               /* what the upstream told, in words */
	void (*ready)(struct fake *f); /* called when the upstream is; may be NULL */
	int ready_code;                /* for it */
	/* Hears of notifications, too; may be NULL. */
	void (*heard)(void *u, const struct mp_message *m);
	void *heard_u;
	struct mcpool_error why;

	/* Of the last call */
	int answers;
	enum mp_outcome outcome;
	char result[400]; /* or the error's words */
};

bool fake_init(struct fake *f);
void fake_done(struct fake *f);
bool fake_open(struct fake *f);
void fake_settle(struct fake *f);
void fake_advance(struct fake *f, int64_t ms);

/* Answer request number i with this result or error (both JSON). */
bool fake_answer(struct fake *f, int i, const char *result);
bool fake_error(struct fake *f, int i, const char *error);
bool fake_say(struct fake *f, const char *text);
void fake_die(struct fake *f);
/* The number of the last request with this method; -1: there is none. */
int fake_find(const struct fake *f, const char *method);

/* Through the handshake, in the era. */
bool fake_open_legacy(struct fake *f);
bool fake_open_modern(struct fake *f);

/* A call whose one answer is noted above. */
bool fake_call(struct fake *f, enum mp_method_id method, const char *params, int64_t timeout_ms,
	       struct mp_call **ret_call);
void fake_note(const struct mp_answer *answer, void *u);

#define FAKE_INITIALIZED                                                                          \
	"{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{\"listChanged\":true}," \
	"\"prompts\":{},\"resources\":{}},\"serverInfo\":{\"name\":\"fake\",\"version\":\"1\"}}"
#define FAKE_DISCOVERED                                                                         \
	"{\"resultType\":\"complete\",\"supportedVersions\":[\"2026-07-28\"],\"capabilities\":" \
	"{\"tools\":{}},\"ttlMs\":1000,\"cacheScope\":\"public\",\"_meta\":"                    \
	"{\"io.modelcontextprotocol/serverInfo\":{\"name\":\"fake\",\"version\":\"2\"}}}"
#define FAKE_NO_METHOD "{\"code\":-32601,\"message\":\"Method not found\"}"

#endif
