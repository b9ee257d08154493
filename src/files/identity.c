/*
 * identity.c - recognises a file that was read, by what changes when it is written or replaced.
 * ctime cannot be set back, and every write, rename and change of mode moves it.
 */
#include "files/identity.h"

#include <stdio.h>

struct facts {
	unsigned long long device, inode;
	long long seconds, nanoseconds, size;
	int path; /* where it begins */
};

static bool identity_parse(const char *text, struct facts *ret)
{
	ret->path = 0;
	/* We wrote it; what does not fit is another file then. NOLINTNEXTLINE(cert-err34-c) */
	return sscanf(text, "%llu %llu %lld %lld %lld %n", &ret->device, &ret->inode, &ret->seconds,
		      &ret->nanoseconds, &ret->size, &ret->path) == 5 &&
	       ret->path > 0 && text[ret->path] == '/';
}

int mp_identity_add(const struct stat *st, const char *path, struct mp_buf *out)
{
	return mp_buf_addf(out, "%llu %llu %lld %lld %lld %s", (unsigned long long)st->st_dev,
			   (unsigned long long)st->st_ino, (long long)st->st_ctim.tv_sec,
			   (long long)st->st_ctim.tv_nsec, (long long)st->st_size, path);
}

/* The path in such a text; NULL: it is none. */
static const char *identity_get_path(const char *text)
{
	struct facts f;

	return identity_parse(text, &f) ? text + f.path : NULL;
}

bool mp_identity_is(const char *text, const struct stat *st)
{
	struct facts f;

	return identity_parse(text, &f) && f.device == (unsigned long long)st->st_dev &&
	       f.inode == (unsigned long long)st->st_ino && f.seconds == st->st_ctim.tv_sec &&
	       f.nanoseconds == st->st_ctim.tv_nsec && f.size == st->st_size;
}

bool mp_identity_holds(const char *text)
{
	const char *path = identity_get_path(text);
	struct stat st;

	return path && stat(path, &st) == 0 && mp_identity_is(text, &st);
}
