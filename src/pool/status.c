/*
 * status.c - takes the status of a server from its entry, its keeper, its queues and its catalog.
 */
#include "pool/status.h"

#include <limits.h>

#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/redact.h"
#include "config/values/trust.h"
#include "pool/cause.h"
#include "pool/health.h"
#include "pool/usage.h"
#include "pool/workspace.h"

/* --- texts ----------------------------------------------------------------------------------- */

static const char *text_keep(struct mp_arena *arena, struct mp_str text)
{
	const char *kept = text.len ? mp_arena_dup(arena, text) : "";

	return kept ? kept : "";
}

static struct mp_bind_list list_keep(struct mp_arena *arena, const struct mp_bind_list *from)
{
	struct mp_bind_list list = {mp_arena_alloc_array(arena, from->n + 1, sizeof(char *)), 0};

	while (list.items && list.n < from->n) {
		list.items[list.n] = text_keep(arena, mp_str_of(from->items[list.n]));
		list.n++;
	}
	return list;
}

/* Redact each separately, so that a secret at the end of one does not hide the other. */
static int error_write(struct mp_str message, struct mp_str line, struct mp_buf *out,
		       size_t *ret_message)
{
	int r = mp_redact(message, false, out);

	*ret_message = out->len;
	if (r < 0 || !message.len || !line.len)
		return r;
	r = mp_buf_add_str(out, MP_STR(" ("));
	if (r == 0)
		r = mp_redact(line, false, out);
	return r < 0 ? r : mp_buf_add_char(out, ')');
}

static void status_set_error(struct mp_status *s, struct mp_arena *arena, const char *message,
			     struct mp_str tail)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	size_t n = 0;

	mp_buf_init(&text, MP_KIB(512));
	s->tail = text_keep(arena, tail); /* already redacted by its reader (tail.h) */
	if (error_write(mp_str_of(message), mp_cause_get_line(tail), &text, &n) < 0) {
		s->error = s->message = "(too long to show)";
		return;
	}
	s->error = text_keep(arena, mp_buf_get(&text));
	s->message = n == text.len ? s->error : text_keep(arena, (struct mp_str){text.data, n});
}

/* --- command or URL -------------------------------------------------------------------------- */

/* Redact each word separately, so that only the secret is hidden and not the next word. */
static int command_add_word(struct mp_buf *out, const char *word, const char *before)
{
	bool quoted = word[0] == '\0' || strpbrk(word, " \t\n\"'");
	bool secret = before[0] == '-' && mp_redact_is_secret_name(mp_str_of(before));
	int r = quoted ? mp_buf_add_char(out, '\'') : 0;

	if (r == 0)
		r = secret ? mp_buf_add_str(out, MP_STR("\xe2\x80\xa2\xe2\x80\xa2\xe2\x80\xa2"))
			   : mp_redact(mp_str_of(word), false, out);
	return r == 0 && quoted ? mp_buf_add_char(out, '\'') : r;
}

/* The command as one line; words with blanks are quoted. */
static int command_write(const struct mp_entry *e, struct mp_buf *out)
{
	int r = 0;

	for (size_t i = 0; i < e->argc && r == 0; i++) {
		if (i > 0)
			r = mp_buf_add_char(out, ' ');
		if (r == 0)
			r = command_add_word(out, e->argv[i], i > 0 ? e->argv[i - 1] : "");
	}
	return r;
}

void mp_status_add_target(struct mp_status *s, const struct mp_entry *e, struct mp_arena *arena)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	bool is_command = e->kind == MP_KIND_STDIO;

	mp_buf_init(&text, MP_LIMIT_CONFIG_FILE);
	/* User info and query of a URL may be secrets; mp_redact() handles them. */
	if (e->invalid || (is_command ? command_write(e, &text)
				      : mp_redact(mp_str_of(e->address), false, &text)) < 0)
		return;
	*(is_command ? &s->command : &s->url) = text_keep(arena, mp_buf_get(&text));
}

/* --- from the files -------------------------------------------------------------------------- */

static struct mp_str shadow_write(const struct mp_entry *e, struct mp_arena *arena)
{
	static const char *const reasons[] = {"", "name", "connection", "approved"};
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;
	const char *kept = NULL;

