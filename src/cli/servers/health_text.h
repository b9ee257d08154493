/*
 * health_text.h - the member `health` of a status (pool/health.h) for people.
 */
#ifndef MP_HEALTH_TEXT_H
#define MP_HEALTH_TEXT_H

#include "base/arena.h"
#include "base/base.h"
#include "pool/cause.h"

/* Cause and fix; "" for what is not known. */
void mp_health_get_cause(struct mp_str health, struct mp_arena *arena, struct mp_cause *ret);
/* When the first of its failures since it last worked was; -1: none is known. */
int64_t mp_health_get_failing_since(struct mp_str health);
/* Prints one line. */
typedef void (*mp_health_fn)(const char *title, struct mp_str text);
/* Lines of `status NAME` and `doctor NAME`: cause, since when, fix; limits, schedule, probes,
 * changes. */
void mp_health_print_cause(struct mp_str health, mp_health_fn print);
void mp_health_print(struct mp_str health, mp_health_fn print);

#endif
