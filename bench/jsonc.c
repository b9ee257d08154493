/* jsonc.c - json-c behind two functions, for the JSON bench. */
#include "bench/jsonc.h"

#include <json-c/json.h>

static struct json_object *tree(const char *text, size_t len)
{
	struct json_tokener *tokener = json_tokener_new();
	struct json_object *v = json_tokener_parse_ex(tokener, text, (int)len);

	json_tokener_free(tokener);
	return v;
}

size_t bench_jsonc_parse(const char *text, size_t len)
{
	struct json_object *v = tree(text, len);
	size_t type = (size_t)json_object_get_type(v);

	json_object_put(v);
	return type;
}

size_t bench_jsonc_write(const char *text, size_t len)
{
	struct json_object *v = tree(text, len);
	size_t first = (size_t)json_object_to_json_string_ext(v, JSON_C_TO_STRING_PLAIN)[0];

	json_object_put(v);
	return first;
}
