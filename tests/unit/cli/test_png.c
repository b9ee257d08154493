/*
 * test_png.c - PNG images of every kind, and those that are none. The images are made here, by the
 * rules of the format, so that each pixel is known.
 */
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/limits.h"
#include "cli/display/png.h"

static struct mcpool_error why;

/* --- making images --------------------------------------------------------------------------- */

struct picture {
	unsigned type, depth, interlaced, width, height;
};

static unsigned channels_of(const struct picture *p)
{
	return p->type == 2 ? 3 : p->type == 4 ? 2 : p->type == 6 ? 4 : 1;
}

static unsigned sample(const struct picture *p, unsigned x, unsigned y, unsigned c)
{
	unsigned most = (1u << p->depth) - 1;

	return (x * 37 + y * 101 + c * 53 + x * y) * (p->depth == 16 ? 523 : 1) & most;
}

static void put_u32(struct mp_buf *b, uint32_t n)
{
	const char bytes[] = {(char)(n >> 24), (char)(n >> 16), (char)(n >> 8), (char)n};

	(void)!mp_buf_add(b, bytes, 4);
}

static bool put_chunk(struct mp_buf *b, const char *type, const void *data, size_t len)
{
	size_t from = b->len + 4;

	put_u32(b, (uint32_t)len);
	if (mp_buf_add(b, type, 4) < 0 || mp_buf_add(b, data, len) < 0)
		return false;
	put_u32(b, (uint32_t)crc32(0, (const Bytef *)b->data + from, (uInt)(b->len - from)));
	return b->len == from + 8 + len;
}

static bool put_header(struct mp_buf *b, const struct picture *p)
{
	unsigned char head[13] = {0};

	for (int i = 0; i < 4; i++) {
		head[i] = (unsigned char)(p->width >> (24 - i * 8));
		head[4 + i] = (unsigned char)(p->height >> (24 - i * 8));
	}
	head[8] = (unsigned char)p->depth;
	head[9] = (unsigned char)p->type;
	head[12] = (unsigned char)p->interlaced;
	return mp_buf_add(b, "\x89PNG\r\n\x1a\n", 8) == 0 &&
	       put_chunk(b, "IHDR", head, sizeof(head));
}

