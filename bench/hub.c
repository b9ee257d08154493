/*
 * hub.c - what the hub adds to a call: an agent's line through `mcpool stdio` and the hub to a
 * server and back, beside two bare relays in a row that move the same lines without looking at
 * them; the same on the hub's socket beside one relay; and HTTP beside a bare front (wrk drives
 * both). Rounds by turns, all pinned alike; the ratio of the minima is the figure. Then 10,000
 *tools in one list, and what a hub costs that has nothing to do.
 *
 *	bench_hub MCPOOL [socket|stdio|http|list|idle]    the figures; MCPOOL is the program to
 *measure
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "peers.h"

enum { ROUNDS = 15, CALLS = 1500, WARM_UP = 300 };

static char self[4096], home[] = "/tmp/mcpool-bench-XXXXXX", hub_socket[256], relay_socket[256];
static const char *mcpool;

#define ARGUMENTS "\"arguments\":{\"message\":\"The quick brown fox jumps over the lazy dog\"}"

struct way {
	const char *name;
	int to, from;
	const char *tool;
	double best;
	pid_t pid;
};

/* --- lines ----------------------------------------------------------------------------------- */

static void say(int fd, const char *text, size_t n)
{
	if (write(fd, text, n) != (ssize_t)n) {
		perror("write");
		exit(1);
	}
}

/* One line, or several that came at once: the last byte is a newline. */
static void hear(int fd, char *room, size_t size)
{
	size_t have = 0;

	do {
		ssize_t n = read(fd, room + have, size - have - 1);

		if (n <= 0) {
			fprintf(stderr, "bench_hub: nothing came: %s\n",
				n ? strerror(errno) : "end");
			exit(1);
		}
		have += (size_t)n;
	} while (room[have - 1] != '\n');
	room[have] = '\0';
}

/* Until the answer with this id; what else comes is heard and forgotten. */
static const char *hear_answer(int fd, const char *id)
{
	static char room[1 << 24];
	char wanted[32];

	snprintf(wanted, sizeof(wanted), "\"id\":%s,", id);
	do
		hear(fd, room, sizeof(room));
	while (!strstr(room, wanted));
	if (strstr(room, "\"error\":{")) {
		fprintf(stderr, "bench_hub: %.300s\n", room);
		exit(1);
	}
	return room;
}

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double measure(const struct way *w, int calls)
{
	static double took[CALLS];
	char line[512], room[4096];

	for (int i = 0; i < calls; i++) {
		int n = snprintf(
			line, sizeof(line),
			"{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{"
			"\"name\":\"%s\"," ARGUMENTS "}}\n",
			i + 1, w->tool);
		double began = now_us();

		say(w->to, line, (size_t)n);
		hear(w->from, room, sizeof(room));
		took[i] = now_us() - began;
	}
	qsort(took, (size_t)calls, sizeof(double), compare);
	return took[calls / 2];
}

/* --- processes ------------------------------------------------------------------------------- */

/*
 * Processes that take turns share one processor: on two the time of a call is that of
 * waking the other one up, and differs by four from run to run.
 */
static void pin(unsigned processors)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (unsigned i = 0; i < processors; i++)
		CPU_SET(i, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static pid_t start(struct way *w, const char *const *argv)
{
	int to[2], from[2];

	if (pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0)
		exit(1);
	w->pid = fork();
	if (w->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(to[0], 0);
		dup2(from[1], 1);
		execv(argv[0], (char *const *)(size_t)argv);
		_exit(1);
	}
	close(to[0]);
	close(from[1]);
	w->to = to[1];
	w->from = from[0];
	return w->pid;
}

static void dial(struct way *w, const char *path)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	for (int i = 0; connect(s, (struct sockaddr *)&a, sizeof(a)) < 0; i++) {
		if (i == 5000) {
			perror(path);
			exit(1);
		}
		usleep(1000);
	}
	w->to = w->from = s;
}

static void write_config(void)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/bench.json", home);
	f = fopen(path, "w");
	fprintf(f, "{\"mcpServers\":{\"e\":{\"command\":\"%s\",\"args\":[\"echo\"]}}}\n", self);
	fclose(f);
}

static void open_session(struct way *w)
{
	static const char open[] =
		"{\"jsonrpc\":\"2.0\",\"id\":900,\"method\":\"initialize\",\"params\":{"
		"\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":"
		"\"bench\",\"version\":\"1\"}}}\n";
	static const char opened[] =
		"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";
	static const char list[] = "{\"jsonrpc\":\"2.0\",\"id\":901,\"method\":\"tools/list\"}\n";

	say(w->to, open, sizeof(open) - 1);
	hear_answer(w->from, "900");
	say(w->to, opened, sizeof(opened) - 1);
	do
		say(w->to, list, sizeof(list) - 1);
	while (!strstr(hear_answer(w->from, "901"), w->tool)); /* it may not be up yet */
}

