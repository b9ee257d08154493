/*
 * running.c - what a running hub says of the servers that this folder sees.
 */
#include "cli/running.h"

#include "base/error.h"
#include "base/limits.h"
#include "cli/hub_client.h"

static int ask(struct mp_running *r)
{
	MP_CLEANUP(mp_hub_client_freep) struct mp_hub_client *c = NULL;
	struct mcpool_error why;
	int result = mp_hub_client_open(&c, &why);

	if (result == 0)
		result = mp_hub_client_ask(c, "mcpool/status", MP_STR(""), &r->text, &why);
	if (result == 0)
		result = mp_tape_parse(&r->tape, mp_buf_get(&r->text), &why);
	return result;
}

void mp_running_ask(struct mp_running *r, const struct mp_cli_args *args)
{
	mp_buf_init(&r->text, MP_LIMIT_MESSAGE);
	mp_tape_init(&r->tape, 0);
	mp_arena_init(&r->arena, MP_LIMIT_ARENA);
	r->is_there = args->config.n == 0 && !args->strict_config && ask(r) == 0;
}

void mp_running_done(struct mp_running *r)
{
	mp_arena_done(&r->arena);
	mp_tape_done(&r->tape);
	mp_buf_done(&r->text);
}

mp_value mp_running_find(const struct mp_running *r, const char *server)
{
	mp_value servers = r->is_there ? mp_value_get(&r->tape, MP_ROOT, "servers") : MP_NONE;

	MP_VALUE_EACH(&r->tape, servers, one)
		if (mp_value_text_is(&r->tape, mp_value_get(&r->tape, one, "name"),
				     mp_str_of(server)))
			return one;
	return MP_NONE;
}

struct mp_str mp_running_get(const struct mp_running *r, mp_value server, const char *key)
{
	return mp_value_source(&r->tape, mp_value_get(&r->tape, server, key));
}

const char *mp_running_get_text(struct mp_running *r, mp_value server, const char *key)
{
	struct mp_str text;
	char *copy = NULL;

	if (mp_value_text(&r->tape, mp_value_get(&r->tape, server, key), &r->arena, &text) == 0)
		copy = mp_arena_dup(&r->arena, text);
	return copy ? copy : "";
}
