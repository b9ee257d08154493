/* fuzz_png.c - any bytes as an image, and its sixels. Checksums are put right, or nothing would be
 * behind them. */
#include "fuzz.h"

#include <zlib.h>

#include "base/limits.h"
#include "cli/display/png.h"
#include "cli/display/sixel.h"

enum { HEAD = 8, SLOW = 1 << 16 };

static uint32_t get_u32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void mend_checksums(uint8_t *bytes, size_t size)
{
	for (size_t at = HEAD; at + 12 <= size;) {
		size_t len = get_u32(bytes + at);
		uint32_t sum;

		if (len > size - at - 12)
			return;
		sum = (uint32_t)crc32(0, bytes + at + 4, (uInt)len + 4);
		for (int i = 0; i < 4; i++)
			bytes[at + 8 + len + (size_t)i] = (uint8_t)(sum >> (24 - 8 * i));
		at += len + 12;
	}
}

static void look_at(const struct mp_png *image)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;

	FUZZ_CHECK(image->width > 0 && image->width <= MP_LIMIT_IMAGE_SIDE);
	FUZZ_CHECK((size_t)image->width * image->height * 4 <= MP_LIMIT_IMAGE);
	mp_buf_init(&out, MP_LIMIT_IMAGE);
	if (image->width * image->height > SLOW || mp_sixel_write(image, 500, &out) < 0)
		return;
	FUZZ_CHECK(out.len > 2 && out.data[0] == '\033' && out.data[out.len - 1] == '\\');
	for (size_t i = 1; i + 2 < out.len; i++)
		FUZZ_CHECK(out.data[i] > ' ' && out.data[i] < 0x7f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);
	struct mp_png image;
	struct mcpool_error why;

	memcpy(copy, data, size);
	for (int i = 0; i < 2; i++) {
		if (mp_png_read((struct mp_str){(const char *)copy, size}, &image, &why) == 0)
			look_at(&image);
		else
			FUZZ_CHECK(!image.rgba && why.code < 0);
		mp_png_done(&image);
		mend_checksums(copy, size);
	}
	free(copy);
	return 0;
}
