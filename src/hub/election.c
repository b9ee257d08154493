/*
 * election.c - one hub per user: a lock file and a socket next to it.
 * The kernel releases the lock of a dead process, so the new holder may remove what the old hub
 * left. The lock file is never removed: two hubs could then hold different files.
 */
#include "hub/election.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/listener.h"
#include "base/folders.h"
#include "base/paths.h"
#include "process/tree.h"
#include "store/digest.h"
#include "files/private.h"

#define SOCKET_NAME "hub.sock"
#define LOCK_NAME   "hub.lock"
#define PLACE_NAME  "hub.place" /* in the state folder: path of the hub's folder */

#define RESERVED "newer than "

/* RESERVED_S: a newer hub that has not started by then never will. */
enum { BACKLOG = 4096, LOOK_AGAIN_MS = 20, RESERVED_S = 10 };

/* --- where ----------------------------------------------------------------------------------- */

static const char *logins = "/run/user", *home_of_user; /* NULL: the system's value */

void mp_hub_place_pretend(const char *folder, const char *home)
{
	logins = folder ? folder : "/run/user";
	home_of_user = home;
}

/* A different HOME means a separate environment. */
static bool is_at_home(void)
{
	struct passwd *user = home_of_user ? NULL : getpwuid(geteuid());
	const char *home = getenv("HOME"), *known = user ? user->pw_dir : home_of_user;

	return home && known && strcmp(home, known) == 0;
}

/*
 * Many agents start their servers with little more than HOME and PATH. They must find the hub that
 * was started in a terminal, so derive the value that the login sets.
 */
static const char *find_runtime(char *login, size_t size)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	struct stat st;

	if (runtime && runtime[0] == '/')
		return runtime;
	snprintf(login, size, "%s/%u", logins, (unsigned)geteuid());
	if (!is_at_home() || lstat(login, &st) < 0 || !S_ISDIR(st.st_mode) ||
	    st.st_uid != geteuid() || st.st_mode & 077)
		return NULL;
	return login;
}

static int find_folder(struct mp_buf *out)
{
	char login[PATH_MAX];
	const char *runtime = find_runtime(login, sizeof(login));
	int r;

	if (!runtime)
		return mp_path_state("run", out);
	r = mp_buf_addf(out, "%s/mcpool", runtime);
	return r < 0 ? r : mp_buf_terminate(out);
}

/* A separate folder for each long path. */
static void find_short_folder(const char *folder, char *out, size_t size)
{
	unsigned char digest[MP_DIGEST_SIZE];
	char hex[2 * MP_DIGEST_SIZE + 1];
	struct mp_digest *d = mp_digest_new();

	mp_digest_add(d, mp_str_of(folder));
	mp_digest_finish(d, digest);
	mp_digest_to_hex(digest, hex);
	snprintf(out, size, P_tmpdir "/mcpool-%u-%.16s", (unsigned)geteuid(), hex);
}

static void set_folder(struct mp_hub_place *p, struct mp_str folder)
{
	memcpy(p->folder, folder.p, folder.len);
	p->folder[folder.len] = '\0';
	if (folder.len + sizeof("/" SOCKET_NAME) > sizeof(p->socket))
		find_short_folder(p->folder, p->folder, sizeof(p->folder));
	snprintf(p->lock, sizeof(p->lock), "%s/" LOCK_NAME, p->folder);
	snprintf(p->socket, sizeof(p->socket), "%.*s/" SOCKET_NAME,
		 (int)(sizeof(p->socket) - sizeof("/" SOCKET_NAME)), p->folder);
}

static int open_note(struct mp_buf *path, struct stat *ret)
{
	int fd = -1;

	if (mp_path_state(PLACE_NAME, path) == 0)
		fd = open(path->data, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, ret) < 0 || mp_private_check(path->data, ret, NULL) < 0)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* The folder that the last hub with this state folder noted; false: none. */
