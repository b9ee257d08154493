/* fuzz_trace.c - a traceparent of any peer: what is accepted comes back the same. */
#include "fuzz.h"

#include <string.h>

#include "rpc/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mp_str text = {(const char *)data, size};
	struct mp_trace t, again;
	char written[MP_TRACE_PARENT];

	if (!mp_trace_parse(text, &t)) {
		FUZZ_CHECK(!mp_trace_has_span(&t) && t.id[0] == 0);
		return 0;
	}
	FUZZ_CHECK(size >= MP_TRACE_PARENT - 1);
	memcpy(t.span, t.parent, sizeof(t.span));
	mp_trace_write(&t, written);
	FUZZ_CHECK(mp_trace_parse(mp_str_of(written), &again));
	FUZZ_CHECK(memcmp(t.id, again.id, sizeof(t.id)) == 0);
	FUZZ_CHECK(memcmp(t.parent, again.parent, sizeof(t.parent)) == 0);
	FUZZ_CHECK(t.is_unsampled == again.is_unsampled);
	/* Ids as they were written, but for what follows in versions to come. */
	FUZZ_CHECK(memcmp(written + 2, text.p + 2, 51) == 0);
	return 0;
}
