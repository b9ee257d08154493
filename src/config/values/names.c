/*
 * names.c - what a server may be called.
 */
#include "config/values/entry.h"

#define NAME_MAX_CHARS 100

static bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '-';
}

bool mp_entry_is_plain_name(struct mp_str name)
{
	for (size_t i = 0; i < name.len; i++)
		if (!is_name_char(name.p[i]))
			return false;
	return true;
}

static bool is_strict_name(struct mp_str name)
{
	for (size_t i = 0; i < name.len; i++)
		if (!is_name_char(name.p[i]) && name.p[i] != '.')
			return false;
	return true;
}

static bool is_wide_name(struct mp_str name)
{
	for (size_t i = 0; i < name.len; i++) {
		char c = name.p[i];
		bool inner = i > 0 && i + 1 < name.len;

		if (is_name_char(c) || c == '.' || c == ':')
			continue;
		if (c == ' ' && inner && name.p[i - 1] != ' ')
			continue;
		return false;
	}
	return true;
}

const char *mp_entry_check_name(struct mp_str name, enum mp_name_set set)
{
	if (name.len == 0)
		return "Server name cannot be empty";
	if (name.len > NAME_MAX_CHARS)
		return "Server name is too long (max 100 characters)";
	if (set == MP_NAMES_STRICT)
		return is_strict_name(name) ? NULL
					    : "Server name can only contain letters, numbers, "
					      "dash, underscore, and dot";
	return is_wide_name(name) ? NULL
				  : "Server name can only contain letters, numbers, dash, "
				    "underscore, dot, colon, and single spaces";
}
