/*
 * fuzz_edit.c - changing one value of a file: the result parses, says what was wanted, and neither
 * another value nor a comment is different.
 * Input: the operation, which value, a new value, the text.
 */
#include "fuzz.h"
#include "base/arena.h"
#include "base/buf.h"
#include "json/edit.h"
#include "json/scan.h"
#include "json/value.h"
#include "json/write.h"

enum { MAX_PATH = 130 };

static const char *const new_values[] = {
	"1",
	"\"new\"",
	"null",
	"[]",
	"{}",
	"[1,[2,{\"x\":\"\\u00e9\"}]]",
	"{\"command\":\"npx\",\"args\":[\"-y\",\"p\"],\"env\":{}}",
};

struct path {
	struct mp_str keys[MAX_PATH];
	char numbers[MAX_PATH][12];
	size_t n;
};

/* The path to node `target`, a value and not a key. */
static void path_to(const struct mp_tape *t, mp_value target, struct mp_arena *arena,
		    struct path *p)
{
	mp_value at = MP_ROOT;

	p->n = 0;
	while (at != target) {
		bool object = mp_value_is(t, at, MP_TAPE_OBJECT);
		mp_value found = MP_NONE;
		unsigned index = 0;

		MP_VALUE_EACH(t, at, child) {
			mp_value v = object ? mp_value_of(child) : child;

			if (v <= target && target < t->nodes[v].next) {
				found = v;
				if (object)
					FUZZ_CHECK(mp_value_text(t, child, arena, &p->keys[p->n]) ==
						   0);
				break;
			}
			index++;
		}
		FUZZ_CHECK(found != MP_NONE);
		if (!object) {
			snprintf(p->numbers[p->n], sizeof(p->numbers[0]), "%u", index);
			p->keys[p->n] = mp_str_of(p->numbers[p->n]);
		}
		p->n++;
		at = found;
	}
}

static mp_value follow(const struct mp_tape *t, const struct path *p, size_t n)
{
	mp_value at = MP_ROOT;

	for (size_t i = 0; i < n && at != MP_NONE; i++) {
		uint64_t index;
		mp_value child;

		if (mp_value_is(t, at, MP_TAPE_OBJECT)) {
			at = mp_value_get_str(t, at, p->keys[i]);
			continue;
		}
		if (mp_str_to_u64(p->keys[i], &index) < 0)
			return MP_NONE; /* a key, hidden by a later one of the same name */
		child = mp_value_first(t, at);
		while (index-- && child != MP_NONE)
			child = mp_value_next(t, at, child);
		at = child;
	}
	return at;
}

static bool is_key(const struct mp_tape *t, mp_value target)
{
	for (mp_value v = 0; v < t->n; v++) {
		if (!mp_value_is(t, v, MP_TAPE_OBJECT))
			continue;
		MP_VALUE_EACH(t, v, k) {
			if (k == target)
				return true;
		}
	}
	return false;
}

struct span {
	size_t start, end;
};

/* All comments of a valid text outside the span, one behind the other. */
static void collect_comments(const struct mp_tape *t, struct span without, struct mp_buf *out)
{
	const char *p = t->src, *end = t->src + t->len;

	while (p < end) {
		if (p == t->src + without.start && without.end > without.start) {
			p = t->src + without.end;
		} else if (*p == '"') {
			for (p++; *p != '"'; p++)
				p += *p == '\\';
			p++;
		} else if (*p == '/') {
			const char *start = p;
			bool line = p[1] == '/';

			for (p += 2; p < end; p++) {
				if (line && (*p == '\n' || *p == '\r'))
					break;
				if (!line && p[0] == '*' && p[1] == '/') {
					p += 2;
					break;
				}
			}
			FUZZ_CHECK(mp_buf_add(out, start, (size_t)(p - start)) == 0);
			FUZZ_CHECK(mp_buf_add_char(out, '\n') == 0);
		} else {
			p++;
		}
	}
}

