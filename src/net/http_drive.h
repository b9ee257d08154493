/*
 * http_drive.h - a curl multi that lives on our loop: its sockets, its timer; http_client.c uses
 * it.
 */
#ifndef MP_HTTP_DRIVE_H
#define MP_HTTP_DRIVE_H

#include <curl/curl.h>

#include "base/base.h"
#include "base/ids.h"
#include "base/list.h"
#include "base/loop.h"

struct mp_http_drive {
	struct mp_loop *loop;
	CURLM *multi;           /* owned */
	struct mp_timer timer;  /* when curl wants to be called; 0 ms stays 0 */
	struct mp_ids watchers; /* descriptor + 1 to its watcher, owned */
	struct mp_list sockets; /* the same, in a list */
	void (*acted)(void *u); /* curl was called and is off the stack: look what there is */
	void *u;
	bool stopped; /* curl is not called any more */
};

int mp_http_drive_init(struct mp_http_drive *d, struct mp_loop *loop, void (*acted)(void *u),
		       void *u) MP_MUST;
/* Not with curl on the stack, and after all its easy handles are gone. */
void mp_http_drive_done(struct mp_http_drive *d);
void mp_http_drive_stop(struct mp_http_drive *d);
/* Call curl now, as if its timer had rung. Not with curl on the stack. */
void mp_http_drive_kick(struct mp_http_drive *d);
/* For CURLOPT_CLOSESOCKETFUNCTION, with the drive as its data. */
int mp_http_drive_close_socket(void *u, curl_socket_t fd);

#endif
