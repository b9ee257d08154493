/*
 * import.h - another tool's entry in our own shape, for `mcpool import`.
 */
#ifndef MP_IMPORT_H
#define MP_IMPORT_H

#include "base/base.h"
#include "base/buf.h"
#include "config/values/set.h"

/*
 * The entry as an object with our keys and our placeholders, type included (B75), added to out.
 * Nothing is looked up or run. into_project: for the file of set's project; else paths are whole.
 * MCPOOL_EINVAL for what cannot be said in our shape, by name.
 */
int mp_import_write_entry(const struct mp_config_set *set, const struct mp_entry *e,
			  bool into_project, struct mp_buf *out,
			  struct mcpool_error *reterr) MP_MUST;

#endif
