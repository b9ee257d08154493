/*
 * settings.c - the `mcpool` object of our own files, over a profile, over the defaults.
 * A profile is nothing but such an object that we wrote ourselves: there is one way to read them.
 */
#include "config/values/settings.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"

static const struct {
	const char *name;
	const char *json;
} profiles[] = {
	[MP_PROFILE_DEFAULT] =
		{"default",
		 "{\"naming\":\"mcp__server__tool\","
		 "\"startup\":{\"windowMs\":250,\"uncached\":\"late\",\"maxWaitMs\":30000},"
		 "\"initConcurrency\":0,\"queues\":{\"default\":{\"slots\":64,\"line\":1024}},"
		 "\"enabled\":true,\"projectConfig\":true,\"hostNative\":[],"
		 "\"missingVariable\":\"fail\",\"valueIndirection\":\"command\","
		 "\"allow\":[],\"deny\":[],\"shadowEqual\":true,\"sources\":{},\"remote\":[],"
		 "\"result\":{\"join\":\"\\n\\n\",\"maxBytes\":262144,"
		 "\"errors\":\"protocol\",\"sessions\":false},\"names\":\"wide\","
		 "\"http\":{},\"secrets\":{\"keyring\":true},"
		 "\"audit\":{\"args\":false,\"store\":true,\"days\":30,\"maxBytes\":67108864},"
		 "\"dashboard\":{\"answers\":false},"
		 "\"otlp\":{\"serviceName\":\"mcpool\",\"headers\":{}},"
		 "\"log\":{\"level\":\"info\",\"format\":\"text\","
		 "\"attempts\":\"warning\","
		 "\"names\":\"instance\"},"
		 "\"instructionsFormat\":\"omp\","
		 "\"timeout\":30000,\"toolTimeout\":300000,\"maxTotal\":3600000,"
		 "\"timeoutOrder\":\"tool\","
		 "\"mode\":\"shared\",\"start\":\"eager\",\"residency\":\"keep\","
		 "\"restart\":{\"mode\":\"relentless\","
		 "\"schedule\":[0,1000,2000,5000,10000,30000,60000],\"stableMs\":60000,"
		 "\"callers\":\"wait\",\"waitMs\":10000,\"attempts\":5,"
		 "\"final\":true,\"finalRetryMs\":300000,\"jitter\":true,\"onTimeout\":\"probe\"},"
		 "\"healthProbe\":\"ping\",\"healthInterval\":0,\"probeAtStart\":false,"
		 "\"queue\":\"default\",\"environment\":\"inherit\","
		 "\"era\":\"auto\",\"instructions\":4000,\"required\":false,\"pins\":\"warn\"}"},
	[MP_PROFILE_OMP] =
		{"omp", "{\"naming\":\"mcp_letters\",\"names\":\"strict\","
			"\"startup\":{\"uncached\":\"block\",\"maxWaitMs\":0},"
			"\"restart\":{\"mode\":\"none\",\"finalRetryMs\":0},\"mode\":\"session\","
			"\"result\":{\"errors\":\"content\"},"
			"\"missingVariable\":\"literal\",\"valueIndirection\":\"variable\","
			"\"hostNative\":[\"exa\"],\"toolTimeout\":30000}"},
	/* The longest time means "practically none". */
	[MP_PROFILE_CLAUDE] =
		{"claude",
		 "{\"startup\":{\"windowMs\":0},\"mode\":\"session\","
		 "\"restart\":{\"mode\":\"remote\",\"schedule\":[1000,2000,4000,8000,16000],"
		 "\"callers\":\"fail\",\"finalRetryMs\":0},"
		 "\"missingVariable\":\"warn\",\"valueIndirection\":\"off\",\"instructions\":2048,"
		 "\"instructionsFormat\":\"claude\","
		 "\"toolTimeout\":100000000,\"maxTotal\":100000000}"},
	/* Its private servers are restarted once; the pool sees to that, by their mode. */
	[MP_PROFILE_NETDATA] =
		{"netdata", "{\"naming\":\"server__tool\","
			    "\"startup\":{\"uncached\":\"wait-all\",\"maxWaitMs\":60000},"
			    "\"restart\":{\"callers\":\"fail\",\"final\":false,\"jitter\":false,"
			    "\"onTimeout\":\"restart\"},\"probeAtStart\":true,"
			    "\"log\":{\"attempts\":\"error\",\"names\":\"mcp\"},"
			    "\"valueIndirection\":\"off\","
			    "\"environment\":\"minimal\","
			    "\"result\":{\"join\":\"\",\"sessions\":true},"
			    "\"queues\":{\"default\":{\"slots\":\"auto\",\"line\":1024}},"
			    "\"instructionsFormat\":\"netdata\"}"},
};

