/*
 * page_conn.h - one WebSocket of the dashboard's page: its hello, then control messages, and verbs
 * of this program that it runs (doc/protocol.md, "Dashboard").
 */
#ifndef MP_PAGE_CONN_H
#define MP_PAGE_CONN_H

#include "base/base.h"
#include "face/control.h"
#include "face/http_face.h"

struct mp_page_conn;

/* What all of them share. */
struct mp_page_conns {
	struct mp_hub *hub;                              /* borrowed */
	const char *exe;                                 /* path of this program */
	bool (*stop)(void *u, bool drain, bool replace); /* as in control.h */
	void (*describe)(void *u, struct mp_writer *w);  /* may be NULL */
	void *u;
	struct mp_list list;
	size_t n_verbs; /* that run */
};

/* The members above list are set. From now on pages answer for agents, if the user allows it. */
void mp_page_conns_init(struct mp_page_conns *all);
void mp_page_conns_done(struct mp_page_conns *all);
/* A request for /dashboard/control that was admitted. */
void mp_page_conn_serve(struct mp_page_conns *all, struct mp_http_face *f, struct mp_exchange *x);
/* The hub leaves: tell them all. */
void mp_page_conns_drain(struct mp_page_conns *all);

#endif
