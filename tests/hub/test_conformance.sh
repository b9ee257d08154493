# test_conformance.sh - the server scenarios of the public conformance suite, as frozen for two revisions, against
# the hub over HTTP with a server behind it that has the names they want (tests/servers/conformance.mjs).
set -u
cd "$(dirname "$0")/../.." || exit 1
group=hub-conformance
. tests/hub/lib.sh
suite="$PWD/$npm/conformance/dist/index.js"

# served: the hub, with names as the server has them. The era is not left to be detected: on a loaded machine the server
# may be silent for longer than 1.5 s, is taken for a legacy one then, and sampling and elicitation are not offered to it.
served() {
	printf '{"mcpServers":{"c":{"command":"%s","args":["%s"],"era":"modern"}},"mcpool":{"naming":"passthrough"}}' \
		"$node" "$PWD/tests/servers/conformance.mjs" >"$work/c.json"
	MCPOOL_TEST_MARK="$work" "$mcpool" serve --http 127.0.0.1:0 --no-token --strict-config --config "$work/c.json" \
		>"$work/serve.log" 2>&1 </dev/null &
	hub=$!
	wait_for_line "$work/serve.log" '/mcp' 15 && wait_for_line "$work/serve.log" 'c#[0-9]*: up' 15 &&
		says serve.log 'no token is asked for' && url=$(grep -o 'http://127[^ ]*/mcp' "$work/serve.log" | head -n 1)
}

# judged VERSION HOW_MANY: every scenario that this revision requires passes, and there are so many of them
judged() {
	served || return 1
	MCPOOL_TEST_MARK="$work" timeout -k 2 240 "$node" "$suite" server --url "$url" --requirements "$1" \
		>"$work/out" 2>&1 </dev/null
	code=$?
	sed -n '/SUMMARY/,/^Total/p' "$work/out" | grep -E '^[✓✗]' >"$work/verdicts"
	sed -n '/^Not scored/,$p' "$work/out" | sed -n 's/^  [✓✗] \([^ ]*\) .*/\1/p' >"$work/unscored"
	sed 's/^[✓✗] //; s/:.*//' "$work/verdicts" | grep -vxFf "$work/unscored" >"$work/required"
	grep '^✗' "$work/verdicts" | sed 's/^✗ //; s/:.*//' | grep -vxFf "$work/unscored"
	[ $code -eq 0 ] && [ "$(wc -l <"$work/required")" -eq "$2" ] || {
		echo "exit $code, $(wc -l <"$work/required") scenarios instead of $2"
		return 1
	}
	kill -TERM "$hub" && wait "$hub" && nothing_left 3
}

t_2025_11_25() { judged 2025-11-25 30; }
t_2026_07_28() { judged 2026-07-28 37; }

run_cases "$@"
