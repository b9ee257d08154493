/*
 * person.c - a login that waits for a person.
 */
#include "auth/person.h"

#include <stdlib.h>
#include <string.h>

#include "auth/callback.h"
#include "base/error.h"

#define HERE "http://127.0.0.1:"

static struct mp_person_watcher *watcher_at(struct mp_link *link)
{
	return mp_container_of(link, struct mp_person_watcher, link);
}

/* --- the browser ----------------------------------------------------------------------------- */

/* May end the login, and with it the callback. */
static const char *browser_came(void *u, const char *url)
{
	struct mp_person *p = u;
	struct mcpool_error why;

	p->is_done = false;
	if (mp_person_take_redirect(p, url, &why) < 0)
		return "This is not the answer to the login that is waiting.";
	return p->is_done ? "The login was refused; the terminal says why." : NULL;
}

static int person_listen(void *u, int64_t port, const char **ret_uri, struct mcpool_error *reterr)
{
	struct mp_person *p = u;
	int64_t first = port;
	int r;

	if (p->redirect_uri) {
		*ret_uri = p->redirect_uri;
		return 0;
	}
	/* The address that we are registered with, if it is free. */
	if (port == 0 && p->last_uri && strncmp(p->last_uri, HERE, sizeof(HERE) - 1) == 0)
		first = strtol(p->last_uri + sizeof(HERE) - 1, NULL, 10) & 0xffff;
	r = mp_callback_new(p->loop, first, browser_came, p, &p->callback, reterr);
	if (r < 0 && port == 0 && first)
		r = mp_callback_new(p->loop, 0, browser_came, p, &p->callback, reterr);
	if (r == 0)
		*ret_uri = mp_callback_get_uri(p->callback);
	return r;
}

/* --- the login ------------------------------------------------------------------------------- */

static void person_visit(void *u, const struct mp_login_visit *visit)
{
	struct mp_person *p = u;

	p->hooks->visit(p->u, visit);
	MP_LIST_WALK(&p->watchers, link)
		watcher_at(link)->visit(watcher_at(link)->u, visit);
}

/* B69, B70; MCPOOL_EPROTO: its endpoints were not found, which has words of its own (B68). */
static void explain(struct mcpool_error *why)
{
	struct mcpool_error cause = *why;

	if (why->code == MCPOOL_ETIMEDOUT || why->code == MCPOOL_EPROTO)
		return;
	(void)mp_fail(why, cause.code, "OAuth authentication failed: %s", cause.message);
}

static void person_over(void *u, const struct mp_credential *c, const struct mcpool_error *error)
{
	struct mp_person *p = u;
	struct mcpool_error why = {0};

	if (error) {
		why = *error;
		explain(&why);
	}
	p->is_done = error != NULL;
	p->callback = mp_callback_free(p->callback);
	p->login = mp_login_free(p->login);
	p->hooks->done(p->u, c, error ? &why : NULL);
}

static const struct mp_login_hooks login_hooks = {person_listen, person_visit, person_over};

/* --- interface ------------------------------------------------------------------------------- */

void mp_person_begin(struct mp_person *p, const struct mp_login_options *o, const char *last_uri)
{
	mp_check(!p->login);
	p->last_uri = last_uri;
	p->login = mp_login_new(o, &login_hooks, p);
	mp_login_start(p->login);
}

void mp_person_watch(struct mp_person *p, struct mp_person_watcher *watcher)
{
	mp_list_append(&p->watchers, &watcher->link);
	if (p->login && mp_login_get_visit(p->login))
		watcher->visit(watcher->u, mp_login_get_visit(p->login));
}

void mp_person_leave(struct mp_person *p, struct mp_person_watcher *watcher)
{
	MP_LIST_EACH(&p->watchers, link) {
		if (link == &watcher->link) {
			mp_list_remove(&p->watchers, link);
			return;
		}
	}
}

void mp_person_end(struct mp_person *p, const struct mcpool_error *error)
{
	struct mp_link *link;

	while ((link = mp_list_pop(&p->watchers)))
		watcher_at(link)->over(watcher_at(link)->u, error);
}

int mp_person_take_redirect(struct mp_person *p, const char *url, struct mcpool_error *reterr)
{
	if (!p->login)
		return mp_fail(reterr, MCPOOL_EINVAL, "no login is waiting for an answer");
	return mp_login_take_redirect(p->login, url, reterr);
}

void mp_person_init(struct mp_person *p, struct mp_loop *loop, const struct mp_person_hooks *hooks,
		    void *u)
{
	*p = (struct mp_person){.loop = loop, .hooks = hooks, .u = u};
	mp_list_init(&p->watchers);
}

void mp_person_done(struct mp_person *p)
{
	p->login = mp_login_free(p->login);
	p->callback = mp_callback_free(p->callback);
}
