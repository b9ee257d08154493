/*
 * behaviours.c - the list: what every server is asked for, whatever way leads to it.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "behave.h"
#include "../unit/heap_pool_call.h"
#include "pool/status.h"

static bool contains(struct mp_str text, const char *words)
{
	return mp_str_find(text, mp_str_of(words), 0) >= 0;
}

/* --- calls ----------------------------------------------------------------------------------- */

typedef void (*then)(struct actor *a, struct mp_str result);

struct call {
	struct actor *a;
	const struct behaviour *of;
	then next;
};

/* Only an answer with a result is what most of them want. */
static void answered(const struct mp_pool_answer *answer, void *u)
{
	struct call c = *(struct call *)u;
	struct mp_str result = {"", 0};

	free(u);
	if (c.a->now != c.of)
		return; /* it was too late */
	c.a->call = 0;
	if (answer->outcome != MP_OUTCOME_ANSWERED) {
		behave_failed(c.a, "%s: %s", mp_outcome_get_name(answer->outcome),
			      answer->error->message);
	} else if (answer->message && answer->message->kind != MP_MESSAGE_RESULT) {
		result = mp_value_source(answer->message->tape, answer->message->error);
		behave_failed(c.a, "it answered %.*s", MP_STR_ARGS(result));
	} else {
		if (answer->message)
			result = mp_value_source(answer->message->tape, answer->message->result);
		c.next(c.a, result);
	}
}

static void progressed(const struct mp_message *m, void *u)
{
	struct call *c = u;

	(void)m;
	c->a->progressed++;
}

static void send(struct actor *a, enum mp_method_id method, const char *params,
		 heap_pool_call_fn fn, struct call *c)
{
	struct mp_pool_call_options rq = {
		.server = a->name,
		.session = 1,
		.call.method = method,
		.call.params = mp_str_of(params),
		.tool = method == MP_METHOD_TOOLS_CALL ? MP_STR("any") : MP_STR(""),
	};
	struct mcpool_error why;

	if (heap_pool_call_with(a->suite->hub->workspace, &rq, fn, progressed, c, &a->call, &why) <
	    0) {
		free(c);
		behave_failed(a, "not taken: %s", why.message);
	}
}

static struct call *new_call(struct actor *a, then next)
{
	struct call *c = calloc(1, sizeof(*c));

	*c = (struct call){a, a->now, next};
	return c;
}

static void ask(struct actor *a, enum mp_method_id method, const char *params, then next)
{
	send(a, method, params, answered, new_call(a, next));
}

static void expect(struct actor *a, struct mp_str result, const char *words)
{
	if (contains(result, words))
		behave_ok(a);
	else
		behave_failed(a, "no '%s' in %.300s", words, result.p);
}

/* --- list, call, read, prompt, completion ---------------------------------------------------- */

static const struct mp_catalog_list *get_list(struct actor *a, enum mp_catalog_kind kind)
{
	return a->in->catalog.last ? &a->in->catalog.last->lists[kind]->list : NULL;
}

static bool lists(struct actor *a, enum mp_catalog_kind kind, const char *name)
{
	const struct mp_catalog_list *l = get_list(a, kind);

	return l && mp_catalog_find(l, mp_str_of(name));
}

static void acquired(const struct mp_pool_answer *answer, void *u)
{
	struct actor *a = u;
	mp_id call = a->call;

	a->call = 0;
	if (answer->outcome == MP_OUTCOME_CANCELLED)
		return;
	if (answer->outcome != MP_OUTCOME_ANSWERED)
		behave_failed(a, "%s", answer->error->message);
	else if (!lists(a, MP_CATALOG_TOOL, a->kind->tool) ||
		 !lists(a, MP_CATALOG_RESOURCE, a->kind->resource) ||
		 !lists(a, MP_CATALOG_PROMPT, a->kind->prompt))
		behave_failed(a, "%s, %s or %s is missing", a->kind->tool, a->kind->resource,
			      a->kind->prompt);
	else
		behave_ok(a);
	heap_pool_cancel(call);
}

static void list(struct actor *a)
{
	struct mcpool_error why;

	if (heap_pool_acquire(a->suite->hub->workspace, a->name, 1, acquired, a, &a->call, &why) <
	    0)
		behave_failed(a, "%s", why.message);
}

static void called(struct actor *a, struct mp_str result)
{
	expect(a, result, a->kind->called);
}

static void call(struct actor *a)
{
	ask(a, MP_METHOD_TOOLS_CALL, a->kind->call, called);
}

static void was_read(struct actor *a, struct mp_str result)
{
	expect(a, result, a->kind->content);
}

static void read_it(struct actor *a)
{
	ask(a, MP_METHOD_RESOURCES_READ, a->kind->read, was_read);
}

