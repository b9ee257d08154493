/* jsonc.h - json-c behind two functions: its header and jansson's do not fit in one file. */
#ifndef BENCH_JSONC_H
#define BENCH_JSONC_H

#include <stddef.h>

size_t bench_jsonc_parse(const char *text, size_t len);
size_t bench_jsonc_write(const char *text, size_t len);

#endif