	mp_buf_init(&text, MP_MIB(1));
	if (e->shadow == MP_SHADOW_NONE)
		return e->left_out ? MP_STR("true") : MP_STR("false");
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "by", mp_str_of(e->shadowed_by->name));
	mp_write_member_text(&w, "reason", mp_str_of(reasons[e->shadow]));
	mp_write_member_text(&w, "file", mp_str_of(e->shadowed_by->origin.file));
	mp_write_member_i64(&w, "line", e->shadowed_by->origin.line);
	mp_write_end_object(&w);
	if (mp_write_finish(&w) == 0)
		kept = mp_arena_dup(arena, mp_buf_get(&text));
	return kept ? mp_str_of(kept) : MP_STR("true");
}

/* Same rule as declare() in instance.c and upstream.c; modern servers get it with each call. */
static bool is_withheld(const struct mp_entry *e, const struct mp_server_catalog *offer)
{
	return e->tuning.mode != MP_MODE_SESSION && e->tuning.mode != MP_MODE_SERIAL &&
	       e->kind != MP_KIND_HTTP && !(offer && offer->hello.era == MP_ERA_MODERN);
}

static void status_set_withheld(struct mp_status *s, bool is_withheld)
{
	static const char *words[] = {"roots", "sampling", "elicitation"};

	s->withheld = (struct mp_bind_list){words, is_withheld ? MP_ARRAY_LEN(words) : 0};
}

void mp_status_init(struct mp_status *s)
{
	*s = (struct mp_status){
		.name = "",
		.state = MP_STATUS_READY,
		.detail = "",
		.error = "",
		.next_at_ms = -1,
		.transport = "",
		.mode = "",
		.source = {.file = "", .tool = "", .level = ""},
		.shadowed = MP_STR("false"),
		.tools = -1,
		.seen_ms = -1,
		.pid = -1,
		.uptime_ms = -1,
		.restarts = -1,
		.attempt = -1,
		.max_attempts = -1,
		.calls = -1,
		.failures = -1,
		.p50_us = -1,
		.p99_us = -1,
		.environment = "",
		.memory = -1,
		.cpu_us = -1,
		.processes = -1,
		.sessions = -1,
		.calls_last_minute = -1,
		.tool_tokens = -1,
		.message = "",
		.tail = "",
		.prompts = -1,
		.resources = -1,
		.failed_at_ms = -1,
		.since_ms = -1,
		.prepare_us = -1,
		.spawn_us = -1,
		.handshake_us = -1,
		.list_us = -1,
	};
}

static void status_set_config(struct mp_status *s, const struct mp_entry *e, struct mp_arena *arena)
{
	mp_status_init(s);
	s->name = text_keep(arena, mp_str_of(e->name));
	s->transport = mp_kind_get_name(e->kind);
	s->mode = mp_modes[e->tuning.mode];
	s->source.file = text_keep(arena, mp_str_of(e->origin.file));
	s->source.line = e->origin.line;
	s->source.tool = text_keep(arena, mp_str_of(e->origin.tool));
	s->source.level = mp_config_level_get_name(e->origin.level);
	s->shadowed = shadow_write(e, arena);
	s->is_new = e->trust == MP_TRUST_NEW;
	s->is_changed = e->trust == MP_TRUST_CHANGED;
	s->provider = e->origin.label ? text_keep(arena, mp_str_of(e->origin.label)) : NULL;
	s->timeout_ms = e->tuning.timeout_ms;
	s->is_required = e->tuning.required;
	s->tools_allowed = list_keep(arena, &e->tools_allowed);
	s->tools_denied = list_keep(arena, &e->tools_denied);
}

/* Where it was switched off (C7). */
static void status_set_off(struct mp_status *s, const struct mp_config_set *set,
			   const struct mp_entry *e, enum mp_toggle toggle, struct mp_arena *arena)
{
	char why[PATH_MAX + 300];

	mp_entry_explain_off(e, &set->settings, toggle, why, sizeof(why));
	status_set_error(s, arena, why, MP_STR(""));
}

void mp_status_take_entry(const struct mp_config_set *set, const struct mp_entry *e,
			  struct mp_arena *arena, struct mp_status *ret)
{
	const char *why = e->invalid ? e->invalid : e->unapprovable;

	status_set_config(ret, e, arena);
	ret->state = mp_config_get_state(set, e, MP_TOGGLE_NONE);
	status_set_withheld(ret, is_withheld(e, NULL));
	if (ret->state == MP_STATUS_DISABLED)
		status_set_off(ret, set, e, MP_TOGGLE_NONE, arena);
	if (!why)
		return;
	status_set_error(ret, arena, why, MP_STR(""));
	ret->code = MCPOOL_EINVAL;
}

