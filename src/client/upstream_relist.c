/*
 * upstream_relist.c - lists tools again for a call that was refused for its headers.
 * What calls carry in headers comes from the list of tools, so the list is outdated: it is fetched
 * again, and what was refused goes out once more, with a new id (mcp-spec 1.5). The server checks
 * headers before it does anything, so nothing is done twice.
 */
#include "base/log.h"
#include "base/mem.h"
#include "client/catalog.h"
#include "client/upstream.h"

enum { HEADER_MISMATCH = -32020, RELIST_MS = 10000 };

bool mp_upstream_has_param_headers(const struct mp_upstream *up)
{
	return up->state == MP_UPSTREAM_READY && up->handshake.hello.era == MP_ERA_MODERN &&
	       (up->transport->traits & MP_TRANSPORT_PER_REQUEST);
}

void mp_upstream_set_param_headers(struct mp_upstream *up, struct mp_param_headers *m)
{
	struct mp_param_headers old = up->param_headers;

	up->param_headers = *m;
	mp_param_headers_done(&old);
	mp_param_headers_init(m);
}

static void forget_list(struct mp_upstream *up)
{
	if (!up->relisted)
		return;
	mp_catalog_list_done(up->relisted);
	up->relisted = mp_free(up->relisted);
	up->relisting = NULL;
}

/* Sessions get the new list, too: as if the server had announced a change. */
static void tell_changed(struct mp_upstream *up)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct mp_message m;

	mp_message_tape_init(&t);
	if (mp_message_scan(&t,
			    MP_STR("{\"jsonrpc\":\"2.0\",\"method\":"
				   "\"notifications/tools/list_changed\"}"),
			    &m, NULL) == 0 &&
	    up->state == MP_UPSTREAM_READY && up->hooks->notification)
		up->hooks->notification(up->u, &m);
}

/* Also where the list could not be had: the server may have made up its mind. */
static void upstream_relist_relisted(struct mp_catalog_list *l, const struct mcpool_error *error,
				     void *u)
{
	struct mp_upstream *up = u;

	(void)l;
	forget_list(up);
	mp_peer_retry(&up->peer);
	if (!error)
		tell_changed(up);
}

bool mp_upstream_relist(void *u, struct mp_call *c, const struct mp_message *error)
{
	struct mp_upstream *up = u;

	if (c->o.method != MP_METHOD_TOOLS_CALL || !mp_upstream_has_param_headers(up) ||
	    mp_error_read_code(error) != HEADER_MISMATCH)
		return false;
	if (up->relisted)
		return true;
	mp_log_trace(up->o.log, "headers are not what the server expects, listing tools");
	up->relisted = mp_alloc(sizeof(*up->relisted));
	mp_catalog_list_init(up->relisted, MP_CATALOG_TOOL);
	if (mp_catalog_fetch(up, up->relisted, RELIST_MS, upstream_relist_relisted, up, up->loop,
			     &up->relisting) == 0)
		return true;
	forget_list(up);
	return false;
}

void mp_upstream_stop_relisting(struct mp_upstream *up)
{
	if (up->relisting)
		mp_catalog_abandon(up->relisting);
	forget_list(up);
}
