# stubborn.sh [hang] - a server that will not go: it ignores signals and the end of its input, and so
# do a child in a session of its own and a grandchild that forked twice and moved to yet another
# session with nothing open. All keep starting new processes. Their ids go into $TEST_PIDS.
# It completes the handshake and lists one tool, which never answers; with `hang` it never speaks.
trap '' TERM INT HUP QUIT PIPE
echo "server $$" >>"$TEST_PIDS"

brood='trap "" TERM INT HUP QUIT PIPE
echo "$0 $$" >>"$TEST_PIDS"
while :; do sleep 0.3; done'
setsid sh -c "$brood" child &
(setsid sh -c "(setsid sh -c '$brood' grandchild </dev/null >/dev/null 2>&1 &)" &)
while [ "$(grep -c . "$TEST_PIDS")" -lt 3 ]; do sleep 0.02; done

answer() { # LINE OF THE REQUEST, REST OF THE ANSWER
	id=$(printf '%s\n' "$1" | sed -n 's/.*"id" *: *\([0-9]*\|"[^"]*"\) *[,}].*/\1/p')
	printf '{"jsonrpc":"2.0","id":%s,%s}' "$id" "$2" | tr '\n' ' ' && echo
}
welcome='"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},
	"serverInfo":{"name":"stubborn","version":"1"}}'
tools='"result":{"tools":[{"name":"wait","inputSchema":{"type":"object"}}]}'
[ "${1-}" = hang ] || while read -r line; do
	case $line in
	*'"method":"server/discover"'*) answer "$line" '"error":{"code":-32601,"message":"no"}' ;;
	*'"method":"initialize"'*) answer "$line" "$welcome" ;;
	*'"method":"tools/list"'*) answer "$line" "$tools" ;;
	*'"method":"tools/call"'*) echo called >>"$TEST_PIDS.called" ;;
	esac
done
while :; do sleep 0.3; done
