/*
 * test_expand.c - placeholders of every spelling: replaced once, or left exactly as they are.
 */
#include "test.h"
#include "folder.h"

#include <fcntl.h>

#include "base/buf.h"
#include "config/values/expand.h"

static char *const env[] = {"USER=ada",
			    "EMPTY=",
			    "TOKEN=t0k$USER${USER}",
			    "A_1=one",
			    "CLAUDE_PLUGIN_ROOT=/env",
			    "AB=two",
			    "A=B=c",
			    NULL};
static char *const layer[] = {"USER=layered", "ONLY=here", NULL};

static char told[512];
static char warned[512];

static void tell(void *u, struct mp_str name, const char *value)
{
	size_t n = strlen(told);

	(void)u;
	snprintf(told + n, sizeof(told) - n, "%.*s=%s;", MP_STR_ARGS(name), value ? value : "?");
}

static void note_warning(void *u, const char *message)
{
	(void)u;
	snprintf(warned, sizeof(warned), "%s", message);
}

static struct mp_expand with(unsigned spellings)
{
	told[0] = warned[0] = '\0';
	return (struct mp_expand){
		.spellings = spellings,
		.env = env,
		.root = "/home/ada/code/site",
		.home = "/home/ada",
		.folder = "/nowhere",
		.server = "github",
		.file = "/p/.mcp.json",
		.on_variable = tell,
		.on_warning = note_warning,
	};
}

struct result {
	struct mp_buf out;
	struct mcpool_error error;
	int r;
};

static void done(struct result *x)
{
	mp_buf_done(&x->out);
}

static void run(struct result *x, const struct mp_expand *e, const char *text)
{
	mp_buf_done(&x->out);
	mp_buf_init(&x->out, 100000);
	memset(&x->error, 0, sizeof(x->error));
	x->r = mp_expand_text(e, mp_str_of(text), &x->out, &x->error);
}

static bool gives(unsigned spellings, const char *text, const char *want)
{
	MP_CLEANUP(done) struct result x = {.r = 0};
	struct mp_expand e = with(spellings);

	run(&x, &e, text);
	if (x.r < 0)
		return test_true(false, x.error.message, __FILE__, __LINE__);
	return test_same_text(mp_buf_get(&x.out), mp_str_of(want), text, __FILE__, __LINE__);
}

static bool fails(unsigned spellings, const char *text, int code, const char *words)
{
	MP_CLEANUP(done) struct result x = {.r = 0};
	struct mp_expand e = with(spellings);

	run(&x, &e, text);
	return test_equal(x.r, code, text, __FILE__, __LINE__) &&
	       test_equal(x.error.code, code, text, __FILE__, __LINE__) &&
	       test_equal((long long)x.out.len, 0, text, __FILE__, __LINE__) &&
	       test_true(strstr(x.error.message, words), x.error.message, __FILE__, __LINE__);
}

static bool stays(unsigned spellings, const char *text)
{
	return gives(spellings, text, text);
}

/* B30 B31 U5 */
TEST(variables_and_defaults)
{
	CHECK(gives(MP_EXPAND_VARIABLE, "", ""));
	CHECK(gives(MP_EXPAND_VARIABLE, "plain", "plain"));
	CHECK(gives(MP_EXPAND_VARIABLE, "${USER}", "ada"));
	CHECK(gives(MP_EXPAND_VARIABLE, "a${USER}b${A_1}c", "aadabonec"));
	CHECK(gives(MP_EXPAND_VARIABLE, "${EMPTY}", "")); /* empty is not missing */
	CHECK(gives(MP_EXPAND_VARIABLE, "${EMPTY:-d}", "d"));
	CHECK(gives(MP_EXPAND_VARIABLE, "${NONE:-d}", "d"));
	CHECK(gives(MP_EXPAND_VARIABLE, "${NONE:-}", ""));
	CHECK(gives(MP_EXPAND_VARIABLE, "${USER:-d}", "ada"));
	CHECK(gives(MP_EXPAND_VARIABLE, "https://${HOST:-api.example.com}:${PORT:-443}/",
		    "https://api.example.com:443/"));
	CHECK(gives(MP_EXPAND_VARIABLE, "${NONE:-a:-b}", "a:-b"));
	CHECK(gives(MP_EXPAND_VARIABLE, "$${USER}", "$ada")); /* there is no escape */
	CHECK(gives(MP_EXPAND_VARIABLE, "\\${USER}", "\\ada"));
}

