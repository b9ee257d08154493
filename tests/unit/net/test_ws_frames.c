/* test_ws_frames.c - frames in any pieces, and what a peer must not send. */
#include "test.h"

#include <stdio.h>

#include "base/mem.h"
#include "net/ws_frames.h"

enum { MAX = 300 };

/* What was read, as text: "text:abc ping: close:1000:bye fault:1002 " */
struct notes {
	struct mp_ws_frames f;
	char log[2000];
};

static void notes_done(struct notes *n)
{
	mp_ws_frames_done(&n->f);
}

static void note(struct notes *n, const struct mp_ws_event *e)
{
	size_t len = strlen(n->log);
	char *at = n->log + len;
	size_t room = sizeof(n->log) - len;

	if (e->kind == MP_WS_CLOSE)
		snprintf(at, room, "close:%d:%.*s ", e->code, MP_STR_ARGS(e->payload));
	else
		snprintf(at, room, "%s:%.*s ",
			 e->kind == MP_WS_TEXT   ? "text"
			 : e->kind == MP_WS_PING ? "ping"
						 : "pong",
			 MP_STR_ARGS(e->payload));
}

static int read_piece(struct notes *n, struct mp_str bytes)
{
	struct mp_ws_event e;
	int r;

	mp_ws_frames_feed(&n->f, bytes);
	while ((r = mp_ws_frames_next(&n->f, &e)) > 0)
		note(n, &e);
	return r;
}

/* In steps of so many bytes, each in memory of its own, so that a step beyond is seen. */
static bool read_all(struct notes *n, struct mp_str all, size_t step)
{
	int r = 0;

	*n = (struct notes){.log = ""};
	REQUIRE(mp_ws_frames_init(&n->f, MAX, MP_WS_CLIENT) == 0);
	for (size_t at = 0; at < all.len && r == 0; at += step) {
		size_t len = all.len - at < step ? all.len - at : step;
		char *piece = mp_alloc(len);

		memcpy(piece, all.p + at, len);
		r = read_piece(n, (struct mp_str){piece, len});
		mp_free(piece);
	}
	if (r < 0) {
		size_t len = strlen(n->log);

		REQUIRE(r == n->f.fault.error);
		snprintf(n->log + len, sizeof(n->log) - len, "fault:%d", (int)n->f.fault.code);
	}
	return true;
}

struct row {
	struct mp_str bytes;
	const char *log;
};

#define ROW(bytes, log)            \
	{                          \
		MP_STR(bytes), log \
	}