static bool read_note(char *out, size_t size)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf path;
	struct stat st;
	ssize_t n = 0;
	int fd;

	mp_buf_init(&path, PATH_MAX);
	fd = open_note(&path, &st);
	if (fd >= 0) {
		n = read(fd, out, size - 1);
		close(fd);
	}
	if (n < 2 || out[0] != '/' || out[n - 1] != '\n')
		return false;
	out[n - 1] = '\0';
	return strlen(out) == (size_t)n - 1;
}

/* For agents that start us without XDG_RUNTIME_DIR. A failure only loses this help. */
static void write_note(const struct mp_hub_place *p)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf path, text;
	char known[PATH_MAX];

	mp_buf_init(&path, PATH_MAX);
	mp_buf_init(&text, PATH_MAX + 1);
	if (read_note(known, sizeof(known)) && strcmp(known, p->folder) == 0)
		return;
	if (mp_path_state(PLACE_NAME, &path) == 0 && mp_buf_addf(&text, "%s\n", p->folder) == 0)
		(void)!mp_private_replace(path.data, mp_buf_get(&text), NULL);
}

static bool is_private(const char *folder)
{
	struct stat st;

	return lstat(folder, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       !(st.st_mode & (S_IWGRP | S_IWOTH));
}

static void prefer_running(struct mp_hub_place *p)
{
	struct mp_hub_place other;
	char folder[PATH_MAX];

	if (mp_hub_place_is_held(p) || !read_note(folder, sizeof(folder)) ||
	    strcmp(folder, p->folder) == 0 || !is_private(folder))
		return;
	set_folder(&other, mp_str_of(folder));
	if (mp_hub_place_is_held(&other))
		*p = other;
}

int mp_hub_place_find(struct mp_hub_place *p, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf folder;
	int r;

	mp_buf_init(&folder, sizeof(p->folder));
	r = find_folder(&folder);
	if (r == MCPOOL_ENOENT)
		return mp_fail(reterr, r,
			       "neither XDG_RUNTIME_DIR nor HOME is set, so there is no place for "
			       "the hub's socket");
	if (r < 0 || folder.len >= sizeof(p->folder))
		return mp_fail(reterr, r < 0 ? r : MCPOOL_ELIMIT,
			       "the path of the hub's folder is too long");
	set_folder(p, mp_buf_get(&folder));
	prefer_running(p);
	return 0;
}

/* --- the folder ------------------------------------------------------------------------------ */

static int election_fail(struct mcpool_error *reterr, const char *path, const char *verb)
{
	return mp_fail_errno(reterr, errno, "%s cannot be %s", path, verb);
}

static int judge_folder(int fd, const char *folder, struct mcpool_error *reterr)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return election_fail(reterr, folder, "used");
	if (st.st_uid != geteuid())
		return mp_fail(reterr, MCPOOL_EPERM,
			       "%s belongs to another user (%u); remove it, or set "
			       "XDG_RUNTIME_DIR to a folder of your own",
			       folder, (unsigned)st.st_uid);
	if (st.st_mode & (S_IWGRP | S_IWOTH))
		return mp_fail(reterr, MCPOOL_EPERM,
			       "others may write to %s (mode %03o); see that nothing in it is "
			       "theirs, then `chmod 700` it",
			       folder, (unsigned)(st.st_mode & 0777));
	/* Readable by others is harmless so far; make it private now. */
	if (st.st_mode & (S_IRWXG | S_IRWXO) && fchmod(fd, 0700) < 0)
		return election_fail(reterr, folder, "made private");
	return 0;
}

static int open_folder(const struct mp_hub_place *p, struct mcpool_error *reterr)
{
	char failed[PATH_MAX];
	int fd, r;

	if (mp_folders_make(p->lock, failed) < 0)
		return mp_fail_errno(reterr, errno,
				     "%s cannot be made; set XDG_RUNTIME_DIR to a folder of your "
				     "own, or to nothing",
				     failed);
	fd = open(p->folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && (errno == ELOOP || errno == ENOTDIR))
		return mp_fail(reterr, MCPOOL_EPERM,
			       "%s is a symbolic link, which is not followed; remove it",
			       p->folder);
	if (fd < 0)
		return election_fail(reterr, p->folder, "opened");
	r = judge_folder(fd, p->folder, reterr);
	if (r < 0)
		close(fd);
	return r < 0 ? r : fd;
}

