# test_neighbours.sh - what the other servers of a hub notice of one that misbehaves: nothing in their results,
# and their 99th percentile is at most twice that of a run in which the same server talks to somebody else
# (sink.mjs), who takes as much of the machine. Up to twice is looked for; above three times it fails, because on
# two busy processors the figure itself wavers that much (TIMES=2 is strict). Other processes are in these figures, too: so both sides are
# measured by turns until their best or their middle figures say so, or twelve rounds have not.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=neighbours
. tests/remote/lib.sh
config=$work/servers.json
calls=12000 rounds=${ROUNDS:-12}
good="\"good\": {\"command\": \"$demo_server\"}"
exec 3>&1

# The 99th percentile of the good one's calls, all of which are answered; in microseconds, to FILE.
measure() { # FILE OPTIONS...
	file=$1
	shift
	MCPOOL_TEST_MARK="$work" timeout -k 2 60 "$bin/tests/drive" "$config" "$work" --server good --sessions 4 --flight 2 \
		--calls $calls "$@" >"$work/out" 2>"$work/err" </dev/null || { cat "$work/err" "$work/out"; return 1; }
	[ "$(figure answered)" = $calls ] && [ "$(figure errors)" = 0 ] || { cat "$work/out"; return 1; }
	# Less than a few median calls comes from the scheduler, not from the neighbour.
	p50=$(figure p50us) p99=$(figure p99us)
	[ "$p99" -ge $((4 * p50)) ] || p99=$((4 * p50))
	echo "$p99" >>"$file"
}
figure() { sed -n "s/^calls .*\\b$1 \\([0-9]*\\).*/\\1/p" "$work/out"; }
least() { sort -n "$1" | head -n 1; }
middle() { sort -n "$1" | sed -n "$((($(wc -l <"$1") + 1) / 2))p"; }
within() { [ "$2" -le $(($1 * $3)) ]; }
within_twice() { within 2 "$@"; }

stand() { # MODE...: a server each; their ports are in $work/MODE.log; ws-NAME is one of WebSockets
	for mode in "$@"; do
		serve "$mode" "$node" "$servers/hostile_$(kind "$mode").mjs" "${mode#ws-}"
	done
	for mode in "$@"; do
		listens "$mode" || return 1
	done
}
kind() { case $1 in ws-*) echo ws ;; *) echo http ;; esac; }
url() { echo "$(kind "$1")://127.0.0.1:$(sed -n 's/^listening on //p' "$work/$1.log")/mcp"; }

configure() { # MODE...: the good one, and these
	printf '{"mcpServers": {%s' "$good"
	for mode in "$@"; do
		printf ',\n"%s": {"type": "%s", "url": "%s", "timeout": 1000, "restart": {"schedule": [0, 100]}}' "$mode" "$(kind "$mode")" "$(url "$mode")"
	done
	printf '}}\n'
}

round() { # MODE...: once by the hub, once by a sink
	configure "$@" >"$config"
	measure "$work/ours" --beside "$1" || return 1
	configure >"$config"
	$node $servers/sink.mjs $(for mode in "$@"; do url "$mode"; done) >/dev/null 2>&1 </dev/null &
	sink=$!
	sleep 0.2
	measure "$work/theirs"
	measured=$?
	kill -KILL $sink
	return $measured
}

# beside FIRST MODE...: FIRST is also called, all the time
beside() {
	stand "$@" || return 1
	: >"$work/ours"
	: >"$work/theirs"
	for done in $(seq "$rounds"); do
		round "$@" || return 1
		within_twice "$(least "$work/ours")" "$(least "$work/theirs")" && break
		[ "$done" -ge 3 ] && within_twice "$(middle "$work/ours")" "$(middle "$work/theirs")" && break
	done
	for mode in "$@"; do
		kill_server "$mode"
		grep -q . "$work/$mode.notes" || { echo "nobody spoke to $mode"; return 1; }
	done
	words="p99 $(least "$work/ours") us ($(middle "$work/ours")), and $(least "$work/theirs") us ($(middle "$work/theirs")) where it talks to a sink"
	echo "   $group/$1: $words; $done rounds" >&3
	within "${TIMES:-3}" "$(least "$work/ours")" "$(least "$work/theirs")" ||
		within "${TIMES:-3}" "$(middle "$work/ours")" "$(middle "$work/theirs")" || { echo "$words"; return 1; }
}

check "of_those_that_fail" beside call-drop drop 503 html redirect-elsewhere
check "of_slow_ones" beside call-loris loris-head loris-event silent
check "of_an_event_of_a_gigabyte" beside call-huge-event
check "of_json_of_a_gigabyte" beside call-huge-json
check "of_a_header_without_end" beside call-endless-header endless-headers
check "of_notices_without_end" beside call-flood
check "of_changes_without_end" beside get-floods
check "of_a_websocket_that_floods" beside ws-floods
exit $bad
