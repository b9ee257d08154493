/*
 * fuzz_tape.c - the parser: whole and in pieces it must say the same, and a tape must be sound.
 * Input: one byte of what is accepted, one of the depth kept, one of the size of a piece, the text.
 */
#include "fuzz.h"
#include "json/tape.h"

static void check_sound(const struct mp_tape *t)
{
	for (uint32_t i = 0; i < t->n; i++) {
		const struct mp_tape_node *node = &t->nodes[i];

		FUZZ_CHECK(node->start < node->end && node->end <= t->len);
		FUZZ_CHECK(node->next > i && node->next <= t->n);
		FUZZ_CHECK(node->depth <= t->keep_depth);
		if (node->type < MP_TAPE_ARRAY)
			FUZZ_CHECK(node->next == i + 1);
		for (uint32_t child = i + 1; child < node->next; child = t->nodes[child].next) {
			FUZZ_CHECK(t->nodes[child].start > node->start);
			FUZZ_CHECK(t->nodes[child].end < node->end);
			FUZZ_CHECK(t->nodes[child].depth == node->depth + 1);
		}
	}
	if (t->n)
		FUZZ_CHECK(t->nodes[0].next == t->n);
}

/* A fresh copy of exactly n bytes each time, so that the parser cannot lean on old memory. */
static int feed_piece(struct mp_tape *t, struct mp_str text, size_t n)
{
	char *copy = malloc(n ? n : 1);
	int r;

	if (!copy)
		abort();
	memcpy(copy, text.p, n);
	r = mp_tape_feed(t, copy, n, n == text.len);
	t->src = NULL;
	free(copy);
	return r;
}

static int feed(struct mp_tape *t, struct mp_str text, size_t piece)
{
	size_t n = 0;
	int r;

	mp_tape_begin(t);
	do {
		n = text.len - n > piece ? n + piece : text.len;
		r = feed_piece(t, text, n);
	} while (r == 0 && n < text.len);
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	unsigned accept = fuzz_byte(&in) & MP_TAPE_JSONC;
	uint8_t keep = fuzz_byte(&in);
	size_t piece = 1 + fuzz_byte(&in);
	struct mp_str text = fuzz_rest(&in);
	struct mp_tape whole, pieces;
	struct mcpool_error error;
	int r;

	mp_tape_init(&whole, accept);
	mp_tape_init(&pieces, accept);
	if (keep < 8)
		whole.keep_depth = pieces.keep_depth = keep;
	r = mp_tape_parse(&whole, text, &error);
	FUZZ_CHECK((r == 0) == (whole.fault == MP_TAPE_FAULT_NONE));
	if (r < 0) {
		FUZZ_CHECK(error.code == r && error.message[0] && whole.fault_at <= text.len);
	} else {
		check_sound(&whole);
	}
	if (text.len / piece < 4000) {
		FUZZ_CHECK((feed(&pieces, text, piece) < 0) == (r < 0));
		if (r == 0) {
			FUZZ_CHECK(pieces.n == whole.n && pieces.loose == whole.loose);
			FUZZ_CHECK(memcmp(pieces.nodes, whole.nodes,
					  whole.n * sizeof(*whole.nodes)) == 0);
		}
	}
	mp_tape_done(&whole);
	mp_tape_done(&pieces);
	return 0;
}
