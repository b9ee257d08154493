/*
 * pins.c - tool definitions that change after they were approved: told, or left out.
 */
#include "pool/pins.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "files/document.h"
#include "pool/instance.h"
#include "pool/workspace.h"
#include "store/pins.h"

enum { MAX_TOLD = 20 }; /* tools of one list that are named one by one */

/* What of a tool an agent acts upon. The part before these is the whole text, as it was written. */
static const char *const fields[MP_PIN_PARTS - 1] = {
	"title", "description", "inputSchema", "outputSchema", "annotations",
};

struct pin {
	unsigned char bytes[MP_PIN_SIZE];
};

struct mp_pinned {
	struct mp_pins_owner owner;
	struct mp_map by_tool; /* to a pin, owned */
	struct mp_map frozen;  /* names */
	bool is_first;         /* nothing was pinned yet */
	bool is_full;          /* it has had more names than are pinned, which was told */
};

/* --- one tool -------------------------------------------------------------------------------- */

static void digest(struct mp_str text, unsigned char out[MP_PIN_PART])
{
	unsigned char whole[MP_DIGEST_SIZE];
	struct mp_digest *d = mp_digest_new();

	mp_digest_add(d, text);
	mp_digest_finish(d, whole);
	memcpy(out, whole, MP_PIN_PART);
}

/* In one spelling: neither white space nor the order of keys is a change. */
static void digest_field(const struct mp_tape *t, mp_value v, unsigned char out[MP_PIN_PART])
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;

	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	if (v == MP_NONE)
		memset(out, 0, MP_PIN_PART);
	else if (mp_canonical_add(t, v, &text, NULL) == 0)
		digest(mp_buf_get(&text), out);
	else
		digest(mp_value_source(t, v), out);
}

static bool make_pin(struct mp_str json, struct pin *ret)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;

	mp_tape_init(&t, 0);
	if (mp_tape_parse(&t, json, NULL) < 0)
		return false;
	digest(json, ret->bytes);
	for (size_t i = 0; i < MP_ARRAY_LEN(fields); i++)
		digest_field(&t, mp_value_get(&t, MP_ROOT, fields[i]),
			     ret->bytes + (i + 1) * MP_PIN_PART);
	return true;
}

static bool is_same_text(const struct pin *pin, struct mp_str json)
{
	unsigned char now[MP_PIN_PART];

	digest(json, now);
	return memcmp(pin->bytes, now, MP_PIN_PART) == 0;
}

static bool is_same_meaning(const struct pin *a, const struct pin *b)
{
	return memcmp(a->bytes + MP_PIN_PART, b->bytes + MP_PIN_PART, MP_PIN_SIZE - MP_PIN_PART) ==
	       0;
}

/* --- what is pinned -------------------------------------------------------------------------- */

static void note_pin(void *u, struct mp_str tool, const unsigned char bytes[MP_PIN_SIZE])
{
	struct mp_pinned *p = u;
	struct pin *pin = mp_map_get(&p->by_tool, tool), *new;

	if (pin) {
		memcpy(pin->bytes, bytes, MP_PIN_SIZE);
		return;
	}
	new = mp_alloc(sizeof(*new));
	memcpy(new->bytes, bytes, MP_PIN_SIZE);
	if (mp_map_set(&p->by_tool, tool, new) < 0)
		mp_free(new); /* it counts as new then, which is told */
}

void mp_pins_done(struct mp_instance *in)
{
	const struct mp_map_entry *e;
	size_t cursor = 0;

	if (!in->pins)
		return;
	while ((e = mp_map_next(&in->pins->by_tool, &cursor)))
		mp_free(e->value);
	mp_map_done(&in->pins->by_tool);
	mp_map_done(&in->pins->frozen);
	in->pins = mp_free(in->pins);
}

/* Read once and kept: what is on its way to the store would be missed there. */
static bool load(struct mp_instance *in)
{
	struct mp_pinned *p = in->pins;
	int n;

	if (p)
		return true;
	p = in->pins = mp_alloc(sizeof(*p));
	mp_map_init(&p->by_tool, MP_LIMIT_PINS);
	mp_map_init(&p->frozen, MP_LIMIT_TOOLS);
	mp_pins_name_owner(in->e->name, &in->e->id, sizeof(in->e->id), &p->owner);
	n = mp_pins_read(in->pool->o.db, &p->owner, note_pin, p, NULL);
	p->is_first = n == 0;
	if (n < 0)
		mp_pins_done(in); /* the store says so elsewhere; without it there are no pins */
	return n >= 0;
}

/* --- judging --------------------------------------------------------------------------------- */

struct judging {
	struct mp_instance *in;
	struct mp_pins_batch batch;
	struct mp_map frozen; /* from now on */
	size_t told;
};

static void tell(struct judging *j, enum mp_event_kind kind, struct mp_str tool, const char *words)
{
	bool is_frozen = j->in->e->tuning.pins == MP_PINS_FREEZE;

	if (mp_map_has(&j->in->pins->frozen, tool) || ++j->told > MAX_TOLD)
		return;
	mp_event(j->in->pool->o.events, j->in->id, kind, "%.*s: %s%s", MP_STR_ARGS(tool), words,
		 is_frozen ? "; left out until `mcpool trust` accepts it" : "");
}

