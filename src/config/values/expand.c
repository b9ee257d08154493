/*
 * expand.c - placeholders in strings, in the spellings of several tools.
 * One reader finds the next placeholder and says what it is; expanding and listing names both walk
 * with it, so that what was listed is what is looked up. Every step is linear in the text.
 */
#include "config/values/expand.h"

#include <limits.h>
#include <stdio.h>

#include "base/error.h"
#include "base/mem.h"
#include "files/file.h"

enum {
	MOST_LEVELS = 16,         /* of placeholders in defaults */
	MOST_OF_FILE = 64 * 1024, /* bytes that {file:} takes */
	SECRET_NAME = 128,        /* bytes of a secret's name */
};

enum kind {
	VARIABLE,    /* ${X}, ${X:-default}, $X, ${env:X} */
	OR_NOTHING,  /* {env:X}: nothing where there is no X */
	FOLDER,      /* ${workspaceFolder} and the like */
	ELSEWHERE,   /* ${input:X}: only its own tool knows */
	FILE_INSIDE, /* {file:X}, ${file:X} */
	SECRET,      /* ${secret:X} */
};

struct spot {
	enum kind kind;
	struct mp_str whole; /* as it is written */
	struct mp_str name;  /* of the variable or folder, or the file's path */
	struct mp_str otherwise;
	bool has_otherwise;
};

/* --- finding them --------------------------------------------------------------------------- */

static bool is_name_byte(char c, bool first)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
	       (!first && c >= '0' && c <= '9');
}

static struct mp_str read_name(struct mp_str s, size_t at)
{
	size_t end = at;

	while (end < s.len && is_name_byte(s.p[end], end == at))
		end++;
	return (struct mp_str){s.p + at, end - at};
}

/* The bytes up to a brace of either kind: the names of inputs and files hold none. */
static struct mp_str read_plain(struct mp_str s, size_t at)
{
	size_t end = at;

	while (end < s.len && s.p[end] != '{' && s.p[end] != '}')
		end++;
	return (struct mp_str){s.p + at, end - at};
}

static bool expand_has(struct mp_str s, size_t at, char c)
{
	return at < s.len && s.p[at] == c;
}

static bool goes_on(struct mp_str s, size_t at, struct mp_str with)
{
	return at <= s.len && mp_str_starts((struct mp_str){s.p + at, s.len - at}, with);
}

static struct mp_str expand_slice(struct mp_str s, size_t from, size_t to)
{
	return (struct mp_str){s.p + from, to - from};
}

/* The brace that closes what was opened before `at`; s.len if none does. */
static size_t find_closing(struct mp_str s, size_t at)
{
	size_t open = 1;

	for (; at < s.len; at++) {
		if (s.p[at] == '{')
			open++;
		else if (s.p[at] == '}' && --open == 0)
			return at;
	}
	return s.len;
}

static bool expand_take(struct spot *spot, enum kind kind, struct mp_str whole, struct mp_str name)
{
	*spot = (struct spot){.kind = kind, .whole = whole, .name = name};
	return true;
}

/* prefix, a name and `}` behind it; `at` is where the placeholder begins. */
static bool read_prefixed(struct mp_str s, size_t at, struct mp_str prefix, bool plain,
			  enum kind kind, struct spot *ret)
{
	struct mp_str name;
	size_t end;

	if (!goes_on(s, at, prefix))
		return false;
	name = plain ? read_plain(s, at + prefix.len) : read_name(s, at + prefix.len);
	end = at + prefix.len + name.len;
	if (name.len == 0 || !expand_has(s, end, '}'))
		return false;
	return expand_take(ret, kind, expand_slice(s, at, end + 1), name);
}

static bool is_root_name(struct mp_str name)
{
	return mp_str_eq(name, MP_STR("CLAUDE_PLUGIN_ROOT")) ||
	       mp_str_eq(name, MP_STR("CLAUDE_PROJECT_DIR"));
}

/*
 * ${NAME} and ${NAME:-default}. An unclosed default has no end, so what follows cannot be told from
 * it: *ret_lost, and the rest of the text is plain.
 */
