# kinds.sh - one remote server of each kind behind one hub, and what became of all of them without any
# calls. For test_hostile_http.sh.
kinds='legacy modern sse ws'
host=127.0.0.1 wrapper= # where they are, and how to get there

stand() { # NAME [PORT]
	case $1 in
	legacy) set -- "$1" "${2:-0}" hostile_http plain /mcp http ;;
	modern) set -- "$1" "${2:-0}" sdk2-modern http /mcp http ;;
	sse) set -- "$1" "${2:-0}" sdk1 sse /sse sse ;;
	ws) set -- "$1" "${2:-0}" sdk1 ws /mcp ws ;;
	esac
	serve "$1" $wrapper env TEST_HOST=$host "$node" "$servers/$3.mjs" "$4" "$2" && listens "$1" || return 1
	number=$(sed -n 's/^listening on //p' "$work/$1.log")
	scheme=http
	[ "$6" != ws ] || scheme=ws
	printf '"%s": {"type": "%s", "url": "%s://%s:%s%s", "timeout": 3000, "restart": {"schedule": [0, 500, 1000]}}\n' \
		"$1" "$6" $scheme $host "$number" "$5" >"$work/$1.entry"
}

serve_all() {
	for kind in $kinds; do
		stand "$kind" || return 1
	done
	{
		echo '{"mcpServers": {'
		cat $(for kind in $kinds; do echo "$work/$kind.entry"; done) | sed '$!s/$/,/'
		echo '}}'
	} >"$config"
	: >"$work/out"
	start serve --json --strict-config --config "$config"
	all_by 15 up 1
}

all() { # WHAT TIMES: each has so many such events
	for kind in $kinds; do
		[ "$(grep -c "\"server\":\"$kind\",.*\"what\":\"$1\"" "$work/out")" -ge "$2" ] || return 1
	done
}
all_by() { # SECONDS WHAT TIMES
	limit=$(($(now) + $1 * 1000))
	until all "$2" "$3"; do
		[ "$(now)" -lt $limit ] || { echo "not all are $2 within $1 s: $(tail -n 8 "$work/out" | cut -c1-200)"; return 1; }
		sleep 0.1
	done
}

tell_when() { # CASE FROM: how long after that moment each was missed, and by what words
	$node -e '
		const [name, from] = process.argv.slice(1), seen = new Set();
		for (const l of fs.readFileSync(0, "utf8").split("\n").filter(Boolean).map((l) => JSON.parse(l)))
			if (l.what === "clearing" && seen.size < seen.add(l.server).size)
				console.log(`   ${name}: ${l.server} after ${l.time - from} ms: ${l.text}`);' "$1" "$2" <"$work/out"
}

# Killed while idle, and brought back at the same address.
idle_ones_go() {
	serve_all || return 1
	at=$(now)
	for kind in $kinds; do
		kill_server "$kind"
	done
	all_by 10 clearing 1 || return 1
	tell_when idle "$at" >&3
	for kind in $kinds; do
		grep -q "\"server\":\"$kind\",.*\"what\":\"clearing\",\"text\":\"transport-exit: " "$work/out" ||
			{ echo "$kind: $(grep "\"$kind\".*clearing" "$work/out")"; return 1; }
	done
	for kind in $kinds; do
		stand "$kind" "$(sed -n 's/^listening on //p' "$work/$kind.log")" || return 1
	done
	all_by 20 up 2 && finish
}

# A cable whose far end is a network of its own; it loses its address, so that packets to it are dropped.
lay_cable() {
	MCPOOL_TEST_MARK="$work" unshare -n sleep 200 </dev/null >/dev/null 2>&1 &
	far=$!
	host=10.77.0.2 wrapper="nsenter -t $far -n"
	eventually 5 is_far && ip link add name h0 type veth peer name h1 && ip link set h1 netns $far &&
		ip addr add 10.77.0.1/24 dev h0 && ip link set h0 up && $wrapper ip link set h1 up &&
		$wrapper ip addr add $host/24 dev h1 &&
		mac=$($wrapper ip -o link show h1 | sed -n 's|.*link/ether \([0-9a-f:]*\).*|\1|p') &&
		ip neigh replace $host lladdr "$mac" dev h0 nud permanent # or the missing neighbour is what is noticed
}
is_far() { [ "$(readlink /proc/$far/ns/net)" != "$(readlink /proc/self/ns/net)" ]; }

cut_off() {
	lay_cable && serve_all && sleep 1 || return 1
	at=$(now)
	$wrapper ip addr del $host/24 dev h1 && all_by 33 clearing 1 || { tell_when half_open "$at"; return 1; }
	tell_when half_open "$at" >&3
	took=$(($(now) - at))
	within 30000 && $wrapper ip addr add $host/24 dev h1 && all_by 20 up 2 && finish
}