/* --- the lock -------------------------------------------------------------------------------- */

static int open_lock(const struct mp_hub_place *p, int folder, struct mcpool_error *reterr)
{
	int fd = openat(folder, LOCK_NAME,
			O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600);
	struct stat st;
	int r;

	if (fd < 0 && errno == ELOOP)
		return mp_fail(reterr, MCPOOL_EPERM,
			       "%s is a symbolic link, which is not followed; remove it", p->lock);
	if (fd < 0)
		return election_fail(reterr, p->lock, "opened");
	r = fstat(fd, &st) < 0 ? election_fail(reterr, p->lock, "used")
			       : mp_private_check(p->lock, &st, reterr);
	if (r < 0)
		close(fd);
	return r < 0 ? r : fd;
}

pid_t mp_hub_place_get_pid(const struct mp_hub_place *p)
{
	int fd = open(p->lock, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	char text[128] = "";
	int64_t pid;
	ssize_t n;

	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[strcspn(text, "\n")] = '\0';
	if (n <= 0 || mp_str_to_i64(mp_str_trim(mp_str_of(text)), &pid) < 0 || pid <= 0 ||
	    pid > INT_MAX)
		return 0;
	return (pid_t)pid;
}

/* Checking takes a shared lock for a moment; a candidate that fails then tries again. */
bool mp_hub_place_is_held(const struct mp_hub_place *p)
{
	int fd = open(p->lock, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	bool held = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;

	if (fd >= 0)
		close(fd);
	return held;
}

/* A lock that was just taken may still contain the pid of the last holder. */
pid_t mp_hub_place_get_holder(const struct mp_hub_place *p)
{
	pid_t pid = mp_hub_place_is_held(p) ? mp_hub_place_get_pid(p) : 0;
	struct mp_proc proc;

	if (pid == 0 || mp_tree_read(pid, &proc) < 0 || !mp_tree_is_alive(&proc) ||
	    strncmp(proc.name, "mcpool", strlen("mcpool")) != 0)
		return 0;
	return pid;
}

/* For people and for a second hub; the lock itself is in the kernel. */
static void election_sign(int fd)
{
	char text[24];
	int n = snprintf(text, sizeof(text), "%ld\n", (long)getpid());

	/* If this fails, leave the file empty: better no pid than a wrong one. */
	if (ftruncate(fd, 0) < 0 || pwrite(fd, text, (size_t)n, 0) == n)
		return;
	(void)!ftruncate(fd, 0);
}

static void election_rest(void)
{
	struct timespec moment = {0, LOOK_AGAIN_MS * 1000000L};

	nanosleep(&moment, NULL);
}

static bool does_somebody_listen(const struct mp_hub_place *p)
{
	int fd = mp_hub_place_connect(p, NULL);

	if (fd >= 0)
		close(fd);
	return fd >= 0 || fd == MCPOOL_EAGAIN || fd == MCPOOL_EPERM;
}

void mp_election_reserve(struct mp_election *e)
{
	char text[128];
	int n = snprintf(text, sizeof(text), "%ld\n" RESERVED "%s\n", (long)getpid(),
			 mcpool_version());

	/* If this fails, the newer hub may have to ask again. */
	if (pwrite(e->lock, text, (size_t)n, 0) < 0)
		return;
}

/* Did the last hub reserve the lock for a newer version than ours? */
static bool is_reserved(int fd)
{
	char text[128] = "", *line;
	struct stat st;

	if (pread(fd, text, sizeof(text) - 1, 0) <= 0 || fstat(fd, &st) < 0 ||
	    time(NULL) - st.st_mtime > RESERVED_S)
		return false;
	line = strchr(text, '\n');
	return line && strncmp(line + 1, RESERVED, strlen(RESERVED)) == 0 &&
	       mp_str_compare_versions(mcpool_version(), line + 1 + strlen(RESERVED)) <= 0;
}

/* 0, or -1 with errno: EWOULDBLOCK if it is held, or reserved for another hub. */
static int try_lock(int fd, bool may_wait)
{
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return -1;
	if (!may_wait || !is_reserved(fd))
		return 0;
	(void)flock(fd, LOCK_UN);
	errno = EWOULDBLOCK;
	return -1;
}

static int take_lock(struct mp_election *e, int64_t wait_ms, pid_t *ret_winner,
		     struct mcpool_error *reterr)
{
	while (try_lock(e->lock, wait_ms > 0) < 0) {
		if (errno == EINTR)
			continue;
		if (errno != EWOULDBLOCK)
			return election_fail(reterr, e->place.lock, "locked");
		if (wait_ms <= 0 || does_somebody_listen(&e->place)) {
			*ret_winner = mp_hub_place_get_pid(&e->place);
			return mp_fail(reterr, MCPOOL_EEXIST, "a hub runs already (pid %ld)",
				       (long)*ret_winner);
		}
		election_rest();
		wait_ms -= LOOK_AGAIN_MS;
	}
	election_sign(e->lock);
	return 0;
}

/* --- the socket ------------------------------------------------------------------------------ */

static struct sockaddr_un address_of(const struct mp_hub_place *p)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	memcpy(a.sun_path, p->socket, strlen(p->socket) + 1);
	return a;
}

/* Refuse a socket whose listener runs as another user; root is trusted. */
static int check_peer(int fd, const char *path, struct mcpool_error *reterr)
{
	unsigned uid;
	int pid;

	if (!mp_listener_identify(fd, &pid, &uid))
		return election_fail(reterr, path, "asked whose it is");
	if (uid != geteuid() && uid != 0)
		return mp_fail(reterr, MCPOOL_EPERM, "%s belongs to another user (%u); remove it",
			       path, uid);
	return 0;
}

int mp_hub_place_connect(const struct mp_hub_place *p, struct mcpool_error *reterr)
{
	struct sockaddr_un a = address_of(p);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), r;

	if (fd < 0)
		return election_fail(reterr, p->socket, "reached");
	if (connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0) {
		r = check_peer(fd, p->socket, reterr);
	} else {
		r = errno == ENOENT || errno == ECONNREFUSED ? MCPOOL_ENOENT
		    : errno == EAGAIN                        ? MCPOOL_EAGAIN
		    : errno == EACCES                        ? MCPOOL_EPERM
							     : MCPOOL_ESYSTEM;
		(void)mp_fail(reterr, r, "no answer at %s: %s", p->socket, strerror(errno));
	}
	if (r < 0)
		close(fd);
	return r < 0 ? r : fd;
}

