# test_dashboard.sh - the dashboard as people use it: its page in Chromium, the hub, servers and agents are real. Each case is
# dashboard_CASE.mjs; dashboard.mjs has what they share.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=dashboard
. tests/hub/lib.sh
CHROMIUM=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
export CHROMIUM DEMO_SERVER="$demo_server"

# scene CASE: in a browser of its own; then the hub goes, and the process $ending, and nothing is left
scene() {
	[ -n "$CHROMIUM" ] || { echo 'chromium is missing: run tools/setup test'; return 1; }
	MCPOOL_TEST_MARK="$work" timeout -k 5 280 "$node" tests/web/dashboard.mjs "$1" >"$work/said" 2>"$work/err" </dev/null || {
		head -c 3000 "$work/said"
		return 1
	}
	[ -z "${ending-}" ] || kill "$ending"
	finish
}

t_live() { scene live; }
t_try_it() { scene try_it; }
t_approval() { scene approval; }
t_changes() { scene changes; }
t_restart() { scene restart; }
t_answers() { scene answers; }
t_hostile() { scene hostile; }
t_foreign() { scene foreign; }
t_login() {
	ISSUER_NOTES=$work/issuer.notes
	: >"$ISSUER_NOTES"
	MCPOOL_TEST_MARK="$work" "$node" "$PWD/tests/servers/authorization_server.mjs" --notes="$ISSUER_NOTES" >"$work/issuer.log" 2>&1 </dev/null &
	issuer_pid=$!
	wait_for_line "$work/issuer.log" ready 15 || return 1
	ISSUER=$(sed -n 's/^issuer //p' "$work/issuer.log")
	MCP=$(sed -n 's/^mcp //p' "$work/issuer.log")
	export ISSUER MCP ISSUER_NOTES
	ending=$issuer_pid scene login
}

run_cases "$@"
