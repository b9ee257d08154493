/*
 * top_model.h - what `top` shows: the servers of a status in an order, filtered, one selected.
 * Knows neither the terminal nor the hub.
 */
#ifndef MP_TOP_MODEL_H
#define MP_TOP_MODEL_H

#include "base/base.h"
#include "base/limits.h"
#include "cli/display/live_table.h"
#include "cli/servers/hub_status.h"

enum mp_top_sort {
	MP_TOP_BY_CALLS,
	MP_TOP_BY_LATENCY,
	MP_TOP_BY_MEMORY,
	MP_TOP_BY_CPU,
	MP_TOP_BY_NAME,
	MP_TOP_SORTS
};
const char *mp_top_sort_get_name(enum mp_top_sort sort);

struct mp_top_model {
	struct mp_hub_status status; /* as heard last */
	int64_t measured_ms;         /* when its processor times were; -1: never */
	int64_t *cpu;                /* owned; of each server, see mp_live_servers; */
	size_t *order, n;            /* owned; indexes of the servers that are shown */
	enum mp_top_sort sort;
	char filter[64];                  /* of name or state; "": all */
	char selected[MP_LIMIT_NAME + 1]; /* "": none; else rows do not move */
	size_t first;                     /* in order: the first row on the screen */
};

void mp_top_model_init(struct mp_top_model *m);
void mp_top_model_done(struct mp_top_model *m);
/* A new status, which is moved. */
void mp_top_model_take(struct mp_top_model *m, struct mp_hub_status *next);

void mp_top_model_sort(struct mp_top_model *m, enum mp_top_sort sort);
void mp_top_model_filter(struct mp_top_model *m, const char *filter);
/* Down is positive; without a selection from the first row on the screen. */
void mp_top_model_move(struct mp_top_model *m, ptrdiff_t rows);
void mp_top_model_deselect(struct mp_top_model *m);
/* NULL: none. */
const struct mp_status *mp_top_model_get_selected(const struct mp_top_model *m);
/* Its place in order; SIZE_MAX: none. */
size_t mp_top_model_find_selected(const struct mp_top_model *m);
/* The rows from `first` on that the table shows; `first` becomes such that the selected one is
 * among them. u of the result is the model. */
struct mp_live_servers mp_top_model_get_rows(struct mp_top_model *m, size_t most);

/* Processor time in thousandths of one; -1: not known. */
int64_t mp_top_get_cpu(int64_t before_us, int64_t now_us, int64_t took_ms);

#endif
