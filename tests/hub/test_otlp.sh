# test_otlp.sh - spans of calls, as a collector gets them.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=otlp
. tests/hub/lib.sh
parent=00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7

# collecting: a collector at $port, with what it gets in $work/spans
collecting() {
	MCPOOL_TEST_MARK="$work" "$node" tests/hub/otlp.mjs collect "$work/port" "$work/spans" </dev/null >"$work/collector" 2>&1 &
	collector=$!
	eventually 10 test -s "$work/port" && port=$(cat "$work/port")
}

# Sampled, failed, not sampled, and without a trace: three spans, which are sent when the hub ends.
t_spans() {
	collecting && mkdir -p "$(dirname "$user")" &&
		printf '{"mcpool":{"otlp":{"endpoint":"http://127.0.0.1:%s","serviceName":"hub-of-tests","headers":{"x-key":"hunter2hunter2"}}},"mcpServers":{%s}}' "$port" "$(server a)" >"$user" &&
		run 0 trust --user-file --yes && up && PARENT=$parent talk otlp_steps.mjs#calls && run 0 down
	r=$?
	kill "$collector"; wait "$collector" 2>/dev/null
	[ $r = 0 ] && nothing_left 3 && "$node" tests/hub/otlp.mjs compare "$work/spans"
}
# Nothing listens there: one line, and calls are answered.
t_no_collector() {
	mkdir -p "$(dirname "$user")" && printf '{"mcpool":{"otlp":{"endpoint":"http://127.0.0.1:1/"}},"mcpServers":{%s}}' "$(server a)" >"$user" &&
		run 0 trust --user-file --yes && up && run 0 call a/echo message=x && run 0 call a/echo message=x && finish &&
		[ "$(grep -c 'otlp: spans are lost' "$XDG_STATE_HOME/mcpool/hub.log")" = 1 ]
}

run_cases "$@"
