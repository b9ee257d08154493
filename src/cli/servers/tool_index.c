/*
 * tool_index.c - the tools of all servers, by public name.
 */
#include "cli/servers/tool_index.h"

#include <string.h>
#include <strings.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/similar.h"
#include "cli/display/cli.h"
#include "config/values/filter.h"
#include "session/held.h"

/* --- filling --------------------------------------------------------------------------------- */

struct mp_server_catalog *mp_tool_index_get_catalog(const struct mp_status *status, unsigned which)
{
	switch (status->state) {
	case MP_STATUS_CONNECTED:
	case MP_STATUS_READY:
		return status->catalog;
	case MP_STATUS_PENDING:
		return which & MP_TOOL_INDEX_PENDING ? status->catalog : NULL;
	case MP_STATUS_FAILED: /* it has no tools now, whatever is cached */
		return which & MP_TOOL_INDEX_FAILED ? status->catalog : NULL;
	case MP_STATUS_DISABLED:
	case MP_STATUS_NEEDS_APPROVAL:
	case MP_STATUS_NEEDS_AUTH:
	case MP_STATUS_SHADOWED:
	case MP_STATUS_STATE_COUNT:
		break;
	}
	return NULL;
}

static bool is_wanted(const struct mp_tool_index *b, const struct mp_status *status,
		      struct mp_str name, unsigned which)
{
	if (b->kind != MP_CATALOG_TOOL)
		return !(which & MP_TOOL_INDEX_HIDDEN);
	return mp_filter_lets_pass(&status->tools_allowed, &status->tools_denied, name) ==
	       !(which & MP_TOOL_INDEX_HIDDEN);
}

static int add_tools(struct mp_tool_index *b, const struct mp_status *status, unsigned which,
		     struct mp_tool **next)
{
	const struct mp_server_catalog *catalog = mp_tool_index_get_catalog(status, which);
	const struct mp_catalog_list *l = catalog ? &catalog->lists[b->kind]->list : NULL;
	bool is_live = catalog && !catalog->saved_ms && status->state == MP_STATUS_CONNECTED;
	int r = 0;

	if (!l)
		return 0;
	for (size_t i = 0; i < l->n && r == 0; i++) {
		struct mp_tool *tool = *next;

		if (!is_wanted(b, status, l->items[i].name, which))
			continue;
		*tool = (struct mp_tool){&l->items[i], status, is_live};
		r = mp_names_add(b->names, mp_str_of(status->name), l->items[i].name, tool);
		if (r == 0)
			(*next)++;
		if (r == MCPOOL_EEXIST) /* a duplicate tool: the first one counts */
			r = 0;
	}
	return r;
}

/* With the names that a new session would get. */
static int tool_index_finish(struct mp_tool_index *b, const struct mp_status_list *servers,
			     const struct mp_configured *c)
{
	const char **names = mp_alloc((servers->n + 1) * sizeof(char *));
	struct mp_names_rules rules = {.servers = names, .n_servers = servers->n};
	struct mp_held held;
	int r;

	for (size_t i = 0; i < servers->n; i++)
		names[i] = servers->items[i].name;
	mp_held_init(&held, c ? c->db : NULL, c ? mp_held_get_root(c->set) : "",
		     (enum mp_naming)servers->naming, (int)b->kind);
	held.servers = names;
	held.n_servers = servers->n;
	rules.get_holder = mp_held_get_holder;
	rules.u = &held;
	mp_names_set_rules(b->names, &rules);
	r = mp_names_finish(b->names);
	mp_held_done(&held);
	mp_free(names);
	return r;
}

int mp_tool_index_fill(struct mp_tool_index *b, const struct mp_status_list *servers,
		       enum mp_catalog_kind kind, unsigned which, const struct mp_configured *c)
{
	struct mp_tool *next;
	size_t n = 0;
	int r = 0;

	*b = (struct mp_tool_index){.kind = kind,
				    .names = mp_names_new((enum mp_naming)servers->naming)};
	for (size_t i = 0; i < servers->n; i++)
		if (mp_tool_index_get_catalog(&servers->items[i], which))
			n += servers->items[i].catalog->lists[kind]->list.n;
	next = b->tools = mp_try_alloc((n + 1) * sizeof(*b->tools));
	if (!next)
		return MCPOOL_ENOMEM;
	for (size_t i = 0; i < servers->n && r == 0; i++)
		r = add_tools(b, &servers->items[i], which, &next);
	return r < 0 ? r : tool_index_finish(b, servers, c);
}

