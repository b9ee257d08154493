/*
 * spelling.c - all spellings of the name of one server's tool.
 * A spelling is a row: prefix, separator, and how the parts are converted.
 */
#include "session/spelling.h"

#include "store/digest.h"

/* Appends a part in this spelling. */
typedef int (*part_fn)(struct mp_buf *out, struct mp_str part, bool digits);

static int add_clean(struct mp_buf *out, struct mp_str part, bool digits);
static int add_lower(struct mp_buf *out, struct mp_str part, bool digits);
static int add_raw(struct mp_buf *out, struct mp_str part, bool digits);

/* The three flags of a row, as used in the table. */
enum { KEPT = 0, NO_DIGITS = 1, AS_IS = 0, LOWER = 1, WHOLE = 0, CUT = 1 };

static const struct row {
	const char *before, *between; /* between NULL: without the server */
	part_fn add;
	bool no_digits;
	bool is_lower; /* empty parts get a name, and a tool does not repeat its server */
	bool is_cut;   /* to MP_NAME_MAX */
} rows[MP_SPELLINGS] = {
	[MP_SPELLING_MCP_DOUBLE] = {"mcp__", "__", add_clean, KEPT, AS_IS, CUT},
	[MP_SPELLING_MCP_SINGLE] = {"mcp_", "_", add_lower, KEPT, LOWER, CUT},
	[MP_SPELLING_SERVER] = {"", "__", add_clean, KEPT, AS_IS, CUT},
	[MP_SPELLING_PASSTHROUGH] = {"", NULL, add_raw, KEPT, AS_IS, CUT},
	[MP_SPELLING_BARE] = {"", NULL, add_raw, KEPT, AS_IS, WHOLE},
	[MP_SPELLING_OMP] = {"mcp__", "_", add_lower, KEPT, LOWER, CUT},
	[MP_SPELLING_MCP_LETTERS] = {"mcp_", "_", add_lower, NO_DIGITS, LOWER, CUT},
	[MP_SPELLING_DOT] = {"", ".", add_raw, KEPT, AS_IS, WHOLE},
	[MP_SPELLING_SLASH] = {"", "/", add_raw, KEPT, AS_IS, WHOLE},
	[MP_SPELLING_COLON] = {"", ":", add_raw, KEPT, AS_IS, WHOLE},
};

/* --- parts ----------------------------------------------------------------------------------- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static char spelling_lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static int add_raw(struct mp_buf *out, struct mp_str part, bool digits)
{
	(void)digits;
	return mp_buf_add_str(out, part);
}

/* One `_` per character that is not allowed, however many bytes it has. */
static int add_clean(struct mp_buf *out, struct mp_str part, bool digits)
{
	int r = mp_buf_reserve(out, part.len);

	(void)digits;
	if (r < 0)
		return r;
	for (size_t i = 0, n; i < part.len; i += n) {
		char c = part.p[i];
		bool fits = is_lower(spelling_lower(c)) || is_digit(c) || c == '_' || c == '-';

		n = mp_utf8_char(part.p + i, part.p + part.len);
		n = n ? n : 1;
		out->data[out->len++] = fits ? c : '_';
	}
	return 0;
}

/* Lower case; each run of other characters becomes one `_`, none at the ends. */
static int add_lower(struct mp_buf *out, struct mp_str part, bool digits)
{
	size_t from = out->len;
	int r = mp_buf_reserve(out, part.len);

	if (r < 0)
		return r;
	for (size_t i = 0; i < part.len; i++) {
		char c = spelling_lower(part.p[i]);

		if (!is_lower(c) && !(digits && is_digit(c)))
			c = '_';
		if (c != '_' || (out->len > from && out->data[out->len - 1] != '_'))
			out->data[out->len++] = c;
	}
	if (out->len > from && out->data[out->len - 1] == '_')
		out->len--;
	return 0;
}

/* --- names ----------------------------------------------------------------------------------- */

