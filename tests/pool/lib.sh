# lib.sh - for tests that drive the pool: a demo server behind many sessions, and a judge of its ledger.
# The ledger is synced with each call, so it is kept in memory if possible. Set group before.
. tests/servers/lib.sh
case $mcpool in
/*) ;;
*) mcpool=$PWD/$mcpool ;;
esac
drive=$(dirname "$mcpool")/tests/drive
room=$(mktemp -d -p /dev/shm 2>/dev/null) || room=$work
trap 'kill_marked; rm -rf "$work" "$room"' EXIT
ledger=$room/ledger
state=$room/state

# demo TUNING KNOBS [QUEUE]: a configuration with the server `demo`, all as members of JSON objects
demo() {
	queue='"slots": 64, "line": 2000'
	[ $# -lt 3 ] || queue=$3
	cat >"$work/config.json" <<END
{"mcpServers": {"demo": {"command": "$demo_server", $1
	"env": {$2 "MCPOOL_DEMO_LEDGER": "$ledger", "MCPOOL_DEMO_STATE": "$state"}}},
 "mcpool": {"queues": {"default": {$queue}}}}
END
}

# driven WANTED OPTIONS...: what it says is in $work/out, and a word of its summary in `figure WORD`
driven() {
	wanted=$1
	shift
	MCPOOL_TEST_MARK="$work" timeout -k 2 120 "$drive" "$work/config.json" "$work" "$@" >"$work/out" 2>"$work/err" </dev/null
	exits "$wanted" $? && nothing_left
}
told() { echo "   $group/$1: $(head -n 1 "$work/out")" >&3; } # for readers of the log
figure() { sed -n "s|^calls .*\\b$1 \\([0-9.]*\\).*|\\1|p; s|^$1 \\([0-9]*\\).*|\\1|p" "$work/out" | head -n 1; }

# has FIGURE OPERATOR NUMBER ...: each of them
has() {
	while [ $# -gt 0 ]; do
		[ "$(figure "$1")" "$2" "$3" ] || { echo "$1 is $(figure "$1"), not $2 $3: $(head -n 1 "$work/out")"; return 1; }
		shift 3
	done
}

seed=${SEED:-$(date +%s)}
export SEED="$seed"
exec 3>&1

# Every call ended once, as the ledger has it, and was seen by the server it was sent to.
judged() {
	grep -v ' end [a-z]*$' "$ledger" >"$room/executed"
	$node tests/pool/judge.mjs "$room/executed" "$work/results" "$work/asked" >"$work/verdict" ||
		{ cat "$work/verdict" "$work/out"; return 1; }
}

# One process per life, and never two at once: a pid that was followed by another does not come back.
one_at_a_time() {
	[ "$(wc -c <"$state")" -eq "$(figure starts)" ] || { echo "$(wc -c <"$state") processes, $(figure starts) starts"; return 1; }
	again=$(awk '$1 != last && seen[$1]++ { print $1 } { last = $1 }' "$ledger")
	[ -z "$again" ] || { echo "$again ran beside another"; return 1; }
}
