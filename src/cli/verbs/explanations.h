/*
 * explanations.h - a page for each code of an error: what happened, likely causes, what to type.
 * `mcpool explain` and mcpool-errors(7) show it.
 */
#ifndef MP_EXPLANATIONS_H
#define MP_EXPLANATIONS_H

#include <stddef.h>

#include <mcpool/error.h>

enum { MP_EXPLANATION_CAUSES = 16 }; /* with the one that ends the list */

struct mp_explanation {
	int code; /* MCPOOL_E*; its word and sentence are in mcpool/error.h */
	const char *happened;
	struct mp_explanation_cause {
		const char *cause; /* NULL: the list ends */
		const char *step;  /* what to type, or to do */
	} causes[MP_EXPLANATION_CAUSES];
};

size_t mp_explanation_count(void);
const struct mp_explanation *mp_explanation_get(size_t i);
/* By word, number or name: mcp_unavailable, unavailable, 1005, MCPOOL_EUNAVAILABLE. NULL: none. */
const struct mp_explanation *mp_explanation_find(const char *text);

#endif