/* Comments inside a value that was replaced or removed go with it. */
static void check_comments(const struct mp_tape *before, struct span gone,
			   const struct mp_tape *after)
{
	struct mp_buf a, b;

	mp_buf_init(&a, MP_LIMIT_MESSAGE);
	mp_buf_init(&b, MP_LIMIT_MESSAGE);
	collect_comments(before, gone, &a);
	collect_comments(after, (struct span){0, 0}, &b);
	FUZZ_CHECK(mp_str_eq(mp_buf_get(&a), mp_buf_get(&b)));
	mp_buf_done(&a);
	mp_buf_done(&b);
}

/*
 * The scalars and keys outside [skip, skip + n) on both tapes, in order: the same spelling. This
 * says that nothing else was changed, moved or lost.
 */
static void check_rest(const struct mp_tape *a, uint32_t skip_a, uint32_t n_a,
		       const struct mp_tape *b, uint32_t skip_b, uint32_t n_b)
{
	uint32_t i = 0, j = 0;

	FUZZ_CHECK(a->n - n_a == b->n - n_b);
	for (; i < a->n && j < b->n; i++, j++) {
		if (i == skip_a)
			i += n_a;
		if (j == skip_b)
			j += n_b;
		if (i >= a->n || j >= b->n)
			break;
		FUZZ_CHECK(a->nodes[i].type == b->nodes[j].type);
		if (a->nodes[i].type < MP_TAPE_ARRAY)
			FUZZ_CHECK(mp_str_eq(mp_value_source(a, i), mp_value_source(b, j)));
	}
}

struct job {
	struct mp_tape before, after, value;
	struct mp_buf out;
	struct mp_arena arena;
	struct path path;
};

static void parse_result(struct job *j, struct span gone)
{
	struct mcpool_error error;

	FUZZ_CHECK(mp_tape_parse(&j->after, mp_buf_get(&j->out), &error) == 0);
	check_comments(&j->before, gone, &j->after);
}

static void check_value(struct job *j, mp_value v)
{
	bool equal;

	FUZZ_CHECK(v != MP_NONE);
	FUZZ_CHECK(mp_value_equal(&j->after, v, &j->value, MP_ROOT, &equal) == 0 && equal);
}

static void try_replace(struct job *j, mp_value target, struct mp_str value)
{
	uint32_t n = j->before.nodes[target].next - target;
	mp_value now;
	int r;

	path_to(&j->before, target, &j->arena, &j->path);
	if (follow(&j->before, &j->path, j->path.n) != target)
		return; /* hidden by a later key of the same name */
	r = mp_edit_set(mp_str_of(j->before.src), j->path.keys, j->path.n, value, &j->out, NULL);
	if (r == MCPOOL_ELIMIT)
		return;
	FUZZ_CHECK(r == 0);
	parse_result(j, (struct span){j->before.nodes[target].start, j->before.nodes[target].end});
	now = follow(&j->after, &j->path, j->path.n);
	check_value(j, now);
	check_rest(&j->before, target, n, &j->after, now, j->after.nodes[now].next - now);
}

