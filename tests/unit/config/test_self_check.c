/* test_self_check.c - is a command the way to our own hub? */
#include "test.h"

#include "config/read/self_check.h"

static bool is_us(const char *const *argv)
{
	size_t n = 0;

	while (argv[n])
		n++;
	return mp_self_check_is_own(argv, n);
}

#define US(...)  CHECK(is_us((const char *const[]){__VA_ARGS__, NULL}))
#define NOT(...) CHECK(!is_us((const char *const[]){__VA_ARGS__, NULL}))

TEST(however_it_is_wrapped)
{
	US("mcpool", "stdio");
	US("/opt/a copy/mcpool", "stdio", "--servers", "a");
	US("env", "X=1", "mcpool", "stdio");
	US("/usr/bin/env", "mcpool", "stdio");
	US("env", "-S", "X=1 mcpool stdio");
	US("npx", "-y", "something", "--", "mcpool", "stdio");
	US("sh", "-c", "exec mcpool stdio");
	US("/bin/bash", "-lc", "cd /tmp && X='1' \"$HOME/bin/mcpool\" stdio; true");
	US("timeout", "10", "nice", "./mcpool", "stdio");
	US("bash", "-c", "A=1 exec env B=2 mcpool stdio");
	US("sh", "-c", "sh -c 'mcpool stdio'");
	US("sh", "-c", "echo hello >&2\nmcpool stdio");
}

TEST(others_are_not_us)
{
	NOT("mcpool", "demo-server");
	NOT("mcpool");
	NOT("stdio", "mcpool");
	NOT("mcpool-proxy", "stdio");
	NOT("node", "server.js", "--note", "mcpool stdio");
	NOT("sh", "-c", "echo mcpool; stdio");
	NOT("sh", "-c", "");
	NOT("sh");
	NOT("server", "--transport", "stdio", "mcpool");
	NOT("ssh", "box", "mcpool", "stdio"); /* another machine's hub is a good server */
	NOT("docker", "run", "-i", "image", "mcpool", "stdio");
	NOT("sh", "-c", "exec ssh box mcpool stdio");
	NOT("sudo", "-u", "other", "mcpool", "stdio");
	CHECK(!mp_self_check_is_own(NULL, 0));
}
