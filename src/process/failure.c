/*
 * failure.c - why a server did not start, in words.
 */
#include "process/failure.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "process/exec.h"

static int explain_folder(int cause, const char *folder, struct mcpool_error *why)
{
	if (cause == ENOENT)
		return mp_fail(why, MCPOOL_ENOENT, "the folder '%s' does not exist", folder);
	if (cause == ENOTDIR)
		return mp_fail(why, MCPOOL_ENOENT, "'%s' is not a folder", folder);
	return mp_fail_errno(why, cause, "the folder '%s' cannot be entered", folder);
}

static int explain_absence(const char *name, struct mcpool_error *why)
{
	if (strchr(name, '/'))
		return mp_fail(why, MCPOOL_ENOENT, "'%s' does not exist", name);
	return mp_fail(why, MCPOOL_ENOENT, "the command '%s' was not found in PATH", name);
}

static int explain_command(int cause, const char *name, struct mcpool_error *why)
{
	switch (cause) {
	case ENOENT:
		return explain_absence(name, why);
	case EACCES:
		return mp_fail(why, MCPOOL_EPERM, "'%s' is not executable (chmod +x?)", name);
	case EISDIR:
		return mp_fail(why, MCPOOL_EINVAL, "'%s' is a folder, not a program", name);
	case ENOEXEC:
		return mp_fail(why, MCPOOL_EINVAL,
			       "'%s' is not a program: no #! line and no executable format", name);
	case ELIBACC:
		return mp_fail(why, MCPOOL_ENOENT,
			       "'%s' is there, but the interpreter it names does not exist", name);
	case E2BIG:
		return mp_fail(why, MCPOOL_ELIMIT,
			       "arguments and environment of '%s' are too large for the system",
			       name);
	default:
		return mp_fail_errno(why, cause, "'%s' cannot be run", name);
	}
}

void mp_failure_explain(int stage, int cause, const char *command, const char *folder,
			struct mcpool_error *ret_why)
{
	if (stage == MP_STAGE_FOLDER)
		(void)explain_folder(cause, folder, ret_why);
	else if (stage == MP_STAGE_COMMAND)
		(void)explain_command(cause, command, ret_why);
	else if (stage == MP_STAGE_FILES)
		(void)mp_fail(ret_why, MCPOOL_EAGAIN,
			      "a file that '%s' runs changed in the moment it was started",
			      command);
	else
		(void)mp_fail_errno(ret_why, cause, "cannot start a process for '%s'", command);
}
