/*
 * random_id.c - random bytes, and ids made of them. The kernel is asked for several ids at once.
 */
#include "base/random_id.h"

#include <pthread.h>
#include <string.h>
#include <sys/random.h>

void mp_random_fill(void *bytes, size_t n)
{
	mp_check(n <= 256 && getrandom(bytes, n, 0) == (ssize_t)n);
}

void mp_random_id_make(char id[MP_RANDOM_ID + 1])
{
	static const char digits[] = "0123456789abcdef";
	static _Thread_local struct {
		unsigned char bytes[256];
		size_t left;
	} block;
	unsigned char *b;

	if (block.left < MP_RANDOM_ID / 2) {
		mp_random_fill(block.bytes, sizeof(block.bytes));
		block.left = sizeof(block.bytes);
	}
	block.left -= MP_RANDOM_ID / 2;
	b = block.bytes + block.left;
	for (size_t i = 0; i < MP_RANDOM_ID / 2; i++) {
		id[2 * i] = digits[b[i] >> 4];
		id[2 * i + 1] = digits[b[i] & 15];
	}
	memset(b, 0, MP_RANDOM_ID / 2); /* it is not given out twice, whatever happens */
	id[MP_RANDOM_ID] = '\0';
}

static char own[MP_RANDOM_ID + 1];

static void make_own(void)
{
	mp_random_id_make(own);
}

const char *mp_random_id_of_process(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	mp_check(pthread_once(&once, make_own) == 0);
	return own;
}