/* V52: groups as in the Autobahn suite; "\x80" of the second byte would be the mask. */
static const struct row rows[] = {
	/* messages of every size of length */
	ROW("\x81\x00", "text: "),
	ROW("\x81\x05hello", "text:hello "),
	ROW("\x81\x7e\x00\x80"
	    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	    "text:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef "),
	/* pings and pongs, between messages and within */
	ROW("\x89\x00\x8a\x02hi", "ping: pong:hi "),
	ROW("\x89\x03"
	    "abc\x81\x01x\x89\x00",
	    "ping:abc text:x ping: "),
	ROW("\x01\x02he\x89\x01!\x80\x03llo", "ping:! text:hello "),
	/* fragments, empty ones too */
	ROW("\x01\x00\x00\x00\x00\x01x\x80\x00", "text:x "),
	ROW("\x01\x02he\x00\x02ll\x80\x01o\x81\x01y", "text:hello text:y "),
	/* control frames in parts, or too long */
	ROW("\x09\x00", "fault:1002"),
	ROW("\x08\x02\x03\xe8", "fault:1002"),
	ROW("\x89\x7e\x00\x7e", "fault:1002"),
	ROW("\x88\x7f\x00\x00\x00\x00\x00\x00\x00\x02", "fault:1002"),
	/* reserved bits */
	ROW("\xc1\x01x", "fault:1002"),
	ROW("\xa1\x01x", "fault:1002"),
	ROW("\x91\x01x", "fault:1002"),
	ROW("\xc9\x00", "fault:1002"),
	ROW("\x01\x01x\xc0\x01y", "fault:1002"),
	/* kinds that do not exist */
	ROW("\x83\x01x", "fault:1002"),
	ROW("\x87\x00", "fault:1002"),
	ROW("\x8b\x00", "fault:1002"),
	ROW("\x8f\x01x", "fault:1002"),
	/* a server masks nothing, zeros or not */
	ROW("\x81\x81\x00\x00\x00\x00x", "fault:1002"),
	ROW("\x89\x80\x01\x02\x03\x04", "fault:1002"),
	/* the wrong order */
	ROW("\x80\x01x", "fault:1002"),
	ROW("\x00\x01x", "fault:1002"),
	ROW("\x81\x01x\x80\x01y", "text:x fault:1002"),
	ROW("\x01\x01x\x81\x01y", "fault:1002"),
	ROW("\x01\x01x\x01\x01y", "fault:1002"),
	/* lengths in more bytes than they need, and beyond all */
	ROW("\x81\x7e\x00\x05hello", "fault:1002"),
	ROW("\x81\x7f\x00\x00\x00\x00\x00\x00\x00\x05hello", "fault:1002"),
	ROW("\x81\x7f\xff\xff\xff\xff\xff\xff\xff\xffx", "fault:1002"),
	/* binary */
	ROW("\x82\x01x", "fault:1003"),
	ROW("\x82\x00", "fault:1003"),
	ROW("\x02\x01x", "fault:1003"),
	/* too large: at once (1 GiB are announced), or by its parts */
	ROW("\x81\x7f\x00\x00\x00\x00\x40\x00\x00\x00x", "fault:1009"),
	ROW("\x81\x7e\x01\x2dx", "fault:1009"),
	ROW("\x01\x01x\x80\x7e\x01\x2cx", "fault:1009"),
	ROW("\x01\x01x\x00\x7f\x7f\xff\xff\xff\xff\xff\xff\xffx", "fault:1009"),
	/* texts that are UTF-8, across fragments too */
	ROW("\x81\x02\xc3\xa9", "text:\xc3\xa9 "),
	ROW("\x01\x01\xc3\x80\x01\xa9", "text:\xc3\xa9 "),
	ROW("\x01\x02\xf0\x9f\x00\x00\x80\x02\x98\x80", "text:\xf0\x9f\x98\x80 "),
	/* and that are not: cut, overlong, a surrogate, too high, a lone tail */
	ROW("\x81\x01\xc3", "fault:1007"),
	ROW("\x01\x01\xc3\x80\x01x", "fault:1007"),
	ROW("\x81\x02\xc0\xaf", "fault:1007"),
	ROW("\x81\x03\xed\xa0\x80", "fault:1007"),
	ROW("\x81\x04\xf4\x90\x80\x80", "fault:1007"),
	ROW("\x81\x01\x80", "fault:1007"),
	/* goodbyes */
	ROW("\x88\x00", "close:1005: "),
	ROW("\x88\x02\x03\xe8", "close:1000: "),
	ROW("\x88\x05\x03\xe9"
	    "bye",
	    "close:1001:bye "),
	ROW("\x88\x02\x03\xf6", "close:1014: "),
	ROW("\x88\x02\x0b\xb8", "close:3000: "),
	ROW("\x88\x02\x13\x87", "close:4999: "),
	ROW("\x88\x01\x03", "fault:1002"),
	ROW("\x88\x02\x00\x00", "fault:1002"),
	ROW("\x88\x02\x03\xe7", "fault:1002"),
	ROW("\x88\x02\x03\xec", "fault:1002"),
	ROW("\x88\x02\x03\xed", "fault:1002"),
	ROW("\x88\x02\x03\xee", "fault:1002"),
	ROW("\x88\x02\x03\xf7", "fault:1002"),
	ROW("\x88\x02\x07\xd0", "fault:1002"),
	ROW("\x88\x02\x13\x88", "fault:1002"),
	ROW("\x88\x02\xff\xff", "fault:1002"),
	ROW("\x88\x03\x03\xe8\xff", "fault:1007"),
	/* unfinished: nothing yet */
	ROW("\x81", ""),
	ROW("\x81\x05hell", ""),
	ROW("\x01\x05hello", ""),
	ROW("\x88\x02\x03", ""),
};

/* V52 */
HEAVY_TEST(the_same_whatever_the_pieces)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++)
		for (size_t step = 1; step <= rows[i].bytes.len; step++) {
			MP_CLEANUP(notes_done) struct notes n = {.log = ""};

			CHECK(read_all(&n, rows[i].bytes, step));
			if (strcmp(n.log, rows[i].log) != 0)
				printf("row %zu, step %zu\n", i, step);
			CHECK_TEXT(n.log, rows[i].log);
		}
}

TEST(memory_may_end)
{
	MP_CLEANUP(notes_done) struct notes n = {.log = ""};

	CHECK(read_all(&n, MP_STR("\x01\x02he\x80\x03llo\x89\x00"), 3));
	CHECK_TEXT(n.log, "text:hello ping: ");
}

TEST(a_fault_is_the_end)
{
	MP_CLEANUP(notes_done) struct notes n = {.log = ""};
	struct mp_ws_event e;

	CHECK(read_all(&n, MP_STR("\x82\x01x"), 1));
	CHECK_TEXT(n.log, "fault:1003");
	CHECK_TEXT(n.f.fault.words, "a binary message");
	mp_ws_frames_feed(&n.f, MP_STR("\x81\x01x"));
	CHECK_EQ(mp_ws_frames_next(&n.f, &e), MCPOOL_EPROTO);
}

