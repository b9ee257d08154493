/*
 * admission.c - decides whether a call may go to its server now, must wait, or is refused.
 */
#include "pool/admission.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"

static void MP_PRINTF(3, 4)
	admission_refuse(struct mp_admission *a, int code, const char *format, ...)
{
	va_list args;

	a->verdict = MP_ADMIT_NOT;
	a->code = code;
	va_start(args, format);
	(void)mp_str_format(a->words, sizeof(a->words), format, args); /* truncation is fine */
	va_end(args);
}

static double age_s(const struct mp_instance *in, int64_t since_ms)
{
	return (double)(mp_loop_now_ms(in->pool->o.loop) - since_ms) / 1000;
}

/* Returns ": " if there is a reason to append. */
static const char *admission_colon(const struct mp_keeper_facts *f)
{
	return f->why.code ? ": " : "";
}

/* --- the first start ------------------------------------------------------------------------- */

/* All calls wait for the first start. After it is marked as failed, calls do not wait for it. */
static void judge_first_start(struct mp_instance *in, const struct mp_keeper_facts *f,
			      struct mp_admission *a)
{
	bool is_final = mp_keeper_awaits_change(in->k);
	bool is_retried = f->state != MP_KEEPER_FAILED || is_final;
	char next[80] = "", what[48];

	if (!mp_instance_is_marked(in)) {
		if (f->state == MP_KEEPER_DOWN || f->state == MP_KEEPER_STOPPING)
			mp_instance_start(in, false);
		a->verdict = MP_ADMIT_LATER;
		return;
	}
	if (is_final)
		snprintf(next, sizeof(next), "; tried again in %.0fs or when it changes",
			 -age_s(in, f->next_ms));
	if (in->start.is_timing_out)
		snprintf(what, sizeof(what), "timed out after %llds",
			 (long long)MP_LIMIT_ACQUIRE_MS / 1000);
	else
		snprintf(what, sizeof(what), "failed %.0fs ago", age_s(in, in->start.marked_ms));
	a->retryable = is_retried;
	admission_refuse(a, MCPOOL_EUNAVAILABLE,
			 "server '%s': initialization %s%s%s; started with the environment of %s%s",
			 in->e->name, what, admission_colon(f), f->why.message,
			 in->start.environment,
			 is_retried && !is_final ? "; retries go on in the background" : next);
}

/* --- a restart ------------------------------------------------------------------------------- */

static void refuse_restart(struct mp_instance *in, struct mp_admission *a, int code,
			   const char *what)
{
	const struct mp_keeper_facts *f = mp_keeper_get_facts(in->k);

	char number[16];

	a->attempt = f->tries_failed + (code == MCPOOL_ERESTARTING);
	a->retryable = true;
	snprintf(number, sizeof(number), "%u", a->attempt);
	admission_refuse(a, code, "%s:%s: server '%s' %s%s%s", mcpool_error_word(code),
			 mp_instance_is_netdata(in) ? in->e->name : number, in->e->name, what,
			 admission_colon(f), f->why.message);
}

/* The keeper does not restart it. Calls fail; a new acquire starts it again (A56, A70). */
static void judge_given_up(struct mp_instance *in, const struct mp_keeper_facts *f, bool is_acquire,
			   struct mp_admission *a)
{
	if (is_acquire) {
		mp_instance_start(in, false);
		a->verdict = MP_ADMIT_LATER;
	} else if (f->tries_failed > 0) {
		refuse_restart(in, a, MCPOOL_ERESTART_FAILED, "could not be restarted");
	} else {
		admission_refuse(a, MCPOOL_EUNAVAILABLE,
				 "server '%s' is gone since %.0fs and is not restarted%s%s",
				 in->e->name, age_s(in, f->failed_ms), admission_colon(f),
				 f->why.message);
	}
}

static void judge_restart(struct mp_instance *in, const struct mp_keeper_facts *f, bool is_acquire,
			  struct mp_admission *a)
{
	bool failed = f->tries_failed > 0 && !mp_keeper_is_starting(in->k);

	a->verdict = MP_ADMIT_LATER;
	if (f->state == MP_KEEPER_STOPPING)
		return; /* a requested stop; once it is down it may be started */
	if (f->state == MP_KEEPER_CLEARING && f->why.code == MCPOOL_ENEEDS_AUTH)
		return; /* it is about to wait for a person, and then the reason is told */
	if (f->state == MP_KEEPER_FAILED)
		judge_given_up(in, f, is_acquire, a);
	else if (failed && !is_acquire)
		refuse_restart(in, a, MCPOOL_ERESTART_FAILED,
			       "could not be restarted and is tried again");
	else if (in->e->tuning.restart.callers == MP_CALLERS_FAIL && !is_acquire)
		refuse_restart(in, a, MCPOOL_ERESTARTING, "is being restarted");
}

static void admission_begin(struct mp_admission *a, const struct mp_keeper_facts *f,
			    enum mp_admit_verdict verdict)
{
	a->verdict = verdict;
	a->fault = mp_error_get_fault(&f->why);
	a->code = 0;
	a->attempt = 0;
	a->retryable = false;
	a->words[0] = '\0';
}

/* --- interface ------------------------------------------------------------------------------- */

static void refuse_stopping(struct mp_instance *in, struct mp_admission *a)
{
	a->fault = MCPOOL_FAULT_CLOSED;
	admission_refuse(a, MCPOOL_EUNAVAILABLE, "server '%s': mcpool is stopping", in->e->name);
}

void mp_admission_judge(struct mp_instance *in, bool is_acquire, struct mp_admission *ret)
{
	const struct mp_keeper_facts *f = mp_keeper_get_facts(in->k);

	admission_begin(ret, f, MP_ADMIT);
	if (in->pool->is_stopping)
		refuse_stopping(in, ret);
	else if (mp_instance_is_up(in))
		ret->verdict = MP_ADMIT;
	else if (f->state == MP_KEEPER_BARRED)
		admission_refuse(ret, f->why.code, "%s", f->why.message);
	else if (f->was_up)
		judge_restart(in, f, is_acquire, ret);
	else
		judge_first_start(in, f, ret);
}

void mp_admission_give_up(struct mp_instance *in, struct mp_admission *ret)
{
	admission_begin(ret, mp_keeper_get_facts(in->k), MP_ADMIT_NOT);
	refuse_restart(in, ret, MCPOOL_ERESTARTING, "is still being restarted");
}