/* We hold the lock: an existing socket belongs to a dead hub or to a service manager. */
static int clear_socket(const struct mp_hub_place *p, int folder, struct mcpool_error *reterr)
{
	struct stat st;

	if (fstatat(folder, SOCKET_NAME, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : election_fail(reterr, p->socket, "used");
	if (!S_ISSOCK(st.st_mode))
		return mp_fail(reterr, MCPOOL_EPERM,
			       "%s is not a socket, and not from mcpool; remove it", p->socket);
	if (does_somebody_listen(p))
		return mp_fail(reterr, MCPOOL_EEXIST,
			       "somebody else listens at %s: a service manager, which starts the "
			       "hub itself when it is needed",
			       p->socket);
	if (unlinkat(folder, SOCKET_NAME, 0) < 0 && errno != ENOENT)
		return election_fail(reterr, p->socket, "removed");
	return 0;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Is the socket at this path the one that we bound? */
static bool is_socket_ours(const struct mp_election *e)
{
	struct stat st;

	return lstat(e->place.socket, &st) == 0 && is_same(&st, &e->socket);
}

static bool is_lock_ours(const struct mp_election *e)
{
	struct stat there, ours;

	return lstat(e->place.lock, &there) == 0 && fstat(e->lock, &ours) == 0 &&
	       is_same(&there, &ours);
}

static int listen_there(const struct mp_hub_place *p, int *ret_fd, struct stat *ret_socket,
			struct mcpool_error *reterr)
{
	struct sockaddr_un a = address_of(p);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), r = 0;

	if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 ||
	    chmod(p->socket, 0600) < 0 || lstat(p->socket, ret_socket) < 0 ||
	    listen(fd, BACKLOG) < 0)
		r = election_fail(reterr, p->socket, "listened at");
	if (r < 0 && fd >= 0)
		close(fd);
	if (r == 0)
		*ret_fd = fd;
	return r;
}

/* --- both ------------------------------------------------------------------------------------ */

static int election_stand(struct mp_election *e, int folder, int given, int64_t wait_ms,
			  pid_t *ret_winner, struct mcpool_error *reterr)
{
	int r = open_lock(&e->place, folder, reterr);

	if (r < 0)
		return r;
	e->lock = r;
	r = take_lock(e, wait_ms, ret_winner, reterr);
	if (r < 0)
		return r;
	if (given >= 0) {
		(void)fcntl(given, F_SETFL, fcntl(given, F_GETFL) | O_NONBLOCK);
		e->listener = given;
		e->is_given = true;
		return 0;
	}
	r = clear_socket(&e->place, folder, reterr);
	return r < 0 ? r : listen_there(&e->place, &e->listener, &e->socket, reterr);
}

int mp_election_stand(struct mp_election *e, int given, int64_t wait_ms, pid_t *ret_winner,
		      struct mcpool_error *reterr)
{
	int folder, r;

	*e = (struct mp_election){.lock = -1, .listener = -1};
	*ret_winner = 0;
	r = mp_hub_place_find(&e->place, reterr);
	if (r < 0)
		return r;
	folder = open_folder(&e->place, reterr);
	if (folder < 0)
		return folder;
	r = election_stand(e, folder, given, wait_ms, ret_winner, reterr);
	close(folder);
	if (r < 0)
		mp_election_resign(e);
	else
		write_note(&e->place);
	return r;
}

/* --- restoring removed files ----------------------------------------------------------------- */

/* The lock file was removed, so the next hub would lock a new one: lock that first. */
static int retake_lock(struct mp_election *e, int folder, struct mcpool_error *reterr)
{
	int fd = open_lock(&e->place, folder, reterr);

	if (fd < 0)
		return fd;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		close(fd);
		return mp_fail(reterr, MCPOOL_EEXIST, "another hub has taken %s", e->place.lock);
	}
	election_sign(fd);
	close(e->lock);
	e->lock = fd;
	return 0;
}

