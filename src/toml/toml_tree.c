/*
 * toml_tree.c - which table a key belongs to, and what may be defined again.
 * All keys of all tables stand in one hash table, so a look-up costs the same in a file of a
 * hundred thousand keys, whether they are in one table or in as many.
 */
#include "base/limits.h"
#include "base/map.h"
#include "toml/toml_parts.h"

enum { FIRST_SLOTS = 64 };

/* --- nodes ---------------------------------------------------------------------------------- */

static int make_node(struct mp_toml_tree *t, const struct mp_toml_node *from,
		     struct mp_toml_node **ret_node)
{
	struct mp_toml_node *node = mp_arena_alloc(t->c->arena, sizeof(*node));

	if (!node)
		return mp_toml_no_room(t->c);
	*node = *from;
	t->n_nodes++;
	*ret_node = node;
	return 0;
}

static void toml_tree_append(struct mp_toml_node *container, struct mp_toml_node *node)
{
	if (container->last)
		container->last->next = node;
	else
		container->first = node;
	container->last = node;
}

static uint32_t offset_of(const struct mp_toml_tree *t, const char *at)
{
	return (uint32_t)(at - t->c->start);
}

int mp_toml_tree_make(struct mp_toml_tree *t, struct mp_toml_node *node, enum mp_toml_kind kind,
		      enum mp_toml_made made)
{
	if (node->depth >= MP_LIMIT_JSON_DEPTH) {
		/* The later one is what goes too far: the key of a header, the bracket of a value.
		 */
		uint32_t at = node->at > node->key_at ? node->at : node->key_at;

		(void)mp_toml_fault(t->c, t->c->start + at,
				    "tables and arrays are nested too deeply");
		return MCPOOL_ELIMIT; /* TOML it is, but more than we take */
	}
	node->kind = (uint8_t)kind;
	node->made = (uint8_t)made;
	node->first = node->last = NULL;
	return 0;
}

int mp_toml_tree_init(struct mp_toml_tree *t, struct mp_toml_cursor *c)
{
	static const struct mp_toml_node empty;
	int r;

	*t = (struct mp_toml_tree){.c = c, .n_slots = FIRST_SLOTS};
	t->slots = mp_arena_alloc_array(c->arena, t->n_slots, sizeof(struct mp_toml_node *));
	if (!t->slots)
		return mp_toml_no_room(c);
	r = make_node(t, &empty, &t->root);
	return r < 0 ? r : mp_toml_tree_make(t, t->root, MP_TOML_TABLE, MP_TOML_BY_HEADER);
}

/* --- the hash table ------------------------------------------------------------------------- */

static uint64_t hash_of(const struct mp_toml_node *table, struct mp_str key)
{
	struct mp_str address = {(const char *)&table, sizeof(struct mp_toml_node *)};

	return mp_hash(key) + 3 * mp_hash(address);
}

/* The slot with this key, or the empty one where the search ended. */
static struct mp_toml_node **find_slot(const struct mp_toml_tree *t,
				       const struct mp_toml_node *table, struct mp_str key,
				       uint64_t hash)
{
	size_t at = hash & (t->n_slots - 1);

	for (; t->slots[at]; at = (at + 1) & (t->n_slots - 1)) {
		const struct mp_toml_node *n = t->slots[at];

		if (n->hash == hash && n->parent == table &&
		    mp_str_eq((struct mp_str){n->key, n->key_len}, key))
			break;
	}
	return &t->slots[at];
}

static struct mp_toml_node *toml_tree_find(const struct mp_toml_tree *t,
					   const struct mp_toml_node *table, struct mp_str key)
{
	return *find_slot(t, table, key, hash_of(table, key));
}

static int toml_tree_grow(struct mp_toml_tree *t)
{
	size_t n = t->n_slots * 2;
	struct mp_toml_node **slots = mp_arena_alloc_array(t->c->arena, n, sizeof(void *));

	if (!slots)
		return mp_toml_no_room(t->c);
	for (size_t i = 0; i < t->n_slots; i++) {
		size_t at;

		if (!t->slots[i])
			continue;
		at = t->slots[i]->hash & (n - 1);
		while (slots[at])
			at = (at + 1) & (n - 1);
		slots[at] = t->slots[i];
	}
	t->slots = slots; /* the old ones leave with the arena */
	t->n_slots = n;
	return 0;
}

/* A key that is known to be new. */
static int toml_tree_insert(struct mp_toml_tree *t, struct mp_toml_node *table,
			    struct mp_toml_part part, const char *at,
			    struct mp_toml_node **ret_node)
{
	const struct mp_toml_node fresh = {
		.parent = table,
		.key = part.name.p,
		.hash = hash_of(table, part.name),
		.key_len = (uint32_t)part.name.len,
		.key_at = offset_of(t, part.at),
		.at = offset_of(t, at),
		.depth = (uint8_t)(table->depth + 1),
	};
	int r = t->n_keys >= t->n_slots / 2 ? toml_tree_grow(t) : 0;