static int guess(int a, int b, int c)
{
	int p = a + b - c, pa = abs(p - a), pb = abs(p - b), pc = abs(p - c);

	return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

/* One row with its filter; both rows have a byte of filter and hold plain samples. */
static bool put_row(struct mp_buf *raw, const unsigned char *row, const unsigned char *above,
		    size_t n, size_t step, unsigned filter)
{
	unsigned char out[512] = {(unsigned char)filter};

	for (size_t i = 0; i < n; i++) {
		int a = i >= step ? row[i - step] : 0, b = above[i];
		int c = i >= step ? above[i - step] : 0;
		int less[] = {0, a, b, (a + b) / 2, guess(a, b, c)};

		out[i + 1] = (unsigned char)(row[i] - less[filter]);
	}
	return mp_buf_add(raw, out, n + 1) == 0;
}

static void pack(const struct picture *p, unsigned char *row, size_t at, unsigned value)
{
	if (p->depth == 16) {
		row[at * 2] = (unsigned char)(value >> 8);
		row[at * 2 + 1] = (unsigned char)value;
	} else {
		row[at * p->depth / 8] |=
			(unsigned char)(value << (8 - p->depth - at * p->depth % 8));
	}
}

/* The rows of a pass, with each filter in turn. */
static bool put_pass(struct mp_buf *raw, const struct picture *p, const unsigned pass[4])
{
	unsigned char rows[2][512] = {{0}}, *row = rows[0], *above = rows[1], *swap;
	unsigned channels = channels_of(p), filter = 0;
	size_t step = channels * p->depth / 8, n = 0;

	for (unsigned y = pass[1]; y < p->height; y += pass[3]) {
		size_t at = 0;

		memset(row, 0, sizeof(rows[0]));
		for (unsigned x = pass[0]; x < p->width; x += pass[2])
			for (unsigned c = 0; c < channels; c++)
				pack(p, row, at++, sample(p, x, y, c));
		n = (at * p->depth + 7) / 8;
		if (n && !put_row(raw, row, above, n, step ? step : 1, filter++ % 5))
			return false;
		swap = row;
		row = above;
		above = swap;
	}
	return true;
}

static bool put_data(struct mp_buf *b, const struct mp_buf *raw, size_t piece)
{
	unsigned char packed[65536];
	uLongf len = sizeof(packed);

	if (compress2(packed, &len, (const Bytef *)raw->data, raw->len, 9) != Z_OK)
		return false;
	for (size_t at = 0; at < len; at += piece)
		if (!put_chunk(b, "IDAT", packed + at, len - at < piece ? len - at : piece))
			return false;
	return true;
}

static const unsigned adam7[][4] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
				    {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};

static bool put_pixels(struct mp_buf *b, const struct picture *p, size_t piece)
{
	static const unsigned whole[4] = {0, 0, 1, 1};
	MP_CLEANUP(mp_buf_done) struct mp_buf raw;
	bool ok = true;

	mp_buf_init(&raw, MP_MIB(1));
	for (size_t i = 0; ok && i < (p->interlaced ? MP_ARRAY_LEN(adam7) : 1); i++)
		ok = put_pass(&raw, p, p->interlaced ? adam7[i] : whole);
	return ok && put_data(b, &raw, piece);
}

static bool make(struct mp_buf *b, const struct picture *p)
{
	unsigned char palette[768];

	for (size_t i = 0; i < sizeof(palette); i++)
		palette[i] = (unsigned char)(i * 11);
	mp_buf_init(b, MP_MIB(1));
	return put_header(b, p) && put_chunk(b, "tIME", "1234567", 7) &&
	       (p->type != 3 || put_chunk(b, "PLTE", palette, (size_t)3 << p->depth)) &&
	       put_pixels(b, p, 100) && put_chunk(b, "IEND", "", 0);
}

/* --- checking them --------------------------------------------------------------------------- */

static unsigned byte_of(const struct picture *p, unsigned value)
{
	return p->depth == 16 ? value >> 8 : value * 255 / ((1u << p->depth) - 1);
}

static bool is_right(const struct picture *p, const struct mp_png *image)
{
	REQUIRE(image->width == p->width && image->height == p->height);
	for (unsigned y = 0; y < p->height; y++)
		for (unsigned x = 0; x < p->width; x++) {
			const uint8_t *is = image->rgba + ((size_t)y * p->width + x) * 4;
			unsigned wanted[4] = {0, 0, 0, 255};

			for (unsigned c = 0; c < 3; c++)
				wanted[c] = p->type == 3
						    ? (sample(p, x, y, 0) * 3 + c) * 11 & 255
						    : byte_of(p, sample(p, x, y,
									p->type == 2 || p->type == 6
										? c
										: 0));
			if (p->type == 4 || p->type == 6)
				wanted[3] = byte_of(p, sample(p, x, y, p->type == 4 ? 1 : 3));
			for (unsigned c = 0; c < 4; c++)
				REQUIRE(is[c] == wanted[c]);
		}
	return true;
}

static bool decodes(const struct picture *p)
{
	MP_CLEANUP(mp_png_done) struct mp_png image = {.rgba = NULL};
	MP_CLEANUP(mp_buf_done) struct mp_buf bytes;

	REQUIRE(make(&bytes, p));
	REQUIRE(mp_png_read(mp_buf_get(&bytes), &image, &why) == 0);
	return is_right(p, &image);
}

TEST(an_image_is_decoded)
{
	CHECK(decodes(&(struct picture){6, 8, 0, 5, 7}));
}

HEAVY_TEST(every_kind_depth_and_size)
{
	static const struct {
		unsigned type, depths;
	} kinds[] = {
		{0, 1 | 2 | 4 | 8 | 16}, {2, 8 | 16}, {3, 1 | 2 | 4 | 8}, {4, 8 | 16}, {6, 8 | 16}};

	for (size_t i = 0; i < MP_ARRAY_LEN(kinds); i++)
		for (unsigned depth = 1; depth <= 16; depth *= 2)
			for (unsigned interlaced = 0; interlaced < 2; interlaced++)
				for (unsigned side = 1; side < 20; side++)
					if (kinds[i].depths & depth)
						CHECK(decodes(&(struct picture){kinds[i].type,
										depth, interlaced,
										side, 20 - side}));
}

/* The sample of the second pixel is 37, or 37, 90, 143. */
HEAVY_TEST(a_transparent_colour)
{
	static const struct {
		struct picture p;
		const char *colour;
		size_t len;
	} rows[] = {{{0, 8, 0, 3, 3}, "\0\45", 2}, {{2, 8, 0, 3, 3}, "\0\45\0\132\0\217", 6}};

	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++) {
		MP_CLEANUP(mp_png_done) struct mp_png image = {.rgba = NULL};
		MP_CLEANUP(mp_buf_done) struct mp_buf bytes;

		mp_buf_init(&bytes, MP_KIB(64));
		CHECK(put_header(&bytes, &rows[i].p) &&
		      put_chunk(&bytes, "tRNS", rows[i].colour, rows[i].len));
		CHECK(put_pixels(&bytes, &rows[i].p, 1000) && put_chunk(&bytes, "IEND", "", 0));
		CHECK_EQ(mp_png_read(mp_buf_get(&bytes), &image, &why), 0);
		CHECK_EQ(image.rgba[3], 255);
		CHECK_EQ(image.rgba[7], 0);
	}
}

