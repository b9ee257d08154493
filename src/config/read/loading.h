/*
 * loading.h - a set while it is being loaded: for the dialects only.
 */
#ifndef MP_LOADING_H
#define MP_LOADING_H

#include "config/values/set.h"
#include "config/values/trust.h"
#include "config/read/sources.h"

enum { MP_LAYERS_MAX = 16 };

struct mp_entry_node {
	struct mp_entry *entry;
	struct mp_entry_node *next;
};
struct mp_problem_node {
	struct mp_problem problem;
	struct mp_problem_node *next;
};
struct mp_remote {
	const char *url;
	bool may_ask; /* fetching it was approved */
};
struct mp_path_node {
	const char *path;
	struct mp_path_node *next;
};

struct mp_loading {
	struct mp_config_set *set;
	const struct mp_config_request *req;
	struct mp_places places;
	struct mp_entry_node *first, *last; /* in order of precedence */
	struct mp_problem_node *first_problem, *last_problem;
	struct mp_path_node *first_path;
	size_t n_entries, n_problems, n_paths;
	struct mp_remote *remotes; /* remote sources for the slow phase */
	size_t n_remotes;
	struct mp_trusted trusted; /* as a whole, as the store has it */
	bool without_project;      /* its files were too much */
	int error;                 /* the first failure that ends it all; later steps do nothing */

	/* Layers of OpenCode, highest first, owned until they are merged. */
	struct mp_layer {
		const struct mp_source *source;
		struct mp_document *doc;
	} layers[MP_LAYERS_MAX];
	size_t n_layers;
};

/* How a map of servers is to be read. */
struct mp_reading_place {
	const struct mp_source *source;
	const struct mp_document *doc; /* whose path and places count */
	const char *scope;             /* "" */
	const char *prefix;            /* before each name; "" */
	const char *plugin_root;       /* NULL */
	/* For a tape that is not the document's: the position of a server of this name in it. */
	mp_value (*locate)(const struct mp_document *doc, struct mp_str name);
};

/* Every member of the object `map` (MP_NONE: nothing) becomes an entry. */
void mp_loading_add(struct mp_loading *l, const struct mp_reading_place *place,
		    const struct mp_tape *t, mp_value map);
/*
 * A problem. v: where in doc; MP_NONE: the document as a whole, or where it is broken. doc may be
 * NULL, then path is shown.
 */
void mp_loading_complain(struct mp_loading *l, enum mp_severity severity,
			 const struct mp_document *doc, mp_value v, const char *path,
			 const char *server, const char *message);
/* Open a file that may be absent: NULL then, and when it cannot be used, which is complained of. */
struct mp_document *mp_loading_open(struct mp_loading *l, const char *path, enum mp_format format,
				    size_t limit);
/* An entry that was read elsewhere, behind those there are. */
void mp_loading_append(struct mp_loading *l, struct mp_entry *e);
/* A path that changes the result when it changes. */
void mp_loading_note_path(struct mp_loading *l, const char *path);
/* A text of the set; NULL and an error when memory is short. */
char *mp_loading_keep(struct mp_loading *l, const char *text);

/* Something besides servers that is approved, looked up at once; NULL on error. */
struct mp_grant *mp_loading_add_grant(struct mp_loading *l, const struct mp_document *doc,
				      mp_value v, const char *name, const char *root);

/* opencode.c: what the layers say together. Frees them. */
void mp_opencode_merge(struct mp_loading *l);

#endif
