/*
 * inbound.c - one incoming HTTP request.
 * The raw bytes of the head are looked at a second time, without llhttp: every line ends in CR LF,
 * none is folded, and there is no NUL. That costs little and does not depend on how the parser was
 * built.
 */
#include "http/inbound.h"

#include <llhttp.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/limits.h"
#include "base/mem.h"

enum { NAME = 32 };          /* bytes of a header's name that we know; longer ones we do not */
#define KEEP_TEXTS MP_KIB(4) /* larger buffers are given back with the request */
#define KEEP_BODY  MP_KIB(16)

struct value {
	uint32_t at, len; /* in texts */
	bool is_there;
};

struct mp_inbound {
	llhttp_t parser;
	struct mp_link spare;
	enum mp_inbound_news stage; /* what the parser was paused for */
	struct mp_inbound_fault fault;

	struct mp_buf texts; /* the target, and the values we know */
	size_t target_len;
	struct value values[MP_FIELD_COUNT];
	char name[NAME]; /* of the header that is coming */
	size_t name_len; /* NAME + 1: too long to be known */
	enum mp_field field;
	size_t n_fields;

	bool head_done, discards, keeps_alive, upgrades;
	char last; /* byte of the head, of the piece before */
	bool has_request_line;
	unsigned blanks; /* in the request line, so far */
	size_t head_seen, extensions;
	uint64_t length, received;

	struct mp_str view; /* the body as long as it lies in one piece */
	struct mp_buf body; /* otherwise */
};

static const struct {
	struct mp_str name;
	enum { ONCE, LIST } how;
} known[] = {
#define X(name, text, how) {MP_STR(text), how},
	MP_FIELDS(X)
#undef X
};

static int inbound_blame(struct mp_inbound *in, int status, const char *words)
{
	if (!in->fault.status)
		in->fault = (struct mp_inbound_fault){status, words};
	return HPE_USER;
}

static int refuse_memory(struct mp_inbound *in)
{
	return inbound_blame(in, 503, "no memory");
}

static struct mp_inbound *inbound_of(llhttp_t *parser)
{
	return mp_container_of(parser, struct mp_inbound, parser);
}

/* --- what llhttp calls ---------------------------------------------------------------------- */

static int add_target(llhttp_t *parser, const char *p, size_t n)
{
	struct mp_inbound *in = inbound_of(parser);

	if (n > MP_INBOUND_TARGET - in->texts.len)
		return inbound_blame(in, 414, "a target that is too long");
	if (mp_buf_add(&in->texts, p, n) < 0)
		return refuse_memory(in);
	in->target_len = in->texts.len;
	return 0;
}

static int add_name(llhttp_t *parser, const char *p, size_t n)
{
	struct mp_inbound *in = inbound_of(parser);

	if (n > NAME - in->name_len || in->name_len > NAME) {
		in->name_len = NAME + 1;
		return 0;
	}
	memcpy(in->name + in->name_len, p, n);
	in->name_len += n;
	return 0;
}

static enum mp_field find_field(struct mp_str name)
{
	for (size_t i = 0; i < MP_FIELD_COUNT; i++)
		if (mp_str_eq_nocase(name, known[i].name))
			return (enum mp_field)i;
	return MP_FIELD_COUNT;
}

/* Of trailers none is known: they must not change what was judged. */
static int end_name(llhttp_t *parser)
{
	struct mp_inbound *in = inbound_of(parser);
	bool may_be_known = in->name_len <= NAME && !in->head_done;
	struct value *v;

	if (!in->name_len)
		return inbound_blame(in, 400, "a header without a name");
	in->field =
		may_be_known ? find_field((struct mp_str){in->name, in->name_len}) : MP_FIELD_COUNT;
	in->name_len = 0;
	if (++in->n_fields > MP_INBOUND_FIELDS)
		return inbound_blame(in, 431, "too many headers");
	if (in->field == MP_FIELD_COUNT)
		return 0;
	v = &in->values[in->field];
	if (v->is_there && known[in->field].how == ONCE)
		return inbound_blame(in, 400, "a header twice that may be there once");
	if (!v->is_there) {
		*v = (struct value){(uint32_t)in->texts.len, 0, true};
		return 0;
	}
	/* Joined behind all others: what was there, and a comma. */
	if (mp_buf_reserve(&in->texts, v->len + 2) < 0)
		return refuse_memory(in);
	memcpy(in->texts.data + in->texts.len, in->texts.data + v->at, v->len);
	memcpy(in->texts.data + in->texts.len + v->len, ", ", 2);
	v->at = (uint32_t)in->texts.len;
	in->texts.len += v->len + 2;
	v->len += 2;
	return 0;
}

