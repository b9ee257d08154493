/*
 * spec.c - what to run, as bytes in a memory file.
 * A header with counts, then every word with its NUL: argv, env, the folder if there is one, and
 * the files that must be unchanged.
 */
#include "process/spec.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"

enum { MAGIC = 0x32504d4c }; /* "LMP2" */

struct header {
	uint32_t magic;
	uint32_t n_argv;
	uint32_t n_env;
	uint32_t n_cwd; /* 0 or 1 */
	uint32_t n_seen;
};

static bool is_variable(const char *word)
{
	const char *sign = strchr(word, '=');

	return sign && sign > word;
}

/* --- writing -------------------------------------------------------------------------------- */

static uint32_t spec_count(const char *const *words)
{
	uint32_t n = 0;

	while (words[n])
		n++;
	return n;
}

static int add_words(struct mp_buf *out, const char *const *words)
{
	int r = 0;

	for (size_t i = 0; words[i] && r == 0; i++)
		r = mp_buf_add(out, words[i], strlen(words[i]) + 1);
	return r;
}

static int check(const struct mp_launch *launch, struct mcpool_error *reterr)
{
	if (!launch->argv[0] || !launch->argv[0][0])
		return mp_fail(reterr, MCPOOL_EINVAL, "no command to run");
	for (size_t i = 0; launch->env[i]; i++)
		if (!is_variable(launch->env[i]))
			return mp_fail(reterr, MCPOOL_EINVAL,
				       "variable %zu of the environment has no name", i + 1);
	return 0;
}

int mp_spec_encode(const struct mp_launch *launch, struct mp_buf *out, struct mcpool_error *reterr)
{
	struct header h = {MAGIC, spec_count(launch->argv), spec_count(launch->env),
			   launch->cwd != NULL, launch->seen ? spec_count(launch->seen) : 0};
	size_t before = out->len;
	int r = check(launch, reterr);

	if (r < 0)
		return r;
	r = mp_buf_add(out, &h, sizeof(h));
	if (r == 0)
		r = add_words(out, launch->argv);
	if (r == 0)
		r = add_words(out, launch->env);
	if (r == 0 && launch->cwd)
		r = mp_buf_add(out, launch->cwd, strlen(launch->cwd) + 1);
	if (r == 0 && launch->seen)
		r = add_words(out, launch->seen);
	if (r == 0)
		return 0;
	out->len = before;
	return mp_fail(reterr, r, "arguments and environment of '%s' are too large: %s",
		       launch->argv[0], mcpool_error_text(r));
}

static int write_all(int fd, const char *bytes, size_t n)
{
	while (n > 0) {
		ssize_t done = write(fd, bytes, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -1;
		bytes += done;
		n -= (size_t)done;
	}
	return 0;
}

int mp_spec_write(const struct mp_launch *launch, int *ret_fd, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf bytes;
	int fd, r;

	mp_buf_init(&bytes, MP_SPEC_MAX);
	r = mp_spec_encode(launch, &bytes, reterr);
	if (r < 0)
		return r;
	fd = memfd_create("mcpool-launch", MFD_CLOEXEC);
	if (fd < 0)
		return mp_fail_errno(reterr, errno,
				     "cannot make a memory file for the environment");
	if (write_all(fd, bytes.data, bytes.len) < 0) {
		r = mp_fail_errno(reterr, errno, "the environment could not be handed over");
		close(fd);
		return r;
	}
	*ret_fd = fd;
	return 0;
}

/* --- reading -------------------------------------------------------------------------------- */

/* The next n words from *at, which moves; false where there are fewer. */
static bool take_words(char **at, const char *end, uint32_t n, const char **words)
{
	for (uint32_t i = 0; i < n; i++) {
		char *nul = memchr(*at, '\0', (size_t)(end - *at));

		if (!nul)
			return false;
		words[i] = *at;
		*at = nul + 1;
	}
	return true;
}

static bool makes_sense(const struct mp_launch *launch, const struct header *h)
{
	bool ok = launch->argv[0][0] != '\0';

	for (uint32_t i = 0; i < h->n_env; i++)
		ok = ok && is_variable(launch->env[i]);
	return ok;
}

/* Each word has a byte at least, so no count can exceed the bytes there are. */
static bool is_plausible(const struct header *h, size_t room)
{
	return h->magic == MAGIC && h->n_argv >= 1 && h->n_argv <= room && h->n_env <= room &&
	       h->n_cwd <= 1 && h->n_seen <= room;
}

static int spec_decode(struct mp_spec *s, size_t len, const struct header *h)
{
	char *at = s->bytes, *end = s->bytes + len;
	const char **argv = s->words, **env = argv + h->n_argv + 1;
	const char **seen = env + h->n_env + 1;

	if (!take_words(&at, end, h->n_argv, argv) || !take_words(&at, end, h->n_env, env) ||
	    !take_words(&at, end, h->n_cwd, &s->launch.cwd) ||
	    !take_words(&at, end, h->n_seen, seen) || at != end)
		return MCPOOL_EPROTO;
	argv[h->n_argv] = env[h->n_env] = seen[h->n_seen] = NULL;
	s->launch.argv = argv;
	s->launch.env = env;
	s->launch.seen = seen;
	return makes_sense(&s->launch, h) ? 0 : MCPOOL_EPROTO;
}

int mp_spec_decode(struct mp_str bytes, struct mp_spec *ret_spec)
{
	struct mp_spec s = {.bytes = NULL};
	struct header h;
	size_t room;
	int r = MCPOOL_ENOMEM;

	if (bytes.len < sizeof(h) || bytes.len > MP_SPEC_MAX)
		return MCPOOL_EPROTO;
	memcpy(&h, bytes.p, sizeof(h));
	room = bytes.len - sizeof(h);
	if (!is_plausible(&h, room))
		return MCPOOL_EPROTO;
	s.bytes = mp_try_alloc(room);
	s.words = mp_try_alloc(((size_t)h.n_argv + h.n_env + h.n_seen + 3) * sizeof(*s.words));
	if (s.bytes && s.words) {
		memcpy(s.bytes, bytes.p + sizeof(h), room);
		r = spec_decode(&s, room, &h);
	}
	if (r < 0)
		mp_spec_done(&s);
	else
		*ret_spec = s;
	return r;
}

void mp_spec_done(struct mp_spec *spec)
{
	spec->bytes = mp_free(spec->bytes);
	spec->words = mp_free(spec->words);
	spec->launch = (struct mp_launch){NULL, NULL, NULL, NULL};
}

int mp_spec_read(int fd, struct mp_spec *ret_spec)
{
	struct stat st;
	void *bytes;
	int r;

	if (fstat(fd, &st) < 0 || st.st_size <= 0 || (size_t)st.st_size > MP_SPEC_MAX)
		return MCPOOL_EPROTO;
	bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return MCPOOL_ENOMEM;
	r = mp_spec_decode((struct mp_str){bytes, (size_t)st.st_size}, ret_spec);
	munmap(bytes, (size_t)st.st_size);
	return r;
}
