/*
 * agent.h - an agent at a session over a fleet: it says messages and keeps what it hears.
 */
#ifndef TEST_AGENT_H
#define TEST_AGENT_H

#include "fleet.h"
#include "session/sessions.h"
#include "session/session.h"

enum { AGENT_HEARD = 64 };

struct agent {
	struct mp_sessions *sessions;
	struct mp_session *session;
	struct agent_heard {
		char *text; /* owned */
		mp_id stream;
		bool is_last;
		int status;
	} heard[AGENT_HEARD];
	int n;       /* all that was heard */
	int answers; /* of them is_last */
};

extern const struct mp_identity agent_hub;

/* A sessions over the fleet's pool and board. */
struct mp_sessions *agent_sessions(struct fleet *f);
/* A session of the fleet's workspace; traits as mp_session_options. */
bool agent_open(struct agent *a, struct fleet *f, struct mp_sessions *sessions, unsigned traits,
		const struct mp_narrowing *narrowing);
void agent_done(struct agent *a);
/* Says it, and lets everything happen that follows at once. */
size_t agent_say(struct agent *a, struct fleet *f, const char *text, mp_id stream);
/* The opening of a legacy agent that can be asked everything. */
bool agent_initialize(struct agent *a, struct fleet *f);
/* What it heard last; "" before. */
const char *agent_last(const struct agent *a);
bool agent_heard_text(const struct agent *a, const char *part); /* in any message */
void agent_forget(struct agent *a);

/* params of a modern request begin with this member. */
#define AGENT_META                                                               \
	"\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"," \
	"\"io.modelcontextprotocol/"                                             \
	"clientCapabilities\":{\"elicitation\":{},\"sampling\":{},\"roots\":{}}}"

#endif