static int add_value(llhttp_t *parser, const char *p, size_t n)
{
	struct mp_inbound *in = inbound_of(parser);

	if (in->field == MP_FIELD_COUNT)
		return 0;
	if (mp_buf_add(&in->texts, p, n) < 0)
		return refuse_memory(in);
	in->values[in->field].len += (uint32_t)n;
	return 0;
}

static int end_value(llhttp_t *parser)
{
	inbound_of(parser)->field = MP_FIELD_COUNT;
	return 0;
}

static int count_extension(llhttp_t *parser, const char *p, size_t n)
{
	struct mp_inbound *in = inbound_of(parser);

	(void)p;
	in->extensions += n + 1;
	return in->extensions > MP_INBOUND_EXTENSIONS
		       ? inbound_blame(in, 400, "chunk extensions at length")
		       : 0;
}

static int end_head(llhttp_t *parser)
{
	struct mp_inbound *in = inbound_of(parser);

	in->head_done = true;
	in->keeps_alive = llhttp_should_keep_alive(parser);
	in->upgrades = parser->upgrade;
	in->length = parser->flags & F_CHUNKED ? UINT64_MAX : parser->content_length;
	in->stage = MP_INBOUND_HEAD;
	return HPE_PAUSED;
}

/* A second piece: from now on the body has memory of its own. */
static int inbound_gather(struct mp_inbound *in)
{
	int r = mp_buf_add_str(&in->body, in->view);

	in->view = (struct mp_str){NULL, 0};
	return r;
}

static int add_body(llhttp_t *parser, const char *p, size_t n)
{
	struct mp_inbound *in = inbound_of(parser);
	int r;

	in->received += n;
	if (in->discards)
		return 0;
	if (!in->view.len && !in->body.len) {
		in->view = (struct mp_str){p, n};
		return 0;
	}
	r = inbound_gather(in);
	if (r == 0)
		r = mp_buf_add(&in->body, p, n);
	if (r == MCPOOL_ELIMIT)
		return inbound_blame(in, 413, "a body that is too large");
	return r < 0 ? refuse_memory(in) : 0;
}

static int end_message(llhttp_t *parser)
{
	inbound_of(parser)->stage = MP_INBOUND_WHOLE;
	return HPE_PAUSED;
}

static const llhttp_settings_t settings = {
	.on_url = add_target,
	.on_header_field = add_name,
	.on_header_field_complete = end_name,
	.on_header_value = add_value,
	.on_header_value_complete = end_value,
	.on_chunk_extension_name = count_extension,
	.on_chunk_extension_value = count_extension,
	.on_headers_complete = end_head,
	.on_body = add_body,
	.on_message_complete = end_message,
};

/* --- life ----------------------------------------------------------------------------------- */

static void inbound_begin(struct mp_inbound *in)
{
	llhttp_init(&in->parser, HTTP_REQUEST, &settings);
	in->field = MP_FIELD_COUNT;
	in->last = 'x'; /* whatever may stand before the first line */
}

struct mp_inbound *mp_inbound_new(void)
{
	struct mp_inbound *in = mp_alloc(sizeof(*in));

	mp_buf_init(&in->texts, 2 * MP_LIMIT_HEADER_BLOCK);
	mp_buf_init(&in->body, MP_LIMIT_MESSAGE);
	inbound_begin(in);
	return in;
}

struct mp_inbound *mp_inbound_free(struct mp_inbound *in)
{
	if (!in)
		return NULL;
	mp_buf_done(&in->texts);
	mp_buf_done(&in->body);
	return mp_free(in);
}

void mp_inbound_reset(struct mp_inbound *in)
{
	struct mp_buf texts, body;

	mp_buf_shrink(&in->texts, KEEP_TEXTS);
	mp_buf_shrink(&in->body, KEEP_BODY);
	texts = in->texts;
	body = in->body;
	*in = (struct mp_inbound){.texts = texts, .body = body};
	inbound_begin(in);
}

struct mp_link *mp_inbound_get_link(struct mp_inbound *in)
{
	return &in->spare;
}

struct mp_inbound *mp_inbound_of(struct mp_link *link)
{
	return mp_container_of(link, struct mp_inbound, spare);
}

/* --- judging the head ----------------------------------------------------------------------- */

/* A byte of the head and the one before it: CR and LF together, no blank first in a line, no NUL.
 */
static inline bool may_follow(char before, char c)
{
	if ((before == '\r') != (c == '\n') || c == '\0')
		return false;
	return before != '\n' || (c != ' ' && c != '\t');
}

#ifdef __SSE2__
static inline unsigned find_in(__m128i v, char c)
{
	return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(v, _mm_set1_epi8(c)));
}

