# lib.sh - for tests of the hub: its socket, its bridges. Source it behind `group=...`.
. tests/servers/lib.sh
case $mcpool in
/*) ;;
*) mcpool=$PWD/$mcpool ;;
esac
node=$PWD/$node
agent="$node $PWD/tests/hub/agent.mjs"
sock=$XDG_RUNTIME_DIR/mcpool/hub.sock
lock=$XDG_RUNTIME_DIR/mcpool/hub.lock
user=$XDG_CONFIG_HOME/mcpool/mcp.json
export MCPOOL="$mcpool"

# server NAME [WHO]: the entry of a demo server; two that would open the same connection are one
server() {
	printf '"%s":{"command":"%s","env":{"WHO":"%s"}}' "$1" "$demo_server" "${2:-$1}"
}

# configure FILE ENTRY...: a file of ours with these, put in place at once
configure() {
	file=$1
	shift
	mkdir -p "$(dirname "$file")"
	{
		printf '{"mcpServers":{'
		comma=
		for entry in "$@"; do
			printf '%s%s' "$comma" "$entry"
			comma=,
		done
		printf '}}\n'
	} >"$file.new" && mv "$file.new" "$file"
}

# with SERVER...: in the user's file, approved
with() {
	entries=
	for one in "$@"; do
		entries="$entries${entries:+,}$(server "$one")"
	done
	configure "$user" "$entries" && run 0 trust --user-file --yes
}

up() { run 0 up && eventually 5 running; }
# running: there is a hub; without one status shows what would run
running() { "$mcpool" status --json 2>/dev/null | grep -q '"hub":{"pid"'; }
hub_pid() { cat "$lock"; }
is_down() { ! kill -0 "$1" 2>/dev/null; }

# finish: the hub goes, and nothing is left of it
finish() { run 0 down && nothing_left 3; }

# talk STEPS...: an agent behind `mcpool stdio`; see agent.mjs. Its words in $work/out.
talk() {
	MCPOOL_TEST_MARK="$work" timeout -k 2 "${patience:-60}" $agent "$@" >"$work/out" 2>"$work/err" </dev/null || {
		echo "talk: $(tail -n 3 "$work/out" "$work/err" | head -c 1200)"
		return 1
	}
}
