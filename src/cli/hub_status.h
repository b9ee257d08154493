/*
 * hub_status.h - what a running hub says of itself, shown.
 */
#ifndef MP_HUB_STATUS_H
#define MP_HUB_STATUS_H

#include "base/base.h"

/* name: of one server; NULL: all. False: no hub runs, or it cannot be asked; nothing was shown. */
bool mp_hub_status_show(const char *name, bool json, int *ret_exit_code);

#endif
