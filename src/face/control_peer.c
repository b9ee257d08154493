/*
 * control_peer.c - answers to control requests.
 */
#include "face/control_peer.h"

#include "base/error.h"
#include "base/limits.h"
#include "rpc/message.h"

void mp_control_peer_refuse(const struct mp_control_peer *p, struct mp_str id,
			    const struct mcpool_error *why)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out, data;
	int code = why->rpc_code ? why->rpc_code : mp_error_get_rpc_code(why->code);

	mp_buf_init(&out, MP_KIB(16));
	mp_buf_init(&data, MP_KIB(1));
	if (mp_buf_addf(&data, "{\"code\":\"%s\"}", mcpool_error_word(why->code)) == 0 &&
	    mp_message_error(&out, id, code, mp_str_of(why->message), mp_buf_get(&data)) == 0)
		p->say(p->u, mp_buf_get(&out));
}

void mp_control_peer_answer(const struct mp_control_peer *p, struct mp_str id,
			    const struct mp_buf *result, int r)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf out;
	struct mcpool_error why;

	mp_buf_init(&out, p->max_result + MP_KIB(4));
	if (r == 0)
		r = mp_message_result(&out, id, mp_buf_get(result));
	if (r == 0) {
		p->say(p->u, mp_buf_get(&out));
		return;
	}
	(void)mp_fail(&why, r, "%s", mcpool_error_text(r));
	mp_control_peer_refuse(p, id, &why);
}

int mp_control_peer_check(const struct mp_control_peer *p, struct mcpool_error *reterr)
{
	if (p->open < p->max_open)
		return 0;
	return mp_fail(reterr, MCPOOL_ELIMIT, "too many requests are open");
}