static void greet(struct way *w)
{
	char hello[1024];
	int n = snprintf(
		hello, sizeof(hello),
		"{\"jsonrpc\":\"2.0\",\"id\":899,\"method\":\"mcpool/hello\",\"params\":{"
		"\"protocol\":1,\"version\":\"0\",\"role\":\"bridge\",\"pid\":%d,\"cwd\":\"%s\","
		"\"env\":{\"HOME\":\"%s\",\"PATH\":\"/usr/bin:/bin\"},\"options\":{}}}\n",
		getpid(), home, home);

	say(w->to, hello, (size_t)n);
	hear_answer(w->from, "899");
}

/* --- HTTP ------------------------------------------------------------------------------------ */

/* A figure of a run that answered nothing, or refused, would be a figure of something else. */
static void check_rate(double rate, const char *url, const char *refused)
{
	if (rate > 0 && !refused[0])
		return;
	fprintf(stderr, "bench_hub: nothing was measured at %s: %s\n", url,
		refused[0] ? refused : "no request was answered; is wrk installed?");
	exit(1);
}

static double drive_wrk(const char *url, const char *script)
{
	char command[2048], line[512], refused[512] = "";
	double rate = 0;
	FILE *f;

	snprintf(command, sizeof(command), "wrk -t1 -c64 -d2s -s %s/%s %s 2>&1", home, script, url);
	f = popen(command, "r");
	while (fgets(line, sizeof(line), f)) {
		if (strstr(line, "Non-2xx"))
			snprintf(refused, sizeof(refused), "%.*s", (int)strcspn(line, "\n"), line);
		sscanf(line, "Requests/sec: %lf", &rate);
	}
	pclose(f);
	check_rate(rate, url, refused);
	return rate;
}

static void write_script(const char *name, const char *tool, const char *token)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", home, name);
	f = fopen(path, "w");
	fprintf(f,
		"wrk.method = 'POST'\n"
		"wrk.headers['Content-Type'] = 'application/json'\n"
		"wrk.headers['Accept'] = 'application/json, text/event-stream'\n"
		"wrk.headers['MCP-Protocol-Version'] = '2026-07-28'\n"
		"wrk.headers['Mcp-Method'] = 'tools/call'\n"
		"wrk.headers['Mcp-Name'] = '%s'\n"
		"wrk.headers['Authorization'] = 'Bearer %s'\n"
		"wrk.body = "
		"'{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
		"\"%s\"," ARGUMENTS ",\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":"
		"\"2026-07-28\",\"io.modelcontextprotocol/clientCapabilities\":{}}}}'\n",
		tool, token, tool);
	fclose(f);
}

static void read_line(const char *path, char *out, size_t size)
{
	FILE *f = NULL;

	for (int i = 0; i < 5000 && !f; i++) {
		f = fopen(path, "r");
		usleep(1000);
	}
	if (!f || !fgets(out, (int)size, f)) {
		perror(path);
		exit(1);
	}
	out[strcspn(out, "\n")] = '\0';
	fclose(f);
}

static void compare_http(const char *endpoint)
{
	char front[128], port[64], port_file[512], token_file[512], token[128];
	const char *argv[] = {self, "front", port_file, NULL};
	struct way w = {0};
	double bare = 0, ours = 0;

	snprintf(port_file, sizeof(port_file), "%s/port", home);
	snprintf(token_file, sizeof(token_file), "%s/state/mcpool/token", home);
	start(&w, argv);
	read_line(port_file, port, sizeof(port));
	read_line(token_file, token, sizeof(token));
	snprintf(front, sizeof(front), "http://127.0.0.1:%s/mcp", port);
	write_script("ours.lua", "mcp__e__echo", token);
	write_script("bare.lua", "echo", token);
	for (int round = 0; round < 5; round++) {
		double a = drive_wrk(front, "bare.lua"), b = drive_wrk(endpoint, "ours.lua");

		bare = a > bare ? a : bare;
		ours = b > ours ? b : ours;
	}
	printf("HTTP, 64 connections: %.0f requests/s, a bare front %.0f: %.2f of it (goal 0.60)\n",
	       ours, bare, ours / bare);
	kill(w.pid, SIGKILL);
}

/* --- the figures ----------------------------------------------------------------------------- */

