/*
 * proxy.h - which proxy the environment names for an address.
 * The variables are curl's: https_proxy, http_proxy, all_proxy, no_proxy, in small letters before
 * capital ones. This machine itself is never reached through a proxy.
 */
#ifndef MP_PROXY_H
#define MP_PROXY_H

#include "base/base.h"
#include "base/str.h"

/* NULL: none, go there directly. host: a name or an address without brackets. */
const char *mp_proxy_find(const char *scheme, const char *host);

/* Does no_proxy, which is this text, name the host? "*", names and what is below them, networks. */
bool mp_proxy_is_exempt(const char *no_proxy, const char *host);

#endif
