/*
 * problem.h - what is wrong with a configuration, and where.
 */
#ifndef MP_PROBLEM_H
#define MP_PROBLEM_H

#include "base/base.h"

enum mp_severity { MP_WARNING, MP_ERROR };

struct mp_problem {
	enum mp_severity severity;
	const char *file;   /* as it was looked for; "" for none */
	unsigned line;      /* from 1; 0: the file itself */
	unsigned column;    /* from 1 */
	const char *server; /* "" for none */
	const char *message;
	const char *quote;  /* the line with a caret below it; "" for none */
	bool is_whole_file; /* nothing of it could be read */
};

#endif