static const char *const profile_names[] = {"default", "omp", "claude", "netdata", NULL};
static const char *const namings[] = {"mcp__server__tool", "mcp_server_tool", "server__tool",
				      "passthrough",       "mcp_letters",     NULL};

const char *mp_naming_get_word(enum mp_naming naming)
{
	return namings[naming];
}

int mp_naming_find(struct mp_str word)
{
	for (int i = 0; namings[i]; i++)
		if (mp_str_eq(word, mp_str_of(namings[i])))
			return i;
	return -1;
}

static const char *const uncached[] = {"late", "block", "wait-all", NULL};
static const char *const missing[] = {"fail", "warn", "literal", NULL};
static const char *const indirections[] = {"command", "variable", "off", NULL};
static const char *const levels[] = {"trace", "verbose", "info", "warning", "error", NULL};
static const char *const attempt_levels[] = {"warning", "error", NULL};
static const char *const log_formats[] = {"text", "json", NULL};
static const char *const log_names[] = {"instance", "mcp", NULL};
static const char *const error_forms[] = {"protocol", "content", NULL};
static const char *const name_sets[] = {"wide", "strict", NULL};
static const char *const formats[] = {"omp", "claude", "netdata", "plain", NULL};

#define ROW(kind, key, field, ...) MP_BIND(struct mp_startup, kind, key, field, ##__VA_ARGS__)
static const struct mp_bind_field startup_fields[] = {
	ROW(MS, "windowMs", window_ms, .min = 0, .max = INT32_MAX),
	ROW(CHOICE, "uncached", uncached, .choices = uncached),
	ROW(MS, "maxWaitMs", max_wait_ms, .min = 0, .max = INT32_MAX),
};
#undef ROW
static const struct mp_bind_table startup_table = {startup_fields, MP_ARRAY_LEN(startup_fields),
						   offsetof(struct mp_startup, present)};

static const struct mp_bind_field result_fields[] = {
	MP_BIND(struct mp_result_settings, TEXT, "join", join),
	MP_BIND(struct mp_result_settings, I64, "maxBytes", max_bytes, .min = MP_RESULT_LEAST,
		.max = (int64_t)MP_LIMIT_MESSAGE),
	MP_BIND(struct mp_result_settings, CHOICE, "errors", errors, .choices = error_forms),
	MP_BIND(struct mp_result_settings, BOOL, "sessions", sessions),
};
static const struct mp_bind_table result_table = {result_fields, MP_ARRAY_LEN(result_fields),
						  offsetof(struct mp_result_settings, present)};

static const struct mp_bind_field http_fields[] = {
	MP_BIND(struct mp_http_settings, TEXT, "listen", listen),
	MP_BIND(struct mp_http_settings, TEXT, "name", name),
	MP_BIND(struct mp_http_settings, RAW, "tls", tls_json),
	MP_BIND(struct mp_http_settings, RAW, "oauth", oauth_json),
	MP_BIND(struct mp_http_settings, LIST, "metricsFrom", metrics_from),
};
static const struct mp_bind_table http_table = {http_fields, MP_ARRAY_LEN(http_fields),
						offsetof(struct mp_http_settings, present)};

static const struct mp_bind_field secrets_fields[] = {
	MP_BIND(struct mp_secrets_settings, BOOL, "keyring", keyring),
	MP_BIND(struct mp_secrets_settings, TEXT, "passphraseCommand", passphrase_command),
};
static const struct mp_bind_table secrets_table = {secrets_fields, MP_ARRAY_LEN(secrets_fields),
						   offsetof(struct mp_secrets_settings, present)};

static const struct mp_bind_field log_fields[] = {
	MP_BIND(struct mp_log_settings, CHOICE, "level", level, .choices = levels),
	MP_BIND(struct mp_log_settings, CHOICE, "attempts", attempts, .choices = attempt_levels),
	MP_BIND(struct mp_log_settings, CHOICE, "format", format, .choices = log_formats),
	MP_BIND(struct mp_log_settings, CHOICE, "names", names, .choices = log_names),
};
static const struct mp_bind_table log_table = {log_fields, MP_ARRAY_LEN(log_fields),
					       offsetof(struct mp_log_settings, present)};

static const struct mp_bind_field audit_fields[] = {
	MP_BIND(struct mp_audit_settings, BOOL, "args", args),
	MP_BIND(struct mp_audit_settings, BOOL, "store", store),
	MP_BIND(struct mp_audit_settings, I64, "days", days, .min = 0, .max = 36500),
	MP_BIND(struct mp_audit_settings, I64, "maxBytes", max_bytes, .min = MP_MIB(1),
		.max = MP_AUDIT_MOST),
};
static const struct mp_bind_table audit_table = {audit_fields, MP_ARRAY_LEN(audit_fields),
						 offsetof(struct mp_audit_settings, present)};

