/*
 * redact.c - replaces secrets by dots; redact.h says which.
 * One pass over the text. At each word that names a secret, the value after it is hidden: up to the
 * closing quote if it is quoted; to the end of the line for headers, lists, objects and XML; else
 * to the next blank. Names within a hidden value count, too. A false alarm costs a few dots, a miss
 * costs a credential, so an unclear end is the later one.
 */
#include "base/redact.h"

#include "base/limits.h"
#include "base/secrets.h"

#define DOTS MP_STR("\xe2\x80\xa2\xe2\x80\xa2\xe2\x80\xa2")

enum {
	MOST_SLASHES = 15, /* before a quote: four levels of JSON in JSON */
	MOST_SPANS = 8,    /* to be hidden further on */
};

static size_t redact_skip(struct mp_str s, size_t at, const char *any)
{
	while (at < s.len && s.p[at] && strchr(any, s.p[at]))
		at++;
	return at;
}

static size_t until(struct mp_str s, size_t at, const char *any)
{
	while (at < s.len && !(s.p[at] && strchr(any, s.p[at])))
		at++;
	return at;
}

static struct mp_str redact_slice(struct mp_str s, size_t start, size_t end)
{
	return (struct mp_str){s.p + start, end - start};
}

static size_t skip_slashes(struct mp_str s, size_t at)
{
	size_t end = at;

	while (end < s.len && s.p[end] == '\\' && end - at < MOST_SLASHES)
		end++;
	return end;
}

