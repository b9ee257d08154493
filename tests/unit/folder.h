/*
 * folder.h - a folder for the files of one test program: empty when asked for, gone at its end.
 * Also after a test that stopped half way, as those with failing allocations do.
 */
#ifndef TEST_FOLDER_H
#define TEST_FOLDER_H

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char test_folder[64];

static inline int folder_remove_one(const char *name, const struct stat *st, int type,
				    struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(name);
}

static inline void folder_remove(void)
{
	if (test_folder[0])
		nftw(test_folder, folder_remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* The name is made by the first test, plain, and known to those that run in children. */
static inline bool folder_make(void)
{
	if (test_folder[0]) {
		folder_remove();
		return mkdir(test_folder, 0700) == 0;
	}
	snprintf(test_folder, sizeof(test_folder), "/tmp/mcpool-test-XXXXXX");
	return mkdtemp(test_folder) && atexit(folder_remove) == 0;
}

#endif