static const struct mp_bind_field dashboard_fields[] = {
	MP_BIND(struct mp_dashboard_settings, BOOL, "answers", answers),
};
static const struct mp_bind_table dashboard_table = {
	dashboard_fields, MP_ARRAY_LEN(dashboard_fields),
	offsetof(struct mp_dashboard_settings, present)};

static const struct mp_bind_field otlp_fields[] = {
	MP_BIND(struct mp_otlp_settings, TEXT, "endpoint", endpoint),
	MP_BIND(struct mp_otlp_settings, TEXT, "serviceName", service),
	MP_BIND(struct mp_otlp_settings, MAP, "headers", headers),
};
static const struct mp_bind_table otlp_table = {otlp_fields, MP_ARRAY_LEN(otlp_fields),
						offsetof(struct mp_otlp_settings, present)};

#define ROW(kind, key, field, ...) MP_BIND(struct mp_settings, kind, key, field, ##__VA_ARGS__)
static const struct mp_bind_field settings_fields[] = {
	ROW(CHOICE, "profile", profile, .choices = profile_names),
	ROW(CHOICE, "naming", naming, .choices = namings),
	ROW(CHOICE, "names", names, .choices = name_sets),
	ROW(OBJECT, "startup", startup, .table = &startup_table),
	ROW(I64, "initConcurrency", init_concurrency, .min = 0, .max = 10000),
	ROW(RAW, "queues", queues_json),
	ROW(BOOL, "enabled", enabled),
	ROW(BOOL, "projectConfig", project_config),
	ROW(LIST, "hostNative", host_native),
	ROW(CHOICE, "missingVariable", missing_variable, .choices = missing),
	ROW(CHOICE, "valueIndirection", value_indirection, .choices = indirections),
	ROW(LIST, "allow", allow),
	ROW(LIST, "deny", deny),
	ROW(BOOL, "shadowEqual", shadow_equal),
	ROW(RAW, "sources", sources_json),
	ROW(LIST, "remote", remote),
	ROW(OBJECT, "result", result, .table = &result_table),
	ROW(OBJECT, "http", http, .table = &http_table),
	ROW(OBJECT, "log", log, .table = &log_table),
	ROW(OBJECT, "secrets", secrets, .table = &secrets_table),
	ROW(OBJECT, "audit", audit, .table = &audit_table),
	ROW(OBJECT, "dashboard", dashboard, .table = &dashboard_table),
	ROW(OBJECT, "otlp", otlp, .table = &otlp_table),
	ROW(CHOICE, "instructionsFormat", instructions_format, .choices = formats),
	MP_TUNING_ROWS(struct mp_settings),
};
#undef ROW

const struct mp_bind_table mp_settings_table = {settings_fields, MP_ARRAY_LEN(settings_fields),
						offsetof(struct mp_settings, present)};

struct mp_str mp_profile_get_json(enum mp_profile profile)
{
	return mp_str_of(profiles[profile].json);
}

bool mp_bind_list_has(const struct mp_bind_list *list, const char *text)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->items[i], text) == 0)
			return true;
	return false;
}

bool mp_settings_has_source(const struct mp_settings *s, const char *tool)
{
	return !mp_bind_list_has(&s->sources_off, tool);
}

/* {TOOL: false}: the names that are switched off. */
static int read_sources(struct mp_settings *s, const struct mp_tape *t, mp_value sources,
			struct mp_arena *arena, mp_bind_problem_fn fn, void *u)
{
	size_t n = mp_value_count(t, sources);
	const char **names = mp_arena_alloc_array(arena, n + 1, sizeof(*names));
	size_t off = 0;

	if (!names)
		return mp_arena_get_error(arena);
	MP_VALUE_EACH(t, sources, key) {
		struct mp_str name;
		bool on;
		int r = mp_value_text(t, key, arena, &name);

		if (r < 0)
			return r;
		if (mp_value_bool(t, mp_value_of(key), &on) < 0) {
			if (fn)
				fn(
					&(struct mp_bind_problem){
						MP_BIND_TYPE, key,
						"a source is switched with true or false"},
					u);
			continue;
		}
		if (!on && !(names[off++] = mp_arena_dup(arena, name)))
			return mp_arena_get_error(arena);
	}
	s->sources_off = (struct mp_bind_list){names, off};
	return 0;
}

/* What a raw value must be; another type is told, and counts for nothing. */
static void check_object(struct mp_settings *s, const struct mp_tape *t, mp_value object,
			 const char *key, struct mp_str *value, struct mp_str before,
			 mp_bind_problem_fn fn, void *u)
{
	mp_value at = MP_NONE;
	char words[80];

	MP_VALUE_EACH(t, object, k)
		if (mp_value_text_is(t, k, mp_str_of(key)))
			at = k;
	if (at == MP_NONE || mp_value_is(t, mp_value_of(at), MP_TAPE_OBJECT))
		return;
	snprintf(words, sizeof(words), "\"%s\" must be an object, but is %s", key,
		 mp_value_describe(t, mp_value_of(at)));
	if (fn)
		fn(&(struct mp_bind_problem){MP_BIND_TYPE, at, words}, u);
	*value = before;
	mp_bind_set_present(&mp_settings_table, s, key, false);
}

