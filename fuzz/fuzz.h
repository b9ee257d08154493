/* fuzz.h - what every harness needs: the entry point, and a check that stops. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "base/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A finding: say what and where, then crash so that the fuzzer keeps the input. */
#define FUZZ_CHECK(promise)                                                                   \
	do {                                                                                  \
		if (!(promise)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #promise); \
			abort();                                                              \
		}                                                                             \
	} while (0)

/* The input as a source of decisions; zeros when it is used up. */
struct fuzz_input {
	const uint8_t *data;
	size_t size;
};

static inline uint8_t fuzz_byte(struct fuzz_input *in)
{
	if (in->size == 0)
		return 0;
	in->size--;
	return *in->data++;
}

static inline uint32_t fuzz_below(struct fuzz_input *in, uint32_t n)
{
	uint32_t x = fuzz_byte(in);

	if (n > 256)
		x = x << 8 | fuzz_byte(in);
	return n ? x % n : 0;
}

static inline struct mp_str fuzz_take(struct fuzz_input *in, size_t n)
{
	struct mp_str s = {(const char *)in->data, n < in->size ? n : in->size};

	in->data += s.len;
	in->size -= s.len;
	return s;
}

static inline struct mp_str fuzz_rest(struct fuzz_input *in)
{
	return fuzz_take(in, in->size);
}

#endif
