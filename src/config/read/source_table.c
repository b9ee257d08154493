/*
 * source_table.c - the table of files, from sources.def.
 */
#include "config/read/dialects.h"
#include "config/values/expand.h"
#include "config/read/sources.h"

const struct mp_source mp_sources[] = {
#define MP_SOURCE(tool, label, level, folder, path, format, dialect, quirks, spellings) \
	{tool,                                                                          \
	 label,                                                                         \
	 MP_CONFIG_##level,                                                             \
	 MP_FOLDER_##folder,                                                            \
	 path,                                                                          \
	 MP_FORMAT_##format,                                                            \
	 mp_dialect_##dialect,                                                          \
	 quirks,                                                                        \
	 spellings},
#include "config/read/sources.def"
#undef MP_SOURCE
};
const size_t mp_sources_n = MP_ARRAY_LEN(mp_sources);
