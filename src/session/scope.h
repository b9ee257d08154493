/*
 * scope.h - what one kind of agent sees: the lists of all servers of a workspace, under public
 * names, sorted, narrowed, with the same order for everybody. Shared by all sessions that see the
 * same.
 */
#ifndef MP_SCOPE_H
#define MP_SCOPE_H

#include "base/base.h"
#include "base/list.h"
#include "client/catalog.h"
#include "pool/gate.h"
#include "pool/offer.h"
#include "session/names.h"
#include "session/session.h"

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
	struct mp_offer **offers; /* references; one for each server that has any */
	const char **servers;     /* their names */
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

struct mp_scope {
	struct mp_link link; /* in the scopes of all sessions */
	unsigned refs;
	struct mp_sessions *sessions;
	struct mp_workspace *workspace;
	mp_id session;                      /* whose it is alone; 0: everybody's */
	struct mp_bind_list servers, tools; /* of the narrowing; owned */
	int naming;                         /* enum mp_naming; -1: as configured */
	struct mp_gate *gate;               /* NULL: it is open */
	bool *only;                         /* whom the gate may start; owned; NULL: all */
	struct mp_index *index;             /* NULL: not looked yet */
	struct mp_list users;               /* sessions */
	struct mp_list waiting;             /* requests, by wait_link */
	struct mp_timer timer;              /* of those that wait longer than for the gate */
	struct mp_task task;                /* look again */
};

/* For a session of this workspace: an existing one, or a new one. */
struct mp_scope *mp_scope_get(struct mp_sessions *l, struct mp_workspace *v,
			      const struct mp_narrowing *n, mp_id session);
struct mp_scope *mp_scope_unref(struct mp_scope *s); /* accepts NULL, returns NULL */
/* The workspace has private servers now, or none any more: its sessions get the scopes they need.
 */
void mp_scope_divide(struct mp_scope *s);
/* Something is different: look, soon, and tell those who care. */
void mp_scope_touch(struct mp_scope *s);
/* What there is now; borrowed. NULL: there is no memory for it. */
struct mp_index *mp_scope_get_index(struct mp_scope *s);
/* Have all answered that are to be waited for? patiently: also those that nobody remembers. */
bool mp_scope_is_ready(struct mp_scope *s, bool patiently);
enum mp_naming mp_scope_get_naming(const struct mp_scope *s);
/* Does this server belong to what the session wants to see? */
bool mp_scope_shows(const struct mp_scope *s, const char *server);

/*
 * All that the workspace has for this scope; MCPOOL_ENOMEM, MCPOOL_ELIMIT. One reference. Names
 * mean what they meant in the scope's present index.
 */
int mp_index_take(const struct mp_scope *scope, struct mp_index **ret) MP_MUST;
/* The same of offers at hand, which may be NULL; nothing is left out. */
int mp_index_make(enum mp_naming style, const char *const *servers, struct mp_offer *const *offers,
		  size_t n, struct mp_index **ret) MP_MUST;
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
