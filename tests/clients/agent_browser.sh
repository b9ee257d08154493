# agent_browser.sh - a real browser with a page that would like to use the hub; see browser.mjs. V13 and V14.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=browser
. tests/hub/lib.sh
CHROMIUM=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || {
	echo "skip $group: there is no chromium; 'tools/setup clients' brings it"
	exit 0
}
export CHROMIUM
ledger=$work/ledger
: >"$ledger"

# attacked [OPTION]: a hub whose server notes what it carries out, and a page that knows the token
attacked() {
	printf '{"mcpServers":{"a":{"command":"%s","env":{"MCPOOL_DEMO_LEDGER":"%s"}}}}' "$demo_server" "$ledger" >"$work/c.json"
	start serve --http 127.0.0.1:0 --strict-config --config "$work/c.json" "$@"
	wait_for_line "$work/out" 'http://[^ ]*/mcp' 15 || return 1
	url=$(grep -o 'http://[^ ]*/mcp' "$work/out" | head -n 1)
	token=
	[ $# -gt 0 ] || token=$("$mcpool" token)
	MCPOOL_TEST_MARK="$work" TMPDIR="$work" timeout -k 5 280 "$node" tests/clients/browser.mjs "${url%/mcp}" "$token" "$ledger" \
		>"$work/cases" 2>"$work/err.browser" </dev/null
	code=$?
	grep -E '^(ok|FAIL) ' "$work/cases" >&3
	[ $code = 0 ] || { echo "exit code $code: $(grep -m 2 ^FAIL "$work/cases") $(tail -n 2 "$work/err.browser")"; return 1; }
	kill -TERM "$mcpool_pid" && ended 0 8
}

# V13 V14
t_the_token_is_known() { attacked; }
t_no_token_is_asked_for() { attacked --no-token; }

exec 3>&1
run_cases "$@"
