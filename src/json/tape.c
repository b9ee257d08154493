/*
 * tape.c - the one JSON parser: bytes to a tape of offsets.
 * One loop without recursion. The levels around the current place are a bit each (object or array),
 * and an open bracket's node holds its parent's index until it is closed, so depth costs no memory.
 * Reading values off the tape is value.c.
 */
#include "json/tape.h"

#include "base/error.h"
#include "base/mem.h"
#include "json/token.h"

#define NO_NODE UINT32_MAX

/* What may come next. */
enum state {
	START,       /* the very beginning */
	VALUE,       /* a value */
	FIRST_VALUE, /* a value or ] */
	NEXT_VALUE,  /* a value; or ] where a trailing comma is allowed */
	FIRST_KEY,   /* a key or } */
	NEXT_KEY,    /* a key; or } where a trailing comma is allowed */
	COLON,       /* a colon */
	AFTER,       /* a comma or the closing bracket */
	END,         /* nothing but white space */
};

static const char *const sentences[] = {
#define SENTENCE(name, sentence) [MP_TAPE_FAULT_##name] = sentence,
	MP_TAPE_FAULTS(SENTENCE)
#undef SENTENCE
};

void mp_tape_init(struct mp_tape *t, unsigned accept)
{
	*t = (struct mp_tape){
		.accept = accept,
		.keep_depth = MP_LIMIT_JSON_DEPTH,
		.max_depth = MP_LIMIT_JSON_DEPTH,
		.max_nodes = MP_LIMIT_JSON_NODES,
		.max_bytes = MP_LIMIT_MESSAGE,
	};
	mp_tape_begin(t);
}

void mp_tape_done(struct mp_tape *t)
{
	t->nodes = mp_free(t->nodes);
	t->room = 0;
	mp_tape_begin(t);
}

/* Room kept for the next document: 4 MiB. One giant is not paid for by all that follow. */
enum { KEPT_ROOM = 1 << 18 };

void mp_tape_begin(struct mp_tape *t)
{
	if (t->room > KEPT_ROOM) {
		t->nodes = mp_free(t->nodes);
		t->room = 0;
	}
	t->src = NULL;
	t->len = 0;
	t->n = 0;
	t->loose = false;
	t->fault = MP_TAPE_FAULT_NONE;
	t->fault_at = 0;
	t->state = START;
	t->depth = 0;
	t->open = NO_NODE;
	t->pos = 0;
	t->patience = 0;
}

static MP_COLD enum mp_tape_fault tape_grow(struct mp_tape *t)
{
	size_t hint = t->len / 8 < KEPT_ROOM ? t->len / 8 : KEPT_ROOM;
	size_t room = t->room ? (size_t)t->room * 2 : 64;
	struct mp_tape_node *nodes;

	/* An average value takes about eight bytes of source; but it may all be one string. */
	if (room < hint)
		room = hint;
	if (room > t->max_nodes)
		room = t->max_nodes;
	if (room <= t->n)
		return MP_TAPE_FAULT_NODES;
	nodes = mp_try_realloc(t->nodes, room * sizeof(*nodes));
	if (!nodes)
		return MP_TAPE_FAULT_MEMORY;
	t->nodes = nodes;
	t->room = (uint32_t)room;
	return MP_TAPE_FAULT_NONE;
}

/* UTF-8 that is cut off at the end of a piece is not a fault yet. */
static bool may_be_completed(const struct mp_token *t, const char *end, bool last)
{
	return t->fault == MP_TAPE_FAULT_UTF8 && !last && end - t->end < 4;
}

/* White space and, where allowed, comments. last: a line comment may end with the text. */
static struct mp_token skip_gap(struct mp_tape *t, const char *p, const char *end, bool last)
{
	struct mp_token c;

	for (;;) {
		const char *space = p;

		p = mp_scan_space(p, end);
		t->loose |= p > space && t->depth;
		if (p == end || *p != '/')
			return mp_token_found(p, 0);
		if (!(t->accept & MP_TAPE_COMMENTS))
			return mp_token_faulty(p, MP_TAPE_FAULT_COMMENT);
		c = mp_token_comment(p, end);
		if (c.fault == MP_TAPE_FAULT_CUT && last)
			c = end - p >= 2 && p[1] == '/'
				    ? mp_token_found(end, 0)
				    : mp_token_faulty(p, MP_TAPE_FAULT_OPEN_COMMENT);
		else if (c.fault == MP_TAPE_FAULT_CUT || may_be_completed(&c, end, last))
			c = mp_token_faulty(p,
					    MP_TAPE_FAULT_CUT); /* to be looked at again, whole */
		if (c.fault)
			return c;
		t->loose |= t->depth > 0;
		p = c.end;
	}
}

