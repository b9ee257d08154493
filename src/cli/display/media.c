/*
 * media.c - what is binary in a result: shown where the terminal can, or saved.
 * The content comes from a server: only letters of base64, and sixels that we write, reach the
 * terminal (V40).
 */
#include "cli/display/media.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/limits.h"
#include "cli/display/cli.h"
#include "cli/display/png.h"
#include "cli/display/safe.h"
#include "cli/display/sixel.h"
#include "cli/display/terminal_traits.h"
#include "json/value.h"
#include "store/results.h"

enum { KITTY_CHUNK = 4096 };

/* --- base64 ---------------------------------------------------------------------------------- */

static int digit_of(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

static bool is_filler(char c)
{
	return c == '=' || c == '\n' || c == '\r';
}

static bool is_base64(struct mp_str text)
{
	for (size_t i = 0; i < text.len; i++)
		if (!is_filler(text.p[i]) && digit_of(text.p[i]) < 0)
			return false;
	return text.len > 0;
}

/* Three bytes at most, from up to four letters; the letters are taken. False: there is another one.
 */
static bool base64_take(struct mp_str *base64, char *bytes, size_t *ret_n)
{
	unsigned bits = 0, n = 0;

	*ret_n = 0;
	for (; base64->len && n < 24; base64->p++, base64->len--) {
		int digit = digit_of(base64->p[0]);

		if (is_filler(base64->p[0]))
			continue;
		if (digit < 0)
			return false;
		bits = bits << 6 | (unsigned)digit;
		n += 6;
	}
	for (; n >= 8; n -= 8)
		bytes[(*ret_n)++] = (char)(bits >> (n - 8) & 0xff);
	return true;
}

bool mp_media_decode(struct mp_str base64, FILE *to)
{
	char bytes[3];
	size_t n;

	while (base64.len) {
		if (!base64_take(&base64, bytes, &n))
			return false;
		fwrite(bytes, 1, n, to);
	}
	return true;
}

static int base64_add(struct mp_str base64, struct mp_buf *out)
{
	char bytes[3];
	size_t n;
	int r = 0;

	while (base64.len && r == 0)
		r = base64_take(&base64, bytes, &n) ? mp_buf_add(out, bytes, n) : MCPOOL_EPARSE;
	return r;
}

/* --- blocks ---------------------------------------------------------------------------------- */

struct media {
	const char *what;         /* "image", "audio", "resource" */
	struct mp_str mime, data; /* in the arena or the tape */
};

struct walk {
	struct mp_tape t;
	struct mp_arena arena;
};

static struct mp_str get_text(struct walk *w, mp_value object, const char *key)
{
	struct mp_str text;

	if (mp_value_text(&w->t, mp_value_get(&w->t, object, key), &w->arena, &text) < 0)
		return MP_STR("");
	return text;
}

/* False: the block is text, or its data is not valid. */
static bool media_read(struct walk *w, mp_value block, struct media *ret)
{
	mp_value type = mp_value_get(&w->t, block, "type");
	mp_value from = block;
	const char *key = "data";

	if (mp_value_text_is(&w->t, type, MP_STR("image"))) {
		ret->what = "image";
	} else if (mp_value_text_is(&w->t, type, MP_STR("audio"))) {
		ret->what = "audio";
	} else if (mp_value_text_is(&w->t, type, MP_STR("resource"))) {
		ret->what = "resource";
		from = mp_value_get(&w->t, block, "resource");
		key = "blob";
	} else {
		return false;
	}
	ret->mime = get_text(w, from, "mimeType");
	ret->data = get_text(w, from, key);
	return is_base64(ret->data);
}

static bool walk_begin(struct walk *w, struct mp_str result)
{
	mp_tape_init(&w->t, 0);
	mp_arena_init(&w->arena, 2 * MP_LIMIT_MESSAGE);
	return mp_tape_parse(&w->t, result, NULL) == 0;
}

static void walk_end(struct walk *w)
{
	mp_tape_done(&w->t);
	mp_arena_done(&w->arena);
}

/* --- on the terminal ------------------------------------------------------------------------- */

static bool env_is(const char *name, const char *value)
{
	const char *is = getenv(name);

	return is && strcmp(is, value) == 0;
}

/* A multiplexer passes on no images but sixels, and says so. */
static bool is_direct(void)
{
	return getenv("TERM") && !mp_terminal_is_multiplexed();
}

static bool has_kitty_images(void)
{
	return is_direct() &&
	       (getenv("KITTY_WINDOW_ID") || env_is("TERM", "xterm-kitty") ||
		env_is("TERM", "xterm-ghostty") || env_is("TERM_PROGRAM", "ghostty"));
}

static bool has_iterm_images(void)
{
	return is_direct() &&
	       (env_is("TERM_PROGRAM", "iTerm.app") || env_is("LC_TERMINAL", "iTerm2") ||
		env_is("TERM_PROGRAM", "WezTerm"));
}

/* Without line breaks, which are not part of the data. */
static size_t letters_copy(struct mp_str *from, char *out, size_t size)
{
	size_t n = 0;

	while (from->len && n < size) {
		if (from->p[0] != '\n' && from->p[0] != '\r')
			out[n++] = from->p[0];
		from->p++;
		from->len--;
	}
	return n;
}

static void kitty_show(struct mp_str data)
{
	char chunk[KITTY_CHUNK];
	const char *first = "a=T,f=100,";

	do {
		size_t n = letters_copy(&data, chunk, sizeof(chunk));

		printf("\033_G%sm=%d;%.*s\033\\", first, data.len > 0, (int)n, chunk);
		first = "";
	} while (data.len);
	putchar('\n');
}

static void iterm_show(struct mp_str data)
{
	char chunk[KITTY_CHUNK] = {0};

	fputs("\033]1337;File=inline=1:", stdout);
	while (data.len)
		fwrite(chunk, 1, letters_copy(&data, chunk, sizeof(chunk)), stdout);
	fputs("\a\n", stdout);
}

/* False: it cannot be decoded, or memory is short. */
static bool sixel_show(struct mp_str data)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf bytes, sixels;
	MP_CLEANUP(mp_png_done) struct mp_png image = {.rgba = NULL};
	int r;

	mp_buf_init(&bytes, MP_LIMIT_MESSAGE);
	mp_buf_init(&sixels, MP_LIMIT_IMAGE);
	r = base64_add(data, &bytes);
	if (r == 0)
		r = mp_png_read(mp_buf_get(&bytes), &image, NULL);
	if (r == 0)
		r = mp_sixel_write(&image, mp_terminal_get_pixels(), &sixels);
	if (r < 0)
		return false;
	fwrite(sixels.data, 1, sixels.len, stdout);
	putchar('\n');
	return true;
}

