/*
 * fuzz_secrets.c - the file of secrets, and the command that prints its passphrase. The first byte
 * chooses what the rest is: records as they are before sealing, which are refused or found again
 * and replaced; changes to bytes of a sealed file, and a whole file, which are refused and left
 * alone; a command line, whose words lie within it.
 */
#include "fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "process/capture.h"
#include "store/secret_file.h"
#include "store/secret_records.h"

static char folder[64], path[96];
static char sealed[4096];
static size_t n_sealed;

/* --- records --------------------------------------------------------------------------------- */

static void check_replace(struct mp_str text, const struct mp_secret_record *old)
{
	struct mp_secret_record with = {old->name, MP_STR("new"), 7}, got;
	MP_CLEANUP(mp_secret_buf_done) struct mp_buf out;

	mp_buf_init(&out, MP_LIMIT_SECRETS_FILE);
	FUZZ_CHECK(mp_secret_records_replace(text, old->name, &with, &out) == 0);
	FUZZ_CHECK(mp_secret_records_check(mp_buf_get(&out)) == 0);
	FUZZ_CHECK(mp_secret_records_find(mp_buf_get(&out), with.name, &got));
	FUZZ_CHECK(mp_str_eq(got.value, with.value) && got.saved_ms == 7);
	mp_buf_clear(&out);
	FUZZ_CHECK(mp_secret_records_replace(text, old->name, NULL, &out) == 0);
	FUZZ_CHECK(!mp_secret_records_find(mp_buf_get(&out), old->name, &got));
}

static void check_records(struct mp_str text)
{
	struct mp_secret_record record, got;
	size_t at = 0, n = 0;
	int r;

	while ((r = mp_secret_records_next(text, &at, &record)) > 0) {
		FUZZ_CHECK(at <= text.len && mp_secret_records_is_name(record.name));
		FUZZ_CHECK(mp_secret_records_find(text, record.name, &got));
		if (n++ < 4 && mp_secret_records_check(text) == 0)
			check_replace(text, &record);
	}
	FUZZ_CHECK(r == 0 || r == MCPOOL_EPARSE);
	FUZZ_CHECK(mp_secret_records_check(text) == r);
	FUZZ_CHECK(r < 0 || at == text.len);
}

/* --- the file -------------------------------------------------------------------------------- */

static void put_file(const char *bytes, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	FUZZ_CHECK(fd >= 0 && write(fd, bytes, n) == (ssize_t)n);
	close(fd);
}

static size_t get_file(char *bytes, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, bytes, size);

	FUZZ_CHECK(n >= 0);
	close(fd);
	return (size_t)n;
}

static void remove_all(void)
{
	char key[120];

	snprintf(key, sizeof(key), "%s/local.key", folder);
	(void)unlink(key);
	(void)unlink(path);
	(void)rmdir(folder);
}

/* A folder with a key and a sealed file, once. */
static void set_up(void)
{
	struct mp_secret_record record = {MP_STR("user/A"), MP_STR("value"), 1};
	struct mp_secret_file *f;

	snprintf(folder, sizeof(folder), "/tmp/fuzz-secrets.XXXXXX");
	FUZZ_CHECK(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/secrets", folder);
	atexit(remove_all);
	f = mp_secret_file_new(path, NULL);
	FUZZ_CHECK(mp_secret_file_change(f, record.name, &record, NULL) == 1);
	mp_secret_file_free(f);
	n_sealed = get_file(sealed, sizeof(sealed));
}

/* as_it_was: these bytes are the sealed file. */
static void check_file(const char *bytes, size_t n, bool as_it_was)
{
	struct mp_secret_record record = {MP_STR("user/B"), MP_STR("other"), 1};
	struct mp_secret_file *f = mp_secret_file_new(path, NULL);
	MP_CLEANUP(mp_secret_buf_done) struct mp_buf out;
	struct mcpool_error error;
	char after[4096];

	mp_buf_init(&out, MP_LIMIT_SECRETS_FILE);
	put_file(bytes, n);
	if (as_it_was) {
		FUZZ_CHECK(mp_secret_file_read(f, &out, &error) == 0 && out.len > 0);
	} else {
		FUZZ_CHECK(mp_secret_file_read(f, &out, &error) == MCPOOL_EIO);
		FUZZ_CHECK(mp_secret_file_change(f, record.name, &record, &error) == MCPOOL_EIO);
		FUZZ_CHECK(get_file(after, sizeof(after)) == n && memcmp(after, bytes, n) == 0);
	}
	mp_secret_file_free(f);
}

static void check_changed(struct fuzz_input *in)
{
	char bytes[sizeof(sealed)];

	memcpy(bytes, sealed, n_sealed);
	while (in->size >= 2) {
		size_t at = fuzz_byte(in) % n_sealed;

		bytes[at] = (char)(bytes[at] ^ fuzz_byte(in));
	}
	check_file(bytes, n_sealed, memcmp(bytes, sealed, n_sealed) == 0);
}

/* --- a command line -------------------------------------------------------------------------- */

static void check_words(struct mp_str text)
{
	char words[1024], *argv[16], *from = words;
	size_t len = text.len < sizeof(words) ? text.len : sizeof(words) - 1;
	int n;

	memcpy(words, text.len ? text.p : "", len);
	words[len] = '\0';
	n = mp_capture_split(words, argv, MP_ARRAY_LEN(argv));
	FUZZ_CHECK(n == MCPOOL_EINVAL || (n > 0 && n < (int)MP_ARRAY_LEN(argv) && !argv[n]));
	for (int i = 0; i < n; i++) {
		FUZZ_CHECK(argv[i] == from);
		from += strlen(from) + 1;
		FUZZ_CHECK(from <= words + len + 1);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	unsigned kind = fuzz_byte(&in) % 4;
	struct mp_str rest;

	if (!n_sealed)
		set_up();
	if (kind == 1) {
		check_changed(&in);
		return 0;
	}
	rest = fuzz_rest(&in);
	if (kind == 0)
		check_records(rest);
	else if (kind == 3)
		check_words(rest);
	else if (rest.len < sizeof(sealed))
		check_file(rest.p, rest.len, false);
	return 0;
}
