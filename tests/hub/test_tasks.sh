# test_tasks.sh - tools that become tasks, of both generations (2025-11-25, and the extension of 2026), by every way in.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=tasks
. tests/hub/lib.sh

by() { # WAY ERA
	script=tasks.mjs
	[ "$2" = modern ] || script=tasks_legacy.mjs
	configure "$user" "$(printf '"t":{"command":"%s","args":["%s"]}' "$node" "$PWD/tests/servers/$script")" &&
		run 0 trust --user-file --yes || return 1
	: >"$work/serve.log"
	MCPOOL_TEST_MARK="$work" "$mcpool" serve --http 127.0.0.1:0 --no-token >"$work/serve.log" 2>&1 </dev/null &
	hub=$!
	wait_for_line "$work/serve.log" 'http://127[^ ]*/mcp' 15 && url=$(grep -o 'http://127[^ ]*/mcp' "$work/serve.log" | head -n 1) &&
		HUB_URL="${url%/mcp}" MCPOOL_TEST_MARK="$work" timeout -k 2 30 "$node" tests/hub/tasks.mjs "$1" "$2" </dev/null &&
		kill -TERM "$hub" && wait "$hub" && nothing_left 3
}

# V26
t_by_stdio() { by stdio modern; }
t_by_http() { by http modern; }
t_by_ws() { by ws modern; }
t_legacy_by_stdio() { by stdio legacy; }
t_legacy_by_http() { by http legacy; }
t_legacy_by_sse() { by sse legacy; }
t_legacy_by_ws() { by ws legacy; }

# use-A20: `mcpool call` runs a tool that can only be run as a task: by a hub of its own, and by the running one.
required() { # TASK_MS [ANSWER_MS]
	configure "$user" "$(printf '"t":{"command":"%s","args":["%s"],"env":{"REQUIRED":"1","TASK_MS":"%s","ANSWER_MS":"%s","TEST_NOTES":"%s"}}' \
		"$node" "$PWD/tests/servers/tasks_legacy.mjs" "$1" "${2:-}" "$TEST_NOTES")" && run 0 trust --user-file --yes
}
t_call_runs_a_task() {
	required 300 && run 0 call t/later message=one && says out 'later: one' && up && run 0 call --json t/later message=two &&
		says out 'later: two' && [ "$(grep -c ' completed$' "$TEST_NOTES")" = 2 ] && finish
}
# SIGTERM as SIGINT: a shell has its background jobs ignore that.
interrupted() {
	: >"$TEST_NOTES"
	MCPOOL_TEST_MARK="$work" "$mcpool" call t/later message=x >"$work/out" 2>"$work/err" </dev/null &
	call=$!
	wait_for_line "$TEST_NOTES" ' begun$' 15 && kill -TERM "$call" || return 1
	wait "$call"
	rc=$?
	[ $rc = 130 ] || { echo "exit code $rc: $(cat "$work/err")"; return 1; }
	grep -q ' cancelled$' "$TEST_NOTES" || { echo "the task was not cancelled: $(cat "$TEST_NOTES")"; return 1; }
}
t_interrupting_cancels_the_task() { required 60000 && interrupted && up && interrupted && finish; }
# Also before the call knows which task it has created.
t_interrupting_cancels_a_task_without_a_name() { required 60000 500 && interrupted && up && interrupted && finish; }

run_cases "$@"
