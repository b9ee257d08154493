# test_helpers.sh - the words that tests are written in, where a wrong one would make them prove nothing.
set -u
cd "$(dirname "$0")/../.." || exit 1
group=helpers
. tests/servers/lib.sh

late() { sleep 0.2 && printf '%s\n' "$1" >>"$work/late"; } # LINE
t_a_line_that_comes_late() {
	rm -f "$work/late"
	late 'up: 7' &
	wait_for_line "$work/late" '^up: [0-9]*$' 5 || return 1
	wait
}
t_a_line_that_never_comes() {
	echo other >"$work/late"
	! wait_for_line "$work/late" '^up' 1 >"$work/words" && grep -q "no line '^up'.*other" "$work/words"
}
# A chain of three below this one, the last with brackets and blanks in its name.
t_descendants_are_counted() {
	cp "$(command -v sleep)" "$work/a ) (R b"
	sh -c 'sh -c "\"$0\" 30; :" "$0"; :' "$work/a ) (R b" &
	top=$!
	eventually 5 has_processes $top 2 && [ "$(count_processes_of $$)" -ge 3 ]
	result=$?
	stop_tree $top
	eventually 5 has_processes $top 0 && return $result
}
t_nobody_has_no_descendants() { [ "$(count_processes_of 999999999)" = 0 ]; }
# Its parent never waits for it: it has ended, and is still there.
t_zombies_are_not_counted() {
	sh -c 'sleep 0.5 & exec sleep 30' &
	top=$!
	eventually 5 has_processes $top 1 && eventually 5 has_processes $top 0 && grep -qs "^[0-9]* (sleep) Z $top " /proc/[0-9]*/stat
	result=$?
	kill -KILL $top
	return $result
}
has_processes() { [ "$(count_processes_of "$1")" = "$2" ]; }
stop_tree() { # PID: it and its descendants, the lowest first
	for pid in $(cat /proc/"$1"/task/*/children 2>/dev/null); do
		stop_tree "$pid"
	done
	kill -KILL "$1" 2>/dev/null
}

for test in $(sed -n 's/^\(t_[a-z0-9_]*\)() .*/\1/p' "$0"); do
	check "${test#t_}" "$test"
done
exit $bad
