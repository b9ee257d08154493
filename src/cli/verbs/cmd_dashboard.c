/*
 * cmd_dashboard.c - `mcpool dashboard`: opens the hub's page in the browser, logged in.
 */
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "cli/display/browser.h"
#include "cli/display/cli.h"
#include "cli/servers/hub_client.h"
#include "cli/verbs/verbs.h"
#include "face/browser_logins.h"
#include "json/value.h"
#include "json/write.h"

static int run_dashboard(const struct mp_verb *verb, int argc, char **argv);

const struct mp_verb mp_verb_dashboard = {
	"dashboard",
	"",
	"Open the page that shows everything the hub knows, in your browser.",
	"  --no-browser     only print the address\n"
	"  --log-out        end the logins of all browsers\n"
	"  --json           one JSON object instead of text for people\n",
	"Starts the hub if none runs, and makes it listen on this machine if it does not. The\n"
	"address logs one browser in, works once and for a minute; a login ends after 7 days.\n"
	"Over ssh forward the port: ssh -L 7717:127.0.0.1:7717 HOST\n",
	run_dashboard,
	NULL,
	MP_VERB_PLAIN,
};

/* The hub follows the file. */
static int dashboard_log_out(void)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf path;
	struct mcpool_error why;

	mp_buf_init(&path, PATH_MAX);
	if (mp_browser_logins_get_path(&path) < 0) {
		mp_cli_complain("HOME is not set, so there are no logins");
		return MP_EXIT_CONFIG;
	}
	if (mp_http_token_rotate(path.data, &why) < 0) {
		mp_cli_complain("%s", why.message);
		return MP_EXIT_CONFIG;
	}
	puts("All browsers are logged out.");
	return mp_print_finish(MP_EXIT_DONE);
}

static void dashboard_tell(const char *url, bool is_open)
{
	printf("%s\n", url);
	if (is_open)
		puts("It opens in your browser. The address works once, within a minute.");
	else
		puts("Open it in your browser within a minute; it works once.");
}

static int run_dashboard(const struct mp_verb *verb, int argc, char **argv)
{
	MP_CLEANUP(mp_hub_client_freep) struct mp_hub_client *c = NULL;
	MP_CLEANUP(mp_buf_done) struct mp_buf result;
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mcpool_error why;
	struct mp_cli_args args;
	struct mp_str url;
	const char *text;
	int r = mp_cli_read_args(verb, argc, argv, 0, 0, &args);

	mp_buf_init(&result, MP_KIB(64));
	mp_tape_init(&t, 0);
	mp_arena_init(&arena, MP_KIB(64));
	if (r)
		return r - 1;
	if (args.log_out)
		return dashboard_log_out();
	r = mp_cmd_reach_hub(&c);
	if (r != MP_EXIT_DONE)
		return r;
	if (mp_hub_client_ask(c, "mcpool/dashboard", MP_STR("{}"), &result, &why) < 0) {
		mp_cli_complain_as(why.code,
				   why.rpc_code == -32601
					   ? "the running hub is an older mcpool; `mcpool "
					     "down`, then try again"
					   : "%s",
				   why.message);
		return mp_cli_exit_code(&why);
	}
	if (args.json) {
		mp_print_json(mp_buf_get(&result));
		return mp_print_finish(MP_EXIT_DONE);
	}
	if (mp_tape_parse(&t, mp_buf_get(&result), NULL) < 0 ||
	    mp_value_text(&t, mp_value_get(&t, MP_ROOT, "url"), &arena, &url) < 0 ||
	    !(text = mp_arena_dup(&arena, url))) {
		mp_cli_complain("the hub's answer has no address");
		return MP_EXIT_PROTOCOL;
	}
	dashboard_tell(text, !args.no_browser && mp_browser_open(text));
	return mp_print_finish(MP_EXIT_DONE);
}
