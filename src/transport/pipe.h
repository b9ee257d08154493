/*
 * pipe.h - a pair of descriptors as a transport: a child's stdio, our own, or a unix socket.
 */
#ifndef MP_PIPE_H
#define MP_PIPE_H

#include "base/loop.h"
#include "transport/transport.h"

/*
 * Takes both descriptors, which may be the same one. Descriptors that cannot be polled (files) are
 * read as if always ready. The peer's end of stream is told as ended(); closed() follows close().
 */
struct mp_transport *mp_pipe_new(struct mp_loop *loop, int read_fd, int write_fd);

/* Nothing more will be sent: close the writing end when what is queued is out. Reading goes on. */
void mp_pipe_end_writing(struct mp_transport *t);

#endif
