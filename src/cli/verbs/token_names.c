/*
 * token_names.c - `mcpool token add`, `list` and `rm`: tokens with names and limits.
 */
#include "cli/verbs/token_names.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/limits.h"
#include "base/mem.h"
#include "cli/display/safe.h"
#include "cli/servers/configured.h"
#include "face/named_tokens.h"
#include "json/write.h"
#include "store/tokens.h"

enum { NAME_MAX_LEN = 64 };

struct token_job {
	const struct mp_cli_args *args;
	struct mp_db *db;
};

static int token_refuse(const struct mcpool_error *why)
{
	mp_cli_complain_as(why->code, "%s", why->message);
	return MP_EXIT_CONFIG;
}

static int64_t token_now_ms(void)
{
	return (int64_t)time(NULL) * 1000;
}

/* --- output ---------------------------------------------------------------------------------- */

/* Each ends in LF. */
static void token_write_list(struct mp_writer *w, const char *key, const char *lines)
{
	mp_write_key(w, mp_str_of(key));
	mp_write_begin_array(w);
	for (const char *end; (end = strchr(lines, '\n')); lines = end + 1)
		mp_write_text(w, (struct mp_str){lines, (size_t)(end - lines)});
	mp_write_end_array(w);
}

static void token_write_time(struct mp_writer *w, const char *key, int64_t ms)
{
	mp_write_key(w, mp_str_of(key));
	if (ms)
		mp_write_i64(w, ms);
	else
		mp_write_null(w);
}

static void token_write(struct mp_writer *w, const struct mp_token_record *t, const char *token)
{
	mp_write_begin_object(w);
	mp_write_member_text(w, "name", mp_str_of(t->name));
	if (token)
		mp_write_member_text(w, "token", mp_str_of(token));
	token_write_list(w, "servers", t->servers);
	token_write_list(w, "tools", t->tools);
	mp_write_member_i64(w, "createdMs", t->created_ms);
	token_write_time(w, "expiresMs", t->expires_ms);
	if (!token)
		token_write_time(w, "usedMs", t->used_ms);
	mp_write_end_object(w);
}

static int token_print(struct mp_writer *w, struct mp_buf *text)
{
	if (mp_write_finish(w) < 0)
		return MP_EXIT_CONFIG;
	mp_print_json(mp_buf_get(text));
	mp_wipe(text->data, text->len);
	return MP_EXIT_DONE;
}

/* --- add ------------------------------------------------------------------------------------- */

static bool token_is_name(const char *name)
{
	size_t n = strlen(name);

	return n && n <= NAME_MAX_LEN &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.@") ==
		       n;
}

/* "a,b" and "c" to "a LF b LF c LF". False: a part is empty, or no plain text. */
static bool token_join(const struct mp_cli_list *given, struct mp_buf *out)
{
	for (size_t i = 0; i < given->n; i++)
		for (const char *p = given->items[i]; p;) {
			size_t n = strcspn(p, ",");
			struct mp_str part = mp_str_trim((struct mp_str){p, n});

			for (size_t k = 0; k < part.len; k++)
				if ((unsigned char)part.p[k] < ' ')
					return false;
			if (!part.len || mp_buf_add_str(out, part) < 0 ||
			    mp_buf_add_char(out, '\n') < 0)
				return false;
			p = p[n] ? p + n + 1 : NULL;
		}
	return mp_buf_terminate(out) == 0;
}

/* 0: without an end. False: it is not a duration. */
static bool token_read_end(const char *text, int64_t now_ms, int64_t *ret_ms)
{
	*ret_ms = 0;
	if (!text)
		return true;
	if (!mp_cli_read_span(text, ret_ms))
		return false;
	*ret_ms += now_ms;
	return true;
}

static int token_show(const struct token_job *job, const struct mp_token_record *t,
		      const char *token)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;

	mp_buf_init(&text, MP_LIMIT_USER_FILE);
	if (!job->args->json) {
		printf("%s\n", token);
		fflush(stdout);
		fprintf(stderr,
			"This is the token of '%s'; it is not shown again. Take it back: "
			"mcpool token rm %s\n",
			t->name, t->name);
		return MP_EXIT_DONE;
	}
	mp_write_init(&w, &text, NULL);
	token_write(&w, t, token);
	return token_print(&w, &text);
}

static int token_add(struct token_job *job)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf servers, tools;
	char token[MP_NAMED_TOKEN + 1];
	struct mp_token_record t = {.name = job->args->words[1], .created_ms = token_now_ms()};
	struct mcpool_error why;
	int r;

	mp_buf_init(&servers, MP_KIB(64));
	mp_buf_init(&tools, MP_KIB(64));
	if (!token_is_name(t.name)) {
		mp_cli_complain("a name has at most %d letters, digits, '-', '_', '.' and '@'",
				NAME_MAX_LEN);
		return MP_EXIT_USAGE;
	}
	if (!token_join(&job->args->servers, &servers) || !token_join(&job->args->tools, &tools)) {
		mp_cli_complain("--servers and --tools are names or patterns, with commas between");
		return MP_EXIT_USAGE;
	}
	if (!token_read_end(job->args->expires, t.created_ms, &t.expires_ms)) {
		mp_cli_complain("--expires is a duration such as 12h or 30d, ten years at most");
		return MP_EXIT_USAGE;
	}
	t.servers = servers.data;
	t.tools = tools.data;
	mp_named_token_make(token);
	mp_named_token_hash(mp_str_of(token), t.digest);
	r = mp_tokens_add(job->db, &t, &why);
	r = r < 0 ? token_refuse(&why) : token_show(job, &t, token);
	mp_wipe(token, sizeof(token));
	return r;
}

