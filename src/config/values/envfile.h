/*
 * envfile.h - files with lines NAME=value, as shells and other tools read them.
 */
#ifndef MP_ENVFILE_H
#define MP_ENVFILE_H

#include "base/arena.h"
#include "base/base.h"

/*
 * The variables as "NAME=value", ends in NULL, from the arena. Comments, `export`, single and
 * double quotes (with \n \t \" \\ in double ones); nothing is expanded. A line that is none of this
 * is an error with its number: MCPOOL_EINVAL. MCPOOL_EIO and so on for the file, named in the
 * message.
 */
int mp_envfile_read(const char *path, struct mp_arena *arena, char ***ret_env,
		    struct mcpool_error *reterr) MP_MUST;
/* The same of a text; path is for messages. */
int mp_envfile_parse(struct mp_str text, const char *path, struct mp_arena *arena, char ***ret_env,
		     struct mcpool_error *reterr) MP_MUST;

#endif
