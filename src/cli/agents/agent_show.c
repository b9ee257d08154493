/*
 * agent_show.c - previews a change of an agent's file.
 * The change is in one place, so equal lines at both ends are left out.
 */
#include "cli/agents/agent_show.h"

#include <string.h>

#include "base/limits.h"
#include "base/redact.h"
#include "base/shell.h"
#include "cli/display/safe.h"

/* The first line, with its end. */
static struct mp_str first_line(struct mp_str text)
{
	const char *end = text.len ? memchr(text.p, '\n', text.len) : NULL;

	return (struct mp_str){text.p, end ? (size_t)(end - text.p) + 1 : text.len};
}

static struct mp_str last_line(struct mp_str text)
{
	size_t at = text.len;

	while (at > 0 && (at == text.len || text.p[at - 1] != '\n'))
		at--;
	return (struct mp_str){text.p + at, text.len - at};
}

static void cut_first(struct mp_str *text, size_t n)
{
	*text = (struct mp_str){text->p + n, text->len - n};
}

/* Cut off equal lines at the beginning and at the end. */
static void cut_same(struct mp_str *old, struct mp_str *new)
{
	while (old->len && new->len && mp_str_eq(first_line(*old), first_line(*new))) {
		size_t n = first_line(*old).len;

		cut_first(old, n);
		cut_first(new, n);
	}
	while (old->len && new->len && mp_str_eq(last_line(*old), last_line(*new))) {
		size_t n = last_line(*old).len;

		old->len -= n;
		new->len -= n;
	}
}

static int add_line(struct mp_buf *out, const char *sign, struct mp_str line)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf clean;
	int r;

	mp_buf_init(&clean, MP_LIMIT_OWN_FILE * 4);
	while (line.len && strchr("\r\n", line.p[line.len - 1]))
		line.len--;
	r = mp_redact(line, false, &clean);
	if (r == 0)
		r = mp_buf_addf(out, "  %s ", sign);
	if (r == 0)
		r = mp_safe_add(out, mp_buf_get(&clean), MP_SAFE_TEXT);
	return r < 0 ? r : mp_buf_add_str(out, MP_STR("\n"));
}

static int add_lines(struct mp_buf *out, const char *sign, struct mp_str text)
{
	int r = 0;

	while (r == 0 && text.len) {
		struct mp_str line = first_line(text);

		r = add_line(out, sign, line);
		cut_first(&text, line.len);
	}
	return r;
}

int mp_agent_show_diff(struct mp_str old, struct mp_str new, struct mp_buf *out)
{
	int r;

	cut_same(&old, &new);
	r = add_lines(out, "-", old);
	return r < 0 ? r : add_lines(out, "+", new);
}

/* --- a command ------------------------------------------------------------------------------- */

int mp_agent_show_command(const char *const *argv, struct mp_buf *out)
{
	int r = 0;

	for (size_t i = 0; r == 0 && argv[i]; i++) {
		if (i > 0)
			r = mp_buf_add_str(out, MP_STR(" "));
		if (r == 0)
			r = mp_shell_add_word(out, mp_str_of(argv[i]));
	}
	return r;
}
