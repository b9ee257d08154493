/*
 * command_line.h - processes by their command lines: is this one a copy of a configured server?
 */
#ifndef MP_COMMAND_LINE_H
#define MP_COMMAND_LINE_H

#include <sys/types.h>

#include "base/base.h"
#include "base/str.h"

enum { MP_COMMAND_LINE = 4096 };
/* Its begin, in room, words that end in NUL; empty: there is no such process. */
struct mp_str mp_command_line_read(pid_t pid, char room[MP_COMMAND_LINE]);

/*
 * The word that tells this server from others: a package, a script, an image; else the program
 * itself. NULL: there is none, as for `sh -c ...`.
 */
const char *mp_command_line_get_key(char *const *argv);
/* line: as /proc/PID/cmdline has it, words that end in NUL. Does it run what the key names? */
bool mp_command_line_has(struct mp_str line, const char *key);
/* The same, and with the plain words behind it: one script may be several servers. */
bool mp_command_line_fits(struct mp_str line, char *const *argv, const char *key);
/* Is this a shell or a runner, which started a server for another program? */
bool mp_command_line_is_helper(struct mp_str line);
/* The name of the program: "claude" of "/usr/bin/node /opt/bin/claude". */
struct mp_str mp_command_line_get_program(struct mp_str line);

#endif
