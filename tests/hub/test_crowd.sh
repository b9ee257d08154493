# test_crowd.sh - very many agents at once, by all ways in: nothing is lost, doubled or crossed, and one that is idle
# costs little. SESSIONS=1000 CALLS=200 is the whole of it (`make soak`); here it is a tenth.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=crowd
. tests/hub/lib.sh
sessions=${SESSIONS:-300} calls=${CALLS:-20} servers=10

# served N: the hub with so many servers that write down each call
served() {
	entries= i=0
	while [ $i -lt "$1" ]; do
		entries="$entries${entries:+,}\"s$i\":{\"command\":\"$demo_server\",\"env\":{\"MCPOOL_DEMO_LEDGER\":\"$work/ledger$i\"}}"
		i=$((i + 1))
	done
	printf '{"mcpServers":{%s},"mcpool":{"queues":{"default":{"slots":64,"line":4096}}}}' "$entries" >"$work/c.json"
	MCPOOL_TEST_MARK="$work" "$mcpool" serve --http 127.0.0.1:0 --strict-config --config "$work/c.json" \
		>"$work/serve.log" 2>&1 </dev/null &
	hub=$!
	wait_for_line "$work/serve.log" '/mcp' 20 && token=$(cat "$XDG_STATE_HOME/mcpool/token") &&
		port=$(sed -n 's|.*http://127.0.0.1:\([0-9]*\)/mcp.*|\1|p' "$work/serve.log" | head -n 1) &&
		eventually 20 all_up "$1"
}
all_up() { [ "$(grep -c '#[0-9]*: up' "$work/serve.log")" -ge "$1" ]; }

crowd() { # SESSIONS CALLS SERVERS
	timeout -k 2 300 "$(dirname "$mcpool")/tests/crowd" "$sock" "$port" "$token" "$1" "$2" "$3" "$hub" \
		>"$work/figures" 2>"$work/err" </dev/null || {
		cat "$work/figures" "$work/err" | head -n 5
		return 1
	}
}
figure() { sed -n "s/^$1 //p" "$work/figures"; }

leave() { kill -TERM "$hub" && wait "$hub" && nothing_left 3; }

# each call once in the servers' own books
booked() {
	cat "$work"/ledger* | grep -o 'words-[0-9]*-[0-9]*\.' | sort | uniq -c >"$work/books"
	twice=$(awk '$1 > 1' "$work/books" | wc -l)
	[ "$(wc -l <"$work/books")" -eq "$1" ] && [ "$twice" -eq 0 ] || {
		echo "$(wc -l <"$work/books") of $1 calls are in the books, $twice of them twice"
		return 1
	}
}

t_nothing_is_lost_doubled_or_crossed() { # V21 G2
	served $servers && crowd "$sessions" "$calls" $servers && booked $((sessions * calls)) || return 1
	[ "$(figure crossed)" -eq 0 ] || return 1
	[ -z "${SHOW-}" ] || cat "$work/figures" >&2
	# sanitizers have memory of their own
	case $mcpool in
	*asan*) ;;
	*) [ "$(figure kib_per_session | cut -d. -f1)" -lt 24 ] || { cat "$work/figures"; return 1; } ;;
	esac
	leave
}

t_ten_sessions_share_five_processes() { # A73 U15
	served 5 && crowd 10 3 5 || return 1
	n=$(cat "$work"/ledger* | cut -d' ' -f1 | sort -u | wc -l) # who answered, by pid
	[ "$n" -eq 5 ] || { echo "$n processes instead of 5"; return 1; }
	leave
}

run_cases "$@"
