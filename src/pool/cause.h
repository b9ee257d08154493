/*
 * cause.h - why a server does not work, in the words of a person who repairs it, and what to type.
 * Found from what failed and from what the server wrote to stderr.
 */
#ifndef MP_CAUSE_H
#define MP_CAUSE_H

#include "base/arena.h"
#include "base/base.h"
#include "base/str.h"

/* What is known of a server that does not work. */
struct mp_symptoms {
	const char *server;
	bool is_ours;        /* its entry is in a file of ours */
	const char *message; /* why it failed */
	const char *tail;    /* its last lines on stderr; "" */
};

struct mp_cause {
	const char *what;     /* "port 8080 is in use by another process" */
	const char *fix;      /* what to type */
	const char *port;     /* the one that another process has; NULL */
	const char *variable; /* the one that it lacks; NULL */
	bool is_general;      /* only the kind of the error is known, and no words of it */
};

/*
 * False: the message says all that is known, or memory is out. Texts are the arena's, and may hold
 * words of the server.
 */
bool mp_cause_find(const struct mp_symptoms *s, struct mp_arena *arena, struct mp_cause *ret);

/* The line of its stderr that says most: an error rather than what is printed behind it. */
struct mp_str mp_cause_get_line(struct mp_str tail);

#endif