static bool read_variable(unsigned spellings, struct mp_str s, size_t at, struct spot *ret,
			  bool *ret_lost)
{
	struct mp_str name = read_name(s, at + 2);
	size_t end = at + 2 + name.len, close;

	if (name.len == 0)
		return false;
	if (!(spellings & MP_EXPAND_VARIABLE) &&
	    !(spellings & MP_EXPAND_ROOTS && is_root_name(name)))
		return false;
	if (expand_has(s, end, '}'))
		return expand_take(ret, VARIABLE, expand_slice(s, at, end + 1), name);
	if (!goes_on(s, end, MP_STR(":-")))
		return false;
	close = find_closing(s, end + 2);
	*ret_lost = close == s.len;
	if (*ret_lost)
		return false;
	expand_take(ret, VARIABLE, expand_slice(s, at, close + 1), name);
	ret->has_otherwise = true;
	ret->otherwise = expand_slice(s, end + 2, close);
	return true;
}

static bool read_folder(struct mp_str s, size_t at, struct spot *ret)
{
	static const struct mp_str names[] = {
		MP_STR("workspaceFolder}"),
		MP_STR("workspaceFolderBasename}"),
		MP_STR("userHome}"),
		MP_STR("pathSeparator}"),
		MP_STR("/}"),
		MP_STR("cwd}"),
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(names); i++) {
		size_t n = names[i].len - 1;

		if (goes_on(s, at + 2, names[i]))
			return expand_take(ret, FOLDER, expand_slice(s, at, at + n + 3),
					   expand_slice(s, at + 2, at + 2 + n));
	}
	return false;
}

static bool read_elsewhere(struct mp_str s, size_t at, struct spot *ret)
{
	static const struct mp_str prefixes[] = {
		MP_STR("${input:"), MP_STR("${command:"), MP_STR("${config:"),
		MP_STR("${workspaceFolder:"), /* one of several folders, by name */
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(prefixes); i++)
		if (read_prefixed(s, at, prefixes[i], true, ELSEWHERE, ret))
			return true;
	return false;
}

bool mp_expand_is_secret_name(struct mp_str name)
{
	for (size_t i = 0; i < name.len; i++)
		if (!is_name_byte(name.p[i], false) && name.p[i] != '.' && name.p[i] != '-')
			return false;
	return name.len > 0 && name.len <= SECRET_NAME;
}

/* Folders come before variables: ${cwd} in a file of VS Code is not a variable. */
static bool read_dollar(unsigned spellings, struct mp_str s, size_t at, struct spot *ret,
			bool *ret_lost)
{
	struct mp_str name;

	if (!expand_has(s, at + 1, '{')) {
		name = read_name(s, at + 1);
		return spellings & MP_EXPAND_PLAIN && name.len > 0 &&
		       expand_take(ret, VARIABLE, expand_slice(s, at, at + 1 + name.len), name);
	}
	if (spellings & MP_EXPAND_ENV &&
	    read_prefixed(s, at, MP_STR("${env:"), false, VARIABLE, ret))
		return true;
	if (spellings & MP_EXPAND_FOLDERS && read_folder(s, at, ret))
		return true;
	if (spellings & MP_EXPAND_INPUT && read_elsewhere(s, at, ret))
		return true;
	if (spellings & MP_EXPAND_FILE &&
	    read_prefixed(s, at, MP_STR("${file:"), true, FILE_INSIDE, ret))
		return true;
	if (spellings & MP_EXPAND_VARIABLE &&
	    read_prefixed(s, at, MP_STR("${secret:"), true, SECRET, ret))
		return mp_expand_is_secret_name(ret->name);
	return read_variable(spellings, s, at, ret, ret_lost);
}

/* The next placeholder at or behind `at`. */
static bool find_spot(unsigned spellings, struct mp_str s, size_t at, struct spot *ret)
{
	bool lost = false;

	for (; at < s.len && !lost; at++) {
		if (s.p[at] == '$' && read_dollar(spellings, s, at, ret, &lost))
			return true;
		if (s.p[at] == '{' && spellings & MP_EXPAND_BRACES &&
		    (read_prefixed(s, at, MP_STR("{env:"), true, OR_NOTHING, ret) ||
		     read_prefixed(s, at, MP_STR("{file:"), true, FILE_INSIDE, ret)))
			return true;
	}
	return false;
}