/* --- names ---------------------------------------------------------------------------------- */

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_name_char(char c)
{
	return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

/* Does the word occur, in any case and with any _ - . between its letters? */
static bool redact_contains(struct mp_str name, const char *word)
{
	for (size_t i = 0; i < name.len; i++) {
		const char *w = word;

		for (size_t at = i; *w && at < name.len; at++) {
			if ((name.p[at] | 0x20) == *w)
				w++;
			else if (w == word || !strchr("_-.", name.p[at]))
				break;
		}
		if (!*w)
			return true;
	}
	return false;
}

static bool is_border(struct mp_str name, size_t at)
{
	return at == 0 || at == name.len || !is_letter(name.p[at - 1]) || !is_letter(name.p[at]) ||
	       (name.p[at - 1] >= 'a' && name.p[at] <= 'Z');
}

/* Is the word one of the parts of some_long-nameLikeThis? */
static bool has_part(struct mp_str name, const char *word)
{
	size_t len = strlen(word);

	for (size_t i = 0; i + len <= name.len; i++)
		if (is_border(name, i) && is_border(name, i + len) &&
		    mp_str_eq_nocase(redact_slice(name, i, i + len), (struct mp_str){word, len}))
			return true;
	return false;
}

/* Metadata of an authorization server (RFC 8414, RFC 6749) is public. */
static bool is_metadata(struct mp_str name)
{
	static const char *const ends[] = {"_endpoint", "_servers", "_supported", "_type"};

	for (size_t i = 0; i < MP_ARRAY_LEN(ends); i++) {
		size_t len = strlen(ends[i]);

		if (name.len > len && mp_str_eq_nocase(redact_slice(name, name.len - len, name.len),
						       (struct mp_str){ends[i], len}))
			return true;
	}
	return false;
}

bool mp_redact_is_secret_name(struct mp_str name)
{
	static const char *const words[] = {
		"token",           "secret",        "password", "passwd",     "passphrase",
		"passcode",        "pwd",           "apikey",   "accesskey",  "privatekey",
		"credential",      "creds",         "cookie",   "sessionid",  "sessid",
		"signature",       "mnemonic",      "authcode", "devicecode", "codeverifier",
		"clientassertion", "authorization",
	};
	static const char *const parts[] = {"pass", "auth", "sig", "sid", "jwt", "otp", "bearer"};

	if (is_metadata(name))
		return false;
	for (size_t i = 0; i < MP_ARRAY_LEN(words); i++)
		if (redact_contains(name, words[i]))
			return true;
	for (size_t i = 0; i < MP_ARRAY_LEN(parts); i++)
		if (has_part(name, parts[i]))
			return true;
	return name.len > 3 && has_part(name, "key"); /* "key" alone may be any map's key */
}

/* Header values reach to the end of the line. */
static bool is_header_name(struct mp_str name)
{
	return redact_contains(name, "authorization") || redact_contains(name, "cookie");
}

/* Values of several words. */
static bool is_phrase_name(struct mp_str name)
{
	return redact_contains(name, "passphrase") || redact_contains(name, "password") ||
	       redact_contains(name, "passwd") || redact_contains(name, "credential") ||
	       redact_contains(name, "mnemonic");
}

/* "API key: ...", a name of two words. */
static bool is_second_word(struct mp_str s, size_t at, size_t end)
{
	static const char *const firsts[] = {"api", "access", "secret", "private"};
	size_t start = at;

	if (!mp_str_eq_nocase(redact_slice(s, at, end), MP_STR("key")) || at < 2 ||
	    s.p[at - 1] != ' ')
		return false;
	while (start > 1 && is_letter(s.p[start - 2]))
		start--;
	for (size_t i = 0; i < MP_ARRAY_LEN(firsts); i++)
		if (mp_str_eq_nocase(redact_slice(s, start - 1, at - 1), mp_str_of(firsts[i])))
			return true;
	return false;
}

/* --- values --------------------------------------------------------------------------------- */

struct span {
	size_t start, end;
};

struct walk {
	struct span hide[MOST_SPANS]; /* to be hidden, not reached yet */
	size_t n_hide;
	size_t until;     /* the text is hidden up to here */
	size_t form_end;  /* end of the last form field scanned */
	size_t blank;     /* the next white space after the last quoted URL */
	size_t url_end;   /* end of the last URL scanned */
	size_t url_query; /* its first ? or # */
	size_t url_at;    /* after its last @ */
};

static void redact_plan(struct walk *w, size_t start, size_t end)
{
	struct span *last = &w->hide[MOST_SPANS - 1];

	if (start >= end)
		return;
	if (w->n_hide < MOST_SPANS) {
		w->hide[w->n_hide++] = (struct span){start, end};
	} else { /* too many: the last one grows */
		last->start = start < last->start ? start : last->start;
		last->end = end > last->end ? end : last->end;
	}
}

/* OAuth's "code" is a secret in a form; elsewhere it is an error or exit code. */
static bool is_form_code(struct mp_str s, size_t at, size_t end, struct walk *w)
{
	if (!mp_str_eq(redact_slice(s, at, end), MP_STR("code")) || end == s.len || s.p[end] != '=')
		return false;
	if (at > 0 && s.p[at - 1] == '&')
		return true;
	if (end >= w->form_end)
		w->form_end = until(s, end, " \t\r\n&");
	return w->form_end < s.len && s.p[w->form_end] == '&';
}

struct quote {
	char mark;    /* 0: none */
	size_t level; /* backslashes before it */
};

static bool is_quote(char c)
{
	return c == '"' || c == '\'' || c == '`';
}

static struct quote quote_at(struct mp_str s, size_t at)
{
	size_t mark = skip_slashes(s, at);

	if (mark == s.len || !is_quote(s.p[mark]))
		return (struct quote){0, 0};
	return (struct quote){s.p[mark], mark - at};
}

static struct quote quote_before(struct mp_str s, size_t at)
{
	size_t n = 0;

	if (at == 0 || !is_quote(s.p[at - 1]))
		return (struct quote){0, 0};
	while (n < MOST_SLASHES && at >= n + 2 && s.p[at - 2 - n] == '\\')
		n++;
	return (struct quote){s.p[at - 1], n};
}

/*
 * The end of what a quote opened before `at`: the next mark with at most as many backslashes before
 * it. One that belongs to the value has more.
 */
static size_t until_closed(struct mp_str s, size_t at, struct quote q)
{
	size_t slashes = 0;

	for (; at < s.len; at++) {
		if (s.p[at] == q.mark && slashes <= q.level)
			return at - slashes;
		slashes = s.p[at] == '\\' ? slashes + 1 : 0;
	}
	return s.len;
}

/* A shell writes a blank within a word as "\ ". */
static size_t until_blank(struct mp_str s, size_t at)
{
	while (at < s.len && !(s.p[at] && strchr(" \t\r\n", s.p[at])))
		at += s.p[at] == '\\' && at + 1 < s.len && s.p[at + 1] == ' ' ? 2 : 1;
	return at;
}

/* Skip blanks, the colour codes of loggers, and line ends within JSON. */
static size_t skip_blanks(struct mp_str s, size_t at, bool lines)
{
	size_t from;

	do {
		from = at;
		at = redact_skip(s, at, lines ? " \t\r\n" : " \t");
		if (at + 1 < s.len && s.p[at] == '\x1b' && s.p[at + 1] == '[') {
			at = redact_skip(s, at + 2, "0123456789;");
			at += at < s.len; /* its letter */
		}
	} while (at > from);
	return at;
}

/* A secret's name in the text, and how its value is given. */
struct name {
	struct mp_str word;
	size_t start, end;
	struct quote in; /* the quote right before the name, around name and value */
	bool quoted;     /* the name alone is quoted, as in JSON */
	char sign;       /* the first character between name and value; 0: only blanks */
};

static size_t behind_comma(struct mp_str s, size_t comma, struct name *name);

/* Where the value begins; 0 if there is none. */
static size_t find_value(struct mp_str s, struct name *name)
{
	size_t closed = redact_skip(s, name->end, "\\\"'`])");
	bool opened = name->in.mark != 0;
	size_t at, behind;

	name->quoted = until(redact_slice(s, 0, closed), name->end, "\"'`") < closed;
	if (name->quoted)
		name->in.mark = 0;
	at = skip_blanks(s, closed, name->quoted);
	if (at == s.len)
		return 0;
	name->sign = s.p[at];
	behind = redact_skip(s, at, ":=>|");
	if (behind > at)
		return skip_blanks(s, behind, name->quoted);
	if (name->sign == '(' && quote_at(s, at + 1).mark)
		return at + 1;
	if (name->sign == ',' && name->quoted && opened)
		return behind_comma(s, at, name);
	name->sign = 0;
	return at > closed ? at : 0;
}

/* ["--token", "value"], and {"name": "TOKEN", "value": "value"} */
static size_t behind_comma(struct mp_str s, size_t comma, struct name *name)
{
	size_t at = skip_blanks(s, comma + 1, true);
	struct quote q = quote_at(s, at);
	size_t word = at + q.level + 1;

	if (!q.mark)
		return 0;
	if (!mp_str_starts(redact_slice(s, word, s.len), MP_STR("value")) ||
	    quote_at(s, word + 5).mark == 0)
		return at;
	name->end = word + 5;
	return find_value(s, name);
}

/* Eight characters or more, letters and digits: not a word of a sentence. */
static bool looks_random(struct mp_str word)
{
	size_t letters = 0, digits = 0;

	for (size_t i = 0; i < word.len; i++) {
		letters += is_letter(word.p[i]);
		digits += word.p[i] >= '0' && word.p[i] <= '9';
	}
	return word.len >= 8 && letters && digits;
}

bool mp_redact_looks_random(struct mp_str word)
{
	size_t digits = 0;

	for (size_t i = 0; i < word.len; i++)
		digits += word.p[i] >= '0' && word.p[i] <= '9';
	return word.len >= 16 && digits >= 3 && looks_random(word) &&
	       until(word, 0, " \t\r\n/.:\\") == word.len;
}

/* Does the value go on behind blanks? In lists, objects, XML, and PASSWORD=... on its own line. */
static bool fills_line(struct mp_str s, size_t start, const struct name *name)
{
	if (is_header_name(name->word) || strchr("[{", s.p[start]) || name->sign == '>')
		return true;
	return is_phrase_name(name->word) &&
	       (name->sign == ':' || name->start == 0 || s.p[name->start - 1] == '\n');
}

/* The end of a value without quotes of its own. */
static size_t plain_end(struct mp_str s, size_t start, const struct name *name, size_t from)
{
	if (name->in.mark)
		return until(redact_slice(s, 0, until_closed(s, from, name->in)), from, "\r\n");
	return fills_line(s, start, name) ? until(s, from, "\r\n") : until_blank(s, from);
}

/* "max_tokens: 4096" is a count, and MCP's "progressToken": 7 the number of a request. */
static bool is_count(struct mp_str s, size_t start, struct mp_str name)
{
	size_t end = redact_skip(s, start, "0123456789");

	return (redact_contains(name, "tokens") || redact_contains(name, "progresstoken")) &&
	       end > start && (end == s.len || !is_name_char(s.p[end]));
}

/* "${TOKEN:-...}" in our own messages shows how to write a default. */
static bool is_example(struct mp_str s, size_t end)
{
	return mp_str_starts(redact_slice(s, end, s.len), MP_STR(":-...}"));
}

/* What follows a secret's name, [at, end). */
static void plan_value(struct mp_str s, size_t at, size_t end, struct walk *w)
{
	struct name name = {redact_slice(s, at, end), at, end, quote_before(s, at), false, 0};
	size_t start = find_value(s, &name), from;
	struct quote q = quote_at(s, start);

	if (start == 0 || start == s.len || is_count(s, start, name.word) || is_example(s, end))
		return;
	if (name.sign == 0 && s.p[at] != '-') { /* a sentence, unless a random word follows */
		if (mp_str_starts(redact_slice(s, start, s.len), MP_STR("is ")))
			start += 3;
		q = quote_at(s, start);
		from = q.mark ? start + q.level + 1 : start;
		if (!looks_random(redact_slice(s, from, until(s, from, " \t\r\n\"'`"))))
			return;
	}
	if (q.mark) {
		redact_plan(w, start + q.level + 1, until_closed(s, start + q.level + 1, q));
		return;
	}
	from = start > w->until ? start : w->until; /* or a long line would be scanned repeatedly */
	redact_plan(w, start, plain_end(s, start, &name, from));
}

/* "Bearer ...", "Basic ..." */
static void plan_credential(struct mp_str s, size_t end, struct walk *w)
{
	size_t start = skip_blanks(s, end, false), word;
	struct quote q;

	if (start == end || start == s.len)
		return;
	word = until(s, start, " \t\r\n\"'`\\<>:=");
	if (word > start && word < s.len && s.p[word] == ' ' &&
	    mp_redact_is_secret_name(redact_slice(s, start, word)))
		start = skip_blanks(s, word, false); /* "bearer token ..." */
	q = quote_at(s, start);
	if (q.mark)
		redact_plan(w, start + q.level + 1, until_closed(s, start + q.level + 1, q));
	else
		redact_plan(w, start, until(s, start, " \t\r\n\"'`\\<>"));
}

static bool is_scheme(struct mp_str word)
{
	return mp_str_eq_nocase(word, MP_STR("bearer")) ||
	       mp_str_eq_nocase(word, MP_STR("basic")) || mp_str_eq_nocase(word, MP_STR("digest"));
}

/* Prefixes that large services give their tokens, so that they can be found in logs. */
static bool has_token_shape(struct mp_str word)
{
	static const char *const begins[] = {
		"sk-",   "sk_live_", "sk_test_", "rk_live_", "ghp_",    "gho_",
		"ghu_",  "ghs_",     "ghr_",     "glpat-",   "xoxb-",   "xoxp-",
		"xapp-", "AKIA",     "ASIA",     "AIza",     "ya29.",   "eyJ",
		"npm_",  "hf_",      "gsk_",     "pypi-",    "dop_v1_", "github_pat_",
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(begins) && word.len >= 16; i++)
		if (mp_str_starts(word, mp_str_of(begins[i])))
			return true;
	return false;
}

/* --- URLs ----------------------------------------------------------------------------------- */

/* Scanned once per URL, because a URL may contain others. */
static void url_scan(struct mp_str s, size_t at, struct walk *w)
{
	size_t start = at;
	struct quote q;

	while (start > 0 && (is_letter(s.p[start - 1]) || s.p[start - 1] == '+'))
		start--;
	q = quote_before(s, start);
	if (q.mark && at >= w->blank)
		w->blank = until(s, at, " \t\r\n");
	w->url_end = q.mark ? until_closed(redact_slice(s, 0, w->blank), at, q)
			    : until(s, at, " \t\r\n\"`<>");
	w->url_query = until(redact_slice(s, 0, w->url_end), at, "?#");
	w->url_at = w->url_end;
	while (w->url_at > at && s.p[w->url_at - 1] != '@')
		w->url_at--;
}

/*
 * User info and query of the URL whose "://" is at `at`. An unescaped password may contain
 * @ / ? #, so the user info reaches to the last @.
 */
static void plan_url(struct mp_str s, size_t at, struct walk *w)
{
	struct mp_str host;
	size_t port;

	if (at >= w->url_end)
		url_scan(s, at, w);
	host = redact_slice(s, 0, until(redact_slice(s, 0, w->url_end), at + 3, "/?#"));
	port = until(host, at + 3, ":@");
	if (port < host.len && s.p[port] == ':')
		port = redact_skip(host, port + 1, "0123456789");
	if (port < host.len && w->url_at > at + 3)
		redact_plan(w, at + 3, w->url_at - 1);
	redact_plan(w, w->url_query + 1, w->url_end);
}

/* "GET /path?name=value" */
static void plan_query(struct mp_str s, size_t at, struct walk *w)
{
	size_t name = at + 1, from = name > w->until ? name : w->until;

	while (name < s.len && is_name_char(s.p[name]))
		name++;
	if (at >= w->url_end && name > at + 1 && name < s.len && s.p[name] == '=')
		redact_plan(w, at + 1, until(s, from, " \t\r\n\"`<>"));
}

/* --- the walk ------------------------------------------------------------------------------- */

static void look_ahead(struct mp_str s, size_t at, struct walk *w)
{
	size_t end = at;

	if (w->until >= s.len)
		return;
	if (s.p[at] == ':' && mp_str_starts(redact_slice(s, at, s.len), MP_STR("://")))
		plan_url(s, at, w);
	else if (s.p[at] == '?' && at > 0 && (is_name_char(s.p[at - 1]) || s.p[at - 1] == '/'))
		plan_query(s, at, w);
	if (!is_name_char(s.p[at]) || (at > 0 && is_name_char(s.p[at - 1])))
		return;
	while (end < s.len && is_name_char(s.p[end]))
		end++;
	if (has_token_shape(redact_slice(s, at, end)))
		redact_plan(w, at, until(s, end, " \t\r\n\"'`\\,;&<>()[]{}"));
	if (is_scheme(redact_slice(s, at, end)))
		plan_credential(s, end, w);
	if (mp_redact_is_secret_name(redact_slice(s, at, end)) || is_second_word(s, at, end) ||
	    is_form_code(s, at, end, w))
		plan_value(s, at, end, w);
}

/* Spans that start here. */
static void redact_reach(struct walk *w, size_t at)
{
	for (size_t i = 0; i < w->n_hide;) {
		if (w->hide[i].start > at) {
			i++;
			continue;
		}
		if (w->hide[i].end > w->until)
			w->until = w->hide[i].end;
		w->hide[i] = w->hide[--w->n_hide];
	}
}

static int add_plain(struct mp_buf *out, char c)
{
	unsigned char byte = (unsigned char)c;

	if (c == '\n')
		return mp_buf_add_str(out, MP_STR("\\n"));
	if (c == '\t')
		return mp_buf_add_char(out, ' ');
	if (byte < 0x20 || byte == 0x7f)
		return mp_buf_addf(out, "\\x%02x", byte);
	return mp_buf_add_char(out, c);
}

/* One character; invalid UTF-8 and C1 controls, which steer terminals, are escaped. */
static int add_character(struct mp_buf *out, struct mp_str s, size_t *at)
{
	size_t n = mp_utf8_char(s.p + *at, s.p + s.len);
	int r;

	if (n == 1) {
		r = add_plain(out, s.p[*at]);
	} else if (n == 0 || (n == 2 && (unsigned char)s.p[*at] == 0xc2 &&
			      (unsigned char)s.p[*at + 1] < 0xa0)) {
		r = mp_buf_addf(out, "\\x%02x", (unsigned char)s.p[*at]);
		n = 1;
	} else {
		r = mp_buf_add(out, s.p + *at, n);
	}
	*at += n;
	return r;
}

static int walk_text(struct mp_str s, bool cut, struct mp_buf *out)
{
	struct walk w = {.n_hide = 0};
	bool hiding = false;
	size_t at = 0, end;
	int r = 0;

	while (at < s.len && r == 0) {
		look_ahead(s, at, &w);
		redact_reach(&w, at);
		end = mp_secrets_known_until(s, at, cut);
		if (end > w.until)
			w.until = end;
		if (at >= w.until) {
			r = add_character(out, s, &at);
			hiding = false;
			continue;
		}
		if (!hiding)
			r = mp_buf_add_str(out, DOTS);
		hiding = true;
		at++;
	}
	return r;
}

int mp_redact(struct mp_str text, bool cut, struct mp_buf *out)
{
	int r;

	mp_secrets_hold();
	r = walk_text(text, cut, out);
	mp_secrets_release();
	return r;
}
