/*
 * tool_json.h - one tool as JSON: a row of a --json list, and the schema of its arguments.
 */
#ifndef MP_TOOL_JSON_H
#define MP_TOOL_JSON_H

#include "client/catalog.h"
#include "json/write.h"

/* Write one tool of a --json list. public_name: its name in mcpool; provider: source of the server,
 * or NULL. */
void mp_tool_json_write(struct mp_writer *w, struct mp_str public_name, const char *server,
			const char *provider, const struct mp_catalog_item *item, bool is_live);
/* Print the schema of its arguments, as the server wrote it. */
void mp_tool_json_print_schema(const struct mp_catalog_item *item);

#endif
