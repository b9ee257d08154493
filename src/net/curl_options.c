/*
 * curl_options.c - a request as curl's options, and sockets as we want them.
 */
#include "net/curl_options.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"

/*
 * Bytes of one read are handled in one go, and the buffer lives as long as a stream is open; curl's
 * default is 16 KiB.
 */
enum { QUIET_BYTES = 1024, PIECE_BYTES = 4096 };
/* Half-open peers are seen within 30 s: 10 s of silence, then two questions 5 s apart; the rest is
 * for those who then ask the server itself. */
enum { KEEP_IDLE_S = 10, KEEP_INTERVAL_S = 5, KEEP_COUNT = 2, UNACKED_MS = 20000 };

/* --- addresses ------------------------------------------------------------------------------ */

static void url_cleanup(CURLU **url)
{
	curl_url_cleanup(*url);
}

static void text_cleanup(char **text)
{
	curl_free(*text);
}

void mp_curl_options_place(const char *text, char *place)
{
	MP_CLEANUP(url_cleanup) CURLU *url = curl_url();
	MP_CLEANUP(text_cleanup) char *scheme = NULL;
	MP_CLEANUP(text_cleanup) char *host = NULL;
	MP_CLEANUP(text_cleanup) char *port = NULL;

	(void)snprintf(place, MP_HTTP_PLACE, "the server");
	if (!url || curl_url_set(url, CURLUPART_URL, text, 0) != CURLUE_OK ||
	    curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) != CURLUE_OK ||
	    curl_url_get(url, CURLUPART_HOST, &host, 0) != CURLUE_OK)
		return;
	if (curl_url_get(url, CURLUPART_PORT, &port, CURLU_NO_DEFAULT_PORT) != CURLUE_OK)
		port = NULL;
	(void)snprintf(place, MP_HTTP_PLACE, "%s://%s%s%s", scheme, host, port ? ":" : "",
		       port ? port : "");
}

/* --- headers -------------------------------------------------------------------------------- */

static bool is_token(struct mp_str s)
{
	for (size_t i = 0; i < s.len; i++) {
		char c = s.p[i];

		if (c <= ' ' || c >= 0x7f || strchr("\"(),/:;<=>?@[\\]{}", c))
			return false;
	}
	return s.len > 0;
}

/* One line stays one line (V36). */
static bool is_value(struct mp_str s)
{
	for (size_t i = 0; i < s.len; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if ((c < ' ' && c != '\t') || c == 0x7f)
			return false;
	}
	return true;
}

static int curl_options_append(struct curl_slist **list, const char *line)
{
	struct curl_slist *longer = curl_slist_append(*list, line);

	if (!longer)
		return MCPOOL_ENOMEM;
	*list = longer;
	return 0;
}

static int append_header(struct curl_slist **list, struct mp_buf *line,
			 const struct mp_http_header *h)
{
	struct mp_str value = mp_str_trim(h->value);
	int r;

	mp_buf_clear(line);
	/* curl takes "Name:" for a wish to leave it out, and "Name;" for an empty one. */
	r = mp_buf_add_str(line, h->name);
	if (r >= 0)
		r = mp_buf_add_str(line, value.len ? MP_STR(": ") : MP_STR(";"));
	if (r >= 0)
		r = mp_buf_add_str(line, value);
	if (r >= 0)
		r = mp_buf_terminate(line);
	return r < 0 ? r : curl_options_append(list, line->data);
}

static bool has_header(const struct mp_http_request *request, struct mp_str name)
{
	for (size_t i = 0; i < request->n_headers; i++)
		if (mp_str_eq_nocase(request->headers[i].name, name))
			return true;
	return false;
}

/* Its value may be a secret and is not repeated; of its name only what can be shown. */
static int refuse_header(const struct mp_http_header *h, struct mcpool_error *reterr)
{
	char name[64];
	size_t n = h->name.len < sizeof(name) - 1 ? h->name.len : sizeof(name) - 1;

	for (size_t i = 0; i < n; i++)
		name[i] = (char)(h->name.p[i] > 0x20 && h->name.p[i] < 0x7f ? h->name.p[i] : '?');
	name[n] = '\0';
	if (!is_token(h->name))
		return mp_fail(reterr, MCPOOL_EINVAL,
			       "the header '%s' cannot be sent: a name has letters, digits and "
			       "dashes only; change it in `headers`",
			       name);
	return mp_fail(reterr, MCPOOL_EINVAL,
		       "the header '%s' cannot be sent: its value has a line break or another "
		       "control character in it; look at where the value comes from",
		       name);
}