/* B31 */
TEST(defaults_hold_placeholders_and_braces)
{
	CHECK(gives(MP_EXPAND_VARIABLE, "${NONE:-${USER}}", "ada"));
	CHECK(gives(MP_EXPAND_VARIABLE, "${NONE:-${EMPTY:-x${USER}y}}z", "xadayz"));
	CHECK(gives(MP_EXPAND_VARIABLE, "${USER:-${NONE}}", "ada")); /* not looked at */
	CHECK(gives(MP_EXPAND_VARIABLE, "${NONE:-{\"a\":{}}}", "{\"a\":{}}"));
	CHECK(gives(MP_EXPAND_VARIABLE, "${USER:-{\"a\":{}}}.", "ada."));
	CHECK(gives(MP_EXPAND_VARIABLE | MP_EXPAND_ENV, "${NONE:-${env:USER}}", "ada"));
	CHECK(fails(MP_EXPAND_VARIABLE, "${NONE:-${OTHER}}", MCPOOL_ENOENT, "${OTHER}"));
	CHECK(stays(MP_EXPAND_VARIABLE, "${NONE:-{"));
	CHECK(stays(MP_EXPAND_VARIABLE, "${USER:-{} ${USER}")); /* its end is ambiguous */
}

static const char *nest(char *text, size_t size, int levels)
{
	size_t n = 0;

	for (int i = 0; i < levels; i++)
		n += (size_t)snprintf(text + n, size - n, "${NONE:-");
	n += (size_t)snprintf(text + n, size - n, "deep");
	memset(text + n, '}', (size_t)levels);
	text[n + (size_t)levels] = '\0';
	return text;
}

static void count(void *u, struct mp_str name)
{
	(void)name;
	(*(int *)u)++;
}

/* B31 */
TEST(defaults_are_nested_sixteen_deep_at_most)
{
	char text[400];
	int n = 0;

	CHECK(gives(MP_EXPAND_VARIABLE, nest(text, sizeof(text), 16), "deep"));
	CHECK(fails(MP_EXPAND_VARIABLE, nest(text, sizeof(text), 17), MCPOOL_ELIMIT, "16"));
	mp_expand_each_name(MP_EXPAND_VARIABLE, mp_str_of(text), count, &n);
	CHECK_EQ(n, 17);
	n = 0;
	mp_expand_each_name(MP_EXPAND_VARIABLE, mp_str_of(nest(text, sizeof(text), 30)), count, &n);
	CHECK_EQ(n, 17);
}

/* U5 */
TEST(what_a_variable_holds_is_not_looked_at_again)
{
	CHECK(gives(MP_EXPAND_VARIABLE | MP_EXPAND_PLAIN, "${TOKEN}", "t0k$USER${USER}"));
	CHECK(gives(MP_EXPAND_PLAIN, "$TOKEN", "t0k$USER${USER}"));
}

/* B30 */
TEST(what_is_no_placeholder_stays)
{
	static const char *const texts[] = {
		"$",           "${",
		"${}",         "${USER",
		"${USER:",     "${USER:}",
		"${USER:-",    "${USER-x}",
		"${USER:=x}",  "${ USER}",
		"${USER }",    "${1}",
		"${a.b}",      "${A-B}",
		"$USER",       "$(USER)",
		"%USER%",      "{USER}",
		"{env:USER}",  "${env:USER}",
		"${cwd.x}",    "${input:x}",
		"${file:x}",   "$$",
		"}{",          "${user_config.KEY}",
		"${\xc3\xa9}", "${CLAUDE_PLUGIN_ROOTS:x}",
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(texts); i++)
		CHECK(stays(MP_EXPAND_VARIABLE, texts[i]));
	CHECK(stays(0, "${USER} $USER {env:USER} ${env:USER} ${CLAUDE_PLUGIN_ROOT} ${cwd}"));
	CHECK(stays(MP_EXPAND_ENV, "${env:USER:-x} ${env:} ${env:A B} ${env.USER} ${USER}"));
	CHECK(stays(MP_EXPAND_FOLDERS,
		    "${workspaceFolders} ${file} ${userhome} ${workspaceFolder"));
	CHECK(stays(MP_EXPAND_BRACES, "{env:} {env:USER {file:} {envy:USER} ${USER}"));
	CHECK(stays(MP_EXPAND_PLAIN, "$1 $ $- ${USER} $(x)"));
}

