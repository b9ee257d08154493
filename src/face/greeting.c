/*
 * greeting.c - the first message on the hub's socket.
 */
#include "face/greeting.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "rpc/message.h"

static const char *const roles[] = {"bridge", "control", NULL};

#define OPTION(kind, key, field) MP_BIND(struct mp_greeting_options, kind, key, field)
static const struct mp_bind_field option_fields[] = {
	OPTION(TEXT, "profile", profile), OPTION(TEXT, "project", project),
	OPTION(TEXT, "naming", naming),   OPTION(LIST, "servers", servers),
	OPTION(LIST, "tools", tools),     OPTION(LIST, "files", files),
	OPTION(BOOL, "strict", strict),   OPTION(TEXT, "parent", parent),
};
static const struct mp_bind_table option_table = {option_fields, MP_ARRAY_LEN(option_fields),
						  offsetof(struct mp_greeting_options, present)};

static const struct mp_bind_field fields[] = {
	MP_BIND(struct mp_greeting, I64, "protocol", protocol, .required = true),
	MP_BIND(struct mp_greeting, TEXT, "version", version),
	MP_BIND(struct mp_greeting, CHOICE, "role", role, .choices = roles, .required = true),
	MP_BIND(struct mp_greeting, I64, "pid", pid),
	MP_BIND(struct mp_greeting, TEXT, "cwd", cwd),
	MP_BIND(struct mp_greeting, MAP, "env", env_map),
	MP_BIND(struct mp_greeting, OBJECT, "options", options, .table = &option_table),
};
static const struct mp_bind_table table = {fields, MP_ARRAY_LEN(fields),
					   offsetof(struct mp_greeting, present)};

/* --- reading --------------------------------------------------------------------------------- */

static int make_env(struct mp_greeting *h, struct mp_arena *arena)
{
	h->env = mp_arena_alloc_array(arena, h->env_map.n + 1, sizeof(*h->env));
	if (!h->env)
		return mp_arena_get_error(arena);
	for (size_t i = 0; i < h->env_map.n; i++) {
		const struct mp_bind_pair *p = &h->env_map.items[i];
		size_t n = strlen(p->key), m = strlen(p->value);

		if (n == 0 || memchr(p->key, '=', n))
			return MCPOOL_EINVAL;
		h->env[i] = mp_arena_alloc(arena, n + m + 2);
		if (!h->env[i])
			return mp_arena_get_error(arena);
		memcpy(h->env[i], p->key, n);
		h->env[i][n] = '=';
		memcpy(h->env[i] + n + 1, p->value, m + 1);
	}
	h->env[h->env_map.n] = NULL;
	return 0;
}

static int check_files(const struct mp_greeting_options *o, struct mcpool_error *reterr)
{
	if (o->files.n > MP_LIMIT_SESSION_FILES)
		return mp_fail(reterr, MCPOOL_ELIMIT, "there are too many `files`");
	if (o->strict && o->files.n == 0)
		return mp_fail(reterr, MCPOOL_EINVAL, "`strict` needs `files`");
	for (size_t i = 0; i < o->files.n; i++)
		if (o->files.items[i][0] != '/')
			return mp_fail(reterr, MCPOOL_EINVAL, "`files` must be absolute paths");
	return 0;
}

static int greeting_check(const struct mp_greeting *h, struct mcpool_error *reterr)
{
	if (h->options.project && h->options.project[0] != '/')
		return mp_fail(reterr, MCPOOL_EINVAL, "`project` must be an absolute path");
	if (h->cwd && h->cwd[0] != '/')
		return mp_fail(reterr, MCPOOL_EINVAL, "`cwd` must be an absolute path");
	if (h->options.servers.n > MP_LIMIT_SERVERS || h->options.tools.n > MP_LIMIT_SERVERS)
		return mp_fail(reterr, MCPOOL_ELIMIT, "there are too many names in `options`");
	if (h->options.parent && strcmp(h->options.parent, "auto") != 0 &&
	    h->options.parent[strspn(h->options.parent, "0123456789")])
		return mp_fail(reterr, MCPOOL_EINVAL, "`parent` must be a number or \"auto\"");
	return check_files(&h->options, reterr);
}

