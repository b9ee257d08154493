/*
 * launch_plan.c - the real launch operations: workers resolve values, the dialer reaches servers.
 * The set is shared and immutable, also for workers. A worker writes its results into its job, and
 * the loop reads them when the job is done.
 */
#include "pool/launch_plan.h"

#include <string.h>

#include "auth/accounts.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/shell.h"
#include "config/values/resolve.h"
#include "config/values/trust.h"
#include "pool/dialer.h"
#include "process/environment.h"
#include "store/local_key.h"
#include "store/secret_records.h"

/* Used by workers; outlives a planner that is freed while a worker runs. */
struct tools {
	unsigned refs; /* changed on the loop only */
	struct mp_commands *commands;
	struct mp_secret_values *secrets;
	unsigned char local_key[MP_DIGEST_SIZE];
	char *mark; /* "NAME=value" for every server; owned; NULL: none */
};

struct mp_launch_planner {
	struct mp_loop *loop;
	struct mp_dialer *dialer;
	struct mp_accounts *accounts;
	struct tools *tools;
};

static struct tools *ref_tools(struct tools *t)
{
	t->refs++;
	return t;
}

static void unref_tools(struct tools *t)
{
	if (--t->refs)
		return;
	mp_commands_free(t->commands);
	mp_secret_values_unref(t->secrets);
	mp_wipe(t->local_key, sizeof(t->local_key));
	mp_free(t->mark);
	mp_free(t);
}

static struct mp_resolve_request make_request(const struct tools *t,
					      const struct mp_config_set *set,
					      const struct mp_entry *e, char *const *env)
{
	struct mp_resolve_request req = {
		.set = set, .entry = e, .env = env, .commands = t->commands, .secrets = t->secrets};

	memcpy(req.local_key, t->local_key, sizeof(req.local_key));
	return req;
}

/* --- keys ----------------------------------------------------------------------------------- */

struct identifying {
	struct tools *tools;
	const struct mp_config_set *set; /* owned by the caller, like env */
	char *const *env;
	mp_keys_fn fn;
	void *u;
	struct mp_keys *keys;
	int result;
};

static void find_key(struct identifying *job, const struct mp_entry *e, struct mp_key *key)
{
	struct mp_resolve_request req = make_request(job->tools, job->set, e, job->env);
	struct mp_resolved out;
	struct mcpool_error why;

	req.only_key = true;
	key->code = mp_resolve(&req, &out, &why);
	if (key->code == 0) {
		memcpy(key->bytes, out.launch_key, sizeof(key->bytes));
		key->is_known = true;
	} else {
		key->problem = mp_arena_dup(&job->keys->arena, mp_str_of(why.message));
		if (!key->problem)
			key->problem = mcpool_error_text(key->code);
	}
	mp_resolved_done(&out);
}

/* On a worker. One job for all entries, because most take less time than starting a job. */
static void find_keys(void *u)
{
	struct identifying *job = u;
	const struct mp_config_set *set = job->set;
	struct mp_keys *keys = job->keys;

	keys->of = mp_arena_alloc_array(&keys->arena, set->n + 1, sizeof(*keys->of));
	if (!keys->of) {
		job->result = mp_arena_get_error(&keys->arena);
		return;
	}
	keys->n = set->n;
	for (size_t i = 0; i < set->n; i++)
		if (mp_config_get_state(set, set->entries[i], MP_TOGGLE_ON) == MP_STATUS_READY)
			find_key(job, set->entries[i], &keys->of[i]);
}

static void free_identifying(struct identifying *job)
{
	unref_tools(job->tools);
	mp_keys_free(job->keys);
	mp_free(job);
}

static void found_keys(void *u)
{
	struct identifying *job = u;
	mp_keys_fn fn = job->fn;
	void *fn_u = job->u;
	int result = job->result;
	struct mp_keys *keys = result < 0 ? NULL : MP_TAKE(job->keys);
	struct mcpool_error why;

	free_identifying(job);
	if (!keys)
		(void)mp_fail(&why, result, "%s", mcpool_error_text(result));
	fn(keys, keys ? NULL : &why, fn_u);
}

static int launch_plan_identify(void *u, const struct mp_config_set *set, char *const *env,
				mp_keys_fn fn, void *fn_u)
{
	struct mp_launch_planner *p = u;
	struct identifying *job = mp_alloc(sizeof(*job));
	struct mp_work work = {find_keys, found_keys, job};
	int r;

	*job = (struct identifying){
		.tools = ref_tools(p->tools), .set = set, .env = env, .fn = fn, .u = fn_u};
	job->keys = mp_alloc(sizeof(*job->keys));
	mp_arena_init(&job->keys->arena, MP_LIMIT_ARENA);
	r = mp_loop_work(p->loop, &work);
	if (r < 0)
		free_identifying(job);
	return r;
}

