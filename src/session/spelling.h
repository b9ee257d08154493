/*
 * spelling.h - all spellings of the name of one server's tool: the styles of the setting `naming`,
 * those of other programs, and what people type (U19, X1).
 */
#ifndef MP_SPELLING_H
#define MP_SPELLING_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"
#include "config/values/settings.h"

enum { MP_NAME_MAX = 64, MP_NAME_HASH = 8 };

/* The first are the styles, with the same numbers. */
enum mp_spelling {
	MP_SPELLING_MCP_DOUBLE = MP_NAMING_MCP_DOUBLE,
	MP_SPELLING_MCP_SINGLE = MP_NAMING_MCP_SINGLE,
	MP_SPELLING_SERVER = MP_NAMING_SERVER,
	MP_SPELLING_PASSTHROUGH = MP_NAMING_PASSTHROUGH,
	MP_SPELLING_MCP_LETTERS = MP_NAMING_MCP_LETTERS,
	MP_SPELLING_BARE,  /* the tool's own name, of any length */
	MP_SPELLING_OMP,   /* mcp__server_tool, the parts as in mcp_server_tool */
	MP_SPELLING_DOT,   /* server.tool, unchanged */
	MP_SPELLING_SLASH, /* server/tool */
	MP_SPELLING_COLON, /* server:tool */
	MP_SPELLINGS
};

/* A spelling is at most this much longer than its parts. */
enum { MP_SPELLING_SLACK = MP_NAME_MAX };

/*
 * Appends the name to out. The styles are limited to MP_NAME_MAX bytes; longer names are truncated
 * and get a hash. MCPOOL_ENOMEM, MCPOOL_ELIMIT; out is unchanged then.
 */
int mp_spell(enum mp_spelling how, struct mp_str server, struct mp_str name,
	     struct mp_buf *out) MP_MUST;
/*
 * The same, always with a hash. Try 0 is the first 8 digits of `printf 'SERVER\0TOOL' | sha256sum`;
 * later ones hash `SERVER\0TOOL\0TRY` and the length of SERVER.
 */
int mp_spell_hashed(enum mp_spelling how, struct mp_str server, struct mp_str name, unsigned nth,
		    struct mp_buf *out) MP_MUST;

#endif
