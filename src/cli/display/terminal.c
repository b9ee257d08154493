/*
 * terminal.c - reads answers from the user at the terminal.
 */
#include "cli/display/terminal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <termios.h>
#include <unistd.h>

#include "base/mem.h"

enum { MAX_LINE = 4096 }; /* longest line of a terminal */

/* Discard a line that is too long: it is not an answer, nor is its rest. */
static bool skip_line(void)
{
	int c;

	while ((c = fgetc(stdin)) != EOF && c != '\n')
		;
	return false;
}

/* False: stop_fd became readable first. The terminal delivers whole lines. */
static bool wait_for_line(int stop_fd)
{
	struct pollfd fds[] = {{.fd = STDIN_FILENO, .events = POLLIN},
			       {.fd = stop_fd, .events = POLLIN}};

	while (poll(fds, MP_ARRAY_LEN(fds), -1) < 0 && errno == EINTR)
		;
	return !fds[1].revents;
}

bool mp_terminal_ask_unless(const char *question, int stop_fd, char *answer, size_t size)
{
	size_t n;

	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
		return false;
	fprintf(stderr, "%s ", question);
	fflush(stderr);
	if ((stop_fd >= 0 && !wait_for_line(stop_fd)) || !fgets(answer, (int)size, stdin)) {
		fputc('\n', stderr);
		return false;
	}
	n = strcspn(answer, "\r\n");
	if (answer[n] == '\0' && n + 1 == size)
		return skip_line();
	answer[n] = '\0';
	return true;
}

bool mp_terminal_ask(const char *question, char *answer, size_t size)
{
	return mp_terminal_ask_unless(question, -1, answer, size);
}

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
	interrupted = number;
}

/* Ctrl-C must restore the terminal's echo. */
char *mp_terminal_ask_secret(const char *question)
{
	struct sigaction act = {.sa_handler = interrupt}, old;
	struct termios before, quiet;
	char *line = mp_alloc(MAX_LINE);

	if (tcgetattr(STDIN_FILENO, &before) < 0)
		return mp_free(line);
	quiet = before;
	quiet.c_lflag &= ~(tcflag_t)ECHO;
	fprintf(stderr, "%s ", question);
	fflush(stderr);
	sigaction(SIGINT, &act, &old);
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet);
	if (!fgets(line, MAX_LINE, stdin))
		line = mp_free(line);
	tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
	sigaction(SIGINT, &old, NULL);
	fputc('\n', stderr);
	if (interrupted)
		raise(interrupted);
	return line;
}

bool mp_terminal_ask_yes(const char *question)
{
	char answer[16];

	return mp_terminal_ask(question, answer, sizeof(answer)) &&
	       (strcasecmp(answer, "y") == 0 || strcasecmp(answer, "yes") == 0);
}