static void got(struct actor *a, struct mp_str result)
{
	expect(a, result, a->kind->got);
}

static void prompt(struct actor *a)
{
	ask(a, MP_METHOD_PROMPTS_GET, a->kind->get, got);
}

static void completed(struct actor *a, struct mp_str result)
{
	expect(a, result, a->kind->completed);
}

static void complete(struct actor *a)
{
	ask(a, MP_METHOD_COMPLETE, a->kind->complete, completed);
}

/* --- progress and cancel --------------------------------------------------------------------- */

static void slept(struct actor *a, struct mp_str result)
{
	if (a->progressed < 2)
		behave_failed(a, "progress was told %u times", a->progressed);
	else
		expect(a, result, a->kind->slept);
}

static void progress(struct actor *a)
{
	ask(a, MP_METHOD_TOOLS_CALL, a->kind->slow, slept);
}

static void cancelled(const struct mp_pool_answer *answer, void *u)
{
	struct call c = *(struct call *)u;

	free(u);
	if (c.a->now != c.of)
		return;
	c.a->call = 0;
	if (answer->outcome != MP_OUTCOME_CANCELLED)
		behave_failed(c.a, "it ended as %s", mp_outcome_get_name(answer->outcome));
	else
		c.a->step = 2;
}

static void cancel(struct actor *a)
{
	send(a, MP_METHOD_TOOLS_CALL, a->kind->endless, cancelled, new_call(a, NULL));
}

static void still_works(struct actor *a, struct mp_str result)
{
	if (!a->kind->notes && contains(result, a->kind->called))
		behave_unseen(a, "whether it stopped");
	else
		expect(a, result, a->kind->called);
}

/* Once it works on it; then it must notice, and be there for the next. */
static void look_at_cancel(struct actor *a)
{
	if (a->step == 0 && a->progressed) {
		a->step = 1;
		heap_pool_cancel(a->call);
	} else if (a->step == 2 &&
		   (!a->kind->notes || behave_has_file(a, "notes", "slow cancelled"))) {
		a->step = 3;
		ask(a, MP_METHOD_TOOLS_CALL, a->kind->call, still_works);
	}
}

/* --- news ------------------------------------------------------------------------------------ */

static void nothing_more(struct actor *a, struct mp_str result)
{
	(void)a;
	(void)result;
}

static bool has_new(struct actor *a)
{
	const struct mp_catalog_list *l = get_list(a, a->kind->changes);

	for (size_t i = 0; l && l->n > a->before && i < l->n; i++)
		if (mp_str_starts(l->items[i].name, mp_str_of(a->kind->changed)))
			return true;
	return false;
}

static void change(struct actor *a)
{
	const struct mp_catalog_list *l = get_list(a, a->kind->changes);

	a->before = l ? l->n : 0;
	ask(a, MP_METHOD_TOOLS_CALL, a->kind->change, nothing_more);
}

static void look_at_change(struct actor *a)
{
	if (a->call == 0 && has_new(a))
		behave_ok(a);
}

static void subscribed(struct actor *a, struct mp_str result)
{
	(void)result;
	a->step = 1;
	ask(a, MP_METHOD_TOOLS_CALL, a->kind->touch, nothing_more);
}

/* A modern server is listened to for as long as one wants to know. */
static void listen_ended(const struct mp_pool_answer *answer, void *u)
{
	struct actor *a = u;

	a->listening = 0;
	if (a->step < 2)
		behave_failed(a, "listening ended: %s", mp_outcome_get_name(answer->outcome));
}

static void subscribe(struct actor *a)
{
	struct mp_pool_call_options rq = {
		.server = a->name, .session = 1, .call.method = MP_METHOD_LISTEN};
	struct mcpool_error why;
	char params[300];

	if (behave_hello(a)->era == MP_ERA_LEGACY) {
		snprintf(params, sizeof(params), "{\"uri\":\"%s\"}", a->kind->uri);
		ask(a, MP_METHOD_RESOURCES_SUBSCRIBE, params, subscribed);
		return;
	}
	snprintf(params, sizeof(params), "{\"notifications\":{\"resourceSubscriptions\":[\"%s\"]}}",
		 a->kind->uri);
	rq.call.params = mp_str_of(params);
	if (heap_pool_call(a->suite->hub->workspace, &rq, listen_ended, a, &a->listening, &why) < 0)
		behave_failed(a, "%s", why.message);
}

static void look_at_subscribe(struct actor *a)
{
	if (a->step == 0 && a->listening && behave_has_heard(a, "acknowledged", a->kind->uri))
		subscribed(a, MP_STR(""));
	if (a->step != 1 || a->call || !behave_has_heard(a, "resources/updated", a->kind->uri))
		return;
	a->step = 2;
	if (a->listening)
		heap_pool_cancel(a->listening);
	behave_ok(a);
}