/* --- from the instance ----------------------------------------------------------------------- */

/* The only place that maps a keeper's state to a displayed state. */
static enum mp_status_state state_of_keeper(const struct mp_keeper_facts *f)
{
	switch (f->state) {
	case MP_KEEPER_PREPARING:
	case MP_KEEPER_STARTING:
	case MP_KEEPER_LISTING:
	case MP_KEEPER_RENEWING:
		return MP_STATUS_PENDING;
	case MP_KEEPER_UP:
	case MP_KEEPER_CHECKING:
		return MP_STATUS_CONNECTED;
	case MP_KEEPER_CLEARING: /* a start that lacked a login: it is about to wait for one */
		return f->why.code == MCPOOL_ENEEDS_AUTH && f->tries_failed > 0
			       ? MP_STATUS_NEEDS_AUTH
			       : MP_STATUS_FAILED;
	case MP_KEEPER_BACKOFF:
	case MP_KEEPER_FAILED:
		return MP_STATUS_FAILED;
	case MP_KEEPER_BARRED:
		return f->why.code == MCPOOL_ENEEDS_AUTH ? MP_STATUS_NEEDS_AUTH
							 : MP_STATUS_NEEDS_APPROVAL;
	case MP_KEEPER_DOWN:
	case MP_KEEPER_STOPPING:
	case MP_KEEPER_STATE_COUNT:
		break;
	}
	return MP_STATUS_READY;
}

/* Without an instance: an approved entry whose values cannot be resolved has failed. */
static enum mp_status_state state_of_entry(const struct mp_workspace *w, size_t i, mp_id session)
{
	enum mp_status_state state = mp_workspace_entry_get_state(w, i, session);

	if (state == MP_STATUS_SHADOWED)
		state = MP_STATUS_READY;
	return state == MP_STATUS_READY && !mp_workspace_entry_get_key(w, i)->is_known
		       ? MP_STATUS_FAILED
		       : state;
}

static enum mp_status_state state_of_instance(const struct mp_instance *in)
{
	return mp_instance_will_retry(in) ? MP_STATUS_PENDING
					  : state_of_keeper(mp_keeper_get_facts(in->k));
}

enum mp_status_state mp_pool_get_state(const struct mp_pool *p, mp_id instance)
{
	const struct mp_instance *in = mp_ids_get(&p->ids, instance);

	return in ? state_of_instance(in) : MP_STATUS_READY;
}

enum mp_status_state mp_workspace_get_state(struct mp_workspace *w, size_t i, mp_id session)
{
	struct mp_instance *in = mp_workspace_entry_get_instance(w, i, session);

	return in ? state_of_instance(in) : state_of_entry(w, i, session);
}

bool mp_workspace_is_given_up(struct mp_workspace *w, size_t i, mp_id session)
{
	struct mp_instance *in = mp_workspace_entry_get_instance(w, i, session);

	return in && mp_instance_is_marked(in);
}

/* Why it may not run, if the state does not say it all. */
static void status_set_hint(struct mp_status *s, const struct mp_workspace *w, size_t i,
			    mp_id session, struct mp_arena *arena)
{
	const struct mp_entry *e = mp_workspace_get_entry(w, i);
	char command[PATH_MAX + 300];

	if (s->state == MP_STATUS_DISABLED &&
	    mp_workspace_entry_get_own_toggle(w, i, session) == MP_TOGGLE_OFF)
		status_set_error(s, arena, "switched off for this session", MP_STR(""));
	else if (s->state == MP_STATUS_DISABLED)
		status_set_off(s, w->config->set, e, mp_workspace_entry_get_toggle(w, i), arena);
	if (s->state != MP_STATUS_NEEDS_APPROVAL || !(e->origin.quirks & MP_QUIRK_ASKED))
		return;
	mp_trust_get_command(e, command, sizeof(command)); /* of a file that only sessions read */
	status_set_error(s, arena, command, MP_STR(""));
}