/* Not mcp_github_github_search: one `github_` of the tool's own name is removed (B46). */
static void drop_repeated(struct mp_buf *out, size_t server, size_t server_len, size_t name)
{
	struct mp_str first = {out->data + server, server_len + 1}; /* including the `_` after it */
	struct mp_str rest = {out->data + name, out->len - name};

	if (first.len < rest.len && mp_str_starts(rest, first)) {
		memmove(out->data + name, out->data + name + first.len, rest.len - first.len);
		out->len -= first.len;
	}
}

static int add_part(struct mp_buf *out, const struct row *row, struct mp_str part,
		    const char *if_empty)
{
	size_t from = out->len;
	int r = row->add(out, part, !row->no_digits);

	if (r == 0 && row->is_lower && out->len == from)
		r = mp_buf_add_str(out, mp_str_of(if_empty));
	return r;
}

static int add_server(struct mp_buf *out, const struct row *row, struct mp_str server,
		      size_t *ret_len)
{
	size_t from = out->len;
	int r = add_part(out, row, server, "server");

	*ret_len = out->len - from;
	return r < 0 ? r : mp_buf_add_str(out, mp_str_of(row->between));
}

static int add_whole(struct mp_buf *out, const struct row *row, struct mp_str server,
		     struct mp_str name)
{
	size_t at_server, at_name, server_len = 0;
	int r = mp_buf_add_str(out, mp_str_of(row->before));

	at_server = out->len;
	if (r == 0 && row->between)
		r = add_server(out, row, server, &server_len);
	at_name = out->len;
	if (r == 0)
		r = add_part(out, row, name, "tool");
	if (r == 0 && row->is_lower)
		drop_repeated(out, at_server, server_len, at_name);
	return r;
}

static void make_hash(struct mp_str server, struct mp_str name, unsigned nth,
		      char hex[2 * MP_DIGEST_SIZE + 1])
{
	struct mp_digest *d = mp_digest_new();
	unsigned char sum[MP_DIGEST_SIZE];
	char digits[MP_STR_DIGITS];

	mp_digest_add_bytes(d, server.p, server.len);
	mp_digest_add_bytes(d, "", 1);
	mp_digest_add_bytes(d, name.p, name.len);
	/* The server's length is hashed too: NUL bytes in it would make two pairs equal forever. */
	for (size_t i = 0; nth && i < 2; i++) {
		struct mp_str number = mp_str_from_u64(i ? server.len : nth, digits);

		mp_digest_add_bytes(d, "", 1);
		mp_digest_add_bytes(d, number.p, number.len);
	}
	mp_digest_finish(d, sum);
	mp_digest_to_hex(sum, hex);
}

/* Truncates the text after `from` if necessary and appends `_` and the hash. */
static int add_hash(struct mp_buf *out, size_t from, struct mp_str server, struct mp_str name,
		    unsigned nth)
{
	enum { ROOM = MP_NAME_MAX - MP_NAME_HASH - 1 };
	char hex[2 * MP_DIGEST_SIZE + 1];
	int r = mp_buf_reserve(out, MP_NAME_HASH + 1);

	if (r < 0)
		return r;
	if (out->len - from > ROOM)
		out->len = from + mp_utf8_cut(out->data + from, ROOM);
	while (out->len > from && out->data[out->len - 1] == '_')
		out->len--;
	make_hash(server, name, nth, hex);
	out->data[out->len++] = '_';
	memcpy(out->data + out->len, hex, MP_NAME_HASH);
	out->len += MP_NAME_HASH;
	return 0;
}

int mp_spell(enum mp_spelling how, struct mp_str server, struct mp_str name, struct mp_buf *out)
{
	size_t from = out->len;
	int r = add_whole(out, &rows[how], server, name);

	if (r == 0 && rows[how].is_cut && out->len - from > MP_NAME_MAX)
		r = add_hash(out, from, server, name, 0);
	if (r < 0)
		out->len = from;
	return r;
}

int mp_spell_hashed(enum mp_spelling how, struct mp_str server, struct mp_str name, unsigned nth,
		    struct mp_buf *out)
{
	size_t from = out->len;
	int r = add_whole(out, &rows[how], server, name);

	if (r == 0)
		r = add_hash(out, from, server, name, nth);
	if (r < 0)
		out->len = from;
	return r;
}
