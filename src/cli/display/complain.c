/*
 * complain.c - error messages on stderr; with --json also as an object on stdout.
 * A process runs one command, so the last message is the reason for its failure.
 */
#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "cli/display/cli.h"
#include "cli/display/safe.h"
#include "json/write.h"

static struct mcpool_error last; /* code 0: derived from the exit code */

static void MP_PRINTF(2, 0) complain_complain(int code, const char *format, va_list args)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text, safe;

	mp_buf_init(&text, 1 << 20);
	mp_buf_init(&safe, 8 << 20);
	if (mp_buf_addv(&text, format, args) < 0)
		mp_buf_clear(&text);
	(void)mp_fail(&last, code ? code : MCPOOL_EINVAL, "%.*s", MP_STR_ARGS(mp_buf_get(&text)));
	last.code = code;
	if (text.len && mp_safe_add(&safe, mp_buf_get(&text), MP_SAFE_TEXT) == 0)
		fprintf(stderr, "mcpool: %.*s\n", MP_STR_ARGS(mp_buf_get(&safe)));
}

void mp_cli_complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain_complain(0, format, args);
	va_end(args);
}

void mp_cli_complain_as(int code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	complain_complain(code, format, args);
	va_end(args);
}

const char *mp_cli_get_complaint(void)
{
	return last.message;
}

int mp_cli_exit_code(const struct mcpool_error *why)
{
	switch (why->code) {
	case MCPOOL_ETIMEDOUT:
	case MCPOOL_ECALL_TIMEOUT:
		return MP_EXIT_TIMEOUT;
	case MCPOOL_EPROTO:
	case MCPOOL_EPARSE:
	case MCPOOL_ELIMIT:
	case MCPOOL_ETOO_LARGE:
	case MCPOOL_EOUTCOME_UNKNOWN:
		return MP_EXIT_PROTOCOL;
	case MCPOOL_EINVAL:
		return MP_EXIT_USAGE;
	case MCPOOL_ENOENT:
		return MP_EXIT_NOT_FOUND;
	case MCPOOL_ECANCELED:
		return MP_EXIT_INTERRUPTED;
	case MCPOOL_ENEEDS_APPROVAL:
		return MP_EXIT_NEEDS_APPROVAL;
	case MCPOOL_ENEEDS_AUTH:
		return MP_EXIT_NEEDS_AUTH;
	case MCPOOL_EDISABLED:
		return MP_EXIT_CONFIG;
	default:
		return MP_EXIT_START;
	}
}

int mp_cli_code_of(int exit_code)
{
	switch (exit_code) {
	case MP_EXIT_START:
		return MCPOOL_EUNAVAILABLE;
	case MP_EXIT_PROTOCOL:
		return MCPOOL_EPROTO;
	case MP_EXIT_TIMEOUT:
		return MCPOOL_ECALL_TIMEOUT;
	case MP_EXIT_NEEDS_APPROVAL:
		return MCPOOL_ENEEDS_APPROVAL;
	case MP_EXIT_NEEDS_AUTH:
		return MCPOOL_ENEEDS_AUTH;
	case MP_EXIT_NOT_FOUND:
		return MCPOOL_ENOENT;
	case MP_EXIT_INTERRUPTED:
		return MCPOOL_ECANCELED;
	default:
		return MCPOOL_EINVAL;
	}
}

void mp_cli_print_failure(int exit_code)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mcpool_error why;
	struct mp_writer w;

	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	if (mp_print_has_json())
		return;
	(void)mp_fail(&why, last.code ? last.code : mp_cli_code_of(exit_code), "%s", last.message);
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	mp_write_key(&w, MP_STR("error"));
	mp_write_begin_object(&w);
	mp_write_member_i64(&w, "code", why.rpc_code);
	mp_write_member_text(&w, "message", mp_str_of(why.message));
	mp_write_key(&w, MP_STR("data"));
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "code", mp_str_of(mcpool_error_word(why.code)));
	mp_write_end_object(&w);
	mp_write_end_object(&w);
	mp_write_end_object(&w);
	if (mp_write_finish(&w) == 0)
		mp_print_json(mp_buf_get(&text));
}
