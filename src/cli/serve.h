/*
 * serve.h - what the parts of `mcpool serve` share: its state, and the ways to say something.
 */
#ifndef MP_SERVE_H
#define MP_SERVE_H

#include <uv.h>

#include "cli/configured.h"
#include "cli/screen.h"
#include "face/http_face.h"
#include "face/socket.h"
#include "hub/election.h"
#include "hub/hub.h"
#include "hub/logger.h"
#include "hub/manager.h"
#include "pool/gate.h"
#include "pool/pool_call.h"

struct mp_serve_call;

struct mp_serve {
	const struct mp_cli_args *args;
	struct mp_configured c;
	struct mp_hub *hub;
	struct mp_logger *logger;
	struct mp_gate *gate;
	struct mp_screen *screen;          /* NULL: stdout is no terminal */
	struct mp_serve_call *call;        /* --call; NULL */
	struct mp_event_listener listener; /* --json: every event */
	uint64_t cursor;                   /* of the next one */
	struct mp_config_set *told;        /* what was reported last; NULL before the gate */
	struct mp_buf call_arguments;      /* of --call, an object */
	int64_t began_ms;
	struct mp_election election;
	struct mp_follower *place; /* told when lock or socket change; NULL: none */
	struct mp_manager manager;
	struct mp_socket_face *socket; /* NULL: there is no place for one */
	struct mp_http_face *http;     /* NULL: nobody comes that way */
	struct mp_task stop_task;      /* somebody asked for it over the socket */
	int64_t stop_patience_ms;
	bool is_replaced; /* the next one need not wait until we are done */
	bool is_shut;     /* nobody new is let in */
	uv_signal_t signals[4];
	int open_signals;
	int exit_code;
	bool is_stopping;
};

/* One JSON object, one line. */
void mp_serve_print(struct mp_serve *s, struct mp_str json);
/*
 * Whoever reads our output is gone, or a signal came: what is open may finish within that time, all
 * servers leave, then we do.
 */
void mp_serve_stop(struct mp_serve *s, int exit_code, int64_t patience_ms);

/* --- serve_faces.c --- */

/* Become this user's hub: an exit code after a complaint where there is one already. */
int mp_serve_be_elected(struct mp_serve *s);
/* The ways in; agents may come. */
int mp_serve_open_faces(struct mp_serve *s);
/* Over HTTP, once it is known what there is. An exit code after a complaint. */
int mp_serve_open_http(struct mp_serve *s);
/* Nobody new is let in. */
void mp_serve_shut_doors(struct mp_serve *s);
/* Nothing is open any more: everybody is told. */
void mp_serve_dismiss(struct mp_serve *s);
void mp_serve_close_faces(struct mp_serve *s);
/* How agents come here, for people; or as the member `listening`. */
void mp_serve_report_faces(struct mp_serve *s);

/* --- serve_report.c --- */

/* What there is at the gate: for people in the log, for programs on stdout. */
void mp_serve_report_gate(struct mp_serve *s);
/* Behind the gate: what a reload brought that cannot be started. */
void mp_serve_report_reload(struct mp_serve *s);
/* --json: those that came since the last time. */
void mp_serve_report_events(void *u);

/* --- serve_call.c --- */

/* --args and --call can be used; else an exit code after a complaint. */
int mp_serve_read_call(struct mp_serve *s);
/* Make the call now, or when the tool is known. */
void mp_serve_begin_call(struct mp_serve *s);
/* Nobody waits for it any more; before the pool goes. */
void mp_serve_end_call(struct mp_serve *s);
/* Once the pool is gone, or the call has ended. */
void mp_serve_free_call(struct mp_serve *s);

/* --- serve_demo.c --- */

/* Where nothing is configured: the demo server, as a file of --config. */
void mp_serve_add_demo(struct mp_serve *s);

#endif
