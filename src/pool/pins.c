/*
 * pins.c - detects tool definitions that changed after approval; warns or leaves them out.
 */
#include "pool/pins.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "files/document.h"
#include "store/pins.h"

enum { MAX_TOLD = 20 }; /* maximum of tools per list logged one by one */

/* Fields of a tool that influence an agent. The part before them is the whole text. */
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
	bool is_full;          /* it had more names than can be pinned; already logged */
};

/* --- one tool -------------------------------------------------------------------------------- */

static void pins_digest(struct mp_str text, unsigned char out[MP_PIN_PART])
{
	unsigned char whole[MP_DIGEST_SIZE];
	struct mp_digest *d = mp_digest_new();

	mp_digest_add(d, text);
	mp_digest_finish(d, whole);
	memcpy(out, whole, MP_PIN_PART);
}

/* Canonical form: white space and the order of keys do not count as changes. */
static void digest_field(const struct mp_tape *t, mp_value v, unsigned char out[MP_PIN_PART])
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;

	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	if (v == MP_NONE)
		memset(out, 0, MP_PIN_PART);
	else if (mp_canonical_add(t, v, &text, NULL) == 0)
		pins_digest(mp_buf_get(&text), out);
	else
		pins_digest(mp_value_source(t, v), out);
}

static bool make_pin(struct mp_str json, struct pin *ret)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;

	mp_tape_init(&t, 0);
	if (mp_tape_parse(&t, json, NULL) < 0)
		return false;
	pins_digest(json, ret->bytes);
	for (size_t i = 0; i < MP_ARRAY_LEN(fields); i++)
		digest_field(&t, mp_value_get(&t, MP_ROOT, fields[i]),
			     ret->bytes + (i + 1) * MP_PIN_PART);
	return true;
}

static bool is_same_text(const struct pin *pin, struct mp_str json)
{
	unsigned char now[MP_PIN_PART];

	pins_digest(json, now);
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
		mp_free(new); /* treated as new and logged */
}

bool mp_pins_reset(struct mp_pinned **pins)
{
	struct mp_pinned *p = *pins;
	const struct mp_map_entry *e;
	size_t cursor = 0;
	bool had_frozen;

	if (!p)
		return false;
	had_frozen = p->frozen.len > 0;
	while ((e = mp_map_next(&p->by_tool, &cursor)))
		mp_free(e->value);
	mp_map_done(&p->by_tool);
	mp_map_done(&p->frozen);
	*pins = mp_free(p);
	return had_frozen;
}

/* Read once and kept in memory, because queued writes are not in the store yet. */
static bool pins_load(struct mp_pinned **pins, struct mp_db *db, const struct mp_entry *e)
{
	struct mp_pinned *p = *pins;
	int n;

	if (p)
		return true;
	p = *pins = mp_alloc(sizeof(*p));
	mp_map_init(&p->by_tool, MP_LIMIT_PINS);
	mp_map_init(&p->frozen, MP_LIMIT_TOOLS);
	mp_pins_name_owner(e->name, &e->id, sizeof(e->id), &p->owner);
	n = mp_pins_read(db, &p->owner, note_pin, p, NULL);
	p->is_first = n == 0;
	if (n < 0) /* the store logs the error; without it there are no pins */
		(void)mp_pins_reset(pins);
	return n >= 0;
}

/* --- judging --------------------------------------------------------------------------------- */

struct judging {
	struct mp_pinned *pins;
	struct mp_pool *pool;
	mp_id instance;
	const struct mp_entry *e;
	struct mp_pins_batch batch;
	struct mp_map frozen; /* from now on */
	size_t told;
};

static void pins_tell(struct judging *j, enum mp_event_kind kind, struct mp_str tool,
		      const char *words)
{
	bool is_frozen = j->e->tuning.pins == MP_PINS_FREEZE;

	if (mp_map_has(&j->pins->frozen, tool) || ++j->told > MAX_TOLD)
		return;
	mp_event(j->pool->o.events, j->instance, kind, "%.*s: %s%s", MP_STR_ARGS(tool), words,
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

static void pins_adopt(struct judging *j, struct mp_str tool, const struct pin *pin)
{
	note_pin(j->pins, tool, pin->bytes);
	if (mp_pins_batch_add(&j->batch, tool, pin->bytes) < 0)
		j->told++; /* will be logged once more then */
}

/* False: the tool is left out. */
static bool judge_one(struct judging *j, const struct mp_catalog_item *item)
{
	struct mp_pinned *p = j->pins;
	const struct pin *then = mp_map_get(&p->by_tool, item->name);
	bool differs;
	char words[120];
	struct pin now;

	if (then && is_same_text(then, item->json))
		return true;
	if (!make_pin(item->json, &now))
		return true; /* it was parsed before, so the cause is lack of memory */
	differs = then && !is_same_meaning(then, &now);
	if (differs) {
		name_changes(then, &now, words, sizeof(words));
		pins_tell(j, MP_EVENT_TOOL_CHANGED, item->name, words);
	} else if (!then && !p->is_first) {
		pins_tell(j, MP_EVENT_TOOL_ADDED, item->name,
			  "was not there when its tools were pinned");
	}
	if ((differs || (!then && !p->is_first)) && j->e->tuning.pins == MP_PINS_FREEZE)
		return mp_map_set(&j->frozen, item->name, p) < 0;
	pins_adopt(j, item->name, &now);
	return true;
}

/* The oldest pins are dropped then. A tool that returns later counts as new. */
static void tell_if_full(struct judging *j)
{
	struct mp_pinned *p = j->pins;

	if (p->is_full || p->by_tool.len < MP_LIMIT_PINS)
		return;
	p->is_full = true;
	mp_event(j->pool->o.events, j->instance, MP_EVENT_TOOL_ADDED,
		 "it has offered %d different tools; the oldest are no longer pinned",
		 MP_LIMIT_PINS);
}

static void judge_all(struct judging *j, struct mp_catalog_list *tools)
{
	size_t n = 0;

	for (size_t i = 0; i < tools->n; i++)
		if (judge_one(j, &tools->items[i]))
			tools->items[n++] = tools->items[i];
	tools->n = n;
}

void mp_pins_judge(struct mp_pinned **pins, struct mp_pool *pool, mp_id instance,
		   const struct mp_entry *e, struct mp_catalog_list *tools)
{
	struct judging j = {.pool = pool, .instance = instance, .e = e};

	if (e->tuning.pins == MP_PINS_OFF || !pool->o.db || !pins_load(pins, pool->o.db, e))
		return;
	j.pins = *pins;
	mp_pins_batch_init(&j.batch);
	mp_map_init(&j.frozen, MP_LIMIT_TOOLS);
	judge_all(&j, tools);
	if (j.told > MAX_TOLD)
		mp_event(pool->o.events, instance, MP_EVENT_TOOL_CHANGED, "%zu more",
			 j.told - MAX_TOLD);
	mp_map_done(&j.pins->frozen);
	j.pins->frozen = j.frozen;
	tell_if_full(&j);
	if (j.pins->is_first)
		mp_workspace_note_used_pins(pool, &j.batch);
	j.pins->is_first = false;
	mp_pins_write(pool->o.db, &j.pins->owner, &j.batch);
	mp_pins_batch_done(&j.batch);
}

bool mp_pins_is_frozen(const struct mp_pinned *pins, struct mp_str tool)
{
	return pins && tool.len && mp_map_has(&pins->frozen, tool);
}
