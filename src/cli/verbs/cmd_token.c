/*
 * cmd_token.c - `mcpool token`: shows or replaces the HTTP bearer token; see token_names.c.
 */
#include <limits.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/mem.h"
#include "cli/display/cli.h"
#include "cli/verbs/token_names.h"
#include "cli/verbs/verbs.h"
#include "face/http_token.h"
#include "json/write.h"

static int run_token(const struct mp_verb *verb, int argc, char **argv);
static const char *const list_of_tokens[] = {"tokens", NULL};

const struct mp_verb mp_verb_token = {
	"token",
	"[add NAME | list | rm NAME]",
	"Show the token that agents need over HTTP; make others, with names and limits.",
	"  --rotate         make a new one; the old one is void from that moment\n"
	"  --servers A,B    add: these servers and no others; names or patterns, repeatable\n"
	"  --tools PATTERN  add: these tools and no others, such as 'read_*'; repeatable\n"
	"  --expires TIME   add: it is void after this time, such as 12h or 30d; default: never\n"
	"  --json           one JSON object instead of text for people\n",
	"Alone it shows the token in the file `token` of the state folder, which only you can\n"
	"read, and makes one when there is none. Agents send a token as\n"
	"`Authorization: Bearer TOKEN`. Those that connect by `mcpool stdio` need none.\n\n"
	"`add` makes a token for one person or program and shows it once; only its\n"
	"hash is kept. `list` says what each may see and when it was last used. `rm` revokes it\n"
	"at once, also for open sessions.\n",
	run_token,
	list_of_tokens,
	MP_VERB_PLAIN,
};

static int cmd_token_show(const struct mp_http_token *t, bool json)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;

	mp_buf_init(&text, MP_KIB(16));
	if (!json) {
		printf("%s\n", t->text);
		return MP_EXIT_DONE;
	}
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "token", (struct mp_str){t->text, t->len});
	mp_write_member_text(&w, "file", mp_str_of(t->path));
	mp_write_end_object(&w);
	if (mp_write_finish(&w) < 0)
		return MP_EXIT_CONFIG;
	mp_print_json(mp_buf_get(&text));
	mp_wipe(text.data, text.len);
	return MP_EXIT_DONE;
}

static int run_token(const struct mp_verb *verb, int argc, char **argv)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf path;
	struct mp_cli_args args;
	struct mcpool_error why;
	struct mp_http_token t = {0};
	int r = mp_cli_read_args(verb, argc, argv, 0, -1, &args);

	mp_buf_init(&path, PATH_MAX);
	if (r)
		return r - 1;
	if (args.n_words > 0)
		return mp_print_finish(mp_token_names_run(&args));
	if (args.servers.n || args.tools.n || args.expires) {
		mp_cli_complain("--servers, --tools and --expires are for `mcpool token add NAME`");
		return MP_EXIT_USAGE;
	}
	if (mp_http_token_get_path(&path) < 0) {
		mp_cli_complain("HOME is not set, so there is no place for a token");
		return MP_EXIT_CONFIG;
	}
	if ((args.rotate && mp_http_token_rotate(path.data, &why) < 0) ||
	    mp_http_token_open(&t, path.data, &why) < 0) {
		mp_cli_complain("%s", why.message);
		return MP_EXIT_CONFIG;
	}
	r = cmd_token_show(&t, args.json);
	mp_http_token_done(&t);
	mp_wipe(t.text, sizeof(t.text));
	return mp_print_finish(r);
}
