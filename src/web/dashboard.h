/*
 * dashboard.h - the dashboard: the page and its files, logging in, and the pages that are open.
 */
#ifndef MP_DASHBOARD_H
#define MP_DASHBOARD_H

#include "base/base.h"
#include "face/http_face.h"
#include "hub/hub.h"
#include "json/write.h"

struct mp_dashboard;

struct mp_dashboard_options {
	struct mp_hub *hub;
	const char *exe;                                 /* path of this program; borrowed */
	bool (*stop)(void *u, bool drain, bool replace); /* as in control.h */
	void (*describe)(void *u, struct mp_writer *w);
	void *u;
};

struct mp_dashboard *mp_dashboard_new(const struct mp_dashboard_options *o);
/* After the faces that it serves. Accepts NULL, returns NULL. */
struct mp_dashboard *mp_dashboard_free(struct mp_dashboard *d);

/* For a face, with the dashboard as its user. */
extern const struct mp_http_dashboard mp_dashboard_routes;

/* The address that logs a browser in, once: "http://127.0.0.1:7717/#login=CODE". */
int mp_dashboard_write_address(struct mp_http_face *f, struct mp_buf *out) MP_MUST;

#endif