/* The same for sixteen bytes at once: a bit for each. */
static inline bool may_follow_all(char before, const char *p)
{
	__m128i v = _mm_loadu_si128((const __m128i *)(const void *)p);
	unsigned lf = find_in(v, '\n'), blank = find_in(v, ' ') | find_in(v, '\t');
	unsigned behind_cr = (find_in(v, '\r') << 1 | (before == '\r')) & 0xffff;
	unsigned behind_lf = lf << 1 | (before == '\n');

	return lf == behind_cr && !(blank & behind_lf) && !find_in(v, '\0');
}
#endif

static bool has_sound_lines(struct mp_inbound *in, struct mp_str piece)
{
	char before = in->last;
	size_t i = 0;

#ifdef __SSE2__
	for (; piece.len - i >= 16; i += 16) {
		if (!may_follow_all(before, piece.p + i))
			return false;
		before = piece.p[i + 15];
	}
#endif
	for (; i < piece.len; i++) {
		if (!may_follow(before, piece.p[i]))
			return false;
		before = piece.p[i];
	}
	in->last = before;
	return true;
}

/*
 * One blank behind the method and one before the version. llhttp takes several (attack-S17). Empty
 * lines before the request line do not count.
 */
static bool has_sound_request_line(struct mp_inbound *in, struct mp_str piece)
{
	for (size_t i = 0; i < piece.len && !in->has_request_line; i++) {
		in->blanks += piece.p[i] == ' ';
		in->has_request_line = piece.p[i] == '\n' && in->blanks > 0;
	}
	return in->blanks <= 2;
}

/* The bytes that RFC 3986 has for a host and its port, brackets included (V15). */
static bool is_host(struct mp_str host)
{
	static const char extra[] = "-._~%!$&'()*+,;=:[]";

	for (size_t i = 0; i < host.len; i++) {
		char c = host.p[i];
		bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

		if (!is_letter && !(c >= '0' && c <= '9') && !(c && strchr(extra, c)))
			return false;
	}
	return host.len > 0;
}

/* "/path?query", or "*" for OPTIONS. No other form: the host comes from the Host header alone. */
static bool is_target(const struct mp_inbound *in)
{
	struct mp_str t = {in->texts.data, in->target_len};

	if (mp_str_eq(t, MP_STR("*")))
		return mp_inbound_get_verb(in) == MP_HTTP_METHOD_OPTIONS;
	for (size_t i = 0; i < t.len; i++)
		if ((unsigned char)t.p[i] <= ' ' || (unsigned char)t.p[i] >= 0x7f || t.p[i] == '#')
			return false;
	return t.len && t.p[0] == '/';
}

static int check_host(struct mp_inbound *in)
{
	struct mp_str host = mp_inbound_get(in, MP_FIELD_HOST);

	if (!host.p)
		return inbound_blame(in, 400, "no Host header");
	if (!is_host(host))
		return inbound_blame(in, 400, "a Host header that names no host");
	return 0;
}

static int check_body(struct mp_inbound *in)
{
	struct mp_str coding = mp_inbound_get(in, MP_FIELD_TRANSFER_ENCODING);
	struct mp_str expect = mp_inbound_get(in, MP_FIELD_EXPECT);

	if (coding.p && mp_inbound_get(in, MP_FIELD_CONTENT_LENGTH).p)
		return inbound_blame(in, 400, "a body with two lengths");
	if (coding.p && mp_inbound_is_old(in))
		return inbound_blame(in, 400, "chunks in HTTP/1.0");
	if (coding.p && !mp_str_eq_nocase(coding, MP_STR("chunked")))
		return inbound_blame(in, 400, "a transfer coding that is not chunked");
	if (expect.p && !mp_str_eq_nocase(expect, MP_STR("100-continue")))
		return inbound_blame(in, 417, "an expectation that is not 100-continue");
	if (in->length != UINT64_MAX && in->length > MP_LIMIT_MESSAGE)
		return inbound_blame(in, 413, "a body that is too large");
	return 0;
}

static int check_head(struct mp_inbound *in)
{
	const llhttp_t *p = &in->parser;

	if (p->http_major != 1 || p->http_minor > 1)
		return inbound_blame(in, 505, "a version of HTTP that is not 1.1");
	if (!is_target(in))
		return inbound_blame(in, 400, "a target that is not a path");
	if (check_host(in))
		return HPE_USER;
	return check_body(in);
}

/* --- feeding -------------------------------------------------------------------------------- */

static int get_status(llhttp_errno_t err)
{
	if (err == HPE_INVALID_VERSION)
		return 505;
	if (err == HPE_INVALID_METHOD)
		return 501;
	return 400;
}

static enum mp_inbound_news inbound_fail(struct mp_inbound *in, int status, const char *words)
{
	(void)inbound_blame(in, status, words); /* the first fault counts */
	return MP_INBOUND_BAD;
}

