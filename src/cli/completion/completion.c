/*
 * completion.c - compares the words typed so far with the row of their verb.
 * `arguments` is alternatives, parted by |, of words: one in capitals stands for something, one
 * in small letters for itself, `...` repeats; brackets only say what may be left out.
 */
#include "cli/completion/completion.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"

#define CAPITALS "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

void mp_completion_add(struct mp_completion *c, struct mp_str candidate, struct mp_str about)
{
	if (candidate.len == 0 || !mp_str_starts(candidate, mp_str_of(c->typed)))
		return;
	for (size_t i = 0; i < candidate.len; i++)
		if ((unsigned char)candidate.p[i] <= ' ' || candidate.p[i] == 0x7f ||
		    strchr("'\"\\$`;&|<>()", candidate.p[i]))
			return;
	for (size_t i = 0; i < about.len; i++)
		if ((unsigned char)about.p[i] < ' ' || about.p[i] == 0x7f)
			about.len = i; /* its first line */
	if (mp_buf_addf(&c->out, "%.*s\t%.*s\n", MP_STR_ARGS(candidate),
			(int)(about.len < 80 ? about.len : 80), about.p) < 0)
		mp_buf_clear(&c->out);
}

/* --- words of a row -------------------------------------------------------------------------- */

/* The next word of an alternative, without brackets; empty: it ends. */
static struct mp_str next_word(const char **at)
{
	const char *from;

	*at += strspn(*at, " []()");
	if (**at == '|' || **at == '\0')
		return (struct mp_str){0};
	from = *at;
	*at += strcspn(*at, " |[]()");
	return (struct mp_str){from, (size_t)(*at - from)};
}

static bool is_placeholder(struct mp_str word)
{
	return word.len && strchr(CAPITALS, word.p[0]);
}

static struct mp_str without_dots(struct mp_str word, bool *ret_repeats)
{
	*ret_repeats = word.len > 3 && memcmp(word.p + word.len - 3, "...", 3) == 0;
	if (*ret_repeats)
		word.len -= 3;
	return word;
}

/* --- options --------------------------------------------------------------------------------- */

/* A line of a verb's help: "  --timeout TIME   give up when ...", "  --yes, -y  do not ask". */
struct option_line {
	struct mp_str name, value, about; /* value: its word in capitals, or empty */
};

static bool option_read(const char **at, struct option_line *ret)
{
	const char *end = strchr(*at, '\n'), *p = *at;
	size_t n;

	if (!end)
		return false;
	*at = end + 1;
	*ret = (struct option_line){0};
	if (strncmp(p, "  -", 3) != 0)
		return true; /* the line before goes on */
	ret->name = (struct mp_str){p + 2, strcspn(p + 2, " ,\n")};
	p += 2 + ret->name.len;
	if (strncmp(p, ", -", 3) == 0)
		p += 2 + strcspn(p + 2, " \n");
	if (p[0] == ' ' && strchr(CAPITALS "[", p[1])) {
		p += strspn(p, " [");
		n = strspn(p, CAPITALS);
		ret->value = (struct mp_str){p, n};
		p += strcspn(p, " \n");
	}
	p += strspn(p, " ");
	ret->about = (struct mp_str){p, p < end ? (size_t)(end - p) : 0};
	return true;
}

static void completion_add_options(struct mp_completion *c)
{
	const char *at = c->verb->options ? c->verb->options : "";
	struct option_line o;

	while (option_read(&at, &o))
		mp_completion_add(c, o.name, o.about);
	mp_completion_add(c, MP_STR("--help"), MP_STR("what the verb does, and its options"));
}

/* The word in capitals of the option; empty: it takes no value, or is none of this verb. */
static struct mp_str completion_get_value(const struct mp_completion *c, const char *option)
{
	const char *at = c->verb->options ? c->verb->options : "";
	struct option_line o;

	while (option_read(&at, &o))
		if (mp_str_eq(o.name, mp_str_of(option)))
			return o.value;
	return (struct mp_str){0};
}

/* --- arguments ------------------------------------------------------------------------------- */

/* The arguments before the one being typed, without options and their values. */
struct positions {
	const char *words[64];
	size_t n;
};

