/*
 * helper_server.c - a server that behaves as badly as the tests of process/ need.
 *
 *	show			what it finds: environment, descriptors, folder, signals, one each
 *line echo			its input as its output, until that ends exit CODE		says
 *so on stderr and does it crash			by SIGSEGV
 *	deaf			closes stdout and stays until its input ends
 *	litter			leaves a child that holds stdout, in a session of its own, and exits
 *	stubborn		ignores TERM and the end of its input, with children in sessions of
 *their own flood BYTES		writes so many bytes to stderr, then does as echo breeder
 *ignores TERM and forks again and again; parents exit at once
 */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>

extern char **environ;

static void show_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.' && atoi(e->d_name) != dirfd(d))
			printf("fd %s\n", e->d_name);
	if (d)
		closedir(d);
}

static void show_signals(void)
{
	struct sigaction s;
	sigset_t blocked;

	sigprocmask(SIG_SETMASK, NULL, &blocked);
	for (int i = 1; i < SIGRTMIN; i++) {
		if (sigismember(&blocked, i) == 1)
			printf("blocked %d\n", i);
		if (sigaction(i, NULL, &s) == 0 && s.sa_handler == SIG_IGN)
			printf("ignored %d\n", i);
	}
}

static int show(void)
{
	char folder[4096];

	for (char **e = environ; *e; e++)
		printf("env %s\n", *e);
	show_descriptors();
	show_signals();
	printf("cwd %s\n", getcwd(folder, sizeof(folder)));
	printf("leader %d\n", getsid(0) == getpid() && getpgrp() == getpid());
	return 0;
}

static int echo(void)
{
	char bytes[4096];
	ssize_t n;

	while ((n = read(0, bytes, sizeof(bytes))) > 0)
		if (write(1, bytes, (size_t)n) != n)
			return 1;
	return 0;
}

static void wait_for_end_of_input(void)
{
	char byte;

	while (read(0, &byte, 1) > 0)
		;
}

static _Noreturn void stay(void)
{
	for (;;)
		pause();
}

/* An orphan: its parents are gone and its session is its own. */
static void leave_daemon(void)
{
	pid_t pid = fork();

	if (pid != 0) {
		waitpid(pid, NULL, 0);
		return;
	}
	setsid();
	if (fork() != 0)
		_exit(0);
	setsid();
	stay();
}

static _Noreturn void stubborn(void)
{
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	leave_daemon();
	leave_daemon();
	if (fork() == 0)
		stay(); /* one in its own group, too */
	printf("{\"ready\":true}\n");
	fflush(stdout);
	stay();
}

static _Noreturn void breed(void)
{
	signal(SIGTERM, SIG_IGN);
	printf("{\"ready\":true}\n");
	fflush(stdout);
	for (int i = 0; i < 3; i++)
		if (fork() == 0)
			break;
	for (;;) {
		usleep(200);
		if (fork() != 0)
			_exit(0);
		setsid();
	}
}

static int flood(long left)
{
	static char bytes[65536];

	memset(bytes, 'x', sizeof(bytes));
	for (size_t i = 99; i < sizeof(bytes); i += 100)
		bytes[i] = '\n';
	while (left > 0) {
		ssize_t n = write(2, bytes, sizeof(bytes));

		if (n <= 0)
			return 1;
		left -= n;
	}
	return echo();
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (strcmp(what, "show") == 0)
		return show();
	if (strcmp(what, "echo") == 0)
		return echo();
	if (strcmp(what, "exit") == 0 && argc > 2) {
		fprintf(stderr, "leaving with %s", argv[2]); /* no newline on purpose */
		return atoi(argv[2]);
	}
	if (strcmp(what, "crash") == 0)
		raise(SIGSEGV);
	if (strcmp(what, "deaf") == 0) {
		close(1);
		wait_for_end_of_input();
		return 0;
	}
	if (strcmp(what, "litter") == 0) {
		printf("{\"last\":true}\n");
		fflush(stdout);
		leave_daemon();
		return 3;
	}
	if (strcmp(what, "stubborn") == 0)
		stubborn();
	if (strcmp(what, "breeder") == 0)
		breed();
	if (strcmp(what, "flood") == 0 && argc > 2)
		return flood(atol(argv[2]));
	return 64;
}
