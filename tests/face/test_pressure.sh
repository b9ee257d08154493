# test_pressure.sh - clients that push, and what a neighbour with the token notices of them: its p99 and the hub's memory
# (attack-S1, attack-S8, attack-S11; see pressure.mjs). Compares times, so it runs alone. HOSTILE=5000 for more of them, KINDS=unread for one kind.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=pressure
. tests/hub/lib.sh
token=$XDG_STATE_HOME/mcpool/token
exec 3>&1

t_a_neighbour_is_served() {
	configure "$work/c.json" "$(server a)" && start serve --http 127.0.0.1:0 --strict-config --config "$work/c.json" &&
		wait_for_line "$work/out" 'http://[^ ]*/mcp' 15 || return 1
	url=$(grep -o 'http://[^ ]*/mcp' "$work/out" | head -n 1)
	MCPOOL_TEST_MARK="$work" "$node" tests/face/pressure.mjs "$url" "$token" "$mcpool_pid" src/base/limits.h "${HOSTILE:-300}" \
		</dev/null >"$work/figures" 2>&1 || { grep -m 3 -v "^ *at \|^$\|^   [a-z]*: " "$work/figures"; return 1; }
	cat "$work/figures" >&3
	# attack-S8: it is said once, and not for each of them
	[ "$(grep -c 'without a token are closed' "$work/err")" -le 3 ] && grep -q 'without a token are closed' "$work/err" ||
		{ echo "warnings: $(grep -c 'without a token' "$work/err")"; return 1; }
	kill -TERM "$mcpool_pid" && ended 0 10 && nothing_left 3
}

run_cases "$@"