static void name_changes(const struct pin *then, const struct pin *now, char *out, size_t size)
{
	size_t len = 0;

	for (size_t i = 0; i < MP_ARRAY_LEN(fields) && len < size; i++) {
		size_t at = (i + 1) * MP_PIN_PART;

		if (memcmp(then->bytes + at, now->bytes + at, MP_PIN_PART) != 0)
			len += (size_t)snprintf(out + len, size - len, "%s%s", len ? ", " : "",
						fields[i]);
	}
	if (len < size)
		snprintf(out + len, size - len, " changed");
}

static void adopt(struct judging *j, struct mp_str tool, const struct pin *pin)
{
	note_pin(j->in->pins, tool, pin->bytes);
	if (mp_pins_batch_add(&j->batch, tool, pin->bytes) < 0)
		j->told++; /* it will be told once more, then */
}

/* False: it is not to be offered. */
static bool judge_one(struct judging *j, const struct mp_catalog_item *item)
{
	struct mp_pinned *p = j->in->pins;
	const struct pin *then = mp_map_get(&p->by_tool, item->name);
	bool differs;
	char words[120];
	struct pin now;

	if (then && is_same_text(then, item->json))
		return true;
	if (!make_pin(item->json, &now))
		return true; /* it was read before, so this is for want of memory */
	differs = then && !is_same_meaning(then, &now);
	if (differs) {
		name_changes(then, &now, words, sizeof(words));
		tell(j, MP_EVENT_TOOL_CHANGED, item->name, words);
	} else if (!then && !p->is_first) {
		tell(j, MP_EVENT_TOOL_ADDED, item->name,
		     "was not there when its tools were pinned");
	}
	if ((differs || (!then && !p->is_first)) && j->in->e->tuning.pins == MP_PINS_FREEZE)
		return mp_map_set(&j->frozen, item->name, p) < 0;
	adopt(j, item->name, &now);
	return true;
}

/* Its oldest pins go then, so a tool that comes back later counts as new. */
static void tell_if_full(struct mp_instance *in)
{
	struct mp_pinned *p = in->pins;

	if (p->is_full || p->by_tool.len < MP_LIMIT_PINS)
		return;
	p->is_full = true;
	mp_event(in->pool->o.events, in->id, MP_EVENT_TOOL_ADDED,
		 "it has offered %d different tools; the oldest are no longer pinned",
		 MP_LIMIT_PINS);
}

/* Everything that any workspace has configured: its pins stay, however many others there are. */
static void note_used(struct mp_instance *in, struct mp_pins_batch *b)
{
	MP_LIST_EACH(&in->pool->workspaces, link) {
		struct mp_workspace *v = mp_container_of(link, struct mp_workspace, link);

		for (size_t i = 0; v->config && i < v->n; i++) {
			const struct mp_entry *e = mp_workspace_get_entry(v, i);
			struct mp_pins_owner owner;

			mp_pins_name_owner(e->name, &e->id, sizeof(e->id), &owner);
			if (mp_pins_batch_use(b, &owner) < 0) {
				mp_buf_clear(&b->used); /* half a list protects nothing */
				return;
			}
		}
	}
}

static void judge_all(struct judging *j, struct mp_catalog_list *tools)
{
	size_t n = 0;

	for (size_t i = 0; i < tools->n; i++)
		if (judge_one(j, &tools->items[i]))
			tools->items[n++] = tools->items[i];
	tools->n = n;
}

void mp_pins_judge(struct mp_instance *in, struct mp_catalog_list *tools)
{
	struct judging j = {.in = in};

	if (in->e->tuning.pins == MP_PINS_OFF || !in->pool->o.db || !load(in))
		return;
	mp_pins_batch_init(&j.batch);
	mp_map_init(&j.frozen, MP_LIMIT_TOOLS);
	judge_all(&j, tools);
	if (j.told > MAX_TOLD)
		mp_event(in->pool->o.events, in->id, MP_EVENT_TOOL_CHANGED, "%zu more",
			 j.told - MAX_TOLD);
	mp_map_done(&in->pins->frozen);
	in->pins->frozen = j.frozen;
	tell_if_full(in);
	if (in->pins->is_first)
		note_used(in, &j.batch);
	in->pins->is_first = false;
	mp_pins_write(in->pool->o.db, &in->pins->owner, &j.batch);
	mp_pins_batch_done(&j.batch);
}

bool mp_pins_is_frozen(const struct mp_instance *in, struct mp_str tool)
{
	return in->pins && tool.len && mp_map_has(&in->pins->frozen, tool);
}

bool mp_workspace_is_frozen(struct mp_workspace *v, size_t i, mp_id session, struct mp_str tool)
{
	struct mp_instance *in = mp_workspace_entry_get_instance(v, i, session);

	return in && mp_pins_is_frozen(in, tool);
}

void mp_pins_reconsider(struct mp_instance *in)
{
	bool was_frozen = in->pins && in->pins->frozen.len;

	mp_pins_done(in);
	if (in->refresh && (was_frozen || in->e->tuning.pins == MP_PINS_FREEZE))
		mp_refresh_again(in->refresh, MP_CATALOG_TOOL);
}