/* --- plans ---------------------------------------------------------------------------------- */

enum state {
	UNDER_WAY, /* a worker is running */
	RENEWING,  /* its token is being renewed */
	ABANDONED, /* a worker is running, and the plan was dropped */
	PREPARED,
	FAILED,
};

struct mp_launch_plan {
	enum state state;
	struct mp_accounts *accounts; /* the planner's */
	struct tools *tools;
	struct mp_config_set *set; /* counted reference; contains the entry */
	const struct mp_entry *e;
	struct mp_arena arena; /* copies the environment: a drop may free the caller's */
	char **env;
	const char *mark; /* of this server, as that of all; NULL: none */
	int64_t now_ms;
	mp_launch_plan_fn fn;
	void *u;
	struct mp_log log;
	struct mp_buf log_file; /* empty: none */

	/* Results of the worker. */
	int result;
	struct mcpool_error why;
	struct mp_resolved resolved;
	bool is_resolved;         /* contains values, possibly of a failed attempt */
	char **environment;       /* of the server process; owned */
	struct mp_buf seen_text;  /* the verified files, each ends in NUL */
	const char **seen;        /* the same as a list that ends in NULL */
	struct mp_buf credential; /* as it is stored; empty: there is none */

	struct mp_account *account;            /* NULL: it uses none */
	struct mp_authorization_waiter waiter; /* RENEWING */
};

/* --- is the approval still valid? --- */

/* The file of the first line in `now` that is not in `then`; empty: none. */
static struct mp_str find_changed(const char *then, const char *now)
{
	while (*now) {
		struct mp_str line = {now, strcspn(now, "\n") + 1};

		if (mp_str_find(mp_str_of(then), line, 0) < 0)
			return (struct mp_str){now, strcspn(now, "\t\n")};
		now += line.len - (now[line.len - 1] != '\n');
	}
	return MP_STR("");
}

static int explain_change(const struct mp_entry *then, const struct mp_entry *now,
			  struct mcpool_error *reterr)
{
	struct mp_str file = find_changed(then->scripts ? then->scripts : "", now->scripts);

	if (now->unapprovable)
		return mp_fail(reterr, MCPOOL_ENEEDS_APPROVAL,
			       "Server \"%s\" changed since it was approved, and cannot be "
			       "approved as it is now: %s",
			       then->name, now->unapprovable);
	if (file.len == 0)
		return mp_fail(reterr, MCPOOL_ENEEDS_APPROVAL,
			       "Server \"%s\": a file that it names is gone since it was approved: "
			       "mcpool trust %s",
			       then->name, MP_SHELL_NAME(then->name));
	return mp_fail(reterr, MCPOOL_ENEEDS_APPROVAL,
		       "Server \"%s\": %.*s changed since it was approved: mcpool trust %s",
		       then->name, MP_STR_ARGS(file), MP_SHELL_NAME(then->name));
}

/*
 * The set may have been loaded hours ago, so its files are read again. A server given on the
 * command line is approved by that and not by its id.
 */
static int check_approval(const struct mp_entry *e, struct mp_buf *seen,
			  struct mcpool_error *reterr)
{
	MP_CLEANUP(mp_arena_done) struct mp_arena scratch;
	struct mp_scripts_budget budget = MP_SCRIPTS_BUDGET;
	struct mp_entry now = *e; /* the set's own entry is shared */
	int r;

	mp_arena_init(&scratch, MP_LIMIT_ARENA);
	if (e->origin.level == MP_CONFIG_COMMAND_LINE)
		return 0;
	budget.seen = seen;
	r = mp_trust_identify_within(&now, &budget, &scratch);
	if (r < 0)
		return mp_fail(reterr, r, "Server \"%s\": %s", e->name, mcpool_error_text(r));
	if (now.unapprovable || memcmp(&now.id, &e->id, sizeof(now.id)) != 0)
		return explain_change(e, &now, reterr);
	return 0;
}

/* --- the worker --- */

static void launch_plan_warn(void *u, const char *message)
{
	struct mp_launch_plan *plan = u;

	mp_log_warn(&plan->log, "%s", message);
}

