/*
 * page.h - the page as it was bundled at the build, each file compressed by gzip. The data is made
 * by tools/embed-page from src/web/page.
 */
#ifndef MP_PAGE_H
#define MP_PAGE_H

#include <stddef.h>

struct mp_page_file {
	const char *path, *type;
	const char *bytes;
	size_t size;
};

extern const struct mp_page_file mp_page_files[];
extern const size_t mp_page_n_files;

#endif
