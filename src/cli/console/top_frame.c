/*
 * top_frame.c - the lines of one picture of `top`.
 */
#include "cli/console/top_frame.h"

#include <stdarg.h>
#include <string.h>

#include "base/limits.h"
#include "cli/display/safe.h"

void mp_top_frame_take(struct mp_top_frame *f, int r)
{
	if (f->error == 0 && r < 0)
		f->error = r;
}

void mp_top_frame_add(struct mp_top_frame *f, const char *color, struct mp_str text)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf safe;
	struct mp_str mark = mp_safe_get_cut_mark(), line;
	size_t columns = f->view->room.columns;
	bool is_cut, has_color = color[0] && (f->view->room.has_color || color[2] == '1');

	mp_buf_init(&safe, MP_MIB(1));
	mp_top_frame_take(f, mp_safe_add(&safe, text, MP_SAFE_TEXT)); /* it keeps our columns */
	for (size_t i = 0; i < safe.len; i++)
		if (safe.data[i] == '\n' || safe.data[i] == '\t')
			safe.data[i] = ' ';
	line = mp_buf_get(&safe);
	is_cut = mp_safe_get_width(line) > columns;
	if (is_cut)
		line.len = mp_safe_cut(line, columns - mp_safe_get_width(mark));
	mp_top_frame_take(f, mp_buf_addf(f->out, "%s%.*s%s%s\n", has_color ? color : "",
					 MP_STR_ARGS(line), is_cut ? mark.p : "",
					 has_color ? "\033[0m" : ""));
}

void mp_top_frame_addf(struct mp_top_frame *f, const char *color, const char *format, ...)
{
	char text[4096];
	va_list args;

	va_start(args, format);
	(void)mp_str_format(text, sizeof(text), format, args); /* may be truncated */
	va_end(args);
	mp_top_frame_add(f, color, mp_str_of(text));
}

size_t mp_top_count_lines(struct mp_str text)
{
	size_t n = 0;

	for (size_t i = 0; i < text.len; i++)
		n += text.p[i] == '\n';
	return n;
}

void mp_top_frame_fill(struct mp_top_frame *f, size_t lines)
{
	for (size_t n = mp_top_count_lines(mp_buf_get(f->out)); n < lines; n++)
		mp_top_frame_take(f, mp_buf_add_char(f->out, '\n'));
}
