/*
 * test_outgoing.c - messages in pieces: the text, and what is noted beside it.
 */
#include "test.h"

#include "fake_transport.h"
#include "outgoing.h"
#include "rpc/era.h"

static bool says(const struct mp_outgoing *o, const char *expected)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;

	mp_buf_init(&text, MP_MIB(1));
	REQUIRE(mp_buf_add_pieces(&text, o->pieces, o->n_pieces) == 0);
	REQUIRE(mp_str_eq(mp_buf_get(&text), mp_str_of(expected)));
	return o->len == text.len;
}

TEST(a_request_with_everything)
{
	struct mp_splice s = {.id = MP_STR("7"),
			      .progress_token = MP_STR("7"),
			      .meta = MP_STR("{\"a\":1}"),
			      .more = MP_STR("{\"b\":2}")};
	struct mp_outgoing o;

	mp_outgoing_request(&o, MP_METHOD_TOOLS_CALL, MP_STR("{\"name\":\"x\"}"), &s);
	CHECK(says(&o, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{"
		       "\"name\":\"x\",\"_meta\":{\"progressToken\":7,\"a\":1,\"b\":2}}}"));
	CHECK_EQ(o.kind, MP_MESSAGE_REQUEST);
	CHECK_EQ(o.method, MP_METHOD_TOOLS_CALL);
	CHECK_STR(o.id, "7");
	CHECK_STR(o.params, "{\"name\":\"x\"}");
	CHECK_EQ(o.name.len + o.version.len + o.cancelled_id.len, 0);
	CHECK(o.n_pieces <= MP_OUTGOING_PIECES);
}

TEST(notifications_and_answers)
{
	struct mp_outgoing o;

	mp_outgoing_notification(&o, MP_METHOD_INITIALIZED, MP_STR(""));
	CHECK(says(&o, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"));
	CHECK_EQ(o.kind, MP_MESSAGE_NOTIFICATION);
	CHECK_EQ(o.id.len, 0);
	mp_outgoing_answer(&o, MP_STR("\"a\""), false, MP_STR("{}"));
	CHECK(says(&o, "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{}}"));
	CHECK_EQ(o.kind, MP_MESSAGE_RESULT);
	CHECK_STR(o.id, "\"a\"");
	mp_outgoing_answer(&o, MP_STR("1"), true, MP_STR("{\"code\":1}"));
	CHECK(says(&o, "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1}}"));
	CHECK_EQ(o.kind, MP_MESSAGE_ERROR);
}

/* --- what the peer notes ---------------------------------------------------------------------- */

struct noted {
	struct fake_transport w;
	char name[20], version[20], cancelled[20];
};

static int note(void *u, const struct mp_outgoing *o, uint64_t *ret_at)
{
	struct noted *n = u;

	fake_copy(n->name, sizeof(n->name), o->name);
	fake_copy(n->version, sizeof(n->version), o->version);
	fake_copy(n->cancelled, sizeof(n->cancelled), o->cancelled_id);
	return fake_transport_send(&n->w, o, ret_at);
}

static int write_meta(void *u, const struct mp_call_options *o, struct mp_str *ret_meta)
{
	(void)u;
	(void)o;
	*ret_meta =
		MP_STR("{\"io.modelcontextprotocol/protocolVersion\":\"" MP_MODERN_VERSION "\"}");
	return 0;
}

static const struct mp_peer_hooks hooks = {.send = note, .write_meta = write_meta};

static void noted_done(struct noted *n)
{
	fake_transport_done(&n->w);
}

TEST(the_peer_notes_name_version_and_what_is_cancelled)
{
	MP_CLEANUP(noted_done) struct noted n = {0};
	struct mp_call_options o = {.method = MP_METHOD_TOOLS_CALL,
				    .params = MP_STR("{\"name\":\"\\u0061\"}"),
				    .name = MP_STR("a")};
	struct fake_caller a = {0}, b = {0}, c = {0};
	char id[24];

	CHECK(fake_transport_start(&n.w, &hooks, &n));
	CHECK_EQ(fake_start(&n.w, &a, &o), 0);
	CHECK_TEXT(n.name, "a");
	CHECK_TEXT(n.version, ""); /* legacy */
	n.w.peer.is_modern = true;
	CHECK_EQ(fake_start(&n.w, &b, &o), 0);
	CHECK_TEXT(n.version, MP_MODERN_VERSION);
	o.method = MP_METHOD_COMPLETE; /* its name is not a member of params */
	CHECK_EQ(fake_start(&n.w, &c, &o), 0);
	CHECK_TEXT(n.name, "");
	CHECK_TEXT(n.cancelled, "");
	mp_peer_cancel(&b.part);
	snprintf(id, sizeof(id), "%llu", (unsigned long long)b.call);
	CHECK_TEXT(n.cancelled, id);
	CHECK_TEXT(n.version, "");
}