static size_t get_end(struct mp_str s, const struct spot *spot)
{
	return (size_t)(spot->whole.p - s.p) + spot->whole.len;
}

/* --- what they stand for -------------------------------------------------------------------- */

const char *mp_expand_get(char *const *env, struct mp_str name)
{
	if (!env || name.len == 0 || memchr(name.p, '=', name.len) ||
	    memchr(name.p, '\0', name.len))
		return NULL;
	for (; *env; env++)
		if (strncmp(*env, name.p, name.len) == 0 && (*env)[name.len] == '=')
			return *env + name.len + 1;
	return NULL;
}

static const char *look_up(const struct mp_expand *e, struct mp_str name)
{
	const char *value = NULL;

	if (e->spellings & MP_EXPAND_ROOTS && is_root_name(name))
		value = mp_str_eq(name, MP_STR("CLAUDE_PROJECT_DIR")) ? e->root : e->plugin_root;
	if (value)
		return value; /* is not a variable: no warning */
	value = mp_expand_get(e->layer, name);
	if (!value)
		value = mp_expand_get(e->env, name);
	if (e->on_variable)
		e->on_variable(e->u, name, value);
	return value;
}

static const char *get_server(const struct mp_expand *e)
{
	return e->server ? e->server : "?";
}

static const char *get_file(const struct mp_expand *e)
{
	return e->file ? e->file : "?";
}

static void expand_warn(const struct mp_expand *e, const struct spot *spot)
{
	struct mcpool_error words;

	if (!e->on_warning)
		return;
	mp_fail(&words, MCPOOL_ENOENT, "Unresolved variable %.*s for mcp '%s' at %s; %s.",
		MP_STR_ARGS(spot->whole), get_server(e), get_file(e),
		e->missing == MP_MISSING_WARN ? "it is replaced by nothing"
					      : "it stays as it is written");
	e->on_warning(e->u, words.message);
}

static int refuse_missing(const struct mp_expand *e, const struct spot *spot,
			  struct mcpool_error *reterr)
{
	struct mp_str name = spot->kind == FOLDER ? MP_STR("HOME") : spot->name;

	if (e->spellings & MP_EXPAND_VARIABLE && spot->kind == VARIABLE)
		return mp_fail(
			reterr, MCPOOL_ENOENT,
			"Unresolved variable %.*s for mcp '%s' at %s. Set %.*s, give a "
			"default with ${%.*s:-...}, or set \"missingVariable\": \"literal\".",
			MP_STR_ARGS(spot->whole), get_server(e), get_file(e), MP_STR_ARGS(name),
			MP_STR_ARGS(name));
	return mp_fail(reterr, MCPOOL_ENOENT,
		       "Unresolved variable %.*s for mcp '%s' at %s. Set %.*s, or set "
		       "\"missingVariable\": \"literal\".",
		       MP_STR_ARGS(spot->whole), get_server(e), get_file(e), MP_STR_ARGS(name));
}

static int put_missing(const struct mp_expand *e, const struct spot *spot, struct mp_buf *out,
		       struct mcpool_error *reterr)
{
	if (e->missing == MP_MISSING_FAIL)
		return refuse_missing(e, spot, reterr);
	expand_warn(e, spot);
	return e->missing == MP_MISSING_LITERAL ? mp_buf_add_str(out, spot->whole) : 0;
}

static int put_folder(const struct mp_expand *e, const struct spot *spot, struct mp_buf *out,
		      struct mcpool_error *reterr)
{
	const char *value = e->root;

	if (mp_str_eq(spot->name, MP_STR("pathSeparator")) || mp_str_eq(spot->name, MP_STR("/")))
		value = "/";
	else if (mp_str_eq(spot->name, MP_STR("userHome")))
		value = e->home;
	else if (value && mp_str_eq(spot->name, MP_STR("workspaceFolderBasename")))
		value = strrchr(value, '/') ? strrchr(value, '/') + 1 : value;
	if (!value)
		return put_missing(e, spot, out, reterr);
	return mp_buf_add_str(out, mp_str_of(value));
}

/* --- files ---------------------------------------------------------------------------------- */

static int refuse_file(const struct mp_expand *e, const struct spot *spot, const char *why,
		       struct mcpool_error *reterr)
{
	return mp_fail(reterr, MCPOOL_EIO, "%.*s for mcp '%s' at %s cannot be read: %s.",
		       MP_STR_ARGS(spot->whole), get_server(e), get_file(e), why);
}