static void completion_find_positions(const struct mp_completion *c, struct positions *ret)
{
	ret->n = 0;
	for (int i = 1; i + 1 < c->n; i++) {
		const char *word = c->words[i];

		if (word[0] == '-' && word[1])
			i += completion_get_value(c, word).len > 0;
		else if (ret->n < MP_ARRAY_LEN(ret->words))
			ret->words[ret->n++] = word;
	}
}

/* Words that stand for an option or a command are not arguments. */
static bool is_argument(struct mp_str word, const char **at)
{
	if (word.p[0] != '-')
		return true;
	if (mp_str_eq(word, MP_STR("--"))) {
		*at += strcspn(*at, "|"); /* a command, to the end */
		return false;
	}
	if ((*at)[0] == ' ' && strchr(CAPITALS, (*at)[1]))
		(void)next_word(at);
	return false;
}

static void completion_add_word(struct mp_completion *c, struct mp_str word)
{
	if (!is_placeholder(word))
		mp_completion_add(c, word, (struct mp_str){0});
	else
		mp_completion_add_names(c, word);
}

/* What this alternative has behind the words that are there. */
static void completion_try(struct mp_completion *c, const char **at, const struct positions *before)
{
	struct mp_str word, repeated = {0};
	bool repeats;
	size_t i = 0;

	while ((word = next_word(at)).len) {
		if (!is_argument(word, at))
			continue;
		word = without_dots(word, &repeats);
		if (repeats)
			repeated = word;
		if (i == before->n) {
			completion_add_word(c, word);
			*at += strcspn(*at, "|");
			return;
		}
		if (!is_placeholder(word) && !mp_str_eq(word, mp_str_of(before->words[i]))) {
			*at += strcspn(*at, "|");
			return;
		}
		i++;
	}
	if (repeated.len)
		completion_add_word(c, repeated);
}

static void completion_add_arguments(struct mp_completion *c)
{
	const char *at = c->verb->arguments;
	struct positions before;

	completion_find_positions(c, &before);
	while (*at) {
		completion_try(c, &at, &before);
		at += *at == '|';
	}
}

/* --- the line -------------------------------------------------------------------------------- */

static const struct mp_verb *completion_find_verb(const struct mp_completion *c, const char *name)
{
	for (size_t i = 0; c->verbs[i]; i++)
		if (strcmp(c->verbs[i]->name, name) == 0)
			return c->verbs[i];
	return NULL;
}

static bool has_command(const struct mp_completion *c)
{
	for (int i = 1; i + 1 < c->n; i++)
		if (strcmp(c->words[i], "--") == 0)
			return true;
	return false;
}

static void completion_fill(struct mp_completion *c)
{
	struct mp_str value = {0};

	c->typed = c->words[c->n - 1];
	if (c->n == 1) {
		for (size_t i = 0; c->verbs[i]; i++)
			mp_completion_add(c, mp_str_of(c->verbs[i]->name),
					  mp_str_of(c->verbs[i]->summary));
		return;
	}
	c->verb = completion_find_verb(c, c->words[0]);
	if (!c->verb)
		return;
	if (c->n > 2)
		value = completion_get_value(c, c->words[c->n - 2]);
	if (has_command(c))
		mp_completion_add_names(c, MP_STR("FILE"));
	else if (value.len)
		mp_completion_add_names(c, value);
	else if (c->typed[0] == '-')
		completion_add_options(c);
	else
		completion_add_arguments(c);
}

/* While a line is typed nothing may be printed between its words. */
static void silence_stderr(void)
{
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (fd >= 0) {
		(void)dup2(fd, STDERR_FILENO);
		close(fd);
	}
}

int mp_completion_run(const struct mp_verb *const *verbs, int n, char **words)
{
	struct mp_completion c = {.verbs = verbs, .words = words, .n = n};

	mp_buf_init(&c.out, MP_LIMIT_MESSAGE);
	if (n > 0) {
		silence_stderr();
		completion_fill(&c);
	}
	fwrite(mp_buf_get(&c.out).p, 1, c.out.len, stdout);
	mp_buf_done(&c.out);
	return mp_print_finish(MP_EXIT_DONE);
}
