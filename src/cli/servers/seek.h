/*
 * seek.h - finds one tool or prompt by its public name or another spelling, among all servers.
 * Cached catalogs are searched first. If it is not there, servers are started: first those whose
 * name is part of the tool's name, because a cache may be old, then those without a cached catalog.
 */
#ifndef MP_SEEK_H
#define MP_SEEK_H

#include "cli/servers/reach.h"
#include "cli/servers/tool_index.h"

struct mp_seek {
	struct mp_reach *reach;
	const struct mp_configured *c;
	enum mp_catalog_kind kind; /* tools or prompts */
	struct mp_str name;
	int64_t max_ms; /* per round of starts */
	/* It will be called with these arguments: a failure is reported like a failed call; else
	 * NULL. */
	const struct mp_cli_args *call;
	void (*fn)(void *u);
	void *u;
	struct mp_tool_index tools;
	const struct mp_name *found; /* NULL: mp_seek_complain() reports why */
	size_t candidates;           /* number of possible meanings */
	int result;                  /* negative: the search itself failed */
	unsigned round;
	bool *only; /* owned */
};

/* Set fn, c, kind, name, max_ms and u first. fn is called once, maybe before this returns. */
void mp_seek_start(struct mp_seek *s, struct mp_reach *r);
void mp_seek_done(struct mp_seek *s);
/* Report on stderr why it was not found. Returns the exit code. */
int mp_seek_complain(struct mp_seek *s);

#endif
