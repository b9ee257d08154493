/*
 * explanations.c - finds the page of an error's code.
 */
#include "cli/verbs/explanations.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base.h"

static const struct mp_explanation pages[] = {
/* clang-format off */
#define PAGE(name, happened) {MCPOOL_E##name, happened, {
#define CAUSE(cause, step)   {cause, step},
#define END                  }},
#include "cli/verbs/explanations.def"
#undef PAGE
#undef CAUSE
#undef END
	/* clang-format on */
};

size_t mp_explanation_count(void)
{
	return MP_ARRAY_LEN(pages);
}

const struct mp_explanation *mp_explanation_get(size_t i)
{
	return &pages[i];
}

/* Numbers are written as they are, or negative, as in C. */
static bool is_number_of(int code, const char *text)
{
	char *end;
	long n = strtol(text, &end, 10);

	return end != text && !*end && (n == code || n == -(long)code);
}

const struct mp_explanation *mp_explanation_find(const char *text)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(pages); i++) {
		const char *word = mcpool_error_word(pages[i].code);
		const char *bare = strncmp(word, "mcp_", 4) == 0 ? word + 4 : word;

		if (strcasecmp(text, word) == 0 || strcasecmp(text, bare) == 0 ||
		    strcasecmp(text, mcpool_error_name(pages[i].code)) == 0 ||
		    is_number_of(pages[i].code, text))
			return &pages[i];
	}
	return NULL;
}
