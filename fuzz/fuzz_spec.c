/* fuzz_spec.c - any bytes as a launch: refused, or the same bytes when written again. */
#include "fuzz.h"

#include "base/buf.h"
#include "process/spec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mp_str bytes = {(const char *)data, size};
	struct mp_buf again;
	struct mp_spec spec;

	if (mp_spec_decode(bytes, &spec) < 0)
		return 0;
	mp_buf_init(&again, MP_SPEC_MAX);
	FUZZ_CHECK(mp_spec_encode(&spec.launch, &again, NULL) == 0);
	FUZZ_CHECK(mp_str_eq(mp_buf_get(&again), bytes));
	mp_buf_done(&again);
	mp_spec_done(&spec);
	return 0;
}
