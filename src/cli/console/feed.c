/*
 * feed.c - a connection to the hub on which it tells what happens.
 */
#include "cli/console/feed.h"

#include <stdio.h>
#include <time.h>

#include "base/error.h"
#include "base/limits.h"
#include "cli/servers/hub_client.h"

/* An older hub does not say which item is the last one: so long without any. */
enum { QUIET_MS = 300, FOR_EVER_MS = 1000 * 3600 * 24 };

const struct mp_feed_topic mp_feed_events = {"mcpool/events", "mcpool/event"};
const struct mp_feed_topic mp_feed_calls = {"mcpool/calls", "mcpool/calls/record"};
const struct mp_feed_topic mp_feed_notifications = {"mcpool/notifications",
						    "mcpool/notifications/record"};

void mp_feed_init(struct mp_feed *f)
{
	*f = (struct mp_feed){.last = 0};
	mp_buf_init(&f->line, MP_LIMIT_MESSAGE);
	mp_tape_init(&f->t, 0);
}

void mp_feed_done(struct mp_feed *f)
{
	mp_hub_client_free(f->c);
	mp_buf_done(&f->line);
	mp_tape_done(&f->t);
}

int mp_feed_complain(const struct mcpool_error *why)
{
	if (why->code == MCPOOL_ENOENT)
		mp_cli_complain_as(why->code, "no hub runs. `mcpool up` starts one.");
	else
		mp_cli_complain_as(why->code, "%s", why->message);
	return why->code == MCPOOL_ENOENT ? MP_EXIT_START : mp_cli_exit_code(why);
}

int mp_feed_open(struct mp_feed *f, const struct mp_feed_topic *topic, uint64_t since,
		 struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf result;
	char params[40] = "";
	int r = mp_hub_client_open(&f->c, reterr);

	f->topic = topic;
	mp_buf_init(&result, MP_KIB(64));
	if (since)
		snprintf(params, sizeof(params), "{\"since\":%llu}", (unsigned long long)since);
	if (r == 0)
		r = mp_hub_client_ask(f->c, topic->request, mp_str_of(params), &result, reterr);
	if (r < 0)
		return r;
	if (mp_tape_parse(&f->t, mp_buf_get(&result), NULL) < 0 ||
	    mp_value_u64(&f->t, mp_value_get(&f->t, MP_ROOT, "last"), &f->last) < 0)
		f->last = UINT64_MAX;
	return 0;
}

int mp_feed_next(struct mp_feed *f, int64_t max_ms)
{
	for (;;) {
		int r;

		mp_buf_clear(&f->line);
		r = mp_hub_client_listen(f->c, max_ms, &f->line);
		if (r < 0)
			return r;
		if (mp_tape_parse(&f->t, mp_buf_get(&f->line), NULL) < 0 ||
		    !mp_value_text_is(&f->t, mp_value_get(&f->t, MP_ROOT, "method"),
				      mp_str_of(f->topic->notification)))
			continue;
		f->item = mp_value_get(&f->t, MP_ROOT, "params");
		return 0;
	}
}

/* The last item that was there when the command began. */
static bool feed_is_last(const struct mp_feed *f)
{
	uint64_t number = 0;

	return mp_value_u64(&f->t, mp_value_get(&f->t, f->item, "number"), &number) == 0 &&
	       number >= f->last;
}

/* What cannot be written ends the loop by ferror(). */
void mp_feed_print_json(struct mp_feed *f)
{
	(void)!mp_print_json_line(mp_value_source(&f->t, f->item));
}

int mp_feed_print_all(struct mp_feed *f, const struct mp_cli_args *args,
		      void (*print)(struct mp_feed *f, const struct mp_cli_args *args))
{
	int r = 0;

	if (!args->follow && f->last == 0)
		return MP_EXIT_DONE;
	while (!ferror(stdout)) {
		r = mp_feed_next(f, args->follow ? FOR_EVER_MS : QUIET_MS);
		if (r == MCPOOL_ETIMEDOUT && args->follow)
			continue;
		if (r < 0)
			break;
		print(f, args);
		if (args->follow)
			fflush(stdout);
		else if (feed_is_last(f))
			break;
	}
	if (r == MCPOOL_ECLOSED && args->follow) {
		fflush(stdout);
		mp_cli_complain_as(r, "the hub has ended. `mcpool up` starts one.");
		return MP_EXIT_START;
	}
	return MP_EXIT_DONE;
}

int mp_feed_run(const struct mp_verb *verb, int argc, char **argv,
		const struct mp_feed_topic *topic,
		void (*print)(struct mp_feed *f, const struct mp_cli_args *args))
{
	MP_CLEANUP(mp_feed_done) struct mp_feed f;
	struct mcpool_error why;
	struct mp_cli_args args;
	int r = mp_cli_read_args(verb, argc, argv, 0, -1, &args);

	mp_feed_init(&f);
	if (r)
		return r - 1;
	if (mp_feed_open(&f, topic, 1, &why) < 0)
		return mp_feed_complain(&why);
	mp_print_need_no_json();
	return mp_print_finish(mp_feed_print_all(&f, &args, print));
}

struct mp_str mp_feed_get_text(struct mp_feed *f, struct mp_arena *arena, const char *key)
{
	struct mp_str text;

	if (mp_value_text(&f->t, mp_value_get(&f->t, f->item, key), arena, &text) < 0)
		return MP_STR("");
	return text;
}

bool mp_feed_is_about(struct mp_feed *f, struct mp_arena *arena, const struct mp_cli_args *args)
{
	struct mp_str server = mp_feed_get_text(f, arena, "server");

	for (int i = 0; i < args->n_words; i++)
		if (mp_str_eq(server, mp_str_of(args->words[i])))
			return true;
	return args->n_words == 0;
}

void mp_feed_write_time(int64_t wall_ms, char out[16])
{
	time_t at = (time_t)(wall_ms / 1000);
	char text[16];
	struct tm tm;

	out[0] = '\0';
	if (localtime_r(&at, &tm) && strftime(text, sizeof(text), "%H:%M:%S", &tm))
		snprintf(out, 16, "%.8s.%03d", text, (int)(wall_ms % 1000));
}
