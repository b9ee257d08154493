/*
 * check_hub.c - one hub that answers, no lock or socket of one that has ended.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/paths.h"
#include "cli/doctor/doctor.h"

static bool does_answer(const struct mp_hub_place *p)
{
	int fd = mp_hub_place_connect(p, NULL);

	if (fd >= 0)
		close(fd);
	return fd >= 0 || fd == MCPOOL_EAGAIN;
}

/* --- the hub --------------------------------------------------------------------------------- */

/* It has no socket any more, or does not take up what comes there. */
static int silent_tell(struct mp_doctor *d)
{
	struct mp_finding f = {.check = mp_check_hub.name, .subject = "the hub"};

	if (d->hub_why.code)
		return mp_doctor_tell(d, &f, "mcpool down; mcpool up", "it cannot be asked: %s",
				      d->hub_why.message);

	return mp_doctor_tell(d, &f, "mcpool down; mcpool up",
			      "process %ld is the hub, and nothing answers at its socket %s",
			      (long)mp_hub_place_get_pid(&d->place), d->place.socket);
}

/* The places where other programs of this user would look, with another environment. */
static bool place_other(size_t i, char *out, size_t size)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf state;
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	int n = 0;

	mp_buf_init(&state, PATH_MAX);
	if (i == 0)
		n = runtime && runtime[0] == '/' ? snprintf(out, size, "%s/mcpool", runtime) : 0;
	else if (mp_path_state("run", &state) == 0)
		n = snprintf(out, size, "%s", state.data);
	return n > 0 && (size_t)n < size;
}

static int second_tell(struct mp_doctor *d, const struct mp_hub_place *other)
{
	struct mp_finding f = {.check = mp_check_hub.name, .subject = "the hub"};
	long pid = (long)mp_hub_place_get_holder(other);
	char fix[64];

	if (pid <= 0)
		return 0;
	snprintf(fix, sizeof(fix), "kill %ld # its agents move to the first one", pid);
	return mp_doctor_tell(d, &f, fix,
			      "a second one runs, as process %ld in %s: agents that are started "
			      "with another XDG_RUNTIME_DIR reach that one",
			      pid, other->folder);
}

static int hub_find(struct mp_doctor *d)
{
	int r = 0;

	if (!d->has_place)
		return 0;
	if (d->hub_why.code || (mp_hub_place_get_holder(&d->place) > 0 && !does_answer(&d->place)))
		r = silent_tell(d);
	for (size_t i = 0; i < 2 && r == 0; i++) {
		struct mp_hub_place other;

		if (place_other(i, other.folder, sizeof(other.folder)) &&
		    strcmp(other.folder, d->place.folder) != 0) {
			snprintf(other.lock, sizeof(other.lock), "%s/hub.lock", other.folder);
			r = second_tell(d, &other);
		}
	}
	return r;
}

const struct mp_check mp_check_hub = {
	"hub",
	"one hub or none runs, and it answers",
	hub_find,
	NULL,
};

/* --- what one left --------------------------------------------------------------------------- */

/* Nothing listens there, and no process has the lock. */
static bool is_left(const struct mp_hub_place *p)
{
	struct stat st;

	return lstat(p->socket, &st) == 0 && S_ISSOCK(st.st_mode) && st.st_uid == geteuid() &&
	       !mp_hub_place_is_held(p) && !does_answer(p);
}

static int leftovers_find(struct mp_doctor *d)
{
	struct mp_finding f = {
		.check = mp_check_leftovers.name,
		.severity = MP_FINDING_WARNING,
		.subject = d->place.socket,
		.is_safe = true,
	};

	if (!d->has_place || !is_left(&d->place))
		return 0;
	return mp_doctor_tell(d, &f, "mcpool doctor --fix",
			      "the socket of a hub that was killed; its lock is free");
}

/* With the lock, so that no hub begins to listen meanwhile. */
static int leftovers_fix(struct mp_doctor *d, const struct mp_finding *f,
			 struct mcpool_error *reterr)
{
	int lock = open(d->place.lock, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	int r = 0;

	(void)f;
	if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) < 0)
		r = mp_fail(reterr, MCPOOL_EAGAIN, "a hub is about to start");
	else if (unlink(d->place.socket) < 0)
		r = mp_fail(reterr, MCPOOL_EIO, "it cannot be removed");
	if (lock >= 0)
		close(lock);
	return r;
}

const struct mp_check mp_check_leftovers = {
	"leftovers",
	"no hub that was killed has left its socket",
	leftovers_find,
	leftovers_fix,
};
