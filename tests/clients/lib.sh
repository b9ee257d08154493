# lib.sh - for tests with real clients: a hub that listens on the socket and on HTTP, with servers of both eras and
# server-everything behind it, all in the user's file. Source it behind `group=...`.
. tests/hub/lib.sh
tree=$PWD

# entry NAME SCRIPT [MORE]: a server on Node
entry() { printf '"%s":{"command":"%s","args":["%s"]%s}' "$1" "$node" "$2" "${3:+,$3}"; }

# A legacy server may send requests only if their session is known: hence serial.
every_kind() {
	configure "$user" "$(entry old "$tree/$servers/sdk1.mjs" '"mode":"serial"')" \
		"$(entry new "$tree/$servers/sdk2-modern.mjs")" "$(entry every "$tree/$npm/server-everything/dist/index.js")" &&
		run 0 trust --user-file --yes
}

# served: it runs as $hub, its log is serve.log; $url and $token are how to come in by HTTP
served() {
	: >"$work/serve.log"
	MCPOOL_TEST_MARK="$work" "$mcpool" serve --http 127.0.0.1:0 >"$work/serve.log" 2>&1 </dev/null &
	hub=$!
	wait_for_line "$work/serve.log" 'http://127[^ ]*/mcp' 15 && eventually 15 all_up || {
		echo "the hub is not up: $(tail -n 5 "$work/serve.log")"
		return 1
	}
	url=$(grep -o 'http://127[^ ]*/mcp' "$work/serve.log" | head -n 1)
	token=$("$mcpool" token)
}
all_up() { [ "$("$mcpool" status --json 2>/dev/null | grep -o '"state":"connected"' | wc -l)" -ge "${how_many:-3}" ]; }

# stopped: the hub goes when asked, and takes everything along
stopped() { kill -TERM "$hub" && wait "$hub" && nothing_left 5; }
