# test_scale.sh - a thousand configured servers, lazy and remembered: what shows them takes time and memory in
# proportion to their number, and starts none. They are real, and were started once, to be remembered.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=scale
. tests/pool/lib.sh
many=1000 few=250 rounds=30

configure() { # N: the first N of them
	{
		printf '{"mcpool": {"initConcurrency": 64}, "mcpServers": {\n'
		seq "$1" | awk -v exe="$demo_server" -v state="$state" '
			{ printf "%s\"server-%04d\": {\"command\": \"%s\", \"start\": \"lazy\",\n", n++ ? "," : "", $1, exe
			  printf " \"env\": {\"SERVER_NUMBER\": \"%d\", \"MCPOOL_DEMO_STATE\": \"%s\"}}\n", $1, state }'
		printf '}}\n'
	} >"$work/$1.json"
}
shown() { # N VERB: so many servers, each with what it offers
	run 0 "$2" --json --strict-config --config "$work/$1.json" && json "new Set(d.$3.map((s) => s.$4)).size === $1" && [ ! -s "$work/err" ]
}
remembered() { # the one time that they are started
	run 0 tools --strict-config --config "$work/$many.json" && [ ! -s "$work/err" ] &&
		[ "$(wc -l <"$work/out")" -eq $((many * 10)) ] && [ "$(wc -c <"$state")" -eq $many ] && nothing_left 5
}
nothing_started() { [ "$(wc -c <"$state")" -eq $many ] || { echo "$(($(wc -c <"$state") - many)) were started"; return 1; }; }

time_of() { # N VERB: the processor time of one run, in microseconds; others who use the machine are not in it
	spent=$(bash -c 'TIMEFORMAT="%3U %3S"; time "$@" >/dev/null 2>&1 </dev/null' time "$mcpool" "$2" \
		--strict-config --config "$work/$1.json" 2>&1) || return 1
	echo "$spent" | awk '{ printf "%d", ($1 + $2) * 1000000 }'
}
# linear VERB: the best of several rounds by turns, as many as a loaded machine needs; four times as many take seven times
# as long at most
linear() {
	verb=$1 best_few=999999999 best_many=999999999
	for round in $(seq $rounds); do
		us=$(time_of $few "$verb") || { echo "$verb failed"; return 1; }
		[ "$us" -ge $best_few ] || best_few=$us
		us=$(time_of $many "$verb") || { echo "$verb failed"; return 1; }
		[ "$us" -ge $best_many ] || best_many=$us
		[ "$round" -lt 4 ] || [ $best_many -gt $((best_few * 7)) ] || break
	done
	echo "   $group/$verb: $few in $best_few us, $many in $best_many us" >&3
	[ $best_many -le $((best_few * 7)) ] || { echo "$verb: $few in $best_few us, $many in $best_many us"; return 1; }
}

memory_with() { # N: what `serve` has written for itself once the gate is open, in KiB
	start serve --strict-config --config "$work/$1.json"
	wait_for_line "$work/out" "^mcpool: ready, $1 servers" 20 >&2 || return 1
	sleep 0.5
	sed -n 's/^Private_Dirty: *\([0-9]*\) kB/\1/p' "/proc/$mcpool_pid/smaps_rollup"
	kill -TERM "$mcpool_pid"
	ended 0 5 >&2
}
small() {
	hundred=$(memory_with 100) && thousand=$(memory_with $many) || return 1
	each=$(((thousand - hundred) * 1024 / (many - 100)))
	echo "   $group/memory: $hundred KiB with 100, $thousand KiB with $many: $each bytes for each" >&3
	[ "$each" -lt 8192 ] || { echo "$each bytes for each server"; return 1; }
}

for n in 100 $few $many; do configure $n; done
check "remembered" remembered
check "tools_of_all" shown $many tools tools server
check "status_of_all" shown $many status servers name
check "tools_is_linear" linear tools
check "status_is_linear" linear status
[ -n "$sanitized" ] || check "an_idle_server_is_small" small
check "nothing_is_started" nothing_started
exit $bad
