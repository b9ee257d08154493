/*
 * prompts.c - the prompts of the demo server, one row each, and completion for their arguments.
 */
#include <stdio.h>

#include "demo/demo.h"

static const char *const styles[] = {"formal", "friendly", "pirate", NULL};
static const char *const names[] = {"Ada",   "Alan", "Barbara",  "Dennis", "Edsger",
				    "Grace", "Ken",  "Margaret", NULL};

static void write_greet(struct mp_writer *w, struct mp_demo_call *c);
static void write_review(struct mp_writer *w, struct mp_demo_call *c);

static const struct prompt {
	const char *name, *title, *description;
	void (*write)(struct mp_writer *w, struct mp_demo_call *c); /* the text of its message */
	struct mp_demo_param params[MP_DEMO_MAX_PARAMS];
} prompts[] = {
	{.name = "greet",
	 .title = "Greet",
	 .write = write_greet,
	 .description = "Asks for a greeting.",
	 .params = {{.name = "name", .required = true, .description = "who is greeted"},
		    {.name = "style", .description = "formal, friendly, pirate, ..."}}},
	{.name = "review",
	 .title = "Review",
	 .write = write_review,
	 .description = "Asks for a review of the conversation so far."},
};

/* What can be completed: the reference, its argument, the values there are. */
static const struct completion {
	const char *type, *key, *reference, *argument;
	const char *const *values;
} completions[] = {
	{"ref/prompt", "name", "greet", "name", names},
	{"ref/prompt", "name", "greet", "style", styles},
	{"ref/resource", "uri", MP_DEMO_GREETING, "name", names},
};

/* --- prompts/list, prompts/get ---------------------------------------------------------------- */

static void write_arguments(struct mp_writer *w, const struct mp_demo_param *params)
{
	mp_write_key(w, MP_STR("arguments"));
	mp_write_begin_array(w);
	for (int i = 0; i < MP_DEMO_MAX_PARAMS && params[i].name; i++) {
		mp_write_begin_object(w);
		mp_write_member_text(w, "name", mp_str_of(params[i].name));
		mp_write_member_text(w, "description", mp_str_of(params[i].description));
		mp_write_member_bool(w, "required", params[i].required);
		mp_write_end_object(w);
	}
	mp_write_end_array(w);
}

void mp_demo_prompts_list(struct mp_demo_call *c)
{
	struct mp_writer *w = mp_demo_begin(c);

	mp_write_key(w, MP_STR("prompts"));
	mp_write_begin_array(w);
	for (const struct prompt *p = prompts; p < prompts + MP_ARRAY_LEN(prompts); p++) {
		mp_write_begin_object(w);
		mp_write_member_text(w, "name", mp_str_of(p->name));
		mp_write_member_text(w, "title", mp_str_of(p->title));
		mp_write_member_text(w, "description", mp_str_of(p->description));
		if (p->params[0].name)
			write_arguments(w, p->params);
		mp_write_end_object(w);
	}
	mp_write_end_array(w);
	mp_demo_end_cached(c, MP_DEMO_TTL_MS);
}

static const struct prompt *find(const struct mp_demo *d, mp_value name)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(prompts); i++)
		if (mp_value_text_is(&d->tape, name, mp_str_of(prompts[i].name)))
			return &prompts[i];
	return NULL;
}

static void write_greet(struct mp_writer *w, struct mp_demo_call *c)
{
	struct mp_str name = c->args[0].text;
	struct mp_str style = c->args[1].given ? c->args[1].text : MP_STR("friendly");
	char text[1024];

	/* Long ones are cut, and half a character becomes U+FFFD. */
	snprintf(text, sizeof(text), "Write a %.*s greeting for %.*s.",
		 style.len < 400 ? (int)style.len : 400, style.p,
		 name.len < 400 ? (int)name.len : 400, name.p);
	mp_write_text(w, mp_str_of(text));
}

static void write_review(struct mp_writer *w, struct mp_demo_call *c)
{
	(void)c;
	mp_write_text(w, MP_STR("Review what we have done so far, and say what is missing."));
}

void mp_demo_prompts_get(struct mp_demo_call *c)
{
	const struct prompt *p = find(c->demo, c->message->subject);
	struct mcpool_error e;
	struct mp_writer *w;

	if (!p) {
		mp_demo_fail(c, MP_DEMO_INVALID_PARAMS, "there is no such prompt");
		return;
	}
	if (mp_demo_params_read(c, p->params, &e) < 0) {
		mp_demo_fail(c, MP_DEMO_INVALID_PARAMS, "%s: %s", p->name, e.message);
		return;
	}
	w = mp_demo_begin(c);
	mp_write_member_text(w, "description", mp_str_of(p->description));
	mp_write_key(w, MP_STR("messages"));
	mp_write_begin_array(w);
	mp_write_begin_object(w);
	mp_write_member_text(w, "role", MP_STR("user"));
	mp_write_key(w, MP_STR("content"));
	mp_write_begin_object(w);
	mp_write_member_text(w, "type", MP_STR("text"));
	mp_write_key(w, MP_STR("text"));
	p->write(w, c);
	mp_write_end_object(w);
	mp_write_end_object(w);
	mp_write_end_array(w);
	mp_demo_end(c);
}

/* --- completion/complete ---------------------------------------------------------------------- */

static bool begins(const char *value, struct mp_str with)
{
	struct mp_str s = mp_str_of(value);

	return s.len >= with.len && mp_str_eq_nocase((struct mp_str){s.p, with.len}, with);
}

/* The row, or NULL where nothing is known of this argument. */
static const struct completion *find_completion(const struct mp_message *m)
{
	mp_value ref = mp_value_get(m->tape, m->params, "ref");
	mp_value argument = mp_value_get(m->tape, m->params, "argument");
	mp_value name = mp_value_get(m->tape, argument, "name");

	for (size_t i = 0; i < MP_ARRAY_LEN(completions); i++) {
		const struct completion *row = &completions[i];

		if (mp_value_text_is(m->tape, mp_value_get(m->tape, ref, "type"),
				     mp_str_of(row->type)) &&
		    mp_value_text_is(m->tape, mp_value_get(m->tape, ref, row->key),
				     mp_str_of(row->reference)) &&
		    mp_value_text_is(m->tape, name, mp_str_of(row->argument)))
			return row;
	}
	return NULL;
}

void mp_demo_complete(struct mp_demo_call *c)
{
	const struct mp_message *m = c->message;
	const struct completion *row = find_completion(m);
	mp_value argument = mp_value_get(m->tape, m->params, "argument");
	struct mp_str typed = {0};
	struct mp_writer *w;
	int64_t total = 0;

	if (!row || mp_value_text(m->tape, mp_value_get(m->tape, argument, "value"),
				  &c->demo->arena, &typed) < 0) {
		mp_demo_fail(c, MP_DEMO_INVALID_PARAMS,
			     "nothing to complete: ref names no prompt or template of ours, or "
			     "argument has no name and value that fit it");
		return;
	}
	w = mp_demo_begin(c);
	mp_write_key(w, MP_STR("completion"));
	mp_write_begin_object(w);
	mp_write_key(w, MP_STR("values"));
	mp_write_begin_array(w);
	for (const char *const *value = row->values; *value; value++) {
		if (!begins(*value, typed))
			continue;
		mp_write_text(w, mp_str_of(*value));
		total++;
	}
	mp_write_end_array(w);
	mp_write_member_i64(w, "total", total);
	mp_write_member_bool(w, "hasMore", false);
	mp_write_end_object(w);
	mp_demo_end(c);
}
