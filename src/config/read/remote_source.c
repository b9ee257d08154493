/*
 * remote_source.c - the copy of a remote source that was fetched last, and what is known about it.
 * Two files in the state folder, named by a hash of the address: the content, which is followed
 * like a configuration file, and the state of its fetching.
 */
#include "config/read/remote_source.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/paths.h"
#include "files/file.h"
#include "json/bind.h"
#include "json/write.h"
#include "store/digest.h"
#include "files/private.h"

/* --- addresses -------------------------------------------------------------------------------- */

/* The host, where it is this machine. */
static bool is_loopback(const char *host)
{
	static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};

	for (size_t i = 0; i < MP_ARRAY_LEN(names); i++) {
		size_t n = strlen(names[i]);

		if (strncmp(host, names[i], n) == 0 &&
		    (host[n] == ':' || host[n] == '/' || !host[n]))
			return true;
	}
	return false;
}

bool mp_remote_source_is_fetched(const char *url)
{
	return strncmp(url, "https://", 8) == 0 ||
	       (strncmp(url, "http://", 7) == 0 && is_loopback(url + 7));
}

int mp_remote_source_name(const char *url, struct mp_buf *out)
{
	const char *host = strstr(url, "://");
	size_t scheme = host ? (size_t)(host + 3 - url) : 0;
	size_t end = scheme + strcspn(url + scheme, "?#");
	const char *at = memchr(url + scheme, '@', strcspn(url + scheme, "/?#"));
	int r = mp_buf_add(out, url, scheme);

	if (r == 0 && at)
		r = mp_buf_add(out, at + 1, (size_t)(url + end - (at + 1)));
	else if (r == 0)
		r = mp_buf_add(out, url + scheme, end - scheme);
	return r < 0 ? r : mp_buf_terminate(out);
}

/* --- files ------------------------------------------------------------------------------------ */

static int get_path(const char *url, const char *ending, struct mp_buf *out)
{
	unsigned char digest[MP_DIGEST_SIZE];
	char hex[2 * MP_DIGEST_SIZE + 1], name[2 * MP_DIGEST_SIZE + 40];
	struct mp_digest *d = mp_digest_new();

	mp_digest_add(d, mp_str_of(url));
	mp_digest_finish(d, digest);
	mp_digest_to_hex(digest, hex);
	snprintf(name, sizeof(name), "catalogues/%.32s%s", hex, ending);
	return mp_path_state(name, out);
}

int mp_remote_source_get_path(const char *url, struct mp_buf *out)
{
	return get_path(url, ".json", out);
}

/* --- what is noted ---------------------------------------------------------------------------- */

struct note {
	const char *etag, *modified, *why;
	int64_t fetched_ms, next_ms, failures, size;
	uint64_t present;
};

static const struct mp_bind_field fields[] = {
	MP_BIND(struct note, TEXT, "etag", etag),
	MP_BIND(struct note, TEXT, "lastModified", modified),
	MP_BIND(struct note, I64, "fetchedAt", fetched_ms, .min = 0, .max = INT64_MAX),
	MP_BIND(struct note, I64, "size", size, .min = 0, .max = INT64_MAX),
	MP_BIND(struct note, I64, "nextAt", next_ms, .min = 0, .max = INT64_MAX),
	MP_BIND(struct note, I64, "failures", failures, .min = 0, .max = 1000),
	MP_BIND(struct note, TEXT, "error", why),
};
static const struct mp_bind_table table = {fields, MP_ARRAY_LEN(fields),
					   offsetof(struct note, present)};

static void remote_source_copy(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from ? from : "");
}

/*
 * A copy that is gone, or was cut when the machine stopped, must not be what a server is told that
 * we have: it would say that there is nothing new.
 */
static void check_copy(const char *url, struct mp_remote_source_state *s)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf path;
	struct stat st;

	mp_buf_init(&path, MP_KIB(8));
	if (get_path(url, ".json", &path) == 0 && stat(path.data, &st) == 0 &&
	    st.st_size == s->size)
		return;
	s->etag[0] = s->modified[0] = '\0';
	s->fetched_ms = s->size = 0;
	if (s->failures == 0)
		s->next_ms = 0;
}

