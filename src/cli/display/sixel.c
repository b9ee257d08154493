/*
 * sixel.c - pixels as sixels: made smaller, reduced to 256 colours, written six rows at a time.
 * Colours are counted by their upper five bits. Median cut: the box of colours that is widest and
 * has most pixels is cut in the middle, until there are enough boxes.
 */
#include "cli/display/sixel.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"

enum { COLOURS = 256, BITS = 5, BINS = 1 << 3 * BITS, BAND = 6 };

struct bin {
	uint32_t n;
	uint64_t sum[3]; /* of all its pixels */
};

/* Bins beside each other in `order`. */
struct box {
	size_t from, to;
	uint64_t weight; /* of the widest axis; 0: it cannot be cut */
	int axis;
};

struct sixel {
	uint32_t width, height;
	uint8_t *rgba;       /* owned, made smaller; NULL: the image's own are used */
	const uint8_t *from; /* what is drawn */
	struct bin *bins;    /* owned; BINS of them */
	uint16_t *order;     /* owned; the bins that are used */
	uint8_t *colour_of;  /* owned; of each bin */
	struct box boxes[COLOURS];
	size_t n_boxes, n_order;
	uint8_t *masks; /* owned; of each colour a row of sixels */
	bool is_used[COLOURS];
	struct mp_buf *out;
	int error;
};

/* --- smaller --------------------------------------------------------------------------------- */

/* The average of the pixels that become this one; a transparent one has no colour. */
static void average(const struct mp_png *image, const uint32_t x[2], const uint32_t y[2],
		    uint8_t *out)
{
	uint64_t sum[3] = {0}, alpha = 0, n = 0;

	for (uint32_t row = y[0]; row < y[1]; row++)
		for (uint32_t column = x[0]; column < x[1]; column++, n++) {
			const uint8_t *p = image->rgba + ((size_t)row * image->width + column) * 4;

			alpha += p[3];
			for (int i = 0; i < 3; i++)
				sum[i] += (uint64_t)p[i] * p[3];
		}
	for (int i = 0; i < 3; i++)
		out[i] = (uint8_t)(sum[i] / (alpha ? alpha : 1));
	out[3] = (uint8_t)(alpha / n);
}

/* From the first to behind the last of those that become pixel `at` of `n`. */
static void get_sources(uint32_t at, uint32_t n, uint32_t all, uint32_t ret[2])
{
	ret[0] = (uint32_t)((uint64_t)at * all / n);
	ret[1] = (uint32_t)((uint64_t)(at + 1) * all / n);
	if (ret[1] == ret[0])
		ret[1]++;
}

static uint32_t at_least_one(uint64_t n)
{
	return n ? (uint32_t)n : 1;
}

static void sixel_set_size(struct sixel *s, const struct mp_png *image, uint32_t max_width)
{
	s->width = image->width;
	s->height = image->height;
	if (s->width > max_width) {
		s->width = at_least_one(max_width);
		s->height = at_least_one((uint64_t)image->height * s->width / image->width);
	}
	if (s->height > MP_LIMIT_SIXEL_SIDE) {
		s->height = MP_LIMIT_SIXEL_SIDE;
		s->width = at_least_one((uint64_t)image->width * s->height / image->height);
	}
}

static int sixel_scale(struct sixel *s, const struct mp_png *image)
{
	uint8_t *out;

	s->from = image->rgba;
	if (s->width == image->width && s->height == image->height)
		return 0;
	s->from = s->rgba = out = mp_try_alloc((size_t)s->width * s->height * 4);
	if (!out)
		return MCPOOL_ENOMEM;
	for (uint32_t row = 0; row < s->height; row++)
		for (uint32_t column = 0; column < s->width; column++, out += 4) {
			uint32_t x[2], y[2];

			get_sources(column, s->width, image->width, x);
			get_sources(row, s->height, image->height, y);
			average(image, x, y, out);
		}
	return 0;
}

/* --- colours --------------------------------------------------------------------------------- */

static bool is_drawn(const uint8_t *pixel)
{
	return pixel[3] >= 128;
}

static size_t find_bin(const uint8_t *pixel)
{
	return (size_t)(pixel[0] >> (8 - BITS)) << 2 * BITS |
	       (size_t)(pixel[1] >> (8 - BITS)) << BITS | pixel[2] >> (8 - BITS);
}

