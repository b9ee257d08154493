/*
 * settings_reading.h - settings being read in a test, and what was told of them.
 */
#ifndef TEST_SETTINGS_READING_H
#define TEST_SETTINGS_READING_H

#include "test.h"

#include <stdio.h>

#include "config/values/settings.h"

struct reading {
	struct mp_arena arena;
	struct mp_tape t;
	struct mp_settings s;
	char told[1000];
};

static void note(const struct mp_bind_problem *p, void *u)
{
	struct reading *d = u;
	size_t n = strlen(d->told);

	snprintf(d->told + n, sizeof(d->told) - n, "%s|", p->message);
}

static void tidy(struct reading *d)
{
	mp_tape_done(&d->t);
	mp_arena_done(&d->arena);
}

#endif
