/*
 * index.h - the merged catalog of a workspace: the lists of all its servers under public names,
 * sorted, narrowed, with the same order for everybody.
 */
#ifndef MP_INDEX_H
#define MP_INDEX_H

#include "base/arena.h"
#include "base/base.h"
#include "base/map.h"
#include "client/catalog.h"
#include "pool/server_catalog.h"
#include "pool/pool.h"
#include "rpc/era.h"
#include "session/names.h"
#include "store/digest.h"

/* One thing on offer. Texts live as long as the index. */
struct mp_index_item {
	struct mp_str public_name; /* or the public URI (template) */
	const char *server;
	size_t offer; /* its place in the index's */
	const struct mp_catalog_item *source;
	enum mp_era era;  /* of the server */
	bool is_wrapped;  /* its URI is not its own */
	bool is_task;     /* a tool that can only be run as a task */
	bool is_left_out; /* its server has more and longer URIs than there is room for */
};

/* What there is at one moment: a value, shared by count. */
struct mp_index {
	unsigned refs;
	struct mp_arena arena;
	struct mp_server_catalog **offers; /* references; one for each server that has any */
	const char **servers;              /* their names */
	size_t n_offers;
	size_t *wrapped;         /* bytes of URIs that were wrapped, of each of them */
	const char **configured; /* all servers of the workspace, for names.h */
	bool *is_late;           /* of each of them; NULL: of none */
	size_t n_configured;
	bool has_late;
	enum mp_naming style;
	struct mp_names *tools, *prompts;               /* u of each: its item */
	struct mp_map uris;                             /* public URI or template to its item */
	struct mp_index_item **items[MP_CATALOG_COUNT]; /* sorted by public name */
	size_t n[MP_CATALOG_COUNT];
	unsigned char digest[MP_CATALOG_COUNT][MP_DIGEST_SIZE];
	bool has_wrapped;
};

/* What an index is made of. All is borrowed. */
struct mp_index_options {
	struct mp_workspace *workspace;
	mp_id session; /* whose private servers are in it; 0: nobody's */
	enum mp_naming style;
	const struct mp_bind_list *servers, *tools; /* of the narrowing; empty: all */
	const struct mp_index *before; /* the one it replaces: names keep their meaning; or NULL */
	struct mp_db *db;              /* names of earlier runs; may be NULL */
	struct mp_map *noted;          /* see mp_held_note() */
};

/* All that the workspace has; MCPOOL_ENOMEM, MCPOOL_ELIMIT. One reference. */
int mp_index_take(const struct mp_index_options *o, struct mp_index **ret) MP_MUST;
/* The same of offers at hand, which may be NULL; nothing is left out. */
int mp_index_make(enum mp_naming style, const char *const *servers,
		  struct mp_server_catalog *const *offers, size_t n, struct mp_index **ret) MP_MUST;
struct mp_index *mp_index_unref(struct mp_index *s); /* accepts NULL, returns NULL */
/* By public name, or any other spelling that means only one. */
const struct mp_index_item *mp_index_find(const struct mp_index *s, enum mp_catalog_kind kind,
					  struct mp_str name, size_t *ret_candidates);
/*
 * Whose resource is this? By the list, by a wrapped URI, by templates, or because only one server
 * has any. *ret_uri: as that server calls it, in the arena or the text given. NULL: nobody's.
 */
const char *mp_index_find_resource(const struct mp_index *s, struct mp_str uri,
				   struct mp_arena *arena, struct mp_str *ret_uri);
/* Could a URI in a server's result be read from another server? */
bool mp_index_has_foreign_uris(const struct mp_index *s);
/*
 * The other way: what an agent calls this server's URI. uri itself where the server lists it and no
 * other does; wrapped where only a template explains it, or another server's list.
 */
struct mp_str mp_index_get_public_uri(const struct mp_index *s, const char *server,
				      struct mp_str uri, struct mp_arena *arena);

#endif
