/*
 * completion_names.c - what a word in capitals stands for on a command line: servers of the
 * configuration; tools, prompts and resources as they are listed or cached; keys of a tool's
 * schema. Nothing is started for it.
 */
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "cli/agents/agents.h"
#include "cli/completion/completion.h"
#include "cli/servers/catalogs.h"
#include "cli/servers/reach.h"
#include "cli/verbs/explanations.h"
#include "config/values/status_state.h"
#include "json/tape.h"
#include "json/value.h"
#include "store/secrets.h"

/* A list of fixed words, ends in NULL. */
static void add_words(struct mp_completion *c, const char *const *words)
{
	for (size_t i = 0; words[i]; i++)
		mp_completion_add(c, mp_str_of(words[i]), (struct mp_str){0});
}

/* --- what the configuration has -------------------------------------------------------------- */

static void add_servers(struct mp_completion *c)
{
	MP_CLEANUP(mp_configured_done) struct mp_configured all = {0};
	struct mp_cli_args args = {.verb = c->verb};

	if (mp_configured_load_copies(&all, &args))
		return;
	for (size_t i = 0; i < all.set->n; i++) {
		const struct mp_entry *e = all.set->entries[i];

		if (e->shadow == MP_SHADOW_NONE)
			mp_completion_add(c, mp_str_of(e->name), mp_str_of(e->origin.file));
	}
}

static void take_secret(void *u, const char *name, const char *place, int64_t saved_ms)
{
	(void)saved_ms;
	mp_completion_add(u, mp_str_of(name), mp_str_of(place));
}

static void add_secrets(struct mp_completion *c)
{
	MP_CLEANUP(mp_configured_done) struct mp_configured all = {0};
	MP_CLEANUP(mp_secrets_freep) struct mp_secrets *store = NULL;
	struct mp_cli_args args = {.verb = c->verb};
	struct mp_secrets_options o;

	if (mp_configured_load_copies(&all, &args))
		return;
	o = mp_settings_get_secrets(&all.set->settings);
	if (mp_secrets_open(&store, &o, NULL) < 0 ||
	    mp_secrets_list(store, c->typed, take_secret, c, NULL) < 0)
		return; /* there are no names to offer */
}

/* --- what the servers have ------------------------------------------------------------------- */

struct listing {
	struct mp_completion *c;
	const struct mp_configured *configured;
	enum mp_catalog_kind kind;
	const char *of; /* the tool or prompt whose keys are asked for; NULL: names */
	struct mp_reach *reach;
};

/* Nothing, if it is longer than what a line of a shell should get. */
static void add_value(struct mp_completion *c, struct mp_str key, struct mp_str value)
{
	char word[512];
	int n = snprintf(word, sizeof(word), "%.*s=%.*s", MP_STR_ARGS(key), MP_STR_ARGS(value));

	if (n > 0 && (size_t)n < sizeof(word))
		mp_completion_add(c, mp_str_of(word), (struct mp_str){0});
}

/* A text without its quotes, anything else as it is written. */
static struct mp_str get_plain(const struct mp_tape *t, mp_value value)
{
	struct mp_str source = mp_value_source(t, value);

	if (mp_value_is(t, value, MP_TAPE_STRING))
		source = (struct mp_str){source.p + 1, source.len - 2};
	return source;
}

/* The values that a schema names, or one of its alternatives. */
static void add_values(struct mp_completion *c, const struct mp_tape *t, struct mp_str key,
		       mp_value schema, int depth)
{
	static const char *const unions[] = {"anyOf", "oneOf", "allOf"};
	mp_value only = mp_value_get(t, schema, "const");

	MP_VALUE_EACH(t, mp_value_get(t, schema, "enum"), one)
		add_value(c, key, get_plain(t, one));
	if (only != MP_NONE)
		add_value(c, key, get_plain(t, only));
	if (mp_value_text_is(t, mp_value_get(t, schema, "type"), MP_STR("boolean"))) {
		add_value(c, key, MP_STR("true"));
		add_value(c, key, MP_STR("false"));
	}
	for (size_t i = 0; i < MP_ARRAY_LEN(unions) && depth < 4; i++)
		MP_VALUE_EACH(t, mp_value_get(t, schema, unions[i]), one)
			add_values(c, t, key, one, depth + 1);
}

