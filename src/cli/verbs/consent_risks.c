/*
 * consent_risks.c - what an approval would allow that deserves a second look, in plain words.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/verbs/consent.h"
#include "net/url.h"

struct risks {
	struct mp_writer *w;
	const struct mp_configured *c;
	const struct mp_entry *e;
	char names[512]; /* of variables, as far as they fit */
};

static void risk_write(struct risks *r, const char *what, const char *detail)
{
	mp_write_begin_object(r->w);
	mp_write_member_text(r->w, "what", mp_str_of(what));
	mp_write_member_text(r->w, "detail", mp_str_of(detail));
	mp_write_end_object(r->w);
}

static void names_add(void *u, struct mp_str name)
{
	struct risks *r = u;
	size_t len = strlen(r->names), room = sizeof(r->names) - len;

	if (name.len + 3 < room)
		snprintf(r->names + len, room, "%s%.*s", len ? ", " : "", MP_STR_ARGS(name));
}

static void risk_of_secrets(struct risks *r)
{
	char detail[640];

	r->names[0] = '\0';
	if (mp_consent_each_secret(r->e, names_add, r) == 0 && r->names[0]) {
		snprintf(detail, sizeof(detail), "%s from your secrets.", r->names);
		risk_write(r, "It gets secrets of yours", detail);
	}
	r->names[0] = '\0';
	if (mp_consent_each_variable(r->c, r->e, names_add, r) == 0 && r->names[0]) {
		snprintf(detail, sizeof(detail), "%s from your environment.", r->names);
		risk_write(r, "It reads variables of yours", detail);
	}
}

/* "name@1.2.3" or "@scope/name@1.2.3": a version that begins with a digit and is whole. */
static bool package_is_fixed(const char *word)
{
	const char *at = strrchr(word, '@');

	return at && at != word && at[1] >= '0' && at[1] <= '9' && strchr(at + 1, '.');
}

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool is_one_of(const char *word, const char *const *words)
{
	for (; *words; words++)
		if (strcmp(word, *words) == 0)
			return true;
	return false;
}

/* The package that npx or its like would fetch; NULL: none. */
static const char *find_package(const struct mp_entry *e)
{
	static const char *const runners[] = {"npx", "bunx", "pnpx", "uvx", "pipx",
					      "npm", "pnpm", "yarn", "bun", NULL};
	static const char *const verbs[] = {"exec", "dlx", "x", "run", "tool", NULL};

	if (e->argc < 2 || !is_one_of(name_of(e->argv[0]), runners))
		return NULL;
	for (size_t i = 1; i < e->argc; i++)
		if (e->argv[i][0] != '-' && !is_one_of(e->argv[i], verbs))
			return e->argv[i];
	return NULL;
}

static void risk_of_code(struct risks *r)
{
	static const char *const shells[] = {"sh", "bash", "zsh", "dash", "fish", NULL};
	const char *package = find_package(r->e);
	char detail[400];

	if (package && !package_is_fixed(package)) {
		snprintf(detail, sizeof(detail), "%.300s is whatever is published that day.",
			 package);
		risk_write(r, "It may download other code at every start", detail);
	}
	if (r->e->argc > 2 && is_one_of(name_of(r->e->argv[0]), shells) &&
	    strcmp(r->e->argv[1], "-c") == 0)
		risk_write(r, "A shell interprets its command",
			   "What is written there can run any program.");
	if (r->e->scripts[0])
		risk_write(r, "It runs or reads files of this project",
			   "They are covered by your yes; what they load in turn is not.");
	else if (r->e->folders[0])
		risk_write(r, "It may read a folder of this project",
			   "Files in it are not covered by your yes.");
}

static bool map_has_command(const struct risks *r, const struct mp_bind_map *map)
{
	for (size_t i = 0; i < map->n; i++)
		if (mp_consent_is_command(r->c, r->e, map->items[i].value))
			return true;
	return false;
}

static void risk_of_commands(struct risks *r)
{
	if (map_has_command(r, &r->e->env) || map_has_command(r, &r->e->headers))
		risk_write(r, "It runs commands for its values",
			   "Values that begin with ! are the output of a command.");
}

static void risk_of_address(struct risks *r)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mp_url url;

	mp_arena_init(&arena, MP_KIB(64));
	if (r->e->address && mp_url_read(r->e->address, &arena, &url) == 0 && !mp_url_is_safe(&url))
		risk_write(r, "It talks to another machine without TLS",
			   "Others on the way can read and change what is sent.");
}

void mp_consent_write_risks(struct mp_writer *w, const struct mp_configured *c,
			    const struct mp_consent *x)
{
	struct risks r = {.w = w, .c = c, .e = x->entry};

	mp_write_key(w, MP_STR("risks"));
	mp_write_begin_array(w);
	if (x->entry) {
		risk_of_secrets(&r);
		risk_of_code(&r);
		risk_of_commands(&r);
		risk_of_address(&r);
	}
	mp_write_end_array(w);
}
