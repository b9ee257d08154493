/*
 * cmd_logs.c - `mcpool logs`: what servers wrote to stderr, with times, from their files; -f goes
 * on with what comes. Works with or without a hub.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/paths.h"
#include "cli/console/log_file.h"
#include "cli/display/safe.h"
#include "cli/verbs/verbs.h"
#include "json/write.h"

enum {
	LOOK_MS = 250,          /* how often files are looked at with -f */
	MAX_FILES = 1000,       /* open at once */
	ALL_BYTES = 4 << 20,    /* of the ends of all files that are read at first */
	MOST_BYTES = 256 << 10, /* of one of them */
	LEAST_BYTES = 4 << 10,
	LINES = 100, /* that are shown at first */
};

static int run_logs(const struct mp_verb *verb, int argc, char **argv);

const struct mp_verb mp_verb_logs = {
	"logs",
	"[NAME...]",
	"What servers wrote to stderr, with times; the last 100 lines.",
	"  --follow, -f     go on with what comes, until Ctrl-C\n"
	"  --hub            the hub's own log\n"
	"  --json           one JSON object a line instead of text for people\n",
	"NAME...: only these servers. The files are logs/NAME.log in the state folder, 5 MiB each\n"
	"and one older one. Secrets in them are dots.\n",
	run_logs,
	NULL,
	MP_VERB_PLAIN,
};

struct log_line {
	const struct mp_log_file *file;
	const char *stamp; /* of its line, or of the last line before it that has one */
	struct mp_str text;
	size_t number;
};

struct logs {
	const struct mp_cli_args *args;
	struct mp_log_file *files; /* owned */
	size_t n;
	size_t width; /* of the longest name */
	bool is_coloured;
};

static void logs_done(struct logs *l)
{
	for (size_t i = 0; i < l->n; i++)
		mp_log_file_close(&l->files[i]);
	mp_free(l->files);
}

/* --- files ----------------------------------------------------------------------------------- */

static void logs_add(struct logs *l, const char *name, const char *path)
{
	struct mp_log_file *f = &l->files[l->n];

	if (l->n == MAX_FILES || strlen(path) >= sizeof(f->path))
		return;
	mp_log_file_open(f, name, path);
	l->n++;
	if (strlen(f->name) > l->width)
		l->width = strlen(f->name);
}

static int logs_add_named(struct logs *l, const char *name)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf path;

	mp_buf_init(&path, PATH_MAX);
	if (strlen(name) > MP_LIMIT_NAME || mp_path_log(name, &path) < 0) {
		mp_cli_complain("there is no state folder: set HOME or XDG_STATE_HOME");
		return MP_EXIT_CONFIG;
	}
	logs_add(l, name, path.data);
	if (l->files[l->n - 1].fd >= 0 || l->args->follow)
		return MP_EXIT_DONE;
	mp_cli_complain_as(MCPOOL_ENOENT,
			   "'%s' has written nothing to stderr so far; `mcpool list` lists servers",
			   name);
	return MP_EXIT_NOT_FOUND;
}

static int logs_add_hub(struct logs *l)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf path;

	mp_buf_init(&path, PATH_MAX);
	if (mp_path_state("hub.log", &path) < 0) {
		mp_cli_complain("there is no state folder: set HOME or XDG_STATE_HOME");
		return MP_EXIT_CONFIG;
	}
	logs_add(l, "mcpool", path.data);
	return MP_EXIT_DONE;
}

/* All that are there. */
static int logs_add_all(struct logs *l)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf folder;
	struct dirent *e;
	DIR *dir = NULL;

	mp_buf_init(&folder, PATH_MAX);
	if (mp_path_state("logs", &folder) == 0)
		dir = opendir(folder.data);
	while (dir && (e = readdir(dir))) {
		size_t len = strlen(e->d_name);
		char name[MP_LIMIT_NAME + 1], path[PATH_MAX];

		if (len <= 4 || len - 4 >= sizeof(name) || strcmp(e->d_name + len - 4, ".log") != 0)
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)(len - 4), e->d_name);
		if (snprintf(path, sizeof(path), "%s/%s", folder.data, e->d_name) <
		    (int)sizeof(path))
			logs_add(l, name, path);
	}
	if (dir)
		closedir(dir);
	return MP_EXIT_DONE;
}

/* --- lines ----------------------------------------------------------------------------------- */

static void line_print_json(const struct log_line *line)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_str words = line->text;
	struct mp_writer w;

	mp_buf_init(&text, MP_MIB(8));
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "server", mp_str_of(line->file->name));
	if (mp_log_line_has_stamp(words)) {
		mp_write_member_text(&w, "time", (struct mp_str){words.p, MP_LOG_STAMP});
		words = (struct mp_str){words.p + MP_LOG_STAMP + 1, words.len - MP_LOG_STAMP - 1};
	}
	mp_write_member_text(&w, "text", words);
	mp_write_end_object(&w);
	if (mp_write_finish(&w) == 0)
		(void)!mp_print_json_line(mp_buf_get(&text));
}

