/*
 * serve.h - shared by the parts of `mcpool serve`: its state, its output, stopping.
 */
#ifndef MP_SERVE_H
#define MP_SERVE_H

#include <uv.h>

#include "cli/servers/configured.h"
#include "cli/display/screen.h"
#include "face/http_face.h"
#include "face/socket.h"
#include "hub/election.h"
#include "hub/hub.h"
#include "hub/logger.h"
#include "hub/manager.h"
#include "pool/gate.h"
#include "pool/pool_call.h"
#include "web/dashboard.h"

struct mp_serve_call;

struct mp_serve {
	const struct mp_cli_args *args;
	struct mp_configured c;
	struct mp_hub *hub;
	struct mp_logger *logger;
	struct mp_gate *gate;
	struct mp_screen *screen;          /* NULL: stdout is not a terminal */
	struct mp_serve_call *call;        /* --call; NULL */
	struct mp_event_listener listener; /* --json: every event */
	uint64_t cursor;                   /* of the next one */
	struct mp_config_set *told;        /* the last reported set; NULL before the gate */
	struct mp_buf call_arguments;      /* of --call, an object */
	int64_t began_ms;
	struct mp_election election;
	int starter; /* pipe of the process that started us, closed when we are ready; -1 */
	struct mp_follower *place; /* watches lock and socket; NULL: none */
	struct mp_manager manager;
	struct mp_socket_face *socket; /* NULL: there is no place for the socket */
	struct mp_http_face *http;     /* NULL: HTTP is off */
	struct mp_dashboard *dashboard;
	bool is_ready;            /* the gate is open */
	struct mp_task stop_task; /* a peer asked for a stop over the socket */
	int64_t stop_patience_ms;
	bool is_replaced; /* the next hub need not wait until we exit */
	bool is_shut;     /* new clients are refused */
	uv_signal_t signals[4];
	int open_signals;
	int exit_code;
	bool is_stopping;
};

/* One JSON object, one line. */
void mp_serve_print(struct mp_serve *s, struct mp_str json);
/*
 * The reader of our output has closed it, or a signal came: open requests may finish within that
 * time, all servers stop, then the process exits.
 */
void mp_serve_stop(struct mp_serve *s, int exit_code, int64_t patience_ms);

/* --- serve_faces.c --- */

/* Become this user's hub; an exit code after an error message if there is one already. */
int mp_serve_be_elected(struct mp_serve *s);
/* Open the socket for agents. */
int mp_serve_open_faces(struct mp_serve *s);
/* Open HTTP, once the configuration is known. An exit code after an error message. */
int mp_serve_open_http(struct mp_serve *s);
/* Accept no new clients. */
void mp_serve_shut_doors(struct mp_serve *s);
/* No request is open: tell all peers that the hub exits. */
void mp_serve_dismiss(struct mp_serve *s);
void mp_serve_close_faces(struct mp_serve *s);
/* Report how agents connect, as text; or as the member `listening`. */
void mp_serve_report_faces(struct mp_serve *s);

/* --- serve_report.c --- */

/* Report the gate's result: in the log, and with --json on stdout. */
void mp_serve_report_gate(struct mp_serve *s);
/* After the gate: report new entries of a reload that cannot be started. */
void mp_serve_report_reload(struct mp_serve *s);
/* --json: print new events. */
void mp_serve_report_events(void *u);

/* --- serve_call.c --- */

/* Check --args and --call; an exit code after an error message. */
int mp_serve_read_call(struct mp_serve *s);
/* Call now, or when the tool is known. */
void mp_serve_begin_call(struct mp_serve *s);
/* Cancel it; call before the pool is freed. */
void mp_serve_end_call(struct mp_serve *s);
/* After the pool is freed, or the call has ended. */
void mp_serve_free_call(struct mp_serve *s);

/* --- serve_demo.c --- */

/* If nothing is configured: add the demo server, as a file of --config. */
void mp_serve_add_demo(struct mp_serve *s);

#endif
