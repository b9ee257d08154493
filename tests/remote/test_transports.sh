# test_transports.sh - one list of behaviours, asked of servers from npm and on both SDKs by every way there
# is: stdio, Streamable HTTP in both eras, HTTP+SSE, WebSocket; each is killed and started again in between. What
# a server does not offer is in the table, so that it is noticed when that changes.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=transports
. tests/remote/lib.sh
everything="$npm/server-everything/dist/index.js"
room=$work/room
mkdir -p "$room"
behaviours='list call progress cancel restart list_changed read subscribe prompt completion logging'

# NAME KIND WAY PATH SCRIPT ARGUMENT; WAY is stdio, or what the hub is told
cat >"$room/table" <<END
everything-stdio everything stdio - $everything stdio
everything-http everything http /mcp $everything streamableHttp
everything-sse everything sse /sse $everything sse
sdk1-stdio ours stdio - $servers/sdk1.mjs stdio
sdk1-http ours http /mcp $servers/sdk1.mjs http
sdk1-sse ours sse /sse $servers/sdk1.mjs sse
sdk1-ws ours ws /mcp $servers/sdk1.mjs ws
legacy-stdio ours stdio - $servers/sdk2-legacy.mjs stdio
legacy-http ours http /mcp $servers/sdk2-legacy.mjs http
dual-stdio ours stdio - $servers/sdk2-dual.mjs stdio
dual-http ours http /mcp $servers/sdk2-dual.mjs http
modern-stdio ours stdio - $servers/sdk2-modern.mjs stdio
modern-http ours http /mcp $servers/sdk2-modern.mjs http
END
# What is not ok, of all that is asked: NAME BEHAVIOUR VERDICT
cat >"$room/exceptions" <<'END'
everything-stdio cancel unseen
everything-http cancel unseen
everything-sse cancel unseen
END
[ -z "${ONLY:-}" ] || sed -i -nE "/$ONLY/p" "$room/table" # ONLY='modern|ws', for looking into something

start_server() { # NAME: a remote one, on its port
	read -r started _ _ _ script argument port <<END
$(grep "^$1 " "$room/ports")
END
	PORT=$port serve "$started" "$node" "$script" "$argument" "$port"
}

entry() { # NAME KIND WAY PATH SCRIPT ARGUMENT PORT
	printf '"%s": {"restart": {"schedule": [0, 200, 300, 500]}, ' "$1"
	case $3 in
	stdio)
		printf '"command": "%s", "args": ["%s", "%s"], "env": {"TEST_NOTES": "%s"}}\n' \
			"$PWD/$node" "$PWD/$5" "$6" "$work/$1.notes"
		;;
	ws) printf '"type": "ws", "url": "ws://127.0.0.1:%s%s"}\n' "$7" "$4" ;;
	*) printf '"type": "%s", "url": "http://127.0.0.1:%s%s"}\n' "$3" "$7" "$4" ;;
	esac
}

prepare() {
	free_ports "$(wc -l <"$room/table")" >"$room/free"
	paste -d ' ' "$room/table" "$room/free" >"$room/ports"
	{
		printf '{"mcpServers": {'
		while read -r line; do
			entry $line
		done <"$room/ports" | sed '$!s/$/,/'
		printf '}}\n'
	} >"$work/config.json"
}

remote() { awk '$3 != "stdio" { print $1 }' "$room/table"; }

bring_back() { # NAME: it stays away for a moment
	kill_server "$1"
	sleep 0.3
	start_server "$1"
	listens "$1" && : >"$work/$1.again"
}

# The driver asks for restarts.
see_to_restarts() {
	: >"$room/restarted"
	while ! not_running; do
		for server in $(sed -n 's/^\([a-z0-9-]*\) restart please$/\1/p' "$work/out"); do
			grep -qx "$server" "$room/restarted" && continue
			echo "$server" >>"$room/restarted"
			bring_back "$server" &
		done
		sleep 0.05
	done
}

run_all() {
	prepare
	for server in $(remote); do
		start_server "$server"
	done
	for server in $(remote); do
		listens "$server" || return 1
	done
	MCPOOL_TEST_MARK="$work" timeout -k 2 150 "$bin/tests/behave" "$work/config.json" "$work" \
		$(awk '{ print $2 ":" $1 }' "$room/table") >"$work/out" 2>"$work/err" </dev/null &
	mcpool_pid=$!
	see_to_restarts
	ended '0|1' 1 || return 1
	for server in $(remote); do
		kill_server "$server" TERM
	done
	for server in $(awk '{ print $1 }' "$room/table"); do # each was listed and called; the other cells are cases of their own
		cell "$server" list ok && cell "$server" call ok || return 1
	done
}

cell() { # NAME BEHAVIOUR VERDICT
	grep -q "^$1 $2 $3" "$work/out" && return
	echo "not $3: $(grep "^$1 $2 " "$work/out" || echo 'nothing was told')"
	return 1
}

# A30
check "all_are_asked" run_all
[ -z "${SHOW:-}" ] || cat "$work/out" "$work/err"
for server in $(awk '{ print $1 }' "$room/table"); do
	for behaviour in $behaviours; do
		verdict=$(sed -n "s/^$server $behaviour //p" "$room/exceptions")
		check "${server}_$behaviour" cell "$server" "$behaviour" "${verdict:-ok}"
	done
done
check "nothing_is_left" nothing_left 5
exit $bad
