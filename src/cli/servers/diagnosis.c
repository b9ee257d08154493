/*
 * diagnosis.c - what the status of a server means for a command that needs it.
 */
#include "cli/servers/diagnosis.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/shell.h"
#include "cli/display/cli.h"
#include "pool/cause.h"
#include "session/failed_call.h"

/* A missing command is neither a missing tool nor a usage error. */
static int code_of(const struct mp_status *status)
{
	struct mcpool_error why = {.code = (int)status->code};

	if (!status->instance)
		return MP_EXIT_CONFIG; /* the entry is invalid, or one of its values is missing */
	if (why.code == MCPOOL_ENOENT || why.code == MCPOOL_EINVAL)
		return MP_EXIT_START;
	return mp_cli_exit_code(&why);
}

void mp_diagnosis_read(const struct mp_status *status, int64_t waited_ms, struct mp_diagnosis *ret)
{
	*ret = (struct mp_diagnosis){.status = status, .exit_code = MP_EXIT_START};
	snprintf(ret->message, sizeof(ret->message), "%s", status->message);
	switch (status->state) {
	case MP_STATUS_CONNECTED:
	case MP_STATUS_READY:
		ret->is_listed = status->tools >= 0;
		ret->exit_code = MP_EXIT_DONE;
		break;
	case MP_STATUS_PENDING:
		snprintf(ret->message, sizeof(ret->message), "not ready within %g s (%s)",
			 (double)waited_ms / 1000, status->detail);
		ret->exit_code = MP_EXIT_TIMEOUT;
		break;
	case MP_STATUS_FAILED:
		ret->exit_code = code_of(status);
		break;
	case MP_STATUS_DISABLED:
		ret->is_off = true;
		ret->exit_code = MP_EXIT_CONFIG;
		break;
	case MP_STATUS_NEEDS_APPROVAL:
		ret->is_waiting = true;
		ret->exit_code = MP_EXIT_NEEDS_APPROVAL;
		if (!status->message[0])
			snprintf(ret->message, sizeof(ret->message),
				 "it waits for your approval: mcpool trust %s",
				 MP_SHELL_NAME(status->name));
		break;
	case MP_STATUS_NEEDS_AUTH:
		ret->exit_code = MP_EXIT_NEEDS_AUTH;
		break;
	case MP_STATUS_SHADOWED:
	case MP_STATUS_STATE_COUNT:
		break;
	}
}

struct mcpool_error mp_diagnosis_explain(const struct mp_diagnosis *d)
{
	struct mcpool_error why;

	(void)mp_fail(&why, mp_cli_code_of(d->exit_code),
		      "MCP error: Failed to connect to \"%s\": %s", d->status->name, d->message);
	why.fault = d->status->state == MP_STATUS_PENDING ? (int)MCPOOL_FAULT_TIMEOUT
							  : (int)d->status->fault;
	return why;
}

/* Where the words of the failure are known. */
static void diagnosis_complain_cause(const struct mp_diagnosis *d)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	const char *tool = d->status->source.tool;
	struct mp_symptoms s = {
		.server = d->status->name,
		.is_ours = tool && strcmp(tool, "mcpool") == 0,
		.message = d->message,
		.tail = d->status->tail,
	};
	struct mp_cause cause;

	mp_arena_init(&arena, MP_KIB(64));
	if (d->exit_code != MP_EXIT_NEEDS_AUTH && mp_cause_find(&s, &arena, &cause) &&
	    !cause.is_general)
		mp_cli_complain("%s: %s", cause.what, cause.fix);
}

void mp_diagnosis_complain(const struct mp_diagnosis *d, const char *larger, int64_t now_ms)
{
	mp_cli_complain("Failed to connect to \"%s\": %s", d->status->name, d->message);
	diagnosis_complain_cause(d);
	if (d->exit_code == MP_EXIT_TIMEOUT)
		mp_cli_complain("A server that starts slowly needs a larger %s (now %lld ms).",
				larger, (long long)now_ms);
	if (d->exit_code == MP_EXIT_NEEDS_AUTH) /* B67 */
		mp_cli_complain(
			"Log in: mcpool login %s. Or put a token into its headers, as "
			"\"Authorization\": \"Bearer ${secret:NAME}\"; `mcpool get %s` shows where "
			"they are.",
			MP_SHELL_NAME(d->status->name), MP_SHELL_NAME(d->status->name));
	mp_print_tail(mp_failed_call_get_last_lines(mp_str_of(d->status->tail)));
}
