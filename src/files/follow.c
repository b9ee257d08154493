/*
 * follow.c - reports once that any of many files may have changed.
 * A path is walked as the kernel walks it, link by link. In each folder on the way only the name
 * that the path needs counts, so other changes in a busy folder are ignored. A folder is watched
 * before it is read: any later change is an event.
 */
#include "files/follow.h"

#include <limits.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/list.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "files/inotify.h"

static const struct mp_log config_log = {"config"};

/* What counts for a name: a folder that is there, a link or what is missing, the file itself. */
#define RENAMES    (IN_MOVED_FROM | IN_MOVED_TO)
#define NAMES      (RENAMES | IN_CREATE | IN_DELETE)
#define EVERYTHING (NAMES | IN_MODIFY | IN_CLOSE_WRITE | IN_ATTRIB)
/* What counts for a folder that is held. */
#define ITSELF (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT | IN_ATTRIB)

enum { MAX_LINKS = 40, MAX_TRIES = 3 };

struct needs {
	struct mp_map names; /* bytes of a folder's wd and a name: the events that count */
	struct mp_watched_folder **folders; /* held; owned array */
	size_t n, room;
};

struct mp_config_watch {
	struct mp_loop *loop;
	struct mp_inotify *folders; /* owned */
	struct mp_list followers;
};

struct mp_follower {
	struct mp_link link;
	struct mp_config_watch *watch;
	mp_follower_fn fn;
	void *u;
	char *paths; /* owned; one behind the other, each ends in NUL */
	size_t n;
	struct needs needs;
	struct mp_timer timer; /* runs while something is to be told */
	int64_t first_ms;      /* when the first of it happened */
	bool stale;            /* the ways to the files may have changed */
	bool warned;
	struct mp_task look_task;
	struct mp_grave grave;
};

/* --- what a follower needs ------------------------------------------------------------------ */

struct path_walk {
	struct mp_inotify *all;
	struct needs needs;  /* of this look */
	struct mp_map known; /* paths of folders: the held struct mp_watched_folder */
	struct mcpool_error *reterr;
};

static void needs_init(struct needs *needs)
{
	*needs = (struct needs){.folders = NULL};
	mp_map_init(&needs->names, (size_t)MP_LIMIT_FOLLOWED * PATH_MAX);
}

static void needs_done(struct needs *needs, struct mp_inotify *all)
{
	for (size_t i = 0; i < needs->n; i++)
		mp_inotify_release(all, needs->folders[i]);
	mp_free(needs->folders);
	mp_map_done(&needs->names);
}

static int no_memory(struct path_walk *k)
{
	return mp_fail(k->reterr, MCPOOL_ENOMEM, "%s", mcpool_error_text(MCPOOL_ENOMEM));
}

static int make_room(struct path_walk *k)
{
	size_t room = k->needs.room ? k->needs.room * 2 : 8;
	struct mp_watched_folder **grown;

	if (k->needs.n < k->needs.room)
		return 0;
	grown = mp_try_realloc(k->needs.folders, room * sizeof(struct mp_watched_folder *));
	if (!grown)
		return no_memory(k);
	k->needs.folders = grown;
	k->needs.room = room;
	return 0;
}

/* One inode may be held several times by a look; each is released. */
static int follow_hold(struct path_walk *k, const char *dir, uint32_t events,
		       struct mp_watched_folder **ret_folder)
{
	struct mp_watched_folder *folder = mp_map_get(&k->known, mp_str_of(dir));
	int r;

	*ret_folder = folder;
	if (folder && (events & ~folder->mask) == 0)
		return 0;
	r = make_room(k);
	if (r == 0)
		r = mp_inotify_hold(k->all, dir, events, ret_folder, k->reterr);
	if (r < 0)
		return r;
	k->needs.folders[k->needs.n++] = *ret_folder;
	return mp_map_set(&k->known, mp_str_of(dir), *ret_folder) < 0 ? no_memory(k) : 0;
}