/* What was announced and never came takes no memory, and what came in small parts not much. */
HEAVY_TEST(a_message_takes_its_own_size)
{
	enum { LARGE = 32 << 20, N = 100000 };
	MP_CLEANUP(notes_done) struct notes n = {.log = ""};

	CHECK_EQ(mp_ws_frames_init(&n.f, LARGE, MP_WS_CLIENT), 0);
	CHECK_EQ(read_piece(&n, MP_STR("\x01\x7f\x00\x00\x00\x00\x01\xff\x00\x00x")), 0);
	CHECK(n.f.message.cap <= 4096);
	mp_ws_frames_done(&n.f);
	CHECK_EQ(mp_ws_frames_init(&n.f, LARGE, MP_WS_CLIENT), 0);
	CHECK_EQ(read_piece(&n, MP_STR("\x01\x01x")), 0);
	for (int i = 0; i < N; i++)
		CHECK_EQ(read_piece(&n, MP_STR("\x00\x01x")), 0);
	CHECK_EQ(n.f.message.len, N + 1);
	CHECK(n.f.message.cap <= 2 * N);
	CHECK_EQ(read_piece(&n, MP_STR("\x80\x00")), 0);
	CHECK_EQ(read_piece(&n, MP_STR("\x81\x00")), 0);
	CHECK(n.f.message.cap <= 16384); /* and gives it back */
}

/* --- writing -------------------------------------------------------------------------------- */

static bool unmask(struct mp_str frame, size_t head, struct mp_buf *out)
{
	REQUIRE(frame.len >= head + 4 && (frame.p[1] & 0x80));
	for (size_t i = head + 4; i < frame.len; i++)
		REQUIRE(mp_buf_add_char(
				out, (char)(frame.p[i] ^ frame.p[head + (i - head - 4) % 4])) == 0);
	return true;
}

TEST(frames_are_masked_and_measured)
{
	static const struct {
		size_t len, head;
		char second;
	} sizes[] = {{0, 2, 0},     {1, 2, 1},       {125, 2, 125},
		     {126, 4, 126}, {65535, 4, 126}, {65536, 10, 127}};
	MP_CLEANUP(notes_done) struct notes n = {.log = ""};
	char *text = mp_alloc(65536);
	bool ok;

	memset(text, 'x', 65536);
	ok = mp_ws_frames_init(&n.f, MAX, MP_WS_CLIENT) == 0;
	for (size_t i = 0; i < MP_ARRAY_LEN(sizes) && ok; i++) {
		MP_CLEANUP(mp_buf_done) struct mp_buf out, plain;
		struct mp_str payload = {text, sizes[i].len};

		mp_buf_init(&out, 1 << 20);
		mp_buf_init(&plain, 1 << 20);
		ok = test_true(mp_ws_frames_write(&n.f, MP_WS_TEXT, payload, &out) == 0, "write",
			       __FILE__, __LINE__) &&
		     test_true(out.data[0] == (char)0x81 &&
				       (out.data[1] & 0x7f) == sizes[i].second &&
				       out.len == sizes[i].head + 4 + sizes[i].len,
			       "head", __FILE__, __LINE__) &&
		     unmask(mp_buf_get(&out), sizes[i].head, &plain) &&
		     test_true(mp_str_eq(mp_buf_get(&plain), payload), "payload", __FILE__,
			       __LINE__);
	}
	mp_free(text);
	CHECK(ok);
}

TEST(a_payload_in_pieces_is_one_frame)
{
	MP_CLEANUP(notes_done) struct notes n = {.log = ""};
	MP_CLEANUP(mp_buf_done) struct mp_buf out, plain;
	struct mp_str pieces[] = {MP_STR(""), MP_STR("one, "), MP_STR(""), MP_STR("two"),
				  MP_STR(" and three")};

	mp_buf_init(&out, 1 << 10);
	mp_buf_init(&plain, 1 << 10);
	CHECK_EQ(mp_ws_frames_init(&n.f, MAX, MP_WS_CLIENT), 0);
	for (int i = 0; i < 2; i++) { /* the first leaves nothing behind for the second */
		mp_buf_clear(&out);
		mp_buf_clear(&plain);
		CHECK_EQ(mp_ws_frames_write_pieces(&n.f, MP_WS_TEXT, pieces, MP_ARRAY_LEN(pieces),
						   &out),
			 0);
		CHECK_EQ(out.len, 2 + 4 + 18);
		CHECK(unmask(mp_buf_get(&out), 2, &plain));
		CHECK_STR(mp_buf_get(&plain), "one, two and three");
	}
}