/* "key=", and for what is typed behind it the values that the schema names. */
static void add_key(struct mp_completion *c, const struct mp_tape *t, mp_value key, mp_value about)
{
	char word[256];
	struct mp_str name = get_plain(t, key);

	if (name.len < 1 || name.len > 200)
		return;
	snprintf(word, sizeof(word), "%.*s=", MP_STR_ARGS(name));
	if (strncmp(c->typed, word, strlen(word)) == 0)
		add_values(c, t, name, mp_value_of(key), 0);
	else
		mp_completion_add(c, mp_str_of(word),
				  mp_value_is(t, about, MP_TAPE_STRING) ? get_plain(t, about)
									: MP_STR(""));
}

static bool is_given(const struct mp_completion *c, struct mp_str key)
{
	for (int i = 2; i + 1 < c->n; i++)
		if (strncmp(c->words[i], key.p, key.len) == 0 &&
		    strchr("=:", c->words[i][key.len]) && c->words[i][key.len])
			return true;
	return false;
}

/* Properties of a tool's schema, or the list of a prompt's arguments. */
static void add_keys(struct mp_completion *c, struct mp_str item)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	mp_value keys, list;

	mp_tape_init(&t, 0);
	if (mp_tape_parse(&t, item, NULL) < 0)
		return;
	keys = mp_value_get(&t, mp_value_get(&t, MP_ROOT, "inputSchema"), "properties");
	MP_VALUE_EACH(&t, keys, key) {
		struct mp_str name = mp_value_source(&t, key);

		if (name.len > 2 && !is_given(c, (struct mp_str){name.p + 1, name.len - 2}))
			add_key(c, &t, key, mp_value_get(&t, mp_value_of(key), "description"));
	}
	list = mp_value_get(&t, MP_ROOT, "arguments");
	MP_VALUE_EACH(&t, list, argument) {
		mp_value name = mp_value_get(&t, argument, "name");

		if (mp_value_is(&t, name, MP_TAPE_STRING))
			add_key(c, &t, name, mp_value_get(&t, argument, "description"));
	}
}

static struct mp_str about_item(const struct mp_catalog_item *item)
{
	return item->title.len ? item->title : item->description;
}

/* In this spelling, if it means this item and no other. */
static void listing_add_spelling(struct listing *l, const struct mp_names *names,
				 const struct mp_name *name, enum mp_spelling how)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	const struct mp_tool *tool = name->u;

	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	if (mp_spell(how, name->server, name->name, &text) < 0 ||
	    mp_str_eq(mp_buf_get(&text), name->public_name) ||
	    mp_names_find(names, mp_buf_get(&text), NULL) != name)
		return;
	mp_completion_add(l->c, mp_buf_get(&text), about_item(tool->item));
}

/* Public names, SERVER/TOOL, and the item's own name. */
static void listing_add_all(struct listing *l, const struct mp_names *names)
{
	static const enum mp_spelling others[] = {MP_SPELLING_SLASH, MP_SPELLING_BARE};

	for (size_t i = 0; i < mp_names_count(names); i++) {
		const struct mp_name *name = mp_names_get(names, i);
		const struct mp_tool *tool = name->u;

		mp_completion_add(l->c, name->public_name, about_item(tool->item));
	}
	for (size_t how = 0; how < MP_ARRAY_LEN(others); how++)
		for (size_t i = 0; i < mp_names_count(names); i++)
			listing_add_spelling(l, names, mp_names_get(names, i), others[how]);
}

static void listing_take_names(struct listing *l, const struct mp_status_list *servers)
{
	struct mp_tool_index b = {0};
	const struct mp_name *one;

	if (mp_tool_index_fill(&b, servers, l->kind, MP_TOOL_INDEX_PENDING | MP_TOOL_INDEX_FAILED,
			       l->configured) == 0) {
		one = l->of ? mp_names_find(b.names, mp_str_of(l->of), NULL) : NULL;
		if (!l->of)
			listing_add_all(l, b.names);
		if (one)
			add_keys(l->c, ((const struct mp_tool *)one->u)->item->json);
	}
	mp_tool_index_done(&b);
}

static void listing_take_uris(struct listing *l, const struct mp_status_list *servers)
{
	struct mp_index *index = NULL;

	if (mp_catalogs_make_index(servers, MP_TOOL_INDEX_PENDING | MP_TOOL_INDEX_FAILED, &index) <
	    0)
		return;
	for (size_t i = 0; i < index->n[MP_CATALOG_RESOURCE]; i++) {
		const struct mp_index_item *item = index->items[MP_CATALOG_RESOURCE][i];

		mp_completion_add(l->c, item->public_name, about_item(item->source));
	}
	mp_index_unref(index);
}

static void listing_take(void *u)
{
	struct listing *l = u;
	const struct mp_status_list *servers = mp_reach_get_servers(l->reach);

	if (servers && l->kind == MP_CATALOG_RESOURCE)
		listing_take_uris(l, servers);
	else if (servers)
		listing_take_names(l, servers);
	mp_reach_finish(l->reach, MP_EXIT_DONE);
}