static struct mp_str key_of(int wd, struct mp_str name, char room[sizeof(int) + NAME_MAX])
{
	mp_check(name.len <= NAME_MAX);
	memcpy(room, &wd, sizeof(wd));
	memcpy(room + sizeof(wd), name.p, name.len);
	return (struct mp_str){room, sizeof(wd) + name.len};
}

static uint32_t get_need(const struct needs *needs, int wd, struct mp_str name)
{
	char room[sizeof(int) + NAME_MAX];

	return (uint32_t)(uintptr_t)mp_map_get(&needs->names, key_of(wd, name, room));
}

/* A folder that may not be read cannot be watched, but what is below it perhaps can. */
static int follow_need(struct path_walk *k, const char *dir, struct mp_str name, uint32_t events)
{
	char room[sizeof(int) + NAME_MAX];
	struct mp_watched_folder *folder;
	uintptr_t all;
	int r = follow_hold(k, dir, events, &folder);

	if (r < 0)
		return r == MCPOOL_EPERM ? 0 : r;
	all = get_need(&k->needs, folder->wd, name) | events;
	if (mp_map_set(&k->needs.names, key_of(folder->wd, name, room), (void *)all) < 0)
		return no_memory(k);
	return 0;
}

/* --- walking a path ------------------------------------------------------------------------- */

struct walk {
	struct path_walk *look;
	uint32_t on_the_way; /* events that count for a folder that is there */
	unsigned links;      /* followed */
	char at[PATH_MAX];   /* a folder, without links in its path */
	char rest[PATH_MAX]; /* of the way; shrinks from its front, and a link's target comes there
			      */
	size_t len;          /* of at, without a slash at its end: 0 is the root */
};

static const char *get_folder(const struct walk *w)
{
	return w->len ? w->at : "/";
}

static void go_up(struct walk *w)
{
	while (w->len > 0 && w->at[w->len - 1] != '/')
		w->len--;
	if (w->len > 0)
		w->len--;
	w->at[w->len] = '\0';
}

/* Into at, as the path of what has this name. */
static bool go_to(struct walk *w, struct mp_str name)
{
	if (name.len + 1 >= sizeof(w->at) - w->len)
		return false;
	w->at[w->len++] = '/';
	memcpy(w->at + w->len, name.p, name.len);
	w->len += name.len;
	w->at[w->len] = '\0';
	return true;
}

/* What at is: its S_IFMT, 0 where there is nothing. */
static mode_t get_kind(const struct walk *w)
{
	struct stat st;

	return lstat(w->at, &st) == 0 ? st.st_mode & S_IFMT : 0;
}

/* at is a link, `rest` what comes behind it. 1: go on with its target. */
static int follow_link(struct walk *w, const char *rest)
{
	char target[PATH_MAX];
	ssize_t n = readlink(w->at, target, sizeof(target));
	size_t left = strlen(rest);

	go_up(w);
	if (n <= 0 || (size_t)n + left + 2 > sizeof(w->rest) || ++w->links > MAX_LINKS)
		return 0;
	memmove(w->rest + n + 1, rest, left + 1);
	memcpy(w->rest, target, (size_t)n);
	w->rest[n] = '/';
	if (target[0] == '/') {
		w->len = 0;
		w->at[0] = '\0';
	}
	return 1;
}

/* One name further. 1: go on; 0: the way ends here, at the file or where something is missing. */
static int follow_step(struct walk *w, struct mp_str name, const char *rest)
{
	bool last = rest[strspn(rest, "/")] == '\0';
	mode_t kind = 0;
	int r;

	if (name.len > NAME_MAX)
		return 0;
	r = follow_need(w->look, get_folder(w), name, last ? EVERYTHING : w->on_the_way);
	if (r < 0 || !go_to(w, name))
		return r;
	kind = get_kind(w);
	if (!last && kind != S_IFDIR) {
		go_up(w);
		r = follow_need(w->look, get_folder(w), name, NAMES);
		if (r < 0 || !go_to(w, name))
			return r;
		kind = get_kind(w); /* again, because it is watched only now */
	}
	if (kind == S_IFLNK)
		return follow_link(w, rest);
	memmove(w->rest, rest, strlen(rest) + 1);
	return kind == S_IFDIR && !last;
}

