/*
 * notifications.h - what servers said by themselves: log messages, changed lists and resources.
 * A ring, read by displays. A reader holds the number it wants next; one that is too late learns
 * how many it missed. Of a server that says very much some a second are kept, the rest is counted.
 */
#ifndef MP_NOTIFICATIONS_H
#define MP_NOTIFICATIONS_H

#include "base/base.h"
#include "base/list.h"
#include "base/loop.h"
#include "json/write.h"
#include "rpc/message.h"

struct mp_notification {
	uint64_t number; /* 1, 2, 3, ... without gaps */
	int64_t wall_ms;
	enum mp_method_id method;  /* MP_METHOD_UNKNOWN: only `more` counts */
	int level;                 /* of a log message, an mp_loglevel; -1: none */
	uint64_t more;             /* of this server before it that were not kept */
	const char *server, *text; /* in texts; without secrets, control characters escaped */
	char *texts;               /* owned */
};

/* What one server said lately; in its instance. */
struct mp_notification_source {
	struct mp_link link; /* in `silenced` while more > 0 */
	char *server;        /* owned; NULL: none is counted */
	int64_t second_ms;   /* when the second that is counted began; -1: none yet */
	unsigned kept;       /* in it */
	uint64_t more;       /* not kept, and not told yet */
};

struct mp_notifications {
	struct mp_loop *loop;
	struct mp_notification *ring; /* owned; NULL before the first */
	uint64_t last;                /* number of the newest, 0 before the first */
	uint64_t told;                /* listeners know up to here */
	struct mp_list silenced;      /* sources with `more` */
	struct mp_timer timer;        /* tells what they have counted */
	struct mp_list listeners;
	struct mp_hook hook;
};

void mp_notifications_init(struct mp_notifications *n, struct mp_loop *loop);
void mp_notifications_done(struct mp_notifications *n); /* behind all sources */
void mp_notification_source_init(struct mp_notification_source *s);
/* What it has counted is told. n may be NULL if nothing was ever added. */
void mp_notification_source_done(struct mp_notifications *n, struct mp_notification_source *s);

/* Keep it if it is one of these; others, and those of a loud server, cost nothing. */
void mp_notifications_add(struct mp_notifications *n, struct mp_notification_source *s,
			  const char *server, const struct mp_message *m);
/* As mp_events_read(). */
const struct mp_notification *mp_notifications_read(const struct mp_notifications *n,
						    uint64_t *cursor, uint64_t *ret_missed);
/* One object; missed: those that a late reader did not get. */
void mp_notification_write(struct mp_writer *w, const struct mp_notification *one, uint64_t missed);

/* Called at the end of a turn with a new one. May unsubscribe during the call. */
struct mp_notification_listener {
	struct mp_link link;
	void (*fn)(void *u);
	void *u;
};
void mp_notification_listener_join(struct mp_notifications *n, struct mp_notification_listener *l,
				   void (*fn)(void *u), void *u);
void mp_notification_listener_leave(struct mp_notifications *n, struct mp_notification_listener *l);

#endif
