/*
 * replay.c - runs a harness over files instead of mutations: each file named, and each file in the
 * folders named. `make test` does so with the seeds in the sanitizer build.
 */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t n_run;

/* Exactly as large as the input, so that a sanitizer sees every step beyond it. */
static uint8_t *read_file(const char *path, size_t *ret_len)
{
	FILE *f = fopen(path, "rb");
	uint8_t *bytes = NULL;
	struct stat st;

	if (f && fstat(fileno(f), &st) == 0) {
		*ret_len = (size_t)st.st_size;
		bytes = malloc(*ret_len ? *ret_len : 1);
		if (bytes && fread(bytes, 1, *ret_len, f) != *ret_len) {
			free(bytes);
			bytes = NULL;
		}
	}
	if (f)
		fclose(f);
	return bytes;
}

static int run_file(const char *path)
{
	size_t len;
	uint8_t *bytes = read_file(path, &len);

	if (!bytes) {
		fprintf(stderr, "replay: cannot read %s\n", path);
		return 1;
	}
	LLVMFuzzerTestOneInput(bytes, len);
	free(bytes);
	n_run++;
	return 0;
}

static int run_folder(const char *path, DIR *folder)
{
	struct dirent *entry;
	int bad = 0;

	while ((entry = readdir(folder))) {
		char file[1024];

		if (entry->d_name[0] == '.')
			continue;
		snprintf(file, sizeof(file), "%s/%s", path, entry->d_name);
		bad |= run_file(file);
	}
	return bad;
}

/* One line for tools/run-tests, which counts them. */
static void report(const char *verdict)
{
	const char *path = getenv("MCPOOL_TEST_RESULTS");
	FILE *f = path ? fopen(path, "a") : NULL;

	if (!f)
		return;
	fprintf(f, "%s seeds/%s\n", verdict, program_invocation_short_name);
	fclose(f);
}

int main(int argc, char **argv)
{
	int bad = 0;

	for (int i = 1; i < argc; i++) {
		DIR *folder = opendir(argv[i]);

		bad |= folder ? run_folder(argv[i], folder) : run_file(argv[i]);
		if (folder)
			closedir(folder);
	}
	printf("%zu inputs\n", n_run);
	bad |= n_run == 0;
	report(bad ? "FAIL" : "ok");
	return bad;
}