static int get_axis(uint16_t bin, int axis)
{
	return bin >> (2 - axis) * BITS & ((1 << BITS) - 1);
}

static int sixel_count(struct sixel *s)
{
	s->bins = mp_try_alloc(BINS * sizeof(*s->bins));
	s->order = mp_try_alloc(BINS * sizeof(*s->order));
	s->colour_of = mp_try_alloc(BINS);
	if (!s->bins || !s->order || !s->colour_of)
		return MCPOOL_ENOMEM;
	memset(s->bins, 0, BINS * sizeof(*s->bins));
	for (size_t i = 0; i < (size_t)s->width * s->height; i++) {
		const uint8_t *pixel = s->from + i * 4;
		struct bin *b = &s->bins[find_bin(pixel)];

		if (!is_drawn(pixel))
			continue;
		b->n++;
		for (int k = 0; k < 3; k++)
			b->sum[k] += pixel[k];
	}
	for (size_t i = 0; i < BINS; i++)
		if (s->bins[i].n)
			s->order[s->n_order++] = (uint16_t)i;
	return 0;
}

static void box_measure(const struct sixel *s, struct box *b)
{
	uint64_t n = 0;
	int widest = 0;

	for (size_t i = b->from; i < b->to; i++)
		n += s->bins[s->order[i]].n;
	for (int axis = 0; axis < 3; axis++) {
		int low = 1 << BITS, high = 0;

		for (size_t i = b->from; i < b->to; i++) {
			int at = get_axis(s->order[i], axis);

			low = at < low ? at : low;
			high = at > high ? at : high;
		}
		if (high - low > widest) {
			widest = high - low;
			b->axis = axis;
		}
	}
	b->weight = n * (uint64_t)widest;
}

#define COMPARE(name, axis)                                                  \
	static int name(const void *a, const void *b)                        \
	{                                                                    \
		uint16_t x = *(const uint16_t *)a, y = *(const uint16_t *)b; \
		int order = get_axis(x, axis) - get_axis(y, axis);           \
                                                                             \
		return order ? order : (int)x - (int)y;                      \
	}
COMPARE(by_red, 0)
COMPARE(by_green, 1)
COMPARE(by_blue, 2)
#undef COMPARE

/* In the middle of its pixels, with at least one bin on each side. */
static size_t box_find_middle(const struct sixel *s, const struct box *b)
{
	uint64_t n = 0, all = 0;
	size_t at = b->from;

	for (size_t i = b->from; i < b->to; i++)
		all += s->bins[s->order[i]].n;
	while (at < b->to - 1 && n < all / 2)
		n += s->bins[s->order[at++]].n;
	return at > b->from ? at : b->from + 1;
}

static void box_cut(struct sixel *s, struct box *b)
{
	static int (*const compare[])(const void *a, const void *b) = {by_red, by_green, by_blue};
	struct box *next = &s->boxes[s->n_boxes++];

	qsort(s->order + b->from, b->to - b->from, sizeof(*s->order), compare[b->axis]);
	*next = (struct box){.from = box_find_middle(s, b), .to = b->to};
	b->to = next->from;
	box_measure(s, b);
	box_measure(s, next);
}

static void sixel_find_colours(struct sixel *s)
{
	if (s->n_order == 0)
		return;
	s->boxes[0] = (struct box){.from = 0, .to = s->n_order};
	s->n_boxes = 1;
	box_measure(s, &s->boxes[0]);
	while (s->n_boxes < COLOURS) {
		struct box *heaviest = &s->boxes[0];

		for (size_t i = 1; i < s->n_boxes; i++)
			if (s->boxes[i].weight > heaviest->weight)
				heaviest = &s->boxes[i];
		if (heaviest->weight == 0)
			break;
		box_cut(s, heaviest);
	}
	for (size_t i = 0; i < s->n_boxes; i++)
		for (size_t k = s->boxes[i].from; k < s->boxes[i].to; k++)
			s->colour_of[s->order[k]] = (uint8_t)i;
}

/* --- sixels ---------------------------------------------------------------------------------- */

static void sixel_add(struct sixel *s, struct mp_str text)
{
	if (s->error == 0)
		s->error = mp_buf_add_str(s->out, text);
}

static void sixel_add_number(struct sixel *s, const char *before, size_t number)
{
	char room[MP_STR_DIGITS];

	sixel_add(s, mp_str_of(before));
	sixel_add(s, mp_str_from_u64(number, room));
}

