/*
 * hello.c - who is there: initialize and its kin for legacy clients, server/discover and the
 * metadata of each request for modern ones.
 */
#include "demo/demo.h"

/* What we answer initialize with: the client's version if it is here, else the first. */
static const char *const versions[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05",
				       "2024-10-07"};

const char *const mp_demo_levels[MP_DEMO_LEVELS + 1] = {
	"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency", NULL};

#define CAPABILITIES                                                                           \
	"{\"tools\":{\"listChanged\":true},\"resources\":{\"subscribe\":true},\"prompts\":{}," \
	"\"completions\":{},\"logging\":{}}"
#define INSTRUCTIONS                                                                              \
	"This server is for trying things out. `echo` returns what it is given, `sleep` reports " \
	"progress, `ask` asks the user, `change` changes the list of tools."

/* Can the user be asked with a form? An empty object means forms, as before there were modes. */
static bool can_ask(const struct mp_tape *t, mp_value capabilities)
{
	mp_value elicitation = mp_value_get(t, capabilities, "elicitation");

	return mp_value_is(t, elicitation, MP_TAPE_OBJECT) &&
	       (mp_value_count(t, elicitation) == 0 ||
		mp_value_get(t, elicitation, "form") != MP_NONE);
}

/* Index of the level, or MP_DEMO_LEVELS if it is none. */
static int read_level(const struct mp_tape *t, mp_value v)
{
	int i = 0;

	while (i < MP_DEMO_LEVELS && !mp_value_text_is(t, v, mp_str_of(mp_demo_levels[i])))
		i++;
	return i;
}

/* --- legacy ---------------------------------------------------------------------------------- */

static const char *choose_version(const struct mp_tape *t, mp_value wanted)
{
	for (size_t i = 0; i < MP_ARRAY_LEN(versions); i++)
		if (mp_value_text_is(t, wanted, mp_str_of(versions[i])))
			return versions[i];
	return versions[0];
}

void mp_demo_initialize(struct mp_demo_call *c)
{
	const struct mp_message *m = c->message;
	struct mp_demo *d = c->demo;
	mp_value version = mp_value_get(m->tape, m->params, "protocolVersion");
	struct mp_writer *w;

	if (!mp_value_is(m->tape, version, MP_TAPE_STRING)) {
		mp_demo_fail(c, MP_DEMO_INVALID_PARAMS, "initialize needs a protocolVersion");
		return;
	}
	/* A second initialize begins a new conversation. */
	d->initialized = true;
	d->can_ask = can_ask(m->tape, mp_value_get(m->tape, m->params, "capabilities"));
	d->level = MP_DEMO_INFO;
	d->watched = 0;
	w = mp_demo_begin(c);
	mp_write_member_text(w, "protocolVersion", mp_str_of(choose_version(m->tape, version)));
	mp_write_member_raw(w, "capabilities", MP_STR(CAPABILITIES));
	mp_write_member_raw(w, "serverInfo", MP_STR(MP_DEMO_SERVER_INFO));
	mp_write_member_text(w, "instructions", MP_STR(INSTRUCTIONS));
	mp_demo_end(c);
}

void mp_demo_ping(struct mp_demo_call *c)
{
	mp_demo_begin(c);
	mp_demo_end(c);
}

void mp_demo_set_level(struct mp_demo_call *c)
{
	const struct mp_message *m = c->message;
	int level = read_level(m->tape, mp_value_get(m->tape, m->params, "level"));

	if (level == MP_DEMO_LEVELS) {
		mp_demo_fail(c, MP_DEMO_INVALID_PARAMS,
			     "level is none of debug, info, notice, warning, "
			     "error, critical, alert, emergency");
		return;
	}
	c->demo->level = level;
	mp_demo_ping(c);
}

/* --- modern ---------------------------------------------------------------------------------- */

void mp_demo_discover(struct mp_demo_call *c)
{
	struct mp_writer *w = mp_demo_begin(c);

	mp_write_member_raw(w, "supportedVersions", MP_STR("[\"" MP_DEMO_MODERN "\"]"));
	mp_write_member_raw(w, "capabilities", MP_STR(CAPABILITIES));
	mp_write_member_text(w, "instructions", MP_STR(INSTRUCTIONS));
	mp_demo_end_cached(c, MP_DEMO_TTL_MS);
}

void mp_demo_fail_version(struct mp_demo_call *c, mp_value requested)
{
	struct mp_writer *w = mp_demo_begin_object(c->demo);

	mp_write_member_raw(w, "supported", MP_STR("[\"" MP_DEMO_MODERN "\"]"));
	if (mp_value_is(c->message->tape, requested, MP_TAPE_STRING))
		mp_write_member_raw(w, "requested", mp_value_source(c->message->tape, requested));
	mp_demo_fail_with_data(c, MP_DEMO_UNSUPPORTED_VERSION,
			       "this protocol version is not supported");
}

bool mp_demo_read_meta(struct mp_demo_call *c)
{
	const struct mp_tape *t = c->message->tape;
	mp_value meta = c->message->meta;
	mp_value version = mp_value_get(t, meta, "io.modelcontextprotocol/protocolVersion");
	mp_value capabilities = mp_value_get(t, meta, "io.modelcontextprotocol/clientCapabilities");
	mp_value level = mp_value_get(t, meta, "io.modelcontextprotocol/logLevel");

	if (!mp_value_is(t, version, MP_TAPE_STRING)) {
		mp_demo_fail(c, MP_DEMO_INVALID_PARAMS,
			     "_meta needs io.modelcontextprotocol/protocolVersion, a string");
		return false;
	}
	if (!mp_value_text_is(t, version, MP_STR(MP_DEMO_MODERN))) {
		mp_demo_fail_version(c, version);
		return false;
	}
	if (!mp_value_is(t, capabilities, MP_TAPE_OBJECT)) {
		mp_demo_fail(c, MP_DEMO_INVALID_PARAMS,
			     "_meta needs io.modelcontextprotocol/clientCapabilities, an object");
		return false;
	}
	c->can_ask = can_ask(t, capabilities);
	c->level = read_level(t, level);
	if (level != MP_NONE && c->level == MP_DEMO_LEVELS) {
		mp_demo_fail(c, MP_DEMO_INVALID_PARAMS,
			     "io.modelcontextprotocol/logLevel is no level");
		return false;
	}
	return true;
}