/* --- list ------------------------------------------------------------------------------------ */

struct token_listing {
	struct mp_writer w;
	struct mp_buf text;
	bool json;
	int64_t now_ms;
	size_t n;
};

static void token_say_time(const char *before, int64_t ms, const char *otherwise)
{
	char text[40] = "";
	time_t t = (time_t)(ms / 1000);
	struct tm tm;

	localtime_r(&t, &tm);
	if (!ms || strftime(text, sizeof(text), "%Y-%m-%d %H:%M", &tm) == 0)
		snprintf(text, sizeof(text), "%s", otherwise);
	printf("  %s%s", before, text);
}

/* The texts came from a command line: they are made safe for a terminal (V40). */
static void token_say_list(const char *before, const char *lines)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf safe;
	const char *comma = before;

	mp_buf_init(&safe, MP_KIB(256));
	for (const char *end; (end = strchr(lines, '\n')); lines = end + 1) {
		if (mp_buf_addf(&safe, "%s", comma) < 0 ||
		    mp_safe_add_json(&safe, (struct mp_str){lines, (size_t)(end - lines)}) < 0)
			return;
		comma = ",";
	}
	printf("%.*s", MP_STR_ARGS(mp_buf_get(&safe)));
}

static int token_list_one(const struct mp_token_record *t, void *u)
{
	struct token_listing *l = u;

	l->n++;
	if (l->json) {
		token_write(&l->w, t, NULL);
		return 0;
	}
	printf("%-20s", t->name);
	token_say_time("made ", t->created_ms, "");
	token_say_time(t->expires_ms && t->expires_ms <= l->now_ms ? "EXPIRED " : "expires ",
		       t->expires_ms, "never");
	token_say_time("used ", t->used_ms, "never");
	token_say_list("  servers ", t->servers);
	token_say_list("  tools ", t->tools);
	printf("\n");
	return 0;
}

static int token_list(struct token_job *job)
{
	struct token_listing l = {.json = job->args->json, .now_ms = token_now_ms()};
	struct mcpool_error why;
	int r;

	mp_buf_init(&l.text, MP_LIMIT_MESSAGE);
	mp_write_init(&l.w, &l.text, NULL);
	mp_write_begin_object(&l.w);
	mp_write_key(&l.w, MP_STR("tokens"));
	mp_write_begin_array(&l.w);
	r = mp_tokens_each(job->db, token_list_one, &l, &why);
	mp_write_end_array(&l.w);
	mp_write_end_object(&l.w);
	if (r < 0)
		r = token_refuse(&why);
	else if (l.json)
		r = token_print(&l.w, &l.text);
	else if (l.n == 0)
		printf("There are no tokens with names. Make one: mcpool token add NAME\n");
	mp_buf_done(&l.text);
	return r;
}

/* --- rm -------------------------------------------------------------------------------------- */

static int token_remove(struct token_job *job)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	const char *name = job->args->words[1];
	struct mcpool_error why;
	struct mp_writer w;
	int r = mp_tokens_remove(job->db, name, &why);

	mp_buf_init(&text, MP_KIB(16));
	if (r < 0)
		return token_refuse(&why);
	if (r == 0) {
		mp_cli_complain_as(MCPOOL_ENOENT,
				   "there is no token '%s'; `mcpool token list` lists them", name);
		return MP_EXIT_NOT_FOUND;
	}
	if (!job->args->json) {
		printf("Removed %s; it is void from now on\n", name);
		return MP_EXIT_DONE;
	}
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "name", mp_str_of(name));
	mp_write_end_object(&w);
	return token_print(&w, &text);
}

/* --- the verb -------------------------------------------------------------------------------- */

static const struct {
	const char *word;
	int n_words;
	int (*run)(struct token_job *job);
} token_actions[] = {
	{"add", 2, token_add},
	{"list", 1, token_list},
	{"rm", 2, token_remove},
};

/* The limits belong to `add`, and --rotate to the token of the file. */
static bool token_fits(const struct mp_cli_args *args, size_t action)
{
	bool has_limits = args->servers.n || args->tools.n || args->expires;

	return args->n_words == token_actions[action].n_words && !args->rotate &&
	       (!has_limits || token_actions[action].run == token_add);
}

int mp_token_names_run(const struct mp_cli_args *args)
{
	struct token_job job = {.args = args};
	struct mcpool_error why;
	size_t i = 0;
	int r;

	while (i < MP_ARRAY_LEN(token_actions) &&
	       strcmp(args->words[0], token_actions[i].word) != 0)
		i++;
	if (i == MP_ARRAY_LEN(token_actions) || !token_fits(args, i)) {
		mp_cli_complain("usage: mcpool token %s", args->verb->arguments);
		return MP_EXIT_USAGE;
	}
	if (mp_db_open_default(&job.db, &why) < 0)
		return token_refuse(&why);
	r = token_actions[i].run(&job);
	job.db = mp_db_close(job.db);
	return r;
}
