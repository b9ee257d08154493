/*
 * check_variables.c - variables, secrets and files that approved entries name and that are missing
 * in this shell.
 */
#include "base/error.h"
#include "cli/doctor/examination.h"

static int variables_find(struct mp_doctor *d)
{
	int r = 0;

	for (size_t i = 0; i < d->c->set->n && r == 0; i++) {
		const struct mp_entry *e = d->c->set->entries[i];
		struct mp_resolved out;
		struct mcpool_error why;

		if (!mp_doctor_is_about(d, e))
			continue;
		if (mp_doctor_resolve(d, e, &out, &why) < 0 && !mp_doctor_knows(d, e->name))
			r = mp_doctor_tell_error(d, mp_check_variables.name, e, why.message, NULL);
		mp_resolved_done(&out);
	}
	return r;
}

const struct mp_check mp_check_variables = {
	"variables",
	"the variables that servers need are set in this shell",
	variables_find,
	NULL,
};
