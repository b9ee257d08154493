/*
 * agent_show.h - previews a change of an agent's file.
 */
#ifndef MP_AGENT_SHOW_H
#define MP_AGENT_SHOW_H

#include "base/base.h"
#include "base/buf.h"
#include "base/str.h"

/*
 * The lines that differ, `-` before removed ones and `+` before added ones; secrets as dots, safe
 * for a terminal.
 */
int mp_agent_show_diff(struct mp_str old, struct mp_str new, struct mp_buf *out) MP_MUST;
/* A command as a shell takes it. */
int mp_agent_show_command(const char *const *argv, struct mp_buf *out) MP_MUST;

#endif
