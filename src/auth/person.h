/*
 * person.h - a login that waits for a person: the address to visit, the listener that the browser
 * comes back to, and those who follow it. Part of an account.
 */
#ifndef MP_PERSON_H
#define MP_PERSON_H

#include "auth/login.h"
#include "base/base.h"
#include "base/list.h"
#include "base/loop.h"

/* One that follows a login; part of its owner. */
struct mp_person_watcher {
	struct mp_link link;
	void (*visit)(void *u, const struct mp_login_visit *visit);
	/* Once, the last call. error NULL: there is a token, and it is saved. */
	void (*over)(void *u, const struct mcpool_error *error);
	void *u;
};

struct mp_person_hooks {
	void (*visit)(void *u, const struct mp_login_visit *visit);
	/* As in login.h; the login is free by then. The watchers are told by mp_person_end(). */
	void (*done)(void *u, const struct mp_credential *c, const struct mcpool_error *error);
};

struct mp_person {
	struct mp_loop *loop;
	struct mp_login *login; /* owned; NULL: none is under way */
	struct mp_callback *callback;
	struct mp_list watchers;
	const char *redirect_uri; /* NULL: to this machine, while a login waits */
	const char *last_uri;     /* where we are registered; its port is tried first; NULL: none */
	bool is_done;             /* with an error; for the page that the browser shows */
	const struct mp_person_hooks *hooks;
	void *u;
};

void mp_person_init(struct mp_person *p, struct mp_loop *loop, const struct mp_person_hooks *hooks,
		    void *u);
void mp_person_done(struct mp_person *p); /* watchers are not told */
/* None is under way. last_uri: valid until it is over. */
void mp_person_begin(struct mp_person *p, const struct mp_login_options *o, const char *last_uri);
/* visit() may follow at once. */
void mp_person_watch(struct mp_person *p, struct mp_person_watcher *watcher);
void mp_person_leave(struct mp_person *p, struct mp_person_watcher *watcher);
/* All who follow are told. */
void mp_person_end(struct mp_person *p, const struct mcpool_error *error);
/* See mp_login_take_redirect(). */
int mp_person_take_redirect(struct mp_person *p, const char *url,
			    struct mcpool_error *reterr) MP_MUST;

#endif