static void listing_begin(struct mp_reach *r, void *u)
{
	static const struct mp_reach_look look = {.start = MP_REACH_START_NONE, .max_ms = 2000};
	struct listing *l = u;

	l->reach = r;
	mp_reach_look(r, &look, listing_take, l);
}

static void add_listed(struct mp_completion *c, enum mp_catalog_kind kind, const char *of)
{
	MP_CLEANUP(mp_configured_done) struct mp_configured all = {0};
	struct mp_cli_args args = {.verb = c->verb};
	struct mp_reach_options options = {.c = &all, .args = &args};
	struct listing l = {.c = c, .configured = &all, .kind = kind, .of = of};

	if (mp_configured_load_copies(&all, &args) == 0)
		(void)mp_reach_run(&options, listing_begin, &l);
}

/* --- each word ------------------------------------------------------------------------------- */

static bool is_verb(const struct mp_completion *c, const char *name)
{
	return strcmp(c->verb->name, name) == 0;
}

static void add_names(struct mp_completion *c)
{
	if (is_verb(c, "prompt"))
		add_listed(c, MP_CATALOG_PROMPT, NULL);
	else if (is_verb(c, "secret"))
		add_secrets(c);
	else if (!is_verb(c, "add") && !is_verb(c, "add-json") && !is_verb(c, "token"))
		add_servers(c);
}

static void add_call_keys(struct mp_completion *c)
{
	for (int i = 1; i + 1 < c->n; i++)
		if (c->words[i][0] != '-') {
			add_listed(c, is_verb(c, "prompt") ? MP_CATALOG_PROMPT : MP_CATALOG_TOOL,
				   c->words[i]);
			return;
		}
}

static void add_tools(struct mp_completion *c)
{
	add_listed(c, MP_CATALOG_TOOL, NULL);
}

static void add_resources(struct mp_completion *c)
{
	add_listed(c, MP_CATALOG_RESOURCE, NULL);
}

static void add_agents(struct mp_completion *c)
{
	for (size_t i = 0; i < mp_agents_n; i++)
		mp_completion_add(c, mp_str_of(mp_agents[i].name), mp_str_of(mp_agents[i].label));
}

static void add_codes(struct mp_completion *c)
{
	for (size_t i = 0; i < mp_explanation_count(); i++) {
		int code = mp_explanation_get(i)->code;

		mp_completion_add(c, mp_str_of(mcpool_error_word(code)),
				  mp_str_of(mcpool_error_text(code)));
	}
}

static void add_verbs(struct mp_completion *c)
{
	for (size_t i = 0; c->verbs[i]; i++)
		mp_completion_add(c, mp_str_of(c->verbs[i]->name), mp_str_of(c->verbs[i]->summary));
}

static void add_states(struct mp_completion *c)
{
	for (int s = 0; s < MP_STATUS_STATE_COUNT; s++)
		mp_completion_add(c, mp_str_of(mp_status_state_get_name((enum mp_status_state)s)),
				  (struct mp_str){0});
}

static void add_styles(struct mp_completion *c)
{
	const char *word;

	for (int i = 0; (word = mp_naming_get_word((enum mp_naming)i)); i++)
		mp_completion_add(c, mp_str_of(word), (struct mp_str){0});
}

static void add_eras(struct mp_completion *c)
{
	add_words(c, (const char *const[]){"auto", "legacy", "modern", NULL});
}

static void add_profiles(struct mp_completion *c)
{
	add_words(c, (const char *const[]){"default", "omp", "claude", "netdata", NULL});
}

static void add_files(struct mp_completion *c)
{
	if (mp_buf_add_str(&c->out, MP_STR(MP_COMPLETION_FILES "\n")) < 0)
		mp_buf_clear(&c->out);
}

void mp_completion_add_names(struct mp_completion *c, struct mp_str placeholder)
{
	static const struct {
		const char *word;
		void (*add)(struct mp_completion *c);
	} rows[] = {
		{"NAME", add_names},       {"TOOL", add_tools},
		{"URI", add_resources},    {"KEY=VALUE", add_call_keys},
		{"AGENT", add_agents},     {"CODE", add_codes},
		{"VERB", add_verbs},       {"STATE", add_states},
		{"STYLE", add_styles},     {"ERA", add_eras},
		{"PROFILE", add_profiles}, {"FILE", add_files},
		{"DIR", add_files},        {"FOLDER", add_files},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++)
		if (mp_str_eq(placeholder, mp_str_of(rows[i].word)))
			rows[i].add(c);
}
