/*
 * dashboard_port.c - the port of a dashboard that was opened without http.listen.
 */
#include "web/dashboard_port.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/paths.h"
#include "face/browser_logins.h"
#include "files/private.h"

static int port_get_path(struct mp_buf *out)
{
	return mp_path_state("dashboard.port", out);
}

int mp_dashboard_port_keep(const char *address, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf path;
	const char *port = strrchr(address, ':');
	char text[16];
	int r;

	mp_buf_init(&path, PATH_MAX);
	r = port_get_path(&path);
	if (r < 0)
		return mp_fail(reterr, r, "HOME is not set");
	snprintf(text, sizeof(text), "%s\n", port ? port + 1 : "");
	return mp_private_replace(path.data, mp_str_of(text), reterr);
}

/* Files that others may write to are not read. */
static int port_read(const char *path, int64_t *ret_changed_ms)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	char text[16] = "";
	struct stat st;
	int port = 0;

	if (fd < 0)
		return 0;
	if (fstat(fd, &st) == 0 && mp_private_check(path, &st, NULL) == 0 &&
	    read(fd, text, sizeof(text) - 1) > 0)
		port = (int)strtol(text, NULL, 10);
	*ret_changed_ms = (int64_t)st.st_mtim.tv_sec * 1000;
	close(fd);
	return port > 0 && port < 65536 ? port : 0;
}

bool mp_dashboard_port_find(int64_t wall_ms, char *out, size_t size)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf path;
	int64_t changed_ms = 0;
	int port;

	mp_buf_init(&path, PATH_MAX);
	if (port_get_path(&path) < 0)
		return false;
	port = port_read(path.data, &changed_ms);
	if (!port || wall_ms - changed_ms > MP_BROWSER_LOGIN_MS)
		return false;
	snprintf(out, size, "127.0.0.1:%d", port);
	return true;
}