/* Our value replaces one from the configuration. */
static void mark(struct mp_launch_plan *plan)
{
	if (plan->tools->mark)
		plan->environment = mp_environment_put(plan->environment, plan->tools->mark);
	if (plan->mark)
		plan->environment = mp_environment_put(plan->environment, plan->mark);
}

/* With resolved values: does it run a file of the project that was not approved? */
static int check_run(struct mp_launch_plan *plan)
{
	struct mp_scripts_run run = {
		.argv = plan->resolved.argv,
		.cwd = plan->resolved.cwd,
		.env = plan->resolved.env,
		.environment = plan->environment,
	};

	if (plan->e->origin.level == MP_CONFIG_COMMAND_LINE)
		return 0;
	return mp_scripts_check(plan->e, &run, &plan->seen_text, &plan->why);
}

/* Lists the texts of seen_text for the launcher. */
static int list_seen(struct mp_launch_plan *plan)
{
	struct mp_str all = mp_buf_get(&plan->seen_text);
	size_t n = 0;

	for (size_t i = 0; i < all.len; i++)
		n += all.p[i] == '\0';
	plan->seen = mp_arena_alloc_array(&plan->arena, n + 1, sizeof(*plan->seen));
	if (!plan->seen)
		return mp_fail(&plan->why, mp_arena_get_error(&plan->arena), "no memory");
	n = 0;
	for (size_t at = 0; at < all.len; at += strlen(all.p + at) + 1)
		plan->seen[n++] = all.p + at;
	return 0;
}

/* Without a store, or with one that cannot be opened, it is tried without a credential. */
static void read_credential(struct mp_launch_plan *plan)
{
	MP_CLEANUP(mp_buf_done) struct mp_buf secret;
	struct mcpool_error why;
	int r;

	mp_buf_init(&secret, MP_LIMIT_SECRET_NAME);
	if (!mp_accounts_has_use(&plan->resolved))
		return;
	r = mp_accounts_write_secret(plan->e->name, &plan->resolved, &secret);
	if (r == 0)
		r = mp_secret_values_read(plan->tools->secrets, &plan->set->settings, secret.data,
					  &plan->credential, &why);
	if (r < 0 && r != MCPOOL_ENOENT)
		mp_log_warn(&plan->log, "its credential cannot be read: %s",
			    r == MCPOOL_ENOMEM ? mcpool_error_text(r) : why.message);
}

static void work_out(void *u)
{
	struct mp_launch_plan *plan = u;
	struct mp_resolve_request req = make_request(plan->tools, plan->set, plan->e, plan->env);

	req.now_ms = plan->now_ms;
	req.on_warning = launch_plan_warn;
	req.u = plan;
	plan->result = check_approval(plan->e, &plan->seen_text, &plan->why);
	if (plan->result < 0)
		return;
	plan->is_resolved = true;
	plan->result = mp_resolve(&req, &plan->resolved, &plan->why);
	if (plan->result == 0)
		read_credential(plan);
	if (plan->result < 0 || plan->resolved.kind != MP_KIND_STDIO)
		return;
	plan->environment = mp_environment_build((enum mp_environment)plan->e->tuning.environment,
						 plan->env, plan->resolved.env);
	plan->result = check_run(plan);
	if (plan->result == 0)
		plan->result = list_seen(plan);
	mark(plan);
}

/* --- the loop --- */

static void free_plan(struct mp_launch_plan *plan)
{
	if (plan->state == RENEWING) {
		struct mp_authorization *a = mp_account_get_authorization(plan->account);

		a->ops->leave(a, &plan->waiter);
	}
	mp_secret_buf_done(&plan->credential);
	mp_environment_free(plan->environment);
	if (plan->is_resolved)
		mp_resolved_done(&plan->resolved);
	mp_buf_done(&plan->log_file);
	mp_buf_done(&plan->seen_text);
	mp_arena_done(&plan->arena);
	mp_config_set_unref(plan->set);
	unref_tools(plan->tools);
	mp_free(plan);
}

static void launch_plan_finish(struct mp_launch_plan *plan)
{
	plan->state = plan->result < 0 ? FAILED : PREPARED;
	plan->fn(plan, plan->result < 0 ? &plan->why : NULL, plan->u); /* may drop it */
}

static bool has_own_token(const struct mp_launch_plan *plan)
{
	static const char name[] = "OAUTH_ACCESS_TOKEN=";

	for (char **v = plan->resolved.env; v && *v; v++)
		if (strncmp(*v, name, sizeof(name) - 1) == 0)
			return true;
	return false;
}