static bool find_file(const struct mp_expand *e, struct mp_str name, char path[PATH_MAX])
{
	const char *folder = e->folder;
	int n;

	if (memchr(name.p, '\0', name.len))
		return false;
	if (mp_str_starts(name, MP_STR("~/"))) {
		folder = e->home;
		name = expand_slice(name, 2, name.len);
	}
	if (name.len > 0 && name.p[0] == '/')
		n = snprintf(path, PATH_MAX, "%.*s", MP_STR_ARGS(name));
	else if (folder)
		n = snprintf(path, PATH_MAX, "%s/%.*s", folder, MP_STR_ARGS(name));
	else
		return false;
	return n > 0 && n < PATH_MAX;
}

static int put_file(const struct mp_expand *e, const struct spot *spot, struct mp_buf *out,
		    struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mcpool_error why;
	char path[PATH_MAX];
	int r;

	mp_buf_init(&text, MOST_OF_FILE);
	if (!find_file(e, spot->name, path))
		return refuse_file(e, spot, "there is no such path", reterr);
	r = mp_file_read(path, MOST_OF_FILE, &text, &why);
	if (r == MCPOOL_ENOMEM)
		return r;
	if (r < 0)
		return refuse_file(e, spot, why.message, reterr);
	if (text.len && memchr(text.data, '\0', text.len))
		return refuse_file(e, spot, "it holds a NUL byte", reterr);
	r = mp_buf_add_str(out, mp_str_trim(mp_buf_get(&text)));
	if (text.len)
		mp_wipe(text.data, text.len); /* it is mostly a token */
	return r;
}

/* --- walking -------------------------------------------------------------------------------- */

static int expand_expand(const struct mp_expand *e, struct mp_str text, int level,
			 struct mp_buf *out, struct mcpool_error *reterr);

/* The same variable as our own files spell it. */
static int expand_respell(const struct mp_expand *e, const struct spot *spot, int level,
			  struct mp_buf *out, struct mcpool_error *reterr)
{
	int r = mp_buf_addf(out, "${%.*s", MP_STR_ARGS(spot->name));

	if (r == 0 && (spot->has_otherwise || spot->kind == OR_NOTHING))
		r = mp_buf_add(out, ":-", 2);
	if (r == 0 && spot->has_otherwise)
		r = expand_expand(e, spot->otherwise, level + 1, out, reterr);
	return r < 0 ? r : mp_buf_add_char(out, '}');
}

static int refuse_spelling(const struct mp_expand *e, struct mp_str text,
			   struct mcpool_error *reterr)
{
	return mp_fail(reterr, MCPOOL_EINVAL,
		       "mcp '%s' at %s has %.*s, which means something else in our own file.",
		       get_server(e), get_file(e), MP_STR_ARGS(text));
}

/*
 * Text between placeholders that is not a placeholder to its own tool must not become one for us.
 */
static int put_plain(const struct mp_expand *e, struct mp_str text, struct mp_buf *out,
		     struct mcpool_error *reterr)
{
	struct spot spot;

	if (e->respell && find_spot(MP_EXPAND_VARIABLE, text, 0, &spot))
		return refuse_spelling(e, spot.whole, reterr);
	return mp_buf_add_str(out, text);
}

static int put_variable(const struct mp_expand *e, const struct spot *spot, int level,
			struct mp_buf *out, struct mcpool_error *reterr)
{
	const char *value;

	if (e->respell && !(e->spellings & MP_EXPAND_ROOTS && is_root_name(spot->name)))
		return expand_respell(e, spot, level, out, reterr);
	value = look_up(e, spot->name);
	if (spot->has_otherwise && (!value || !*value))
		return expand_expand(e, spot->otherwise, level + 1, out, reterr);
	if (value)
		return mp_buf_add_str(out, mp_str_of(value));
	return spot->kind == OR_NOTHING ? 0 : put_missing(e, spot, out, reterr);
}

