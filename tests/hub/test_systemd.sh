# test_systemd.sh - a hub that a service manager starts when somebody comes: sockets that are handed over and stay,
# and what the manager hears. manager.c plays systemd. `sh tests/hub/test_systemd.sh down` runs one case.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=systemd
. tests/hub/lib.sh
manager=$(dirname "$mcpool")/tests/manager
next=$(dirname "$mcpool")/tests/mcpool-next

# managed ARGUMENTS...: of manager.c; its words in $work/manager. The command is that of the unit.
managed() {
	mkdir -m 700 -p "$XDG_RUNTIME_DIR/mcpool"
	words=$(sed -n 's|^ExecStart=@BINDIR@/mcpool ||p' dist/systemd/mcpool.service.in)
	MCPOOL_TEST_MARK="$work" "$manager" "$sock" "$@" -- "$mcpool" $words >"$work/manager" 2>"$work/hub.log" </dev/null &
	manager_pid=$!
	heard '^ready'
}
heard() { wait_for_line "$work/manager" "$1" "${2:-10}"; }
never() { ! grep -q -- "$1" "$work/manager" || { echo "'$1' in: $(cat "$work/manager")"; return 1; }; }
said() { [ "$(grep -c -- "$2" "$work/manager")" = "$1" ] || { echo "not $1 times '$2': $(cat "$work/manager")"; return 1; }; }
started() { sed -n 's/^started //p' "$work/manager" | tail -n 1; }
# over: the manager ends it, in order; nothing is left
over() { kill -TERM "$manager_pid" && wait "$manager_pid" && heard '^ended 0' && nothing_left 3; }

# Without a client nothing runs. With one the hub is there, and is the one that was started.
t_activation() {
	with a && managed && sleep 0.5 && never started && run 0 status --json && json "d.hub.pid === $(started)" &&
		heard '^heard READY=1' && said 1 '^started' && talk hub_steps.mjs#list && says out mcp__a__echo &&
		said 1 '^started' && [ "$(hub_pid)" = "$(started)" ] && [ -S "$sock" ] && over && heard '^heard STOPPING=1' && [ -S "$sock" ]
}

# READY comes behind RELOADING, with the time that systemd wants to see.
t_reload() {
	with a && managed && run 0 status && heard READY=1 && kill -HUP "$manager_pid" &&
		heard '^heard RELOADING=1 MONOTONIC_USEC=[0-9]' && eventually 5 twice_ready && over
}
twice_ready() { [ "$(grep -c READY=1 "$work/manager")" = 2 ]; }

t_watchdog() {
	with a && managed watchdog 400 && run 0 status && sleep 2 && n=$(grep -c WATCHDOG=1 "$work/manager") &&
		{ [ "$n" -ge 6 ] && [ "$n" -le 16 ] || { echo "$n times in 2 s"; return 1; }; } && over
}

# The socket is the manager's: it stays, and the next client starts the hub again.
t_down() {
	with a && managed && run 0 status && heard READY=1 && first=$(started) && run 0 down && says out "has stopped (it was process $first)" &&
		heard '^ended 0' && heard STOPPING=1 && [ -S "$sock" ] && sleep 0.5 && said 1 '^started' &&
		run 0 status --json && json "d.hub.pid !== $first" && said 2 '^started' && over
}

# A call under way is answered, the session goes on with the next one, which the agent's next word starts.
t_a_session_outlives_down() {
	with a && managed && talk hub_steps.mjs#stay_while_the_hub_leaves && says out "has stopped" back && said 2 '^started' && over
}

# Killed: bridges find the socket, and the manager starts the next one.
t_a_session_outlives_a_crash() {
	with a && managed && talk hub_steps.mjs#stay_while_the_hub_is_killed && says out back && heard '^ended 137' && said 2 '^started' && over
}

# `up` finds it; a second hub by hand does not take the place.
t_by_hand() {
	with a && managed && run 0 up && says out 'runs already' && run 4 serve && says err 'runs already, as process' &&
		run 0 down && heard '^ended 0' && run 0 up && over
}

# Over HTTP as well, in both families.
t_http_sockets() {
	for family in tcp tcp6; do
		: >"$work/manager"
		with a && managed $family && heard '^port' && port=$(sed -n 's/^port //p' "$work/manager") || return 1
		host=127.0.0.1
		[ $family = tcp ] || host='[::1]'
		[ "$(curl -sS --max-time 10 -g -o "$work/said" -w '%{http_code}' "http://$host:$port/mcp" 2>"$work/err")" = 401 ] &&
			said 1 '^started' && run 0 status --json && json "d.hub.listening.http.includes('$port')" &&
			run 0 down && heard '^ended 0' && # and again
			[ "$(curl -sS --max-time 10 -g -o "$work/said" -w '%{http_code}' "http://$host:$port/health")" = 401 ] && said 2 '^started' &&
			kill -TERM "$manager_pid" && wait "$manager_pid" && nothing_left 3 || { cat "$work/manager" "$work/hub.log" | tail -n 5; return 1; }
	done
}

# A newer bridge asks it to go; the manager starts what it has, and that one is taken as it is.
t_a_newer_bridge() {
	with a && managed && run 0 status && heard READY=1 || return 1
	MCPOOL=$next talk 'init()' 'tools()' 'const r = await call("mcp__a__echo", {message: "new"}); return r.result.content[0].text;' &&
		says out new && over
}

t_units_are_good() {
	command -v systemd-analyze >/dev/null || return 0
	mkdir "$work/units" && for unit in mcpool.service mcpool-system.service; do
		sed "s|@BINDIR@/mcpool|$mcpool|" "dist/systemd/$unit.in" >"$work/units/$unit"
	done && cp dist/systemd/mcpool.socket "$work/units/" &&
		systemd-analyze verify --man=no --user "$work/units/mcpool.service" "$work/units/mcpool.socket" >"$work/verify" 2>&1
	! grep -F mcpool "$work/verify"
}

run_cases "$@"
