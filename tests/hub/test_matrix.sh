# test_matrix.sh - what agents have of servers behind the hub: both eras on either side, four ways in, four pool
# modes, six kinds of servers; and two agents at once, neither of which gets messages of the other. The table of pool modes in
# mcpool-config(5) is made of what was seen: `sh tests/hub/test_matrix.sh --write` puts it there.
# `sh tests/hub/test_matrix.sh legacy_http` looks at one kind; see matrix.mjs for narrowing further.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=matrix
. tests/hub/lib.sh
kinds='legacy_stdio legacy_http legacy_sse legacy_ws modern_stdio modern_http'
modes='shared project serial session'

# entry MODE: of a server of this kind; two that would open the same connection are one
entry() {
	printf '"%s":{"mode":"%s",' "$1" "$1"
	case $transport in
	stdio) printf '"command":"%s","args":["%s"],"env":{"TEST_NOTES":"%s","WHO":"%s"}}' "$node" "$script" "$TEST_NOTES" "$1" ;;
	ws) printf '"type":"ws","url":"ws://127.0.0.1:%s/mcp?%s"}' "$port" "$1" ;;
	sse) printf '"type":"sse","url":"http://127.0.0.1:%s/sse?%s"}' "$port" "$1" ;;
	http) printf '"type":"http","url":"http://127.0.0.1:%s/mcp?%s"}' "$port" "$1" ;;
	esac
}

remote() { # the server itself, where the hub does not start it
	[ "$transport" != stdio ] || return 0
	: >"$work/server.log"
	MCPOOL_TEST_MARK="$work" "$node" "$script" "$transport" 0 >"$work/server.log" 2>&1 </dev/null &
	wait_for_line "$work/server.log" 'listening on' 15 && port=$(sed -n 's/^listening on //p' "$work/server.log")
}

hub() {
	set -- $modes
	configure "$user" "$(entry "$1"),$(entry "$2"),$(entry "$3"),$(entry "$4")" && run 0 trust --user-file --yes || return 1
	: >"$work/serve.log"
	MCPOOL_TEST_MARK="$work" "$mcpool" serve --http 127.0.0.1:0 --no-token >"$work/serve.log" 2>&1 </dev/null &
	hub=$!
	wait_for_line "$work/serve.log" 'http://127[^ ]*/mcp' 15 &&
		HUB_URL=$(grep -o 'http://127[^ ]*/mcp' "$work/serve.log" | head -n 1) && export HUB_URL="${HUB_URL%/mcp}"
}

look_at() { # KIND
	era=${1%_*} transport=${1#*_}
	script=$PWD/$servers/sdk1.mjs
	[ "$era" = legacy ] || script=$PWD/$servers/sdk2-modern.mjs
	if ! remote >"$work/why" || ! hub >"$work/why"; then
		echo "FAIL $group/$1: $(cat "$work/why" "$work/serve.log" "$work/err" 2>/dev/null | head -c 600)"
		exit 1
	fi
	GROUP=$group MCPOOL_TEST_MARK="$work" timeout -k 2 "${patience:-100}" "$node" tests/hub/matrix.mjs "$1" 2>"$work/err" </dev/null
	bad=$?
	[ -z "${SHOW:-}" ] || cat "$work/serve.log" "$work/err"
	check "$1_stops" stopped
	exit $bad
}
stopped() {
	kill -TERM "$hub" && wait "$hub" || { echo "exit code $?: $(tail -n 3 "$work/serve.log")"; return 1; }
	for pid in $(marked); do
		grep -qF "$script" "/proc/$pid/cmdline" && [ "$transport" != stdio ] && kill -TERM "$pid"
	done
	nothing_left 3
}

case ${1:-} in
*_*) look_at "$1" ;;
esac
export OBSERVED="$work/observed"
mkdir "$OBSERVED"
echo $kinds | xargs -P 2 -n 1 sh "$0" || bad=1
# U26
check "the_manual_has_this_table" "$node" tests/hub/modes_table.mjs "$OBSERVED" doc/mcpool-config.5 ${1:-}
exit $bad
