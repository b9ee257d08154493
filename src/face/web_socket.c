/*
 * web_socket.c - /ws: one message per text frame, in both directions; one session per connection.
 */
#include "base/limits.h"
#include "base/mem.h"
#include "face/http_face.h"
#include "face/ws_conn.h"

#define PROTOCOL "mcp"

struct socket {
	struct mp_link link; /* in the face */
	struct mp_http_face *face;
	struct mp_ws_conn conn;
	struct mp_session *session; /* owned; NULL: closed */
	bool is_leaving;            /* the hub drains: close after the last answer */
	struct mp_task leave;
	struct mp_grave grave;
};

static void web_socket_bury(struct mp_grave *grave)
{
	struct socket *s = mp_container_of(grave, struct socket, grave);

	mp_ws_conn_done(&s->conn);
	mp_free(s);
}

/* Its frames may be on the stack, so free it at the end of the turn. */
static void web_socket_forget(void *u)
{
	struct socket *s = u;

	s->session = mp_session_free(s->session);
	mp_loop_unpost(s->face->loop, &s->leave);
	mp_list_remove(&s->face->sockets, &s->link);
	mp_loop_bury(s->face->loop, &s->grave, web_socket_bury);
}

static void say_goodbye(struct socket *s)
{
	mp_ws_conn_close(&s->conn, MP_WS_GOING_AWAY, "");
	web_socket_forget(s);
}

static void leave_if_done(void *u)
{
	struct socket *s = u;
	struct mp_session_info info;

	if (!s->is_leaving || !s->conn.x)
		return;
	mp_session_get_info(s->session, &info);
	if (!info.open)
		say_goodbye(s);
}

static void web_socket_deliver(void *u, const struct mp_delivery *d)
{
	struct socket *s = u;

	if (d->text.len)
		mp_ws_conn_say(&s->conn, d->text);
	if (s->is_leaving && !mp_list_linked(&s->leave.link))
		mp_loop_post(s->face->loop, &s->leave);
}

static void web_socket_take(void *u, struct mp_str text)
{
	struct socket *s = u;

	(void)mp_session_receive_text(s->session, text, 0); /* errors are sent as answers too */
	leave_if_done(s);
}

static const struct mp_session_hooks session_hooks = {web_socket_deliver};
static const struct mp_ws_conn_hooks conn_hooks = {.text = web_socket_take,
						   .closed = web_socket_forget};

/* --- the handshake -------------------------------------------------------------------------- */

void mp_web_socket_serve(struct mp_http_face *f, struct mp_exchange *x)
{
	struct socket *s;
	int r;

	if (!mp_ws_conn_check(x, PROTOCOL, false))
		return;
	s = mp_alloc(sizeof(*s));
	s->face = f;
	r = mp_ws_conn_init(&s->conn, f, x, &conn_hooks, s);
	if (r == 0)
		r = mp_http_face_open_session(f, x, "ws", MP_SESSION_ONE_STREAM, &session_hooks, s,
					      &s->session);
	if (r < 0) {
		mp_ws_conn_done(&s->conn);
		mp_free(s);
		mp_http_face_refuse_session(x, r);
		return;
	}
	mp_task_init(&s->leave, leave_if_done, s);
	mp_list_append(&f->sockets, &s->link);
	mp_ws_conn_open(&s->conn, PROTOCOL);
}

/* --- the end -------------------------------------------------------------------------------- */

void mp_web_socket_drain(struct mp_http_face *f)
{
	MP_LIST_WALK(&f->sockets, link) {
		struct socket *s = mp_container_of(link, struct socket, link);

		s->is_leaving = true;
		leave_if_done(s);
	}
}

void mp_web_socket_done(struct mp_http_face *f)
{
	struct mp_link *link;

	while ((link = mp_list_first(&f->sockets)))
		say_goodbye(mp_container_of(link, struct socket, link));
}