TEST(every_tool_has_its_spelling)
{
	unsigned gemini = MP_EXPAND_VARIABLE | MP_EXPAND_PLAIN;
	unsigned code = MP_EXPAND_ENV | MP_EXPAND_FOLDERS | MP_EXPAND_INPUT;

	CHECK(gives(gemini, "$USER/$A_1-${USER}$", "ada/one-ada$"));
	CHECK(gives(gemini, "$$USER", "$ada"));
	CHECK(gives(code, "${env:USER}@${workspaceFolderBasename}", "ada@site"));
	CHECK(gives(code, "${workspaceFolder}${/}a${pathSeparator}b", "/home/ada/code/site/a/b"));
	CHECK(gives(code, "${userHome}:${cwd}", "/home/ada:/home/ada/code/site"));
	CHECK(gives(MP_EXPAND_BRACES, "Bearer {env:USER}{env:NONE}.", "Bearer ada."));
	CHECK(gives(MP_EXPAND_BRACES, "{{env:USER}}", "{ada}"));
	CHECK_TEXT(told, "USER=ada;");
	CHECK(gives(MP_EXPAND_BRACES, "{env:A=B}", "")); /* an invalid name, not the variable A */
}

/* What only its own tool knows is refused by name, whatever the policy for missing ones. */
TEST(inputs_are_an_error_that_names_them)
{
	MP_CLEANUP(done) struct result x = {.r = 0};
	struct mp_expand e = with(MP_EXPAND_INPUT | MP_EXPAND_FOLDERS);

	e.missing = MP_MISSING_LITERAL;
	run(&x, &e, "Bearer ${input:github-token}");
	CHECK_EQ(x.r, MCPOOL_EINVAL);
	CHECK(strstr(x.error.message,
		     "mcp 'github' at /p/.mcp.json asks for ${input:github-token}"));
	CHECK(fails(e.spellings, "${command:a.b}", MCPOOL_EINVAL, "${command:a.b}"));
	CHECK(fails(e.spellings, "${config:a.b}", MCPOOL_EINVAL, "${config:a.b}"));
	CHECK(fails(e.spellings, "${workspaceFolder:api}", MCPOOL_EINVAL,
		    "${workspaceFolder:api}"));
	CHECK(stays(e.spellings, "${input:} ${input:x ${inputs:x}"));
}

/* B32 U5 */
TEST(a_missing_variable_fails_and_says_what_to_do)
{
	CHECK(fails(
		MP_EXPAND_VARIABLE, "a${NONE}b", MCPOOL_ENOENT,
		"Unresolved variable ${NONE} for mcp 'github' at /p/.mcp.json. Set NONE, give a "
		"default with ${NONE:-...}, or set \"missingVariable\": \"literal\"."));
	CHECK(fails(
		MP_EXPAND_VARIABLE | MP_EXPAND_PLAIN, "$NONE", MCPOOL_ENOENT,
		"Unresolved variable $NONE for mcp 'github' at /p/.mcp.json. Set NONE, give a"));
	CHECK(fails(
		MP_EXPAND_ENV, "${env:NONE}", MCPOOL_ENOENT,
		"Unresolved variable ${env:NONE} for mcp 'github' at /p/.mcp.json. Set NONE, or "
		"set \"missingVariable\": \"literal\"."));
	CHECK_TEXT(told, "NONE=?;");
}

/* B32 U5 B41 */
TEST(a_missing_variable_is_tolerated_where_that_was_asked_for)
{
	MP_CLEANUP(done) struct result x = {.r = 0};
	struct mp_expand e = with(MP_EXPAND_VARIABLE);

	e.missing = MP_MISSING_LITERAL;
	run(&x, &e, "a${NONE}b${USER}");
	CHECK_STR(mp_buf_get(&x.out), "a${NONE}bada");
	CHECK_TEXT(warned, "Unresolved variable ${NONE} for mcp 'github' at /p/.mcp.json; it stays "
			   "as it is written.");
	e.missing = MP_MISSING_WARN;
	run(&x, &e, "a${NONE}b${USER}");
	CHECK_STR(mp_buf_get(&x.out), "abada");
	CHECK(strstr(warned, "${NONE} for mcp 'github' at ") &&
	      strstr(warned, "; it is replaced by nothing."));
	e.on_warning = NULL;
	e.on_variable = NULL;
	run(&x, &e, "a${NONE}b");
	CHECK_STR(mp_buf_get(&x.out), "ab");
}