/* A process gets its token when it starts; one that the entry sets counts more (B36). */
static int give_token(struct mp_launch_plan *plan)
{
	MP_CLEANUP(mp_secret_buf_done) struct mp_buf text;
	const char *token = mp_account_get_token(plan->account);
	int r;

	mp_buf_init(&text, MP_KIB(128));
	if (plan->resolved.kind != MP_KIND_STDIO || !token || has_own_token(plan))
		return 0;
	r = mp_buf_addf(&text, "OAUTH_ACCESS_TOKEN=%s", token);
	if (r == 0)
		r = mp_buf_terminate(&text);
	if (r < 0)
		return mp_fail(&plan->why, r, "%s", mcpool_error_text(r));
	plan->environment = mp_environment_put(plan->environment, text.data);
	return 0;
}

/*
 * An entry that says that it has a credential waits for one; in the omp profile it does not (B37).
 * So does one whose token was refused.
 */
static int judge_account(struct mp_launch_plan *plan)
{
	const struct mcpool_error *why = mp_account_get_problem(plan->account);
	bool is_refused = why->code == MCPOOL_ENEEDS_AUTH;

	if (mp_account_has_token(plan->account) || !(plan->resolved.oauth.is_wanted || is_refused))
		return give_token(plan);
	if (plan->set->settings.profile == MP_PROFILE_OMP) {
		mp_log_warn(&plan->log,
			    "Server \"%s\": there is no stored credential; it is tried without "
			    "one. Log in: mcpool login %s",
			    plan->e->name, MP_SHELL_NAME(plan->e->name));
		return 0;
	}
	return mp_fail(&plan->why, MCPOOL_ENEEDS_AUTH, "%s; log in: mcpool login %s",
		       why->code ? why->message : "there is no credential",
		       MP_SHELL_NAME(plan->e->name));
}

static void token_renewed(void *u, bool again, const struct mcpool_error *why)
{
	struct mp_launch_plan *plan = u;

	(void)again; /* the account has a token, or not */
	plan->state = UNDER_WAY;
	if (why) {
		plan->why = *why;
		plan->result = why->code;
	} else {
		plan->result = judge_account(plan);
	}
	launch_plan_finish(plan);
}

/* A token that has expired is renewed first: not every transport can do it later. */
static int use_account(struct mp_launch_plan *plan)
{
	plan->account = mp_accounts_get(plan->accounts, plan->e->name, &plan->resolved, &plan->why);
	if (!plan->account)
		return plan->why.code;
	mp_account_take_stored(plan->account, mp_buf_get(&plan->credential));
	plan->waiter = (struct mp_authorization_waiter){.decided = token_renewed, .u = plan};
	if (mp_account_prepare(plan->account, &plan->waiter)) {
		plan->state = RENEWING;
		return 0;
	}
	return judge_account(plan);
}

static void worked_out(void *u)
{
	struct mp_launch_plan *plan = u;

	if (plan->state == ABANDONED) {
		free_plan(plan);
		return;
	}
	if (plan->result == 0 && mp_accounts_has_use(&plan->resolved))
		plan->result = use_account(plan);
	if (plan->state == UNDER_WAY)
		launch_plan_finish(plan);
}

static int copy_env(struct mp_launch_plan *plan, char *const *env)
{
	size_t n = 0;

	while (env && env[n])
		n++;
	plan->env = mp_arena_alloc_array(&plan->arena, n + 1, sizeof(*plan->env));
	for (size_t i = 0; plan->env && i < n; i++) {
		plan->env[i] = mp_arena_dup(&plan->arena, mp_str_of(env[i]));
		if (!plan->env[i])
			plan->env = NULL;
	}
	return plan->env ? 0 : mp_arena_get_error(&plan->arena);
}

static int launch_plan_prepare(void *u, struct mp_config_set *set, const struct mp_entry *e,
			       char *const *env, const char *mark, mp_launch_plan_fn fn, void *fn_u,
			       struct mp_launch_plan **ret_plan)
{
	struct mp_launch_planner *p = u;
	struct mp_launch_plan *plan = mp_alloc(sizeof(*plan));
	struct mp_work work = {work_out, worked_out, plan};
	int r;

