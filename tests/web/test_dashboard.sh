# test_dashboard.sh - the dashboard as people use it: its page in Chromium, the hub, servers and agents are real. Each case is
# dashboard_CASE.mjs; dashboard.mjs has what they share.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=dashboard
. tests/hub/lib.sh
CHROMIUM=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
export CHROMIUM DEMO_SERVER="$demo_server"

# scene CASE: in a browser of its own; then the hub goes, and nothing is left of either
scene() {
	[ -n "$CHROMIUM" ] || { echo 'chromium is missing: run tools/setup test'; return 1; }
	MCPOOL_TEST_MARK="$work" timeout -k 5 280 "$node" tests/web/dashboard.mjs "$1" >"$work/said" 2>"$work/err" </dev/null || {
		head -c 3000 "$work/said"
		return 1
	}
	finish
}

t_live() { scene live; }
t_try_it() { scene try_it; }
t_approval() { scene approval; }

run_cases "$@"