static void status_set_entry(struct mp_status *s, const struct mp_workspace *w, size_t i,
			     mp_id session, struct mp_arena *arena)
{
	const struct mp_entry *e = mp_workspace_get_entry(w, i);
	const struct mp_key *key = mp_workspace_entry_get_key(w, i);
	const char *why = e->invalid ? e->invalid : e->unapprovable;

	s->state = state_of_entry(w, i, session);
	status_set_hint(s, w, i, session, arena);
	if (s->state != MP_STATUS_FAILED)
		return;
	status_set_error(s, arena, why ? why : key->problem, MP_STR(""));
	s->code = why ? MCPOOL_EINVAL : key->code;
}

static bool has_own_token(const struct mp_entry *e)
{
	for (size_t i = 0; i < e->headers.n; i++)
		if (strcasecmp(e->headers.items[i].key, "Authorization") == 0)
			return true;
	return e->bearer_variable != NULL;
}

/* Who waits for a login says what to do. */
static void status_set_login(struct mp_status *s, const struct mp_entry *e, const char *why,
			     struct mp_arena *arena)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	const char *step = has_own_token(e) ? "put a valid token into its headers, then: mcpool "
					      "reconnect"
					    : "log in: mcpool login";

	mp_buf_init(&text, MP_KIB(8));
	if (strstr(why, "mcpool login") ||
	    mp_buf_addf(&text, "%s %s (%s)", step, e->name, why) < 0 || mp_buf_terminate(&text) < 0)
		status_set_error(s, arena, why, MP_STR(""));
	else
		status_set_error(s, arena, text.data, MP_STR(""));
}

static void status_set_keeper(struct mp_status *s, struct mp_instance *in, struct mp_arena *arena)
{
	const struct mp_keeper_facts *f = mp_keeper_get_facts(in->k);
	int64_t now = mp_loop_now_ms(in->pool->o.loop);

	s->state = state_of_instance(in);
	s->detail = mp_keeper_get_state_name(f->state);
	if (s->state == MP_STATUS_NEEDS_AUTH)
		status_set_login(s, in->e, f->why.message, arena);
	else
		status_set_error(s, arena, f->why.message, f->tail);
	s->code = f->why.code;
	s->fault = (int64_t)mp_error_get_fault(&f->why);
	s->failed_at_ms = f->why.code ? f->failed_wall_ms : -1;
	s->since_ms = f->since_wall_ms;
	s->tries = f->attempt;
	s->max_tries = f->max;
	if (s->tries > 0 && s->state != MP_STATUS_CONNECTED) {
		s->attempt = s->tries;
		s->max_attempts = s->max_tries > 0 ? s->max_tries : -1;
	}
	if (f->state == MP_KEEPER_BACKOFF || mp_keeper_awaits_change(in->k))
		s->next_at_ms = mp_loop_wall_now_ms(in->pool->o.loop) + f->next_ms - now;
	s->pid = mp_keeper_get_pid(in->k) > 0 ? mp_keeper_get_pid(in->k) : -1;
	s->uptime_ms = mp_keeper_is_up(in->k) ? now - f->up_since_ms : -1;
	s->starts = (int64_t)f->starts;
	s->restarts = (int64_t)f->restarts;
	s->prepare_us = f->times.prepare_us;
	s->spawn_us = f->times.spawn_us;
	s->handshake_us = f->times.handshake_us;
	s->list_us = f->times.list_us;
}

static void status_set_calls(struct mp_status *s, struct mp_instance *in)
{
	s->calls = (int64_t)in->stats.calls;
	s->failures = (int64_t)mp_stats_count_failures(&in->stats);
	s->calls_last_minute = mp_stats_count_minute(&in->stats, mp_loop_now_ms(in->pool->o.loop));
	if (in->stats.calls) {
		s->p50_us = mp_stats_get_latency_us(&in->stats, 500);
		s->p99_us = mp_stats_get_latency_us(&in->stats, 990);
	}
	s->waiting =
		(int64_t)(in->calls[MP_POOL_CALL_WAITING].len + in->calls[MP_POOL_CALL_LINED].len);
	s->open = (int64_t)in->calls[MP_POOL_CALL_OUT].len;
	s->unfinished = (int64_t)mp_instance_count_calls(in);
}