/* Of the bytes of a head; false: see fault. */
static bool watch_head(struct mp_inbound *in, struct mp_str piece)
{
	if (!has_sound_lines(in, piece))
		return inbound_fail(in, 400, "lines that do not end as HTTP has it") ==
		       MP_INBOUND_MORE;
	if (!has_sound_request_line(in, piece))
		return inbound_fail(in, 400, "a request line with more than two blanks") ==
		       MP_INBOUND_MORE;
	in->head_seen += piece.len;
	if (in->head_seen > MP_LIMIT_HEADER_BLOCK)
		return inbound_fail(in, 431, "a head that is too large") == MP_INBOUND_MORE;
	return true;
}

/* What the body has so far outlives the bytes it came in. */
static enum mp_inbound_news wait_for_more(struct mp_inbound *in)
{
	return inbound_gather(in) < 0 ? inbound_fail(in, 503, "no memory") : MP_INBOUND_MORE;
}

enum mp_inbound_news mp_inbound_feed(struct mp_inbound *in, struct mp_str bytes, size_t *ret_used)
{
	bool in_head = !in->head_done;
	llhttp_errno_t err = llhttp_execute(&in->parser, bytes.p, bytes.len);
	bool paused = err == HPE_PAUSED || err == HPE_PAUSED_UPGRADE;

	*ret_used =
		err == HPE_OK ? bytes.len : (size_t)(llhttp_get_error_pos(&in->parser) - bytes.p);
	if (err != HPE_OK && !paused) {
		*ret_used = bytes.len;
		return inbound_fail(in, get_status(err), llhttp_get_error_reason(&in->parser));
	}
	if (in_head && !watch_head(in, (struct mp_str){bytes.p, *ret_used}))
		return MP_INBOUND_BAD;
	if (!paused)
		return wait_for_more(in);
	if (err == HPE_PAUSED)
		llhttp_resume(&in->parser);
	if (in->stage == MP_INBOUND_HEAD && check_head(in))
		return MP_INBOUND_BAD;
	return in->stage;
}

void mp_inbound_discard(struct mp_inbound *in)
{
	in->discards = true;
}

size_t mp_inbound_get_gathered(const struct mp_inbound *in)
{
	return in->body.len;
}

uint64_t mp_inbound_get_received(const struct mp_inbound *in)
{
	return in->received;
}

/* --- what it says --------------------------------------------------------------------------- */

struct mp_inbound_fault mp_inbound_get_fault(const struct mp_inbound *in)
{
	return in->fault;
}

enum mp_http_method mp_inbound_get_verb(const struct mp_inbound *in)
{
	switch (in->parser.method) {
	case HTTP_GET:
		return MP_HTTP_METHOD_GET;
	case HTTP_HEAD:
		return MP_HTTP_METHOD_HEAD;
	case HTTP_POST:
		return MP_HTTP_METHOD_POST;
	case HTTP_DELETE:
		return MP_HTTP_METHOD_DELETE;
	case HTTP_OPTIONS:
		return MP_HTTP_METHOD_OPTIONS;
	default:
		return MP_HTTP_METHOD_OTHER;
	}
}

struct mp_str mp_inbound_get_path(const struct mp_inbound *in)
{
	const char *end = in->target_len ? memchr(in->texts.data, '?', in->target_len) : NULL;

	return (struct mp_str){in->texts.data,
			       end ? (size_t)(end - in->texts.data) : in->target_len};
}

struct mp_str mp_inbound_get_query(const struct mp_inbound *in)
{
	size_t at = mp_inbound_get_path(in).len + 1;

	return at > in->target_len ? (struct mp_str){NULL, 0}
				   : (struct mp_str){in->texts.data + at, in->target_len - at};
}

struct mp_str mp_inbound_get(const struct mp_inbound *in, enum mp_field field)
{
	const struct value *v = &in->values[field];
	struct mp_str s = {"", 0};

	if (!v->is_there)
		return (struct mp_str){NULL, 0};
	if (v->len)
		s = mp_str_trim((struct mp_str){in->texts.data + v->at, v->len});
	return s.p ? s : (struct mp_str){"", 0};
}

bool mp_inbound_is_old(const struct mp_inbound *in)
{
	return in->parser.http_minor == 0;
}

bool mp_inbound_keeps_alive(const struct mp_inbound *in)
{
	return in->keeps_alive;
}

bool mp_inbound_wants_upgrade(const struct mp_inbound *in)
{
	return in->upgrades && in->parser.method != HTTP_CONNECT;
}

bool mp_inbound_wants_continue(const struct mp_inbound *in)
{
	return mp_inbound_get(in, MP_FIELD_EXPECT).p && !mp_inbound_is_old(in);
}

uint64_t mp_inbound_get_length(const struct mp_inbound *in)
{
	return in->length;
}

struct mp_str mp_inbound_get_body(const struct mp_inbound *in)
{
	return in->view.len ? in->view : mp_buf_get(&in->body);
}
