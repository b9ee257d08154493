/*
 * sd_bus.h - the functions of libsystemd that secret_service.c calls.
 * The library is loaded when the first secret is asked for: programs that never do so do not pay
 * for it, and where it is missing there is no Secret Service for us. Declared here as
 * <systemd/sd-bus.h> declares them; see sd-bus(3).
 */
#ifndef MP_SD_BUS_H
#define MP_SD_BUS_H

#include "base/base.h"

struct sd_bus;         /* libsystemd's */
struct sd_bus_message; /* libsystemd's */

struct mp_sd_error { /* as struct sd_bus_error */
	const char *name;
	const char *message;
	int need_free;
};

#define MP_SD_BUS_FUNCTIONS(X)                                                                   \
	X(int, bus_new, (struct sd_bus **))                                                      \
	X(int, bus_set_address, (struct sd_bus *, const char *))                                 \
	X(int, bus_set_bus_client, (struct sd_bus *, int))                                       \
	X(int, bus_start, (struct sd_bus *))                                                     \
	X(int, bus_is_ready, (struct sd_bus *))                                                  \
	X(int, bus_process, (struct sd_bus *, struct sd_bus_message **))                         \
	X(int, bus_wait, (struct sd_bus *, uint64_t))                                            \
	X(void, bus_close, (struct sd_bus *))                                                    \
	X(struct sd_bus *, bus_unref, (struct sd_bus *))                                         \
	X(int, bus_call,                                                                         \
	  (struct sd_bus *, struct sd_bus_message *, uint64_t, struct mp_sd_error *,             \
	   struct sd_bus_message **))                                                            \
	X(void, bus_error_free, (struct mp_sd_error *))                                          \
	X(int, bus_message_new_method_call,                                                      \
	  (struct sd_bus *, struct sd_bus_message **, const char *, const char *, const char *,  \
	   const char *))                                                                        \
	X(struct sd_bus_message *, bus_message_unref, (struct sd_bus_message *))                 \
	X(int, bus_message_append, (struct sd_bus_message *, const char *, ...))                 \
	X(int, bus_message_append_array, (struct sd_bus_message *, char, const void *, size_t))  \
	X(int, bus_message_open_container, (struct sd_bus_message *, char, const char *))        \
	X(int, bus_message_close_container, (struct sd_bus_message *))                           \
	X(int, bus_message_read, (struct sd_bus_message *, const char *, ...))                   \
	X(int, bus_message_read_array, (struct sd_bus_message *, char, const void **, size_t *)) \
	X(int, bus_message_enter_container, (struct sd_bus_message *, char, const char *))       \
	X(int, bus_message_exit_container, (struct sd_bus_message *))

struct mp_sd_bus {
#define MP_X(type, name, parameters) type(*name) parameters;
	MP_SD_BUS_FUNCTIONS(MP_X)
#undef MP_X
};

/* NULL: the library, or one of the functions, is missing. Any thread may call it. */
const struct mp_sd_bus *mp_sd_bus_load(void);

#endif
