/*
 * terminal_traits.c - what the terminal can, as it says itself.
 */
#include "cli/display/terminal_traits.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

enum { ANSWER_MS = 500, SIXEL = 4, CELL_WIDTH = 8, USUAL_WIDTH = 640 };

/* --- names ----------------------------------------------------------------------------------- */

static bool env_starts(const char *name, const char *start)
{
	const char *is = getenv(name);

	return is && strncmp(is, start, strlen(start)) == 0;
}

bool mp_terminal_is_multiplexed(void)
{
	return getenv("TMUX") || getenv("STY") || env_starts("TERM", "screen") ||
	       env_starts("TERM", "tmux") || env_starts("TERM_PROGRAM", "tmux");
}

static bool is_well_known(void)
{
	return !mp_terminal_is_multiplexed() &&
	       (env_starts("TERM", "foot") || env_starts("TERM", "mlterm") ||
		env_starts("TERM", "contour") || env_starts("TERM", "yaft") ||
		env_starts("TERM_PROGRAM", "WezTerm") || env_starts("TERM_PROGRAM", "contour") ||
		env_starts("TERM_PROGRAM", "mintty") || getenv("MLTERM"));
}

/* --- attributes ------------------------------------------------------------------------------ */

struct mp_str mp_terminal_find_attributes(struct mp_str read)
{
	ptrdiff_t at = -1;
	size_t end;

	while ((at = mp_str_find(read, MP_STR("\033[?"), (size_t)(at + 1))) >= 0) {
		end = (size_t)at + 3;
		while (end < read.len && strchr("0123456789;", read.p[end]) && read.p[end])
			end++;
		if (end < read.len && read.p[end] == 'c')
			return (struct mp_str){read.p + at + 3, end - (size_t)at - 3};
	}
	return MP_STR("");
}

bool mp_terminal_has_attribute(struct mp_str attributes, unsigned wanted)
{
	unsigned number = 0;
	bool is_first = true;

	for (size_t i = 0; i <= attributes.len; i++) {
		if (i < attributes.len && attributes.p[i] != ';') {
			number = number > 9999 ? number
					       : number * 10 + (unsigned)(attributes.p[i] - '0');
			continue;
		}
		if (!is_first && number == wanted)
			return true;
		is_first = false;
		number = 0;
	}
	return false;
}

/* --- asking ---------------------------------------------------------------------------------- */

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* What was typed meanwhile is read as well, and is lost. */
static bool read_answer(int fd)
{
	char text[256];
	struct mp_str found, read_so_far = {text, 0};
	int64_t until = now_ms() + ANSWER_MS, left;
	struct pollfd p = {.fd = fd, .events = POLLIN};

	while ((left = until - now_ms()) > 0 && read_so_far.len < sizeof(text)) {
		ssize_t n = poll(&p, 1, (int)left) > 0 ? read(fd, text + read_so_far.len,
							      sizeof(text) - read_so_far.len)
						       : 0;

		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return false;
		read_so_far.len += n > 0 ? (size_t)n : 0;
		found = mp_terminal_find_attributes(read_so_far);
		if (found.len)
			return mp_terminal_has_attribute(found, SIXEL);
		if (n == 0 && p.revents & (POLLHUP | POLLERR))
			return false;
	}
	return false;
}

/* Signals wait: the terminal must be as it was before one ends us. */
static bool terminal_ask_raw(int fd)
{
	static const char question[] = "\033[c";
	struct termios before, raw;
	sigset_t waiting, old;
	bool has = false;

	if (tcgetattr(fd, &before) < 0)
		return false;
	raw = before;
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	raw.c_cc[VMIN] = 0;
	raw.c_cc[VTIME] = 0;
	sigemptyset(&waiting);
	sigaddset(&waiting, SIGINT);
	sigaddset(&waiting, SIGTERM);
	sigaddset(&waiting, SIGHUP);
	sigaddset(&waiting, SIGQUIT);
	sigaddset(&waiting, SIGTSTP);
	sigprocmask(SIG_BLOCK, &waiting, &old);
	if (tcsetattr(fd, TCSADRAIN, &raw) == 0) {
		has = write(fd, question, sizeof(question) - 1) == sizeof(question) - 1 &&
		      read_answer(fd);
		tcsetattr(fd, TCSADRAIN, &before);
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	return has;
}

static bool terminal_ask(void)
{
	char name[256];
	bool has = false;
	int fd;

	if (!getenv("TERM") || env_starts("TERM", "dumb") ||
	    ttyname_r(STDOUT_FILENO, name, sizeof(name)) != 0)
		return false;
	fd = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (tcgetpgrp(fd) == getpgrp())
		has = terminal_ask_raw(fd);
	close(fd);
	return has;
}

bool mp_terminal_has_sixels(void)
{
	static enum { UNKNOWN, NO, YES } known;

	if (!isatty(STDOUT_FILENO))
		return false;
	if (known == UNKNOWN)
		known = is_well_known() || terminal_ask() ? YES : NO;
	return known == YES;
}

uint32_t mp_terminal_get_pixels(void)
{
	struct winsize size = {0};

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0)
		return USUAL_WIDTH;
	if (size.ws_xpixel)
		return size.ws_xpixel;
	return size.ws_col ? size.ws_col * (uint32_t)CELL_WIDTH : USUAL_WIDTH;
}
