/*
 * control_login.c - logins of a control peer.
 */
#include "face/control_login.h"

#include <stdio.h>
#include <string.h>

#include "auth/account.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "json/write.h"

struct login {
	struct mp_link link;
	struct mp_control_logins *all;
	struct mp_account *account;
	struct mp_person_watcher watcher;
	char *id; /* of the request, JSON as written */
	char server[MP_LIMIT_NAME + 1];
};

static struct login *login_free(struct login *l)
{
	mp_list_remove(&l->all->open, &l->link);
	l->all->peer->open--;
	mp_free(l->id);
	return mp_free(l);
}

/* --- telling --------------------------------------------------------------------------------- */

static void login_visit(void *u, const struct mp_login_visit *visit)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	struct login *l = u;
	struct mp_writer w;

	mp_buf_init(&out, MP_KIB(256));
	mp_write_init(&w, &out, NULL);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "jsonrpc", MP_STR("2.0"));
	mp_write_member_text(&w, "method", MP_STR("mcpool/login/visit"));
	mp_write_key(&w, MP_STR("params"));
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "server", mp_str_of(l->server));
	mp_write_member_text(&w, "url", mp_str_of(visit->url));
	mp_write_member_text(&w, "issuer", mp_str_of(visit->issuer));
	if (visit->scope)
		mp_write_member_text(&w, "scope", mp_str_of(visit->scope));
	mp_write_member_text(&w, "redirectUri", mp_str_of(visit->redirect_uri));
	mp_write_end_object(&w);
	mp_write_end_object(&w);
	if (mp_write_finish(&w) == 0)
		l->all->peer->say(l->all->peer->u, mp_buf_get(&out));
}

static void login_over(void *u, const struct mcpool_error *error)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf result;
	struct login *l = u;
	struct mp_control_peer *peer = l->all->peer;

	mp_buf_init(&result, MP_KIB(1));
	if (error)
		mp_control_peer_refuse(peer, mp_str_of(l->id), error);
	else
		mp_control_peer_answer(peer, mp_str_of(l->id), &result,
				       mp_buf_add_str(&result, MP_STR("{}")));
	login_free(l);
}

/* --- requests -------------------------------------------------------------------------------- */

static int find_account(struct mp_control_logins *ls, const char *server,
			struct mp_account **ret_account, struct mcpool_error *reterr)
{
	*ret_account = mp_hub_find_account(ls->peer->hub, server);
	if (*ret_account)
		return 0;
	return mp_fail(reterr, MCPOOL_EINVAL,
		       "Server \"%s\" uses no login: it has a token in its entry, is a process "
		       "without \"oauth\", or was not started yet",
		       server);
}

static int login_new(struct mp_control_logins *ls, struct mp_str id, const char *server,
		     struct login **ret, struct mcpool_error *reterr)
{
	struct mp_account *account;
	struct login *l;
	int r = find_account(ls, server, &account, reterr);

	if (r == 0)
		r = mp_control_peer_check(ls->peer, reterr);
	if (r < 0)
		return r;
	l = mp_alloc(sizeof(*l));
	l->all = ls;
	l->account = account;
	l->watcher = (struct mp_person_watcher){.visit = login_visit, .over = login_over, .u = l};
	l->id = mp_alloc(id.len + 1);
	memcpy(l->id, id.p, id.len);
	snprintf(l->server, sizeof(l->server), "%s", server);
	mp_list_append(&ls->open, &l->link);
	ls->peer->open++;
	*ret = l;
	return 0;
}

int mp_control_logins_begin(struct mp_control_logins *ls, struct mp_str id, const char *server,
			    struct mcpool_error *reterr)
{
	struct login *l;
	int r = login_new(ls, id, server, &l, reterr);

	if (r == 0)
		mp_account_login(l->account, &l->watcher);
	return r;
}

int mp_control_logins_paste(struct mp_control_logins *ls, const char *server, const char *url,
			    struct mcpool_error *reterr)
{
	struct mp_account *account;
	int r = find_account(ls, server, &account, reterr);

	return r < 0 ? r : mp_account_take_redirect(account, url, reterr);
}

int mp_control_logins_leave(struct mp_control_logins *ls, struct mp_str id, const char *server,
			    struct mcpool_error *reterr)
{
	struct login *l;
	int r = login_new(ls, id, server, &l, reterr);

	if (r == 0)
		mp_account_logout(l->account, &l->watcher);
	return r;
}

void mp_control_logins_init(struct mp_control_logins *ls, struct mp_control_peer *peer)
{
	ls->peer = peer;
	mp_list_init(&ls->open);
}

void mp_control_logins_done(struct mp_control_logins *ls)
{
	struct mp_link *link;

	while ((link = mp_list_first(&ls->open))) {
		struct login *l = mp_container_of(link, struct login, link);

		mp_account_leave(l->account, &l->watcher);
		login_free(l);
	}
}