static inline void set_kind(struct mp_tape *t, unsigned level, bool object)
{
	uint64_t bit = (uint64_t)1 << (level & 63);

	if (object)
		t->kinds[level >> 6] |= bit;
	else
		t->kinds[level >> 6] &= ~bit;
}

static inline bool get_kind(const struct mp_tape *t, unsigned level)
{
	return t->kinds[level >> 6] >> (level & 63) & 1;
}

_Static_assert(MP_LIMIT_JSON_DEPTH <= 128, "struct mp_tape has room for 128 levels in kinds");

static inline enum mp_tape_fault tape_add(struct mp_tape *t, const char *start, const char *end,
					  enum mp_tape_type type, uint8_t flags)
{
	enum mp_tape_fault fault;

	if (MP_UNLIKELY(t->depth > t->keep_depth))
		return MP_TAPE_FAULT_NONE;
	if (MP_UNLIKELY(t->n == t->room)) {
		fault = tape_grow(t);
		if (fault)
			return fault;
	}
	t->nodes[t->n] = (struct mp_tape_node){
		.start = (uint32_t)(start - t->src),
		.end = (uint32_t)(end - t->src),
		.next = t->n + 1,
		.type = (uint8_t)type,
		.flags = flags,
		.depth = (uint16_t)t->depth,
	};
	t->n++;
	return MP_TAPE_FAULT_NONE;
}

static inline enum mp_tape_fault open_bracket(struct mp_tape *t, const char *p, bool object)
{
	enum mp_tape_fault fault;

	if (MP_UNLIKELY(t->depth >= t->max_depth))
		return MP_TAPE_FAULT_DEPTH;
	fault = tape_add(t, p, p + 1, object ? MP_TAPE_OBJECT : MP_TAPE_ARRAY, 0);
	if (MP_UNLIKELY(fault))
		return fault;
	if (t->depth <= t->keep_depth) {
		t->nodes[t->n - 1].next = t->open;
		t->open = t->n - 1;
	}
	set_kind(t, t->depth++, object);
	return MP_TAPE_FAULT_NONE;
}

static inline void close_bracket(struct mp_tape *t, const char *p)
{
	struct mp_tape_node *node;

	t->depth--;
	if (t->depth > t->keep_depth)
		return;
	node = &t->nodes[t->open];
	node->end = (uint32_t)(p + 1 - t->src);
	t->open = node->next;
	node->next = t->n;
}

/* A value inside what is not kept: its parent, if that is kept, says so. */
static inline void note_folded(struct mp_tape *t)
{
	if (MP_UNLIKELY(t->depth == t->keep_depth + 1))
		t->nodes[t->open].flags |= MP_TAPE_FOLDED;
}

/* A scalar, or an opening bracket, at p. Where it ends; *ret_opened: it was a bracket. */
static inline struct mp_token scan_value(struct mp_tape *t, const char *p, const char *end,
					 bool last, bool *ret_opened)
{
	enum mp_tape_type type;
	struct mp_token v;

	*ret_opened = false;
	switch (*p) {
	case '"':
		type = MP_TAPE_STRING;
		v = mp_token_string(p + 1, end);
		break;
	case '{':
	case '[':
		*ret_opened = true;
		note_folded(t);
		v = mp_token_found(p + 1, 0);
		v.fault = open_bracket(t, p, *p == '{');
		if (v.fault)
			v.end = p;
		return v;
	case 't':
		type = MP_TAPE_TRUE;
		v = mp_token_word(p, end, "true", 4);
		break;
	case 'f':
		type = MP_TAPE_FALSE;
		v = mp_token_word(p, end, "false", 5);
		break;
	case 'n':
		type = MP_TAPE_NULL;
		v = mp_token_word(p, end, "null", 4);
		break;
	case '-':
	case '0':
	case '1':
	case '2':
	case '3':
	case '4':
	case '5':
	case '6':
	case '7':
	case '8':
	case '9':
		type = MP_TAPE_NUMBER;
		v = mp_token_number(p, end);
		if (v.end == end && !last && !v.fault)
			v.fault = MP_TAPE_FAULT_CUT; /* more digits may come */
		break;
	default:
		return mp_token_faulty(p, MP_TAPE_FAULT_VALUE);
	}
	if (MP_UNLIKELY(v.fault))
		return v;
	note_folded(t);
	v.fault = tape_add(t, p, v.end, type, v.flags);
	return v;
}

