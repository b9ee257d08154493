# test_kill.sh - whatever happens to mcpool or its helpers, no process of a server outlives them by
# more than 2 s: not one that ignores SIGTERM and the end of its input, nor a grandchild that forked
# twice into a session of its own (tests/servers/stubborn.sh).
set -u
cd "$(dirname "$0")/../.." || exit 1
group=kill
. tests/servers/lib.sh
stubborn="sh $servers/stubborn.sh"

brood_is_there() { [ "$(grep -c . "$TEST_PIDS")" -eq 3 ]; }
called() { [ -s "$TEST_PIDS.called" ]; }
# One of them is a process that lives.
brood_lives() {
	for pid in $(sed 's/.* //' "$TEST_PIDS"); do
		grep -qs '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$pid/status" && return
	done
	return 1
}
brood_is_gone() { # SECONDS
	deadline=$(($(now) + $1 * 1000))
	while brood_lives || ! none_marked; do
		if [ "$(now)" -gt "$deadline" ]; then
			echo "$1 s later of $(tr '\n' ' ' <"$TEST_PIDS")there lives $(marked | tr '\n' ' ')"
			return 1
		fi
		sleep 0.05
	done
}
in_a_call() { # mcpool waits for a tool of the stubborn server
	start call wait --timeout 60s -- $stubborn
	eventually 5 called || { echo 'the call never reached the server'; return 1; }
	brood_is_there && brood_lives || { echo 'the server has no brood'; return 1; }
}
# The helpers between the server and mcpool: first the server's parent, last the child of mcpool.
parent_of() { sed -n 's/^PPid:[[:space:]]*//p' "/proc/$1/status"; }
chain() {
	above=$(parent_of "$(sed -n 's/^server //p' "$TEST_PIDS")")
	while [ "$above" != "$mcpool_pid" ] && [ "${above:-0}" -gt 1 ]; do
		echo "$above"
		above=$(parent_of "$above")
	done
}

t_stopping_in_order() {
	run 0 tools -- $stubborn && says out wait && within 5000 && brood_is_there && brood_is_gone 1
}
t_sigkill_of_mcpool() { in_a_call && kill -KILL $mcpool_pid && brood_is_gone 2; }
t_sigkill_of_mcpool_in_the_handshake() {
	start tools --timeout 60s -- $stubborn hang
	eventually 5 brood_is_there && kill -KILL $mcpool_pid && brood_is_gone 2
}
without() { # PID: a helper that is killed takes the brood with it; mcpool tells what happened and ends
	[ -n "$1" ] || { echo 'there is no such helper'; return 1; }
	kill -KILL "$1" && sleep 2 && ! brood_lives || { echo "2 s later of $(tr '\n' ' ' <"$TEST_PIDS")some live"; return 1; }
	ended '4|5' 3 && blames stubborn tools/call && nothing_left
}
t_sigkill_at_any_moment() { # also while the helpers and the server are being started
	for delay in 0 0.001 0.002 0.004 0.006 0.008 0.01 0.02 0.04; do
		start tools --timeout 60s -- $stubborn hang
		sleep $delay
		kill -KILL $mcpool_pid && nothing_left 2 || return 1
	done
}
t_sigkill_of_the_launcher() { in_a_call && without "$(chain | tail -1)"; }
t_sigkill_of_the_shepherd() { in_a_call && without "$(chain | head -1)"; }
t_sigkill_of_the_server() { # what it left behind goes with it
	in_a_call && kill -KILL "$(sed -n 's/^server //p' "$TEST_PIDS")" && ended '4|5' 4 &&
		blames stubborn tools/call SIGKILL && brood_is_gone 1
}
t_sigterm_of_mcpool() { in_a_call && kill -TERM $mcpool_pid && ended '130|143' 4 && brood_is_gone 1; }
t_sighup_of_mcpool() { in_a_call && kill -HUP $mcpool_pid && ended 130 4 && brood_is_gone 1; }
t_ctrl_c() { in_a_call && kill -INT $mcpool_pid && ended 130 4 && brood_is_gone 1; }
t_ctrl_c_twice() { # the impatient need not wait for the ladder
	in_a_call && kill -INT $mcpool_pid && sleep 0.2 && kill -INT $mcpool_pid && ended 130 2 && brood_is_gone 2
}
t_a_stopped_server() { # SIGTERM reaches it only when it goes on
	in_a_call && kill -STOP "$(sed -n 's/^server //p' "$TEST_PIDS")" && kill -KILL $mcpool_pid && brood_is_gone 2
}
t_nobody_reads_the_output() {
	(MCPOOL_TEST_MARK="$work" timeout 20 "$mcpool" tools -- $stubborn; echo $? >"$work/code") 2>"$work/err" | true
	brood_is_there && brood_is_gone 1 && [ -s "$work/code" ]
}
t_the_server_left_someone_holding_its_pipes() { # the server is gone, but not the end of its output
	run '4|5' tools --timeout 10s -- sh -c 'sleep 1000 & exit 3' && within 5000 && nothing_left
}

run_cases "$@"