TEST(without_a_home_there_is_no_user_home)
{
	MP_CLEANUP(done) struct result x = {.r = 0};
	struct mp_expand e = with(MP_EXPAND_FOLDERS | MP_EXPAND_BRACES);

	e.home = NULL;
	run(&x, &e, "${userHome}");
	CHECK_EQ(x.r, MCPOOL_ENOENT);
	CHECK(strstr(x.error.message, "${userHome}") && strstr(x.error.message, "Set HOME"));
	run(&x, &e, "{file:~/x}");
	CHECK_EQ(x.r, MCPOOL_EIO);
	e.folder = e.server = e.file = NULL;
	run(&x, &e, "{file:x}");
	CHECK_EQ(x.r, MCPOOL_EIO);
}

/* U5 */
TEST(the_layer_is_asked_first)
{
	MP_CLEANUP(done) struct result x = {.r = 0};
	struct mp_expand e = with(MP_EXPAND_VARIABLE);

	e.layer = layer;
	run(&x, &e, "${USER} ${ONLY} ${A_1} ${NONE:-no}");
	CHECK_STR(mp_buf_get(&x.out), "layered here one no");
	CHECK_TEXT(told, "USER=layered;ONLY=here;A_1=one;NONE=?;");
	e.layer = e.env = NULL;
	run(&x, &e, "${USER:-nobody}");
	CHECK_STR(mp_buf_get(&x.out), "nobody");
}

TEST(roots_come_before_the_environment)
{
	MP_CLEANUP(done) struct result x = {.r = 0};
	struct mp_expand e = with(MP_EXPAND_VARIABLE | MP_EXPAND_ROOTS);

	e.plugin_root = "/plugins/p";
	run(&x, &e, "${CLAUDE_PLUGIN_ROOT}/x ${CLAUDE_PROJECT_DIR}");
	CHECK_STR(mp_buf_get(&x.out), "/plugins/p/x /home/ada/code/site");
	CHECK_TEXT(told, "");
	e.plugin_root = NULL;
	run(&x, &e, "${CLAUDE_PLUGIN_ROOT}");
	CHECK_STR(mp_buf_get(&x.out), "/env");
	CHECK_TEXT(told, "CLAUDE_PLUGIN_ROOT=/env;");
	e.spellings = MP_EXPAND_ROOTS;
	run(&x, &e, "${CLAUDE_PROJECT_DIR}${USER}");
	CHECK_STR(mp_buf_get(&x.out), "/home/ada/code/site${USER}");
}

/* --- files ---------------------------------------------------------------------------------- */

static bool put_file(const char *name, const char *bytes, size_t n)
{
	char path[100];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", test_folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	REQUIRE(fd >= 0);
	REQUIRE(write(fd, bytes, n) == (ssize_t)n);
	close(fd);
	return true;
}

/* U5 */
TEST(files_are_read_and_trimmed)
{
	MP_CLEANUP(done) struct result x = {.r = 0};
	struct mp_expand e = with(MP_EXPAND_BRACES);
	char text[200];

	CHECK(folder_make() && put_file("token", "\n s3cr{env:USER}et \r\n\n", 21));
	e.folder = e.home = test_folder;
	run(&x, &e, "<{file:token}>");
	CHECK_STR(mp_buf_get(&x.out), "<s3cr{env:USER}et>");
	run(&x, &e, "{file:~/token}{file:./token}");
	CHECK_STR(mp_buf_get(&x.out), "s3cr{env:USER}ets3cr{env:USER}et");
	e.spellings = MP_EXPAND_FILE;
	snprintf(text, sizeof(text), "${file:%s/token}", test_folder);
	run(&x, &e, text);
	CHECK_STR(mp_buf_get(&x.out), "s3cr{env:USER}et");
	CHECK(put_file("empty", "", 0));
	run(&x, &e, "a${file:empty}b");
	CHECK_STR(mp_buf_get(&x.out), "ab");
}

static bool is_refused(const char *text, const char *why)
{
	MP_CLEANUP(done) struct result x = {.r = 0};
	struct mp_expand e = with(MP_EXPAND_BRACES);

	e.folder = test_folder;
	run(&x, &e, text);
	return test_equal(x.r, MCPOOL_EIO, text, __FILE__, __LINE__) &&
	       test_true(strstr(x.error.message, why), x.error.message, __FILE__, __LINE__) &&
	       test_true(strstr(x.error.message, text), x.error.message, __FILE__, __LINE__);
}

