/*
 * cmd_connect.c - `mcpool connect`: shows how an agent is connected to the hub, and in which file.
 * --write and --undo are in connect.c.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/limits.h"
#include "cli/agents/agent_show.h"
#include "cli/agents/connect.h"
#include "base/similar.h"
#include "cli/verbs/verbs.h"

static int run_connect(const struct mp_verb *verb, int argc, char **argv);

const struct mp_verb mp_verb_connect = {
	"connect",
	"[AGENT | --all]",
	"Connect an agent to the hub, or show how; alone, list the agents found here.",
	"  --write          connect it: by its own command, or in its file, after a preview\n"
	"  --undo           revert that\n"
	"  --all            with --write or --undo: each agent that is found here\n"
	"  --yes, -y        do not ask\n"
	"  --project        for this project only\n"
	"  --http ADDR      over HTTP instead of stdio: 127.0.0.1:7717, or a URL\n"
	"  --json           one JSON object instead of text for people\n",
	"AGENT is one that `mcpool connect` lists. A copy of a changed file is kept as\n"
	"FILE.mcpool-backup. Over HTTP an agent takes the token (`mcpool token`) from the\n"
	"variable MCPOOL_TOKEN.\n\n"
	"examples: mcpool connect claude --write\n"
	"          mcpool connect --all --write\n",
	run_connect,
	NULL,
	MP_VERB_PLAIN,
};

/* --- what is there --------------------------------------------------------------------------- */

/* Many agents pass only HOME and PATH, so XDG folders other than the default go into the entry. */
static void add_variable(struct mp_connect *c, const char *name, const char *otherwise)
{
	const char *value = getenv(name);
	size_t n = 0;
	char text[PATH_MAX + 32];

	if (!value || value[0] != '/' || strcmp(value, otherwise) == 0)
		return;
	while (c->way.variables[n])
		n++;
	snprintf(text, sizeof(text), "%s=%s", name, value);
	c->way.variables[n] = mp_arena_dup(&c->arena, mp_str_of(text));
}

static void add_variables(struct mp_connect *c)
{
	const char *home = getenv("HOME");
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/.config", home ? home : "");
	add_variable(c, "XDG_CONFIG_HOME", path);
	snprintf(path, sizeof(path), "%s/.local/state", home ? home : "");
	add_variable(c, "XDG_STATE_HOME", path);
	snprintf(path, sizeof(path), "/run/user/%u", (unsigned)geteuid());
	add_variable(c, "XDG_RUNTIME_DIR", path);
}

static int read_address(struct mp_connect *c)
{
	const char *given = c->args->http;
	bool is_url = strstr(given, "://") != NULL;
	int n = snprintf(c->url, sizeof(c->url), "%s%s%s", is_url ? "" : "http://", given,
			 is_url ? "" : "/mcp");

	if (n >= (int)sizeof(c->url) || strpbrk(given, " \"'\\\t\n")) {
		mp_cli_complain("an address is 127.0.0.1:7717 or http://127.0.0.1:7717/mcp");
		return MP_EXIT_USAGE;
	}
	return MP_EXIT_DONE;
}

/* A project's file is shared with others: the name is used if it is this program. */
static void choose_program(struct mp_connect *c)
{
	char found[PATH_MAX];

	mp_program_find_self(c->mcpool);
	c->way.mcpool = c->mcpool;
	c->way.project = c->args->project;
	if (!c->way.project)
		add_variables(c);
	else if (mp_program_find("mcpool", found) && strcmp(found, c->mcpool) == 0)
		c->way.mcpool = "mcpool";
}

static int choose_way(struct mp_connect *c)
{
	char cwd[PATH_MAX];

	mp_arena_init(&c->arena, MP_LIMIT_USER_FILE);
	mp_buf_init(&c->entry, MP_LIMIT_CONFIG_FILE);
	if (!getcwd(cwd, sizeof(cwd)) || mp_places_find(&c->places, cwd, environ, &c->arena) < 0) {
		mp_cli_complain("the current directory no longer exists");
		return MP_EXIT_CONFIG;
	}
	choose_program(c);
	return c->args->http ? read_address(c) : MP_EXIT_DONE;
}

