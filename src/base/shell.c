/*
 * shell.c - words of commands that people paste into a shell.
 */
#include "base/shell.h"

#include <stdio.h>
#include <string.h>

static bool is_plain(struct mp_str word)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789_-./:=@%+,";

	for (size_t i = 0; i < word.len; i++)
		if (!memchr(plain, word.p[i], sizeof(plain) - 1))
			return false;
	return word.len > 0;
}

int mp_shell_add_word(struct mp_buf *out, struct mp_str word)
{
	int r;

	if (is_plain(word))
		return mp_buf_add_str(out, word);
	r = mp_buf_add_char(out, '\'');
	for (size_t i = 0; i < word.len && r == 0; i++)
		r = word.p[i] == '\'' ? mp_buf_add_str(out, MP_STR("'\\''"))
				      : mp_buf_add_char(out, word.p[i]);
	return r < 0 ? r : mp_buf_add_char(out, '\'');
}

const char *mp_shell_write_name(const char *name, char out[MP_SHELL_NAME_SIZE])
{
	MP_CLEANUP(mp_buf_done) struct mp_buf word;

	mp_buf_init(&word, MP_SHELL_NAME_SIZE - 1);
	out[0] = '\0';
	if (name[0] != '-' && mp_shell_add_word(&word, mp_str_of(name)) == 0)
		snprintf(out, MP_SHELL_NAME_SIZE, "%.*s", (int)word.len, word.data);
	return out;
}
