/*
 * seek.h - one tool (or prompt) by its public name or any other spelling, among all servers.
 * What is remembered is looked at first; only if it is not there are servers started: those whose
 * name is part of the tool's, because a memory may be old, then others that nobody remembers.
 */
#ifndef MP_SEEK_H
#define MP_SEEK_H

#include "cli/reach.h"
#include "cli/toolbox.h"

struct mp_seek {
	struct mp_reach *reach;
	const struct mp_configured *c;
	enum mp_catalog_kind kind; /* tools or prompts */
	struct mp_str name;
	int64_t max_ms; /* for each round of starts */
	/* It is looked for to be called, with these: a failure is told as a call's; else NULL. */
	const struct mp_cli_args *call;
	void (*fn)(void *u);
	void *u;
	struct mp_toolbox box;
	const struct mp_name *found; /* NULL: mp_seek_complain() says why */
	size_t candidates;           /* how many it could have meant */
	int result;                  /* negative: not even that could be found out */
	unsigned round;
	bool *only; /* owned */
};

/* fn, c, kind, name, max_ms and u are set. fn runs once, maybe from within. */
void mp_seek_start(struct mp_seek *s, struct mp_reach *r);
void mp_seek_done(struct mp_seek *s);
/* Why there is none, on stderr. Returns the exit code. */
int mp_seek_complain(struct mp_seek *s);

#endif
