/*
 * listen.c - who hears of changes: the legacy client, and every open subscriptions/listen.
 * An open stream is a request that is not answered yet; the filter it was opened with stays.
 */
#include "demo/demo.h"

/* Every message on the stream has its id. */
static struct mp_writer *begin_on(struct mp_demo_call *stream)
{
	struct mp_writer *w = mp_demo_begin_object(stream->demo);

	mp_write_key(w, MP_STR("_meta"));
	mp_write_begin_object(w);
	mp_write_member_raw(w, "io.modelcontextprotocol/subscriptionId", mp_demo_id(stream));
	mp_write_end_object(w);
	return w;
}

static void write_uris(struct mp_writer *w, uint32_t watched)
{
	mp_write_key(w, MP_STR("resourceSubscriptions"));
	mp_write_begin_array(w);
	for (uint32_t bit = 1; bit; bit <<= 1)
		if (watched & bit)
			mp_write_text(w, mp_str_of(mp_demo_resource_uri(bit)));
	mp_write_end_array(w);
}

/* The first message says what of the filter we can serve; prompts and resources never change. */
static void acknowledge(struct mp_demo_call *c)
{
	struct mp_writer *w = begin_on(c);

	mp_write_key(w, MP_STR("notifications"));
	mp_write_begin_object(w);
	if (c->wants_tools)
		mp_write_member_bool(w, "toolsListChanged", true);
	if (c->watched)
		write_uris(w, c->watched);
	mp_write_end_object(w);
	mp_demo_notify(c->demo, MP_METHOD_ACKNOWLEDGED);
}

void mp_demo_listen(struct mp_demo_call *c)
{
	const struct mp_tape *t = c->message->tape;
	mp_value filter = mp_value_get(t, c->message->params, "notifications");
	mp_value uris = mp_value_get(t, filter, "resourceSubscriptions");

	if (!mp_value_is(t, filter, MP_TAPE_OBJECT) ||
	    (uris != MP_NONE && !mp_value_is(t, uris, MP_TAPE_ARRAY))) {
		mp_demo_fail(c, MP_DEMO_INVALID_PARAMS,
			     "subscriptions/listen needs notifications, an object, with "
			     "resourceSubscriptions, a list, if any");
		return;
	}
	c->wants_tools = mp_value_is(t, mp_value_get(t, filter, "toolsListChanged"), MP_TAPE_TRUE);
	MP_VALUE_EACH(t, uris, uri)
		c->watched |= mp_demo_resource_bit(c->demo, uri);
	c->message = NULL;
	acknowledge(c);
}

#define EACH_STREAM(d, c)                                                                          \
	MP_LIST_EACH(&(d)->calls, link)                                                            \
		for (struct mp_demo_call *c = mp_container_of(link, struct mp_demo_call, link); c; \
		     c = NULL)                                                                     \
			if (c->method == MP_METHOD_LISTEN)

void mp_demo_tell_tools_changed(struct mp_demo *d)
{
	if (d->initialized) {
		mp_demo_begin_object(d);
		mp_demo_notify(d, MP_METHOD_TOOLS_CHANGED);
	}
	EACH_STREAM(d, c)
	{
		if (!c->wants_tools)
			continue;
		begin_on(c);
		mp_demo_notify(d, MP_METHOD_TOOLS_CHANGED);
	}
}

void mp_demo_tell_updated(struct mp_demo *d, uint32_t resource)
{
	struct mp_str uri = mp_str_of(mp_demo_resource_uri(resource));

	if (d->watched & resource) {
		mp_write_member_text(mp_demo_begin_object(d), "uri", uri);
		mp_demo_notify(d, MP_METHOD_RESOURCE_UPDATED);
	}
	EACH_STREAM(d, c)
	{
		if (!(c->watched & resource))
			continue;
		mp_write_member_text(begin_on(c), "uri", uri);
		mp_demo_notify(d, MP_METHOD_RESOURCE_UPDATED);
	}
}

void mp_demo_end_listens(struct mp_demo *d)
{
	EACH_STREAM(d, c)
	{
		mp_demo_begin(c);
		mp_demo_end(c);
	}
}
