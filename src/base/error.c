/*
 * error.c - codes, their names, and mp_fail().
 * The codes are one table in the public header; everything here is read off it.
 */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"

struct row {
	int code;
	int rpc_code;
	const char *name;
	const char *word;
	const char *sentence;
};

static const struct row rows[] = {
#define ROW(name, number, rpc, word, sentence) {-(number), rpc, "MCPOOL_E" #name, word, sentence},
	MCPOOL_ERRORS(ROW)
#undef ROW
};

static const struct row ok = {0, 0, "MCPOOL_OK", "ok", "all is well"};
static const struct row unknown = {0, -32603, "MCPOOL_E?", "unknown", "an unknown error"};

static const struct row *error_find(int code)
{
	if (code == 0)
		return &ok;
	for (size_t i = 0; i < MP_ARRAY_LEN(rows); i++)
		if (rows[i].code == code)
			return &rows[i];
	return &unknown;
}

const char *mcpool_error_name(int code)
{
	return error_find(code)->name;
}

const char *mcpool_error_text(int code)
{
	return error_find(code)->sentence;
}

const char *mcpool_error_word(int code)
{
	return error_find(code)->word;
}

void mp_error_keep(struct mcpool_error **kept, const struct mcpool_error *why)
{
	if (!*kept)
		*kept = mp_alloc(sizeof(**kept));
	**kept = *why;
}

/* --- what broke ------------------------------------------------------------------------------ */

const char *mp_fault_get_name(enum mcpool_fault fault)
{
	static const char *const names[] = {
#define X(name, word) word,
		MCPOOL_FAULTS(X)
#undef X
	};

	return names[fault];
}

static enum mcpool_fault fault_of_code(int code)
{
	switch (code) {
	case MCPOOL_ETIMEDOUT:
	case MCPOOL_ECALL_TIMEOUT:
		return MCPOOL_FAULT_TIMEOUT;
	case MCPOOL_ECLOSED:
		return MCPOOL_FAULT_END;
	case MCPOOL_EPARSE:
	case MCPOOL_EPROTO:
	case MCPOOL_ETYPE:
	case MCPOOL_ETOO_LARGE:
		return MCPOOL_FAULT_MALFORMED;
	case MCPOOL_ENEEDS_AUTH:
		return MCPOOL_FAULT_HTTP_STATUS;
	case MCPOOL_ECANCELED:
	case MCPOOL_EQUEUE_FULL:
	case MCPOOL_ENEEDS_APPROVAL:
	case MCPOOL_EDISABLED:
	case MCPOOL_ENO_OWNER:
		return MCPOOL_FAULT_CLOSED;
	default:
		return MCPOOL_FAULT_UNKNOWN;
	}
}

enum mcpool_fault mp_error_get_fault(const struct mcpool_error *why)
{
	return why->fault ? (enum mcpool_fault)why->fault : fault_of_code(why->code);
}

static enum mcpool_fault fault_of_errno(int errnum)
{
	switch (errnum) {
	case EPIPE:
	case ECONNRESET:
	case ECONNABORTED:
		return MCPOOL_FAULT_RESET;
	case ETIMEDOUT:
		return MCPOOL_FAULT_TIMEOUT;
	case ECONNREFUSED:
	case EHOSTUNREACH:
	case ENETUNREACH:
		return MCPOOL_FAULT_CONNECT;
	case EMFILE:
	case ENFILE:
		return MCPOOL_FAULT_LIMIT;
	default:
		return MCPOOL_FAULT_UNKNOWN;
	}
}

/* --- filling in ------------------------------------------------------------------------------ */

int mp_error_get_rpc_code(int code)
{
	return error_find(code)->rpc_code;
}

static void MP_PRINTF(3, 0)
	error_fill(struct mcpool_error *e, int code, const char *format, va_list args)
{
	e->code = code;
	e->rpc_code = mp_error_get_rpc_code(code);
	e->retry_ms = 0;
	e->fault = MCPOOL_FAULT_UNKNOWN;
	(void)mp_str_format(e->message, sizeof(e->message), format, args); /* cut is fine */
}

int mp_fail(struct mcpool_error *reterr, int code, const char *format, ...)
{
	va_list args;

	mp_check(code < 0);
	if (reterr) {
		va_start(args, format);
		error_fill(reterr, code, format, args);
		va_end(args);
	}
	return code;
}

int mp_fail_because(struct mcpool_error *reterr, int code, const struct mcpool_error *why,
		    const char *format, ...)
{
	enum mcpool_fault fault = mp_error_get_fault(why);
	int retry_ms = why->retry_ms;
	struct mcpool_error whole;
	va_list args;

	mp_check(code < 0);
	if (!reterr)
		return code;
	va_start(args, format);
	error_fill(&whole, code, format, args); /* the words may be those of reterr */
	va_end(args);
	*reterr = whole;
	reterr->retry_ms = retry_ms;
	reterr->fault = (int)fault;
	return code;
}

int mp_fail_errno(struct mcpool_error *reterr, int errnum, const char *format, ...)
{
	const char *words = strerrordesc_np(errnum); /* in English, whatever the host's locale */
	char what[320]; /* so that the words behind it always have room */
	va_list args;

	if (!reterr)
		return MCPOOL_ESYSTEM;
	va_start(args, format);
	(void)mp_str_format(what, sizeof(what), format, args); /* cut is fine */
	va_end(args);
	if (words)
		(void)mp_fail(reterr, MCPOOL_ESYSTEM, "%s: %s", what, words);
	else
		(void)mp_fail(reterr, MCPOOL_ESYSTEM, "%s: error %d", what, errnum);
	reterr->fault = (int)fault_of_errno(errnum);
	return MCPOOL_ESYSTEM;
}

void mp_check_failed(const char *promise, const char *file, int line, const char *func)
{
	fprintf(stderr, "mcpool: broken promise: %s (%s:%d, %s). Please report this.\n", promise,
		file, line, func);
	abort();
}