static int follow_walk(struct walk *w, const char *path)
{
	int r = 1;

	w->links = 0;
	w->len = 0;
	w->at[0] = '\0';
	memcpy(w->rest, path, strlen(path) + 1);
	while (r > 0) {
		const char *p = w->rest + strspn(w->rest, "/");
		struct mp_str name = {p, strcspn(p, "/")};

		if (name.len == 0)
			break;
		if (mp_str_eq(name, MP_STR("..")))
			go_up(w);
		if (name.p[0] == '.' && (name.len == 1 || mp_str_eq(name, MP_STR(".."))))
			memmove(w->rest, p + name.len, strlen(p + name.len) + 1);
		else
			r = follow_step(w, name, p + name.len);
	}
	return r;
}

/* A folder that vanished between two steps: again, and at last with an eye on every name. */
static int walk_until_still(struct path_walk *k, const char *path)
{
	struct walk w = {.look = k, .on_the_way = RENAMES};
	int r = MCPOOL_ENOENT;

	for (int i = 0; i < MAX_TRIES && r == MCPOOL_ENOENT; i++) {
		if (i == MAX_TRIES - 1)
			w.on_the_way = NAMES;
		r = follow_walk(&w, path);
	}
	return r == MCPOOL_ENOENT ? 0 : r;
}

/* New needs in the place of the old, or the old ones stay. */
static int look(struct mp_follower *f, const char *paths, size_t n, struct mcpool_error *reterr)
{
	struct path_walk k = {.all = f->watch->folders, .reterr = reterr};
	int r = 0;

	needs_init(&k.needs);
	mp_map_init(&k.known, (size_t)MP_LIMIT_FOLLOWED * PATH_MAX);
	for (size_t i = 0; i < n && r == 0; i++) {
		r = walk_until_still(&k, paths);
		paths += strlen(paths) + 1;
	}
	mp_map_done(&k.known);
	if (r == 0) {
		struct needs old = f->needs;

		f->needs = k.needs;
		k.needs = old;
	}
	needs_done(&k.needs, k.all);
	return r;
}

/* --- telling -------------------------------------------------------------------------------- */

static void look_again(struct mp_follower *f)
{
	struct mcpool_error error;

	if (look(f, f->paths, f->n, &error) == 0) {
		f->warned = false;
		return;
	}
	if (!f->warned)
		mp_log_warn(&config_log, "%s; some changes of files will not be noticed",
			    error.message);
	f->warned = true;
}

static void look_now(void *u)
{
	look_again(u);
}

/* Twice at most for one call, at the first event and now, however many there were. */
static void follow_fire(void *u)
{
	struct mp_follower *f = u;

	if (f->stale)
		look_again(f);
	f->stale = false;
	f->fn(f->u);
}

static void follow_touch(struct mp_follower *f, bool stale)
{
	int64_t now_ms = mp_loop_now_ms(f->watch->loop);
	int64_t left_ms;

	if (!mp_timer_is_running(&f->timer))
		f->first_ms = now_ms;
	left_ms = f->first_ms + MP_WATCH_LATEST_MS - now_ms;
	mp_timer_start(&f->timer, left_ms < MP_WATCH_QUIET_MS ? left_ms : MP_WATCH_QUIET_MS);
	if (!stale || f->stale)
		return;
	f->stale = true;
	if (!mp_list_linked(&f->look_task.link))
		mp_loop_post(f->watch->loop, &f->look_task); /* not among the events */
}

static bool holds(const struct mp_follower *f, const struct mp_watched_folder *folder)
{
	for (size_t i = 0; i < f->needs.n; i++)
		if (f->needs.folders[i] == folder)
			return true;
	return false;
}

static void follow_happened(void *u, const struct mp_watched_folder *folder, uint32_t mask,
			    const char *name)
{
	struct mp_config_watch *w = u;

	MP_LIST_EACH(&w->followers, link) {
		struct mp_follower *f = mp_container_of(link, struct mp_follower, link);

		if (!folder || /* lost events may concern any follower */
		    (name[0] == '\0' && (mask & ITSELF) && holds(f, folder)))
			follow_touch(f, true);
		else if (name[0] && (get_need(&f->needs, folder->wd, mp_str_of(name)) & mask))
			follow_touch(f, mask & NAMES);
	}
}

