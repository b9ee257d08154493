/*
 * mcp_headers.c - parses the HTTP headers of an MCP message and compares them with it.
 * A proxy may have decided by the headers, so a message that differs from them is refused (400,
 * -32020).
 */
#include "face/mcp_headers.h"

#include <openssl/evp.h>

#include "base/limits.h"

/* --- what is accepted ----------------------------------------------------------------------- */

static struct mp_str mcp_headers_cut(struct mp_str *list, char at)
{
	const char *end = list->len ? memchr(list->p, at, list->len) : NULL;
	size_t n = end ? (size_t)(end - list->p) : list->len;
	struct mp_str first = {list->p, n};

	n += end != NULL;
	*list = (struct mp_str){list->p + n, list->len - n};
	return mp_str_trim(first);
}

static unsigned accept_one(struct mp_str range)
{
	if (mp_str_eq(range, MP_STR("*/*")))
		return MP_ACCEPTS_JSON | MP_ACCEPTS_EVENTS;
	if (mp_str_eq_nocase(range, MP_STR("application/json")) ||
	    mp_str_eq_nocase(range, MP_STR("application/*")))
		return MP_ACCEPTS_JSON;
	if (mp_str_eq_nocase(range, MP_STR("text/event-stream")) ||
	    mp_str_eq_nocase(range, MP_STR("text/*")))
		return MP_ACCEPTS_EVENTS;
	return 0;
}

unsigned mp_mcp_headers_accept(struct mp_str accept)
{
	unsigned all = 0;

	if (!accept.p)
		return MP_ACCEPTS_JSON | MP_ACCEPTS_EVENTS;
	while (accept.len) {
		struct mp_str one = mcp_headers_cut(&accept, ',');

		all |= accept_one(mcp_headers_cut(&one, ';'));
	}
	return all;
}

bool mp_mcp_headers_is_json(struct mp_str content_type)
{
	return mp_str_eq_nocase(mcp_headers_cut(&content_type, ';'), MP_STR("application/json"));
}

/* --- encoded values ------------------------------------------------------------------------- */

static const struct mp_str opening = MP_STR("=?base64?");
static const struct mp_str closing = MP_STR("?=");

static bool is_encoded(struct mp_str v)
{
	return v.len >= opening.len + closing.len && mp_str_starts(v, opening) &&
	       memcmp(v.p + v.len - closing.len, closing.p, closing.len) == 0;
}

/* Only characters of the alphabet, padding only at the end. */
static bool is_base64(struct mp_str v)
{
	size_t padding = 0;

	for (size_t i = 0; i < v.len; i++) {
		char c = v.p[i];
		bool is_digit = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
				(c >= '0' && c <= '9') || c == '+' || c == '/';

		padding += c == '=';
		if (c != '=' && (!is_digit || padding))
			return false;
	}
	return v.len % 4 == 0 && padding <= 2;
}

int mp_mcp_headers_decode(struct mp_str value, struct mp_buf *out, struct mp_str *ret_text)
{
	struct mp_str code;
	size_t padding = 0;
	int n;

	*ret_text = value;
	if (!is_encoded(value))
		return 0;
	code = (struct mp_str){value.p + opening.len, value.len - opening.len - closing.len};
	if (!is_base64(code))
		return MCPOOL_EINVAL;
	if (mp_buf_reserve(out, code.len + 1) < 0)
		return MCPOOL_ENOMEM;
	for (size_t i = code.len; i && code.p[i - 1] == '='; i--)
		padding++;
	n = EVP_DecodeBlock((unsigned char *)out->data + out->len, (const unsigned char *)code.p,
			    (int)code.len);
	if (n < 0 || (size_t)n < padding)
		return MCPOOL_EINVAL;
	*ret_text = (struct mp_str){out->data + out->len, (size_t)n - padding};
	out->len += ret_text->len;
	return mp_utf8_valid(*ret_text) ? 0 : MCPOOL_EINVAL;
}

/* --- comparing ------------------------------------------------------------------------------ */

static bool mcp_headers_says(const struct mp_inbound *in, enum mp_field field,
			     const struct mp_message *m, mp_value v)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf room;
	struct mp_str value = mp_inbound_get(in, field), text;

	mp_buf_init(&room, MP_LIMIT_HEADER_BLOCK);
	return value.p && mp_mcp_headers_decode(value, &room, &text) == 0 &&
	       mp_value_text_is(m->tape, v, text);
}

/* Only methods of this era have a subject header. */
static bool has_subject(const struct mp_message *m)
{
	const struct mp_method *method = mp_method_get(m->method);

	return method->subject && (method->eras & MP_ERA_MODERN);
}

const char *mp_mcp_headers_compare(const struct mp_inbound *in, const struct mp_message *m)
{
	if (mp_value_is(m->tape, m->version, MP_TAPE_STRING) &&
	    !mcp_headers_says(in, MP_FIELD_VERSION, m, m->version))
		return "the header MCP-Protocol-Version is missing or differs from _meta";
	if (m->kind != MP_MESSAGE_REQUEST && !mp_inbound_get(in, MP_FIELD_METHOD).p)
		return NULL;
	if (!mcp_headers_says(in, MP_FIELD_METHOD, m, m->method_name))
		return "the header Mcp-Method is missing or differs from the method";
	if (!has_subject(m))
		return NULL;
	if (m->subject == MP_NONE && !mp_inbound_get(in, MP_FIELD_NAME).p)
		return NULL; /* a missing value is reported when params are parsed */
	if (!mcp_headers_says(in, MP_FIELD_NAME, m, m->subject))
		return "the header Mcp-Name is missing or differs from what params name";
	return NULL;
}