/* Where an address leads on this machine; false: elsewhere, which is not dialled. */
static bool read_loopback(const char *url, struct sockaddr_in *ret, char *text, size_t size)
{
	const char *host = strstr(url, "://");
	const char *colon;
	int64_t port = 80;
	size_t n;

	if (!host)
		return false;
	host += 3;
	n = strcspn(host, "/?#");
	colon = memchr(host, ':', n);
	if (strncmp(host, "127.0.0.1", 9) != 0 && strncmp(host, "localhost", 9) != 0)
		return false;
	if (n > 9 &&
	    (colon != host + 9 || mp_str_to_i64((struct mp_str){host + 10, n - 10}, &port) < 0))
		return false;
	*ret = (struct sockaddr_in){.sin_family = AF_INET,
				    .sin_port = htons((uint16_t)port),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	snprintf(text, size, "%.*s", (int)n, host);
	return true;
}

/* On this machine a connection is made or refused at once. */
static void check_address(struct mp_connect *c)
{
	struct sockaddr_in to;
	char host[64], text[128];
	int fd;

	if (!c->view.address || !read_loopback(c->view.address, &to, host, sizeof(host)))
		return;
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0 &&
	    errno == ECONNREFUSED) {
		snprintf(text, sizeof(text), "nothing listens at %s", host);
		c->view.problem = mp_arena_dup(&c->arena, mp_str_of(text));
	}
	if (fd >= 0)
		close(fd);
}

static int cmd_connect_look(struct mp_connect *c, const struct mp_agent *a,
			    struct mcpool_error *why)
{
	int r;

	c->agent = a;
	c->view = (struct mp_agent_view){0};
	c->way.inner = false;
	c->way.url = c->args->http && a->url_key ? c->url : NULL;
	if (!a->program || !mp_program_find(a->program, c->program))
		c->program[0] = '\0';
	mp_buf_clear(&c->entry);
	r = mp_agent_write_entry(a, &c->way, &c->entry);
	c->file = mp_agent_get_file(a, &c->places, c->way.project, &c->arena);
	if (r < 0 || !c->file)
		return r;
	r = mp_agent_look(a, c->file, mp_buf_get(&c->entry), &c->arena, &c->view, why);
	c->way.inner = c->view.inner;
	check_address(c);
	return r;
}

static void cmd_connect_done(struct mp_connect *c)
{
	mp_buf_done(&c->entry);
	mp_arena_done(&c->arena);
}

/* --- all agents ------------------------------------------------------------------------------ */

static bool is_found(const struct mp_connect *c)
{
	return c->program[0] || c->view.exists;
}

static bool is_connected(const struct mp_connect *c)
{
	return c->view.link == MP_AGENT_CONNECTED || c->view.link == MP_AGENT_OTHERWISE;
}

static void write_or_null(struct mp_writer *w, const char *key, const char *text)
{
	mp_write_key(w, mp_str_of(key));
	if (text && text[0])
		mp_write_text(w, mp_str_of(text));
	else
		mp_write_null(w);
}

static void write_agent(struct mp_writer *w, const struct mp_connect *c)
{
	mp_write_member_text(w, "agent", mp_str_of(c->agent->name));
	mp_write_member_text(w, "label", mp_str_of(c->agent->label));
	mp_write_member_bool(w, "found", is_found(c));
	write_or_null(w, "program", c->program);
	mp_write_member_text(w, "level", c->way.project ? MP_STR("project") : MP_STR("user"));
	write_or_null(w, "file", c->file);
	mp_write_member_bool(w, "connected", is_connected(c));
	write_or_null(w, "entry", is_connected(c) ? c->view.entry : NULL);
	write_or_null(w, "problem", is_connected(c) ? c->view.problem : NULL);
}

static const char *tell_state(const struct mp_connect *c, bool broken)
{
	if (broken)
		return "its file cannot be read";
	if (is_connected(c))
		return "connected";
	return is_found(c) ? "not connected" : "not found here";
}

/* How to repair it; if the hub does not listen, the agent's file is fine. */
static void tell_remedy(const struct mp_connect *c)
{
	if (c->view.address)
		printf("`mcpool up --http ADDR` or the setting http.listen makes the hub listen\n");
	else
		printf("`mcpool connect %s%s --write` repairs it\n", c->agent->name,
		       c->way.project ? " --project" : "");
}

static bool is_impaired(const struct mp_connect *c)
{
	return is_connected(c) && c->view.problem;
}

static void list_impaired(const struct mp_connect *c)
{
	printf("%-16s connected, but %s\n%-16s %s; ", c->agent->name, c->view.problem, "", c->file);
	tell_remedy(c);
}

static void list_one(struct mp_connect *c, const struct mp_agent *a, struct mp_writer *w)
{
	struct mcpool_error why = {0};
	bool broken = cmd_connect_look(c, a, &why) < 0;

	if (!w && is_impaired(c)) {
		list_impaired(c);
		return;
	}
	if (!w) {
		printf("%-16s %-24s %s\n", a->name, tell_state(c, broken), c->file ? c->file : "");
		return;
	}
	mp_write_begin_object(w);
	write_agent(w, c);
	write_or_null(w, "error", why.message);
	mp_write_end_object(w);
}

