/*
 * interrupt.c - Ctrl-C, TERM and HUP for a verb with running servers.
 */
#include "cli/display/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include "cli/display/cli.h"

static void interrupt_interrupted(uv_signal_t *signal, int number)
{
	struct mp_interrupt *i = signal->data;

	(void)number;
	if (i->happened)
		_exit(MP_EXIT_INTERRUPTED); /* the launcher stops the servers */
	i->happened = true;
	i->fn(i->u);
}

void mp_interrupt_open(struct mp_interrupt *i, struct mp_loop *loop, void (*fn)(void *u), void *u)
{
	static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};

	i->fn = fn;
	i->u = u;
	i->open = MP_ARRAY_LEN(numbers);
	for (size_t n = 0; n < MP_ARRAY_LEN(numbers); n++) {
		struct sigaction now;

		uv_signal_init(mp_loop_get_uv(loop), &i->signals[n]);
		i->signals[n].data = i;
		if (sigaction(numbers[n], NULL, &now) == 0 && now.sa_handler == SIG_IGN)
			continue; /* keep HUP ignored under nohup */
		uv_signal_start(&i->signals[n], interrupt_interrupted, numbers[n]);
	}
}

static void closed_one(uv_handle_t *h)
{
	struct mp_interrupt *i = h->data;

	if (--i->open == 0)
		i->closed(i->u);
}

void mp_interrupt_close(struct mp_interrupt *i, void (*closed)(void *u))
{
	i->closed = closed;
	for (size_t n = 0; n < MP_ARRAY_LEN(i->signals); n++)
		uv_close((uv_handle_t *)&i->signals[n], closed_one);
}
