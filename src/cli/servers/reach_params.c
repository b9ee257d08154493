/*
 * reach_params.c - writes the params of mcpool/status and mcpool/call.
 */
#include "cli/servers/reach_params.h"

#include "json/write.h"

static void params_write_servers(struct mp_writer *w, const struct mp_entry *const *entries,
				 size_t n)
{
	mp_write_key(w, MP_STR("servers"));
	mp_write_begin_array(w);
	for (size_t i = 0; i < n; i++)
		mp_write_text(w, mp_str_of(entries[i]->name));
	mp_write_end_array(w);
}

static void params_write_only(struct mp_writer *w, const struct mp_status_list *servers,
			      const bool *only)
{
	mp_write_key(w, MP_STR("only"));
	mp_write_begin_array(w);
	for (size_t i = 0; i < servers->n; i++)
		if (only[i])
			mp_write_text(w, mp_str_of(servers->items[i].name));
	mp_write_end_array(w);
}

int mp_reach_params_write_look(const struct mp_reach_look *look,
			       const struct mp_entry *const *entries, size_t n,
			       const struct mp_status_list *servers, struct mp_buf *out)
{
	static const char *const starts[] = {"none", "unknown", "all"};
	struct mp_writer w;

	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	if (entries)
		params_write_servers(&w, entries, n);
	if (look->only)
		params_write_only(&w, servers, look->only);
	mp_write_member_text(&w, "start", mp_str_of(starts[look->start]));
	mp_write_member_bool(&w, "fresh", look->fresh);
	mp_write_member_bool(&w, "catalogs", !look->no_catalogs);
	mp_write_member_i64(&w, "maxMs", look->max_ms);
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

int mp_reach_params_write_trial(const char *server, int64_t max_ms, struct mp_buf *out)
{
	struct mp_writer w;

	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	mp_write_key(&w, MP_STR("servers"));
	mp_write_begin_array(&w);
	mp_write_text(&w, mp_str_of(server));
	mp_write_end_array(&w);
	mp_write_member_text(&w, "start", MP_STR("all"));
	mp_write_member_i64(&w, "maxMs", max_ms);
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

int mp_reach_params_write_call(const struct mp_pool_call_options *rq, struct mp_str capabilities,
			       struct mp_buf *out)
{
	struct mp_writer w;

	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "server", mp_str_of(rq->server));
	mp_write_member_text(&w, "method", mp_str_of(mp_method_get(rq->call.method)->name));
	if (rq->tool.len)
		mp_write_member_text(&w, "tool", rq->tool);
	mp_write_member_raw(&w, "params", rq->call.params);
	mp_write_member_i64(&w, "timeoutMs", rq->call.timeout_ms);
	if (capabilities.len)
		mp_write_member_raw(&w, "capabilities", capabilities);
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}
