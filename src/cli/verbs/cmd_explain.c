/*
 * cmd_explain.c - `mcpool explain`: the page of one code, a list of all, and the manual page.
 */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/similar.h"
#include "cli/verbs/explanations.h"
#include "cli/verbs/verbs.h"
#include "json/write.h"

static int run_explain(const struct mp_verb *verb, int argc, char **argv);
static const char *const list_of_codes[] = {"codes", NULL};

const struct mp_verb mp_verb_explain = {
	"explain",
	"[CODE]",
	"What an error means: likely causes, and what to type for each.",
	"  --json           one JSON object instead of text for people\n",
	"CODE is what an error has in `data.code`, or its number: mcp_unavailable, 1005. Without\n"
	"one the codes are listed. The same pages are mcpool-errors(7).\n",
	run_explain,
	list_of_codes,
	MP_VERB_PLAIN,
};

static void explain_print(const struct mp_explanation *e)
{
	printf("%s (%d): %s.\n\n%s\n\nUsual causes, most frequent first:\n",
	       mcpool_error_word(e->code), -e->code, mcpool_error_text(e->code), e->happened);
	for (const struct mp_explanation_cause *c = e->causes; c->cause; c++)
		printf("  - %s\n      %s\n", c->cause, c->step);
}

static void explain_list(void)
{
	for (size_t i = 0; i < mp_explanation_count(); i++) {
		const struct mp_explanation *e = mp_explanation_get(i);

		printf("%-24s %4d  %s\n", mcpool_error_word(e->code), -e->code,
		       mcpool_error_text(e->code));
	}
	puts("\n`mcpool explain CODE` tells more about one.");
}

/* --- JSON ------------------------------------------------------------------------------------ */

static void explain_write(struct mp_writer *w, const struct mp_explanation *e)
{
	mp_write_begin_object(w);
	mp_write_member_text(w, "code", mp_str_of(mcpool_error_word(e->code)));
	mp_write_member_i64(w, "number", -e->code);
	mp_write_member_i64(w, "rpcCode", mp_error_get_rpc_code(e->code));
	mp_write_member_text(w, "sentence", mp_str_of(mcpool_error_text(e->code)));
	mp_write_member_text(w, "happened", mp_str_of(e->happened));
	mp_write_key(w, MP_STR("causes"));
	mp_write_begin_array(w);
	for (const struct mp_explanation_cause *c = e->causes; c->cause; c++) {
		mp_write_begin_object(w);
		mp_write_member_text(w, "cause", mp_str_of(c->cause));
		mp_write_member_text(w, "step", mp_str_of(c->step));
		mp_write_end_object(w);
	}
	mp_write_end_array(w);
	mp_write_end_object(w);
}

/* one: NULL: all. */
static void explain_print_json(const struct mp_explanation *one)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;

	mp_buf_init(&text, MP_KIB(256));
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	mp_write_key(&w, MP_STR("codes"));
	mp_write_begin_array(&w);
	for (size_t i = 0; i < mp_explanation_count(); i++)
		if (!one || one == mp_explanation_get(i))
			explain_write(&w, mp_explanation_get(i));
	mp_write_end_array(&w);
	mp_write_end_object(&w);
	if (mp_write_finish(&w) == 0)
		mp_print_json(mp_buf_get(&text));
}

/* --- the manual page ------------------------------------------------------------------------- */

/* As troff takes it. */
static void manual_print(const char *text)
{
	if (*text == '.' || *text == '\'')
		fputs("\\&", stdout);
	for (; *text; text++)
		switch (*text) {
		case '\\':
			fputs("\\e", stdout);
			break;
		case '-':
			fputs("\\-", stdout);
			break;
		default:
			putchar(*text);
		}
	putchar('\n');
}

int mp_explain_print_manual(void)
{
	puts(".\\\" Made by tools/write-manual from src/cli/verbs/explanations.c.\n"
	     ".TH MCPOOL\\-ERRORS 7 \"\" \"mcpool\" \"mcpool\"\n.SH NAME\n"
	     "mcpool\\-errors \\- codes of errors, their causes, and what to type\n"
	     ".SH DESCRIPTION\nAn error of mcpool carries one of these codes in\n"
	     ".BR data.code ;\n.B mcpool explain\n.I CODE\nshows the same text.");
	for (size_t i = 0; i < mp_explanation_count(); i++) {
		const struct mp_explanation *e = mp_explanation_get(i);

		printf(".SH %s (%d)\n", mcpool_error_word(e->code), -e->code);
		manual_print(mcpool_error_text(e->code));
		puts(".PP");
		manual_print(e->happened);
		for (const struct mp_explanation_cause *c = e->causes; c->cause; c++) {
			puts(".TP 2");
			manual_print(c->cause);
			manual_print(c->step);
		}
	}
	puts(".SH SEE ALSO\n.BR mcpool (1),\n.BR mcpool\\-config (5)");
	return mp_print_finish(MP_EXIT_DONE);
}

/* --- the verb -------------------------------------------------------------------------------- */

static int explain_refuse(const char *code)
{
	const char *names[64], *like;
	size_t n = 0;

	for (; n < mp_explanation_count() && n < MP_ARRAY_LEN(names); n++)
		names[n] = mcpool_error_word(mp_explanation_get(n)->code);
	like = mp_similar_find(code, names, n);
	mp_cli_complain_as(MCPOOL_ENOENT,
			   "there is no code '%s'.%s%s%s `mcpool explain` lists them.", code,
			   like ? " Did you mean '" : "", like ? like : "", like ? "'?" : "");
	return MP_EXIT_NOT_FOUND;
}

static int run_explain(const struct mp_verb *verb, int argc, char **argv)
{
	const struct mp_explanation *e = NULL;
	struct mp_cli_args args;
	int r = mp_cli_read_args(verb, argc, argv, 0, 1, &args);

	if (r)
		return r - 1;
	if (args.n_words && !(e = mp_explanation_find(args.words[0])))
		return explain_refuse(args.words[0]);
	if (args.json)
		explain_print_json(e);
	else if (e)
		explain_print(e);
	else
		explain_list();
	return mp_print_finish(MP_EXIT_DONE);
}