static int list_all(struct mp_connect *c)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;

	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	mp_write_key(&w, MP_STR("agents"));
	mp_write_begin_array(&w);
	for (size_t i = 0; i < mp_agents_n; i++)
		list_one(c, &mp_agents[i], c->args->json ? &w : NULL);
	mp_write_end_array(&w);
	mp_write_end_object(&w);
	if (c->args->json && mp_write_finish(&w) == 0)
		mp_print_json(mp_buf_get(&text));
	else if (!c->args->json)
		printf("\n`mcpool connect AGENT` shows how, `mcpool connect AGENT --write` does "
		       "it.\n");
	return mp_print_finish(MP_EXIT_DONE);
}

/* --- one ------------------------------------------------------------------------------------- */

static bool is_served(const struct mp_config_set *set, const char *name)
{
	for (size_t i = 0; set && i < set->n; i++) {
		const struct mp_entry *e = set->entries[i];

		if (strcmp(e->name, name) == 0 && e->shadow == MP_SHADOW_NONE)
			return e->trust == MP_TRUST_YES && !e->invalid &&
			       mp_entry_is_on(e, &set->settings, MP_TOGGLE_NONE);
	}
	return false;
}

/* Keep only servers that both the agent and mcpool start. */
static void find_doubles(struct mp_connect *c, const struct mp_config_set *set)
{
	size_t n = 0;

	for (size_t i = 0; i < c->view.n_names; i++)
		if (is_served(set, c->view.names[i]))
			c->view.names[n++] = c->view.names[i];
	c->view.n_names = n;
}

static void warn_of_doubles(const struct mp_connect *c)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf names;

	mp_buf_init(&names, MP_KIB(16));
	if (c->view.n_names == 0)
		return;
	for (size_t i = 0; i < c->view.n_names; i++)
		if (mp_buf_addf(&names, "%s%s", i ? ", " : "", c->view.names[i]) < 0)
			break;
	mp_cli_complain("note: %s will load %.*s twice: from its own configuration and through "
			"mcpool. `mcpool import --from %s` copies %s to mcpool's file; then remove "
			"%s from %s.",
			c->agent->label, MP_STR_ARGS(mp_buf_get(&names)), c->agent->name,
			c->view.n_names == 1 ? "it" : "them", c->view.n_names == 1 ? "it" : "them",
			c->file);
}

static void show_indented(struct mp_str text)
{
	while (text.len) {
		const char *end = memchr(text.p, '\n', text.len);
		size_t n = end ? (size_t)(end - text.p) + 1 : text.len;

		printf("  %.*s", (int)n, text.p);
		text = (struct mp_str){text.p + n, text.len - n};
	}
}

static void show_command(struct mp_connect *c)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	const char **argv = mp_agent_get_command(c->agent, MP_AGENT_ADD, &c->way, &c->arena);

	mp_buf_init(&text, MP_LIMIT_CONFIG_FILE);
	if (!argv || mp_agent_show_command(argv, &text) < 0)
		return;
	printf("By its own command%s:\n\n  %.*s\n\nOr by hand:\n\n",
	       c->program[0] ? "" : " (which is not in PATH here)", MP_STR_ARGS(mp_buf_get(&text)));
}

static void tell_token(const struct mp_connect *c)
{
	if (!c->way.url)
		return;
	if (c->agent->token)
		printf("\nIt takes the token from a variable; set it where the agent is "
		       "started:\n\n"
		       "  export " MP_AGENT_TOKEN "=\"$(mcpool token)\"\n");
	else
		printf("\nIt cannot take the token from a variable; `mcpool token` shows it.\n");
	printf("\nThe hub must listen there: mcpool up --http ADDR, or the setting http.listen\n");
}