static void level_is_set(struct actor *a, struct mp_str result)
{
	(void)result;
	ask(a, MP_METHOD_TOOLS_CALL, a->kind->log, nothing_more);
}

/* A modern server was told with every request. */
static void logging(struct actor *a)
{
	if (behave_hello(a)->era == MP_ERA_LEGACY)
		ask(a, MP_METHOD_SET_LEVEL, "{\"level\":\"debug\"}", level_is_set);
	else
		level_is_set(a, MP_STR(""));
}

static void look_at_logging(struct actor *a)
{
	if (a->call == 0 && behave_has_heard(a, "notifications/message", "\"level\""))
		behave_ok(a);
}

/* --- a restart in between -------------------------------------------------------------------- */

enum { GOOD_CALLS = 3 };

static void call_again(struct actor *a);

/* What was documented may happen meanwhile: nothing else, and no wrong answer. */
static void ended_meanwhile(const struct mp_pool_answer *answer, void *u)
{
	struct call c = *(struct call *)u;
	struct actor *a = c.a;
	struct mp_str result = {"", 0};

	free(u);
	if (a->now != c.of)
		return;
	a->call = 0;
	a->by_outcome[answer->outcome]++;
	if (answer->outcome != MP_OUTCOME_ANSWERED) {
		a->good = 0;
		if (strncmp(answer->error->message, "MCP error: ", 11) != 0)
			behave_failed(a, "strange words: %s", answer->error->message);
		return;
	}
	result = mp_value_source(answer->message->tape, answer->message->kind == MP_MESSAGE_RESULT
								? answer->message->result
								: answer->message->error);
	if (!contains(result, a->kind->called))
		behave_failed(a, "it answered %.*s", MP_STR_ARGS(result));
	else
		a->good += a->is_back;
}

static void call_again(struct actor *a)
{
	a->calls++;
	send(a, MP_METHOD_TOOLS_CALL, a->kind->call, ended_meanwhile, new_call(a, NULL));
}

/* The call that it dies on has an unknown fate. */
static void ended_by_death(const struct mp_pool_answer *answer, void *u)
{
	struct call c = *(struct call *)u;

	free(u);
	if (c.a->now != c.of)
		return;
	c.a->listening = 0;
	if (answer->outcome != MP_OUTCOME_UNKNOWN)
		behave_failed(c.a, "what it worked on when it died ended as %s",
			      mp_outcome_get_name(answer->outcome));
}

static void restart(struct actor *a)
{
	send(a, MP_METHOD_TOOLS_CALL, a->kind->endless, ended_by_death, new_call(a, NULL));
	a->listening = a->call;
	a->call = 0;
}

static void kill_it(struct actor *a)
{
	struct mp_arena texts;
	struct mp_status status;
	size_t i = (size_t)mp_workspace_find(a->suite->hub->workspace, a->name);

	mp_arena_init(&texts, MP_MIB(1));
	mp_status_take(a->suite->hub->workspace, i, 1, &texts, &status);
	mp_arena_done(&texts);
	a->pid = (pid_t)status.pid;
	a->step = 1;
	if (a->is_process) {
		kill(a->pid, SIGKILL);
		return;
	}
	printf("%s restart please\n", a->name);
	fflush(stdout);
}

static bool is_back(struct actor *a)
{
	int pid = mp_keeper_get_pid(a->in->k);

	return a->is_process ? pid && pid != a->pid : behave_has_file(a, "again", "");
}

static void look_at_restart(struct actor *a)
{
	if (a->step == 0 && a->progressed)
		kill_it(a);
	if (a->step == 0 || a->call)
		return;
	if (!a->is_back)
		a->is_back = is_back(a);
	if (a->good >= GOOD_CALLS && !a->listening)
		behave_ok(a);
	else
		call_again(a);
}

/* --- all ------------------------------------------------------------------------------------- */

const struct behaviour behaviours[] = {
	{"list", 0, list, NULL},
	{"call", 0, call, NULL},
	{"progress", 0, progress, NULL},
	{"cancel", 0, cancel, look_at_cancel},
	{"restart", 0, restart, look_at_restart},
	{"list_changed", MP_OFFERS_TOOLS_CHANGES | MP_OFFERS_RESOURCES_CHANGES, change,
	 look_at_change},
	{"read", MP_OFFERS_RESOURCES, read_it, NULL},
	{"subscribe", MP_OFFERS_SUBSCRIBE, subscribe, look_at_subscribe},
	{"prompt", MP_OFFERS_PROMPTS, prompt, NULL},
	{"completion", MP_OFFERS_COMPLETIONS, complete, NULL},
	{"logging", MP_OFFERS_LOGGING, logging, look_at_logging},
	{NULL, 0, NULL, NULL},
};
