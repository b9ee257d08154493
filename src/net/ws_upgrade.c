/*
 * ws_upgrade.c - how a WebSocket begins: an HTTP request, and an answer that must be right.
 */
#include "net/ws_upgrade.h"

#include <curl/curl.h>
#include <openssl/evp.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/random_id.h"
#include "net/http_status.h"

#define GUID "258EAFA5-E914-47DA-95CA-C5AB0DC85B11" /* RFC 6455, 1.3 */

static const struct mp_str subprotocol = MP_STR("mcp");

void mp_ws_upgrade_init(struct mp_ws_upgrade *up)
{
	*up = (struct mp_ws_upgrade){.begun = false};
	mp_http_reader_init(&up->reader);
	mp_buf_init(&up->line, MP_LIMIT_HEADER_BLOCK);
}

void mp_ws_upgrade_done(struct mp_ws_upgrade *up)
{
	mp_http_reader_done(&up->reader);
	mp_buf_done(&up->line);
}

/* --- asking --------------------------------------------------------------------------------- */

static void url_cleanup(CURLU **url)
{
	curl_url_cleanup(*url);
}

static void text_cleanup(char **text)
{
	curl_free(*text);
}

static void make_key(struct mp_ws_upgrade *up)
{
	unsigned char bytes[16];

	mp_random_fill(bytes, sizeof(bytes));
	mp_check(EVP_EncodeBlock((unsigned char *)up->key, bytes, sizeof(bytes)) == MP_WS_KEY);
}

static bool is_ours(struct mp_str name)
{
	static const char *const names[] = {
		"Connection", "Content-Length",    "Host",   "Keep-Alive", "TE",
		"Trailer",    "Transfer-Encoding", "Upgrade"};

	for (size_t i = 0; i < MP_ARRAY_LEN(names); i++)
		if (mp_str_eq_nocase(name, mp_str_of(names[i])))
			return true;
	return name.len > 14 &&
	       mp_str_eq_nocase((struct mp_str){name.p, 14}, MP_STR("Sec-WebSocket-"));
}

static bool ws_upgrade_has(const struct mp_http_request *request, struct mp_str name)
{
	for (size_t i = 0; i < request->n_headers; i++)
		if (mp_str_eq_nocase(request->headers[i].name, name))
			return true;
	return false;
}

/* "GET /path?query HTTP/1.1" and the Host header. */
static int write_target(CURLU *url, struct mp_buf *out)
{
	MP_CLEANUP(text_cleanup) char *path = NULL;
	MP_CLEANUP(text_cleanup) char *query = NULL;
	MP_CLEANUP(text_cleanup) char *host = NULL;
	MP_CLEANUP(text_cleanup) char *port = NULL;

	if (curl_url_get(url, CURLUPART_PATH, &path, 0) != CURLUE_OK)
		return MCPOOL_EINVAL;
	if (curl_url_get(url, CURLUPART_HOST, &host, CURLU_PUNYCODE) != CURLUE_OK &&
	    curl_url_get(url, CURLUPART_HOST, &host, 0) != CURLUE_OK)
		return MCPOOL_EINVAL;
	if (curl_url_get(url, CURLUPART_QUERY, &query, 0) != CURLUE_OK)
		query = NULL;
	if (curl_url_get(url, CURLUPART_PORT, &port, CURLU_NO_DEFAULT_PORT) != CURLUE_OK)
		port = NULL;
	return mp_buf_addf(out, "GET %s%s%s HTTP/1.1\r\nHost: %s%s%s\r\n", path, query ? "?" : "",
			   query ? query : "", host, port ? ":" : "", port ? port : "");
}

