/*
 * peer.c - the other side of bench_client: answers each request line, as fast as C can.
 * Looks at nothing but the id, and at the method where a conversation is opened. Pinned to the CPU
 * given as its argument.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char opening[] =
	"\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}},"
	"\"serverInfo\":{\"name\":\"peer\",\"version\":\"1\"}}}\n";
static const char echo[] =
	"\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"The quick brown fox jumps over the "
	"lazy dog, and the answer is as long as answers of small tools are: a sentence or two, "
	"with a "
	"number such as 42 somewhere in it.\"}],\"isError\":false}}\n";

static char in[1 << 20], out[4 << 20];

static size_t answer(const char *line, size_t len, char *to)
{
	const char *id = memmem(line, len, "\"id\":", 5);
	const char *result = memmem(line, len, "\"initialize\"", 12) ? opening : echo;
	size_t n = 0, digits = 0;

	if (!id)
		return 0; /* a notification */
	id += 5;
	while (id[digits] >= '0' && id[digits] <= '9')
		digits++;
	n = (size_t)sprintf(to, "{\"jsonrpc\":\"2.0\",\"id\":%.*s,", (int)digits, id);
	memcpy(to + n, result, strlen(result));
	return n + strlen(result);
}

int main(int argc, char **argv)
{
	size_t have = 0;
	cpu_set_t cpus;

	if (argc > 1) {
		CPU_ZERO(&cpus);
		CPU_SET((size_t)atoi(argv[1]), &cpus);
		sched_setaffinity(0, sizeof(cpus), &cpus);
	}
	for (;;) {
		ssize_t n = read(0, in + have, sizeof(in) - have);
		char *at = in, *newline;
		size_t len = 0;

		if (n <= 0)
			return 0;
		have += (size_t)n;
		while ((newline = memchr(at, '\n', have - (size_t)(at - in)))) {
			len += answer(at, (size_t)(newline - at), out + len);
			at = newline + 1;
		}
		have -= (size_t)(at - in);
		memmove(in, at, have);
		for (size_t done = 0; done < len;) {
			n = write(1, out + done, len - done);
			if (n < 0)
				return 1;
			done += (size_t)n;
		}
	}
}
