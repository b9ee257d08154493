/*
 * serve_demo.c - if nothing is configured: a demo server.
 * It is this program itself, configured in a file of the state folder as if --config named it.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/paths.h"
#include "cli/verbs/serve.h"
#include "json/write.h"

static int write_entry(struct mp_buf *out)
{
	char exe[PATH_MAX];
	struct mp_writer w;

	mp_path_find_self(exe);
	if (!exe[0])
		return MCPOOL_ESYSTEM;
	mp_write_init(&w, out, "  ");
	mp_write_begin_object(&w);
	mp_write_key(&w, MP_STR("mcpServers"));
	mp_write_begin_object(&w);
	mp_write_key(&w, MP_STR("demo"));
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "command", mp_str_of(exe));
	mp_write_member_raw(&w, "args", MP_STR("[\"demo-server\"]"));
	mp_write_end_object(&w);
	mp_write_end_object(&w);
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

/* Replace the file atomically: another `serve` may be reading it. */
static int write_file(const char *path, struct mp_str text)
{
	char beside[PATH_MAX];
	bool ok;
	int fd;

	if (snprintf(beside, sizeof(beside), "%s.%ld", path, (long)getpid()) >= PATH_MAX)
		return MCPOOL_ELIMIT;
	(void)unlink(beside);
	fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return MCPOOL_EIO;
	ok = write(fd, text.p, text.len) == (ssize_t)text.len;
	ok = close(fd) == 0 && ok && rename(beside, path) == 0;
	if (!ok)
		(void)unlink(beside);
	return ok ? 0 : MCPOOL_EIO;
}

static bool is_anything_there(const struct mp_configured *c)
{
	return c->set->n > 0 || c->strict || !c->set->settings.enabled;
}

void mp_serve_add_demo(struct mp_serve *s)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text, path;
	struct mp_configured *c = &s->c;
	int r;

	mp_buf_init(&text, MP_KIB(16));
	mp_buf_init(&path, PATH_MAX);
	if (is_anything_there(c) || !c->db) /* the store made the folder */
		return;
	r = write_entry(&text);
	if (r == 0)
		r = mp_path_state("demo.json", &path);
	if (r == 0)
		r = write_file(path.data, mp_buf_get(&text));
	if (r < 0) {
		mp_cli_complain("there is no room for the demo server: %s", mcpool_error_text(r));
		return;
	}
	mp_configured_add_file(c, path.data);
	mp_configured_reload(c);
	mp_cli_complain("no server is configured here, so the built-in demo server is used. "
			"`mcpool add NAME -- COMMAND` adds one.");
}
