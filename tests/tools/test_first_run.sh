# test_first_run.sh - what `make run` shows behind the build: the hub, and an agent that makes a call through it.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=first_run
. tests/servers/lib.sh

# first_run: tools/first-run in the background, as $mcpool_pid: it becomes the hub
first_run() {
	MCPOOL_TEST_MARK="$work" env --default-signal=INT,HUP tools/first-run >"$work/out" 2>&1 </dev/null &
	mcpool_pid=$!
}

# first: nothing is configured, so the demo server is used; the agent is let in, and its call is answered.
# then: what is configured is used, and the agent sees its tools. One case, because both want the same port.
t_an_agent_makes_a_call() {
	first_run && wait_for_line "$work/out" 'an agent that came here sees' 30 || return 1
	says out 'sees 3 tools, and demo/add a=2 b=40 is 42' 'socket' 'endpoint' 'mcpool connect' || return 1
	kill -TERM "$mcpool_pid" && ended 0 8 && nothing_left 5 || return 1
	run 0 add mine -- "$PWD/$mcpool" demo-server && first_run &&
		wait_for_line "$work/out" 'an agent that came here sees 3 tools' 30 && says out mine || return 1
	kill -TERM "$mcpool_pid" && ended 0 8 && nothing_left 5
}

run_cases "$@"
