/*
 * verbs.h - the verbs, one function each, and the little they share beyond cli.h.
 */
#ifndef MP_VERBS_H
#define MP_VERBS_H

#include "cli/cli.h"
#include "cli/configured.h"

/* Verbs that bring their own row of the table. */
extern const struct mp_verb mp_verb_list, mp_verb_status, mp_verb_get, mp_verb_test, mp_verb_config;
extern const struct mp_verb mp_verb_add, mp_verb_add_json, mp_verb_remove, mp_verb_rm;
extern const struct mp_verb mp_verb_enable, mp_verb_disable, mp_verb_import;
extern const struct mp_verb mp_verb_trust, mp_verb_untrust, mp_verb_serve, mp_verb_stdio;
extern const struct mp_verb mp_verb_up, mp_verb_down, mp_verb_reload, mp_verb_reconnect,
	mp_verb_token, mp_verb_connect, mp_verb_version;

int mp_cmd_tools(const struct mp_verb *verb, int argc, char **argv);
int mp_cmd_call(const struct mp_verb *verb, int argc, char **argv);
int mp_cmd_resources(const struct mp_verb *verb, int argc, char **argv);
int mp_cmd_read(const struct mp_verb *verb, int argc, char **argv);
int mp_cmd_prompts(const struct mp_verb *verb, int argc, char **argv);
int mp_cmd_prompt(const struct mp_verb *verb, int argc, char **argv);

/* One order about a server, to the running hub; done: what is said then. Returns the exit code. */
int mp_cmd_ask_hub(const struct mp_cli_args *args, const char *method, const char *name,
		   const char *done);
/* A server as `list --json` and `get --json` have it. */
void mp_cmd_write_server(struct mp_writer *w, const struct mp_configured *c,
			 const struct mp_entry *e);
/* MP_EXIT_DONE for a server that may run; else why not, and the exit code. */
int mp_cmd_explain_state(const struct mp_configured *c, const struct mp_entry *e,
			 struct mcpool_error *ret);
/* The same, told. */
int mp_cmd_refuse_state(const struct mp_configured *c, const struct mp_entry *e);
/* Start it, list its tools, stop it, say how it went. Returns the exit code. */
int mp_cmd_try_server(const struct mp_configured *c, const struct mp_entry *e,
		      const struct mp_cli_args *args);
/* Is this how a variable may be called? A token is mostly not. */
bool mp_cmd_is_variable(const char *name);
/* The entry that these options describe; false after a complaint. */
bool mp_cmd_build_server(const struct mp_configured *c, const struct mp_cli_args *args,
			 struct mp_buf *json);
/* Write it to the file that the options name, approve it, say so. Returns the exit code. */
int mp_cmd_add_server(struct mp_configured *c, const struct mp_cli_args *args, const char *name,
		      struct mp_str json);
/* `trust list`. */
int mp_cmd_list_approvals(const struct mp_configured *c, bool json);
/* The real path of the user's file; an exit code, and why it has none. */
int mp_cmd_find_user_file(const struct mp_configured *c, char *real, size_t size, char *why,
			  size_t why_size);
/* A line that may hold anything, made fit for a terminal. */
void mp_cmd_print_safe(const char *before, const char *text);
/* Of the server behind --, or among all configured servers. Exit codes. */
int mp_cmd_use_tool(const struct mp_cli_args *args, struct mp_str given);
int mp_cmd_use_resource(const struct mp_cli_args *args);
int mp_cmd_use_prompt(const struct mp_cli_args *args);
/* Results for people; 0, or MCPOOL_E* where they are none. */
int mp_cmd_print_contents(struct mp_str result);
int mp_cmd_print_messages(struct mp_str result);
/* The params of resources/read and of prompts/get, whose arguments are the words behind the first.
 */
int mp_cmd_write_read(struct mp_str uri, struct mp_buf *out) MP_MUST;
int mp_cmd_write_prompt(const struct mp_cli_args *args, struct mp_str name, struct mp_buf *out,
			struct mcpool_error *reterr) MP_MUST;
/* The params of tools/call: the words behind the tool's name, over `given`, typed by its schema. */
int mp_cmd_write_call(const struct mp_cli_args *args, struct mp_str given,
		      const struct mp_catalog_item *tool, struct mp_buf *out,
		      struct mcpool_error *reterr) MP_MUST;
/* One tool of a --json list. public_name: as it is called here. */
void mp_cmd_write_tool(struct mp_writer *w, struct mp_str public_name, const char *server,
		       const char *provider, const struct mp_catalog_item *item, bool is_live);
/* The schema of its arguments, as the server wrote it. */
void mp_cmd_print_schema(const struct mp_catalog_item *item);
/* All of stdin with a NUL behind it, or NULL after a complaint; the caller frees it. */
char *mp_cmd_read_stdin(size_t *ret_len);

#endif
