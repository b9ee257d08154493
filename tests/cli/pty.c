/*
 * pty.c - a person at a terminal, for tests: pty 'PROMPT=ANSWER'... -- COMMAND...
 * Runs the command on a terminal of its own. Whenever PROMPT appears in what it writes (behind the
 * place of the last one), ANSWER and a line break are typed; with no ANSWER the line break alone,
 * `^D` ends the input, and `^C` interrupts. All it writes goes to stdout. Its exit code is the
 * command's; 125 when a prompt never came, 124 after 30 seconds.
 */
#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 8 << 20, PATIENCE_MS = 30000 };

static char output[MOST + 1];
static size_t length, looked_at;

static void type(int terminal, const char *answer)
{
	static const char end_of_input = 4, interrupt = 3;

	if (strcmp(answer, "^D") == 0)
		(void)!write(terminal, &end_of_input, 1);
	else if (strcmp(answer, "^C") == 0)
		(void)!write(terminal, &interrupt, 1);
	else if (write(terminal, answer, strlen(answer)) >= 0)
		(void)!write(terminal, "\n", 1);
}

/* True when the prompt of this step was there and has been answered. */
static int answer(int terminal, const char *step)
{
	const char *equals = strchr(step, '=');
	size_t n = equals ? (size_t)(equals - step) : strlen(step);
	char *at = memmem(output + looked_at, length - looked_at, step, n);

	if (!at)
		return 0;
	looked_at = (size_t)(at - output) + n;
	usleep(20000); /* it may still be throwing away what was typed before */
	type(terminal, equals ? equals + 1 : "");
	return 1;
}

static int look(int terminal)
{
	struct pollfd p = {.fd = terminal, .events = POLLIN};
	ssize_t n;

	if (poll(&p, 1, PATIENCE_MS) <= 0)
		return -1;
	n = read(terminal, output + length, MOST - length);
	if (n > 0) {
		(void)!write(STDOUT_FILENO, output + length, (size_t)n);
		length += (size_t)n;
	}
	return n > 0;
}

int main(int argc, char **argv)
{
	struct winsize size = {.ws_row = 24, .ws_col = 80};
	int step = 1, commands = 1, terminal, status, r;
	pid_t pid;

	while (commands < argc && strcmp(argv[commands], "--") != 0)
		commands++;
	if (commands + 1 >= argc)
		return 126;
	pid = forkpty(&terminal, NULL, NULL, &size);
	if (pid < 0)
		return 126;
	if (pid == 0) {
		execvp(argv[commands + 1], argv + commands + 1);
		_exit(126);
	}
	while ((r = look(terminal)) > 0)
		while (step < commands && answer(terminal, argv[step]))
			step++;
	if (r < 0) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		return 124;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (step < commands)
		return 125;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
