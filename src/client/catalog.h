/*
 * catalog.h - what one upstream offers, fetched page by page.
 * An item that is broken is left out and named; the others stay (P18).
 */
#ifndef MP_CATALOG_H
#define MP_CATALOG_H

#include "base/arena.h"
#include "base/base.h"
#include "client/param_headers.h"
#include "client/upstream.h"

/* Row: name, method, member of the result that is the list, member that names an item. */
#define MP_CATALOG_KINDS(X)                                                  \
	X(TOOL, TOOLS_LIST, "tools", "name", MP_OFFERS_TOOLS)                \
	X(PROMPT, PROMPTS_LIST, "prompts", "name", MP_OFFERS_PROMPTS)        \
	X(RESOURCE, RESOURCES_LIST, "resources", "uri", MP_OFFERS_RESOURCES) \
	X(TEMPLATE, TEMPLATES_LIST, "resourceTemplates", "uriTemplate", MP_OFFERS_RESOURCES)

enum mp_catalog_kind {
#define X(name, method, list, key, offer) MP_CATALOG_##name,
	MP_CATALOG_KINDS(X)
#undef X
		MP_CATALOG_COUNT
};

struct mp_catalog_item {
	struct mp_str name;        /* or the URI (template) of a resource */
	struct mp_str title;       /* may be empty */
	struct mp_str description; /* may be empty */
	struct mp_str json;        /* as the server wrote it, whole */
};

struct mp_catalog_list {
	enum mp_catalog_kind kind;
	struct mp_catalog_item *items; /* in the server's order */
	size_t n, room;
	const char **problems; /* what was left out, and why */
	size_t n_problems;
	bool is_cut;                /* there is more than we keep */
	struct mp_cache_hint cache; /* the most careful of all pages */
	/* Where annotations of tools go, and whose judgement counts; NULL: they do not matter. */
	struct mp_param_headers *param_headers;
	struct mp_arena arena; /* holds the texts */
};

void mp_catalog_list_init(struct mp_catalog_list *l, enum mp_catalog_kind kind);
void mp_catalog_list_done(struct mp_catalog_list *l);
/* "tools/list" */
const char *mp_catalog_get_method(enum mp_catalog_kind kind);
const struct mp_catalog_item *mp_catalog_find(const struct mp_catalog_list *l, struct mp_str name);

/* error NULL: the list is complete. Else what was fetched until then is in it. */
typedef void (*mp_catalog_fn)(struct mp_catalog_list *l, const struct mcpool_error *error, void *u);

struct mp_catalog_fetch;
/*
 * Fill l (just initialised, the caller's) from the server. A server that does not offer this kind
 * has an empty list. timeout_ms is for all of its pages together. fn runs once, from the loop,
 * unless the return value is negative.
 */
int mp_catalog_fetch(struct mp_upstream *up, struct mp_catalog_list *l, int64_t timeout_ms,
		     mp_catalog_fn fn, void *u, struct mp_loop *loop,
		     struct mp_catalog_fetch **ret_fetch) MP_MUST;
/* fn stays silent. */
void mp_catalog_abandon(struct mp_catalog_fetch *f);

/* One page: the members of a result, added to l. For fetch and for the fuzzer. */
int mp_catalog_read_page(struct mp_catalog_list *l, struct mp_str result, struct mp_buf *ret_cursor,
			 bool *ret_more, struct mcpool_error *reterr) MP_MUST;

#endif