static void try_add(struct job *j, mp_value target, struct mp_str value, struct fuzz_input *in)
{
	bool object = mp_value_is(&j->before, target, MP_TAPE_OBJECT);
	mp_value now;
	int r;

	if (!object && !mp_value_is(&j->before, target, MP_TAPE_ARRAY))
		return;
	path_to(&j->before, target, &j->arena, &j->path);
	if (j->path.n + 1 >= MAX_PATH || follow(&j->before, &j->path, j->path.n) != target)
		return;
	if (object) {
		j->path.keys[j->path.n] =
			fuzz_byte(in) & 1 ? MP_STR("added") : MP_STR("n\xc3\xa9w \"k\"");
		if (mp_value_get_str(&j->before, target, j->path.keys[j->path.n]) != MP_NONE) {
			j->path.n++;
			r = mp_edit_add(mp_str_of(j->before.src), j->path.keys, j->path.n, value,
					&j->out, NULL);
			FUZZ_CHECK(r == MCPOOL_EEXIST && j->out.len == 0);
			return;
		}
	} else {
		snprintf(j->path.numbers[j->path.n], sizeof(j->path.numbers[0]), "%zu",
			 mp_value_count(&j->before, target));
		j->path.keys[j->path.n] = mp_str_of(j->path.numbers[j->path.n]);
	}
	j->path.n++;
	r = mp_edit_add(mp_str_of(j->before.src), j->path.keys, j->path.n, value, &j->out, NULL);
	if (r == MCPOOL_ELIMIT)
		return;
	FUZZ_CHECK(r == 0);
	parse_result(j, (struct span){0, 0});
	now = follow(&j->after, &j->path, j->path.n);
	check_value(j, now);
	check_rest(&j->before, UINT32_MAX, 0, &j->after, object ? now - 1 : now,
		   j->after.nodes[now].next - now + object);
}

static void try_remove(struct job *j, mp_value target)
{
	uint32_t n = j->before.nodes[target].next - target;
	bool object;
	int r;

	path_to(&j->before, target, &j->arena, &j->path);
	if (follow(&j->before, &j->path, j->path.n) != target)
		return;
	object = j->path.n && mp_value_is(&j->before, follow(&j->before, &j->path, j->path.n - 1),
					  MP_TAPE_OBJECT);
	r = mp_edit_remove(mp_str_of(j->before.src), j->path.keys, j->path.n, &j->out, NULL);
	if (r == MCPOOL_EINVAL)
		return; /* the root, or a key that stands twice */
	FUZZ_CHECK(r == 0);
	parse_result(j, (struct span){j->before.nodes[object ? target - 1 : target].start,
				      j->before.nodes[target].end});
	if (object)
		FUZZ_CHECK(follow(&j->after, &j->path, j->path.n) == MP_NONE);
	check_rest(&j->before, object ? target - 1 : target, n + object, &j->after, UINT32_MAX, 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	uint8_t operation = fuzz_byte(&in), which = fuzz_byte(&in), what = fuzz_byte(&in);
	struct mp_str value = mp_str_of(new_values[what % MP_ARRAY_LEN(new_values)]);
	static struct job j;
	mp_value target;
	char *text;

	if (in.size > 4000 || memchr(in.data, '\0', in.size))
		return 0;
	text = malloc(in.size + 1);
	memcpy(text, in.data, in.size);
	text[in.size] = '\0';
	mp_tape_init(&j.before, 0);
	if (mp_tape_parse(&j.before, mp_str_of(text), NULL) < 0)
		j.before.accept = MP_TAPE_JSONC;
	mp_tape_init(&j.after, j.before.accept); /* strict stays strict */
	mp_tape_init(&j.value, 0);
	mp_buf_init(&j.out, MP_LIMIT_MESSAGE);
	mp_arena_init(&j.arena, MP_LIMIT_ARENA);
	FUZZ_CHECK(mp_tape_parse(&j.value, value, NULL) == 0);
	if (mp_tape_parse(&j.before, mp_str_of(text), NULL) == 0) {
		target = which % j.before.n;
		if (is_key(&j.before, target))
			target = mp_value_of(target);
		if (operation % 3 == 0)
			try_replace(&j, target, value);
		else if (operation % 3 == 1)
			try_add(&j, target, value, &in);
		else
			try_remove(&j, target);
	} else {
		struct mp_str path = MP_STR("a");

		FUZZ_CHECK(mp_edit_set(mp_str_of(text), &path, 1, value, &j.out, NULL) < 0);
		FUZZ_CHECK(j.out.len == 0);
	}
	mp_arena_done(&j.arena);
	mp_buf_done(&j.out);
	mp_tape_done(&j.value);
	mp_tape_done(&j.after);
	mp_tape_done(&j.before);
	free(text);
	return 0;
}
