/*
 * cmd_notifications.c - `mcpool notifications`: what servers say by themselves, as they say it.
 */
#include <stdio.h>

#include "base/limits.h"
#include "cli/console/feed.h"
#include "cli/display/safe.h"
#include "cli/verbs/verbs.h"

static int run_notifications(const struct mp_verb *verb, int argc, char **argv);

const struct mp_verb mp_verb_notifications = {
	"notifications",
	"[NAME...]",
	"What servers said by themselves: the last 512 log messages and changes.",
	"  --follow, -f     go on with what they say from now on, until Ctrl-C\n"
	"  --json           one JSON object a line instead of text for people\n",
	"NAME...: only these servers. Changes are those of their lists of tools, prompts and\n"
	"resources, and of single resources. Of one server 20 a second are kept, the others are\n"
	"counted; texts are cut at 500 bytes. doc/protocol.md, \"Notifications\", has the "
	"members.\n"
	"example: mcpool notifications -f github\n",
	run_notifications,
	NULL,
	MP_VERB_PLAIN,
};

static uint64_t get_count(struct mp_feed *f, const char *key)
{
	uint64_t n = 0;

	if (mp_value_u64(&f->t, mp_value_get(&f->t, f->item, key), &n) < 0)
		return 0;
	return n;
}

/* "error", or what changed: "tools changed", "updated" */
static struct mp_str get_what(struct mp_feed *f, struct mp_arena *arena)
{
	static const struct {
		const char *method, *words;
	} changes[] = {
		{"notifications/tools/list_changed", "tools changed"},
		{"notifications/prompts/list_changed", "prompts changed"},
		{"notifications/resources/list_changed", "resources changed"},
		{"notifications/resources/updated", "updated"},
	};
	struct mp_str method = mp_feed_get_text(f, arena, "method");
	struct mp_str level = mp_feed_get_text(f, arena, "level");

	for (size_t i = 0; i < MP_ARRAY_LEN(changes); i++)
		if (mp_str_eq(method, mp_str_of(changes[i].method)))
			return mp_str_of(changes[i].words);
	return level.len ? level : MP_STR("no level");
}

static int add_words(struct mp_feed *f, struct mp_arena *arena, struct mp_buf *line)
{
	uint64_t more = get_count(f, "more");
	int r;

	if (more)
		return mp_buf_addf(line, "and %llu more", (unsigned long long)more);
	r = mp_safe_add(line, get_what(f, arena), MP_SAFE_LINE);
	if (r == 0)
		r = mp_buf_add_str(line, MP_STR("  "));
	return r < 0 ? r : mp_safe_add(line, mp_feed_get_text(f, arena, "text"), MP_SAFE_LINE);
}

static void notification_print_line(struct mp_feed *f, struct mp_arena *arena)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf line;
	char when[16];

	mp_buf_init(&line, MP_KIB(64));
	mp_feed_write_time((int64_t)get_count(f, "time"), when);
	if (mp_safe_add(&line, mp_feed_get_text(f, arena, "server"), MP_SAFE_LINE) == 0 &&
	    mp_buf_add_str(&line, MP_STR("  ")) == 0 && add_words(f, arena, &line) == 0)
		printf("%s  %.*s\n", when, MP_STR_ARGS(mp_str_trim(mp_buf_get(&line))));
}

static void notification_print(struct mp_feed *f, const struct mp_cli_args *args)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	uint64_t missed = get_count(f, "missed");

	mp_arena_init(&arena, MP_KIB(64));
	if (missed && !args->json)
		printf("(%llu earlier ones are not kept)\n", (unsigned long long)missed);
	if (!mp_feed_is_about(f, &arena, args))
		return;
	if (args->json)
		mp_feed_print_json(f);
	else
		notification_print_line(f, &arena);
}

static int run_notifications(const struct mp_verb *verb, int argc, char **argv)
{
	return mp_feed_run(verb, argc, argv, &mp_feed_notifications, notification_print);
}
