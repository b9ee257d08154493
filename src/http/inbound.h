/*
 * inbound.h - one incoming HTTP request: bytes to a head, then to a body.
 * llhttp parses; what it leaves open is decided here, always strictly: requests are smuggled where
 * two readers differ. Other header values are checked and dropped. No input or output here.
 */
#ifndef MP_INBOUND_H
#define MP_INBOUND_H

#include "base/base.h"
#include "base/buf.h"
#include "base/list.h"
#include "base/str.h"

enum {
	MP_INBOUND_TARGET = 8192,     /* bytes of path and query */
	MP_INBOUND_FIELDS = 100,      /* header lines, trailers included */
	MP_INBOUND_EXTENSIONS = 4096, /* bytes of chunk extensions, which mean nothing to us */
};

enum mp_http_method {
	MP_HTTP_METHOD_OTHER = 0,
	MP_HTTP_METHOD_GET = 1 << 0,
	MP_HTTP_METHOD_HEAD = 1 << 1,
	MP_HTTP_METHOD_POST = 1 << 2,
	MP_HTTP_METHOD_DELETE = 1 << 3,
	MP_HTTP_METHOD_OPTIONS = 1 << 4,
};

/* The headers that mean something to us; ONCE: two of them are a refusal, LIST: they are joined. */
#define MP_FIELDS(X)                                       \
	X(HOST, "host", ONCE)                              \
	X(ORIGIN, "origin", ONCE)                          \
	X(AUTHORIZATION, "authorization", ONCE)            \
	X(SITE, "sec-fetch-site", ONCE)                    \
	X(ACCEPT, "accept", LIST)                          \
	X(CONTENT_TYPE, "content-type", ONCE)              \
	X(CONTENT_LENGTH, "content-length", ONCE)          \
	X(TRANSFER_ENCODING, "transfer-encoding", ONCE)    \
	X(EXPECT, "expect", ONCE)                          \
	X(UPGRADE, "upgrade", LIST)                        \
	X(SESSION, "mcp-session-id", ONCE)                 \
	X(VERSION, "mcp-protocol-version", ONCE)           \
	X(METHOD, "mcp-method", ONCE)                      \
	X(NAME, "mcp-name", ONCE)                          \
	X(LAST_EVENT, "last-event-id", ONCE)               \
	X(SOCKET_KEY, "sec-websocket-key", ONCE)           \
	X(SOCKET_VERSION, "sec-websocket-version", ONCE)   \
	X(SOCKET_PROTOCOL, "sec-websocket-protocol", LIST) \
	X(TRACE_PARENT, "traceparent", LIST)               \
	X(TRACE_STATE, "tracestate", LIST)                 \
	X(BAGGAGE, "baggage", LIST)                        \
	X(COOKIE, "cookie", ONCE)                          \
	X(ASKER, "mcpool-hub", ONCE)

enum mp_field {
#define X(name, text, how) MP_FIELD_##name,
	MP_FIELDS(X)
#undef X
		MP_FIELD_COUNT
};

struct mp_inbound;

struct mp_inbound *mp_inbound_new(void);
struct mp_inbound *mp_inbound_free(struct mp_inbound *in); /* accepts NULL, returns NULL */
/* For the next request; large buffers are given back. */
void mp_inbound_reset(struct mp_inbound *in);
/* For a list of spare ones. */
struct mp_link *mp_inbound_get_link(struct mp_inbound *in);
struct mp_inbound *mp_inbound_of(struct mp_link *link);

enum mp_inbound_news {
	MP_INBOUND_MORE,  /* all bytes were used, and more are needed */
	MP_INBOUND_HEAD,  /* the head is there; feed the rest, even where nothing is left */
	MP_INBOUND_WHOLE, /* the request is complete; what is left belongs to the next one */
	MP_INBOUND_BAD,   /* it is none: see mp_inbound_get_fault() */
};
/* The next bytes, which must stay while the body is looked at. *ret_used: so many were taken. */
enum mp_inbound_news mp_inbound_feed(struct mp_inbound *in, struct mp_str bytes, size_t *ret_used);
/* Bytes of the body that are kept so far. */
size_t mp_inbound_get_gathered(const struct mp_inbound *in);
/* Bytes of the body that came so far, kept or not. */
uint64_t mp_inbound_get_received(const struct mp_inbound *in);
/* The body that is to come is of no interest. */
void mp_inbound_discard(struct mp_inbound *in);

struct mp_inbound_fault {
	int status;        /* 400, 413, 414, 417, 431, 501, 505 */
	const char *words; /* "two Host headers" */
};
struct mp_inbound_fault mp_inbound_get_fault(const struct mp_inbound *in);

/* From HEAD on, valid until the reset. */
enum mp_http_method mp_inbound_get_verb(const struct mp_inbound *in);
struct mp_str mp_inbound_get_path(const struct mp_inbound *in);  /* as written: nothing decoded */
struct mp_str mp_inbound_get_query(const struct mp_inbound *in); /* without '?' */
/* The value without outer blanks; p is NULL where there is no such header. */
struct mp_str mp_inbound_get(const struct mp_inbound *in, enum mp_field field);
bool mp_inbound_is_old(const struct mp_inbound *in);         /* HTTP/1.0 */
bool mp_inbound_keeps_alive(const struct mp_inbound *in);    /* the client wants to go on */
bool mp_inbound_wants_upgrade(const struct mp_inbound *in);  /* Connection: upgrade, Upgrade: x */
bool mp_inbound_wants_continue(const struct mp_inbound *in); /* Expect: 100-continue */
/* Bytes of body that are announced; UINT64_MAX: it comes in chunks. */
uint64_t mp_inbound_get_length(const struct mp_inbound *in);

/* From WHOLE on; may lie in the bytes that were fed last. */
struct mp_str mp_inbound_get_body(const struct mp_inbound *in);

#endif
