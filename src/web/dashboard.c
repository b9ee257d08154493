/*
 * dashboard.c - the routes of the dashboard: the page and its files, logging in and out.
 */
#include "web/dashboard.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "web/page_conn.h"
#include "web/page.h"

struct mp_dashboard {
	struct mp_page_conns pages;
};

/* --- files ----------------------------------------------------------------------------------- */

/* Nothing but our own files and our own hub; text of servers cannot become a script. */
#define POLICY                                                                                  \
	"Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; "    \
	"img-src 'self' data: blob:; media-src blob:; connect-src 'self'; form-action 'none'; " \
	"base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'\r\n"       \
	"X-Content-Type-Options: nosniff\r\n"                                                   \
	"Referrer-Policy: no-referrer\r\n"                                                      \
	"X-DNS-Prefetch-Control: off\r\n"                                                       \
	"Cross-Origin-Opener-Policy: same-origin\r\n"                                           \
	"Cross-Origin-Resource-Policy: same-origin\r\n"                                         \
	"Content-Encoding: gzip\r\n"

static void serve_file(struct mp_exchange *x, const struct mp_page_file *file)
{
	mp_exchange_answer(
		x, &(struct mp_http_answer){200, file->type, POLICY, {file->bytes, file->size}});
}

static const struct mp_page_file *find_file(struct mp_str path)
{
	for (size_t i = 0; i < mp_page_n_files; i++)
		if (mp_str_eq(path, mp_str_of(mp_page_files[i].path)))
			return &mp_page_files[i];
	return NULL;
}

/* --- logging in ------------------------------------------------------------------------------ */

static void cookie_write(const struct mp_http_face *f, const char *value, int64_t seconds,
			 char *out, size_t size)
{
	snprintf(
		out, size,
		"Set-Cookie: %s=%s; Max-Age=%lld; Path=/dashboard; HttpOnly; SameSite=Strict%s\r\n",
		f->admit.logins.cookie, value, (long long)seconds,
		f->admit.is_secure ? "; Secure" : "");
}

/* The code is in a header, because requests without a login may have no body. */
static struct mp_str login_read_code(const struct mp_exchange *x)
{
	struct mp_str header = mp_inbound_get(x->in, MP_FIELD_AUTHORIZATION);
	struct mp_str scheme = MP_STR("Code ");

	if (!mp_str_starts(header, scheme))
		return MP_STR("");
	return (struct mp_str){header.p + scheme.len, header.len - scheme.len};
}

static void serve_login(struct mp_http_face *f, struct mp_exchange *x)
{
	static const struct mp_http_refusal why = {
		403, "this login was used or is too old; run `mcpool dashboard` again", NULL};
	char headers[512], body[256];
	struct mp_browser_login login;

	if (!f->admit.logins.key.path ||
	    !mp_browser_logins_take_code(&f->admit.logins, login_read_code(x), &login)) {
		mp_exchange_refuse(x, &why);
		return;
	}
	cookie_write(f, login.cookie, MP_BROWSER_LOGIN_MS / 1000, headers, sizeof(headers));
	snprintf(body, sizeof(body), "{\"proof\":\"%s\",\"until\":%lld}", login.proof,
		 (long long)login.until_ms);
	mp_exchange_answer(
		x, &(struct mp_http_answer){200, "application/json", headers, mp_str_of(body)});
	mp_wipe(&login, sizeof(login));
	mp_wipe(headers, sizeof(headers));
	mp_wipe(body, sizeof(body));
}

static void serve_logout(struct mp_http_face *f, struct mp_exchange *x)
{
	static const struct mp_http_refusal failed = {
		500, "the logins cannot be ended; remove dashboard.key", NULL};
	struct mcpool_error why;
	char headers[512];

	if (mp_browser_logins_end_all(&f->admit.logins, &f->admit.holders, &why) < 0) {
		mp_exchange_refuse(x, &failed);
		return;
	}
	cookie_write(f, "", 0, headers, sizeof(headers));
	mp_exchange_answer(x, &(struct mp_http_answer){204, NULL, headers, MP_STR("")});
	mp_http_face_end_strangers(f);
}

static void serve_session(struct mp_exchange *x)
{
	mp_exchange_answer(x, &(struct mp_http_answer){204, NULL, NULL, MP_STR("")});
}

/* --- routes ---------------------------------------------------------------------------------- */

static void dashboard_serve(void *u, struct mp_http_face *f, struct mp_exchange *x)
{
	struct mp_dashboard *d = u;
	struct mp_str path = mp_inbound_get_path(x->in);
	const struct mp_page_file *file = find_file(path);

	if (file)
		serve_file(x, file);
	else if (mp_str_eq(path, MP_STR("/dashboard/login")))
		serve_login(f, x);
	else if (mp_str_eq(path, MP_STR("/dashboard/logout")))
		serve_logout(f, x);
	else if (mp_str_eq(path, MP_STR("/dashboard/session")))
		serve_session(x);
	else
		mp_page_conn_serve(&d->pages, f, x);
}

static void dashboard_drain(void *u)
{
	struct mp_dashboard *d = u;

	mp_page_conns_drain(&d->pages);
}

const struct mp_http_dashboard mp_dashboard_routes = {dashboard_serve, dashboard_drain};

int mp_dashboard_write_address(struct mp_http_face *f, struct mp_buf *out)
{
	char code[MP_BROWSER_CODE + 1];
	int r;

	if (!f->admit.logins.key.path)
		return MCPOOL_EPERM;
	mp_browser_logins_make_code(&f->admit.logins, code);
	r = mp_buf_addf(out, "%s/#login=%s", mp_http_face_get_address(f), code);
	mp_wipe(code, sizeof(code));
	return r;
}

/* --- life ------------------------------------------------------------------------------------ */

struct mp_dashboard *mp_dashboard_new(const struct mp_dashboard_options *o)
{
	struct mp_dashboard *d = mp_alloc(sizeof(*d));

	d->pages = (struct mp_page_conns){
		.hub = o->hub, .exe = o->exe, .stop = o->stop, .describe = o->describe, .u = o->u};
	mp_page_conns_init(&d->pages);
	return d;
}

struct mp_dashboard *mp_dashboard_free(struct mp_dashboard *d)
{
	if (!d)
		return NULL;
	mp_page_conns_done(&d->pages);
	return mp_free(d);
}
