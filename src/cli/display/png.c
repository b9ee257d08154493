/*
 * png.c - decodes a PNG image into pixels.
 * zlib inflates one row at a time, so a small file cannot unpack to more than its header says, and
 * the header is held to the limits before anything is allocated.
 */
#include "cli/display/png.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"

enum { GREY = 0, RGB = 2, PALETTE = 3, GREY_ALPHA = 4, RGBA = 6 };
enum { CHUNK_HEAD = 8, CHUNK_END = 4, HEADER = 13, ROW_SLACK = 8 };

#define TYPE(a, b, c, d) \
	((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(d))
#define IHDR TYPE('I', 'H', 'D', 'R')
#define PLTE TYPE('P', 'L', 'T', 'E')
#define TRNS TYPE('t', 'R', 'N', 'S')
#define IDAT TYPE('I', 'D', 'A', 'T')
#define IEND TYPE('I', 'E', 'N', 'D')

/* Where the pixels of a pass are: every dx from x on, every dy from y on. */
struct pass {
	uint8_t x, y, dx, dy;
};
static const struct pass whole[] = {{0, 0, 1, 1}};
static const struct pass adam7[] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
				    {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};

struct chunk {
	uint32_t type;
	struct mp_str data;
};

struct png {
	struct mp_str rest; /* not read yet */
	struct mp_png *image;
	struct mcpool_error *reterr;

	/* Of the header. */
	unsigned depth, type, channels;
	uint8_t palette[256][4];
	unsigned n_palette;
	uint16_t key[3]; /* of a transparent colour, as the samples are */
	bool has_key;

	/* The row that is being inflated. */
	z_stream z;
	bool is_inflating;
	uint8_t *rows[2]; /* owned: this one and the one above, a byte of filter before each */
	size_t row_bytes; /* without it */
	size_t filled;    /* with it */
	const struct pass *pass, *passes_end;
	uint32_t pass_width, pass_height, y; /* of this pass */
	bool is_complete;                    /* all rows are there */
	bool is_over;                        /* data ended: more of it is misplaced */
};

static int png_fail(struct png *p, const char *words)
{
	return mp_fail(p->reterr, MCPOOL_EPARSE, "not a valid PNG image: %s", words);
}

/* --- chunks ---------------------------------------------------------------------------------- */

static uint32_t read_u32(const char *at)
{
	const uint8_t *p = (const uint8_t *)at;

	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static uint16_t read_u16(const char *at)
{
	return (uint16_t)((uint8_t)at[0] << 8 | (uint8_t)at[1]);
}

static int chunk_read(struct png *p, struct chunk *ret)
{
	size_t len;
	uLong sum;

	if (p->rest.len < CHUNK_HEAD + CHUNK_END)
		return png_fail(p, "it is cut off");
	len = read_u32(p->rest.p);
	if (len > INT32_MAX || len > p->rest.len - CHUNK_HEAD - CHUNK_END)
		return png_fail(p, "it is cut off");
	ret->type = read_u32(p->rest.p + 4);
	ret->data = (struct mp_str){p->rest.p + CHUNK_HEAD, len};
	sum = crc32(0, (const Bytef *)p->rest.p + 4, (uInt)len + 4);
	if (sum != read_u32(ret->data.p + len))
		return png_fail(p, "a checksum is wrong");
	p->rest.p += CHUNK_HEAD + len + CHUNK_END;
	p->rest.len -= CHUNK_HEAD + len + CHUNK_END;
	return 0;
}

static unsigned count_channels(unsigned type)
{
	static const uint8_t channels[] = {
		[GREY] = 1, [RGB] = 3, [PALETTE] = 1, [GREY_ALPHA] = 2, [RGBA] = 4};

	return type < sizeof(channels) ? channels[type] : 0;
}

static bool is_depth(unsigned type, unsigned depth)
{
	switch (depth) {
	case 1:
	case 2:
	case 4:
		return type == GREY || type == PALETTE;
	case 8:
		return true;
	case 16:
		return type != PALETTE;
	default:
		return false;
	}
}

static int read_size(struct png *p, const struct chunk *c)
{
	uint32_t width = read_u32(c->data.p), height = read_u32(c->data.p + 4);

	if (width == 0 || height == 0)
		return png_fail(p, "it has no pixels");
	if (width > MP_LIMIT_IMAGE_SIDE || height > MP_LIMIT_IMAGE_SIDE ||
	    (size_t)width * height > MP_LIMIT_IMAGE / 4)
		return mp_fail(p->reterr, MCPOOL_ELIMIT, "the image has %u x %u pixels: too many",
			       width, height);
	p->image->width = width;
	p->image->height = height;
	return 0;
}

static int read_header(struct png *p, const struct chunk *c)
{
	int r;

	if (c->type != IHDR || c->data.len != HEADER)
		return png_fail(p, "it has no header");
	r = read_size(p, c);
	if (r < 0)
		return r;
	p->depth = (uint8_t)c->data.p[8];
	p->type = (uint8_t)c->data.p[9];
	p->channels = count_channels(p->type);
	if (!p->channels || !is_depth(p->type, p->depth) || c->data.p[10] || c->data.p[11] ||
	    (uint8_t)c->data.p[12] > 1)
		return png_fail(p, "its header makes no sense");
	p->pass = c->data.p[12] ? adam7 : whole;
	p->passes_end = p->pass + (c->data.p[12] ? MP_ARRAY_LEN(adam7) : MP_ARRAY_LEN(whole));
	return 0;
}

static int read_palette(struct png *p, const struct chunk *c)
{
	if (p->is_inflating || p->n_palette || c->data.len == 0 || c->data.len % 3 ||
	    c->data.len > sizeof(p->palette) / 4 * 3)
		return png_fail(p, "its palette makes no sense");
	p->n_palette = (unsigned)(c->data.len / 3);
	for (unsigned i = 0; i < p->n_palette; i++) {
		memcpy(p->palette[i], c->data.p + (size_t)i * 3, 3);
		p->palette[i][3] = 255;
	}
	return 0;
}

static int read_transparency(struct png *p, const struct chunk *c)
{
	size_t wanted = p->type == GREY ? 2 : 6;

	if (p->is_inflating)
		return png_fail(p, "its transparency comes late");
	if (p->type == PALETTE) {
		if (c->data.len > p->n_palette)
			return png_fail(p, "its transparency makes no sense");
		for (size_t i = 0; i < c->data.len; i++)
			p->palette[i][3] = (uint8_t)c->data.p[i];
		return 0;
	}
	if ((p->type != GREY && p->type != RGB) || c->data.len != wanted)
		return png_fail(p, "its transparency makes no sense");
	for (size_t i = 0; i < wanted / 2; i++)
		p->key[i] = read_u16(c->data.p + i * 2);
	p->has_key = true;
	return 0;
}

/* --- pixels of a row ------------------------------------------------------------------------- */

/* The nth sample of a row, as it is. */
static unsigned get_sample(const struct png *p, const uint8_t *row, size_t n)
{
	size_t bit;

	if (p->depth == 8)
		return row[n];
	if (p->depth == 16)
		return (unsigned)row[n * 2] << 8 | row[n * 2 + 1];
	bit = n * p->depth;
	return (unsigned)row[bit / 8] >> (8 - p->depth - bit % 8) & ((1u << p->depth) - 1);
}

static uint8_t make_byte(const struct png *p, unsigned sample)
{
	if (p->depth == 16)
		return (uint8_t)(sample >> 8);
	return (uint8_t)(sample * 255 / ((1u << p->depth) - 1));
}

/* False: the palette has no such colour. */
static bool write_pixel(const struct png *p, const uint8_t *row, size_t x, uint8_t *out)
{
	unsigned samples[4];
	bool is_grey = p->type == GREY || p->type == GREY_ALPHA;
	unsigned colours = is_grey ? 1 : 3;

	for (unsigned i = 0; i < p->channels; i++)
		samples[i] = get_sample(p, row, x * p->channels + i);
	if (p->type == PALETTE) {
		if (samples[0] >= p->n_palette)
			return false;
		memcpy(out, p->palette[samples[0]], 4);
		return true;
	}
	for (unsigned i = 0; i < 3; i++)
		out[i] = make_byte(p, samples[is_grey ? 0 : i]);
	out[3] = p->channels > colours ? make_byte(p, samples[colours]) : 255;
	if (p->has_key && samples[0] == p->key[0] &&
	    (is_grey || (samples[1] == p->key[1] && samples[2] == p->key[2])))
		out[3] = 0;
	return true;
}

static int write_row(struct png *p, const uint8_t *row)
{
	const struct pass *pass = p->pass;
	size_t y = pass->y + (size_t)p->y * pass->dy;
	uint8_t *line = p->image->rgba + y * p->image->width * 4;

	for (size_t x = 0; x < p->pass_width; x++)
		if (!write_pixel(p, row, x, line + (pass->x + x * pass->dx) * 4))
			return png_fail(p, "a colour is not in its palette");
	return 0;
}

/* --- filters --------------------------------------------------------------------------------- */

static uint8_t paeth(int left, int above, int corner)
{
	int guess = left + above - corner;
	int a = abs(guess - left), b = abs(guess - above), c = abs(guess - corner);

	if (a <= b && a <= c)
		return (uint8_t)left;
	return (uint8_t)(b <= c ? above : corner);
}

/* Bytes of the pixel on the left and of the row above; 0 outside. */
static bool unfilter(uint8_t *row, const uint8_t *above, size_t n, size_t step)
{
	uint8_t filter = row[-1];

	if (filter > 4)
		return false;
	for (size_t i = 0; filter && i < n; i++) {
		int left = i >= step ? row[i - step] : 0, corner = i >= step ? above[i - step] : 0;
		int add = filter == 1   ? left
			  : filter == 2 ? above[i]
			  : filter == 3 ? (left + above[i]) / 2
					: paeth(left, above[i], corner);

		row[i] = (uint8_t)(row[i] + add);
	}
	return true;
}

/* --- data ------------------------------------------------------------------------------------ */

/* The next pass that has any pixels, from this one on. */
static void pass_begin(struct png *p)
{
	uint32_t width = p->image->width, height = p->image->height;

	for (; p->pass < p->passes_end; p->pass++) {
		const struct pass *pass = p->pass;

		if (pass->x >= width || pass->y >= height)
			continue;
		p->pass_width = (width - pass->x + pass->dx - 1) / pass->dx;
		p->pass_height = (height - pass->y + pass->dy - 1) / pass->dy;
		p->row_bytes = ((size_t)p->pass_width * p->channels * p->depth + 7) / 8;
		p->y = 0;
		memset(p->rows[1], 0, p->row_bytes + 1); /* above the first there is nothing */
		return;
	}
	p->is_complete = true;
}

static int row_finish(struct png *p)
{
	size_t step = p->channels * p->depth / 8;
	uint8_t *row = p->rows[0];
	int r;

	if (!unfilter(row + 1, p->rows[1] + 1, p->row_bytes, step ? step : 1))
		return png_fail(p, "a row has no such filter");
	r = write_row(p, row + 1);
	p->rows[0] = p->rows[1];
	p->rows[1] = row;
	p->filled = 0;
	if (r == 0 && ++p->y == p->pass_height) {
		p->pass++;
		pass_begin(p);
	}
	return r;
}

static void *png_alloc(void *u, unsigned n, unsigned size)
{
	(void)u;
	return mp_try_alloc((size_t)n * size);
}

static void png_release(void *u, void *block)
{
	(void)u;
	mp_free(block);
}

static int data_begin(struct png *p)
{
	size_t most = ((size_t)p->image->width * p->channels * p->depth + 7) / 8 + ROW_SLACK;

	if (p->type == PALETTE && p->n_palette == 0)
		return png_fail(p, "it has no palette");
	p->z.zalloc = png_alloc;
	p->z.zfree = png_release;
	if (inflateInit(&p->z) != Z_OK)
		return mp_fail(p->reterr, MCPOOL_ENOMEM, "no memory for an image");
	p->is_inflating = true;
	p->rows[0] = mp_try_alloc(most);
	p->rows[1] = mp_try_alloc(most);
	p->image->rgba = mp_try_alloc((size_t)p->image->width * p->image->height * 4);
	if (!p->rows[0] || !p->rows[1] || !p->image->rgba)
		return mp_fail(p->reterr, MCPOOL_ENOMEM, "no memory for an image");
	pass_begin(p);
	return 0;
}

/* Into the current row; 1: zlib needs more of the file. */
static int data_inflate(struct png *p)
{
	int r;

	p->z.next_out = p->rows[0] + p->filled;
	p->z.avail_out = (uInt)(p->row_bytes + 1 - p->filled);
	r = inflate(&p->z, Z_NO_FLUSH);
	p->filled = p->row_bytes + 1 - p->z.avail_out;
	if (r == Z_MEM_ERROR)
		return mp_fail(p->reterr, MCPOOL_ENOMEM, "no memory for an image");
	if (r != Z_OK && r != Z_STREAM_END && r != Z_BUF_ERROR)
		return png_fail(p, "its data cannot be unpacked");
	if (p->filled == p->row_bytes + 1)
		return row_finish(p);
	if (r == Z_STREAM_END)
		return png_fail(p, "rows are missing");
	return p->z.avail_in == 0;
}

/* What comes behind the last row does not count, and is not unpacked. */
static int read_data(struct png *p, const struct chunk *c)
{
	int r = 0;

	if (p->is_over)
		return png_fail(p, "its data is in pieces");
	if (!p->is_inflating)
		r = data_begin(p);
	p->z.next_in = (z_const Bytef *)c->data.p;
	p->z.avail_in = (uInt)c->data.len;
	while (r == 0 && !p->is_complete)
		r = data_inflate(p);
	return r < 0 ? r : 0;
}

/* --- the file -------------------------------------------------------------------------------- */

static int read_chunk(struct png *p, const struct chunk *c)
{
	p->is_over = p->is_over || (p->is_inflating && c->type != IDAT);
	switch (c->type) {
	case PLTE:
		return read_palette(p, c);
	case TRNS:
		return read_transparency(p, c);
	case IDAT:
		return read_data(p, c);
	case IEND:
		return p->is_complete ? 0 : png_fail(p, "rows are missing");
	default: /* a small first letter: it may be ignored */
		return c->type >> 24 & 0x20 ? 0 : png_fail(p, "it has a part that is not known");
	}
}

static int png_read(struct png *p)
{
	const struct mp_str signature = MP_STR("\x89PNG\r\n\x1a\n");
	struct chunk c = {.type = 0};
	int r;

	if (!mp_str_starts(p->rest, signature))
		return png_fail(p, "it does not begin as one");
	p->rest.p += signature.len;
	p->rest.len -= signature.len;
	r = chunk_read(p, &c);
	if (r == 0)
		r = read_header(p, &c);
	while (r == 0 && c.type != IEND) {
		r = chunk_read(p, &c);
		if (r == 0)
			r = read_chunk(p, &c);
	}
	return r;
}

int mp_png_read(struct mp_str bytes, struct mp_png *ret, struct mcpool_error *reterr)
{
	struct png p = {.rest = bytes, .image = ret, .reterr = reterr};
	int r;

	*ret = (struct mp_png){.rgba = NULL};
	r = png_read(&p);
	if (p.is_inflating)
		inflateEnd(&p.z);
	mp_free(p.rows[0]);
	mp_free(p.rows[1]);
	if (r < 0)
		mp_png_done(ret);
	return r;
}

void mp_png_done(struct mp_png *p)
{
	mp_free(p->rgba);
	*p = (struct mp_png){.rgba = NULL};
}
