/*
 * tool_json.c - one tool as JSON: a row of a --json list, and the schema of its arguments.
 */
#include "cli/servers/tool_json.h"

#include <stdio.h>

#include "base/limits.h"
#include "cli/display/cli.h"

/* Copy a member of the server's own text, if present. */
static void copy_member(struct mp_writer *w, const struct mp_tape *t, const char *key)
{
	mp_value v = mp_value_get(t, MP_ROOT, key);

	if (v == MP_NONE)
		return;
	mp_write_key(w, mp_str_of(key));
	mp_write_value(w, t, v);
}

void mp_tool_json_write(struct mp_writer *w, struct mp_str public_name, const char *server,
			const char *provider, const struct mp_catalog_item *item, bool is_live)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	char label[MP_LIMIT_NAME + 64];

	mp_tape_init(&t, 0);
	if (mp_tape_parse(&t, item->json, NULL) < 0)
		return; /* it parsed before; only memory can be short */
	mp_write_begin_object(w);
	mp_write_member_text(w, "name", public_name);
	mp_write_member_text(w, "server", mp_str_of(server));
	mp_write_member_text(w, "tool", item->name);
	if (provider) /* its source, in one line (A43) */
		snprintf(label, sizeof(label), "mcp:%s via %s", server, provider);
	else
		snprintf(label, sizeof(label), "mcp:%.*s", MP_STR_ARGS(item->name));
	mp_write_member_text(w, "label", mp_str_of(label));
	mp_write_member_text(w, "title", item->title);
	mp_write_member_text(w, "description", item->description);
	copy_member(w, &t, "inputSchema");
	copy_member(w, &t, "outputSchema");
	copy_member(w, &t, "annotations");
	mp_write_member_text(w, "state", mp_str_of(is_live ? "live" : "deferred"));
	mp_write_end_object(w);
}

void mp_tool_json_print_schema(const struct mp_catalog_item *item)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;

	mp_tape_init(&t, 0);
	if (mp_tape_parse(&t, item->json, NULL) == 0)
		mp_print_json(mp_value_source(&t, mp_value_get(&t, MP_ROOT, "inputSchema")));
}
