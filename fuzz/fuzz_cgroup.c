/*
 * fuzz_cgroup.c - any text as /proc/self/cgroup and mountinfo: paths that fit, or none.
 */
#include "fuzz.h"

#include <limits.h>

#include "base/mem.h"
#include "process/cgroup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[PATH_MAX], point[PATH_MAX], root[PATH_MAX], *text;

	text = mp_alloc(size + 1);
	memcpy(text, data, size);
	if (mp_cgroup_parse_self(text, path, sizeof(path)))
		FUZZ_CHECK(path[0] == '/' && strlen(path) < sizeof(path) && !strchr(path, '\n'));
	if (mp_cgroup_parse_mounts(text, point, root, sizeof(point)))
		FUZZ_CHECK(strlen(point) < sizeof(point) && strlen(root) < sizeof(root));
	mp_free(text);
	return 0;
}
