/*
 * remote.c - the second phase of loading: servers that a team publishes behind a URL.
 */
#include "config/read/remote.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/read/remote_source.h"
#include "config/read/dialects.h"

static const struct mp_source remote = {"remote",
					"remote source",
					MP_CONFIG_REMOTE,
					MP_FOLDER_ROOT,
					"",
					MP_FORMAT_JSON,
					mp_dialect_servers,
					0,
					MP_EXPAND_VARIABLE};

static const char *keep_text(struct mp_loading *l, const struct mp_tape *t, mp_value v)
{
	struct mp_str text;
	const char *copy = NULL;

	if (mp_value_text(t, v, &l->set->arena, &text) == 0)
		copy = mp_arena_dup(&l->set->arena, text);
	if (!copy && l->error == 0)
		l->error = mp_arena_get_error(&l->set->arena);
	return copy;
}

/* An address in the user's file needs a yes as well: agents can be talked into editing files. */
static bool may_ask(struct mp_loading *l, const struct mp_document *doc, mp_value v,
		    const char *url, bool trusted)
{
	char name[MP_KIB(2)];
	const struct mp_grant *g;

	if (trusted)
		return true;
	snprintf(name, sizeof(name), "[remote] %s", url);
	g = mp_loading_add_grant(l, doc, v, name, "");
	if (g && g->trust != MP_TRUST_YES)
		mp_loading_complain(l, MP_WARNING, doc, v, "", "",
				    "this address needs your approval: mcpool trust");
	return g && g->trust == MP_TRUST_YES;
}

void mp_remote_note(struct mp_loading *l, const struct mp_document *doc, bool trusted)
{
	const struct mp_tape *t = &doc->tape;
	mp_value list = mp_value_get(t, mp_value_get(t, MP_ROOT, "mcpool"), "remote");
	size_t n = mp_value_count(t, list);

	if (l->error < 0 || !mp_value_is(t, list, MP_TAPE_ARRAY))
		return;
	l->n_remotes = 0; /* a later layer replaces it */
	l->remotes = mp_arena_alloc_array(&l->set->arena, n + 1, sizeof(*l->remotes));
	if (!l->remotes) {
		l->error = mp_arena_get_error(&l->set->arena);
		return;
	}
	MP_VALUE_EACH(t, list, v) {
		const char *url = mp_value_is(t, v, MP_TAPE_STRING) ? keep_text(l, t, v) : NULL;

		if (url)
			l->remotes[l->n_remotes++] =
				(struct mp_remote){url, may_ask(l, doc, v, url, trusted)};
	}
}

static int remote_hex(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
				      : -1;
}

/* The path of a file: URL; false: it is none, or names another machine. */
static bool read_file_url(const char *url, char *path, size_t size)
{
	size_t n = 0;

	if (strncmp(url, "file:", 5) != 0)
		return false;
	url += 5;
	if (strncmp(url, "//localhost/", 12) == 0)
		url += 11;
	else if (strncmp(url, "///", 3) == 0)
		url += 2;
	if (url[0] != '/' || url[1] == '/')
		return false;
	for (; *url && n + 1 < size; url++) {
		if (*url == '%' && remote_hex(url[1]) >= 0 && remote_hex(url[2]) >= 0) {
			path[n++] = (char)(remote_hex(url[1]) * 16 + remote_hex(url[2]));
			url += 2;
		} else {
			path[n++] = *url;
		}
	}
	path[n] = '\0';
	return *url == '\0' && strlen(path) == n;
}

/* The address as it may be shown; in the set. */
static const char *remote_shown(struct mp_loading *l, const char *url)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf name;
	const char *copy;

	mp_buf_init(&name, MP_KIB(64));
	if (mp_remote_source_name(url, &name) < 0)
		return "a remote source";
	copy = mp_loading_keep(l, name.data);
	return copy ? copy : "a remote source";
}

/* What the copy is worth, where that is worth a word. */
static void judge_copy(struct mp_loading *l, const char *url, bool is_there)
{
	struct mp_remote_source_state s;
	struct mcpool_error words;
	long long minutes;

	mp_remote_source_load(url, &s);
	minutes = (long long)(l->req->wall_ms - s.fetched_ms) / 60000;
	if (is_there && s.failures == 0)
		return;
	if (is_there)
		(void)mp_fail(&words, MCPOOL_EIO, "%s; the copy of %lld minute%s ago counts", s.why,
			      minutes, minutes == 1 ? "" : "s");
	else
		(void)mp_fail(&words, MCPOOL_EIO, "%s; nothing else is affected",
			      s.why[0] ? s.why : "this remote source was not fetched yet");
	mp_loading_complain(l, MP_WARNING, NULL, MP_NONE, remote_shown(l, url), "", words.message);
}

/* Entries are shown with the address, which says more than where our copy is. */
static void read_copy(struct mp_loading *l, const char *url)
{
	MP_CLEANUP(mp_document_freep) struct mp_document *doc = NULL;
	MP_CLEANUP(mp_buf_done) struct mp_buf path;
	int r;

	mp_buf_init(&path, MP_KIB(8));
	r = mp_remote_source_get_path(url, &path);
	if (r < 0)
		return; /* without a home nothing is kept, and nothing is fetched */
	doc = mp_loading_open(l, path.data, MP_FORMAT_JSON, MP_LIMIT_CONFIG_FILE);
	if (doc) {
		mp_free(doc->path);
		doc->path = mp_dup(remote_shown(l, url));
		remote.dialect(l, &remote, doc);
	}
	if (l->error == 0)
		judge_copy(l, url, doc != NULL);
}

static void read_remote_source(struct mp_loading *l, const char *url)
{
	MP_CLEANUP(mp_document_freep) struct mp_document *doc = NULL;
	char path[PATH_MAX];

	if (mp_remote_source_is_fetched(url)) {
		read_copy(l, url);
		return;
	}
	if (!read_file_url(url, path, sizeof(path))) {
		mp_loading_complain(
			l, MP_WARNING, NULL, MP_NONE, remote_shown(l, url), "",
			"remote sources are read from https: and file: addresses, and from "
			"http: ones of this machine");
		return;
	}
	doc = mp_loading_open(l, path, MP_FORMAT_JSON, MP_LIMIT_USER_FILE);
	if (doc)
		remote.dialect(l, &remote, doc);
	else if (l->error == 0)
		mp_loading_complain(l, MP_WARNING, NULL, MP_NONE, url, "",
				    "this remote source cannot be read; nothing else is affected");
}

/* For hub/remote_sources.c, which fetches them. */
static void note_fetched(struct mp_loading *l)
{
	const char **urls = mp_arena_alloc_array(&l->set->arena, l->n_remotes + 1, sizeof(*urls));

	if (!urls)
		return; /* the arena remembers why */
	for (size_t i = 0; i < l->n_remotes; i++)
		if (l->remotes[i].may_ask && mp_remote_source_is_fetched(l->remotes[i].url))
			urls[l->set->n_remote_urls++] = l->remotes[i].url;
	l->set->remote_urls = urls;
}

void mp_remote_read(struct mp_loading *l)
{
	for (size_t i = 0; i < l->n_remotes && l->error == 0; i++)
		if (l->remotes[i].may_ask)
			read_remote_source(l, l->remotes[i].url);
	note_fetched(l);
}