int mp_greeting_read(struct mp_str text, struct mp_arena *arena, struct mp_greeting *h,
		     struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct mp_message m;
	int r;

	*h = (struct mp_greeting){.version = "", .role = MP_GREETING_BRIDGE};
	mp_tape_init(&t, 0);
	r = mp_message_scan(&t, text, &m, reterr);
	h->id = m.id;
	if (r < 0)
		return r;
	if (m.kind != MP_MESSAGE_REQUEST ||
	    !mp_value_text_is(&t, m.method_name, MP_STR(MP_GREETING_METHOD)))
		return mp_fail(reterr, MCPOOL_EPROTO,
			       "the first message must be " MP_GREETING_METHOD);
	r = mp_bind_read(&table, &t, m.params, arena, h, NULL, NULL, reterr);
	if (r < 0 || h->protocol != MP_GREETING_PROTOCOL)
		return r; /* do not check the fields of another protocol version */
	r = make_env(h, arena);
	if (r < 0)
		return mp_fail(reterr, r, "`env` cannot be used");
	return greeting_check(h, reterr);
}

static void copy_text(const struct mp_tape *t, mp_value v, char *out, size_t size)
{
	struct mp_str s = mp_value_source(t, v);

	if (mp_value_is(t, v, MP_TAPE_STRING) && s.len >= 2)
		snprintf(out, size, "%.*s", (int)(s.len - 2), s.p + 1);
}

static void read_error(const struct mp_tape *t, mp_value error, struct mp_greeting_answer *ret)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena arena;
	struct mp_str words = MP_STR("it does not say why");
	mp_value data = mp_value_get(t, error, "data");
	int64_t code = 0;

	mp_arena_init(&arena, MP_KIB(64));
	ret->is_refused = true;
	if (mp_value_text(t, mp_value_get(t, error, "message"), &arena, &words) < 0)
		words = MP_STR("it says so in words that cannot be read");
	(void)mp_fail(&ret->why, MCPOOL_EPROTO, "%.*s", MP_STR_ARGS(words));
	if (mp_value_i64(t, mp_value_get(t, error, "code"), &code) == 0)
		ret->why.rpc_code = (int)code;
	if (mp_value_i64(t, mp_value_get(t, data, "protocol"), &ret->protocol) < 0)
		ret->protocol = MP_GREETING_PROTOCOL;
	copy_text(t, mp_value_get(t, data, "version"), ret->version, sizeof(ret->version));
	ret->is_leaving = mp_value_is(t, mp_value_get(t, data, "leaving"), MP_TAPE_TRUE);
	if (mp_value_is(t, mp_value_get(t, data, "full"), MP_TAPE_TRUE))
		ret->why.code = MCPOOL_ELIMIT;
}

int mp_greeting_read_answer(struct mp_str text, struct mp_greeting_answer *ret,
			    struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	struct mp_message m;
	int r;

	*ret = (struct mp_greeting_answer){0};
	mp_tape_init(&t, 0);
	r = mp_message_scan(&t, text, &m, reterr);
	if (r < 0)
		return r;
	if (m.kind == MP_MESSAGE_ERROR) {
		read_error(&t, m.error, ret);
		return 0;
	}
	if (m.kind != MP_MESSAGE_RESULT ||
	    mp_value_i64(&t, mp_value_get(&t, m.result, "protocol"), &ret->protocol) < 0)
		return mp_fail(reterr, MCPOOL_EPROTO, "not an answer to " MP_GREETING_METHOD);
	copy_text(&t, mp_value_get(&t, m.result, "version"), ret->version, sizeof(ret->version));
	if (mp_value_i64(&t, mp_value_get(&t, m.result, "pid"), &ret->pid) < 0)
		ret->pid = 0;
	return 0;
}

/* --- writing --------------------------------------------------------------------------------- */

static void write_list(struct mp_writer *w, const char *key, const struct mp_bind_list *list)
{
	if (list->n == 0)
		return;
	mp_write_key(w, mp_str_of(key));
	mp_write_begin_array(w);
	for (size_t i = 0; i < list->n; i++)
		mp_write_text(w, mp_str_of(list->items[i]));
	mp_write_end_array(w);
}

