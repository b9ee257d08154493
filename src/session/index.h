/*
 * index.h - the merged catalog of a workspace: the lists of all its servers under public names,
 * sorted and filtered, in the same order for all sessions.
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

/* One item of the merged catalog. Texts live as long as the index. */
struct mp_index_item {
	struct mp_str public_name; /* or the public URI (template) */
	const char *server;
	size_t offer; /* index of its server's catalog */
	const struct mp_catalog_item *source;
	enum mp_era era;  /* of the server */
	bool is_wrapped;  /* the agent has another URI for it */
	bool is_task;     /* a tool that must be run as a task */
	bool is_left_out; /* its server exceeds the limit for wrapped URIs */
};

/* The merged catalog at one moment: immutable, reference-counted. */
struct mp_index {
	unsigned refs;
	struct mp_arena arena;
	struct mp_server_catalog **offers; /* references; one per server with a catalog */
	const char **servers;              /* names of these servers */
	size_t n_offers;
	size_t *wrapped;         /* bytes of wrapped URIs of each */
	const char **configured; /* all servers of the workspace, for names.h */
	bool *is_late;           /* each: it has no list yet; NULL: none */
	size_t n_configured;
	bool has_late;
	enum mp_naming style;
	struct mp_names *tools, *prompts;               /* u of each row: its item */
	struct mp_map uris;                             /* public URI or template to its item */
	struct mp_index_item **items[MP_CATALOG_COUNT]; /* sorted by public name */
	size_t n[MP_CATALOG_COUNT];
	unsigned char digest[MP_CATALOG_COUNT][MP_DIGEST_SIZE];
	bool has_wrapped;
	bool has_foreign_uris; /* a URI in one server's result could belong to another server */
};

/* Inputs of an index. All borrowed. */
struct mp_index_options {
	struct mp_workspace *workspace;
	mp_id session; /* the session whose private servers are in it; 0: none */
	enum mp_naming style;
	const struct mp_bind_list *servers, *tools; /* the session's filters; empty: all */
	const struct mp_index *before; /* the previous one: names keep their meaning; or NULL */
	struct mp_db *db;              /* names of earlier runs; may be NULL */
	struct mp_map *noted;          /* see mp_held_note() */
};

/* The merged catalog of the workspace; MCPOOL_ENOMEM, MCPOOL_ELIMIT. One reference. */
int mp_index_take(const struct mp_index_options *o, struct mp_index **ret) MP_MUST;
/* The same from given catalogs, which may be NULL; without filters. */
int mp_index_make(enum mp_naming style, const char *const *servers,
		  struct mp_server_catalog *const *offers, size_t n, struct mp_index **ret) MP_MUST;
struct mp_index *mp_index_unref(struct mp_index *s); /* accepts NULL, returns NULL */
/* By public name, or by another spelling that is unambiguous. */
const struct mp_index_item *mp_index_find(const struct mp_index *s, enum mp_catalog_kind kind,
					  struct mp_str name, size_t *ret_candidates);
/*
 * The server of this resource: by the lists, by a wrapped URI, by templates, or because it is the
 * only one with resources. *ret_uri: the server's own URI, in the arena or the text given. NULL:
 * none.
 */
const char *mp_index_find_resource(const struct mp_index *s, struct mp_str uri,
				   struct mp_arena *arena, struct mp_str *ret_uri);
/*
 * The reverse: the agent's URI for this server's URI. uri itself if only this server lists it;
 * wrapped if only a template matches it, or another server lists it.
 */
struct mp_str mp_index_get_public_uri(const struct mp_index *s, const char *server,
				      struct mp_str uri, struct mp_arena *arena);

#endif
