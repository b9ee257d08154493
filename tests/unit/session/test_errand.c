/*
 * test_errand.c - one request on its way: the table, cell by cell.
 */
#include "test.h"

#include "session/parts.h"

#define _ MP_ERRAND_STATE_COUNT     /* an empty cell */
#define S MP_ERRAND_STATE_COUNT + 1 /* stays as it is */

/* Rows: state. Columns: WAIT SEND LISTEN ANSWER PARK RESUME DROP. */
static const int table[MP_ERRAND_STATE_COUNT][MP_ERRAND_EVENT_COUNT] = {
	[MP_ERRAND_FRESH] = {MP_ERRAND_WAITING, MP_ERRAND_OUT, MP_ERRAND_LISTENING, MP_ERRAND_ENDED,
			     _, _, MP_ERRAND_ENDED},
	[MP_ERRAND_WAITING] = {S, MP_ERRAND_OUT, _, MP_ERRAND_ENDED, _, _, MP_ERRAND_ENDED},
	[MP_ERRAND_OUT] = {_, _, _, MP_ERRAND_ENDED, MP_ERRAND_PARKED, _, MP_ERRAND_ENDED},
	[MP_ERRAND_PARKED] = {_, _, _, MP_ERRAND_KEPT, _, MP_ERRAND_OUT, MP_ERRAND_ENDED},
	[MP_ERRAND_KEPT] = {_, _, _, _, _, MP_ERRAND_OUT, MP_ERRAND_ENDED},
	[MP_ERRAND_LISTENING] = {_, _, _, MP_ERRAND_ENDED, _, _, MP_ERRAND_ENDED},
	[MP_ERRAND_ENDED] = {_, _, _, _, _, _, _},
};

TEST(every_cell_of_the_table)
{
	for (int s = 0; s < MP_ERRAND_STATE_COUNT; s++)
		for (int ev = 0; ev < MP_ERRAND_EVENT_COUNT; ev++) {
			enum mp_errand_state to;
			bool is_cell = mp_errand_look_up((enum mp_errand_state)s,
							 (enum mp_errand_event)ev, &to);

			CHECK_EQ(is_cell, table[s][ev] != _);
			if (is_cell)
				CHECK_EQ(to, table[s][ev] == S ? s : table[s][ev]);
		}
}