	*plan = (struct mp_launch_plan){
		.accounts = p->accounts,
		.tools = ref_tools(p->tools),
		.set = mp_config_set_ref(set),
		.e = e,
		.now_ms = mp_loop_now_ms(p->loop),
		.fn = fn,
		.u = fn_u,
	};
	mp_settings_name_server(&set->settings, e->name, 0, &plan->log);
	mp_arena_init(&plan->arena, MP_LIMIT_ARENA);
	mp_buf_init(&plan->log_file, MP_KIB(8));
	mp_buf_init(&plan->seen_text, MP_MIB(2));
	mp_buf_init(&plan->credential, MP_LIMIT_SECRET_VALUE);
	if (mp_path_log(e->name, &plan->log_file) < 0)
		mp_buf_clear(&plan->log_file); /* without a home there is no log file */
	r = copy_env(plan, env);
	if (r == 0 && mark && !(plan->mark = mp_arena_dup(&plan->arena, mp_str_of(mark))))
		r = mp_arena_get_error(&plan->arena);
	if (r == 0)
		r = mp_loop_work(p->loop, &work);
	if (r < 0) {
		free_plan(plan);
		return r;
	}
	*ret_plan = plan;
	return 0;
}

static struct mp_launch_plan *launch_plan_drop(void *u, struct mp_launch_plan *plan)
{
	(void)u;
	if (plan && plan->state == UNDER_WAY)
		plan->state = ABANDONED;
	else if (plan)
		free_plan(plan);
	return NULL;
}

static const unsigned char *get_key(const struct mp_launch_plan *plan)
{
	mp_check(plan->state == PREPARED);
	return plan->resolved.launch_key;
}

static bool get_command(const struct mp_launch_plan *plan, struct mp_launch_command *ret)
{
	if (plan->state != PREPARED || plan->resolved.kind != MP_KIND_STDIO)
		return false;
	*ret = (struct mp_launch_command){plan->resolved.argv[0], plan->resolved.cwd,
					  plan->environment};
	return true;
}

/* --- dialling ------------------------------------------------------------------------------- */

static int dial(void *u, struct mp_launch_plan *plan, struct mp_transport **ret_transport,
		struct mcpool_error *reterr)
{
	struct mp_launch_planner *p = u;
	struct mp_dialer_target dial = {
		.resolved = &plan->resolved,
		.environment = plan->environment,
		.seen = plan->seen,
		.log_file = plan->log_file.len ? plan->log_file.data : NULL,
		.log = &plan->log,
		.authorization = plan->account ? mp_account_get_authorization(plan->account) : NULL,
	};

	mp_check(plan->state == PREPARED);
	return mp_dialer_dial(p->dialer, &dial, ret_transport, reterr);
}

const struct mp_launch_ops mp_launch_planner_ops = {
	.identify = launch_plan_identify,
	.prepare = launch_plan_prepare,
	.dial = dial,
	.drop = launch_plan_drop,
	.get_key = get_key,
	.get_command = get_command,
};

/* --- life ----------------------------------------------------------------------------------- */

struct mp_launch_planner *mp_launch_planner_make(struct mp_loop *loop, const char *exe,
						 const unsigned char *key)
{
	struct mp_launch_planner *p = mp_alloc(sizeof(*p));

	p->loop = loop;
	p->tools = mp_alloc(sizeof(*p->tools));
	p->tools->refs = 1;
	p->tools->commands = mp_commands_new();
	p->tools->secrets = mp_secret_values_new();
	memcpy(p->tools->local_key, key, sizeof(p->tools->local_key));
	p->dialer = mp_dialer_new(loop, exe);
	p->accounts = mp_accounts_new(loop, p->tools->secrets);
	return p;
}

int mp_launch_planner_new(struct mp_loop *loop, const char *exe,
			  struct mp_launch_planner **ret_planner, struct mcpool_error *reterr)
{
	unsigned char local_key[MP_LOCAL_KEY_SIZE];
	int r = mp_local_key_get(local_key, reterr);

	if (r == 0)
		*ret_planner = mp_launch_planner_make(loop, exe, local_key);
	return r;
}

void mp_launch_planner_open_launcher(struct mp_launch_planner *p)
{
	mp_dialer_open_launcher(p->dialer);
}

void mp_launch_planner_mark(struct mp_launch_planner *p, const char *entry)
{
	mp_free(p->tools->mark);
	p->tools->mark = mp_dup(entry);
}

struct mp_accounts *mp_launch_planner_get_accounts(struct mp_launch_planner *p)
{
	return p->accounts;
}

struct mp_launch_planner *mp_launch_planner_free(struct mp_launch_planner *p)
{
	if (!p)
		return NULL;
	p->dialer = mp_dialer_free(p->dialer);
	p->accounts = mp_accounts_free(p->accounts);
	unref_tools(p->tools);
	return mp_free(p);
}
