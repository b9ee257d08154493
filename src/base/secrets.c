/*
 * secrets.c - values announced as secret, found in any spelling.
 * A text may contain them as they are, escaped for a URL, or escaped for JSON, also JSON in JSON; a
 * text that was cut may end with the first part of one.
 */
#include "base/secrets.h"

#include <pthread.h>

#include "base/limits.h"
#include "base/mem.h"

enum {
	MOST_PARTS = 65,   /* a value and its first lines, each hidden alone, too */
	MOST_SLASHES = 15, /* before an escaped letter: four levels of JSON in JSON */
};

struct secret {
	char *value; /* owned */
	size_t len;
	unsigned times; /* added and not yet removed */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the table */
static struct secret *secrets;                           /* owned; n_secrets of room */
static size_t n_secrets, room;
static unsigned first_bytes[256]; /* how many secrets begin with it; most places need no more */

static struct secret *secrets_find(struct mp_str value)
{
	for (size_t i = 0; i < n_secrets; i++)
		if (mp_str_eq((struct mp_str){secrets[i].value, secrets[i].len}, value))
			return &secrets[i];
	return NULL;
}

static int make_room(void)
{
	struct secret *more;

	if (n_secrets < room)
		return 0;
	if (n_secrets >= MP_LIMIT_SECRETS)
		return MCPOOL_ELIMIT;
	more = mp_try_realloc(secrets, (room ? room * 2 : 16) * sizeof(*secrets));
	if (!more)
		return MCPOOL_ENOMEM;
	secrets = more;
	room = room ? room * 2 : 16;
	return 0;
}

static void free_if_empty(void)
{
	if (n_secrets > 0)
		return;
	secrets = mp_free(secrets);
	room = 0;
}

static int secrets_add(struct mp_str value)
{
	struct secret *s = secrets_find(value);
	char *copy;
	int r;

	if (s) {
		s->times++;
		return 0;
	}
	r = make_room();
	if (r < 0)
		return r;
	copy = mp_try_alloc(value.len);
	if (!copy) {
		free_if_empty();
		return MCPOOL_ENOMEM;
	}
	memcpy(copy, value.p, value.len);
	secrets[n_secrets++] = (struct secret){copy, value.len, 1};
	first_bytes[(unsigned char)copy[0]]++;
	return 0;
}

static void secrets_forget(struct secret *s)
{
	first_bytes[(unsigned char)s->value[0]]--;
	mp_wipe(s->value, s->len);
	mp_free(s->value);
	*s = secrets[--n_secrets];
	free_if_empty();
}

static void secrets_drop(struct mp_str value)
{
	struct secret *s = secrets_find(value);

	if (s && --s->times == 0)
		secrets_forget(s);
}

/*
 * What is hidden for a value: itself, and its lines without the blanks around them, because a
 * private key reaches a log line by line, and a password read from a file ends in a newline.
 */
static size_t secrets_split(struct mp_str value, struct mp_str parts[MOST_PARTS])
{
	size_t n = 0, end;

	parts[n++] = value;
	for (size_t at = 0; at < value.len && n < MOST_PARTS; at = end + 1) {
		for (end = at; end < value.len && value.p[end] != '\r' && value.p[end] != '\n';)
			end++;
		parts[n] = mp_str_trim((struct mp_str){value.p + at, end - at});
		n += parts[n].len >= MP_SECRET_MIN && parts[n].len < value.len;
	}
	return n;
}

static int add_parts(struct mp_str value)
{
	struct mp_str parts[MOST_PARTS];
	size_t n = secrets_split(value, parts);
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		r = secrets_add(parts[i]);
		if (r < 0)
			while (i-- > 0)
				secrets_drop(parts[i]);
	}
	return r;
}

int mp_secret_add(struct mp_str value)
{
	int r;

	if (value.len < MP_SECRET_MIN)
		return 0;
	pthread_mutex_lock(&lock);
	r = add_parts(value);
	pthread_mutex_unlock(&lock);
	return r;
}

void mp_secret_remove(struct mp_str value)
{
	struct mp_str parts[MOST_PARTS];
	size_t n;

	pthread_mutex_lock(&lock);
	n = secrets_find(value) ? secrets_split(value, parts) : 0;
	for (size_t i = 0; i < n; i++)
		secrets_drop(parts[i]);
	pthread_mutex_unlock(&lock);
}

void mp_secret_remove_all(void)
{
	pthread_mutex_lock(&lock);
	while (n_secrets)
		secrets_forget(&secrets[n_secrets - 1]);
	pthread_mutex_unlock(&lock);
}

