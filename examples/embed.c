/*
 * embed.c - the smallest program on libmcpool: which version is this, and what do its codes mean?
 * Build it against an installed mcpool: cc embed.c $(pkg-config --cflags --libs libmcpool)
 */
#include <stdio.h>
#include <mcpool/mcpool.h>

int main(void)
{
	printf("libmcpool %s\n", mcpool_version());
#define SHOW(name, number, rpc, word, sentence) \
	printf("%-24s %s\n", mcpool_error_name(MCPOOL_E##name), mcpool_error_text(MCPOOL_E##name));
	MCPOOL_ERRORS(SHOW)
#undef SHOW
	return 0;
}