/* RFC 6455, 5.3: new masks for each frame, not one of them again and again. */
TEST(masks_differ)
{
	MP_CLEANUP(notes_done) struct notes n = {.log = ""};
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	uint32_t masks[200];
	int same = 0;

	mp_buf_init(&out, 1 << 16);
	CHECK_EQ(mp_ws_frames_init(&n.f, MAX, MP_WS_CLIENT), 0);
	for (size_t i = 0; i < MP_ARRAY_LEN(masks); i++) {
		mp_buf_clear(&out);
		CHECK_EQ(mp_ws_frames_write(&n.f, MP_WS_PING, MP_STR(""), &out), 0);
		memcpy(&masks[i], out.data + 2, 4);
		for (size_t k = 0; k < i; k++)
			same += masks[k] == masks[i];
	}
	CHECK(same <= 1); /* of 20000 pairs of 32 bits */
}

TEST(a_goodbye_has_a_code_or_none)
{
	MP_CLEANUP(notes_done) struct notes n = {.log = ""};
	MP_CLEANUP(mp_buf_done) struct mp_buf out, plain;

	mp_buf_init(&out, 100);
	mp_buf_init(&plain, 100);
	CHECK_EQ(mp_ws_frames_init(&n.f, MAX, MP_WS_CLIENT), 0);
	CHECK_EQ(mp_ws_frames_write_close(&n.f, MP_WS_NO_CODE, &out), 0);
	CHECK_EQ(out.len, 6);
	mp_buf_clear(&out);
	CHECK_EQ(mp_ws_frames_write_close(&n.f, MP_WS_TOO_LARGE, &out), 0);
	CHECK(out.data[0] == (char)0x88);
	CHECK(unmask(mp_buf_get(&out), 2, &plain));
	CHECK_STR(mp_buf_get(&plain), "\x03\xf1");
}

TEST(what_does_not_fit_leaves_nothing_behind)
{
	MP_CLEANUP(notes_done) struct notes n = {.log = ""};
	MP_CLEANUP(mp_buf_done) struct mp_buf out;

	mp_buf_init(&out, 30);
	CHECK_EQ(mp_ws_frames_init(&n.f, MAX, MP_WS_CLIENT), 0);
	CHECK_EQ(mp_ws_frames_write(&n.f, MP_WS_TEXT, MP_STR("0123456789abcdef!"), &out),
		 MCPOOL_ELIMIT);
	CHECK_EQ(out.len, 0);
	CHECK_EQ(mp_ws_frames_write(&n.f, MP_WS_TEXT, MP_STR("0123456789abcdef"), &out), 0);
	CHECK_EQ(out.len, 22);
}

/* --- the server's end ----------------------------------------------------------------------- */

/* What a client writes a server reads, and the other way; never what its own side writes. */
static bool pass(enum mp_ws_role from, enum mp_ws_role to, enum mp_ws_code *ret_fault)
{
	MP_CLEANUP(mp_ws_frames_done) struct mp_ws_frames writer = {0};
	MP_CLEANUP(mp_ws_frames_done) struct mp_ws_frames reader = {0};
	MP_CLEANUP(mp_buf_done) struct mp_buf bytes;
	struct mp_ws_event e;
	int r;

	mp_buf_init(&bytes, 1000);
	REQUIRE(mp_ws_frames_init(&writer, MAX, from) == 0);
	REQUIRE(mp_ws_frames_init(&reader, MAX, to) == 0);
	REQUIRE(mp_ws_frames_write(&writer, MP_WS_TEXT, MP_STR("hello"), &bytes) == 0);
	REQUIRE(bytes.len == (from == MP_WS_CLIENT ? 11 : 7));
	mp_ws_frames_feed(&reader, mp_buf_get(&bytes));
	r = mp_ws_frames_next(&reader, &e);
	*ret_fault = reader.fault.code;
	if (from != to)
		REQUIRE(r == 1 && mp_str_eq(e.payload, MP_STR("hello")));
	return true;
}

TEST(clients_mask_and_servers_do_not)
{
	enum mp_ws_code fault;

	CHECK(pass(MP_WS_CLIENT, MP_WS_SERVER, &fault));
	CHECK_EQ(fault, 0);
	CHECK(pass(MP_WS_SERVER, MP_WS_CLIENT, &fault));
	CHECK_EQ(fault, 0);
	CHECK(pass(MP_WS_CLIENT, MP_WS_CLIENT, &fault));
	CHECK_EQ(fault, MP_WS_PROTOCOL);
	CHECK(pass(MP_WS_SERVER, MP_WS_SERVER, &fault));
	CHECK_EQ(fault, MP_WS_PROTOCOL);
}
