/*
 * peers.h - the programs that the hub is measured beside, as roles of the benchmark itself.
 */
#ifndef BENCH_PEERS_H
#define BENCH_PEERS_H

/* A server of MCP on stdin and stdout that knows one tool and answers at once. */
int peer_echo(void);
/* stdin and stdout to a unix socket and back, without looking: what a bridge costs at least. */
int peer_relay_in(const char *path);
/* A unix socket (one guest at a time) to the pipes of the echo server and back: what a hub costs.
 */
int peer_relay_out(const char *path, const char *self);
/* HTTP on a loopback port, each body to the echo server's pipe and back, without looking. */
int peer_front(const char *port_file, const char *self);

/* The echo server as a child, and the ends of its pipes. */
void peer_spawn_echo(const char *self, int *ret_to, int *ret_from);

#endif