static bool media_draw(const struct media *m)
{
	bool is_png = mp_str_eq(m->mime, MP_STR("image/png"));

	if (strcmp(m->what, "image") != 0 || mp_safe_is_plain())
		return false;
	if (has_kitty_images() && is_png)
		kitty_show(m->data);
	else if (has_iterm_images())
		iterm_show(m->data);
	else
		return is_png && mp_terminal_has_sixels() && sixel_show(m->data);
	return true;
}

/* "png" of "image/png"; "bin" if it is not a plain word. */
static void write_extension(struct mp_str mime, char *out, size_t size)
{
	ptrdiff_t at = mp_str_find(mime, MP_STR("/"), 0);
	size_t n = 0;

	for (size_t i = (size_t)(at + 1); at >= 0 && i < mime.len && n + 1 < size; i++) {
		char c = mime.p[i];

		if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')))
			break;
		out[n++] = c;
	}
	out[n] = '\0';
	if (n == 0)
		snprintf(out, size, "bin");
}

static void media_name(const struct media *m)
{
	char uri[MP_RESULT_URI], extension[16];
	struct mcpool_error why;

	write_extension(m->mime, extension, sizeof(extension));
	if (mp_results_keep(m->data, m->mime.len ? m->mime : MP_STR("application/octet-stream"),
			    uri, &why) < 0)
		fprintf(stderr, "mcpool: the %s is not shown; --save FILE saves it\n", m->what);
	else
		fprintf(stderr, "mcpool: the %s is kept for an hour: mcpool read %s >%s.%s\n",
			m->what, uri, m->what, extension);
}

void mp_media_show(struct mp_str result)
{
	struct walk w;
	struct media m;

	if (!mp_print_is_terminal())
		return;
	if (walk_begin(&w, result))
		MP_VALUE_EACH(&w.t, mp_value_get(&w.t, MP_ROOT, "content"), block)
			if (media_read(&w, block, &m) && !media_draw(&m))
				media_name(&m);
	walk_end(&w);
}

/* --- into files ------------------------------------------------------------------------------ */

/* "a/b.png" is for the first, "a/b-2.png" for the second. */
static void write_name(const char *file, size_t n, char *out, size_t size)
{
	const char *slash = strrchr(file, '/'), *dot = strrchr(file, '.');
	bool has_dot = dot && dot > (slash ? slash + 1 : file);
	size_t stem = has_dot ? (size_t)(dot - file) : strlen(file);

	if (n == 1)
		snprintf(out, size, "%s", file);
	else
		snprintf(out, size, "%.*s-%zu%s", (int)stem, file, n, has_dot ? dot : "");
}

static int save_failed(const char *name)
{
	mp_cli_complain("cannot write %s: %s", name, strerror(errno));
	return MP_EXIT_CONFIG;
}

static int save_one(const char *name, struct mp_str content, bool is_encoded)
{
	FILE *to = fopen(name, "we");
	long bytes;

	if (!to)
		return save_failed(name);
	if (is_encoded)
		mp_media_decode(content, to);
	else
		fwrite(content.p, 1, content.len, to);
	bytes = ftell(to);
	if (ferror(to) | (fclose(to) != 0))
		return save_failed(name);
	fprintf(stderr, "mcpool: saved %s, %ld bytes\n", name, bytes);
	return MP_EXIT_DONE;
}

int mp_media_save(struct mp_str result, struct mp_str text, const char *file)
{
	char name[4096];
	int exit_code = MP_EXIT_DONE;
	size_t n = 0;
	struct walk w;
	struct media m;

	if (walk_begin(&w, result))
		MP_VALUE_EACH(&w.t, mp_value_get(&w.t, MP_ROOT, "content"), block) {
			if (exit_code != MP_EXIT_DONE || !media_read(&w, block, &m))
				continue;
			write_name(file, ++n, name, sizeof(name));
			exit_code = save_one(name, m.data, true);
		}
	walk_end(&w);
	return n || exit_code != MP_EXIT_DONE ? exit_code : save_one(file, text, false);
}