static int code_of(enum mp_tape_fault fault)
{
	switch (fault) {
	case MP_TAPE_FAULT_MEMORY:
		return MCPOOL_ENOMEM;
	case MP_TAPE_FAULT_DEPTH:
	case MP_TAPE_FAULT_BYTES:
	case MP_TAPE_FAULT_NODES:
		return MCPOOL_ELIMIT;
	default:
		return MCPOOL_EPARSE;
	}
}

static MP_COLD int give_up(struct mp_tape *t, const char *at, enum mp_tape_fault fault)
{
	t->fault = fault;
	t->fault_at = (size_t)(at - t->src);
	t->n = 0; /* brackets were left open: these nodes must not be walked */
	return code_of(fault);
}

/* The input ends in an incomplete token: wait for more, or fail if there is none. */
static int run_out(struct mp_tape *t, enum state state, const char *token, bool last)
{
	const char *end = t->src + t->len;

	t->state = (int)state;
	t->pos = (size_t)(token - t->src);
	if (last)
		return give_up(t, end,
			       state == START && token == end ? MP_TAPE_FAULT_EMPTY
							      : MP_TAPE_FAULT_CUT);
	/* A long token is looked at again only when it has doubled: time stays linear. */
	t->patience = t->pos + 2 * (t->len - t->pos);
	return 0;
}

static const char bom[] = "\xef\xbb\xbf";

static bool is_bom(const char *p, const char *end)
{
	return end - p >= 3 && memcmp(p, bom, 3) == 0;
}

/* Cut off, but so far it may become a byte order mark, allowed or not. */
static bool begins_bom(const char *p, const char *end)
{
	return end - p < 3 && memcmp(p, bom, (size_t)(end - p)) == 0;
}

/* The fault of a wrong byte at p in this state. */
static MP_COLD enum mp_tape_fault tape_wrong(enum state state, bool in_object, const char *p,
					     const char *end)
{
	switch (state) {
	case START:
		return is_bom(p, end) ? MP_TAPE_FAULT_BOM : MP_TAPE_FAULT_VALUE;
	case NEXT_VALUE:
		return *p == ']' ? MP_TAPE_FAULT_TRAILING_COMMA : MP_TAPE_FAULT_VALUE;
	case NEXT_KEY:
		return *p == '}' ? MP_TAPE_FAULT_TRAILING_COMMA : MP_TAPE_FAULT_KEY;
	case FIRST_KEY:
		return MP_TAPE_FAULT_KEY;
	case COLON:
		return MP_TAPE_FAULT_COLON;
	case AFTER:
		return in_object ? MP_TAPE_FAULT_COMMA_OR_BRACE : MP_TAPE_FAULT_COMMA_OR_BRACKET;
	case END:
		return MP_TAPE_FAULT_EXTRA;
	case VALUE:
	case FIRST_VALUE:
		break;
	}
	return MP_TAPE_FAULT_VALUE;
}

