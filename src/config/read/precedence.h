/*
 * precedence.h - of several entries, which one counts.
 */
#ifndef MP_PRECEDENCE_H
#define MP_PRECEDENCE_H

#include "config/values/set.h"

/*
 * Decide for all entries of the set, in order: the first of a name has it (U2), an unapproved one
 * of a project gives way to one that is approved, what opens the same connection under another name
 * is shadowed where the settings want that. MCPOOL_ENOMEM, MCPOOL_ELIMIT.
 */
int mp_precedence_decide(struct mp_config_set *set) MP_MUST;

#endif
