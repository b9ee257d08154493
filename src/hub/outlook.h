/*
 * outlook.h - one view of the configuration that is kept up to date: its files are followed, and a
 * change is read again as a difference. For hub.c and views.c.
 */
#ifndef MP_OUTLOOK_H
#define MP_OUTLOOK_H

#include "base/base.h"
#include "base/list.h"
#include "base/loop.h"
#include "config/set.h"
#include "hub/hub.h"
#include "pool/gate.h"

struct mp_follower;
struct mp_catalogues;

struct mp_outlook_hooks {
	/* The servers are known and may be started; error: they could not be found. Once. */
	void (*ready)(void *u, const struct mcpool_error *error);
	/* The files changed and were read again; error: as it was. May be NULL. */
	void (*reloaded)(void *u, const struct mcpool_error *error);
};

struct mp_outlook {
	struct mp_link link; /* in the hub's outlooks */
	struct mp_hub *hub;
	struct mp_config_request request; /* borrowed, or own_* */
	char *own_cwd, *own_profile;      /* owned; NULL: the request's are borrowed */
	char **own_env;
	const char *label; /* before the words of events; "" for the hub's own */
	const struct mp_outlook_hooks *hooks;
	void *u;
	struct mp_config_set *set;    /* the last one that was read; a reference */
	struct mp_config_set *before; /* what held before the reload under way; a reference */
	struct mp_follower *follower;
	struct mp_catalogues *catalogues; /* NULL: it has none */
	struct mp_view *view;             /* NULL before the start */
	struct mp_task refused_task;      /* a reload that changes nothing */
	struct mcpool_error refused;      /* why */
	bool is_ready;                    /* and said so */
	bool is_broken;                   /* it could not be made */
	bool is_reloading;                /* files were read, and the view follows */

	/* views.c */
	struct mp_list looks; /* those who use it */
	struct mp_gate *gate; /* its eager servers are being started */
	bool is_started;      /* they were */
	struct mp_timer rest; /* nobody uses it */
};

/* set: loaded already, referenced; NULL: to be loaded. The request is borrowed. */
struct mp_outlook *mp_outlook_new(struct mp_hub *hub, const struct mp_config_request *request,
				  struct mp_config_set *set, const struct mp_outlook_hooks *hooks,
				  void *u);
/* From now on it has copies of what the request borrowed. */
void mp_outlook_own_request(struct mp_outlook *o);
/* ready() follows. */
void mp_outlook_start(struct mp_outlook *o);
/* Read the files again; reloaded() follows. Before the start: nothing. */
void mp_outlook_reload(struct mp_outlook *o);
/* No change is noticed any more. */
void mp_outlook_stop(struct mp_outlook *o);
/* Accepts NULL, returns NULL. */
struct mp_outlook *mp_outlook_free(struct mp_outlook *o);

bool mp_hub_is_one_shot(const struct mp_hub *hub);
/* What follows files for all of them; NULL: that cannot be, or need not. */
struct mp_config_watch *mp_hub_get_watch(struct mp_hub *hub);
bool mp_hub_is_stopping(const struct mp_hub *hub);

#endif