/* U5 */
TEST(what_is_no_small_file_is_refused)
{
	static char large[64 * 1024 + 1];
	MP_CLEANUP(done) struct result x = {.r = 0};
	struct mp_expand e = with(MP_EXPAND_BRACES);
	char path[100];

	CHECK(folder_make());
	memset(large, 'x', sizeof(large));
	CHECK(put_file("large", large, sizeof(large)) && put_file("nul", "a\0b", 3));
	CHECK(put_file("full", large, sizeof(large) - 1));
	snprintf(path, sizeof(path), "%s/fifo", test_folder);
	CHECK_EQ(mkfifo(path, 0600), 0);
	CHECK(is_refused("{file:none}", "no such file"));
	CHECK(is_refused("{file:.}", "not a file"));
	CHECK(is_refused("{file:fifo}", "not a file"));
	CHECK(is_refused("{file:/dev/zero}", "not a file"));
	CHECK(is_refused("{file:large}", "65536"));
	CHECK(is_refused("{file:nul}", "NUL"));
	e.folder = test_folder;
	run(&x, &e, "{file:full}");
	CHECK_EQ(x.out.len, 64 * 1024);
	memset(large, 'a', 5000);
	memcpy(large, "{file:", 6);
	memcpy(large + 5000, "}", 2);
	run(&x, &e, large); /* no path is that long */
	CHECK_EQ(x.r, MCPOOL_EIO);
}

/* --- limits --------------------------------------------------------------------------------- */

TEST(the_ceiling_of_the_buf_holds_and_nothing_is_added_then)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	struct mp_expand e = with(MP_EXPAND_VARIABLE);
	struct mcpool_error error;

	mp_buf_init(&out, 10);
	CHECK_EQ(mp_buf_add(&out, "before", 6), 0);
	CHECK_EQ(mp_expand_text(&e, MP_STR("${USER}${USER}"), &out, &error), MCPOOL_ELIMIT);
	CHECK_EQ(error.code, MCPOOL_ELIMIT);
	CHECK(strstr(error.message, "github"));
	CHECK_STR(mp_buf_get(&out), "before");
	CHECK_EQ(mp_expand_text(&e, MP_STR("${USER}."), &out, NULL), 0);
	CHECK_STR(mp_buf_get(&out), "beforeada.");
	CHECK_EQ(mp_expand_text(&e, MP_STR("${NONE}"), &out, NULL), MCPOOL_ENOENT);
}

/* A megabyte of openings takes no longer than a megabyte of anything: linear, not quadratic. */
HEAVY_TEST(openings_without_an_end_cost_nothing)
{
	static const char *const openings[] = {"${A:-", "${", "${input:", "{file:", "{env:", "${A"};
	MP_CLEANUP(mp_buf_done) struct mp_buf text, out;
	struct mp_expand e = with(~0u);

	mp_buf_init(&text, 2 << 20);
	mp_buf_init(&out, 2 << 20);
	for (size_t i = 0; i < MP_ARRAY_LEN(openings); i++) {
		mp_buf_clear(&text);
		mp_buf_clear(&out);
		while (text.len < 1 << 20)
			CHECK_EQ(mp_buf_add_str(&text, mp_str_of(openings[i])), 0);
		CHECK_EQ(mp_expand_text(&e, mp_buf_get(&text), &out, NULL), 0);
		CHECK(mp_str_eq(mp_buf_get(&text), mp_buf_get(&out)));
	}
}

/* --- names ---------------------------------------------------------------------------------- */

static void list(void *u, struct mp_str name)
{
	tell(u, name, "");
}

static const char *list_names(unsigned spellings, const char *text)
{
	told[0] = '\0';
	mp_expand_each_name(spellings, mp_str_of(text), list, NULL);
	return told;
}

/* U5 */
TEST(names_are_listed_without_expanding)
{
	CHECK_TEXT(list_names(MP_EXPAND_VARIABLE, "${A}x${B:-${C:-${D}}}${A} $E"),
		   "A=;B=;C=;D=;A=;");
	CHECK_TEXT(list_names(MP_EXPAND_VARIABLE | MP_EXPAND_PLAIN, "$A${B}"), "A=;B=;");
	CHECK_TEXT(list_names(MP_EXPAND_ENV | MP_EXPAND_FOLDERS | MP_EXPAND_INPUT,
			      "${env:A}${cwd}${input:B}${C}"),
		   "A=;");
	CHECK_TEXT(list_names(MP_EXPAND_BRACES, "{env:A}{file:B}{env:C"), "A=;");
	CHECK_TEXT(list_names(MP_EXPAND_ROOTS, "${CLAUDE_PLUGIN_ROOT}${A}"),
		   "CLAUDE_PLUGIN_ROOT=;");
	CHECK_TEXT(list_names(0, "${A}"), "");
}