static void write_env(struct mp_writer *w, char *const *env)
{
	mp_write_key(w, MP_STR("env"));
	mp_write_begin_object(w);
	for (size_t i = 0; env && env[i]; i++) {
		const char *equals = strchr(env[i], '=');

		if (!equals || equals == env[i])
			continue;
		mp_write_key(w, (struct mp_str){env[i], (size_t)(equals - env[i])});
		mp_write_text(w, mp_str_of(equals + 1));
	}
	mp_write_end_object(w);
}

static void write_options(struct mp_writer *w, const struct mp_greeting_options *o)
{
	mp_write_key(w, MP_STR("options"));
	mp_write_begin_object(w);
	if (o->profile)
		mp_write_member_text(w, "profile", mp_str_of(o->profile));
	if (o->project)
		mp_write_member_text(w, "project", mp_str_of(o->project));
	if (o->naming)
		mp_write_member_text(w, "naming", mp_str_of(o->naming));
	write_list(w, "servers", &o->servers);
	write_list(w, "tools", &o->tools);
	write_list(w, "files", &o->files);
	if (o->strict)
		mp_write_member_bool(w, "strict", true);
	if (o->parent)
		mp_write_member_text(w, "parent", mp_str_of(o->parent));
	mp_write_end_object(w);
}

int mp_greeting_write(struct mp_buf *out, const struct mp_greeting *h, char *const *env)
{
	struct mp_writer w;

	mp_write_init(&w, out, NULL);
	mp_write_begin_object(&w);
	mp_write_member_text(&w, "jsonrpc", MP_STR("2.0"));
	mp_write_member_text(&w, "id", MP_STR("hello"));
	mp_write_member_text(&w, "method", MP_STR(MP_GREETING_METHOD));
	mp_write_key(&w, MP_STR("params"));
	mp_write_begin_object(&w);
	mp_write_member_i64(&w, "protocol", h->protocol);
	mp_write_member_text(&w, "version", mp_str_of(h->version));
	mp_write_member_text(&w, "role", mp_str_of(roles[h->role]));
	mp_write_member_i64(&w, "pid", h->pid);
	if (h->cwd)
		mp_write_member_text(&w, "cwd", mp_str_of(h->cwd));
	write_env(&w, env);
	write_options(&w, &h->options);
	mp_write_end_object(&w);
	mp_write_end_object(&w);
	return mp_write_finish(&w);
}

/* why: the reason for the refusal; NULL: accepted. */
static void write_who(struct mp_writer *w, const struct mcpool_error *why)
{
	mp_write_begin_object(w);
	mp_write_member_i64(w, "protocol", MP_GREETING_PROTOCOL);
	mp_write_member_text(w, "version", mp_str_of(mcpool_version()));
	mp_write_member_i64(w, "pid", (int64_t)getpid());
	if (why && why->code == MCPOOL_ECLOSED)
		mp_write_member_bool(w, "leaving", true);
	if (why && why->code == MCPOOL_ELIMIT)
		mp_write_member_bool(w, "full", true);
	mp_write_end_object(w);
}

int mp_greeting_write_answer(struct mp_buf *out, struct mp_str id)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf who;
	struct mp_writer w;
	int r;

	mp_buf_init(&who, MP_KIB(1));
	mp_write_init(&w, &who, NULL);
	write_who(&w, NULL);
	r = mp_write_finish(&w);
	return r < 0 ? r : mp_message_result(out, id, mp_buf_get(&who));
}

int mp_greeting_write_refusal(struct mp_buf *out, struct mp_str id, const struct mcpool_error *why)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf who;
	struct mp_writer w;
	int r;

	mp_buf_init(&who, MP_KIB(1));
	mp_write_init(&w, &who, NULL);
	write_who(&w, why);
	r = mp_write_finish(&w);
	return r < 0 ? r
		     : mp_message_error(out, id, why->rpc_code ? why->rpc_code : -32603,
					mp_str_of(why->message), mp_buf_get(&who));
}
