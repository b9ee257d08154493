/*
 * fuzz_ws.c - what a WebSocket server says, from its answer to the upgrade on: the same whatever
 * the cuts, never more than was allowed, and what was read can be written.
 */
#include "fuzz.h"

#include "net/ws_frames.h"
#include "net/ws_upgrade.h"

enum { MAX_TEXT = 200 };

static void check_event(const struct mp_ws_event *e)
{
	FUZZ_CHECK(mp_utf8_valid(e->payload) || e->kind == MP_WS_PING || e->kind == MP_WS_PONG);
	if (e->kind == MP_WS_TEXT) {
		FUZZ_CHECK(e->payload.len <= MAX_TEXT);
		return;
	}
	FUZZ_CHECK(e->kind == MP_WS_PING || e->kind == MP_WS_PONG || e->kind == MP_WS_CLOSE);
	FUZZ_CHECK(e->payload.len <= MP_WS_CONTROL);
	FUZZ_CHECK(e->kind != MP_WS_CLOSE || (e->code >= 1000 && e->code < 5000));
}

/* Our frame of the same payload: unmasked by hand it is that payload again. */
static void write_again(struct mp_ws_frames *f, const struct mp_ws_event *e)
{
	struct mp_buf out;
	size_t head;

	mp_buf_init(&out, 1 << 12);
	FUZZ_CHECK(mp_ws_frames_write(f, e->kind, e->payload, &out) == 0);
	head = e->payload.len < 126 ? 2 : 4;
	FUZZ_CHECK(out.len == head + 4 + e->payload.len && (out.data[1] & 0x80));
	for (size_t i = 0; i < e->payload.len; i++)
		FUZZ_CHECK((out.data[head + 4 + i] ^ out.data[head + i % 4]) == e->payload.p[i]);
	mp_buf_done(&out);
}

static int read_piece(struct mp_ws_frames *f, struct mp_str bytes, struct mp_buf *log)
{
	struct mp_ws_event e;
	int r;

	mp_ws_frames_feed(f, bytes);
	while ((r = mp_ws_frames_next(f, &e)) > 0) {
		check_event(&e);
		write_again(f, &e);
		FUZZ_CHECK(mp_buf_addf(log, "%d %d %zu ", e.kind, e.code, e.payload.len) == 0);
		FUZZ_CHECK(mp_buf_add_str(log, e.payload) == 0);
	}
	return r;
}

/* The answer to the upgrade; what lies behind it is left in *piece. */
static int read_answer(struct mp_ws_upgrade *up, struct mp_str *piece, struct mp_buf *log)
{
	struct mcpool_error why = {.code = 0};
	int r = mp_ws_upgrade_read(up, piece);

	if (r <= 0)
		return r;
	r = mp_ws_upgrade_judge(up, (struct mp_str){NULL, 0}, "http://h", 0, &why);
	FUZZ_CHECK(r == why.code && (r == 0 || why.message[0]));
	FUZZ_CHECK(mp_buf_addf(log, "%d %s\n", r, why.message) == 0);
	return r < 0 ? r : 1;
}

/* All of it in steps of so many bytes, as text; each piece in memory of its own. */
static void read_all(struct mp_str all, bool upgraded, size_t step, struct mp_buf *log)
{
	struct mp_ws_upgrade up;
	struct mp_ws_frames f;
	int r = 0;

	mp_ws_upgrade_init(&up);
	memcpy(up.key, "dGhlIHNhbXBsZSBub25jZQ==", MP_WS_KEY + 1); /* as in RFC 6455, 1.3 */
	FUZZ_CHECK(mp_ws_frames_init(&f, MAX_TEXT, MP_WS_CLIENT) == 0);
	for (size_t at = 0; at < all.len && r >= 0; at += step) {
		size_t n = all.len - at < step ? all.len - at : step;
		char *block = malloc(n);
		struct mp_str piece = {block, n};

		FUZZ_CHECK(block);
		memcpy(block, all.p + at, n);
		if (!upgraded) {
			r = read_answer(&up, &piece, log);
			upgraded = r > 0;
		}
		if (upgraded)
			r = read_piece(&f, piece, log);
		free(block);
	}
	FUZZ_CHECK(mp_buf_addf(log, "%d %d", r, f.fault.code) == 0);
	mp_ws_frames_done(&f);
	mp_ws_upgrade_done(&up);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	uint8_t how = fuzz_byte(&in);
	bool upgraded = how & 0x80;
	size_t step = 1 + (how & 0x3f);
	struct mp_str all = fuzz_rest(&in);
	struct mp_buf whole, cut;

	if (all.len > 1 << 15) /* half the limit of a head: where it is cut does not matter */
		return 0;
	mp_buf_init(&whole, 1 << 24);
	mp_buf_init(&cut, 1 << 24);
	read_all(all, upgraded, all.len ? all.len : 1, &whole);
	read_all(all, upgraded, step, &cut);
	FUZZ_CHECK(mp_str_eq(mp_buf_get(&whole), mp_buf_get(&cut)));
	mp_buf_done(&whole);
	mp_buf_done(&cut);
	return 0;
}