TEST(values_are_found_by_their_whole_name)
{
	CHECK_TEXT(mp_expand_get(env, MP_STR("USER")), "ada");
	CHECK_TEXT(mp_expand_get(env, MP_STR("A")), "B=c");
	CHECK(!mp_expand_get(env, MP_STR("A=B")));
	CHECK(!mp_expand_get(env, MP_STR("USE")));
	CHECK(!mp_expand_get(env, MP_STR("USER\0x")));
	CHECK(!mp_expand_get(env, MP_STR("")));
	CHECK(!mp_expand_get(NULL, MP_STR("USER")));
}

/* --- secrets --------------------------------------------------------------------------------- */

static int give_secret(void *u, struct mp_str name, struct mp_buf *out, struct mcpool_error *reterr)
{
	(void)u;
	(void)reterr;
	return mp_buf_addf(out, "<%.*s ${USER}>", MP_STR_ARGS(name));
}

static void note_name(void *u, struct mp_str name)
{
	size_t n = strlen(told);

	(void)u;
	snprintf(told + n, sizeof(told) - n, "%.*s;", MP_STR_ARGS(name));
}

TEST(secrets_are_replaced_once_where_they_are_allowed)
{
	MP_CLEANUP(done) struct result x = {.r = 0};
	struct mp_expand e = with(MP_EXPAND_VARIABLE);

	e.get_secret = give_secret;
	run(&x, &e, "Bearer ${secret:GITHUB_TOKEN}-${NOT_SET:-${secret:a.b-2}}${USER}");
	CHECK_STR(mp_buf_get(&x.out), "Bearer <GITHUB_TOKEN ${USER}>-<a.b-2 ${USER}>ada");
	CHECK_TEXT(told, "NOT_SET=?;USER=ada;"); /* a secret is not a variable */
	e.respell = true;
	run(&x, &e, "${secret:A}");
	CHECK_STR(mp_buf_get(&x.out), "${secret:A}");
}

TEST(a_secret_that_cannot_be_here_is_an_error_whatever_is_missing)
{
	MP_CLEANUP(done) struct result x = {.r = 0};
	struct mp_expand e = with(MP_EXPAND_VARIABLE);

	CHECK(fails(MP_EXPAND_VARIABLE, "a${secret:A}", MCPOOL_EINVAL, "where no secret can be"));
	e.missing = MP_MISSING_LITERAL;
	run(&x, &e, "${secret:A}");
	CHECK_EQ(x.r, MCPOOL_EINVAL);
	e.missing = MP_MISSING_WARN;
	run(&x, &e, "${secret:A}");
	CHECK_EQ(x.r, MCPOOL_EINVAL);
}

TEST(what_is_not_the_name_of_a_secret_stays)
{
	char text[200], name[130];

	CHECK(stays(MP_EXPAND_VARIABLE, "${secret:}"));
	CHECK(stays(MP_EXPAND_VARIABLE, "${secret:a b}"));
	CHECK(stays(MP_EXPAND_VARIABLE, "${secret:../oauth/x}"));
	CHECK(stays(MP_EXPAND_VARIABLE, "${secret:a"));
	CHECK(gives(MP_EXPAND_VARIABLE, "${secret:a${USER}}", "${secret:aada}"));
	CHECK(stays(MP_EXPAND_ENV | MP_EXPAND_FOLDERS | MP_EXPAND_BRACES, "${secret:A}"));
	memset(name, 'n', 129);
	name[129] = '\0';
	snprintf(text, sizeof(text), "${secret:%s}", name);
	CHECK(stays(MP_EXPAND_VARIABLE, text));
	told[0] = '\0';
	mp_expand_each_secret(MP_EXPAND_VARIABLE,
			      MP_STR("${secret:A}${X:-${secret:B}}${secret:}${Y}"), note_name,
			      NULL);
	CHECK_TEXT(told, "A;B;");
	told[0] = '\0';
	mp_expand_each_name(MP_EXPAND_VARIABLE, MP_STR("${secret:A}${X:-${secret:B}}${Y}"),
			    note_name, NULL);
	CHECK_TEXT(told, "X;Y;");
}
