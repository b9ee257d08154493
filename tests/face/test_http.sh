# test_http.sh - the hub over HTTP: who is let in and who is not, requests that can be read in two ways, tokens
# that change, and where it refuses to listen. `sh tests/face/test_http.sh denial` runs one case.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=http
. tests/hub/lib.sh
token=$XDG_STATE_HOME/mcpool/token

# serving ARGUMENTS...: a hub with a demo server, at $url
serving() {
	printf '{"mcpServers":{%s}}' "$(server a)" >"$work/c.json"
	printf '{"mcpool":{"http":{"metricsFrom":["127.0.0.0/8"]}}}' >"$work/from.json"
	start serve --http 127.0.0.1:0 --strict-config --config "$work/c.json" "$@"
	wait_for_line "$work/out" 'http://[^ ]*/mcp' 15 || return 1
	url=$(grep -o 'http://[^ ]*/mcp' "$work/out" | head -n 1)
	url=${url%/mcp}
}

stopped() { kill -TERM "$mcpool_pid" && ended 0 5 && nothing_left 3; }
visit() { "$node" tests/face/visitor.mjs "$1" "$url" "$token" </dev/null; }

# V11 V12 V13 V14 V27
t_denial() { serving && visit denial && stopped; }
t_smuggling() { serving && visit smuggling && stopped; }
t_manners() { serving && visit manners && stopped; }
# V19
t_rotation() { serving && visit rotation && stopped; }
# Read as Prometheus reads them; an allowed address needs no token for them.
t_metrics() {
	serving && METRICS=$work/metrics visit metrics && stopped && serving --config "$work/from.json" &&
		METRICS=$work/metrics BY_ADDRESS=1 visit metrics && stopped || return 1
	promtool=$(command -v promtool) || { echo "promtool is not here (package prometheus): the text is judged by test_metrics.c alone"; return 0; }
	"$promtool" check metrics <"$work/metrics"
}
t_neighbours() { serving && visit neighbours && stopped; }

# V18 V20: made for this user alone, and what others may have touched is not used
t_the_token_is_private() {
	serving && mode 600 "$token" && [ "$(wc -c <"$token")" = 65 ] && stopped &&
		chmod 644 "$token" && run 4 serve --http 127.0.0.1:0 && says err 'others may read' &&
		rm "$token" && ln -s "$work/elsewhere" "$token" && run 4 serve --http 127.0.0.1:0 &&
		says err 'symbolic link' && ! [ -e "$work/elsewhere" ]
}
mode() { [ "$(stat -c %a "$2")" = "$1" ] || { echo "$2 has mode $(stat -c %a "$2")"; return 1; }; }

# V11
t_others_need_tls_and_a_token() {
	run 4 serve --http 0.0.0.0:0 && says err 'TLS' &&
		run 4 serve --http 0.0.0.0:0 --no-token && says err 'this machine only' &&
		run 4 serve --http '[::]:0' --no-token && nothing_left 2
}

t_without_a_token_it_warns() {
	serving --no-token && wait_for_line "$work/err" 'no token is asked for' 2 && ! [ -e "$token" ] && stopped
}

t_a_port_that_is_taken_is_said() {
	serving && mkdir -p "$work/other" && chmod 700 "$work/other" &&
		XDG_RUNTIME_DIR=$work/other XDG_STATE_HOME=$work/other run 4 serve --http "${url#http://}" && says err 'another program listens' &&
		kill -TERM "$mcpool_pid" && ended 0 5
}

# attack-S13, chaos-C1: out of descriptors, on both listeners, the hub waits instead of trying all the time.
t_without_descriptors() {
	serving && prlimit --pid "$mcpool_pid" --nofile=64:64 && MCPOOL_TEST_MARK="$work" "$node" tests/face/knock.mjs "$sock" "$url" "$mcpool_pid" </dev/null || return 1
	for way in 'hub socket' http; do
		[ "$(grep -c "$way: cannot accept connections: Too many open files" "$work/err")" = 1 ] ||
			{ echo "$way: $(grep -c 'cannot accept' "$work/err") warnings"; return 1; }
	done
	stopped
}

run_cases "$@"
