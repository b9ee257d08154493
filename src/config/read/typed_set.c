/*
 * typed_set.c - a set with the one server that was typed behind `--`. No file is read for it.
 */
#include "base/limits.h"
#include "base/mem.h"
#include "config/read/load.h"

static enum mp_kind typed_get_kind(char *const *command)
{
	if (command[1] || !mp_entry_is_address(command[0]))
		return MP_KIND_STDIO;
	return command[0][0] == 'w' ? MP_KIND_WEBSOCKET : MP_KIND_HTTP;
}

static void typed_fill(struct mp_entry *e, const char *name, char *const *command)
{
	*e = (struct mp_entry){
		.name = name,
		.origin = {.file = "", .real = "", .tool = "", .root = "", .scope = ""},
		.canonical = {"", 0},
		.kind = typed_get_kind(command),
		.enabled = true,
		.trust = MP_TRUST_YES,
	};
	e->origin.level = MP_CONFIG_COMMAND_LINE;
	if (e->kind != MP_KIND_STDIO) {
		e->address = command[0];
		return;
	}
	e->argv = (const char **)(void *)command;
	while (command[e->argc])
		e->argc++;
}

/* It has one user, who can answer. Everything else is as without any file. */
static void typed_tune(struct mp_entry *e, const struct mp_settings *settings)
{
	e->tuning = settings->tuning;
	e->tuning.mode = MP_MODE_SESSION;
	e->tuning.pins = MP_PINS_OFF;
}

struct mp_config_set *mp_config_make_typed(const char *name, char *const *command)
{
	struct mp_config_set *set = mp_alloc(sizeof(*set));

	set->refs = 1;
	mp_arena_init(&set->arena, MP_LIMIT_ARENA);
	set->is_typed = true;
	set->cwd = "."; /* it may have been removed */
	set->root = "";
	set->entries = mp_arena_alloc_array(&set->arena, 1, sizeof(struct mp_entry *));
	if (set->entries)
		set->entries[0] = mp_arena_alloc(&set->arena, sizeof(struct mp_entry));
	if (!set->entries || !set->entries[0] || mp_settings_init(&set->settings, &set->arena) < 0)
		return mp_config_set_unref(set);
	set->n = 1;
	typed_fill(set->entries[0], mp_arena_dup(&set->arena, mp_str_of(name)), command);
	typed_tune(set->entries[0], &set->settings);
	return set->entries[0]->name ? set : mp_config_set_unref(set);
}
