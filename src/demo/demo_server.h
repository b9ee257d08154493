/* demo_server.h - `mcpool demo-server`: the built-in MCP server, for a first run and for tests. */
#ifndef MP_DEMO_SERVER_H
#define MP_DEMO_SERVER_H

/* Serves on stdin and stdout until stdin ends or SIGTERM comes; returns the exit code. */
int mp_demo_main(int argc, char **argv);

#endif
