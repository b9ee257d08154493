/*
 * log_merge.c - merges log lines of several servers with the same cause.
 */
#include "hub/log_merge.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/str.h"

static const struct mp_log hub_log = {"hub"};

enum { CAUSES = 64, NAMES = 8, NAME = 80 };

/* A failure that servers have in common. It is kept for a while after it was written, to detect
 * that it continues. */
struct cause {
	struct mp_link link;
	struct mp_log_merge *merge;
	struct mp_timer timer;
	enum mp_level level;
	const char *words;                                        /* static */
	char key[MP_LIMIT_EVENT_TEXT + 64];                       /* without addresses and times */
	char text[MP_LOG_MERGE_MIN - 1][MP_LIMIT_EVENT_TEXT + 1]; /* of the first servers */
	bool differ;  /* other servers have other addresses */
	bool goes_on; /* a merged line was written recently */
	size_t n;     /* servers with this failure now */
	char who[NAMES][NAME];
};

struct mp_log_merge {
	struct mp_loop *loop;
	struct mp_list causes;
};

/* --- the text without addresses and times ----------------------------------------------------- */

static size_t get_address_len(const char *p)
{
	size_t scheme = strncmp(p, "http://", 7) == 0 ? 7 : strncmp(p, "https://", 8) == 0 ? 8 : 0;
	size_t n = scheme;

	while (scheme && p[n] && p[n] != ' ' && p[n] != ',' && p[n] != ')')
		n++;
	while (n > scheme && strchr(":;.", p[n - 1]))
		n--;
	return n;
}

/* " after 12 ms", which differs from one start to the next. */
static size_t get_duration_len(const char *p)
{
	size_t n = strncmp(p, " after ", 7) == 0 ? 7 : 0, digits = 0;

	if (n)
		digits = strspn(p + n, "0123456789");
	return digits && strncmp(p + n + digits, " ms", 3) == 0 ? n + digits + 3 : 0;
}

/* But for the times. */
static bool is_same_text(const char *a, const char *b)
{
	while (*a && *b) {
		size_t skip_a = get_duration_len(a), skip_b = get_duration_len(b);

		if (!skip_a != !skip_b || (!skip_a && *a != *b))
			return false;
		a += skip_a ? skip_a : 1;
		b += skip_b ? skip_b : 1;
	}
	return *a == *b;
}

static void log_merge_generalize(const char *text, char *key, size_t size)
{
	static const char anywhere[] = "several addresses";
	size_t at = 0;

	while (*text && at + sizeof(anywhere) < size) {
		size_t n = get_address_len(text), duration = get_duration_len(text);

		if (duration) {
			text += duration;
		} else if (n) {
			memcpy(key + at, anywhere, sizeof(anywhere) - 1);
			at += sizeof(anywhere) - 1;
			text += n;
		} else {
			key[at++] = *text++;
		}
	}
	key[at] = '\0';
}

/* --- writing ---------------------------------------------------------------------------------- */

static void write_one(const char *who, enum mp_level level, const char *words, const char *text)
{
	struct mp_log log;

	mp_log_init(&log, "%s", who);
	mp_log_write(&log, level, "%s%s%s", words, text[0] ? ": " : "", text);
}

static void write_all(const struct cause *c)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf names;
	size_t shown = c->n < NAMES ? c->n : NAMES;
	const char *text = c->differ ? c->key : c->text[0];
	int r = 0;

	mp_buf_init(&names, MP_LIMIT_LOG_LINE);
	for (size_t i = 0; i < shown && r == 0; i++)
		r = mp_buf_addf(&names, "%s%s", i ? ", " : "", c->who[i]);
	if (r == 0 && c->n > shown && mp_buf_addf(&names, " and %zu more", c->n - shown) < 0)
		mp_buf_clear(&names);
	mp_log_write(&hub_log, c->level, "%zu servers %s%s%s: %.*s", c->n, c->words,
		     text[0] ? ": " : "", text, MP_STR_ARGS(mp_buf_get(&names)));
}

