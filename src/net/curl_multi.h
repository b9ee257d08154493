/*
 * curl_multi.h - a curl multi that lives on our loop: its sockets, its timer, its handles. The
 * files of the HTTP client share it.
 */
#ifndef MP_CURL_MULTI_H
#define MP_CURL_MULTI_H

#include <curl/curl.h>

#include "base/base.h"
#include "base/ids.h"
#include "base/list.h"
#include "base/loop.h"
#include "net/http_target.h"

struct mp_http_client;

/* What a handle is for: the CURLOPT_PRIVATE of every one that curl is given. */
struct mp_http_job {
	/* curl is done with it, and off the stack. */
	void (*over)(struct mp_http_job *job, CURLcode code);
};

enum { MP_CURL_MULTI_FREE = 8 };

struct mp_curl_multi {
	struct mp_loop *loop;
	struct mp_list *home; /* of its client's multis */
	struct mp_link link;
	size_t n_jobs; /* that use it */
	bool retired;  /* and goes with the last of them */
	struct mp_grave grave;
	CURLM *handle;                /* owned */
	struct mp_timer timer;        /* when curl wants to be called; 0 ms stays 0 */
	struct mp_ids watchers;       /* descriptor + 1 to its watcher, owned */
	struct mp_list sockets;       /* the same, in a list */
	struct mp_list plain_sockets; /* connections that are used past curl; see curl_socket.c */
	CURL *free_easies[MP_CURL_MULTI_FREE]; /* to use again: making one costs more than a small
						  POST */
	size_t n_free;
	struct mp_http_target last; /* the last one asked for */
	size_t n_resting;           /* exchanges that do not want what lies in their sockets */
	bool has_missed;            /* bytes came without a reader meanwhile */
	void (*acted)(void *u);     /* curl was called and is off the stack: look what there is */
	void *u;
	bool stopped; /* curl is not called any more */
};

/* Appended to home, and taken from there when it goes. */
int mp_curl_multi_new(struct mp_loop *loop, struct mp_list *home, void (*acted)(void *u), void *u,
		      struct mp_curl_multi **ret_multi) MP_MUST;
/* Not with curl on the stack, and after all its easy handles are gone. */
void mp_curl_multi_free(struct mp_curl_multi *d);
void mp_curl_multi_stop(struct mp_curl_multi *d);
/* The newest of a client. */
struct mp_curl_multi *mp_http_client_get_multi(struct mp_http_client *c);

/* One job more, or one less; a multi that was retired goes when the turn ends in which it is free.
 */
void mp_curl_multi_join(struct mp_curl_multi *d);
void mp_curl_multi_leave(struct mp_curl_multi *d);
void mp_curl_multi_retire(struct mp_curl_multi *d);

/* One more resting exchange, or one less. Its socket is not idle although it is not read. */
void mp_curl_multi_rest(struct mp_curl_multi *d, bool rests);

/* Call curl now, as if its timer had rung. Not with curl on the stack. */
void mp_curl_multi_kick(struct mp_curl_multi *d);

/* A handle without options; NULL: no memory. Given back when curl does not have it any more. */
CURL *mp_curl_multi_get_easy(struct mp_curl_multi *d);
void mp_curl_multi_put_easy(struct mp_curl_multi *d, CURL *easy);

/*
 * A socket as we want it, of which we know when it is closed; -1: none. plain: nothing is spoken
 * over it but HTTP/1 without TLS.
 */
int mp_curl_multi_open_socket(struct mp_curl_multi *d, const struct curl_sockaddr *address,
			      bool plain);
/* For CURLOPT_CLOSESOCKETFUNCTION, with the multi as its data. */
int mp_curl_multi_close_socket(void *u, curl_socket_t fd);
/*
 * From now on until it is closed this socket is not curl's to wait for: ready is called when it can
 * be read or, if `writable`, be written.
 */
void mp_curl_multi_watch(struct mp_curl_multi *d, curl_socket_t fd, bool writable,
			 void (*ready)(void *u), void *u);
void mp_curl_multi_unwatch(struct mp_curl_multi *d, curl_socket_t fd);

#endif