/* Its average, in hundredths. */
static void write_colour(struct sixel *s, size_t colour)
{
	const struct box *b = &s->boxes[colour];
	uint64_t n = 0, sum[3] = {0};

	for (size_t i = b->from; i < b->to; i++) {
		const struct bin *bin = &s->bins[s->order[i]];

		n += bin->n;
		for (int k = 0; k < 3; k++)
			sum[k] += bin->sum[k];
	}
	for (int k = 0; k < 3; k++)
		sum[k] = (sum[k] * 100 + n * 127) / (n * 255);
	sixel_add_number(s, "#", colour);
	sixel_add_number(s, ";2;", sum[0]);
	sixel_add_number(s, ";", sum[1]);
	sixel_add_number(s, ";", sum[2]);
}

static void write_run(struct sixel *s, uint8_t mask, uint32_t n)
{
	char letter = (char)('?' + mask);
	const char letters[] = {letter, letter, letter};

	if (n > sizeof(letters)) {
		sixel_add_number(s, "!", n);
		n = 1;
	}
	sixel_add(s, (struct mp_str){letters, n});
}

/* Nothing is drawn behind its last pixel. */
static void write_row(struct sixel *s, size_t colour)
{
	const uint8_t *masks = s->masks + colour * s->width;
	uint32_t end = s->width, from = 0;

	while (end > 0 && masks[end - 1] == 0)
		end--;
	sixel_add_number(s, "#", colour);
	for (uint32_t x = 1; x <= end; x++)
		if (x == end || masks[x] != masks[from]) {
			write_run(s, masks[from], x - from);
			from = x;
		}
}

static void read_band(struct sixel *s, uint32_t top)
{
	memset(s->is_used, 0, sizeof(s->is_used));
	for (uint32_t y = 0; y < BAND && top + y < s->height; y++)
		for (uint32_t x = 0; x < s->width; x++) {
			const uint8_t *pixel = s->from + ((size_t)(top + y) * s->width + x) * 4;
			size_t colour = s->colour_of[find_bin(pixel)];

			if (!is_drawn(pixel))
				continue;
			if (!s->is_used[colour])
				memset(s->masks + colour * s->width, 0, s->width);
			s->is_used[colour] = true;
			s->masks[colour * s->width + x] |= (uint8_t)(1 << y);
		}
}

/* $ goes back to the left side, - to the next band. */
static void write_band(struct sixel *s, uint32_t top)
{
	bool is_first = true;

	read_band(s, top);
	for (size_t i = 0; i < s->n_boxes; i++) {
		if (!s->is_used[i])
			continue;
		if (!is_first)
			sixel_add(s, MP_STR("$"));
		is_first = false;
		write_row(s, i);
	}
	sixel_add(s, MP_STR("-"));
}

/* 1: a pixel without colour stays as it is. */
static int sixel_draw(struct sixel *s)
{
	s->masks = mp_try_alloc(s->n_boxes * s->width + 1);
	if (!s->masks)
		return MCPOOL_ENOMEM;
	sixel_add_number(s, "\033P0;1;0q\"1;1;", s->width);
	sixel_add_number(s, ";", s->height);
	for (size_t i = 0; i < s->n_boxes; i++)
		write_colour(s, i);
	for (uint32_t top = 0; top < s->height && s->error == 0; top += BAND)
		write_band(s, top);
	sixel_add(s, MP_STR("\033\\"));
	return s->error;
}

int mp_sixel_write(const struct mp_png *image, uint32_t max_width, struct mp_buf *out)
{
	struct sixel *s = mp_alloc(sizeof(*s));
	size_t before = out->len;
	int r;

	s->out = out;
	sixel_set_size(s, image, max_width < MP_LIMIT_SIXEL_SIDE ? max_width : MP_LIMIT_SIXEL_SIDE);
	r = sixel_scale(s, image);
	if (r == 0)
		r = sixel_count(s);
	if (r == 0) {
		sixel_find_colours(s);
		r = sixel_draw(s);
	}
	if (r < 0)
		out->len = before;
	mp_free(s->rgba);
	mp_free(s->bins);
	mp_free(s->order);
	mp_free(s->colour_of);
	mp_free(s->masks);
	mp_free(s);
	return r;
}
