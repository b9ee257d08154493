/*
 * headers_helper.c - what a headersHelper prints.
 */
#include "config/values/headers_helper.h"

#include <string.h>

#include "base/error.h"

/* Could it break out of its line? */
static bool is_header(struct mp_str text, bool is_name)
{
	for (size_t i = 0; i < text.len; i++)
		if ((unsigned char)text.p[i] < ' ' || text.p[i] == 0x7f ||
		    (is_name && strchr(" :", text.p[i])))
			return false;
	return text.len > 0 || !is_name;
}

static int read_pair(const struct mp_tape *t, mp_value key, struct mp_arena *arena,
		     struct mp_bind_pair *ret)
{
	mp_value value = mp_value_of(key);
	struct mp_str name = {NULL, 0}, text = {NULL, 0};
	int r = mp_value_text(t, key, arena, &name);

	if (r == 0)
		r = mp_value_is(t, value, MP_TAPE_STRING) ? mp_value_text(t, value, arena, &text)
							  : MCPOOL_EPARSE;
	if (r < 0)
		return r;
	if (!is_header(name, true) || !is_header(text, false))
		return MCPOOL_EPARSE;
	ret->key = mp_arena_dup(arena, name);
	ret->value = mp_arena_dup(arena, text);
	return ret->key && ret->value ? 0 : mp_arena_get_error(arena);
}

int mp_headers_helper_read(struct mp_str text, struct mp_arena *arena, struct mp_bind_map *ret,
			   struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	int r;

	mp_tape_init(&t, 0);
	*ret = (struct mp_bind_map){.n = 0};
	r = mp_tape_parse(&t, text, NULL);
	if (r == 0 && !mp_value_is(&t, MP_ROOT, MP_TAPE_OBJECT))
		r = MCPOOL_EPARSE;
	if (r == 0) {
		ret->items = mp_arena_alloc_array(arena, mp_value_count(&t, MP_ROOT) + 1,
						  sizeof(*ret->items));
		r = ret->items ? 0 : MCPOOL_ENOMEM;
	}
	if (r == 0)
		MP_VALUE_EACH(&t, MP_ROOT, key)
			if (r == 0 && (r = read_pair(&t, key, arena, &ret->items[ret->n])) == 0)
				ret->n++;
	if (r == MCPOOL_ENOMEM || r == MCPOOL_ELIMIT)
		return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	return r < 0 ? mp_fail(reterr, MCPOOL_EPARSE,
			       "it must print a JSON object whose members are header lines")
		     : 0;
}
