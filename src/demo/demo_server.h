/* demo_server.h - `mcpool demo-server`: a small MCP server for a first run. */
#ifndef MP_DEMO_SERVER_H
#define MP_DEMO_SERVER_H

/* Serves on stdin and stdout until stdin ends; returns the exit code. */
int mp_demo_main(int argc, char **argv);

#endif
