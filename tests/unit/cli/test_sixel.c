/*
 * test_sixel.c - sixels, drawn again by a small terminal of our own and compared with the image.
 */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "cli/display/sixel.h"

enum { SIDE = 64 };

/* What a terminal would show. */
struct canvas {
	unsigned width, height, colours;
	int colour[256][3];     /* hundredths */
	int pixels[SIDE][SIDE]; /* a colour; -1: not drawn */
};

static unsigned read_number(const char **at)
{
	return (unsigned)strtoul(*at, (char **)at, 10);
}

static bool put_sixel(struct canvas *c, unsigned x, unsigned y, char letter, int colour)
{
	unsigned mask = (unsigned)(letter - '?');

	REQUIRE(mask < 64 && colour >= 0);
	for (unsigned i = 0; i < 6; i++)
		if (mask & 1u << i) {
			REQUIRE(x < c->width && y + i < c->height);
			c->pixels[y + i][x] = colour;
		}
	return true;
}

static bool draw(struct canvas *c, const char *at)
{
	unsigned x = 0, y = 0, n;
	int colour = -1;

	memset(c, 0, sizeof(*c));
	memset(c->pixels, -1, sizeof(c->pixels));
	REQUIRE(strncmp(at, "\033P0;1;0q\"1;1;", 13) == 0);
	at += 13;
	c->width = read_number(&at);
	REQUIRE(*at++ == ';');
	c->height = read_number(&at);
	REQUIRE(c->width <= SIDE && c->height <= SIDE);
	while (*at != '\033') {
		char letter = *at++;

		n = 1;
		if (letter == '#') {
			colour = (int)read_number(&at);
			REQUIRE(colour < 256);
			if (strncmp(at, ";2;", 3) == 0) {
				c->colours++;
				at += 2;
				for (int i = 0; i < 3; i++) {
					REQUIRE(*at++ == ';');
					c->colour[colour][i] = (int)read_number(&at);
					REQUIRE(c->colour[colour][i] <= 100);
				}
			}
			continue;
		}
		if (letter == '$' || letter == '-') {
			x = 0;
			y += letter == '-' ? 6 : 0;
			continue;
		}
		if (letter == '!') {
			n = read_number(&at);
			letter = *at++;
		}
		for (; n > 0; n--)
			REQUIRE(put_sixel(c, x++, y, letter, colour));
	}
	return strcmp(at, "\033\\") == 0;
}

static bool write_image(struct mp_buf *out, uint32_t max_width, uint32_t width, uint32_t height,
			void (*pixel)(uint32_t x, uint32_t y, uint8_t *out))
{
	struct mp_png image = {width, height, malloc((size_t)width * height * 4)};
	int r;

	mp_buf_init(out, MP_LIMIT_IMAGE);
	for (uint32_t y = 0; y < height; y++)
		for (uint32_t x = 0; x < width; x++)
			pixel(x, y, image.rgba + ((size_t)y * width + x) * 4);
	r = mp_sixel_write(&image, max_width, out);
	free(image.rgba);
	return r == 0 && mp_buf_terminate(out) == 0;
}

/* Black, red, green, and nothing. */
static void few_colours(uint32_t x, uint32_t y, uint8_t *out)
{
	memset(out, 0, 4);
	out[0] = (x + y) % 4 == 1 ? 255 : 0;
	out[1] = (x + y) % 4 == 2 ? 255 : 0;
	out[3] = (x + y) % 4 == 3 ? 0 : 255;
}

TEST(few_colours_are_exact)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	struct canvas *c = mp_alloc(sizeof(*c));
	bool ok = write_image(&out, 100, 13, 8, few_colours) && draw(c, out.data);

	ok = ok && c->width == 13 && c->height == 8 && c->colours == 3;
	for (unsigned y = 0; ok && y < 8; y++)
		for (unsigned x = 0; ok && x < 13; x++) {
			int at = c->pixels[y][x];
			unsigned kind = (x + y) % 4;

			ok = (at < 0) == (kind == 3) &&
			     (at < 0 ||
			      (c->colour[at][0] == (kind == 1 ? 100 : 0) &&
			       c->colour[at][1] == (kind == 2 ? 100 : 0) && c->colour[at][2] == 0));
		}
	mp_free(c);
	CHECK(ok);
}

static void many_colours(uint32_t x, uint32_t y, uint8_t *out)
{
	out[0] = (uint8_t)(x * 4);
	out[1] = (uint8_t)(y * 4);
	out[2] = (uint8_t)(255 - x * 2 - y * 2);
	out[3] = 255;
}

/* 4096 colours become 256, none of them far off. */
HEAVY_TEST(many_colours_are_close)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	struct canvas *c = mp_alloc(sizeof(*c));
	bool ok = write_image(&out, 100, SIDE, SIDE, many_colours) && draw(c, out.data);
	int worst = 0;

	ok = ok && c->colours == 256;
	for (unsigned y = 0; ok && y < SIDE; y++)
		for (unsigned x = 0; ok && x < SIDE; x++) {
			uint8_t wanted[4];

			many_colours(x, y, wanted);
			ok = c->pixels[y][x] >= 0;
			for (int i = 0; ok && i < 3; i++) {
				int off =
					abs(c->colour[c->pixels[y][x]][i] * 255 / 100 - wanted[i]);

				worst = off > worst ? off : worst;
			}
		}
	mp_free(c);
	CHECK(ok);
	CHECK(worst < 32);
}

HEAVY_TEST(a_wide_image_is_made_smaller)
{
	static const struct {
		uint32_t max, width, height, is_width, is_height;
	} rows[] = {
		{40, 120, 60, 40, 20}, {40, 41, 41, 40, 40},  {40, 40, 10, 40, 10},
		{1, 50, 60, 1, 1},     {60, 10000, 1, 60, 1}, {0, 5, 5, 1, 1},
	};
	struct canvas *c = mp_alloc(sizeof(*c));
	bool ok = true;

	for (size_t i = 0; ok && i < MP_ARRAY_LEN(rows); i++) {
		MP_CLEANUP(mp_buf_done) struct mp_buf out;

		ok = write_image(&out, rows[i].max, rows[i].width, rows[i].height, many_colours) &&
		     draw(c, out.data) && c->width == rows[i].is_width &&
		     c->height == rows[i].is_height;
	}
	mp_free(c);
	CHECK(ok);
}

static void nothing(uint32_t x, uint32_t y, uint8_t *out)
{
	(void)x;
	(void)y;
	memset(out, 0, 4);
}

HEAVY_TEST(a_transparent_image_draws_nothing)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	struct canvas *c = mp_alloc(sizeof(*c));
	bool ok = write_image(&out, 100, 9, 9, nothing) && draw(c, out.data) && c->colours == 0;

	mp_free(c);
	CHECK(ok);
}

HEAVY_TEST(a_high_image_has_a_limit)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	static const char wanted[] = "\033P0;1;0q\"1;1;2;4096#";

	CHECK(write_image(&out, 100, 8, 16384, few_colours));
	CHECK_EQ(strncmp(out.data, wanted, sizeof(wanted) - 1), 0);
	for (size_t i = 1; i + 2 < out.len; i++) /* V40 */
		CHECK(out.data[i] > ' ' && out.data[i] < 0x7f);
}
