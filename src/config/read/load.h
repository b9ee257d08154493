/*
 * load.h - loads the configuration set of a working folder and environment.
 * Loading reads files and nothing else: no network, no command, no variable.
 */
#ifndef MP_CONFIG_LOAD_H
#define MP_CONFIG_LOAD_H

#include "config/values/set.h"

/*
 * The first phase. Always gives a set: when discovery itself fails it is empty and has exactly one
 * problem, with the path .mcp.json (A20).
 */
struct mp_config_set *mp_config_load(const struct mp_config_request *req);
/*
 * The second phase: a new set, with the remote sources of `remote` behind everything local. A
 * remote source that cannot be had is a problem and changes nothing else. Those of the network are
 * read from the copy that was fetched last.
 */
struct mp_config_set *mp_config_load_remote(const struct mp_config_request *req);

/*
 * A set with one server: a command, or a single URL, typed on the command line and so approved. It
 * runs where this process does; nothing in it is expanded. NULL: no memory. The command is
 * borrowed.
 */
struct mp_config_set *mp_config_make_typed(const char *name, char *const *command);

#endif