static void set_environment(void)
{
	static const char *const names[] = {"XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR",
					    "XDG_DATA_HOME"};
	static const char *const folders[] = {"config", "state", "run", "data"};
	char path[512];

	setenv("HOME", home, 1);
	for (int i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/%s", home, folders[i]);
		mkdir(path, 0700);
		setenv(names[i], path, 1);
	}
	snprintf(hub_socket, sizeof(hub_socket), "%s/run/mcpool/hub.sock", home);
	snprintf(relay_socket, sizeof(relay_socket), "%s/relay.sock", home);
	if (chdir(home) < 0)
		exit(1);
}

static pid_t start_hub(void)
{
	char config[512];
	pid_t pid;

	unlink("hub.log"); /* of the hub before: find_endpoint() must not read its address */
	pid = fork();

	snprintf(config, sizeof(config), "%s/bench.json", home);
	if (pid == 0) {
		int log = open("hub.log", O_CREAT | O_WRONLY | O_TRUNC, 0600);

		prctl(PR_SET_PDEATHSIG, SIGTERM);
		dup2(log, 1);
		dup2(log, 2);
		execl(mcpool, mcpool, "serve", "--config", config,
		      getenv("BENCH_NO_HTTP") ? NULL : "--http", "127.0.0.1:0", (char *)NULL);
		_exit(1);
	}
	return pid;
}

static void find_endpoint(char *out, size_t size)
{
	char line[1024];

	for (int i = 0; i < 5000; i++) {
		FILE *f = fopen("hub.log", "r");
		char *at;

		while (f && fgets(line, sizeof(line), f))
			if ((at = strstr(line, "http://127.0.0.1:")) && strstr(at, "/mcp")) {
				at[strcspn(at, " \n\"',")] = '\0';
				snprintf(out, size, "%s", at);
				fclose(f);
				return;
			}
		if (f)
			fclose(f);
		usleep(1000);
	}
	fprintf(stderr, "bench_hub: the hub did not say where it listens; see %s/hub.log\n", home);
	exit(1);
}

static void take_turns(struct way *ours, struct way *bare)
{
	struct way *ways[] = {bare, ours};

	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < 2; i++) {
			double us = measure(ways[i], round ? CALLS : WARM_UP);

			if (round && (ways[i]->best == 0 || us < ways[i]->best))
				ways[i]->best = us;
		}
	printf("p50 of a call %s: %.1f us, %s: %.1f us: %.2f (goal 1.40)\n", ours->name, ours->best,
	       bare->name, bare->best, ours->best / bare->best);
}

static void compare_stdio(void)
{
	const char *in[] = {self, "relay-in", relay_socket, NULL};
	const char *bridge[] = {mcpool, "stdio", NULL};
	struct way bare = {.name = "through two bare relays", .tool = "echo"};
	struct way ours = {.name = "through mcpool stdio and the hub", .tool = "mcp__e__echo"};

	start(&bare, in);
	start(&ours, bridge);
	open_session(&ours);
	take_turns(&ours, &bare);
	close(bare.to);
	close(ours.to);
	waitpid(bare.pid, NULL, 0);
	waitpid(ours.pid, NULL, 0);
}

static void compare_socket(void)
{
	struct way bare = {.name = "through one bare relay", .tool = "echo"};
	struct way ours = {.name = "on the hub's socket", .tool = "mcp__e__echo"};

	dial(&bare, relay_socket);
	dial(&ours, hub_socket);
	greet(&ours);
	open_session(&ours);
	take_turns(&ours, &bare);
	close(bare.to);
	close(ours.to);
}

/* --- many tools, and nothing to do ------------------------------------------------------------ */

static void write_many(int tools)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/bench.json", home);
	f = fopen(path, "w");
	fprintf(f, "{\"mcpServers\":{");
	for (int i = 0; i < 10; i++)
		fprintf(f,
			"%s\"s%d\":{\"command\":\"%s\",\"args\":[\"demo-server\"],\"env\":{\"WHO\":"
			"\"%d\",\"MCPOOL_DEMO_TOOLS\":\"%d\"}}",
			i ? "," : "", i, mcpool, i, tools);
	fprintf(f, "}}\n");
	fclose(f);
}

static long read_sum(pid_t pid, const char *file, const char *const *fields)
{
	char name[64], line[256];
	long sum = 0;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/%s", pid, file);
	f = fopen(name, "r");
	while (f && fgets(line, sizeof(line), f))
		for (int i = 0; fields[i]; i++)
			if (strncmp(line, fields[i], strlen(fields[i])) == 0)
				sum += strtol(line + strlen(fields[i]), NULL, 10);
	if (f)
		fclose(f);
	return sum;
}

static long get_private_kib(pid_t pid)
{
	static const char *const fields[] = {"Private_Clean:", "Private_Dirty:", NULL};

	return read_sum(pid, "smaps_rollup", fields);
}

