# test_many.sh - two hundred remote servers in one process that is killed and brought back: all are connected
# again within their schedule, no more than 32 are dialled at once, and each takes little memory.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=many
. tests/remote/lib.sh
many=200 few=20
[ -z "$sanitized" ] || many=60
exec 3>&1

configure() { # N PORT
	{
		printf '{"mcpServers": {\n'
		seq "$1" | awk -v port="$2" '{ printf "%s\"server-%03d\": {\"url\": \"http://127.0.0.1:%d/s%d/mcp\"}\n", n++ ? "," : "", $1, port, $1 }'
		printf '}}\n'
	} >"$work/config.json"
}
up() { serve many "$node" $servers/many_http.mjs "$1" && listens many; }
figure() { # WORD
	$node -e 'fetch(process.argv[1]).then((r) => r.json()).then((d) => console.log(d[process.argv[2]]))' "http://127.0.0.1:$port/figures" "$1"
}
connected() { [ "$(figure streams 2>/dev/null)" = "$1" ]; }
began() {
	port=$(free_ports 1)
	configure "$1" "$port"
	up "$port" || return 1
	start serve --json --strict-config --config "$work/config.json"
	eventually 20 connected "$1" || { echo "$(figure streams) of $1 connected; $(tail -n 3 "$work/err")"; return 1; }
}
over() {
	kill -TERM "$mcpool_pid" && ended 0 5 && kill_server many && nothing_left 2
}
few_at_once() { # the limit is reached, and not passed
	most=$(figure most)
	echo "   $group/dials: $most at once at most" >&3
	[ "$most" -le 32 ] && [ "$most" -gt 16 ] || { echo "$most were dialled at once"; return 1; }
}
called() {
	timeout 20 "$mcpool" call --strict-config --config "$work/config.json" mcp__server-007__who >"$work/call" 2>&1 </dev/null
	says call s7
}
# No try is later than its schedule has it: 0, 1, 2, 5, 10 s, each up to a fifth sooner.
in_time() {
	grep -o '"what":"backoff","text":"attempt [0-9]* in [0-9]* ms' "$work/out" | awk '
		{ n = $2; ms = $4; split("1 1000 2000 5000 10000 30000 60000", max, " ") }
		ms > max[n] || ms < max[n] * 0.79 - 250 { print "attempt " $2 " in " ms " ms"; bad = 1 }
		END { if (NR == 0) print "nothing was tried again"; exit bad || NR == 0 }'
}

# D3 U11 C11: with its fault told once, not two hundred times.
t_killed_and_brought_back() {
	began $many && few_at_once && called || return 1
	kill_server many
	sleep 1.5
	up "$port" || return 1
	since=$(now)
	eventually 25 connected $many || { echo "$(figure streams) of $many came back; $(tail -n 3 "$work/err")"; return 1; }
	echo "   $group/back: all $many after $(($(now) - since)) ms" >&3
	few_at_once && called && in_time || return 1
	lines=$(grep -c ' ERR .*ailed' "$work/err")
	[ "$lines" -lt $((many / 4)) ] || { echo "$lines lines about one fault"; return 1; }
	grep -q "$many servers failed\|[0-9]* servers failed: .*could not connect to http://127.0.0.1:$port" "$work/err" ||
		{ echo "no line for all of them: $(head -c 600 "$work/err")"; return 1; }
	over
}

private_with() { # N: what serve has written for itself, in KiB
	began "$1" >&2 || return 1
	sleep 2
	sed -n 's/^Private_Dirty: *\([0-9]*\) kB/\1/p' "/proc/$mcpool_pid/smaps_rollup"
	over >&2
}
t_an_idle_one_is_small() {
	[ -z "$sanitized" ] || return 0
	a=$(private_with $few) && b=$(private_with $many) || return 1
	each=$(((b - a) * 1024 / (many - few)))
	echo "   $group/memory: $a KiB with $few, $b KiB with $many: $each bytes for each" >&3
	[ "$each" -lt 40960 ] || { echo "$each bytes for each server"; return 1; }
}

run_cases "$@"
