/*
 * views.h - many views of one hub: what the agents of each project see.
 * Those of one project, with the same values of what its servers refer to, share a view, so that a
 * session costs next to nothing (DESIGN 4, "Whose environment, whose folder").
 */
#ifndef MP_VIEWS_H
#define MP_VIEWS_H

#include "base/base.h"
#include "hub/hub.h"

struct mp_look; /* one user's share of a view */

struct mp_look_request {
	const char *cwd;     /* NULL: the hub's own view, whatever env and profile say */
	char *const *env;    /* "NAME=value", ends in NULL; copied where it is needed */
	const char *profile; /* NULL: as the files say */
	const char *who;     /* whose environment it is, for people; NULL: unknown */
	/* No server is started for it; and what changed in files before now is in it. */
	bool only_a_look;
};

/* view: ready, and there until the look is freed; NULL where there is an error. */
typedef void (*mp_look_fn)(void *u, struct mp_view *view, const struct mcpool_error *error);

/*
 * Find the view, or make it; fn follows from the loop, once, unless the look is freed before.
 * MCPOOL_ECLOSED: the hub stops; MCPOOL_ELIMIT: there are too many views; MCPOOL_ENOENT: cwd is no
 * absolute path, or not of a folder; MCPOOL_EINVAL: there is no such profile.
 */
int mp_hub_look(struct mp_hub *hub, const struct mp_look_request *request, mp_look_fn fn, void *u,
		struct mp_look **ret_look, struct mcpool_error *reterr) MP_MUST;
/* A view that nobody uses is closed after a while. Accepts NULL, returns NULL. */
struct mp_look *mp_look_free(struct mp_look *l);

size_t mp_hub_count_views(const struct mp_hub *hub); /* the hub's own included */

/* --- for hub.c --- */

struct mp_outlook;
void mp_views_reload(struct mp_hub *hub); /* all of them */
void mp_views_stop(struct mp_hub *hub);   /* no change is noticed any more */
void mp_views_free(struct mp_hub *hub);   /* all but the hub's own; looks must be gone */
/* A reload is over: whoever waited for it may look. */
void mp_views_note_reloaded(struct mp_outlook *o);
/* The hub's own view is ready, or is not to be had. */
void mp_views_tell(struct mp_outlook *o, const struct mcpool_error *error);

#endif