static bool parse_hex(struct mp_str s, size_t at, size_t n, uint32_t *ret_code)
{
	static const char digits[] = "0123456789abcdef";
	const char *digit;

	*ret_code = 0;
	if (at + n > s.len)
		return false;
	for (size_t i = at; i < at + n; i++) {
		digit = memchr(digits, s.p[i] >= 'A' && s.p[i] <= 'F' ? s.p[i] | 0x20 : s.p[i], 16);
		if (!digit)
			return false;
		*ret_code = *ret_code << 4 | (uint32_t)(digit - digits);
	}
	return true;
}

static size_t skip_slashes(struct mp_str s, size_t at)
{
	size_t end = at;

	while (end < s.len && s.p[end] == '\\' && end - at < MOST_SLASHES)
		end++;
	return end;
}

/* Is it "%25" for a percent sign, and not the secret's own "%25"? */
static bool escapes_percent(struct mp_str s, size_t at, struct mp_str secret, size_t behind)
{
	struct mp_str rest = {secret.p + behind, secret.len - behind};

	return mp_str_starts((struct mp_str){s.p + at, s.len - at}, MP_STR("%25")) &&
	       !mp_str_starts(rest, MP_STR("25"));
}

/*
 * Bytes at `at` that spell what the secret has from *i on, which goes on; 0 if they do not. As it
 * is, as a URL escapes it, or as JSON does, with more backslashes where that lies in JSON again.
 */
static size_t secrets_spells(struct mp_str s, size_t at, struct mp_str secret, size_t *i)
{
	static const char letters[] = "nrtbf", meanings[] = "\n\r\t\b\f";
	size_t c = skip_slashes(s, at), n;
	char want = secret.p[*i], utf8[4];
	const char *letter;
	uint32_t code;

	++*i;
	if (want == '%' && s.p[at] == '%' && escapes_percent(s, at, secret, *i))
		return 3;
	if (s.p[at] == want || (s.p[at] == '+' && want == ' '))
		return 1;
	if (s.p[at] == '%' && parse_hex(s, at + 1, 2, &code) && code == (unsigned char)want)
		return 3;
	if (c > at && c < s.len) {
		letter = memchr(letters, s.p[c], sizeof(letters) - 1);
		if (s.p[c] == want || (letter && meanings[letter - letters] == want))
			return c + 1 - at;
	}
	--*i;
	if (c == at || c == s.len || s.p[c] != 'u' || !parse_hex(s, c + 1, 4, &code))
		return 0;
	n = mp_utf8_encode(code, utf8);
	if (n > secret.len - *i || memcmp(utf8, secret.p + *i, n) != 0)
		return 0;
	*i += n;
	return c + 5 - at;
}

/* What mp_str_format() leaves where it cuts: a secret may have begun before it. */
static bool is_cut_mark(struct mp_str s, size_t at)
{
	return mp_str_starts((struct mp_str){s.p + at, s.len - at}, MP_STR(MP_STR_CUT_MARK));
}

/* Bytes of half an escape at `at`, behind which the text was cut; 0 if there is none. */
static size_t half_escape(struct mp_str s, size_t at, bool cut)
{
	if (s.p[at] != '\\' && s.p[at] != '%')
		return 0;
	for (size_t n = 1; n < 6 && at + n <= s.len; n++)
		if (at + n == s.len ? cut : is_cut_mark(s, at + n))
			return n;
	return 0;
}

/* Bytes at `at` that spell all of the secret or, where the text was cut there, its beginning. */
static size_t secrets_spelled(struct mp_str s, size_t from, struct mp_str secret, bool cut)
{
	size_t at = from, i = 0, n;

	while (i < secret.len && at < s.len) {
		n = secrets_spells(s, at, secret, &i);
		if (n == 0) {
			n = half_escape(s, at, cut);
			if (i < MP_SECRET_MIN / 2 || (n == 0 && !is_cut_mark(s, at)))
				return 0;
			return at + n - from;
		}
		at += n;
	}
	return i == secret.len || (cut && i >= MP_SECRET_MIN / 2) ? at - from : 0;
}

/* May a secret begin with this byte, as it is or escaped? */
static bool may_begin(char c)
{
	return first_bytes[(unsigned char)c] || c == '\\' || c == '%' || c == '+';
}

size_t mp_secrets_known_until(struct mp_str s, size_t at, bool cut)
{
	size_t longest = 0;

	if (n_secrets == 0 || !may_begin(s.p[at]))
		return at;
	for (size_t i = 0; i < n_secrets; i++) {
		size_t n = secrets_spelled(s, at, (struct mp_str){secrets[i].value, secrets[i].len},
					   cut);

		if (n > longest)
			longest = n;
	}
	return at + longest;
}

void mp_secrets_hold(void)
{
	pthread_mutex_lock(&lock);
}

void mp_secrets_release(void)
{
	pthread_mutex_unlock(&lock);
}
