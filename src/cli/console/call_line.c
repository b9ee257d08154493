/*
 * call_line.c - one call that ended, as a line for people.
 */
#include "cli/console/call_line.h"

#include "base/limits.h"
#include "cli/display/live_table.h"
#include "cli/display/safe.h"

int64_t mp_call_line_get_number(const struct mp_feed *l, const char *key)
{
	int64_t n;

	return mp_value_i64(&l->t, mp_value_get(&l->t, l->item, key), &n) < 0 ? -1 : n;
}

/* "tools/call echo", or the method alone */
static int add_what(struct mp_feed *l, struct mp_arena *arena, struct mp_buf *line)
{
	struct mp_str tool = mp_feed_get_text(l, arena, "tool");
	int r = mp_safe_add(line, mp_feed_get_text(l, arena, "method"), MP_SAFE_LINE);

	if (r == 0 && tool.len)
		r = mp_buf_add_char(line, ' ');
	return r < 0 ? r : mp_safe_add(line, tool, MP_SAFE_LINE);
}

static int add_outcome(struct mp_feed *l, struct mp_arena *arena, struct mp_buf *line)
{
	struct mp_str code = mp_feed_get_text(l, arena, "code");
	char took[16];
	int r = mp_buf_addf(line, "  %.*s", MP_STR_ARGS(mp_feed_get_text(l, arena, "outcome")));

	if (r == 0 && code.len)
		r = mp_buf_addf(line, " (%.*s)", MP_STR_ARGS(code));
	mp_live_write_latency(mp_call_line_get_number(l, "latencyUs"), took);
	return r < 0 ? r : mp_buf_addf(line, " in %s", took);
}

static int add_caller(struct mp_feed *l, struct mp_arena *arena, struct mp_buf *line)
{
	struct mp_str client = mp_feed_get_text(l, arena, "client");
	int r = mp_buf_addf(line, "  session %lld",
			    (long long)mp_call_line_get_number(l, "session"));

	if (r == 0 && client.len)
		r = mp_buf_add_str(line, MP_STR(" "));
	return r < 0 ? r : mp_safe_add(line, client, MP_SAFE_LINE);
}

static int add_args(struct mp_feed *l, struct mp_buf *line)
{
	mp_value args = mp_value_get(&l->t, l->item, "args");

	if (args == MP_NONE)
		return 0;
	return mp_buf_addf(line, "  ") < 0
		       ? MCPOOL_ENOMEM
		       : mp_safe_add(line, mp_value_source(&l->t, args), MP_SAFE_LINE);
}

int mp_call_line_add(struct mp_feed *l, struct mp_arena *arena, bool with_server,
		     struct mp_buf *out)
{
	struct mp_str server = mp_feed_get_text(l, arena, "server");
	char when[16];
	int r;

	mp_feed_write_time(mp_call_line_get_number(l, "time"), when);
	r = mp_buf_addf(out, "%s  ", when);
	if (r == 0 && with_server)
		r = mp_safe_add(out, server, MP_SAFE_LINE);
	if (r == 0 && with_server)
		r = mp_buf_addf(out, "  ");
	if (r == 0)
		r = add_what(l, arena, out);
	if (r == 0)
		r = add_outcome(l, arena, out);
	if (r == 0)
		r = add_caller(l, arena, out);
	return r < 0 ? r : add_args(l, out);
}
