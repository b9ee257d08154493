/*
 * agents.h - the agents that can be connected to the hub: where each keeps its servers, how it
 * spells them, and the command of its own that adds one.
 */
#ifndef MP_AGENTS_H
#define MP_AGENTS_H

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "files/document.h"
#include "config/read/sources.h"

#define MP_AGENT_ENTRY "mcpool" /* the name of our entry */
#define MP_AGENT_TOKEN "MCPOOL_TOKEN"
/* The naming for agents that add a prefix to names. */
#define MP_AGENT_NAMING "server__tool"

enum { MP_AGENT_FILES = 3, MP_AGENT_VARIABLES = 4 };

struct mp_agent_place {
	enum mp_folder folder;
	const char *path; /* NULL: none */
};

struct mp_agent {
	const char *name, *label;
	const char *program; /* as it is found in PATH; NULL: it is part of another program */
	/* The first that exists is used; if none exists, the first is created. */
	struct mp_agent_place user[MP_AGENT_FILES], project[MP_AGENT_FILES];
	/* It calls a tool mcp__SERVER__TOOL or the like, so that ours need no prefix of their own.
	 */
	bool prefixes;
	enum mp_format format;
	const char *key;   /* of the object with its servers */
	const char *inner; /* of the one in it that newer versions have them in; NULL: none do */

	/* How it spells an entry; NULL: it has no such member. Without url_key it has no HTTP. */
	const char *source, *stdio_type, *http_type, *url_key, *env_key;
	const char *tools_key; /* of the list of tools that it uses: all */
	bool has_command_list; /* command and arguments are one list */
	bool is_yaml;          /* as Goose has it: shown, and never changed by us */
	const char *token;     /* how it reads the token from a variable; NULL: it cannot */

	/* Its own commands, words with @blanks to fill in; NULL: it has none. */
	const char *const *add, *const *add_http, *const *remove;
	bool commands_know_projects;
};

extern const struct mp_agent mp_agents[];
extern const size_t mp_agents_n;

const struct mp_agent *mp_agent_find(const char *name); /* NULL */

/* How this agent connects to the hub. */
struct mp_agent_way {
	const char *mcpool;                        /* the program */
	const char *url;                           /* by HTTP; NULL: `mcpool stdio` */
	const char *variables[MP_AGENT_VARIABLES]; /* NAME=value for the program; NULL ends them */
	bool project;                              /* in the project's file, not the user's */
	bool inner;                                /* the file has its servers where `inner` is */
};

/* The file for it; NULL: it has none, or memory is out (error set in the arena). */
const char *mp_agent_get_file(const struct mp_agent *a, const struct mp_places *places,
			      bool project, struct mp_arena *arena);
/* The entry as JSON; for comparing also for Codex's TOML file. */
int mp_agent_write_entry(const struct mp_agent *a, const struct mp_agent_way *way,
			 struct mp_buf *out) MP_MUST;
/* What a person would write into the file: an object around the entry, or a table. */
int mp_agent_write_snippet(const struct mp_agent *a, const struct mp_agent_way *way,
			   struct mp_buf *out) MP_MUST;
/* The same around an entry that was read somewhere. */
int mp_agent_write_around(const struct mp_agent *a, bool inner, const struct mp_tape *t,
			  mp_value entry, struct mp_buf *out) MP_MUST;
/*
 * Its own command, ends in NULL, from the arena. NULL: it has none for this, or (error set in the
 * arena) without memory.
 */
enum mp_agent_order { MP_AGENT_ADD, MP_AGENT_REMOVE };
const char **mp_agent_get_command(const struct mp_agent *a, enum mp_agent_order order,
				  const struct mp_agent_way *way, struct mp_arena *arena);

#endif