static void write_cause(struct cause *c)
{
	bool is_merged = c->n >= MP_LOG_MERGE_MIN;

	if (is_merged)
		write_all(c);
	for (size_t i = 0; i < c->n && !is_merged; i++)
		write_one(c->who[i], c->level, c->words, c->text[i]);
	c->goes_on = is_merged || (c->goes_on && c->n > 0);
	c->n = 0;
	c->differ = false;
}

static void log_merge_drop(struct cause *c)
{
	mp_timer_stop(&c->timer);
	mp_list_remove(&c->merge->causes, &c->link);
	mp_free(c);
}

/* A cause that no server reported for one long interval is over. */
static void time_is_up(void *u)
{
	struct cause *c = u;

	write_cause(c);
	if (c->goes_on)
		mp_timer_start(&c->timer, MP_LOG_MERGE_LONG_MS);
	else
		log_merge_drop(c);
}

/* --- listening -------------------------------------------------------------------------------- */

static struct cause *log_merge_find(struct mp_log_merge *c, enum mp_level level, const char *words,
				    const char *key)
{
	MP_LIST_EACH(&c->causes, link) {
		struct cause *at = mp_container_of(link, struct cause, link);

		if (at->level == level && strcmp(at->words, words) == 0 &&
		    strcmp(at->key, key) == 0)
			return at;
	}
	return NULL;
}

static struct cause *log_merge_begin(struct mp_log_merge *c, enum mp_level level, const char *words,
				     const char *key)
{
	struct cause *cause = mp_alloc(sizeof(*cause));

	cause->merge = c;
	cause->level = level;
	cause->words = words;
	snprintf(cause->key, sizeof(cause->key), "%s", key);
	mp_timer_init(&cause->timer, c->loop, time_is_up, cause);
	mp_timer_start(&cause->timer, MP_LOG_MERGE_HOLD_MS);
	mp_list_append(&c->causes, &cause->link);
	return cause;
}

void mp_log_merge_say(struct mp_log_merge *c, const char *who, enum mp_level level,
		      const char *words, const char *text)
{
	char key[MP_LIMIT_EVENT_TEXT + 64];
	struct cause *cause;

	log_merge_generalize(text, key, sizeof(key));
	cause = log_merge_find(c, level, words, key);
	if (!cause && c->causes.len >= CAUSES) {
		write_one(who, level, words, text);
		return;
	}
	if (!cause)
		cause = log_merge_begin(c, level, words, key);
	if (cause->n < MP_LOG_MERGE_MIN - 1)
		snprintf(cause->text[cause->n], sizeof(cause->text[0]), "%s", text);
	cause->differ = cause->differ || !is_same_text(cause->text[0], text);
	if (cause->n < NAMES)
		snprintf(cause->who[cause->n], NAME, "%s", who);
	cause->n++;
}

static bool is_said_by(const struct cause *c, const char *who)
{
	for (size_t i = 0; i < c->n && i < NAMES; i++)
		if (strcmp(c->who[i], who) == 0)
			return true;
	return false;
}

void mp_log_merge_release(struct mp_log_merge *c, const char *who)
{
	MP_LIST_EACH(&c->causes, link) {
		struct cause *cause = mp_container_of(link, struct cause, link);

		if (cause->n < MP_LOG_MERGE_MIN && is_said_by(cause, who))
			write_cause(cause);
	}
}

struct mp_log_merge *mp_log_merge_new(struct mp_loop *loop)
{
	struct mp_log_merge *c = mp_alloc(sizeof(*c));

	c->loop = loop;
	mp_list_init(&c->causes);
	return c;
}

struct mp_log_merge *mp_log_merge_free(struct mp_log_merge *c)
{
	struct mp_link *link;

	if (!c)
		return NULL;
	while ((link = mp_list_first(&c->causes))) {
		struct cause *cause = mp_container_of(link, struct cause, link);

		write_cause(cause);
		log_merge_drop(cause);
	}
	return mp_free(c);
}