bool mp_remote_source_is_same(const char *url, struct mp_str content)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf path;
	MP_CLEANUP(mp_buf_done) struct mp_buf text;

	mp_buf_init(&path, MP_KIB(8));
	mp_buf_init(&text, MP_LIMIT_CONFIG_FILE);
	return get_path(url, ".json", &path) == 0 &&
	       mp_file_read(path.data, MP_LIMIT_CONFIG_FILE, &text, NULL) == 0 &&
	       mp_str_eq(mp_buf_get(&text), content);
}

void mp_remote_source_load(const char *url, struct mp_remote_source_state *ret)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf path;
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	MP_CLEANUP(mp_tape_done) struct mp_tape tape;
	struct note note = {0};

	*ret = (struct mp_remote_source_state){.failures = 0};
	mp_buf_init(&path, MP_KIB(8));
	mp_buf_init(&text, MP_KIB(8));
	mp_arena_init(&arena, MP_KIB(64));
	mp_tape_init(&tape, 0);
	if (get_path(url, ".note", &path) < 0 ||
	    mp_file_read(path.data, MP_KIB(8), &text, NULL) < 0 ||
	    mp_tape_parse(&tape, mp_buf_get(&text), NULL) < 0 ||
	    mp_bind_read(&table, &tape, MP_ROOT, &arena, &note, NULL, NULL, NULL) < 0)
		return;
	remote_source_copy(ret->etag, sizeof(ret->etag), note.etag);
	remote_source_copy(ret->modified, sizeof(ret->modified), note.modified);
	remote_source_copy(ret->why, sizeof(ret->why), note.why);
	ret->fetched_ms = note.fetched_ms;
	ret->next_ms = note.next_ms;
	ret->failures = (unsigned)note.failures;
	ret->size = note.size;
	check_copy(url, ret);
}

static int write_note(const struct mp_remote_source_state *s, struct mp_buf *out)
{
	struct mp_writer w;

	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "etag", mp_str_of(s->etag));
	mp_write_member_text(&w, "lastModified", mp_str_of(s->modified));
	mp_write_member_i64(&w, "fetchedAt", s->fetched_ms);
	mp_write_member_i64(&w, "size", s->size);
	mp_write_member_i64(&w, "nextAt", s->next_ms);
	mp_write_member_i64(&w, "failures", (int64_t)s->failures);
	mp_write_member_text(&w, "error", mp_str_of(s->why));
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

static int remote_source_replace(const char *url, const char *ending, struct mp_str bytes,
				 struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf path;
	int r;

	mp_buf_init(&path, MP_KIB(8));
	r = get_path(url, ending, &path);
	if (r < 0)
		return mp_fail(reterr, r, "there is no home for a copy");
	return mp_private_replace(path.data, bytes, reterr);
}

/* The note last: one without its content would say that there is nothing new. */
int mp_remote_source_save(const char *url, const struct mp_remote_source_state *state,
			  const struct mp_str *content, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf note;
	int r = 0;

	mp_buf_init(&note, MP_KIB(8));
	if (content)
		r = remote_source_replace(url, ".json", *content, reterr);
	if (r < 0)
		return r;
	r = write_note(state, &note);
	if (r < 0)
		return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	return remote_source_replace(url, ".note", mp_buf_get(&note), reterr);
}

/* --- what follows ----------------------------------------------------------------------------- */

void mp_remote_source_note_fetched(struct mp_remote_source_state *s, int64_t wall_ms)
{
	s->fetched_ms = wall_ms;
	s->next_ms = wall_ms + MP_REMOTE_SOURCE_FRESH_MS;
	s->failures = 0;
	s->why[0] = '\0';
}

void mp_remote_source_note_failed(struct mp_remote_source_state *s, int64_t wall_ms,
				  const char *why)
{
	int64_t rest_ms = MP_REMOTE_SOURCE_FIRST_REST_MS;

	for (unsigned i = 0; i < s->failures && rest_ms < MP_REMOTE_SOURCE_LAST_REST_MS; i++)
		rest_ms *= 2;
	if (rest_ms > MP_REMOTE_SOURCE_LAST_REST_MS)
		rest_ms = MP_REMOTE_SOURCE_LAST_REST_MS;
	s->failures += s->failures < 1000;
	s->next_ms = wall_ms + rest_ms;
	remote_source_copy(s->why, sizeof(s->why), why);
}