static int read_layer(struct mp_settings *s, const struct mp_tape *t, mp_value object,
		      bool is_of_file, const char *from, struct mp_arena *arena,
		      mp_bind_problem_fn fn, void *u)
{
	struct mp_tuning before = s->tuning;
	struct mp_str before_sources = s->sources_json, before_queues = s->queues_json;
	mp_value sources = mp_value_get(t, object, "sources");
	mp_value queues = mp_value_get(t, object, "queues");
	int imposed = s->profile, r;

	s->present = s->startup.present = s->result.present = s->http.present = s->log.present = 0;
	s->tuning.restart.present = 0;
	r = mp_bind_read(&mp_settings_table, t, object, arena, s, fn, u, NULL);
	if (s->is_imposed)
		s->profile = imposed;
	if (r < 0)
		return r;
	mp_tuning_finish(&s->tuning, &before, &mp_settings_table, s, t, object, fn, u);
	if (mp_value_is(t, sources, MP_TAPE_OBJECT))
		r = read_sources(s, t, sources, arena, fn, u);
	if (r >= 0 && mp_value_is(t, queues, MP_TAPE_OBJECT))
		r = mp_settings_read_queues(s, t, queues, is_of_file, arena, fn, u);
	check_object(s, t, object, "sources", &s->sources_json, before_sources, fn, u);
	check_object(s, t, object, "queues", &s->queues_json, before_queues, fn, u);
	if (r < 0)
		return r;
	return mp_provenance_note(&s->provenance, &mp_settings_table, s, "", from, arena);
}

static int read_profile(struct mp_settings *s, enum mp_profile profile, struct mp_arena *arena)
{
	static const char *const words[] = {"default", "profile omp", "profile claude",
					    "profile netdata"};
	MP_CLEANUP(mp_tape_done) struct mp_tape t;
	int r;

	mp_tape_init(&t, 0);
	r = mp_tape_parse(&t, mp_profile_get_json(profile), NULL);
	if (r < 0)
		return r;
	return read_layer(s, &t, MP_ROOT, false, words[profile], arena, NULL, NULL);
}

int mp_settings_init(struct mp_settings *s, struct mp_arena *arena)
{
	int r;

	memset(s, 0, sizeof(*s));
	r = read_profile(s, MP_PROFILE_DEFAULT, arena);
	return r < 0 ? r : mp_provenance_note_key(&s->provenance, "profile", "default", arena);
}

static int find_profile(const char *name)
{
	for (int i = MP_PROFILE_DEFAULT; profile_names[i]; i++)
		if (strcmp(profile_names[i], name) == 0)
			return i;
	return MCPOOL_EINVAL;
}

bool mp_profile_exists(const char *name)
{
	return find_profile(name) >= 0;
}

int mp_settings_impose(struct mp_settings *s, const char *profile, struct mp_arena *arena)
{
	int which = find_profile(profile), r;

	if (which < 0)
		return which;
	r = read_profile(s, (enum mp_profile)which, arena);
	if (r < 0)
		return r;
	s->profile = which;
	s->is_imposed = true;
	return mp_provenance_note_key(&s->provenance, "profile", "--profile", arena);
}

int mp_settings_read(struct mp_settings *s, const struct mp_tape *t, mp_value object,
		     const char *from, struct mp_arena *arena, mp_bind_problem_fn fn, void *u)
{
	mp_value profile = mp_value_get(t, object, "profile");
	int r;

	for (int i = MP_PROFILE_DEFAULT; profile_names[i]; i++) {
		if (s->is_imposed || !mp_value_text_is(t, profile, mp_str_of(profile_names[i])))
			continue;
		r = read_profile(s, (enum mp_profile)i, arena);
		if (r < 0)
			return r;
	}
	return read_layer(s, t, object, true, from, arena, fn, u);
}

void mp_settings_name_server(const struct mp_settings *s, const char *server, mp_id instance,
			     struct mp_log *ret_log)
{
	if (s->log.names == MP_LOG_NAMES_MCP)
		mp_log_init(ret_log, "mcp:%s", server);
	else if (instance)
		mp_log_init(ret_log, "%s#%llu", server, (unsigned long long)instance);
	else
		mp_log_init(ret_log, "%s", server);
}

struct mp_secrets_options mp_settings_get_secrets(const struct mp_settings *s)
{
	return (struct mp_secrets_options){.passphrase_command = s->secrets.passphrase_command,
					   .no_keyring = !s->secrets.keyring};
}