/* How often it was put on a processor: a sleeper that is never woken never is. */
static long get_switches(pid_t pid)
{
	static const char *const fields[] = {
		"voluntary_ctxt_switches:", "nonvoluntary_ctxt_switches:", NULL};

	return read_sum(pid, "status", fields);
}

static void stop_hub(pid_t hub)
{
	kill(hub, SIGTERM);
	waitpid(hub, NULL, 0);
}

static void look_at_idle(void)
{
	struct way w = {.name = "idle", .tool = "mcp__s9__echo"};
	long switches;
	pid_t hub;

	write_many(0);
	hub = start_hub();
	dial(&w, hub_socket);
	greet(&w);
	open_session(&w);
	close(w.to);
	sleep(3);
	switches = get_switches(hub);
	sleep(5);
	if (get_private_kib(hub) == 0 || get_switches(hub) == 0) {
		fprintf(stderr, "bench_hub: /proc/%d could not be read\n", hub);
		exit(1);
	}
	printf("idle with 10 servers: %ld KiB of private memory (goal 8192), woken %ld times in 5 "
	       "s (goal "
	       "0)\n",
	       get_private_kib(hub), get_switches(hub) - switches);
	stop_hub(hub);
}

/* All pages of tools/list, as an agent asks for them. */
static void list_many(void)
{
	static char room[1 << 24];
	struct way w = {.name = "many", .tool = "mcp__s0__"};
	char line[512] = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/list\"}\n", *cursor;
	double best = 1e9;
	int tools = 0;
	pid_t hub;

	write_many(1000);
	hub = start_hub();
	dial(&w, hub_socket);
	greet(&w);
	open_session(&w);
	sleep(2);
	for (int round = 0; round < 5; round++) {
		double began = now_us();

		tools = 0;
		snprintf(line, sizeof(line),
			 "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/list\"}\n");
		do {
			say(w.to, line, strlen(line));
			hear(w.from, room, sizeof(room));
			for (const char *p = room; (p = strstr(p, "\"inputSchema\"")); p++)
				tools++;
			cursor = strstr(room, "\"nextCursor\":");
			if (cursor)
				snprintf(line, sizeof(line),
					 "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/list\","
					 "\"params\":{\"cursor\":%.*s}}\n",
					 (int)strcspn(cursor + 13, ",}"), cursor + 13);
		} while (cursor);
		best = now_us() - began < best ? now_us() - began : best;
	}
	printf("%d tools of 10 servers are listed in %.1f ms (goal 500)\n", tools, best / 1000);
	close(w.to);
	stop_hub(hub);
}

static bool wants(int argc, char **argv, const char *what)
{
	return argc == 2 || strcmp(argv[2], what) == 0;
}

int main(int argc, char **argv)
{
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	const char *out[] = {self, "relay-out", relay_socket, NULL};
	char endpoint[128], command[512];
	struct way relay = {0};
	pid_t hub;

	self[n > 0 ? n : 0] = '\0';
	signal(SIGPIPE, SIG_IGN);
	if (argc == 2 && strcmp(argv[1], "echo") == 0)
		return peer_echo();
	if (argc == 3 && strcmp(argv[1], "relay-in") == 0)
		return peer_relay_in(argv[2]);
	if (argc == 3 && strcmp(argv[1], "relay-out") == 0)
		return peer_relay_out(argv[2], self);
	if (argc == 3 && strcmp(argv[1], "front") == 0)
		return peer_front(argv[2], self);
	mcpool = argc > 1 ? realpath(argv[1], NULL) : NULL;
	if (!mcpool || argc > 3 || !mkdtemp(home))
		return 2;
	setvbuf(stdout, NULL, _IOLBF, 0);
	pin(1);
	set_environment();
	write_config();
	hub = start_hub();
	start(&relay, out);
	if (wants(argc, argv, "socket"))
		compare_socket();
	if (wants(argc, argv, "stdio"))
		compare_stdio();
	stop_hub(hub);
	pin(2);
	hub = start_hub();
	if (system("command -v wrk >/dev/null") != 0) {
		fprintf(stderr, "bench_hub: HTTP cannot be measured: wrk is not installed\n");
		return 1;
	} else if (wants(argc, argv, "http")) {
		find_endpoint(endpoint, sizeof(endpoint));
		compare_http(endpoint);
	}
	kill(relay.pid, SIGKILL);
	stop_hub(hub);
	if (wants(argc, argv, "list"))
		list_many();
	if (wants(argc, argv, "idle"))
		look_at_idle();
	snprintf(command, sizeof(command), "rm -rf %s", home);
	return system(command) == 0 ? 0 : 1;
}
