/*
 * kinds.c - the transports: how tools call them, and what an address looks like.
 */
#include <string.h>
#include <strings.h>

#include "config/values/entry.h"

const char *mp_kind_get_name(enum mp_kind kind)
{
	static const char *const names[] = {"stdio", "http", "sse", "websocket"};

	return names[kind];
}

bool mp_kind_find(const char *type, const char *url, enum mp_kind *ret_kind)
{
	static const struct {
		const char *word;
		enum mp_kind kind;
	} words[] = {
		{"stdio", MP_KIND_STDIO},
		{"local", MP_KIND_STDIO},
		{"http", MP_KIND_HTTP},
		{"streamable-http", MP_KIND_HTTP},
		{"streamableHttp", MP_KIND_HTTP},
		{"streamable_http", MP_KIND_HTTP},
		{"sse", MP_KIND_SSE},
		{"websocket", MP_KIND_WEBSOCKET},
		{"ws", MP_KIND_WEBSOCKET},
		{"remote", MP_KIND_HTTP},
	};

	for (size_t i = 0; i < MP_ARRAY_LEN(words); i++)
		if (strcmp(type, words[i].word) == 0) {
			*ret_kind = words[i].kind;
			if (strcmp(type, "remote") == 0 && url && strstr(url, "/sse"))
				*ret_kind = MP_KIND_SSE;
			return true;
		}
	return false;
}

bool mp_entry_is_address(const char *url)
{
	static const char *const schemes[] = {"http://", "https://", "ws://", "wss://"};

	if (strchr(url, '{') || strchr(url, '$'))
		return true;
	for (size_t i = 0; i < MP_ARRAY_LEN(schemes); i++)
		if (strncasecmp(url, schemes[i], strlen(schemes[i])) == 0 &&
		    url[strlen(schemes[i])] != '\0')
			return true;
	return false;
}
