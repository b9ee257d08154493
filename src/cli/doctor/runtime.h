/*
 * runtime.h - the programs that run most servers, and what to type when one is missing or old.
 */
#ifndef MP_RUNTIME_H
#define MP_RUNTIME_H

#include "base/base.h"

struct mp_runtime {
	const char *program; /* that is asked for its version */
	const char *users;   /* the commands that need it: " npx npm " */
	unsigned major, minor;
	const char *advice; /* what to type */
};
extern const struct mp_runtime mp_runtimes[];
extern const size_t mp_runtimes_n;

/* Does this command, a name or a path, need it? */
bool mp_runtime_is_for(const struct mp_runtime *rt, const char *command);
/* version: as `--version` prints it: "v18.2.0", "Python 3.9.1". What cannot be read is not old. */
bool mp_runtime_is_old(const struct mp_runtime *rt, const char *version);
/* How to get the program of this name; NULL: unknown. */
const char *mp_runtime_get_advice(const char *command);

#endif