static int list_headers(const struct mp_http_request *request, struct curl_slist **list,
			struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf line;
	int r = curl_options_append(list, "Expect:");

	mp_buf_init(&line, MP_LIMIT_HEADER_BLOCK);
	if (r == 0 && !has_header(request, MP_STR("Content-Type")))
		r = curl_options_append(list, "Content-Type:"); /* or it would be a form */
	for (size_t i = 0; i < request->n_headers && r == 0; i++) {
		const struct mp_http_header *h = &request->headers[i];

		if (!is_token(h->name) || !is_value(h->value))
			return refuse_header(h, reterr);
		r = append_header(list, &line, h);
	}
	return r < 0 ? mp_fail(reterr, r, "the headers are too large") : 0;
}

/* --- options -------------------------------------------------------------------------------- */

static const char *method_of(const struct mp_http_request *request)
{
	return request->method ? request->method : request->body.p ? "POST" : "GET";
}

bool mp_curl_options_is_safe(const struct mp_http_request *request)
{
	const char *method = method_of(request);

	return strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0;
}

#define SET(option, value)                                                 \
	do {                                                               \
		if (curl_easy_setopt(easy, (option), (value)) != CURLE_OK) \
			return MCPOOL_EINVAL;                              \
	} while (0)

static int set_method(CURL *easy, const struct mp_http_request *request)
{
	const char *method = method_of(request);

	if (!is_token(mp_str_of(method)))
		return MCPOOL_EINVAL;
	if (strcmp(method, "HEAD") == 0)
		SET(CURLOPT_NOBODY, 1L);
	else if (strcmp(method, "GET") != 0)
		SET(CURLOPT_CUSTOMREQUEST, method);
	return 0;
}

static int set_tls(CURL *easy, const struct mp_http_request *request)
{
	if (request->ca_file) /* the system's stay, by their folder */
		SET(CURLOPT_CAINFO, request->ca_file);
	if (request->cert_file)
		SET(CURLOPT_SSLCERT, request->cert_file);
	if (request->key_file)
		SET(CURLOPT_SSLKEY, request->key_file);
	return 0;
}

/* An empty text keeps curl from looking into the environment itself. */
static int set_target(CURL *easy, const struct mp_http_target *target)
{
	SET(CURLOPT_URL, target->url);
	SET(CURLOPT_PROXY, target->proxy ? target->proxy : "");
	SET(CURLOPT_NOPROXY, "");
	/* Wait for a connection that may turn out to be HTTP/2, so that all requests share it. */
	SET(CURLOPT_PIPEWAIT, target->plain ? 0L : 1L);
	return 0;
}

static int set_rest(CURL *easy, const struct mp_http_request *request)
{
	SET(CURLOPT_PROTOCOLS_STR, "http,https");
	SET(CURLOPT_FOLLOWLOCATION, 0L);
	SET(CURLOPT_USERAGENT, "mcpool/" MCPOOL_VERSION);
	SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_QUICK_EXIT, 1L); /* do not wait for the lookup of a cancelled request */
	SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	SET(CURLOPT_BUFFERSIZE, request->is_quiet ? (long)QUIET_BYTES : (long)PIECE_BYTES);
	/* Ours is the limit; curl divides this one among the addresses of a name. */
	SET(CURLOPT_CONNECTTIMEOUT_MS, (long)request->connect_ms);
	return 0;
}

int mp_curl_options_set(CURL *easy, const struct mp_http_target *target,
			const struct mp_http_request *request, struct curl_slist **ret_headers,
			struct mcpool_error *reterr)
{
	struct curl_slist *list = NULL;
	int r = list_headers(request, &list, reterr);

	if (r < 0) {
		curl_slist_free_all(list);
		return r;
	}
	if (set_target(easy, target) < 0 || set_rest(easy, request) < 0 ||
	    set_method(easy, request) < 0 || set_tls(easy, request) < 0 ||
	    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, list) != CURLE_OK) {
		curl_slist_free_all(list);
		return mp_fail(reterr, MCPOOL_EINVAL, "the request cannot be sent as it is");
	}
	*ret_headers = list;
	return 0;
}

/* --- sockets -------------------------------------------------------------------------------- */

static void set_option(int fd, int level, int option, int value)
{
	/* A kernel without it only notices later. */
	(void)setsockopt(fd, level, option, &value, sizeof(value));
}

int mp_curl_options_socket(int family, int type, int protocol)
{
	int fd = socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);

	if (fd < 0)
		return -1;
	set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
	set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, KEEP_IDLE_S);
	set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, KEEP_INTERVAL_S);
	set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, KEEP_COUNT);
	set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, UNACKED_MS);
	return fd;
}