static int tape_run(struct mp_tape *t, bool last)
{
	const char *p = t->src + t->pos;
	const char *end = t->src + t->len;
	enum state state = (enum state)t->state;
	bool in_object = t->depth && get_kind(t, t->depth - 1);
	struct mp_token token;
	bool opened;

	if (t->pos == 0 && (t->accept & MP_TAPE_BOM) && is_bom(p, end))
		p += 3;
	for (;;) {
		if (MP_UNLIKELY(p == end))
			goto ran_out;
		if (MP_UNLIKELY((unsigned char)*p <= ' ' || *p == '/')) {
			token = skip_gap(t, p, end, last);
			p = token.end;
			if (token.fault == MP_TAPE_FAULT_CUT || (!token.fault && p == end))
				goto ran_out;
			if (token.fault)
				goto bad_token;
		}
		switch (state) {
		case AFTER:
			if (*p == ',') {
				state = in_object ? NEXT_KEY : NEXT_VALUE;
				p++;
				continue;
			}
			if (*p != (in_object ? '}' : ']'))
				return give_up(t, p, tape_wrong(state, in_object, p, end));
			break;
		case NEXT_KEY:
		case FIRST_KEY:
			if (MP_LIKELY(*p == '"')) {
				note_folded(t);
				token = mp_token_string(p + 1, end);
				if (MP_UNLIKELY(token.fault == MP_TAPE_FAULT_CUT))
					goto ran_out;
				if (!token.fault)
					token.fault = tape_add(t, p, token.end, MP_TAPE_STRING,
							       token.flags);
				if (MP_UNLIKELY(token.fault))
					goto bad_token;
				p = token.end;
				state = COLON;
				if (MP_LIKELY(p < end &&
					      *p == ':')) { /* as it nearly always does */
					p++;
					state = VALUE;
				}
				continue;
			}
			if (*p != '}' ||
			    (state == NEXT_KEY && !(t->accept & MP_TAPE_TRAILING_COMMA)))
				return give_up(t, p, tape_wrong(state, in_object, p, end));
			t->loose |= state == NEXT_KEY;
			break;
		case COLON:
			if (*p != ':')
				return give_up(t, p, tape_wrong(state, in_object, p, end));
			p++;
			state = VALUE;
			continue;
		case END:
			return give_up(t, p, tape_wrong(state, in_object, p, end));
		case NEXT_VALUE:
			if (*p == ']' && (t->accept & MP_TAPE_TRAILING_COMMA)) {
				t->loose = true;
				break;
			}
			goto value;
		case FIRST_VALUE:
			if (*p == ']')
				break;
			goto value;
		case START:
		case VALUE:
		value:
			token = scan_value(t, p, end, last, &opened);
			if (MP_UNLIKELY(token.fault == MP_TAPE_FAULT_CUT))
				goto ran_out;
			if (MP_UNLIKELY(token.fault))
				goto bad_token;
			if (opened) {
				in_object = *p == '{';
				state = in_object ? FIRST_KEY : FIRST_VALUE;
			} else {
				state = t->depth ? AFTER : END;
			}
			p = token.end;
			continue;
		}
		/* Only a closing bracket comes here. */
		close_bracket(t, p++);
		in_object = t->depth && get_kind(t, t->depth - 1);
		state = t->depth ? AFTER : END;
	}
ran_out:
	if (state == END && p == end) {
		t->state = END;
		t->pos = t->len;
		t->patience = 0;
		return last;
	}
	return run_out(t, state, p, last);
bad_token:
	if (token.fault == MP_TAPE_FAULT_VALUE)
		token.fault = tape_wrong(state, in_object, p, end);
	if (may_be_completed(&token, end, last) || (state == START && !last && begins_bom(p, end)))
		return run_out(t, state, p, last);
	if (token.fault == MP_TAPE_FAULT_NODES || token.fault == MP_TAPE_FAULT_MEMORY)
		token.end = p; /* the value that is one too many, not what follows it */
	return give_up(t, token.end, token.fault);
}

int mp_tape_feed(struct mp_tape *t, const char *src, size_t len, bool last)
{
	mp_check(len >= t->len && t->fault == MP_TAPE_FAULT_NONE);
	mp_check(t->max_depth <= MP_LIMIT_JSON_DEPTH && t->max_bytes < UINT32_MAX);
	mp_check(t->keep_depth <= MP_LIMIT_JSON_DEPTH);
	t->src = src ? src : ""; /* nothing has no address */
	t->len = len;
	if (t->n == 0 && t->room > t->max_nodes)
		t->room = t->max_nodes; /* an earlier document had a higher limit */
	if (len > t->max_bytes)
		return give_up(t, t->src + t->max_bytes, MP_TAPE_FAULT_BYTES);
	if (len < t->patience && !last)
		return 0;
	return tape_run(t, last);
}

int mp_tape_parse(struct mp_tape *t, struct mp_str src, struct mcpool_error *reterr)
{
	int r;

	mp_tape_begin(t);
	r = mp_tape_feed(t, src.p, src.len, true);
	return r < 0 ? mp_tape_explain(t, reterr) : 0;
}

struct mp_tape_place mp_tape_locate(struct mp_str src, size_t offset)
{
	struct mp_tape_place place = {1, 1};

	for (size_t i = 0; i < offset && i < src.len; i++) {
		bool crlf = src.p[i] == '\r' && i + 1 < src.len && src.p[i + 1] == '\n';

		if (src.p[i] == '\n' || (src.p[i] == '\r' && !crlf)) {
			place.line++;
			place.column = 1;
		} else if (!mp_utf8_is_tail(src.p[i])) {
			place.column++;
		}
	}
	return place;
}

int mp_tape_explain(const struct mp_tape *t, struct mcpool_error *reterr)
{
	struct mp_tape_place place = mp_tape_locate((struct mp_str){t->src, t->len}, t->fault_at);

	mp_check(t->fault != MP_TAPE_FAULT_NONE);
	return mp_fail(reterr, code_of(t->fault), "line %u, column %u: %s", place.line,
		       place.column, sentences[t->fault]);
}
