/*
 * greeting.h - the first message on the hub's socket, for both ends (doc/protocol.md, "Hub
 * socket").
 */
#ifndef MP_GREETING_H
#define MP_GREETING_H

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "json/bind.h"

enum { MP_GREETING_PROTOCOL = 1 };
#define MP_GREETING_METHOD "mcpool/hello"
/* Last message to a bridge: the hub exits in order, and no request is open. */
#define MP_GREETING_BYE "mcpool/bye"
/* Each side writes it with these bytes. */
#define MP_GREETING_BYE_START "{\"jsonrpc\":\"2.0\",\"method\":\"" MP_GREETING_BYE "\""
/* Member of its params if a newer hub takes over. */
#define MP_GREETING_REPLACED "replaced"

enum mp_greeting_role { MP_GREETING_BRIDGE, MP_GREETING_CONTROL };

struct mp_greeting {
	struct mp_str id; /* of the request, JSON as written */
	int64_t protocol;
	const char *version;
	int role; /* enum mp_greeting_role */
	int64_t pid;
	const char *cwd;
	char **env; /* "NAME=value", ends in NULL */
	struct mp_bind_map env_map;
	struct mp_greeting_options {
		const char *profile, *project, *naming; /* NULL: none */
		struct mp_bind_list servers, tools;
		struct mp_bind_list files; /* --config; absolute */
		bool strict;               /* --strict-config */
		const char *parent;        /* --parent: a number or "auto"; NULL: none */
		uint64_t present;
	} options;
	uint64_t present;
};

/*
 * Parse the hello of a peer. Everything is in the arena or borrowed from text. MCPOOL_EPROTO: not a
 * hello. MCPOOL_EINVAL: a field is invalid; ret->id has the id if it was recognised. MCPOOL_ELIMIT,
 * MCPOOL_ENOMEM. Another protocol version is not an error.
 */
int mp_greeting_read(struct mp_str text, struct mp_arena *arena, struct mp_greeting *ret,
		     struct mcpool_error *reterr) MP_MUST;
/* Write the client's side: a request with the id "hello". env: as environ. */
int mp_greeting_write(struct mp_buf *out, const struct mp_greeting *hello,
		      char *const *env) MP_MUST;

/* The answer. */
int mp_greeting_write_answer(struct mp_buf *out, struct mp_str id) MP_MUST;
int mp_greeting_write_refusal(struct mp_buf *out, struct mp_str id,
			      const struct mcpool_error *why) MP_MUST;

/* The hub's answer to a hello. */
struct mp_greeting_answer {
	int64_t protocol;
	char version[32];
	int64_t pid;
	bool is_refused;
	bool is_leaving; /* refused because the hub is stopping: the next hub may accept */
	struct mcpool_error why;
};
int mp_greeting_read_answer(struct mp_str text, struct mp_greeting_answer *ret,
			    struct mcpool_error *reterr) MP_MUST;

#endif
