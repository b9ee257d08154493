/*
 * fuzz_expand.c - any text with any spellings: no crash, out as it was on failure, and what was
 * looked up is what the list of names says. The first two bytes choose spellings and policy.
 */
#include "fuzz.h"

#include "base/buf.h"
#include "config/values/expand.h"

enum { MOST_NAMES = 4096 };

struct names {
	struct mp_str names[MOST_NAMES];
	size_t n, looked_up;
};

static void list(void *u, struct mp_str name)
{
	struct names *names = u;

	FUZZ_CHECK(name.len > 0);
	if (names->n < MOST_NAMES)
		names->names[names->n] = name;
	names->n++;
}

/* Defaults that are not used are listed and not looked up: the list has the others in between. */
static void look(void *u, struct mp_str name, const char *value)
{
	struct names *names = u;

	(void)value;
	while (names->looked_up < names->n && names->looked_up < MOST_NAMES &&
	       names->names[names->looked_up].p != name.p)
		names->looked_up++;
	FUZZ_CHECK(names->looked_up < names->n);
	names->looked_up++;
}

static void warn(void *u, const char *message)
{
	(void)u;
	FUZZ_CHECK(mp_str_starts(mp_str_of(message), MP_STR("Unresolved variable ")));
}

static int give_secret(void *u, struct mp_str name, struct mp_buf *out, struct mcpool_error *reterr)
{
	(void)u;
	(void)reterr;
	FUZZ_CHECK(mp_expand_is_secret_name(name));
	return mp_buf_add(out, "s", 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char *const env[] = {"A=a", "EMPTY=", "LOOP=${A}$A{env:A}", NULL};
	static struct names names;
	struct fuzz_input in = {data, size};
	struct mp_expand e = {
		.spellings = fuzz_byte(&in),
		.missing = fuzz_below(&in, 3),
		.env = env,
		.root = "/root",
		.folder = "/nonexistent",
		.server = "s",
		.file = "f",
		.on_variable = look,
		.on_warning = warn,
		.get_secret = give_secret,
		.u = &names,
	};
	struct mp_str text = fuzz_rest(&in);
	struct mcpool_error error = {0};
	struct mp_buf out;
	int r;

	names.n = names.looked_up = 0;
	mp_expand_each_name(e.spellings, text, list, &names);
	if (names.n > MOST_NAMES)
		return 0;
	mp_buf_init(&out, 100000);
	FUZZ_CHECK(mp_buf_add(&out, "x", 1) == 0);
	r = mp_expand_text(&e, text, &out, &error);
	FUZZ_CHECK(r <= 0 && error.code == r);
	FUZZ_CHECK(r == 0 || out.len == 1);
	FUZZ_CHECK(out.data[0] == 'x');
	if (r == 0 && e.spellings == 0)
		FUZZ_CHECK(out.len == text.len + 1);
	mp_buf_done(&out);
	return 0;
}