void mp_config_watch_catch_up(struct mp_config_watch *w)
{
	mp_inotify_catch_up(w->folders);
	MP_LIST_WALK(&w->followers, link) {
		struct mp_follower *f = mp_container_of(link, struct mp_follower, link);

		if (!mp_timer_is_running(&f->timer))
			continue;
		mp_timer_stop(&f->timer);
		follow_fire(f);
	}
}

/* --- followers ------------------------------------------------------------------------------ */

struct mp_follower *mp_config_watch_follow(struct mp_config_watch *w, mp_follower_fn fn, void *u)
{
	struct mp_follower *f = mp_alloc(sizeof(*f));

	*f = (struct mp_follower){.watch = w, .fn = fn, .u = u};
	needs_init(&f->needs);
	mp_timer_init(&f->timer, w->loop, follow_fire, f);
	mp_task_init(&f->look_task, look_now, f);
	mp_list_append(&w->followers, &f->link);
	return f;
}

static int check_paths(const char *const *paths, size_t n, size_t *ret_size,
		       struct mcpool_error *reterr)
{
	*ret_size = 1; /* so that there is a block for none, too */
	if (n > MP_LIMIT_FOLLOWED)
		return mp_fail(reterr, MCPOOL_ELIMIT, "%zu files are too many to follow; %d may be",
			       n, MP_LIMIT_FOLLOWED);
	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(paths[i]);

		if (paths[i][0] != '/')
			return mp_fail(reterr, MCPOOL_EINVAL, "%s is not an absolute path",
				       paths[i]);
		if (len >= PATH_MAX)
			return mp_fail(reterr, MCPOOL_EINVAL, "a path is too long");
		*ret_size += len + 1;
	}
	return 0;
}

int mp_follower_set_paths(struct mp_follower *f, const char *const *paths, size_t n,
			  struct mcpool_error *reterr)
{
	size_t size, at = 0;
	char *copy;
	int r = check_paths(paths, n, &size, reterr);

	if (r < 0)
		return r;
	copy = mp_try_alloc(size);
	if (!copy)
		return mp_fail(reterr, MCPOOL_ENOMEM, "%s", mcpool_error_text(MCPOOL_ENOMEM));
	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(paths[i]) + 1;

		memcpy(copy + at, paths[i], len);
		at += len;
	}
	r = look(f, copy, n, reterr);
	if (r < 0) {
		mp_free(copy);
		return r;
	}
	mp_free(f->paths);
	f->paths = copy;
	f->n = n;
	return 0;
}

static void dispose(struct mp_grave *grave)
{
	mp_free(mp_container_of(grave, struct mp_follower, grave));
}

struct mp_follower *mp_follower_leave(struct mp_follower *f)
{
	if (!f)
		return NULL;
	mp_timer_stop(&f->timer);
	mp_loop_unpost(f->watch->loop, &f->look_task);
	mp_list_remove(&f->watch->followers, &f->link);
	needs_done(&f->needs, f->watch->folders);
	mp_free(f->paths);
	mp_loop_bury(f->watch->loop, &f->grave, dispose);
	return NULL;
}

/* --- the watch ------------------------------------------------------------------------------ */

int mp_config_watch_new(struct mp_loop *loop, struct mp_config_watch **ret_watch,
			struct mcpool_error *reterr)
{
	struct mp_config_watch *w = mp_alloc(sizeof(*w));
	int r = mp_inotify_new(loop, follow_happened, w, &w->folders, reterr);

	if (r < 0) {
		mp_free(w);
		return r;
	}
	w->loop = loop;
	mp_list_init(&w->followers);
	*ret_watch = w;
	return 0;
}

struct mp_config_watch *mp_config_watch_close(struct mp_config_watch *w)
{
	if (!w)
		return NULL;
	mp_check(w->followers.len == 0);
	w->folders = mp_inotify_close(w->folders);
	return mp_free(w);
}