static int replace_listener(struct mp_election *e, int folder, struct mcpool_error *reterr)
{
	int fd = -1, r = clear_socket(&e->place, folder, reterr);

	if (r == 0)
		r = listen_there(&e->place, &fd, &e->socket, reterr);
	if (r < 0)
		return r;
	close(e->listener);
	e->listener = fd;
	return 1;
}

bool mp_election_is_intact(const struct mp_election *e)
{
	return is_lock_ours(e) && (e->is_given || is_socket_ours(e));
}

int mp_election_restore(struct mp_election *e, struct mcpool_error *reterr)
{
	int folder, r = 0;

	if (mp_election_is_intact(e))
		return 0;
	folder = open_folder(&e->place, reterr);
	if (folder < 0)
		return folder;
	if (!is_lock_ours(e))
		r = retake_lock(e, folder, reterr);
	if (r == 0 && !e->is_given && !is_socket_ours(e))
		r = replace_listener(e, folder, reterr);
	close(folder);
	return r;
}

/* --- the end --------------------------------------------------------------------------------- */

void mp_election_stop_listening(struct mp_election *e)
{
	if (e->listener < 0)
		return;
	/* Unlink before closing, so that no client finds a dead socket. Keep another hub's
	 * socket. */
	if (!e->is_given && is_socket_ours(e))
		(void)unlink(e->place.socket);
	close(e->listener);
	e->listener = -1;
}

void mp_election_resign(struct mp_election *e)
{
	mp_election_stop_listening(e);
	if (e->lock >= 0)
		close(e->lock);
	e->lock = -1;
}
