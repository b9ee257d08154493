/*
 * workspace_retry.c - finds the keys of a workspace again while values of a server are missing.
 * Such a server has no instance yet, and so no keeper. With restart.final false its missing values
 * follow the restart schedule like any other failed start (D29).
 */
#include "pool/workspace.h"

static bool is_unresolved(const struct mp_workspace *w, size_t i)
{
	const struct mp_restart *restart = &mp_workspace_get_entry(w, i)->tuning.restart;

	return !restart->is_final && restart->mode == MP_RESTART_RELENTLESS &&
	       mp_workspace_entry_get_state(w, i, 0) == MP_STATUS_READY &&
	       !mp_workspace_entry_get_key(w, i)->is_known;
}

static ptrdiff_t find_unresolved(const struct mp_workspace *w)
{
	for (size_t i = 0; i < w->n; i++)
		if (is_unresolved(w, i))
			return (ptrdiff_t)i;
	return -1;
}

bool mp_workspace_retry_has_news(const struct mp_workspace *w, const struct mp_keys *keys)
{
	for (size_t i = 0; i < w->n; i++)
		if (is_unresolved(w, i) && keys->of[w->entries[i].entry].is_known)
			return true;
	return false;
}

/*
 * A reload between two attempts is none of them: else each one, also of files in which nothing
 * changed, would move the next attempt further away.
 */
void mp_workspace_retry_soon(struct mp_workspace *w)
{
	ptrdiff_t i = w->config && !w->pool->o.one_shot ? find_unresolved(w) : -1;
	struct mp_policy policy;

	if (i < 0) {
		mp_timer_stop(&w->retry.timer);
		mp_backoff_forgive(&w->retry.backoff);
		return;
	}
	if (mp_timer_is_running(&w->retry.timer))
		return;
	mp_policy_init(&policy, &mp_workspace_get_entry(w, (size_t)i)->tuning.restart, false);
	mp_timer_start(&w->retry.timer, mp_backoff_fail(&w->retry.backoff, &policy));
}

/* A set that is on its way has its own keys. */
static void workspace_retry(void *u)
{
	struct mp_workspace *w = u;

	if (!w->arrival && !w->pool->is_stopping)
		mp_workspace_identify_again(w);
}

void mp_workspace_retry_init(struct mp_workspace *w)
{
	mp_backoff_init(&w->retry.backoff, 0);
	mp_timer_init(&w->retry.timer, w->pool->o.loop, workspace_retry, w);
}
