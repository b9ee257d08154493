/*
 * era_legacy.c - what revisions up to 2025-11-25 put on the wire: the opening.
 */
#include "base/error.h"
#include "rpc/era.h"

/* The newest first: what we ask for. */
#define VERSIONS(X)     \
	X("2025-11-25") \
	X("2025-06-18") \
	X("2025-03-26") \
	X("2024-11-05") \
	X("2024-10-07")

static const char *const versions[] = {
#define X(version) version,
	VERSIONS(X)
#undef X
};

bool mp_legacy_knows(struct mp_str version)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(versions); i++)
		if (mp_str_eq(version, mp_str_of(versions[i])))
			return true;
	return false;
}

const char *mp_legacy_list_versions(void)
{
#define X(version) version ", "
	static const char list[] = VERSIONS(X);
#undef X
	static char text[sizeof(list)];

	memcpy(text, list, sizeof(list));
	text[sizeof(list) - 3] = '\0'; /* without the last comma */
	return text;
}

int mp_legacy_write_initialize(const struct mp_identity *me, struct mp_buf *out)
{
	struct mp_writer w;

	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "protocolVersion", MP_STR(MP_LEGACY_VERSION));
	mp_write_member_raw(&w, "capabilities", me->capabilities);
	mp_write_key(&w, MP_STR("clientInfo"));
	mp_era_write_implementation(&w, me);
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

static int refuse_version(struct mp_str version, struct mcpool_error *reterr)
{
	if (version.len == 0)
		return mp_fail(reterr, MCPOOL_EPROTO, "the answer to initialize names no version");
	return mp_fail(reterr, MCPOOL_EPROTO,
		       "the server speaks protocol version '%.*s'; mcpool knows %s and %s",
		       MP_STR_ARGS(version), MP_MODERN_VERSION, mp_legacy_list_versions());
}

static int read_hello(const struct mp_tape *t, struct mp_arena *arena, struct mp_hello *hello,
		      struct mcpool_error *reterr)
{
	mp_value capabilities = mp_value_get(t, MP_ROOT, "capabilities");
	struct mp_str source = mp_value_source(t, capabilities);
	char *copy;
	int r;

	r = mp_era_read_text(t, MP_ROOT, "protocolVersion", arena, &hello->version);
	if (r == 0 && !mp_legacy_knows(hello->version))
		return refuse_version(hello->version, reterr);
	if (r == 0)
		r = mp_era_read_implementation(t, mp_value_get(t, MP_ROOT, "serverInfo"), arena,
					       hello);
	if (r == 0)
		r = mp_era_read_text(t, MP_ROOT, "instructions", arena, &hello->instructions);
	if (r < 0)
		return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	copy = mp_arena_dup(arena, source);
	if (!copy)
		return mp_fail(reterr, mp_arena_get_error(arena), "out of memory");
	hello->capabilities = (struct mp_str){copy, source.len};
	hello->offers = mp_era_read_offers(t, capabilities);
	return 0;
}

int mp_legacy_read_initialize(const struct mp_message *m, struct mp_arena *arena,
			      struct mp_hello *hello, struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	int r;

	*hello = (struct mp_hello){.era = MP_ERA_LEGACY};
	r = mp_era_open(m, m->result, &t);
	if (r < 0)
		return mp_fail(reterr, r, "%s", mcpool_error_text(r));
	if (!mp_value_is(&t, MP_ROOT, MP_TAPE_OBJECT))
		return mp_fail(reterr, MCPOOL_EPROTO, "the answer to initialize is %s",
			       mp_value_describe(&t, MP_ROOT));
	return read_hello(&t, arena, hello, reterr);
}