static int read_with_palette(size_t colours, size_t alphas, struct mp_png *ret)
{
	const struct picture p = {3, 2, 0, 4, 4}; /* samples 0 to 3 */
	MP_CLEANUP(mp_buf_done) struct mp_buf bytes;

	mp_buf_init(&bytes, MP_KIB(64));
	*ret = (struct mp_png){.rgba = NULL};
	if (!put_header(&bytes, &p) || !put_chunk(&bytes, "PLTE", "abcdefghijkl", colours * 3) ||
	    (alphas && !put_chunk(&bytes, "tRNS", "\1\2\3\4\5", alphas)) ||
	    !put_pixels(&bytes, &p, 1000) || !put_chunk(&bytes, "IEND", "", 0))
		return MCPOOL_ENOMEM;
	return mp_png_read(mp_buf_get(&bytes), ret, &why);
}

HEAVY_TEST(a_palette_with_transparent_colours)
{
	MP_CLEANUP(mp_png_done) struct mp_png image;

	CHECK_EQ(read_with_palette(4, 2, &image), 0);
	CHECK_EQ(memcmp(image.rgba, "abc\1def\2ghi\xffjkl\xff", 16), 0);
	mp_png_done(&image);
	CHECK_EQ(read_with_palette(4, 5, &image), MCPOOL_EPARSE); /* more than it has colours */
	CHECK_EQ(read_with_palette(3, 0, &image), MCPOOL_EPARSE); /* a colour that it has not */
}

/* --- what is none ---------------------------------------------------------------------------- */

static int read_bytes(const char *bytes, size_t len)
{
	MP_CLEANUP(mp_png_done) struct mp_png image = {.rgba = NULL};
	char *copy = malloc(len ? len : 1); /* of exactly this size, for the sanitizer */
	int r;

	memcpy(copy, bytes, len);
	r = mp_png_read((struct mp_str){copy, len}, &image, &why);
	free(copy);
	return r;
}

HEAVY_TEST(cut_anywhere_it_is_none)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf bytes;

	CHECK(make(&bytes, &(struct picture){3, 4, 1, 9, 9}));
	for (size_t n = 0; n < bytes.len; n++)
		CHECK_EQ(read_bytes(bytes.data, n), MCPOOL_EPARSE);
	CHECK_EQ(read_bytes(bytes.data, bytes.len), 0);
}