/* Who we are, where the address says so. */
static int write_user(CURLU *url, struct mp_buf *out)
{
	MP_CLEANUP(text_cleanup) char *user = NULL;
	MP_CLEANUP(text_cleanup) char *password = NULL;
	MP_CLEANUP(mp_buf_done) struct mp_buf pair;
	int r, n;

	mp_buf_init(&pair, MP_LIMIT_HEADER_BLOCK / 2);
	if (curl_url_get(url, CURLUPART_USER, &user, CURLU_URLDECODE) != CURLUE_OK)
		return 0;
	if (curl_url_get(url, CURLUPART_PASSWORD, &password, CURLU_URLDECODE) != CURLUE_OK)
		password = NULL;
	r = mp_buf_addf(&pair, "%s:%s", user, password ? password : "");
	if (r == 0)
		r = mp_buf_addf(out, "Authorization: Basic ");
	if (r == 0)
		r = mp_buf_reserve(out, pair.len / 3 * 4 + 8);
	if (r < 0)
		return r;
	n = EVP_EncodeBlock((unsigned char *)out->data + out->len, (const unsigned char *)pair.data,
			    (int)pair.len);
	out->len += (size_t)n;
	return mp_buf_add_str(out, MP_STR("\r\n"));
}

static int write_header(const struct mp_http_header *h, struct mp_buf *out)
{
	int r = mp_buf_add_str(out, h->name);

	if (r == 0)
		r = mp_buf_add_str(out, MP_STR(": "));
	if (r == 0)
		r = mp_buf_add_str(out, mp_str_trim(h->value));
	return r < 0 ? r : mp_buf_add_str(out, MP_STR("\r\n"));
}

static int write_headers(struct mp_ws_upgrade *up, CURLU *url,
			 const struct mp_http_request *request, struct mp_buf *out)
{
	int r = mp_buf_addf(out,
			    "Upgrade: websocket\r\nConnection: Upgrade\r\n"
			    "Sec-WebSocket-Key: %s\r\nSec-WebSocket-Version: 13\r\n"
			    "Sec-WebSocket-Protocol: %.*s\r\n",
			    up->key, MP_STR_ARGS(subprotocol));

	if (r == 0 && !ws_upgrade_has(request, MP_STR("User-Agent")))
		r = mp_buf_addf(out, "User-Agent: mcpool/" MCPOOL_VERSION "\r\n");
	if (r == 0 && !ws_upgrade_has(request, MP_STR("Authorization")))
		r = write_user(url, out);
	for (size_t i = 0; i < request->n_headers && r == 0; i++)
		if (!is_ours(request->headers[i].name))
			r = write_header(&request->headers[i], out);
	return r < 0 ? r : mp_buf_add_str(out, MP_STR("\r\n"));
}

int mp_ws_upgrade_write(struct mp_ws_upgrade *up, const struct mp_http_request *request,
			struct mp_buf *out)
{
	MP_CLEANUP(url_cleanup) CURLU *url = curl_url();
	int r;

	if (!url)
		return MCPOOL_ENOMEM;
	if (curl_url_set(url, CURLUPART_URL, request->url, CURLU_URLENCODE) != CURLUE_OK)
		return MCPOOL_EINVAL;
	make_key(up);
	r = write_target(url, out);
	return r < 0 ? r : write_headers(up, url, request, out);
}

/* --- the answer ----------------------------------------------------------------------------- */

/* As far as it came, is this how HTTP/1 begins? */
static bool may_be_http(struct mp_str line)
{
	struct mp_str want = MP_STR("HTTP/1.");

	if (line.len < want.len)
		want.len = line.len;
	return mp_str_starts(line, want);
}

int mp_ws_upgrade_read(struct mp_ws_upgrade *up, struct mp_str *bytes)
{
	int r = 0;

	while (r == 0 && bytes->len) {
		const char *end = memchr(bytes->p, '\n', bytes->len);
		size_t n = end ? (size_t)(end - bytes->p) + 1 : bytes->len;

		r = mp_buf_add(&up->line, bytes->p, n);
		*bytes = (struct mp_str){bytes->p + n, bytes->len - n};
		if (r < 0)
			return r;
		if (!up->begun && !may_be_http(mp_buf_get(&up->line)))
			return MCPOOL_EPROTO;
		if (!end)
			return up->reader.seen + up->line.len > MP_LIMIT_HEADER_BLOCK
				       ? MCPOOL_ELIMIT
				       : 0;
		up->begun = true;
		r = mp_http_reader_add(&up->reader, mp_buf_get(&up->line));
		mp_buf_clear(&up->line);
	}
	return r;
}

