/* draw_states.c - prints doc/states.md; tools/draw-states runs it. */
#include "draw_states.h"

int main(void)
{
	draw_all(stdout);
	return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