static int put_secret(const struct mp_expand *e, const struct spot *spot, struct mp_buf *out,
		      struct mcpool_error *reterr)
{
	if (e->respell)
		return mp_buf_add_str(out, spot->whole);
	if (e->get_secret)
		return e->get_secret(e->u, spot->name, out, reterr);
	return mp_fail(reterr, MCPOOL_EINVAL,
		       "mcp '%s' at %s has %.*s where no secret can be: use it in \"env\", "
		       "\"headers\", \"url\" or \"args\".",
		       get_server(e), get_file(e), MP_STR_ARGS(spot->whole));
}

static int expand_put(const struct mp_expand *e, const struct spot *spot, int level,
		      struct mp_buf *out, struct mcpool_error *reterr)
{
	switch (spot->kind) {
	case VARIABLE:
	case OR_NOTHING:
		return put_variable(e, spot, level, out, reterr);
	case FOLDER:
		return put_folder(e, spot, out, reterr);
	case FILE_INSIDE:
		if (e->respell)
			return mp_fail(reterr, MCPOOL_EINVAL,
				       "mcp '%s' at %s takes %.*s, for which our own file has no "
				       "words. Put it into a variable and write ${NAME}.",
				       get_server(e), get_file(e), MP_STR_ARGS(spot->whole));
		return put_file(e, spot, out, reterr);
	case SECRET:
		return put_secret(e, spot, out, reterr);
	case ELSEWHERE:
		break;
	}
	return mp_fail(reterr, MCPOOL_EINVAL,
		       "mcp '%s' at %s asks for %.*s, which only the tool it was written for can "
		       "answer. Write ${env:NAME} and set that variable.",
		       get_server(e), get_file(e), MP_STR_ARGS(spot->whole));
}

static int expand_expand(const struct mp_expand *e, struct mp_str text, int level,
			 struct mp_buf *out, struct mcpool_error *reterr)
{
	struct spot spot;
	size_t done = 0;
	int r;

	if (text.len == 0)
		return 0;
	mp_check(text.p);
	if (level > MOST_LEVELS)
		return mp_fail(reterr, MCPOOL_ELIMIT,
			       "mcp '%s' at %s has defaults within defaults, more than %d deep.",
			       get_server(e), get_file(e), MOST_LEVELS);
	while (find_spot(e->spellings, text, done, &spot)) {
		r = put_plain(e, expand_slice(text, done, (size_t)(spot.whole.p - text.p)), out,
			      reterr);
		if (r == 0)
			r = expand_put(e, &spot, level, out, reterr);
		if (r < 0)
			return r;
		done = get_end(text, &spot);
	}
	return done < text.len ? put_plain(e, expand_slice(text, done, text.len), out, reterr) : 0;
}

int mp_expand_text(const struct mp_expand *e, struct mp_str text, struct mp_buf *out,
		   struct mcpool_error *reterr)
{
	size_t before = out->len;
	struct mcpool_error error = {0};
	int r = expand_expand(e, text, 0, out, &error);

	if (r == 0)
		return 0;
	out->len = before;
	if (error.code == 0) /* the buf's */
		return mp_fail(reterr, r, "the values of mcp '%s' at %s: %s", get_server(e),
			       get_file(e), mcpool_error_text(r));
	if (reterr)
		*reterr = error;
	return r;
}

struct walk {
	unsigned spellings;
	bool secrets; /* else variables */
	void (*fn)(void *u, struct mp_str name);
	void *u;
};

static void walk(const struct walk *w, struct mp_str text, int level)
{
	struct spot spot;

	for (size_t at = 0; find_spot(w->spellings, text, at, &spot); at = get_end(text, &spot)) {
		if (w->secrets ? spot.kind == SECRET
			       : spot.kind == VARIABLE || spot.kind == OR_NOTHING)
			w->fn(w->u, spot.name);
		if (spot.has_otherwise && level < MOST_LEVELS)
			walk(w, spot.otherwise, level + 1);
	}
}

void mp_expand_each_name(unsigned spellings, struct mp_str text,
			 void (*fn)(void *u, struct mp_str name), void *u)
{
	walk(&(struct walk){spellings, false, fn, u}, text, 0);
}

void mp_expand_each_secret(unsigned spellings, struct mp_str text,
			   void (*fn)(void *u, struct mp_str name), void *u)
{
	walk(&(struct walk){spellings, true, fn, u}, text, 0);
}
