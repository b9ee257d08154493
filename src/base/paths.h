/*
 * paths.h - where this user's files are: the XDG folders.
 * They come from the process's environment, never from a project (V10).
 */
#ifndef MP_PATHS_H
#define MP_PATHS_H

#include <limits.h>

#include "base/base.h"
#include "base/buf.h"

/*
 * $XDG_STATE_HOME/mcpool/NAME (NAME may be "" or hold slashes) added to out, which then ends in
 * NUL. A variable that is not an absolute path counts as unset, as XDG has it. MCPOOL_ENOENT
 * without HOME.
 */
int mp_path_state(const char *name, struct mp_buf *out) MP_MUST;
/* The file in there that keeps what the server of this name writes to stderr. As above. */
int mp_path_log(const char *server, struct mp_buf *out) MP_MUST;

#define MP_PATH_SELF "/proc/self/exe" /* opens this program, also after its file was replaced */
/* The path of this program; after an upgrade, of the new one. "" if the system does not say. */
void mp_path_find_self(char ret_path[PATH_MAX]);

#endif