static struct mp_str history_write(const struct mp_instance *in, struct mp_arena *arena)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	uint32_t counts[MP_HISTORY_SLOTS];
	int r = 0;

	mp_buf_init(&text, MP_KIB(2));
	if (!in->stats.history)
		return MP_STR("");
	mp_history_read(in->stats.history, mp_loop_now_ms(in->pool->o.loop), counts);
	for (int i = 0; i < MP_HISTORY_SLOTS && r == 0; i++)
		r = mp_buf_addf(&text, "%c%u", i ? ',' : '[', counts[i]);
	return r == 0 && mp_buf_add_char(&text, ']') == 0
		       ? mp_str_of(text_keep(arena, mp_buf_get(&text)))
		       : MP_STR("");
}

static void status_set_usage(struct mp_status *s, const struct mp_instance *in,
			     struct mp_arena *arena)
{
	const struct mp_tree_usage *used = mp_usage_get(in);

	s->sessions = (int64_t)in->usage.sessions;
	s->history = history_write(in, arena);
	if (!used)
		return;
	s->memory = used->memory;
	s->cpu_us = used->cpu_us;
	s->processes = used->processes;
}

/* Of tool definitions of common servers, within about 10 %; models differ. */
#define BYTES_PER_TOKEN 4.4

static int64_t count_tokens(const struct mp_catalog_list *tools)
{
	size_t bytes = 0;

	for (size_t i = 0; i < tools->n; i++)
		bytes += tools->items[i].json.len;
	return (int64_t)((double)bytes / BYTES_PER_TOKEN);
}

/* known: live or already loaded; NULL: read the store. */
static void status_set_catalog(struct mp_status *s, struct mp_workspace *w, size_t i, mp_id session,
			       const struct mp_server_catalog *known)
{
	struct mp_stored_catalog d;

	if (known) {
		s->tools = (int64_t)known->lists[MP_CATALOG_TOOL]->list.n;
		s->prompts = (int64_t)known->lists[MP_CATALOG_PROMPT]->list.n;
		s->resources = (int64_t)known->lists[MP_CATALOG_RESOURCE]->list.n;
		s->tool_tokens = count_tokens(&known->lists[MP_CATALOG_TOOL]->list);
		s->seen_ms =
			known->saved_ms ? known->saved_ms : mp_loop_wall_now_ms(w->pool->o.loop);
	} else if (mp_workspace_peek_catalog(w, i, session, &d)) {
		s->tools = (int64_t)d.counts[MP_CATALOG_TOOL];
		s->prompts = (int64_t)d.counts[MP_CATALOG_PROMPT];
		s->resources = (int64_t)d.counts[MP_CATALOG_RESOURCE];
		s->tool_tokens = (int64_t)((double)d.tools_size / BYTES_PER_TOKEN);
		s->seen_ms = d.saved_ms;
	}
}

static struct mp_str server_info_write(const struct mp_hello *h, struct mp_arena *arena)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf text;
	struct mp_writer w;

	mp_buf_init(&text, MP_LIMIT_MESSAGE);
	mp_write_init(&w, &text, NULL);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "name", h->name);
	if (h->title.len)
		mp_write_member_text(&w, "title", h->title);
	mp_write_member_text(&w, "version", h->server_version);
	mp_write_end_object(&w);
	return mp_write_finish(&w) == 0 ? mp_str_of(text_keep(arena, mp_buf_get(&text)))
					: MP_STR("");
}

/* in: NULL if there is none. What an earlier life said is not shown. */
static void status_set_hello(struct mp_status *s, const struct mp_instance *in,
			     struct mp_arena *arena)
{
	const struct mp_hello *h;

	if (s->state != MP_STATUS_CONNECTED || !in->catalog.last)
		return;
	h = &in->catalog.last->hello;
	s->server_info = server_info_write(h, arena);
	s->protocol = text_keep(arena, h->version);
	s->instructions = text_keep(arena, h->instructions);
	if (h->capabilities.len && h->capabilities.p[0] == '{')
		s->capabilities = mp_str_of(text_keep(arena, h->capabilities));
}

void mp_status_add_health(struct mp_status *s, struct mp_workspace *w, size_t i, mp_id session,
			  struct mp_arena *arena)
{
	struct mp_instance *in = mp_workspace_entry_get_instance(w, i, session);
	const struct mp_entry *e = mp_workspace_get_entry(w, i);
	struct mp_symptoms symptoms = {
		.server = s->name,
		.is_ours = e->origin.quirks & MP_QUIRK_OWN,
		.message = s->message,
		.tail = s->tail,
	};
	bool works = s->state == MP_STATUS_CONNECTED;

	s->health = mp_health_write(e, in, works ? NULL : &symptoms, arena);
}

