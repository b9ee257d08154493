/*
 * state_home.h - a state folder for one test.
 */
#ifndef TEST_STATE_HOME_H
#define TEST_STATE_HOME_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "test.h"

struct state_home {
	char root[64];
};

static bool state_home_init(struct state_home *h)
{
	snprintf(h->root, sizeof(h->root), "/tmp/test-state-XXXXXX");
	REQUIRE(mkdtemp(h->root));
	setenv("XDG_STATE_HOME", h->root, 1);
	return true;
}

static void state_home_done(struct state_home *h)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", h->root);
	if (h->root[0] == '/' && system(command) != 0)
		perror(command);
	unsetenv("XDG_STATE_HOME");
}

#endif
