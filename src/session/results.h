/*
 * results.h - a server's result in the agent's era.
 */
#ifndef MP_SESSION_RESULTS_H
#define MP_SESSION_RESULTS_H

#include "session/request.h"

/* *ret_json: the server's own text, or text in room. */
int mp_result_write(const struct mp_request *e, const struct mp_message *m, struct mp_buf *room,
		    struct mp_str *ret_json) MP_MUST;
/* *ret_is_error: false if the error became a result. *ret_status: for HTTP. */
int mp_result_write_error(const struct mp_request *e, const struct mp_message *m,
			  struct mp_buf *out, bool *ret_is_error, int *ret_status) MP_MUST;

#endif