HEAVY_TEST(a_changed_byte_is_noticed)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf bytes;

	CHECK(make(&bytes, &(struct picture){2, 8, 0, 9, 9}));
	for (size_t n = 0; n < bytes.len; n++) {
		bytes.data[n] ^= 0x10;
		CHECK_EQ(read_bytes(bytes.data, bytes.len), MCPOOL_EPARSE);
		bytes.data[n] ^= 0x10;
	}
}

static int read_picture(const struct picture *p)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf bytes;

	mp_buf_init(&bytes, MP_KIB(64));
	if (!put_header(&bytes, p) || !put_chunk(&bytes, "IDAT", "x", 1))
		return MCPOOL_ENOMEM;
	return read_bytes(bytes.data, bytes.len);
}

HEAVY_TEST(the_header_is_held_to_the_limits)
{
	CHECK_EQ(read_picture(&(struct picture){6, 8, 0, 0, 1}), MCPOOL_EPARSE);
	CHECK_EQ(read_picture(&(struct picture){6, 8, 0, MP_LIMIT_IMAGE_SIDE + 1, 1}),
		 MCPOOL_ELIMIT);
	CHECK_EQ(read_picture(&(struct picture){6, 8, 0, 1, 0xffffffff}), MCPOOL_ELIMIT);
	CHECK_EQ(read_picture(&(struct picture){6, 8, 0, MP_LIMIT_IMAGE_SIDE, 1025}),
		 MCPOOL_ELIMIT);
	CHECK_EQ(read_picture(&(struct picture){6, 4, 0, 1, 1}), MCPOOL_EPARSE);
	CHECK_EQ(read_picture(&(struct picture){1, 8, 0, 1, 1}), MCPOOL_EPARSE);
	CHECK_EQ(read_picture(&(struct picture){7, 8, 0, 1, 1}), MCPOOL_EPARSE);
	CHECK_EQ(read_picture(&(struct picture){6, 8, 2, 1, 1}), MCPOOL_EPARSE);
	CHECK_EQ(read_picture(&(struct picture){3, 8, 0, 1, 1}), MCPOOL_EPARSE); /* no palette */
}

/* A megabyte of zeros in a few bytes: only the rows that the header has are unpacked. */
HEAVY_TEST(more_data_than_rows_is_not_unpacked)
{
	const struct picture p = {0, 8, 0, 2, 2};
	MP_CLEANUP(mp_buf_done) struct mp_buf bytes, raw;

	mp_buf_init(&bytes, MP_KIB(64));
	mp_buf_init(&raw, MP_MIB(2));
	CHECK_EQ(mp_buf_reserve(&raw, MP_MIB(1)), 0);
	memset(raw.data, 0, MP_MIB(1));
	raw.len = MP_MIB(1);
	CHECK(put_header(&bytes, &p) && put_data(&bytes, &raw, 20) &&
	      put_chunk(&bytes, "IEND", "", 0));
	CHECK_EQ(read_bytes(bytes.data, bytes.len), 0);
}

HEAVY_TEST(parts_in_the_wrong_order)
{
	const struct picture p = {0, 8, 0, 2, 2};
	static const char *const parts[] = {"PLTE", "tRNS", "IDAT", "XXXX", "tEXT"};
	static const int results[] = {MCPOOL_EPARSE, MCPOOL_EPARSE, MCPOOL_EPARSE, MCPOOL_EPARSE,
				      0};

	for (size_t i = 0; i < MP_ARRAY_LEN(parts); i++) {
		MP_CLEANUP(mp_buf_done) struct mp_buf bytes;

		mp_buf_init(&bytes, MP_KIB(64));
		CHECK(put_header(&bytes, &p) && put_pixels(&bytes, &p, 1000) &&
		      put_chunk(&bytes, "tEXT", "x", 1) && put_chunk(&bytes, parts[i], "abc", 3) &&
		      put_chunk(&bytes, "IEND", "", 0));
		CHECK_EQ(read_bytes(bytes.data, bytes.len), results[i]);
	}
}
