/*
 * recover_id.h - finds the id of a message that cannot be read.
 * An answer that is too large, too deep or not UTF-8 still ends its call, if its id is among its
 * first or last bytes (V45, V49).
 */
#ifndef MP_RECOVER_ID_H
#define MP_RECOVER_ID_H

#include "base/base.h"
#include "base/str.h"

/* Does this look like one of the protocol's messages, rather than like something printed? */
bool mp_recover_id_is_message(struct mp_str head);

/* Does it ask or tell something, rather than answer, as far as its beginning shows? */
bool mp_recover_id_is_call(struct mp_str head);

/*
 * The id on the outermost level, as written, or empty. head: how the message begins; tail: how it
 * ends. They may be the same.
 */
struct mp_str mp_recover_id(struct mp_str head, struct mp_str tail);

#endif