static void cmd_connect_show(struct mp_connect *c)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf snippet;

	mp_buf_init(&snippet, MP_LIMIT_CONFIG_FILE);
	if (mp_agent_write_snippet(c->agent, &c->way, &snippet) < 0)
		return;
	printf("To connect %s to mcpool:\n\n", c->agent->label);
	show_command(c);
	printf("In %s:\n\n", c->file);
	show_indented(mp_buf_get(&snippet));
	tell_token(c);
	if (c->view.link == MP_AGENT_CONNECTED)
		printf("\nIt is already connected, by \"%s\" in %s.\n", c->view.entry, c->file);
	else if (c->view.link == MP_AGENT_OTHERWISE)
		printf("\nIt is already connected, with different settings; `mcpool connect %s "
		       "--write` replaces them.\n",
		       c->agent->name);
	else if (c->agent->is_yaml)
		printf("\nIt is not connected yet; put these lines in by hand.\n");
	else
		printf("\nIt is not connected yet: `mcpool connect %s%s --write` does it.\n",
		       c->agent->name, c->way.project ? " --project" : "");
	if (is_impaired(c)) {
		printf("But %s; ", c->view.problem);
		tell_remedy(c);
	}
}

static void tell_result(const struct mp_connect *c, const char *word)
{
	static const struct {
		const char *word, *sentence;
	} rows[] = {
		{"connected", "is connected; restart it to see mcpool there"},
		{"already", "is already connected"},
		{"undone", "is no longer connected"},
		{"nothing", "is not connected; there is nothing to undo"},
		{"left", "was left as it is"},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++)
		if (strcmp(word, rows[i].word) == 0)
			printf("%s %s\n", c->agent->label, rows[i].sentence);
}

static void write_words(struct mp_writer *w, const char *key, const char *const *words, size_t n)
{
	mp_write_key(w, mp_str_of(key));
	mp_write_begin_array(w);
	for (size_t i = 0; i < n && words[i]; i++)
		mp_write_text(w, mp_str_of(words[i]));
	mp_write_end_array(w);
}

/* word: the result of --write or --undo; NULL: neither. */
static void report_as_json(struct mp_connect *c, const char *word)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text, snippet;
	const char **argv = mp_agent_get_command(c->agent, MP_AGENT_ADD, &c->way, &c->arena);
	struct mp_writer w;

	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	mp_buf_init(&snippet, MP_LIMIT_CONFIG_FILE);
	if (mp_agent_write_snippet(c->agent, &c->way, &snippet) < 0)
		return;
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	write_agent(&w, c);
	mp_write_member_text(&w, "snippet", mp_buf_get(&snippet));
	if (argv)
		write_words(&w, "command", argv, SIZE_MAX);
	else
		write_or_null(&w, "command", NULL);
	write_words(&w, "twice", c->view.names, c->view.n_names);
	write_or_null(&w, "result", word);
	mp_write_end_object(&w);
	if (mp_write_finish(&w) == 0)
		mp_print_json(mp_buf_get(&text));
}

/* *ret_word: the result of --write or --undo; NULL: neither. */
static int cmd_connect_change(struct mp_connect *c, const char **ret_word)
{
	int r = MP_EXIT_DONE;

	*ret_word = NULL;
	if (c->args->write)
		r = mp_connect_write(c, ret_word);
	else if (c->args->undo)
		r = mp_connect_undo(c, ret_word);
	if (r != MP_EXIT_DONE || !*ret_word)
		return r;
	if (strcmp(*ret_word, "left") != 0)
		c->view.link = c->args->write ? MP_AGENT_CONNECTED : MP_AGENT_APART;
	if (is_connected(c) && !c->view.entry)
		c->view.entry = MP_AGENT_ENTRY;
	return r;
}

static int do_one(struct mp_connect *c, const struct mp_config_set *set)
{
	const char *word;
	int r;

	find_doubles(c, set);
	r = cmd_connect_change(c, &word);
	if (r != MP_EXIT_DONE)
		return r;
	if (c->args->json)
		report_as_json(c, word);
	else if (word)
		tell_result(c, word);
	else
		cmd_connect_show(c);
	if (!c->args->undo)
		warn_of_doubles(c);
	return mp_print_finish(MP_EXIT_DONE);
}

static void complain_unknown(const char *name)
{
	const char *names[32];
	const char *like;

	mp_check(mp_agents_n <= MP_ARRAY_LEN(names));
	for (size_t i = 0; i < mp_agents_n; i++)
		names[i] = mp_agents[i].name;
	like = mp_similar_find(name, names, mp_agents_n);
	mp_cli_complain("there is no agent '%s'%s%s%s `mcpool connect` lists them.", name,
			like ? ". Did you mean '" : "", like ? like : "", like ? "'?" : ".");
}

/* Whether this agent can be connected as asked; complains if not. */
static int connect_check(const struct mp_connect *c)
{
	if (c->args->http && !c->agent->url_key)
		mp_cli_complain("%s does not connect over HTTP; without --http it uses `mcpool "
				"stdio`",
				c->agent->label);
	else if (!c->file)
		mp_cli_complain(c->way.project ? "%s has no file for a project"
					       : "%s has no file: HOME is not set",
				c->agent->label);
	else
		return MP_EXIT_DONE;
	return MP_EXIT_USAGE;
}

