/*
 * verbs.h - the verbs, one function each, and the little they share beyond cli.h.
 */
#ifndef MP_VERBS_H
#define MP_VERBS_H

#include "cli/cli.h"

int mp_cmd_tools(const struct mp_verb *verb, int argc, char **argv);
int mp_cmd_call(const struct mp_verb *verb, int argc, char **argv);
int mp_cmd_resources(const struct mp_verb *verb, int argc, char **argv);
int mp_cmd_read(const struct mp_verb *verb, int argc, char **argv);
int mp_cmd_prompts(const struct mp_verb *verb, int argc, char **argv);
int mp_cmd_prompt(const struct mp_verb *verb, int argc, char **argv);

/* Name, title and description of each item, in columns. */
void mp_cmd_print_list(const struct mp_catalog_list *l);
/* The items as the server wrote them, as the member `key`. */
void mp_cmd_write_list(struct mp_writer *w, const char *key, const struct mp_catalog_list *l);
/* There is no such tool or prompt: say what is like it, and finish. */
void mp_cmd_fail_missing(struct mp_oneshot *o, const struct mp_catalog_list *l, const char *name);
/* All of stdin, or NULL after a complaint; the caller frees it. */
char *mp_cmd_read_stdin(size_t *ret_len);

#endif
