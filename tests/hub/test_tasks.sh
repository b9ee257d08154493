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

run_cases "$@"
