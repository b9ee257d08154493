/* fuzz_sse.c - the same events whatever the cuts, and what was read can be written and read again.
 */
#include "fuzz.h"

#include "net/sse.h"

enum { MAX_DATA = 40 };

static void note(struct mp_buf *log, const struct mp_sse_event *e)
{
	FUZZ_CHECK(mp_buf_addf(log, "%d%d %.*s\n%zu ", e->has_id, e->oversize, MP_STR_ARGS(e->type),
			       e->data.len) == 0);
	FUZZ_CHECK(mp_buf_add_str(log, e->data) == 0);
	FUZZ_CHECK(mp_buf_add_str(log, e->tail) == 0);
	FUZZ_CHECK(mp_buf_add_str(log, e->id) == 0);
}

static void check_event(const struct mp_sse_event *e)
{
	FUZZ_CHECK(e->type.len && e->type.len <= MP_SSE_TYPE && e->id.len <= MP_SSE_ID);
	FUZZ_CHECK(e->oversize || (e->data.len <= MAX_DATA && !e->tail.len));
	FUZZ_CHECK(e->data.len <= MP_SSE_HEAD && e->tail.len <= MP_SSE_TAIL);
	FUZZ_CHECK(!e->data.len || !memchr(e->data.p, '\r', e->data.len));
	FUZZ_CHECK(!e->id.len || !memchr(e->id.p, '\0', e->id.len));
}

/* Each event, written by us, is the same event again. */
static void write_again(const struct mp_sse_event *e)
{
	struct mp_sse_event back;
	struct mp_buf out;
	struct mp_sse s;

	mp_buf_init(&out, 1 << 20);
	mp_sse_init(&s, MAX_DATA);
	if (mp_sse_write(&out, e->type, e->id, e->data) < 0) {
		FUZZ_CHECK(memchr(e->type.p, '\0', e->type.len));
	} else if (!e->oversize) {
		mp_sse_feed(&s, mp_buf_get(&out));
		FUZZ_CHECK(mp_sse_next(&s, &back) == 1 && !back.oversize);
		FUZZ_CHECK(mp_str_eq(back.data, e->data) && mp_str_eq(back.type, e->type));
		FUZZ_CHECK(mp_str_eq(back.id, e->id));
		FUZZ_CHECK(mp_sse_next(&s, &back) == 0);
	}
	mp_sse_done(&s);
	mp_buf_done(&out);
}

/* All events in steps of so many bytes, as text; each piece in memory of its own. */
static void read_all(struct mp_str all, size_t step, struct mp_buf *log)
{
	struct mp_sse_event e;
	struct mp_sse s;

	mp_sse_init(&s, MAX_DATA);
	for (size_t at = 0; at < all.len; at += step) {
		size_t n = all.len - at < step ? all.len - at : step;
		char *piece = malloc(n);

		FUZZ_CHECK(piece);
		memcpy(piece, all.p + at, n);
		mp_sse_feed(&s, (struct mp_str){piece, n});
		while (mp_sse_next(&s, &e) > 0) {
			check_event(&e);
			note(log, &e);
			write_again(&e);
		}
		free(piece);
	}
	FUZZ_CHECK(mp_buf_addf(log, "end %lld ", (long long)mp_sse_get_retry_ms(&s)) == 0);
	FUZZ_CHECK(mp_buf_add_str(log, mp_sse_get_last_id(&s)) == 0);
	mp_sse_done(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	uint32_t step = 1 + fuzz_below(&in, 64);
	struct mp_str all = fuzz_rest(&in);
	struct mp_buf whole, cut;

	if (all.len > 1 << 16)
		return 0;
	mp_buf_init(&whole, 1 << 26);
	mp_buf_init(&cut, 1 << 26);
	read_all(all, all.len ? all.len : 1, &whole);
	read_all(all, step, &cut);
	FUZZ_CHECK(mp_str_eq(mp_buf_get(&whole), mp_buf_get(&cut)));
	mp_buf_done(&whole);
	mp_buf_done(&cut);
	return 0;
}
