/*
 * login_request.c - a call whose server waits for a login: an agent that can show an address gets
 * the one of the login (URL elicitation), and calls again when the user was there. For others, and
 * if no login can begin, the call fails as any other.
 */
#include <stdio.h>

#include "auth/account.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/random_id.h"
#include "session/request.h"

struct mp_login_request {
	struct mp_request *request;
	struct mp_account *account;
	struct mp_person_watcher watcher;
	char *failure; /* the answer without a login; owned */
	bool is_error;
};

static struct mp_login_request *login_request_free(struct mp_login_request *l)
{
	l->request->login = NULL;
	mp_account_leave(l->account, &l->watcher);
	mp_free(l->failure);
	return mp_free(l);
}

void mp_request_abandon_login(struct mp_request *e)
{
	login_request_free(e->login);
}

/* The members of an elicitation by URL; legacy agents are told its id. */
static void write_elicitation(struct mp_writer *w, const struct mp_request *e, const char *url)
{
	char words[MP_LIMIT_NAME + 80], id[MP_RANDOM_ID + 1];

	snprintf(words, sizeof(words), "Server '%s' needs you to log in. Call again afterwards.",
		 e->server);
	mp_write_begin_object(w);
	mp_write_member_text(w, "mode", MP_STR("url"));
	mp_write_member_text(w, "message", mp_str_of(words));
	mp_write_member_text(w, "url", mp_str_of(url));
	if (e->era == MP_ERA_LEGACY) {
		mp_random_id_make(id);
		mp_write_member_text(w, "elicitationId", mp_str_of(id));
	}
	mp_write_end_object(w);
}

static int write_legacy(const struct mp_request *e, const char *url, struct mp_buf *out)
{
	struct mp_writer w;

	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	mp_write_member_i64(&w, "code", -32042);
	mp_write_member_text(&w, "message", MP_STR("This call needs a login"));
	mp_write_key(&w, MP_STR("data"));
	mp_write_begin_object(&w);
	mp_write_key(&w, MP_STR("elicitations"));
	mp_write_begin_array(&w);
	write_elicitation(&w, e, url);
	mp_write_end_array(&w);
	mp_write_end_object(&w);
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

static int write_modern(const struct mp_request *e, const char *url, struct mp_buf *out)
{
	struct mp_writer w;

	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "resultType", MP_STR("input_required"));
	mp_write_key(&w, MP_STR("inputRequests"));
	mp_write_begin_object(&w);
	mp_write_key(&w, MP_STR("login"));
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "method", MP_STR("elicitation/create"));
	mp_write_key(&w, MP_STR("params"));
	write_elicitation(&w, e, url);
	mp_write_end_object(&w);
	mp_write_end_object(&w);
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

/* The login goes on without us: the user comes back to the hub. */
static void login_visit(void *u, const struct mp_login_visit *visit)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	struct mp_login_request *l = u;
	struct mp_request *e = l->request;
	bool is_legacy = e->era == MP_ERA_LEGACY;
	int r;

	mp_buf_init(&out, MP_KIB(256));
	r = is_legacy ? write_legacy(e, visit->url, &out) : write_modern(e, visit->url, &out);
	login_request_free(l);
	if (r < 0)
		mp_request_give_up(e, r);
	else
		mp_session_finish_call(e, mp_buf_get(&out), is_legacy, 200);
}

/* Before it came to a visit. */
static void login_over(void *u, const struct mcpool_error *error)
{
	struct mp_login_request *l = u;
	struct mp_request *e = l->request;
	char *failure = MP_TAKE(l->failure);
	bool is_error = l->is_error;

	(void)error; /* the status of the server says it */
	login_request_free(l);
	mp_session_finish_call(e, mp_str_of(failure), is_error, 200);
	mp_free(failure);
}

bool mp_request_ask_login(struct mp_request *e, const struct mp_pool_answer *a)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf failure;
	const struct mp_sessions_options *o = &e->session->sessions->o;
	struct mp_account *account;
	unsigned can = e->era == MP_ERA_MODERN ? e->can : e->session->can;
	struct mp_login_request *l;
	bool is_error;

	mp_buf_init(&failure, MP_LIMIT_MESSAGE);
	if (a->error->code != MCPOOL_ENEEDS_AUTH || !(can & MP_CAN_ELICIT_URL) ||
	    !o->find_account || !(account = o->find_account(o->u, e->server)) ||
	    mp_account_is_login_paused(account))
		return false;
	if (mp_request_write_failure(e, a, &failure, &is_error) < 0 ||
	    mp_buf_terminate(&failure) < 0)
		return false;
	l = mp_alloc(sizeof(*l));
	*l = (struct mp_login_request){.request = e, .account = account, .is_error = is_error};
	l->failure = mp_dup(failure.data);
	l->watcher = (struct mp_person_watcher){.visit = login_visit, .over = login_over, .u = l};
	e->login = l;
	mp_account_login(account, &l->watcher);
	return true;
}
