/*
 * manager.c - a service manager for tests: it listens, starts the hub when somebody comes, hears
 * what the hub says of itself, and keeps the sockets whatever the hub does.
 *	manager SOCKET [tcp | tcp6] [watchdog MS] -- COMMAND...
 * Lines: `port N`, `started PID`, `heard TEXT` (newlines as blanks), `ended CODE`. SIGTERM ends
 *both; SIGHUP is handed on.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t told_to_end, told_to_reload;
static int sockets[2], n_sockets, notices;
static char notify[100];
static const char *watchdog_ms;
static pid_t hub;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void note(int signal)
{
	if (signal == SIGTERM)
		told_to_end = 1;
	else if (signal == SIGHUP)
		told_to_reload = 1;
}

static int bind_unix(const char *path, int type)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	unlink(path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || chmod(path, 0600) < 0)
		die(path);
	return fd;
}

static int bind_tcp(int family)
{
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	struct sockaddr_in four = {.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	void *a = family == AF_INET6 ? (void *)&six : &four;
	socklen_t size = family == AF_INET6 ? sizeof(six) : sizeof(four);
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, a, size) < 0 || listen(fd, 64) < 0 || getsockname(fd, a, &size) < 0)
		die("tcp");
	printf("port %d\n", ntohs(family == AF_INET6 ? six.sin6_port : four.sin_port));
	return fd;
}

/* As sd_listen_fds(3) and sd_notify(3) have it; the sockets block, as systemd's do. */
static void start(char **argv)
{
	char text[40];

	hub = fork();
	if (hub < 0)
		die("fork");
	if (hub > 0) {
		printf("started %d\n", (int)hub);
		return;
	}
	for (int i = 0; i < n_sockets; i++)
		if (dup2(sockets[i], 10 + i) < 0)
			die("dup2");
	for (int i = 0; i < n_sockets; i++)
		if (dup2(10 + i, 3 + i) < 0)
			die("dup2");
	for (int fd = 3 + n_sockets; fd < 64; fd++)
		close(fd);
	snprintf(text, sizeof(text), "%d", (int)getpid());
	setenv("LISTEN_PID", text, 1);
	snprintf(text, sizeof(text), "%d", n_sockets);
	setenv("LISTEN_FDS", text, 1);
	setenv("NOTIFY_SOCKET", notify, 1);
	if (watchdog_ms) {
		snprintf(text, sizeof(text), "%s000", watchdog_ms);
		setenv("WATCHDOG_USEC", text, 1);
	}
	if (!freopen("/dev/null", "w", stdout))
		_exit(1);
	execvp(argv[0], argv);
	_exit(127);
}

static void hear(void)
{
	char text[1000];
	ssize_t n = recv(notices, text, sizeof(text) - 1, MSG_DONTWAIT);

	if (n <= 0)
		return;
	text[n] = '\0';
	for (char *p = text; *p; p++)
		if (*p == '\n')
			*p = ' ';
	printf("heard %s\n", text);
}

static void look_after(void)
{
	int status;

	if (hub <= 0 || waitpid(hub, &status, WNOHANG) != hub)
		return;
	for (int i = 0; i < 20; i++)
		hear(); /* its last words */
	printf("ended %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	hub = 0;
}

/* A connection while no hub runs is the reason to start one. */
static void watch(char **argv)
{
	struct pollfd fds[3] = {{.fd = notices, .events = POLLIN}};

	for (int i = 0; i < n_sockets; i++)
		fds[1 + i] = (struct pollfd){.fd = hub ? -1 : sockets[i], .events = POLLIN};
	if (poll(fds, 1 + (nfds_t)n_sockets, 20) > 0) {
		hear();
		for (int i = 0; i < n_sockets && !hub; i++)
			if (fds[1 + i].revents)
				start(argv);
	}
	look_after();
	if (told_to_reload && hub)
		kill(hub, SIGHUP);
	told_to_reload = 0;
}

int main(int argc, char **argv)
{
	int at = 2;

	setvbuf(stdout, NULL, _IOLBF, 0);
	signal(SIGTERM, note);
	signal(SIGHUP, note);
	if (argc < 4)
		return 2;
	sockets[n_sockets++] = bind_unix(argv[1], SOCK_STREAM);
	if (listen(sockets[0], 64) < 0)
		die("listen");
	snprintf(notify, sizeof(notify), "%.90s.notify", argv[1]);
	notices = bind_unix(notify, SOCK_DGRAM);
	for (; at < argc && strcmp(argv[at], "--") != 0; at++) {
		if (strcmp(argv[at], "watchdog") == 0)
			watchdog_ms = argv[++at];
		else
			sockets[n_sockets++] =
				bind_tcp(strcmp(argv[at], "tcp6") == 0 ? AF_INET6 : AF_INET);
	}
	puts("ready");
	while (!told_to_end)
		watch(argv + at + 1);
	if (hub > 0)
		kill(hub, SIGTERM);
	for (int i = 0; hub > 0 && i < 500; i++) {
		hear();
		look_after();
		usleep(20000);
	}
	return 0;
}