	if (r == 0)
		r = make_node(t, &fresh, ret_node);
	if (r < 0)
		return r;
	*find_slot(t, table, part.name, fresh.hash) = *ret_node;
	toml_tree_append(table, *ret_node);
	t->n_keys++;
	return 0;
}

static int insert_container(struct mp_toml_tree *t, struct mp_toml_part part, const char *at,
			    enum mp_toml_kind kind, enum mp_toml_made made,
			    struct mp_toml_node **table)
{
	int r = toml_tree_insert(t, *table, part, at, table);

	return r < 0 ? r : mp_toml_tree_make(t, *table, kind, made);
}

int mp_toml_tree_add_key(struct mp_toml_tree *t, struct mp_toml_node *table,
			 struct mp_toml_part part, struct mp_toml_node **ret_node)
{
	if (toml_tree_find(t, table, part.name))
		return mp_toml_fault(t->c, part.at, "this key has a value already");
	return toml_tree_insert(t, table, part, part.at, ret_node);
}

int mp_toml_tree_add_element(struct mp_toml_tree *t, struct mp_toml_node *array, const char *at,
			     struct mp_toml_node **ret_node)
{
	const struct mp_toml_node fresh = {
		.parent = array,
		.key_at = offset_of(t, at),
		.at = offset_of(t, at),
		.depth = (uint8_t)(array->depth + 1),
	};
	int r = make_node(t, &fresh, ret_node);

	if (r == 0)
		toml_tree_append(array, *ret_node);
	return r;
}

/* --- the rules ------------------------------------------------------------------------------ */

/* Why nothing can be added to what is there; every caller has let pass what it may. */
static int toml_tree_refuse(struct mp_toml_tree *t, struct mp_toml_part part,
			    const struct mp_toml_node *node)
{
	const char *why = "this key has a value that is not a table";

	if (node->kind == MP_TOML_ARRAY && node->made == MP_TOML_IN_PLACE)
		why = "an array in brackets cannot be added to";
	else if (node->kind == MP_TOML_ARRAY)
		why = "this key holds an array of tables; only [[ ]] adds to it";
	else if (node->kind == MP_TOML_TABLE && node->made == MP_TOML_IN_PLACE)
		why = "a table in braces cannot be added to";
	else if (node->kind == MP_TOML_TABLE)
		why = "this table is defined already";
	return mp_toml_fault(t->c, part.at, why);
}

int mp_toml_tree_pass_dot(struct mp_toml_tree *t, struct mp_toml_part part,
			  struct mp_toml_node **table)
{
	struct mp_toml_node *node = toml_tree_find(t, *table, part.name);

	if (!node)
		return insert_container(t, part, part.at, MP_TOML_TABLE, MP_TOML_BY_DOTS, table);
	if (node->kind != MP_TOML_TABLE ||
	    (node->made != MP_TOML_BY_DOTS && node->made != MP_TOML_ON_THE_WAY))
		return toml_tree_refuse(t, part, node);
	node->made = MP_TOML_BY_DOTS; /* defined by this; a header comes too late */
	*table = node;
	return 0;
}

int mp_toml_tree_pass_header(struct mp_toml_tree *t, struct mp_toml_part part, const char *header,
			     struct mp_toml_node **table)
{
	struct mp_toml_node *node = toml_tree_find(t, *table, part.name);

	if (!node)
		return insert_container(t, part, header, MP_TOML_TABLE, MP_TOML_ON_THE_WAY, table);
	if (node->kind < MP_TOML_ARRAY || node->made == MP_TOML_IN_PLACE)
		return toml_tree_refuse(t, part, node);
	*table = node->kind == MP_TOML_ARRAY ? node->last : node;
	return 0;
}

int mp_toml_tree_open_table(struct mp_toml_tree *t, struct mp_toml_part part, const char *header,
			    struct mp_toml_node **table)
{
	struct mp_toml_node *node = toml_tree_find(t, *table, part.name);

	if (!node)
		return insert_container(t, part, header, MP_TOML_TABLE, MP_TOML_BY_HEADER, table);
	if (node->kind != MP_TOML_TABLE || node->made != MP_TOML_ON_THE_WAY)
		return toml_tree_refuse(t, part, node);
	node->made = MP_TOML_BY_HEADER;
	node->key_at = offset_of(t, part.at); /* its own place is better than one on the way */
	node->at = offset_of(t, header);
	*table = node;
	return 0;
}

int mp_toml_tree_open_element(struct mp_toml_tree *t, struct mp_toml_part part, const char *header,
			      struct mp_toml_node **table)
{
	struct mp_toml_node *array = toml_tree_find(t, *table, part.name);
	int r = 0;

	if (array && (array->kind != MP_TOML_ARRAY || array->made != MP_TOML_BY_HEADER))
		return toml_tree_refuse(t, part, array);
	if (!array) {
		array = *table;
		r = insert_container(t, part, header, MP_TOML_ARRAY, MP_TOML_BY_HEADER, &array);
	}
	if (r == 0)
		r = mp_toml_tree_add_element(t, array, header, table);
	return r < 0 ? r : mp_toml_tree_make(t, *table, MP_TOML_TABLE, MP_TOML_BY_HEADER);
}