static int connect_one(struct mp_connect *c, const char *name)
{
	MP_CLEANUP(mp_configured_done) struct mp_configured configured = {0};
	const struct mp_agent *a = mp_agent_find(name);
	struct mcpool_error why = {0};
	int r;

	if (!a) {
		complain_unknown(name);
		return MP_EXIT_USAGE;
	}
	if (cmd_connect_look(c, a, &why) < 0) {
		mp_cli_complain_as(why.code, "%s", why.message);
		return MP_EXIT_CONFIG;
	}
	r = connect_check(c);
	if (r != MP_EXIT_DONE)
		return r;
	(void)mp_configured_load(&configured, c->args); /* without it there are no duplicates */
	return do_one(c, configured.set);
}

/* --- all that are here ----------------------------------------------------------------------- */

/* Returns the exit code. w: for --json; NULL: text for people. */
static int connect_next(struct mp_connect *c, const struct mp_config_set *set, struct mp_writer *w)
{
	const char *word = NULL;
	int r;

	find_doubles(c, set);
	r = connect_check(c);
	if (r == MP_EXIT_DONE)
		r = cmd_connect_change(c, &word);
	if (w) {
		mp_write_begin_object(w);
		write_agent(w, c);
		write_or_null(w, "result", word);
		mp_write_end_object(w);
	} else if (word) {
		tell_result(c, word);
	}
	if (word && c->args->write)
		warn_of_doubles(c);
	return r;
}

/* Agents that are not found here, or have no file that we can change, are left out. */
static bool is_next(const struct mp_connect *c)
{
	if (!is_found(c) || (!c->file && c->way.project))
		return false;
	if (!c->agent->is_yaml)
		return true;
	mp_cli_complain("note: %s is left out, because its file is YAML; `mcpool connect %s` shows "
			"what to do by hand",
			c->agent->label, c->agent->name);
	return false;
}

/* One that fails does not stop the others; the first failure is the exit code. */
static int connect_all(struct mp_connect *c)
{
	MP_CLEANUP(mp_configured_done) struct mp_configured configured = {0};
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;
	int first = MP_EXIT_DONE;

	(void)mp_configured_load(&configured, c->args);
	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	mp_write_key(&w, MP_STR("agents"));
	mp_write_begin_array(&w);
	for (size_t i = 0; i < mp_agents_n; i++) {
		struct mcpool_error why = {0};
		int r = MP_EXIT_DONE;

		if (cmd_connect_look(c, &mp_agents[i], &why) < 0) {
			mp_cli_complain_as(why.code, "%s", why.message);
			r = MP_EXIT_CONFIG;
		} else if (is_next(c)) {
			r = connect_next(c, configured.set, c->args->json ? &w : NULL);
		}
		if (first == MP_EXIT_DONE)
			first = r;
	}
	mp_write_end_array(&w);
	mp_write_end_object(&w);
	if (c->args->json && first == MP_EXIT_DONE && mp_write_finish(&w) == 0)
		mp_print_json(mp_buf_get(&text));
	return mp_print_finish(first);
}

/* Whether these options go together; complains if not. */
static bool connect_is_clear(const struct mp_cli_args *args)
{
	bool changes = args->write || args->undo;

	if (args->write && args->undo)
		mp_cli_complain("say --write or --undo, not both");
	else if (args->all && args->n_words)
		mp_cli_complain("say %s or --all, not both", args->words[0]);
	else if (args->all && !changes)
		mp_cli_complain("--all needs --write or --undo; `mcpool connect` lists the agents "
				"that are here");
	else if (changes && args->n_words == 0 && !args->all)
		mp_cli_complain("which agent? `mcpool connect` lists them, --all means each that "
				"is here");
	else
		return true;
	return false;
}

static int run_connect(const struct mp_verb *verb, int argc, char **argv)
{
	MP_CLEANUP(cmd_connect_done) struct mp_connect c = {0};
	struct mp_cli_args args;
	int r = mp_cli_read_args(verb, argc, argv, 0, 1, &args);

	if (r)
		return r - 1;
	c.args = &args;
	if (!connect_is_clear(&args))
		return MP_EXIT_USAGE;
	r = choose_way(&c);
	if (r != MP_EXIT_DONE)
		return r;
	if (args.all)
		return connect_all(&c);
	return args.n_words ? connect_one(&c, args.words[0]) : list_all(&c);
}
