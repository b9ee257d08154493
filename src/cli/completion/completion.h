/*
 * completion.h - what may follow on a command line of mcpool, for the shells. The grammar of a verb
 * is its row in the table of verbs: the words of `arguments` and the lines of `options`.
 */
#ifndef MP_COMPLETION_H
#define MP_COMPLETION_H

#include "base/buf.h"
#include "cli/display/cli.h"

/* What a shell is told to do itself. */
#define MP_COMPLETION_FILES ":files"

struct mp_completion {
	const struct mp_verb *const *verbs; /* ends in NULL */
	const struct mp_verb *verb;         /* of this line; NULL: none yet */
	char **words;                       /* behind mcpool; the last is being typed */
	int n;
	const char *typed; /* what candidates begin with */
	struct mp_buf out; /* a line each: the candidate, and after a tab what it is */
};

/* Adds it, if it begins with what is typed. One that cannot be a word of a shell is left out. */
void mp_completion_add(struct mp_completion *c, struct mp_str candidate, struct mp_str about);

/* --- completion_names.c --- */

/* Adds what a word in capitals stands for, such as NAME, TOOL or KEY=VALUE; nothing for others. */
void mp_completion_add_names(struct mp_completion *c, struct mp_str placeholder);

/* --- completion.c --- */

/* For the words of a line: prints the candidates. Starts no server, and complains of nothing. */
int mp_completion_run(const struct mp_verb *const *verbs, int n, char **words);

#endif
