/*
 * command.c - which commands were run, and what came of them.
 * A run is found by its key and shared by everyone who asks meanwhile; the first one does the work
 * without the lock. capture.c runs it.
 */
#include "config/values/command.h"

#include <inttypes.h>
#include <pthread.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/secrets.h"
#include "process/capture.h"

/* Sessions bring environments of their own, so there are many keys; the oldest are run again. */
#define MOST_RUNS 1024

enum state {
	UNKNOWN, /* never run, or not to an end that says anything about the command */
	RUNNING,
	GOOD,
	BAD,
};

struct run {
	enum state state;
	unsigned users;       /* threads that hold a pointer to it */
	struct mp_buf output; /* GOOD */
	int64_t ended_at;     /* GOOD, BAD */
	struct mcpool_error error;
};

struct mp_commands {
	pthread_mutex_t lock;   /* guards all that follows */
	pthread_cond_t changed; /* some run is no longer RUNNING */
	struct mp_map runs;     /* owned */
	int64_t timeout_ms;
};

/* --- runs ----------------------------------------------------------------------------------- */

/* What it printed before is forgotten. */
static void clear_run(struct run *run)
{
	if (run->state == GOOD)
		mp_secret_remove(mp_buf_get(&run->output));
	if (run->output.data)
		mp_wipe(run->output.data, run->output.cap);
	mp_buf_clear(&run->output);
}

static struct run *free_run(struct run *r)
{
	clear_run(r);
	mp_buf_done(&r->output);
	return mp_free(r);
}

static void make_room(struct mp_commands *c)
{
	const struct mp_map_entry *entry;
	size_t cursor = 0;

	while (c->runs.len >= MOST_RUNS && (entry = mp_map_next(&c->runs, &cursor))) {
		struct run *r = entry->value;

		if (r->users > 0)
			continue;
		mp_map_remove(&c->runs, entry->key);
		free_run(r);
	}
}

static int find_run(struct mp_commands *c, struct mp_str key, struct run **ret_run)
{
	struct run *run = mp_map_get(&c->runs, key);
	int r;

	if (!run) {
		make_room(c);
		run = mp_alloc(sizeof(*run));
		mp_buf_init(&run->output, MP_CAPTURE_MAX);
		r = mp_map_set(&c->runs, key, run);
		if (r < 0) {
			free_run(run);
			return r;
		}
	}
	*ret_run = run;
	return 0;
}

/*
 * A sum, so that the order of variables does not count. The hash is keyed, so collisions cannot be
 * chosen.
 */
static uint64_t hash_env(char *const *env)
{
	uint64_t sum = 0;

	for (; env && *env; env++)
		sum += mp_hash(mp_str_of(*env));
	return sum;
}

static int make_key(struct mp_buf *key, const char *command, const char *folder, char *const *env)
{
	int r = mp_buf_addf(key, "%016" PRIx64 " ", hash_env(env));

	if (r == 0)
		r = mp_buf_add(key, command, strlen(command) + 1); /* with its NUL, which ends it */
	if (r == 0 && folder)
		r = mp_buf_add_str(key, mp_str_of(folder));
	return r;
}

/* --- running -------------------------------------------------------------------------------- */

static bool is_its_fault(int code)
{
	return code == MCPOOL_EIO || code == MCPOOL_ETIMEDOUT || code == MCPOOL_ELIMIT;
}

/* Without the lock: the run is RUNNING, so no other thread touches it. */
static int do_run(struct mp_commands *c, struct run *run, const char *command, const char *folder,
		  char *const *env)
{
	char *argv[] = {"/bin/sh", "-c", (char *)(uintptr_t)command, NULL};
	int r = mp_capture_run(argv, folder, env, c->timeout_ms, &run->output, &run->error);

	if (r < 0)
		return r;
	r = mp_secret_add(mp_buf_get(&run->output));
	if (r < 0) { /* what cannot be hidden is not handed out, and not remembered */
		mp_wipe(run->output.data, run->output.cap);
		mp_buf_clear(&run->output);
		mp_fail(&run->error, MCPOOL_ENOMEM, "what a command printed cannot be hidden: %s",
			mcpool_error_text(r));
	}
	return r < 0 ? MCPOOL_ENOMEM : 0;
}

static void command_lead(struct mp_commands *c, struct run *run, const char *command,
			 const char *folder, char *const *env, int64_t now_ms)
{
	int r;

	clear_run(run);
	run->state = RUNNING;
	pthread_mutex_unlock(&c->lock);
	r = do_run(c, run, command, folder, env);
	pthread_mutex_lock(&c->lock);
	run->state = r == 0 ? GOOD : is_its_fault(r) ? BAD : UNKNOWN;
	run->ended_at = now_ms;
	pthread_cond_broadcast(&c->changed);
}

static bool must_run(const struct run *run, int64_t now_ms, int64_t max_age_ms)
{
	int64_t age_ms = now_ms - run->ended_at;

	return run->state == UNKNOWN || (run->state == BAD && age_ms >= MP_COMMAND_FAILURE_MS) ||
	       (run->state == GOOD && max_age_ms && age_ms >= max_age_ms);
}

static int hand_out(const struct run *run, struct mp_buf *out, struct mcpool_error *reterr)
{
	int r;

	if (run->state == GOOD) {
		r = mp_buf_add_str(out, mp_buf_get(&run->output));
		return r < 0 ? mp_fail(reterr, r, "no room for what a command printed") : 0;
	}
	if (reterr)
		*reterr = run->error;
	return run->error.code;
}

int mp_commands_run(struct mp_commands *c, const char *command, const char *folder,
		    char *const *env, int64_t now_ms, int64_t max_age_ms, struct mp_buf *out,
		    struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf key;
	struct run *run;
	int r;

	mp_buf_init(&key, MP_LIMIT_CONFIG_FILE);
	r = make_key(&key, command, folder, env);
	if (r < 0)
		return mp_fail(reterr, r, "a command is too long");
	pthread_mutex_lock(&c->lock);
	r = find_run(c, mp_buf_get(&key), &run);
	if (r < 0) {
		mp_fail(reterr, r, "no room for one more command");
	} else {
		run->users++;
		if (must_run(run, now_ms, max_age_ms))
			command_lead(c, run, command, folder, env, now_ms);
		while (run->state == RUNNING)
			pthread_cond_wait(&c->changed, &c->lock);
		r = hand_out(run, out, reterr);
		run->users--;
	}
	pthread_mutex_unlock(&c->lock);
	return r;
}

/* --- life ----------------------------------------------------------------------------------- */

int64_t mp_commands_set_timeout(struct mp_commands *c, int64_t ms)
{
	int64_t before = c->timeout_ms;

	c->timeout_ms = ms;
	return before;
}

struct mp_commands *mp_commands_new(void)
{
	struct mp_commands *c = mp_alloc(sizeof(*c));

	pthread_mutex_init(&c->lock, NULL);
	pthread_cond_init(&c->changed, NULL);
	mp_map_init(&c->runs, (size_t)2 * MOST_RUNS);
	c->timeout_ms = MP_COMMAND_TIMEOUT_MS;
	return c;
}

struct mp_commands *mp_commands_free(struct mp_commands *c)
{
	const struct mp_map_entry *entry;
	size_t cursor = 0;

	if (!c)
		return NULL;
	while ((entry = mp_map_next(&c->runs, &cursor))) {
		struct run *run = entry->value;

		mp_check(run->users == 0);
		free_run(run);
	}
	mp_map_done(&c->runs);
	pthread_cond_destroy(&c->changed);
	pthread_mutex_destroy(&c->lock);
	return mp_free(c);
}