static void line_print(const struct logs *l, const struct log_line *line)
{
	static const char *const colours[] = {"36", "33", "32", "35", "34", "31"};
	MP_CLEANUP(mp_buf_done) struct mp_buf name, text;
	size_t which = (size_t)(line->file - l->files) % MP_ARRAY_LEN(colours);

	mp_buf_init(&name, MP_KIB(64));
	mp_buf_init(&text, MP_MIB(8));
	if (l->args->json) {
		line_print_json(line);
		return;
	}
	if (mp_safe_add(&name, mp_str_of(line->file->name), MP_SAFE_LINE) < 0 ||
	    (mp_print_is_terminal() ? mp_safe_add(&text, line->text, MP_SAFE_LINE)
				    : mp_buf_add_str(&text, line->text)) < 0)
		return;
	if (l->n > 1 && l->is_coloured)
		printf("\033[%sm%-*.*s\033[0m  ", colours[which], (int)l->width,
		       MP_STR_ARGS(mp_buf_get(&name)));
	else if (l->n > 1)
		printf("%-*.*s  ", (int)l->width, MP_STR_ARGS(mp_buf_get(&name)));
	printf("%.*s\n", MP_STR_ARGS(mp_buf_get(&text)));
}

static int line_compare(const void *a, const void *b)
{
	const struct log_line *one = a, *two = b;
	int order = memcmp(one->stamp, two->stamp, MP_LOG_STAMP);

	if (order)
		return order;
	return one->number < two->number ? -1 : one->number > two->number;
}

/* What all files have, in the order of its times; the last LINES of it. */
static void logs_print_read(struct logs *l, bool all)
{
	static const char none[MP_LOG_STAMP + 1] = "                        ";
	size_t n = 0, room = 0, at;
	struct log_line *lines;
	struct mp_str text;

	for (size_t i = 0; i < l->n; i++)
		for (at = 0; mp_log_file_next_line(&l->files[i], &at, &text);)
			room++;
	lines = mp_alloc((room + 1) * sizeof(*lines));
	for (size_t i = 0; i < l->n; i++) {
		const char *stamp = none;

		for (at = 0; mp_log_file_next_line(&l->files[i], &at, &text); n++) {
			stamp = mp_log_line_has_stamp(text) ? text.p : stamp;
			lines[n] = (struct log_line){&l->files[i], stamp, text, n};
		}
	}
	qsort(lines, n, sizeof(*lines), line_compare);
	for (size_t i = all || n < LINES ? 0 : n - LINES; i < n; i++)
		line_print(l, &lines[i]);
	mp_free(lines);
	for (size_t i = 0; i < l->n; i++) {
		for (at = 0; mp_log_file_next_line(&l->files[i], &at, &text);)
			;
		if (at == 0 && l->files[i].text.len > MP_MIB(1) / 2) /* a line without an end */
			at = l->files[i].text.len;
		mp_buf_consume(&l->files[i].text, at);
	}
}

/* --- the verb -------------------------------------------------------------------------------- */

static void logs_follow(struct logs *l)
{
	struct timespec moment = {0, LOOK_MS * 1000000L};

	while (fflush(stdout) == 0) {
		nanosleep(&moment, NULL);
		for (size_t i = 0; i < l->n; i++)
			mp_log_file_read(&l->files[i], MP_MIB(1) - 1);
		logs_print_read(l, true);
	}
}

static int logs_collect(struct logs *l)
{
	int r = MP_EXIT_DONE;

	l->files = mp_alloc(MAX_FILES * sizeof(*l->files));
	if (l->args->hub)
		return logs_add_hub(l);
	if (l->args->n_words == 0)
		return logs_add_all(l);
	for (int i = 0; i < l->args->n_words && r == MP_EXIT_DONE; i++)
		r = logs_add_named(l, l->args->words[i]);
	return r;
}

static int run_logs(const struct mp_verb *verb, int argc, char **argv)
{
	struct mp_cli_args args;
	MP_CLEANUP(logs_done) struct logs l = {.args = &args};
	const char *term = getenv("TERM");
	size_t bytes;
	int r = mp_cli_read_args(verb, argc, argv, 0, MAX_FILES, &args);

	if (r)
		return r - 1;
	if (args.hub && args.n_words) {
		mp_cli_complain("--hub is the log of the hub; name servers without it");
		return MP_EXIT_USAGE;
	}
	r = logs_collect(&l);
	if (r)
		return r;
	l.is_coloured =
		mp_print_is_terminal() && !getenv("NO_COLOR") && term && strcmp(term, "dumb") != 0;
	bytes = l.n ? (size_t)ALL_BYTES / l.n : 0;
	bytes = bytes > MOST_BYTES ? MOST_BYTES : bytes < LEAST_BYTES ? LEAST_BYTES : bytes;
	for (size_t i = 0; i < l.n; i++)
		mp_log_file_read_end(&l.files[i], bytes);
	mp_print_need_no_json();
	logs_print_read(&l, false);
	if (args.follow)
		logs_follow(&l);
	else if (l.n == 0)
		mp_cli_complain("no server has written anything to stderr so far");
	return mp_print_finish(MP_EXIT_DONE);
}