void mp_tool_index_done(struct mp_tool_index *b)
{
	mp_free(b->tools);
	mp_names_free(b->names);
	*b = (struct mp_tool_index){0};
}

const struct mp_tool *mp_tool_index_get(const struct mp_tool_index *b, size_t i)
{
	return mp_names_get(b->names, i)->u;
}

/* --- spellings ------------------------------------------------------------------------------- */

static bool begins_with(struct mp_str name, struct mp_str start)
{
	return name.len > start.len && strncasecmp(name.p, start.p, start.len) == 0;
}

bool mp_tool_index_names_server(struct mp_str name, const char *server)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;

	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	for (int how = 0; how < MP_SPELLINGS; how++) {
		if (how == MP_SPELLING_PASSTHROUGH || how == MP_SPELLING_BARE)
			continue;
		mp_buf_clear(&text);
		if (mp_spell((enum mp_spelling)how, mp_str_of(server), MP_STR("x"), &text) == 0 &&
		    text.len > 1 && begins_with(name, (struct mp_str){text.data, text.len - 1}))
			return true;
	}
	return false;
}

static bool could_mean(const struct mp_name *n, struct mp_str name, struct mp_buf *scratch)
{
	for (int how = 0; how < MP_SPELLINGS; how++) {
		mp_buf_clear(scratch);
		if (mp_spell((enum mp_spelling)how, n->server, n->name, scratch) == 0 &&
		    scratch->len == name.len && strncasecmp(scratch->data, name.p, name.len) == 0)
			return true;
	}
	return false;
}

static bool add_name(struct mp_buf *out, const struct mp_name *n)
{
	return mp_buf_addf(out, "%s%.*s", out->len ? ", " : "", MP_STR_ARGS(n->public_name)) == 0;
}

size_t mp_tool_index_add_candidates(const struct mp_tool_index *b, struct mp_str name,
				    struct mp_buf *out)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf scratch;
	size_t n = 0;

	mp_buf_init(&scratch, MP_LIMIT_MESSAGE);
	for (size_t i = 0; i < mp_names_count(b->names); i++)
		if (could_mean(mp_names_get(b->names, i), name, &scratch))
			n += add_name(out, mp_names_get(b->names, i));
	return n;
}

void mp_tool_index_tell_collisions(const struct mp_tool_index *b)
{
	for (size_t i = 0; i < mp_names_count(b->names); i++) {
		const struct mp_name *n = mp_names_get(b->names, i);

		if (n->collides)
			mp_cli_complain("more than one %s would have the same name: '%.*s' of "
					"server '%.*s' is called %.*s",
					b->kind == MP_CATALOG_TOOL ? "tool" : "prompt",
					MP_STR_ARGS(n->name), MP_STR_ARGS(n->server),
					MP_STR_ARGS(n->public_name));
	}
}

/* --- similar names --------------------------------------------------------------------------- */

enum { SIMILAR = 3 };

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Compare the public name, the server's own name, and the server name with the tool name. */
static size_t get_score(const struct mp_name *n, struct mp_str name, struct mp_buf *scratch)
{
	size_t score =
		least(mp_similar_score(name, n->public_name), mp_similar_score(name, n->name));

	mp_buf_clear(scratch);
	if (mp_spell(MP_SPELLING_SLASH, n->server, n->name, scratch) < 0)
		return score;
	return least(score, mp_similar_score(name, mp_buf_get(scratch)));
}

size_t mp_tool_index_add_similar(const struct mp_tool_index *b, struct mp_str name,
				 struct mp_buf *out)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf scratch;
	const struct mp_name *best[SIMILAR] = {0};
	size_t scores[SIMILAR] = {MP_SIMILAR_FAR, MP_SIMILAR_FAR, MP_SIMILAR_FAR}, n = 0;

	mp_buf_init(&scratch, MP_LIMIT_MESSAGE);
	for (size_t i = 0; i < mp_names_count(b->names); i++) {
		const struct mp_name *it = mp_names_get(b->names, i);
		size_t score = get_score(it, name, &scratch);

		for (size_t k = 0; k < SIMILAR; k++)
			if (score < scores[k]) {
				const struct mp_name *was = best[k];
				size_t was_score = scores[k];

				best[k] = it;
				scores[k] = score;
				it = was;
				score = was_score;
			}
	}
	for (size_t k = 0; k < SIMILAR && best[k]; k++)
		n += add_name(out, best[k]);
	return n;
}