void mp_ws_upgrade_accept(struct mp_str key, char accept[MP_WS_ACCEPT + 1])
{
	char text[MP_WS_KEY + sizeof(GUID)];
	unsigned char digest[EVP_MAX_MD_SIZE];

	mp_check(key.len == MP_WS_KEY);
	memcpy(text, key.p, MP_WS_KEY);
	memcpy(text + MP_WS_KEY, GUID, sizeof(GUID));
	mp_check(EVP_Digest(text, sizeof(text) - 1, digest, NULL, EVP_sha1(), NULL) == 1);
	mp_check(EVP_EncodeBlock((unsigned char *)accept, digest, 20) == MP_WS_ACCEPT);
}

/* "keep-alive, Upgrade" has the word upgrade. */
static bool has_word(struct mp_str list, struct mp_str word)
{
	while (list.len) {
		const char *comma = memchr(list.p, ',', list.len);
		size_t n = comma ? (size_t)(comma - list.p) : list.len;

		if (mp_str_eq_nocase(mp_str_trim((struct mp_str){list.p, n}), word))
			return true;
		n += comma != NULL;
		list = (struct mp_str){list.p + n, list.len - n};
	}
	return false;
}

/* NULL: nothing. A server that names no subprotocol may well speak it. */
static const char *find_fault(const struct mp_ws_upgrade *up, const struct mp_http_head *head)
{
	struct mp_str chosen = mp_http_head_find(head, MP_STR("Sec-WebSocket-Protocol"));
	char accept[MP_WS_ACCEPT + 1];

	mp_ws_upgrade_accept((struct mp_str){up->key, MP_WS_KEY}, accept);
	if (!mp_str_eq_nocase(mp_http_head_find(head, MP_STR("Upgrade")), MP_STR("websocket")) ||
	    !has_word(mp_http_head_find(head, MP_STR("Connection")), MP_STR("upgrade")))
		return "it is not an upgrade to WebSocket";
	if (!mp_str_eq(mp_http_head_find(head, MP_STR("Sec-WebSocket-Accept")), mp_str_of(accept)))
		return "it answers another request";
	if (mp_http_head_find(head, MP_STR("Sec-WebSocket-Extensions")).len)
		return "it uses an extension that was not offered";
	if (chosen.len && !mp_str_eq(chosen, subprotocol))
		return "it speaks another subprotocol than mcp";
	return NULL;
}

int mp_ws_upgrade_judge(const struct mp_ws_upgrade *up, struct mp_str body, const char *place,
			int64_t wall_ms, struct mcpool_error *reterr)
{
	struct mp_http_head head = mp_http_reader_get(&up->reader);
	bool is_plain = !mp_http_head_find(&head, MP_STR("Transfer-Encoding")).len;
	struct mcpool_error why;
	const char *fault;

	if (head.status != 101) {
		if (!is_plain)
			body.len = 0;
		mp_http_status_explain(&head, body, place, wall_ms, &why);
		if (mp_http_status_of(head.status) == MP_HTTP_FINE)
			mp_fail(&why, MCPOOL_EPROTO, "%s answered HTTP %d: no WebSocket is there",
				place, head.status);
		if (reterr)
			*reterr = why;
		return why.code;
	}
	fault = find_fault(up, &head);
	return fault ? mp_fail(reterr, MCPOOL_EPROTO, "%s answered the upgrade wrongly: %s", place,
			       fault)
		     : 0;
}
