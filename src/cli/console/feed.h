/*
 * feed.h - a connection to the hub on which it tells what happens.
 */
#ifndef MP_FEED_H
#define MP_FEED_H

#include "base/arena.h"
#include "base/base.h"
#include "base/buf.h"
#include "cli/display/cli.h"
#include "json/value.h"

/* What is told: the request that begins it, and its notifications. */
struct mp_feed_topic {
	const char *request, *notification;
};
extern const struct mp_feed_topic mp_feed_events, mp_feed_calls, mp_feed_notifications;

struct mp_feed {
	const struct mp_feed_topic *topic;
	struct mp_hub_client *c;
	uint64_t last; /* number of the newest item when it began; UINT64_MAX: not known */
	struct mp_buf line;
	struct mp_tape t;
	mp_value item; /* in t */
};

void mp_feed_init(struct mp_feed *f);
void mp_feed_done(struct mp_feed *f);
/* since: number of the first item that is wanted; 0: new ones only. */
int mp_feed_open(struct mp_feed *f, const struct mp_feed_topic *topic, uint64_t since,
		 struct mcpool_error *reterr) MP_MUST;
/* The next item. MCPOOL_ETIMEDOUT, MCPOOL_ECLOSED. */
int mp_feed_next(struct mp_feed *f, int64_t max_ms) MP_MUST;
/* Print the items that are there, or with --follow all until the hub ends. Returns the exit code.
 */
int mp_feed_print_all(struct mp_feed *f, const struct mp_cli_args *args,
		      void (*print)(struct mp_feed *f, const struct mp_cli_args *args));
/* The current item as JSON, a line. */
void mp_feed_print_json(struct mp_feed *f);
/* A verb that prints all there is, or with --follow goes on: [NAME...], any number of words. */
int mp_feed_run(const struct mp_verb *verb, int argc, char **argv,
		const struct mp_feed_topic *topic,
		void (*print)(struct mp_feed *f, const struct mp_cli_args *args));
/* Words for a hub that cannot be asked; the exit code. */
int mp_feed_complain(const struct mcpool_error *why);

/* Of the current item: a text; "" if there is none. */
struct mp_str mp_feed_get_text(struct mp_feed *f, struct mp_arena *arena, const char *key);
/* Is its server one of the words, or are there none? */
bool mp_feed_is_about(struct mp_feed *f, struct mp_arena *arena, const struct mp_cli_args *args);
/* "21:52:07.504" */
void mp_feed_write_time(int64_t wall_ms, char out[16]);

#endif