/* What is asked of one server. */
static void status_set_all(struct mp_status *s, struct mp_workspace *w, size_t i, mp_id session,
			   struct mp_arena *arena)
{
	status_set_hello(s, mp_workspace_entry_get_instance(w, i, session), arena);
	mp_status_add_health(s, w, i, session, arena);
}

static void status_take(struct mp_workspace *w, size_t i, mp_id session, struct mp_arena *arena,
			const struct mp_server_catalog *loaded, struct mp_status *ret)
{
	struct mp_instance *in = mp_workspace_entry_get_instance(w, i, session);
	const struct mp_entry *e = mp_workspace_get_entry(w, i);

	status_set_config(ret, e, arena);
	status_set_withheld(ret, is_withheld(e, in ? in->catalog.last : NULL));
	status_set_catalog(ret, w, i, session, in && in->catalog.last ? in->catalog.last : loaded);
	if (!in) {
		status_set_entry(ret, w, i, session, arena);
		return;
	}
	ret->instance = in->id;
	ret->environment = text_keep(arena, mp_str_of(in->start.environment));
	status_set_keeper(ret, in, arena);
	status_set_calls(ret, in);
	status_set_usage(ret, in, arena);
}

void mp_status_take(struct mp_workspace *w, size_t i, mp_id session, struct mp_arena *arena,
		    struct mp_status *ret)
{
	status_take(w, i, session, arena, NULL, ret);
}

mp_id mp_workspace_get_instance_id(struct mp_workspace *w, size_t i, mp_id session)
{
	struct mp_instance *in = mp_workspace_entry_get_instance(w, i, session);

	return in ? in->id : 0;
}

const struct mp_stats *mp_workspace_get_stats(struct mp_workspace *w, size_t i, mp_id session)
{
	struct mp_instance *in = mp_workspace_entry_get_instance(w, i, session);

	return in && in->stats.calls ? &in->stats : NULL;
}

int mp_workspace_get_tail(struct mp_workspace *w, size_t i, mp_id session, size_t lines,
			  struct mp_buf *out)
{
	struct mp_instance *in = mp_workspace_entry_get_instance(w, i, session);
	struct mp_upstream *up = in ? mp_keeper_get_upstream(in->k) : NULL;

	return up ? mp_upstream_get_tail(up, lines, out) : 0;
}

/* --- lists ----------------------------------------------------------------------------------- */

int mp_status_list_new(size_t max, struct mp_status_list **ret)
{
	struct mp_status_list *l = mp_alloc(sizeof(*l));

	mp_arena_init(&l->arena, MP_LIMIT_ARENA);
	l->items = mp_arena_alloc_array(&l->arena, max + 1, sizeof(*l->items));
	*ret = l;
	return mp_arena_get_error(&l->arena);
}

int mp_status_list_take(struct mp_workspace *w, mp_id session, const bool *only, unsigned with,
			struct mp_status_list **ret)
{
	size_t n = mp_workspace_count(w);
	MP_CLEANUP(mp_status_list_freep) struct mp_status_list *l = NULL;
	int r = mp_status_list_new(n, &l);

	if (r < 0)
		return r;
	l->naming = mp_workspace_get_set(w)->settings.naming;
	for (size_t i = 0; i < n; i++) {
		struct mp_status *s = &l->items[l->n];
		struct mp_server_catalog *catalog;

		if (only && !only[i])
			continue;
		catalog = with & MP_STATUS_CATALOG ? mp_workspace_get_catalog(w, i, session) : NULL;
		status_take(w, i, session, &l->arena, catalog, s);
		if (with & MP_STATUS_HELLO)
			status_set_all(s, w, i, session, &l->arena);
		s->catalog = catalog;
		l->n++;
	}
	r = mp_arena_get_error(&l->arena);
	if (r == 0)
		*ret = MP_TAKE(l);
	return r;
}

struct mp_status_list *mp_status_list_free(struct mp_status_list *l)
{
	if (!l)
		return NULL;
	for (size_t i = 0; i < l->n; i++)
		mp_server_catalog_unref(l->items[i].catalog);
	mp_arena_done(&l->arena);
	return mp_free(l);
}

const struct mp_status *mp_status_list_find(const struct mp_status_list *l, const char *name)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->items[i].name, name) == 0)
			return &l->items[i];
	return NULL;
}
