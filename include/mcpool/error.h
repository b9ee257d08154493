/* mcpool/error.h - the codes every mcpool function answers with, and the words that go with them.
 */
#ifndef MCPOOL_ERROR_H
#define MCPOOL_ERROR_H

#if defined(__GNUC__)
#define MCPOOL_API __attribute__((visibility("default")))
#else
#define MCPOOL_API
#endif

#ifdef __cplusplus
#define MCPOOL_BEGIN_DECLS extern "C" {
#define MCPOOL_END_DECLS   }
#else
#define MCPOOL_BEGIN_DECLS
#define MCPOOL_END_DECLS
#endif

/*
 * Every failure there is: name, number, JSON-RPC code at the edge, word on the wire, sentence.
 * Functions return the negative number as MCPOOL_E<name>. Codes from 1001 on are hub-made errors
 * that clients see; their numbers and words are a contract and never change.
 */
#define MCPOOL_ERRORS(X)                                                                          \
	X(INVAL, 1, -32602, "invalid", "an argument is not valid")                                \
	X(NOMEM, 2, -32603, "no_memory", "the system refused memory")                             \
	X(LIMIT, 3, -32603, "limit", "a ceiling was reached")                                     \
	X(PARSE, 4, -32700, "parse", "the text is not valid JSON")                                \
	X(TYPE, 5, -32602, "type", "a value has another type than expected")                      \
	X(NOENT, 6, -32602, "not_found", "there is no such thing")                                \
	X(EXIST, 7, -32602, "exists", "it is there already")                                      \
	X(IO, 8, -32603, "io", "reading or writing failed")                                       \
	X(PROTO, 9, -32600, "protocol", "the peer broke the protocol")                            \
	X(CANCELED, 10, -32603, "canceled", "the operation was canceled")                         \
	X(TIMEDOUT, 11, -32603, "timed_out", "the operation took too long")                       \
	X(AGAIN, 12, -32603, "again", "it cannot be done at this moment")                         \
	X(CLOSED, 13, -32603, "closed", "the other side is gone")                                 \
	X(PERM, 14, -32603, "not_permitted", "this is not permitted")                             \
	X(SYSTEM, 15, -32603, "system", "the operating system reported an error")                 \
	X(RESTARTING, 1001, 1001, "mcp_restart_in_progress", "the server is being restarted")     \
	X(RESTART_FAILED, 1002, 1002, "mcp_restart_failed", "a restart of the server failed")     \
	X(OUTCOME_UNKNOWN, 1003, 1003, "mcp_outcome_unknown",                                     \
	  "the server died with the call under way")                                              \
	X(CALL_TIMEOUT, 1004, 1004, "mcp_timeout", "the server did not answer in time")           \
	X(UNAVAILABLE, 1005, 1005, "mcp_unavailable", "the server could not be started")          \
	X(QUEUE_FULL, 1006, 1006, "mcp_queue_full", "too many calls wait for the server")         \
	X(NEEDS_APPROVAL, 1007, 1007, "mcp_needs_approval", "the server waits for your approval") \
	X(NEEDS_AUTH, 1008, 1008, "mcp_needs_auth", "the server waits for a login")               \
	X(DISABLED, 1009, 1009, "mcp_disabled", "the server is switched off")                     \
	X(TOO_LARGE, 1010, 1010, "mcp_too_large", "the message is too large")                     \
	X(NO_OWNER, 1011, 1011, "mcp_no_owner", "the server's question belongs to no session")

enum mcpool_code {
	MCPOOL_OK = 0,
#define MCPOOL_X(name, number, rpc, word, sentence) MCPOOL_E##name = -(number),
	MCPOOL_ERRORS(MCPOOL_X)
#undef MCPOOL_X
};

/*
 * What broke, where a code says how a call ended: name, word in `data.class` of a JSON-RPC error.
 */
#define MCPOOL_FAULTS(X)                                                              \
	X(UNKNOWN, "unknown")                                                         \
	X(CONNECT, "connect")              /* no listener, or it cannot be run */     \
	X(TIMEOUT, "timeout")              /* silence */                              \
	X(END, "eof")                      /* it ended, or ended the stream */        \
	X(RESET, "reset")                  /* the connection broke */                 \
	X(MALFORMED, "malformed_response") /* what came cannot be read */             \
	X(JSON_RPC, "json_rpc")            /* the server itself says no */            \
	X(HTTP_STATUS, "http_status")      /* it says no in the words of HTTP */      \
	X(CLOSED, "closed")                /* the way is closed, and nothing broke */ \
	X(LIMIT, "limit")                  /* this process may not open more files */

enum mcpool_fault {
#define MCPOOL_X(name, word) MCPOOL_FAULT_##name,
	MCPOOL_FAULTS(MCPOOL_X)
#undef MCPOOL_X
};

/* A failure as a plain value: copy it, keep it, print it. message always ends in NUL. */
struct mcpool_error {
	int code;     /* MCPOOL_E*, negative */
	int rpc_code; /* what a JSON-RPC peer is told */
	int retry_ms; /* the peer asked to be left alone for this long; 0: it did not say */
	int fault;    /* enum mcpool_fault, where more is known than the code says; else 0 */
	char message[480];
};

MCPOOL_BEGIN_DECLS

/* The version of the library, such as "0.1.0". A static string. */
MCPOOL_API const char *mcpool_version(void);
/* "MCPOOL_ELIMIT" for MCPOOL_ELIMIT; "MCPOOL_E?" for an unknown number. Static strings. */
MCPOOL_API const char *mcpool_error_name(int code);
/* A sentence without its full stop, for people. Static strings. */
MCPOOL_API const char *mcpool_error_text(int code);
/* The value of `data.code` in a JSON-RPC error. Static strings. */
MCPOOL_API const char *mcpool_error_word(int code);

MCPOOL_END_DECLS
#endif
