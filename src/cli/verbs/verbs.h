/*
 * verbs.h - the verbs, one function each, and helpers that they share beyond cli.h.
 */
#ifndef MP_VERBS_H
#define MP_VERBS_H

#include "cli/display/cli.h"
#include "cli/servers/configured.h"

/* Verbs that define their own row of the table. */
extern const struct mp_verb mp_verb_list, mp_verb_status, mp_verb_get, mp_verb_test, mp_verb_config;
extern const struct mp_verb mp_verb_add, mp_verb_add_json, mp_verb_edit, mp_verb_set,
	mp_verb_remove, mp_verb_rm;
extern const struct mp_verb mp_verb_enable, mp_verb_disable, mp_verb_import, mp_verb_secret,
	mp_verb_doctor;
extern const struct mp_verb mp_verb_login, mp_verb_reauth, mp_verb_logout, mp_verb_unauth;
extern const struct mp_verb mp_verb_trust, mp_verb_untrust, mp_verb_serve, mp_verb_stdio;
extern const struct mp_verb mp_verb_up, mp_verb_down, mp_verb_reload, mp_verb_reconnect,
	mp_verb_token, mp_verb_connect, mp_verb_version, mp_verb_explain, mp_verb_events,
	mp_verb_wait, mp_verb_top, mp_verb_logs, mp_verb_calls, mp_verb_notifications,
	mp_verb_completion, mp_verb_dashboard;

/* `mcpool` without a verb: what runs, what waits, what to do next. The exit code; -1: no hub runs.
 */
int mp_overview_show(void);

/* mcpool-errors(7) on stdout; for tools/write-manual. */
int mp_explain_print_manual(void);

int mp_cmd_tools(const struct mp_verb *verb, int argc, char **argv);
int mp_cmd_call(const struct mp_verb *verb, int argc, char **argv);
int mp_cmd_resources(const struct mp_verb *verb, int argc, char **argv);
int mp_cmd_read(const struct mp_verb *verb, int argc, char **argv);
int mp_cmd_prompts(const struct mp_verb *verb, int argc, char **argv);
int mp_cmd_prompt(const struct mp_verb *verb, int argc, char **argv);

/* `get NAME`. */
int mp_cmd_get(const struct mp_verb *verb, int argc, char **argv);
struct mp_status_list;
struct mp_hub_status;
/* Print the configured servers, with what the store and the running hub know; NULL: not asked.
 * Returns the exit code. */
int mp_cmd_list_show(const struct mp_configured *c, const struct mp_cli_args *args,
		     const struct mp_status_list *recalled, const struct mp_hub_status *hub);
/* Send one control call about a server to the running hub; done: the message on success. Returns
 * the exit code. */
int mp_cmd_ask_hub(const struct mp_cli_args *args, const char *method, const char *name,
		   const char *done);
/* That no hub runs, or why it cannot be asked. Returns the exit code. */
int mp_cmd_complain_hub(const struct mcpool_error *why);
/* A connection to the running hub; none runs: one is started. An exit code after an error message.
 */
struct mp_hub_client;
int mp_cmd_reach_hub(struct mp_hub_client **ret_client);
/* The same over an open connection, and silently. */
int mp_cmd_tell_hub(struct mp_hub_client *c, const struct mp_cli_args *args, const char *method,
		    const char *name, struct mp_buf *result, struct mcpool_error *reterr) MP_MUST;
/* Write a server as in `list --json` and `get --json`. */
void mp_cmd_write_server(struct mp_writer *w, const struct mp_configured *c,
			 const struct mp_entry *e);
/* Start it, list its tools, stop it, report. Returns the exit code. */
int mp_cmd_try_server(const struct mp_configured *c, const struct mp_entry *e,
		      const struct mp_cli_args *args);
/* Is this a valid variable name? A token mostly is not. */
bool mp_cmd_is_variable(const char *name);
/* Do the options of `add` (is_new) or `edit` go together? Returns an exit code. */
int mp_cmd_check_usage(const struct mp_cli_args *args, bool is_new);
/*
 * Build the entry that these options describe; for `edit` those parts that they name. False after
 * an error message.
 */
bool mp_cmd_build_server(const struct mp_configured *c, const struct mp_cli_args *args,
			 struct mp_buf *json);
/* Write it to the file that the options name, approve it, report. Returns the exit code. */
int mp_cmd_add_server(struct mp_configured *c, const struct mp_cli_args *args, const char *name,
		      struct mp_str json);
/* `trust list`. */
int mp_cmd_list_approvals(const struct mp_configured *c, bool json);
/* The real path of the user's file; else an exit code and the reason. */
int mp_cmd_find_user_file(const struct mp_configured *c, char *real, size_t size, char *why,
			  size_t why_size);
/* Print a line with untrusted text, made safe. */
void mp_cmd_print_safe(const char *before, const char *text);
/* With the server after --, or with a configured server. Return exit codes. */
int mp_cmd_use_tool(const struct mp_cli_args *args, struct mp_str given);
int mp_cmd_use_resource(const struct mp_cli_args *args);
int mp_cmd_use_prompt(const struct mp_cli_args *args);
/* Print results as text; 0, or MCPOOL_E* if they are invalid. */
int mp_cmd_print_contents(struct mp_str result);
int mp_cmd_print_messages(struct mp_str result);
/* The params of resources/read, and of prompts/get, whose arguments follow the first word. */
int mp_cmd_write_read(struct mp_str uri, struct mp_buf *out) MP_MUST;
int mp_cmd_write_prompt(const struct mp_cli_args *args, struct mp_str name, struct mp_buf *out,
			struct mcpool_error *reterr) MP_MUST;
/* The params of tools/call: the words after the tool's name, merged over `given`, typed by its
 * schema. */
int mp_cmd_write_call(const struct mp_cli_args *args, struct mp_str given,
		      const struct mp_catalog_item *tool, struct mp_buf *out,
		      struct mcpool_error *reterr) MP_MUST;
/* All of stdin, terminated by NUL; NULL after an error message. The caller frees it. */
char *mp_cmd_read_stdin(size_t *ret_len);

#endif
