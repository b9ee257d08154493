/*
 * control_login.h - mcpool/login and mcpool/logout of a control peer (doc/protocol.md, "Control
 * messages"). When the connection ends, a login that a browser has begun goes on.
 */
#ifndef MP_CONTROL_LOGIN_H
#define MP_CONTROL_LOGIN_H

#include "base/base.h"
#include "base/list.h"
#include "base/str.h"
#include "face/control_peer.h"

struct mp_control_logins {
	struct mp_control_peer *peer;
	struct mp_list open;
};

void mp_control_logins_init(struct mp_control_logins *ls, struct mp_control_peer *peer);
void mp_control_logins_done(struct mp_control_logins *ls);

/*
 * The answer follows from the loop, {} when the server has a token; before it, the notification
 * mcpool/login/visit if a person must open an address. server: of the peer's workspace.
 */
int mp_control_logins_begin(struct mp_control_logins *ls, struct mp_str id, const char *server,
			    struct mcpool_error *reterr) MP_MUST;
/* The address that a browser was sent to, as a person has pasted it. */
int mp_control_logins_paste(struct mp_control_logins *ls, const char *server, const char *url,
			    struct mcpool_error *reterr) MP_MUST;
/* The answer follows from the loop, {} when the credential is gone. */
int mp_control_logins_leave(struct mp_control_logins *ls, struct mp_str id, const char *server,
			    struct mcpool_error *reterr) MP_MUST;

#endif
